//! OpenAI-compatible servers: `/chat/completions` and `/models`, and what llama.cpp adds to them
//! (`/props`, `/apply-template`, `/tokenize`).

use std::sync::{Arc, Mutex, PoisonError};

use async_stream::try_stream;
use reqwest::{Method, Response, Url};
use serde_json::{Value, json};

use crate::answer::{Answer, Broken};
use crate::decode::{Fault, OpenAiDecoder, unparsed_output};
use crate::http::{Endpoint, Failure, HttpOptions, parse_url};
use crate::weigh::{Weight, refused};
use crate::wire::openai::{Dialect, chat_body};
use crate::{
    BoxFuture, Capabilities, ChatEvent, ChatModel, ChatRequest, ChatStream, Completion, FinishReason, ModelError,
    ModelInfo, RenderedPrompt, Timings, Usage, sha256,
};

const CHAT: &str = "chat/completions";

/// A model behind an OpenAI-compatible API. Cloning shares the connection.
#[derive(Debug, Clone)]
pub struct OpenAiModel {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    endpoint: Endpoint,
    /// Where llama.cpp answers `/props`, `/apply-template` and `/tokenize`.
    root: Endpoint,
    /// The id that the server wants in requests.
    id: String,
    info: ModelInfo,
    dialect: Mutex<Dialect>,
}

impl OpenAiModel {
    /// Asks the API at `base_url` (up to and without `/chat/completions`) for `name`; an empty
    /// name takes its only model.
    pub async fn connect(base_url: &str, name: &str, options: &HttpOptions) -> Result<Self, ModelError> {
        let typed = Endpoint::new(base(base_url)?, options)?;
        let (endpoint, listed) = list_models(typed).await?;
        let root = endpoint.rebased(root(endpoint.base()));
        let entry = choose(&endpoint, name, listed.as_ref())?;
        let props =
            root.json(Method::GET, "props", None).await.ok().filter(|props| props.get("chat_template").is_some());
        let id = entry.as_ref().map_or_else(|| name.to_owned(), |entry| id(entry).to_owned());
        let info = model_info(&endpoint.shown, &id, entry.as_ref(), props.as_ref());
        let dialect = Dialect { llama_cpp: props.is_some(), ..Dialect::default() };
        Ok(Self { shared: Arc::new(Shared { endpoint, root, id, info, dialect: Mutex::new(dialect) }) })
    }

    /// How requests are written to this server by now: a strict server loses the extensions with
    /// its first refusal.
    pub fn dialect(&self) -> Dialect {
        self.shared.dialect()
    }
}

fn base(text: &str) -> Result<Url, ModelError> {
    let mut url = parse_url(text)?;
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/chat/completions").unwrap_or(path).to_owned();
    url.set_path(&path);
    Ok(url)
}

/// llama.cpp's own routes lie beside `/v1`, not under it.
fn root(base: &Url) -> Url {
    let mut url = base.clone();
    let path = base.path().trim_end_matches('/');
    url.set_path(path.strip_suffix("/v1").unwrap_or(path));
    url
}

/// The server's list of models; an address without `/v1` is completed when only that answers.
async fn list_models(endpoint: Endpoint) -> Result<(Endpoint, Option<Vec<Value>>), ModelError> {
    let missing = match models(&endpoint).await {
        Ok(models) => return Ok((endpoint, Some(models))),
        Err(Failure::Status { status: 404 | 405 | 501, .. }) => true,
        Err(failure) => return Err(endpoint.plain(failure)),
    };
    if missing && !endpoint.base().path().trim_end_matches('/').ends_with("/v1") {
        let mut completed = endpoint.base().clone();
        completed.set_path(&format!("{}/v1", endpoint.base().path().trim_end_matches('/')));
        let completed = endpoint.rebased(completed);
        if let Ok(models) = models(&completed).await {
            return Ok((completed, Some(models)));
        }
    }
    Ok((endpoint, None))
}

async fn models(endpoint: &Endpoint) -> Result<Vec<Value>, Failure> {
    let listed = endpoint.json(Method::GET, "models", None).await?;
    match listed.get("data").and_then(Value::as_array) {
        Some(models) => Ok(models.clone()),
        None => Err(Failure::Transport(ModelError::Protocol {
            url: endpoint.shown.clone(),
            what: "a list of models without `data`".to_owned(),
        })),
    }
}

fn id(entry: &Value) -> &str {
    entry.get("id").and_then(Value::as_str).unwrap_or_default()
}

/// The last part of a path, without `.gguf`: how people call a model that a server calls by file.
fn short(id: &str) -> &str {
    let file = id.rsplit(['/', '\\']).next().unwrap_or(id);
    file.strip_suffix(".gguf").unwrap_or(file)
}

/// The entry that `name` means. A server without a list gets the name as it is.
fn choose(endpoint: &Endpoint, name: &str, listed: Option<&Vec<Value>>) -> Result<Option<Value>, ModelError> {
    let not_found = |reason: String| Err(ModelError::NotFound { model: name.to_owned(), reason });
    let Some(models) = listed.filter(|models| !models.is_empty()) else {
        return match name {
            "" => not_found(format!("{} lists no models; write openai:URL#NAME", endpoint.shown)),
            _ => Ok(None),
        };
    };
    let ids = || models.iter().take(10).map(|entry| short(id(entry))).collect::<Vec<_>>().join(", ");
    if name.is_empty() {
        return match models.as_slice() {
            [only] => Ok(Some(only.clone())),
            _ => not_found(format!("{} serves several, name one of: {}", endpoint.shown, ids())),
        };
    }
    let answers_to = |entry: &&Value, test: &dyn Fn(&str) -> bool| {
        let aliases = entry.get("aliases").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        aliases.chain([id(entry)]).any(test)
    };
    let exact = models.iter().find(|entry| answers_to(entry, &|known| known == name));
    let by_file =
        || models.iter().find(|entry| answers_to(entry, &|known| short(known).eq_ignore_ascii_case(short(name))));
    match exact.or_else(by_file) {
        Some(entry) => Ok(Some(entry.clone())),
        None => not_found(format!("{} serves: {}", endpoint.shown, ids())),
    }
}

fn model_info(shown: &str, id: &str, entry: Option<&Value>, props: Option<&Value>) -> ModelInfo {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let in_props = |pointer: &str| props.and_then(|props| props.pointer(pointer));
    let in_entry = |pointer: &str| entry.and_then(|entry| entry.pointer(pointer));
    let context = in_props("/default_generation_settings/n_ctx")
        .or_else(|| in_entry("/meta/n_ctx"))
        .or_else(|| in_entry("/max_model_len"))
        .or_else(|| in_entry("/context_length"));
    let template = text(in_props("/chat_template"));
    let quantization = text(in_props("/model_ftype")).or_else(|| text(in_entry("/meta/ftype")));
    // A file name is shown without the folders of the server's machine.
    let name = id.strip_suffix(".gguf").map_or(id, short);
    ModelInfo {
        spec: format!("openai:{shown}#{name}"),
        backend: "openai".to_owned(),
        name: name.to_owned(),
        digest: None,
        template_digest: template.as_ref().map(sha256),
        quantization,
        context: context.and_then(Value::as_u64).and_then(|context| u32::try_from(context).ok()),
        capabilities: capabilities(template.as_deref(), in_props("/chat_template_caps")),
        runtime: text(in_props("/build_info")).map(|build| format!("llama.cpp {build}")),
    }
}

/// llama.cpp tells what its template can do; of any other server nothing is known beforehand, so
/// everything is tried and the server's refusal is the answer.
fn capabilities(template: Option<&str>, declared: Option<&Value>) -> Capabilities {
    let Some(template) = template else {
        return Capabilities { tools: true, thinking: true, structured_output: true, declared_shape: None };
    };
    let declares = |name: &str| declared.and_then(|declared| declared.get(name)).and_then(Value::as_bool);
    let marks = ["enable_thinking", "<think>", "reasoning_effort", "thinking_budget", "<|channel|>"];
    Capabilities {
        tools: declares("supports_tools").unwrap_or_else(|| template.contains("tools")),
        thinking: declares("supports_reasoning_effort") == Some(true)
            || marks.iter().any(|mark| template.contains(mark)),
        structured_output: true,
        declared_shape: None,
    }
}

impl Shared {
    fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A template that knows nothing of tools or thinking drops them without a word.
    fn check(&self, request: &ChatRequest) -> Result<(), ModelError> {
        let can = &self.info.capabilities;
        let unsupported =
            |feature: &str| ModelError::Unsupported { model: self.info.name.clone(), feature: feature.to_owned() };
        if !request.tools.is_empty() && !can.tools {
            return Err(unsupported("tools: its chat template leaves them out"));
        }
        if request.think.is_some() && !can.thinking {
            return Err(unsupported("thinking: its chat template has no switch for it"));
        }
        Ok(())
    }

    fn body(&self, request: &ChatRequest, dialect: Dialect) -> Value {
        chat_body(&self.id, request, &self.info.capabilities, dialect)
    }

    /// Sends the request, and once more in plainer words when a strict server names a field that
    /// it does not know.
    async fn send(&self, request: &ChatRequest) -> Result<Response, Failure> {
        let mut dialect = self.dialect();
        loop {
            let sent = self.endpoint.send(Method::POST, CHAT, Some(&self.body(request, dialect))).await;
            let Err(Failure::Status { status: 400 | 422, message, body }) = &sent else { return sent };
            let whole = body.as_ref().map_or_else(|| message.clone(), ToString::to_string);
            let Some(plainer) = dialect.after_refusal(&whole) else { return sent };
            dialect = plainer;
            *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = plainer;
        }
    }

    fn weight(&self, request: &ChatRequest) -> Weight {
        Weight::of(request, &self.info.capabilities)
    }

    fn overflow(&self, message: &str, body: Option<&Value>, request: &ChatRequest) -> Option<ModelError> {
        refused(message, body, self.weight(request), self.info.context.map(u64::from))
    }

    fn refusal(&self, failure: Failure, request: &ChatRequest) -> ModelError {
        let Failure::Status { status, message, body } = &failure else { return self.endpoint.plain(failure) };
        if let Some(error) = self.overflow(message, body.as_ref(), request) {
            return error;
        }
        let lower = message.to_lowercase();
        let code = body.as_ref().and_then(|body| body.pointer("/error/code")).and_then(Value::as_str);
        let names_model = code == Some("model_not_found") || (lower.contains("model") && !lower.contains("file"));
        if *status == 404 && names_model {
            let reason = format!("{} says: {}", self.endpoint.shown, self.endpoint.scrub(message));
            return ModelError::NotFound { model: self.info.name.clone(), reason };
        }
        for (feature, marks) in [("tools", ["tool", "--jinja"]), ("thinking", ["think", "reasoning_effort"])] {
            let about = marks.iter().any(|mark| lower.contains(mark));
            if about
                && (lower.contains("not support")
                    || lower.contains("unsupported")
                    || lower.contains("requires --jinja"))
            {
                return ModelError::Unsupported { model: self.info.name.clone(), feature: feature.to_owned() };
            }
        }
        if *status == 400 && request.format.is_some() && lower.contains("schema") {
            return ModelError::Schema { reason: self.endpoint.scrub(message) };
        }
        self.endpoint.plain(failure)
    }

    fn broken(&self, broken: Broken, request: &ChatRequest) -> ModelError {
        let url = self.endpoint.shown.clone();
        match broken {
            Broken::Transport(error) => error,
            Broken::Content(Fault::Truncated) => ModelError::Truncated { url },
            Broken::Content(Fault::Protocol(what)) => ModelError::Protocol { url, what: self.endpoint.scrub(&what) },
            Broken::Content(Fault::Server { message, body }) => self
                .overflow(&message, Some(&body), request)
                .unwrap_or_else(|| ModelError::Server { url, message: self.endpoint.scrub(&message) }),
        }
    }

    /// K8, also here: a server that shifts its context reports fewer tokens than were sent.
    fn weigh(&self, request: &ChatRequest, completion: &Completion) -> Result<(), ModelError> {
        let Some(reported) = completion.usage.prompt_tokens.filter(|reported| *reported > 0) else { return Ok(()) };
        let weight = self.weight(request);
        // Some servers leave the cached part out of the count.
        let read = reported.saturating_add(completion.usage.cached_tokens.unwrap_or(0));
        if read < weight.floor { Err(weight.truncated(reported)) } else { Ok(()) }
    }

    async fn rendered(&self, request: &ChatRequest) -> Result<RenderedPrompt, Failure> {
        let dialect = self.dialect();
        if !dialect.llama_cpp {
            return Ok(RenderedPrompt { text: None, tokens: None });
        }
        let body = self.body(&ChatRequest { stream: false, ..request.clone() }, dialect);
        let applied = self.root.json(Method::POST, "apply-template", Some(&body)).await?;
        let Some(text) = applied.get("prompt").and_then(Value::as_str) else {
            return Ok(RenderedPrompt { text: None, tokens: None });
        };
        let content = json!({ "content": text, "add_special": true, "parse_special": true });
        let tokens = self.root.json(Method::POST, "tokenize", Some(&content)).await?;
        let count = tokens.get("tokens").and_then(Value::as_array).map(Vec::len);
        Ok(RenderedPrompt { text: Some(text.to_owned()), tokens: count.and_then(|count| u32::try_from(count).ok()) })
    }
}

impl ChatModel for OpenAiModel {
    fn info(&self) -> &ModelInfo {
        &self.shared.info
    }

    fn start(&self, request: ChatRequest) -> ChatStream {
        let shared = Arc::clone(&self.shared);
        Box::pin(try_stream! {
            shared.check(&request)?;
            let response = match shared.send(&request).await {
                Ok(response) => response,
                Err(failure) => {
                    let Some(text) = unreadable_answer(&failure) else { Err(shared.refusal(failure, &request))? };
                    for event in text {
                        yield event;
                    }
                    return;
                }
            };
            let mut answer = Answer::new(&shared.endpoint, response, OpenAiDecoder::default());
            loop {
                match answer.next().await {
                    Ok(Some(event)) => {
                        if let ChatEvent::Done(completion) = &event {
                            shared.weigh(&request, completion)?;
                        }
                        yield event;
                    }
                    Ok(None) => break,
                    Err(broken) => Err(shared.broken(broken, &request))?,
                }
            }
        })
    }

    /// From llama.cpp's `/apply-template` and `/tokenize`; other servers cannot tell.
    fn render<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>> {
        Box::pin(async move {
            self.shared.check(request)?;
            self.shared.rendered(request).await.map_err(|failure| self.shared.refusal(failure, request))
        })
    }
}

/// llama.cpp answers HTTP 500 when its call parser cannot read what the model wrote; that text is
/// the model's answer.
fn unreadable_answer(failure: &Failure) -> Option<[ChatEvent; 2]> {
    let Failure::Status { status: 500, message, .. } = failure else { return None };
    let text = unparsed_output(message)?;
    let (usage, timings) = (Usage::default(), Timings::default());
    let end = Completion { finish: FinishReason::Other, usage, timings, endpoint: None };
    Some([ChatEvent::Text(text.to_owned()), ChatEvent::Done(end)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint() -> Endpoint {
        Endpoint::new(base("http://127.0.0.1:1/v1/chat/completions").unwrap(), &HttpOptions::default()).unwrap()
    }

    #[test]
    fn llama_cpp_routes_lie_beside_v1() {
        let base = base("http://127.0.0.1:8080/prefix/v1/").unwrap();
        assert_eq!(base.as_str(), "http://127.0.0.1:8080/prefix/v1");
        assert_eq!(root(&base).as_str(), "http://127.0.0.1:8080/prefix");
        assert_eq!(endpoint().shown, "http://127.0.0.1:1/v1");
    }

    #[test]
    fn a_name_finds_its_model_by_id_alias_or_file() {
        let models = vec![json!({"id": "/models/Small-Q4_1.gguf", "aliases": ["tiny"]}), json!({"id": "org/Other"})];
        for name in ["/models/Small-Q4_1.gguf", "tiny", "small-q4_1", "Small-Q4_1.gguf"] {
            let entry = choose(&endpoint(), name, Some(&models)).unwrap().unwrap();
            assert_eq!(id(&entry), "/models/Small-Q4_1.gguf", "{name}");
        }
        let error = choose(&endpoint(), "nope", Some(&models)).unwrap_err();
        assert!(error.to_string().contains("Small-Q4_1, Other"), "{error}");
        assert!(matches!(choose(&endpoint(), "", Some(&models)), Err(ModelError::NotFound { .. })));
        assert_eq!(
            choose(&endpoint(), "", Some(&models[..1].to_vec())).unwrap().map(|entry| id(&entry).to_owned()).as_deref(),
            Some("/models/Small-Q4_1.gguf")
        );
        assert_eq!(choose(&endpoint(), "any", None).unwrap(), None);
    }

    #[test]
    fn llama_cpp_tells_what_its_template_can_do() {
        let declared = json!({"supports_tools": false, "supports_reasoning_effort": false});
        let plain = capabilities(Some("{{ messages }} tools"), Some(&declared));
        assert!(!plain.tools && !plain.thinking);
        let old = capabilities(Some("{% if tools %}{% if enable_thinking %}"), None);
        assert!(old.tools && old.thinking);
    }
}
