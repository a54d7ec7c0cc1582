//! One cloud provider over HTTP.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{Client, Response, Url};
use serde_json::Value;
use tenpass_model::{HttpOptions, http};

use super::answer::{Finished, Reader, StreamFault};
use super::anthropic::{self, AnthropicReader};
use super::message::Exchange;
use super::openai::{self, OpenAiReader};
use super::{Price, Provider, ProviderError, ProviderSettings, Timing, retry};
use crate::spend::Reservation;

/// Most bytes of an error's body that are read, and characters of it that are kept.
const ERROR_BYTES: usize = 64 << 10;
const DETAIL_CHARACTERS: usize = 300;

/// A provider whose settings were read.
#[derive(Debug, Clone)]
pub(super) struct CloudClient {
    provider: Provider,
    pub(super) settings: ProviderSettings,
    pub(super) price: Price,
    url: Url,
    client: Client,
    timing: Timing,
}

impl CloudClient {
    pub(super) fn new(provider: Provider, settings: ProviderSettings, timing: Timing) -> Result<Self, ProviderError> {
        let wrong = |reason: String| ProviderError::Settings { provider, reason };
        let price = settings
            .price()
            .ok_or_else(|| wrong(format!("no price is known for the model {:?}; set one", settings.model)))?;
        let mut url = http::parse_url(&settings.base_url).map_err(|error| wrong(error.to_string()))?;
        // Anything but loopback gets the key over TLS only.
        if url.scheme() == "http" && !http::is_loopback(&url) {
            return Err(wrong(format!("{} is not encrypted; use https", http::shown(&url))));
        }
        let path = match provider {
            Provider::Claude => "v1/messages",
            _ => "chat/completions",
        };
        let root = url.path().trim_end_matches('/').to_owned();
        let root = if provider == Provider::Claude { root.trim_end_matches("/v1") } else { &root };
        url.set_path(&format!("{root}/{path}"));
        let client = http::client(&url, &HttpOptions::default()).map_err(|error| wrong(error.to_string()))?;
        Ok(Self { provider, settings, price, url, client, timing })
    }

    /// Asks. `held` is marked as sent while a bill may come of it.
    pub(super) async fn ask(&self, exchange: &Exchange, held: &mut Reservation) -> Result<Finished, ProviderError> {
        let slow = ProviderError::Slow { provider: self.provider, seconds: seconds(self.timing.total) };
        let work = async {
            let response = self.send(exchange, held).await?;
            self.read(response).await
        };
        tokio::time::timeout(self.timing.total, work).await.map_err(|_| slow)?
    }

    fn body(&self, exchange: &Exchange) -> Value {
        let (model, max_tokens) = (&self.settings.model, self.settings.max_tokens);
        match self.provider {
            Provider::Claude => anthropic::body(model, max_tokens, exchange),
            Provider::ChatGpt if self.is_openai() => openai::body(model, "max_completion_tokens", max_tokens, exchange),
            _ => openai::body(model, "max_tokens", max_tokens, exchange),
        }
    }

    fn is_openai(&self) -> bool {
        self.url.host_str().is_some_and(|host| host == "openai.com" || host.ends_with(".openai.com"))
    }

    fn header(&self) -> Result<(HeaderName, HeaderValue), ProviderError> {
        let (provider, variable) = (self.provider, self.provider.key_variable().unwrap_or_default());
        let key = self.settings.key.as_ref().map(|key| key.reveal().trim()).filter(|key| !key.is_empty());
        let key = key.ok_or(ProviderError::NotSetUp { provider, variable })?;
        let (name, value) = match provider {
            Provider::Claude => (HeaderName::from_static("x-api-key"), key.to_owned()),
            _ => (AUTHORIZATION, format!("Bearer {key}")),
        };
        let mut value = HeaderValue::try_from(value).map_err(|_| ProviderError::Settings {
            provider,
            reason: format!("the key in {variable} has characters that a header cannot carry"),
        })?;
        value.set_sensitive(true);
        Ok((name, value))
    }

    /// Says what is missing before anything is reserved.
    pub(super) fn check_key(&self) -> Result<(), ProviderError> {
        self.header().map(drop)
    }

    /// A response with a success status, after at most two retries.
    async fn send(&self, exchange: &Exchange, held: &mut Reservation) -> Result<Response, ProviderError> {
        let (name, key) = self.header()?;
        let body = self.body(exchange);
        let mut retries = 0;
        loop {
            let mut request =
                self.client.post(self.url.clone()).header(&name, &key).header(ACCEPT, "text/event-stream").json(&body);
            if self.provider == Provider::Claude {
                request = request.header("anthropic-version", anthropic::VERSION);
            }
            held.sent();
            let (asked, error) = match self.within_idle(request.send()).await? {
                Ok(response) if response.status().is_success() => return Ok(response),
                Ok(response) => {
                    // An error status is not billed.
                    held.refused();
                    (retry::asked(response.headers()), self.refusal(response).await)
                }
                Err(error) => {
                    // Without a connection nothing was sent.
                    if error.is_connect() {
                        held.refused();
                    }
                    (None, self.unreachable(&error))
                }
            };
            let may_pass = match &error {
                ProviderError::Busy { .. } => true,
                ProviderError::Unreachable { .. } => !held.is_sent(),
                _ => false,
            };
            let Some(wait) = retry::wait(retries, asked, &self.timing).filter(|_| may_pass) else { return Err(error) };
            tokio::time::sleep(wait).await;
            retries += 1;
        }
    }

    async fn read(&self, mut response: Response) -> Result<Finished, ProviderError> {
        let mut reader: Box<dyn Reader> = match self.provider {
            Provider::Claude => Box::new(AnthropicReader::new()),
            _ => Box::new(OpenAiReader::new()),
        };
        while !reader.is_done() {
            let chunk = self.within_idle(response.chunk()).await?;
            // A connection that breaks here has cut the answer short.
            let Ok(Some(bytes)) = chunk else { break };
            reader.feed(&bytes).map_err(|fault| self.fault(fault))?;
        }
        reader.end().map_err(|fault| self.fault(fault))
    }

    fn fault(&self, fault: StreamFault) -> ProviderError {
        let provider = self.provider;
        match fault {
            StreamFault::Reported(detail) => ProviderError::Interrupted { provider, detail: self.scrub(&detail) },
            StreamFault::Truncated => ProviderError::Interrupted { provider, detail: String::new() },
            StreamFault::Protocol(detail) => ProviderError::Protocol { provider, detail: self.scrub(&detail) },
        }
    }

    async fn refusal(&self, mut response: Response) -> ProviderError {
        let (provider, status) = (self.provider, response.status().as_u16());
        let mut bytes = Vec::new();
        while let Ok(Ok(Some(chunk))) = self.within_idle(response.chunk()).await {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > ERROR_BYTES {
                break;
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let document: Value = serde_json::from_str(&text).unwrap_or_default();
        let message = document.pointer("/error/message").or_else(|| document.get("message")).and_then(Value::as_str);
        let detail = self.scrub(message.unwrap_or(&text));
        match status {
            401 | 403 => ProviderError::Key { provider, status, detail },
            busy if retry::is_busy(busy) => ProviderError::Busy { provider, status, detail },
            _ => ProviderError::Refused { provider, status, detail },
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> ProviderError {
        let mut innermost: &dyn std::error::Error = error;
        while let Some(next) = innermost.source() {
            innermost = next;
        }
        let reason = if error.is_timeout() { "it timed out".to_owned() } else { self.scrub(&innermost.to_string()) };
        ProviderError::Unreachable { provider: self.provider, reason }
    }

    /// A server's text on one line, shortened, without the key: some servers repeat it.
    fn scrub(&self, text: &str) -> String {
        let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(key) = self.settings.key.as_ref().map(|key| key.reveal().trim()).filter(|key| !key.is_empty()) {
            text = text.replace(key, "***");
        }
        text.chars().take(DETAIL_CHARACTERS).collect()
    }

    async fn within_idle<T>(&self, work: impl Future<Output = T>) -> Result<T, ProviderError> {
        let slow = ProviderError::Slow { provider: self.provider, seconds: seconds(self.timing.idle) };
        tokio::time::timeout(self.timing.idle, work).await.map_err(|_| slow)
    }
}

fn seconds(limit: Duration) -> u64 {
    limit.as_millis().div_ceil(1000) as u64
}
