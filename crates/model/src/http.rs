//! What both HTTP backends share: the client, addresses without secrets, the API key, and the
//! translation of transport failures into [`ModelError`].

use std::error::Error as _;
use std::fmt;
use std::sync::Once;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Client, Method, Response, Url};
use serde_json::Value;

use crate::ModelError;

/// Most bytes that are read of an error's body or of a small JSON document.
const SMALL_BODY_BYTES: usize = 8 << 20;
/// Most characters of a server's message that an error repeats.
const MESSAGE_CHARS: usize = 300;

/// An API key. It is never printed: not by `Debug`, not in an error.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// The key itself, for the header that carries it and for nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for ApiKey {
    fn from(key: String) -> Self {
        Self(key)
    }
}

impl From<&str> for ApiKey {
    fn from(key: &str) -> Self {
        Self(key.to_owned())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey(***)")
    }
}

/// How to talk to a server.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Sent as a bearer token.
    pub api_key: Option<ApiKey>,
    /// Longest wait for the next byte, the first one included; `None` waits for ever. A wrapper
    /// ([`crate::wrappers::Timeout`]) limits the whole answer.
    pub idle: Option<Duration>,
    /// Longest wait for a connection.
    pub connect: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self { api_key: None, idle: None, connect: Duration::from_secs(10) }
    }
}

/// A client for `url`: TLS by rustls with ring, no redirects (they would carry the key elsewhere),
/// and no proxy for loopback addresses.
pub fn client(url: &Url, options: &HttpOptions) -> Result<Client, ModelError> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error means that the program has already installed a provider: that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let mut builder = Client::builder()
        .user_agent(concat!("tenpass/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(options.connect)
        .tcp_nodelay(true);
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    if url.scheme() == "http" {
        // Without TLS no root certificates are needed: a machine may have none. And a connection
        // costs nothing beside an answer, while one that is used again can fail: llama-server
        // closes it after each stream without saying so.
        builder = builder.tls_certs_only(std::iter::empty()).pool_max_idle_per_host(0);
    }
    builder.build().map_err(|error| ModelError::Connect { url: shown(url), reason: reason(&error) })
}

/// True when the address is on this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) if host.ends_with(".localhost") => true,
        Some(host) => {
            host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}

/// The address without user name, password, query or fragment.
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for addresses that cannot carry credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.as_str().trim_end_matches('/').to_owned()
}

/// Reads an address; a missing scheme means `http`.
pub fn parse_url(text: &str) -> Result<Url, ModelError> {
    let full = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let bad = |reason: String| {
        // What does not parse may still hold a password, so everything before an `@` is left out.
        let shown = text.rsplit_once('@').map_or(text, |(_, host)| host);
        ModelError::Connect { url: shown.to_owned(), reason }
    };
    let mut url = Url::parse(&full).map_err(|error| bad(format!("not an address: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad("not an http or https address".to_owned()));
    }
    url.set_fragment(None);
    Ok(url)
}

/// The root of an API, with what every request to it needs.
#[derive(Clone)]
pub(crate) struct Endpoint {
    base: Url,
    client: Client,
    key: Option<ApiKey>,
    /// The address as errors show it.
    pub(crate) shown: String,
    pub(crate) idle: Option<Duration>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Endpoint").field("url", &self.shown).finish_non_exhaustive()
    }
}

/// A request that brought no usable response.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server refused with a status and, usually, a reason.
    Status { status: u16, message: String, body: Option<Value> },
    /// Anything below HTTP.
    Transport(ModelError),
}

impl Endpoint {
    pub(crate) fn new(base: Url, options: &HttpOptions) -> Result<Self, ModelError> {
        let client = client(&base, options)?;
        Ok(Self { shown: shown(&base), client, key: options.api_key.clone(), idle: options.idle, base })
    }

    /// The same client with another root.
    pub(crate) fn rebased(&self, base: Url) -> Self {
        Self { shown: shown(&base), base, ..self.clone() }
    }

    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{path}", self.base.path().trim_end_matches('/')));
        if self.key.is_some() {
            // The client would turn them into a second authorization header. Neither call fails
            // for an address with a host.
            let _ = url.set_username("");
            let _ = url.set_password(None);
        }
        url
    }

    /// Sends one request; the response has a success status.
    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Response, Failure> {
        let url = self.url(path);
        let mut request = self.client.request(method, url);
        if let Some(ApiKey(key)) = &self.key {
            let mut value = HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| {
                Failure::Transport(self.connect_error("the API key has characters that a header cannot carry"))
            })?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let sent = self.within_idle(request.send()).await.map_err(Failure::Transport)?;
        let response = sent.map_err(|error| Failure::Transport(self.connect_error(&reason(&error))))?;
        if response.status().is_success() { Ok(response) } else { Err(self.refusal(response).await) }
    }

    /// Sends a request and reads a small JSON document.
    pub(crate) async fn json(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let response = self.send(method, path, body).await?;
        let bytes = self.read_small(response).await.map_err(Failure::Transport)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let what = if error.is_eof() {
                "half a JSON document".to_owned()
            } else {
                describe_not_json(&String::from_utf8_lossy(&bytes))
            };
            Failure::Transport(ModelError::Protocol { url: self.shown.clone(), what })
        })
    }

    async fn refusal(&self, response: Response) -> Failure {
        let status = response.status();
        let bytes = self.read_small(response).await.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let body = serde_json::from_str::<Value>(&text).ok();
        let message = match &body {
            Some(body) => error_message(body),
            None if text.trim().is_empty() => status.canonical_reason().unwrap_or("no reason given").to_owned(),
            None => describe_not_json(&text),
        };
        Failure::Status { status: status.as_u16(), message, body }
    }

    async fn read_small(&self, mut response: Response) -> Result<Vec<u8>, ModelError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk(&mut response).await? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > SMALL_BODY_BYTES {
                return Err(ModelError::Protocol {
                    url: self.shown.clone(),
                    what: "a response without end".to_owned(),
                });
            }
        }
        Ok(bytes)
    }

    /// The next bytes of a body; a connection that breaks here has cut an answer short.
    pub(crate) async fn chunk(&self, response: &mut Response) -> Result<Option<Vec<u8>>, ModelError> {
        let read = self.within_idle(response.chunk()).await?;
        let bytes = read.map_err(|_| ModelError::Truncated { url: self.shown.clone() })?;
        Ok(bytes.map(Vec::from))
    }

    async fn within_idle<T>(&self, work: impl Future<Output = T>) -> Result<T, ModelError> {
        match self.idle {
            None => Ok(work.await),
            Some(limit) => tokio::time::timeout(limit, work)
                .await
                .map_err(|_| ModelError::Silent { url: self.shown.clone(), seconds: seconds(limit) }),
        }
    }

    fn connect_error(&self, reason: &str) -> ModelError {
        ModelError::Connect { url: self.shown.clone(), reason: self.scrub(reason) }
    }

    /// A failure as the plain HTTP error it is.
    pub(crate) fn plain(&self, failure: Failure) -> ModelError {
        match failure {
            Failure::Transport(error) => error,
            Failure::Status { status, message, .. } => {
                ModelError::Http { url: self.shown.clone(), status, message: self.scrub(&message) }
            }
        }
    }

    /// A server's text on one line, shortened, with the key and the password taken out: some
    /// servers repeat what they were sent.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let secrets = [self.key.as_ref().map(|ApiKey(key)| key.as_str()), self.base.password()];
        for secret in secrets.into_iter().flatten().filter(|secret| !secret.is_empty()) {
            text = text.replace(secret, "***");
        }
        let mut short: String = text.chars().take(MESSAGE_CHARS).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        short
    }
}

/// Whole seconds for a message, rounded up: a limit of 300 ms is not "0 s".
pub(crate) fn seconds(limit: Duration) -> u64 {
    limit.as_millis().div_ceil(1000) as u64
}

/// The innermost reason of a client error ("connection refused"), without the address.
fn reason(error: &reqwest::Error) -> String {
    let mut innermost: Option<&dyn std::error::Error> = error.source();
    while let Some(next) = innermost.and_then(std::error::Error::source) {
        innermost = Some(next);
    }
    let text = innermost.map_or_else(|| "the request failed".to_owned(), ToString::to_string);
    if error.is_timeout() { "the connection timed out".to_owned() } else { text }
}

/// The message inside the error document of any server we know.
pub(crate) fn error_message(body: &Value) -> String {
    let error = body.get("error").unwrap_or(body);
    let found = error
        .as_str()
        .or_else(|| error.get("message").and_then(Value::as_str))
        .or_else(|| body.get("message").and_then(Value::as_str))
        .or_else(|| body.get("detail").and_then(Value::as_str));
    found.map_or_else(|| error.to_string(), str::to_owned)
}

/// Names a text that should have been JSON.
pub(crate) fn describe_not_json(text: &str) -> String {
    let text = text.trim();
    if text.starts_with('<') {
        return "an HTML page instead of JSON".to_owned();
    }
    let start: String = text.chars().take(60).collect();
    if start.is_empty() { "an empty response".to_owned() } else { format!("text that is not JSON: `{start}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str, key: &str) -> Endpoint {
        let options = HttpOptions { api_key: Some(key.into()), ..HttpOptions::default() };
        Endpoint::new(parse_url(url).unwrap(), &options).unwrap()
    }

    #[test]
    fn secrets_never_show() {
        let endpoint = endpoint("http://user:hunter2@127.0.0.1:9/v1?token=abc", "sk-secret");
        let shown = format!(
            "{endpoint:?} {} {:?}",
            endpoint.shown,
            HttpOptions { api_key: Some("sk-secret".into()), ..HttpOptions::default() }
        );
        for secret in ["hunter2", "sk-secret", "abc", "user"] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
        assert_eq!(endpoint.scrub("bad key sk-secret\n for hunter2"), "bad key *** for ***");
        let error = parse_url("http://u:hunter2@[bad").unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
        let error = parse_url("ftp://u:hunter2@host").unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn loopback_is_recognised_in_every_writing() {
        for text in ["http://localhost:1", "127.0.0.1:80", "http://127.8.9.10", "http://[::1]:3", "http://a.localhost/"]
        {
            assert!(is_loopback(&parse_url(text).unwrap()), "{text}");
        }
        for text in ["http://192.0.2.1", "http://localhost.example", "http://[2001:db8::1]"] {
            assert!(!is_loopback(&parse_url(text).unwrap()), "{text}");
        }
    }

    #[test]
    fn messages_are_found_in_every_kind_of_error_document() {
        for (body, message) in [
            (r#"{"error":"model 'x' not found"}"#, "model 'x' not found"),
            (r#"{"error":{"message":"no","code":400}}"#, "no"),
            (r#"{"object":"error","message":"vllm"}"#, "vllm"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (r#"{"a":1}"#, r#"{"a":1}"#),
        ] {
            let body: Value = serde_json::from_str(body).unwrap();
            assert_eq!(error_message(&body), message);
        }
        assert_eq!(describe_not_json(" <!DOCTYPE html>"), "an HTML page instead of JSON");
        assert_eq!(describe_not_json(""), "an empty response");
    }

    #[test]
    fn limits_below_a_second_are_not_shown_as_zero() {
        assert_eq!(seconds(Duration::from_millis(300)), 1);
        assert_eq!(seconds(Duration::from_secs(61)), 61);
    }
}
