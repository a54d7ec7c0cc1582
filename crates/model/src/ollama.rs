//! Ollama's native API: `/api/chat` for answers, `/api/show`, `/api/tags`, `/api/ps` and
//! `/api/version` for what is known about the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_stream::try_stream;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use tenpass_trace::Role;

use crate::answer::{Answer, Broken};
use crate::decode::{Fault, OllamaDecoder};
use crate::http::{Endpoint, Failure, HttpOptions, parse_url};
use crate::weigh::{Weight, refused};
use crate::wire::ollama::chat_body;
use crate::{
    BoxFuture, Capabilities, ChatEvent, ChatModel, ChatRequest, ChatStream, Completion, ModelError, ModelInfo,
    RenderedPrompt, sha256,
};

/// The port Ollama listens on unless told otherwise.
const DEFAULT_PORT: u16 = 11434;

/// A model of an Ollama server. Cloning shares the connection.
#[derive(Debug, Clone)]
pub struct OllamaModel {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    endpoint: Endpoint,
    info: ModelInfo,
    keep_alive: Option<String>,
    /// Set once the server has shown that it does not know `_debug_render_only`.
    cannot_render: AtomicBool,
    /// Set once the server has refused a thinking level: some versions take levels only for
    /// gpt-oss and `true` for every other model.
    plain_think: AtomicBool,
}

/// A model in the server's memory (`/api/ps`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedModel {
    /// Its name.
    pub name: String,
    /// Bytes in the memory of the graphics card.
    pub size_vram: Option<u64>,
    /// Tokens its context holds as it was loaded.
    pub context: Option<u64>,
}

impl OllamaModel {
    /// Asks the server at `base_url` (`http://host:port`, `host`, as in OLLAMA_HOST) what it knows
    /// about `name`. `keep_alive` is how long the model stays loaded (`"10m"`, `"-1"`).
    pub async fn connect(
        base_url: &str,
        name: &str,
        keep_alive: Option<&str>,
        options: &HttpOptions,
    ) -> Result<Self, ModelError> {
        let endpoint = Endpoint::new(base(base_url)?, options)?;
        let shown = endpoint
            .json(Method::POST, "api/show", Some(&json!({ "model": name })))
            .await
            .map_err(|failure| not_found(&endpoint, name, failure))?;
        // Neither is needed to run the model: an older server or a proxy may lack them.
        let tags = endpoint.json(Method::GET, "api/tags", None).await.unwrap_or_default();
        let version = endpoint.json(Method::GET, "api/version", None).await.unwrap_or_default();
        let info = model_info(name, &shown, &tags, &version);
        let keep_alive = keep_alive.map(str::to_owned);
        let (cannot_render, plain_think) = (AtomicBool::new(false), AtomicBool::new(false));
        Ok(Self { shared: Arc::new(Shared { endpoint, info, keep_alive, cannot_render, plain_think }) })
    }

    /// The models in the server's memory.
    pub async fn loaded(&self) -> Result<Vec<LoadedModel>, ModelError> {
        self.shared.loaded().await
    }
}

/// The server's root: OLLAMA_HOST's short forms are completed, and an API path that somebody
/// pasted along is dropped.
fn base(text: &str) -> Result<reqwest::Url, ModelError> {
    let mut url = parse_url(text)?;
    let path = url.path().trim_end_matches('/').to_owned();
    let path = ["/api/chat", "/api", "/v1"].iter().find_map(|end| path.strip_suffix(end)).unwrap_or(&path).to_owned();
    url.set_path(&path);
    // Neither fails for an http address with a host.
    if url.port().is_none() && !text.contains("://") {
        let _ = url.set_port(Some(DEFAULT_PORT));
    }
    if url.host_str() == Some("0.0.0.0") {
        let _ = url.set_host(Some("127.0.0.1"));
    }
    Ok(url)
}

fn not_found(endpoint: &Endpoint, name: &str, failure: Failure) -> ModelError {
    match failure {
        Failure::Status { status: 404, message, body: Some(body) } if body.get("error").is_some() => {
            let reason = format!("{} says: {}", endpoint.shown, endpoint.scrub(&message));
            ModelError::NotFound { model: name.to_owned(), reason }
        }
        failure => endpoint.plain(failure),
    }
}

fn model_info(name: &str, shown: &Value, tags: &Value, version: &Value) -> ModelInfo {
    let capabilities: Vec<&str> =
        shown.get("capabilities").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let template = shown.get("template").and_then(Value::as_str).unwrap_or_default();
    // Servers before the field: the template itself tells.
    let can = |what: &str, mark: &str| {
        if capabilities.is_empty() { template.contains(mark) } else { capabilities.contains(&what) }
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let full =
        if name.rsplit('/').next().unwrap_or(name).contains(':') { name.to_owned() } else { format!("{name}:latest") };
    let entry = tags.get("models").and_then(Value::as_array).into_iter().flatten().find(|entry| {
        ["name", "model"]
            .iter()
            .filter_map(|field| entry.get(field)?.as_str())
            .any(|known| known == full || known == name)
    });
    ModelInfo {
        spec: format!("ollama:{name}"),
        backend: "ollama".to_owned(),
        name: name.to_owned(),
        digest: text(entry.and_then(|entry| entry.get("digest"))).map(|digest| match digest.strip_prefix("sha256:") {
            Some(_) => digest,
            None => format!("sha256:{digest}"),
        }),
        template_digest: (!template.is_empty()).then(|| sha256(template)),
        quantization: text(shown.pointer("/details/quantization_level")),
        context: context_length(shown),
        capabilities: Capabilities {
            tools: can("tools", ".Tools"),
            thinking: can("thinking", ".Think"),
            structured_output: true,
            declared_shape: None,
        },
        runtime: text(version.get("version")).map(|version| format!("ollama {version}")),
    }
}

/// `model_info` holds `<architecture>.context_length`.
fn context_length(shown: &Value) -> Option<u32> {
    let info = shown.get("model_info")?.as_object()?;
    let length = info.iter().find(|(key, _)| key.ends_with(".context_length")).map(|(_, value)| value)?;
    u32::try_from(length.as_u64()?).ok()
}

impl Shared {
    fn weight(&self, request: &ChatRequest) -> Weight {
        Weight::of(request, &self.info.capabilities)
    }

    async fn loaded(&self) -> Result<Vec<LoadedModel>, ModelError> {
        let listed =
            self.endpoint.json(Method::GET, "api/ps", None).await.map_err(|failure| self.endpoint.plain(failure))?;
        let models = listed.get("models").and_then(Value::as_array).into_iter().flatten();
        Ok(models
            .filter_map(|model| {
                Some(LoadedModel {
                    name: model.get("name")?.as_str()?.to_owned(),
                    size_vram: model.get("size_vram").and_then(Value::as_u64),
                    context: model.get("context_length").and_then(Value::as_u64),
                })
            })
            .collect())
    }

    /// The context in force for `request`: what it asks for, else what the model was loaded with.
    async fn context(&self, request: &ChatRequest) -> Option<u64> {
        if let Some(context) = request.options.context {
            return Some(u64::from(context));
        }
        let loaded = self.loaded().await.ok()?;
        let name = &self.info.name;
        let own = loaded.iter().find(|model| model.name == *name || model.name == format!("{name}:latest"))?;
        own.context
    }

    async fn refusal(&self, failure: Failure, request: &ChatRequest) -> ModelError {
        let Failure::Status { status, message, body } = &failure else { return self.endpoint.plain(failure) };
        if let Some(error) = self.overflow(message, body.as_ref(), request).await {
            return error;
        }
        let lower = message.to_lowercase();
        for feature in ["tools", "thinking"] {
            if *status == 400 && lower.contains("does not support") && lower.contains(feature) {
                return ModelError::Unsupported { model: self.info.name.clone(), feature: feature.to_owned() };
            }
        }
        if *status == 404 && lower.contains("model") {
            return not_found(&self.endpoint, &self.info.name, failure);
        }
        self.endpoint.plain(failure)
    }

    async fn overflow(&self, message: &str, body: Option<&Value>, request: &ChatRequest) -> Option<ModelError> {
        refused(message, body, self.weight(request), None)?;
        refused(message, body, self.weight(request), self.context(request).await)
    }

    async fn broken(&self, broken: Broken, request: &ChatRequest) -> ModelError {
        let url = self.endpoint.shown.clone();
        match broken {
            Broken::Transport(error) => error,
            Broken::Content(Fault::Truncated) => ModelError::Truncated { url },
            Broken::Content(Fault::Protocol(what)) => ModelError::Protocol { url, what: self.endpoint.scrub(&what) },
            Broken::Content(Fault::Server { message, body }) => {
                match self.overflow(&message, Some(&body), request).await {
                    Some(error) => error,
                    None => ModelError::Server { url, message: self.endpoint.scrub(&message) },
                }
            }
        }
    }

    /// K8: compares the prompt tokens that the server reports with what the prompt must have.
    async fn weigh(&self, request: &ChatRequest, completion: &Completion) -> Result<(), ModelError> {
        // Absent or 0 means that the server did not count (a prompt wholly from the cache).
        let Some(reported) = completion.usage.prompt_tokens.filter(|reported| *reported > 0) else { return Ok(()) };
        let weight = self.weight(request);
        let asked = request.options.context.map(u64::from);
        // Full to the brim: the runner keeps exactly as many tokens as fit.
        if asked.is_some_and(|context| reported >= context) {
            return Err(weight.truncated(reported));
        }
        let is_short = reported < weight.floor;
        let near_limit = asked.is_some_and(|context| weight.estimate.saturating_mul(4) >= context.saturating_mul(3));
        let is_suspicious = is_short || (near_limit && reported < weight.estimate);
        if !is_suspicious {
            return Ok(());
        }
        match self.rendered(request).await {
            Some(text) if holds_all(&text, request) => match asked.or(self.context(request).await) {
                // All of it was rendered, and there was room: the count leaves out what was cached.
                Some(context) if reported + 1 < context => Ok(()),
                _ if is_short => Err(weight.truncated(reported)),
                _ => Ok(()),
            },
            Some(_) => Err(weight.truncated(reported)),
            None if is_short => Err(weight.truncated(reported)),
            None => Ok(()),
        }
    }

    /// The prompt as the server's template renders it, messages that it drops left out already.
    async fn rendered(&self, request: &ChatRequest) -> Option<String> {
        if self.cannot_render.load(Ordering::Relaxed) {
            return None;
        }
        let mut body = self.body(&ChatRequest { stream: false, ..request.clone() });
        body["_debug_render_only"] = true.into();
        // A server that does not know the field answers; it shall not answer at length.
        body["options"]["num_predict"] = 1.into();
        let document = self.endpoint.json(Method::POST, "api/chat", Some(&body)).await.ok()?;
        let text = document.pointer("/_debug_info/rendered_template").and_then(Value::as_str).map(str::to_owned);
        if text.is_none() {
            self.cannot_render.store(true, Ordering::Relaxed);
        }
        text
    }

    fn body(&self, request: &ChatRequest) -> Value {
        let mut body = chat_body(&self.info.name, request, &self.info.capabilities, self.keep_alive.as_deref());
        if request.think.is_some() && self.plain_think.load(Ordering::Relaxed) {
            body["think"] = true.into();
        }
        body
    }

    async fn send(&self, request: &ChatRequest) -> Result<Response, Failure> {
        let sent = self.endpoint.send(Method::POST, "api/chat", Some(&self.body(request))).await;
        match &sent {
            Err(Failure::Status { status: 400, message, .. })
                if request.think.is_some()
                    && message.contains("think value")
                    && !self.plain_think.swap(true, Ordering::Relaxed) =>
            {
                self.endpoint.send(Method::POST, "api/chat", Some(&self.body(request))).await
            }
            _ => sent,
        }
    }
}

/// True when the text of every message from outside the model is found in the rendered prompt.
/// What the model said may be changed: templates strip reasoning out of it.
fn holds_all(rendered: &str, request: &ChatRequest) -> bool {
    let kept = request.messages.iter().filter(|message| matches!(message.role, Role::System | Role::User));
    kept.map(|message| message.content.trim()).all(|text| rendered.contains(text))
}

impl ChatModel for OllamaModel {
    fn info(&self) -> &ModelInfo {
        &self.shared.info
    }

    fn start(&self, request: ChatRequest) -> ChatStream {
        let shared = Arc::clone(&self.shared);
        Box::pin(try_stream! {
            let response = match shared.send(&request).await {
                Ok(response) => response,
                Err(failure) => Err(shared.refusal(failure, &request).await)?,
            };
            let mut answer = Answer::new(&shared.endpoint, response, OllamaDecoder::default());
            loop {
                match answer.next().await {
                    Ok(Some(event)) => {
                        if let ChatEvent::Done(completion) = &event {
                            shared.weigh(&request, completion).await?;
                        }
                        yield event;
                    }
                    Ok(None) => break,
                    Err(broken) => Err(shared.broken(broken, &request).await)?,
                }
            }
        })
    }

    /// The text from `_debug_render_only`, where the server knows it; the count from evaluating
    /// the prompt with an answer of one token, as the API has no tokenizer.
    fn render<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>> {
        Box::pin(async move {
            let shared = &self.shared;
            let text = shared.rendered(request).await;
            let mut short = ChatRequest { stream: false, ..request.clone() };
            short.options.max_tokens = 1;
            let document = match shared.endpoint.json(Method::POST, "api/chat", Some(&shared.body(&short))).await {
                Ok(document) => document,
                Err(failure) => return Err(shared.refusal(failure, request).await),
            };
            let count = document.get("prompt_eval_count").and_then(Value::as_u64);
            Ok(RenderedPrompt { text, tokens: count.and_then(|count| u32::try_from(count).ok()) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_completed_as_ollama_does() {
        for (text, expected) in [
            ("http://127.0.0.1:11434", "http://127.0.0.1:11434/"),
            ("127.0.0.1", "http://127.0.0.1:11434/"),
            ("0.0.0.0:5000", "http://127.0.0.1:5000/"),
            ("http://localhost:1/api/", "http://localhost:1/"),
            ("https://host.example/ollama/v1", "https://host.example/ollama"),
        ] {
            assert_eq!(base(text).unwrap().as_str(), expected, "{text}");
        }
    }

    #[test]
    fn identity_comes_from_three_documents() {
        let shown = json!({
            "template": "{{ .Prompt }}", "details": {"quantization_level": "Q4_K_M"}, "capabilities": ["completion", "tools"],
            "model_info": {"general.architecture": "gemma4", "gemma4.context_length": 131_072}
        });
        let tags =
            json!({"models": [{"name": "other:1b", "digest": "00"}, {"name": "gemma4:latest", "digest": "ab12"}]});
        let info = model_info("gemma4", &shown, &tags, &json!({"version": "0.12.3"}));
        assert_eq!((info.digest.as_deref(), info.context), (Some("sha256:ab12"), Some(131_072)));
        assert_eq!((info.quantization.as_deref(), info.runtime.as_deref()), (Some("Q4_K_M"), Some("ollama 0.12.3")));
        assert!(info.capabilities.tools && !info.capabilities.thinking);
        let old = model_info("gemma4", &json!({"template": "{{ if .Tools }}"}), &Value::Null, &Value::Null);
        assert!(old.capabilities.tools && old.digest.is_none() && old.runtime.is_none());
    }
}
