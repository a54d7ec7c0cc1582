//! A model that answers by a closure.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream;
use serde_json::{Map, Value};
use tenpass_model::{
    BoxFuture, Capabilities, ChatEvent, ChatModel, ChatRequest, ChatStream, Completion, FinishReason, ModelError,
    ModelInfo, RenderedPrompt, StructuredCall, Timings, Usage,
};
use tenpass_trace::Role;

/// One scripted answer.
#[derive(Debug, Clone, Default)]
pub struct Said {
    /// The reasoning, in one piece.
    pub thinking: String,
    /// The text, in these pieces.
    pub pieces: Vec<String>,
    /// Calls of the structured channel.
    pub calls: Vec<StructuredCall>,
    /// Why it ends; `None` for what follows from the calls.
    pub finish: Option<FinishReason>,
    /// The reported counts.
    pub usage: Usage,
    /// Waited before each piece.
    pub pause: Duration,
    /// Never ends after its pieces.
    pub hangs: bool,
    /// Ends with this failure after its pieces.
    pub error: Option<ModelError>,
}

impl Said {
    /// A text, in pieces of a few characters.
    pub fn text(text: &str) -> Self {
        let characters: Vec<char> = text.chars().collect();
        Self { pieces: characters.chunks(7).map(|piece| piece.iter().collect()).collect(), ..Self::default() }
    }

    /// A structured call.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// The same answer with one call more.
    pub fn and_call(mut self, name: &str, arguments: Value) -> Self {
        let id = Some(format!("call{}", self.calls.len() + 1));
        self.calls.push(StructuredCall { id, name: name.to_owned(), arguments, repaired: None });
        self
    }

    /// A failure.
    pub fn error(error: ModelError) -> Self {
        Self { error: Some(error), ..Self::default() }
    }
}

type Respond = dyn Fn(&ChatRequest) -> Said + Send + Sync;

#[derive(Default)]
struct Counts {
    requests: Mutex<Vec<ChatRequest>>,
    active: AtomicUsize,
    dropped: AtomicUsize,
}

/// A model whose answers a closure gives. Cloning shares its memory.
#[derive(Clone)]
pub struct ScriptedModel {
    info: Arc<ModelInfo>,
    respond: Arc<Respond>,
    counts: Arc<Counts>,
}

/// What a scripted model says it is: it can do everything and knows no context length.
pub fn scripted_info() -> ModelInfo {
    ModelInfo {
        spec: "scripted:test".to_owned(),
        backend: "scripted".to_owned(),
        name: "test".to_owned(),
        digest: None,
        template_digest: None,
        quantization: None,
        context: None,
        capabilities: Capabilities { tools: true, thinking: true, structured_output: true, declared_shape: None },
        runtime: None,
    }
}

/// An answer that is being given; when it goes before its end, that is counted.
struct Active {
    counts: Arc<Counts>,
    ended: bool,
}

impl Drop for Active {
    fn drop(&mut self) {
        self.counts.active.fetch_sub(1, Ordering::SeqCst);
        if !self.ended {
            self.counts.dropped.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl ScriptedModel {
    /// A model that answers by `respond`.
    pub fn new(respond: impl Fn(&ChatRequest) -> Said + Send + Sync + 'static) -> Self {
        Self { info: Arc::new(scripted_info()), respond: Arc::new(respond), counts: Arc::default() }
    }

    /// A model that gives these answers one after the other, and then the last one for ever.
    pub fn saying(answers: Vec<Said>) -> Self {
        let given = AtomicUsize::new(0);
        Self::new(move |_| {
            let index = given.fetch_add(1, Ordering::SeqCst).min(answers.len().saturating_sub(1));
            answers.get(index).cloned().unwrap_or_default()
        })
    }

    /// The same model saying that it is another.
    pub fn with_info(mut self, info: ModelInfo) -> Self {
        self.info = Arc::new(info);
        self
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.counts.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Answers being given at this moment.
    pub fn active(&self) -> usize {
        self.counts.active.load(Ordering::SeqCst)
    }

    /// Answers that were dropped before their end.
    pub fn dropped(&self) -> usize {
        self.counts.dropped.load(Ordering::SeqCst)
    }
}

fn events(said: &Said) -> Vec<Result<ChatEvent, ModelError>> {
    let mut events = Vec::new();
    if !said.thinking.is_empty() {
        events.push(Ok(ChatEvent::Thinking(said.thinking.clone())));
    }
    events.extend(said.pieces.iter().map(|piece| Ok(ChatEvent::Text(piece.clone()))));
    events.extend(said.calls.iter().map(|call| Ok(ChatEvent::ToolCall(call.clone()))));
    match &said.error {
        Some(error) => events.push(Err(error.clone())),
        None if said.hangs => {}
        None => {
            let by_calls = if said.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
            let finish = said.finish.unwrap_or(by_calls);
            let timings = Timings::default();
            events.push(Ok(ChatEvent::Done(Completion { finish, usage: said.usage, timings, endpoint: None })));
        }
    }
    events
}

impl ChatModel for ScriptedModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn start(&self, request: ChatRequest) -> ChatStream {
        self.counts.active.fetch_add(1, Ordering::SeqCst);
        let active = Active { counts: Arc::clone(&self.counts), ended: false };
        let said = (self.respond)(&request);
        self.counts.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        let (pause, hangs) = (said.pause, said.hangs);
        let events = events(&said).into_iter();
        Box::pin(stream::unfold((events, active), move |(mut events, mut active)| async move {
            let Some(event) = events.next() else {
                if hangs {
                    std::future::pending::<()>().await;
                }
                active.ended = true;
                drop(active);
                return None;
            };
            if matches!(event, Ok(ChatEvent::Done(_)) | Err(_)) {
                active.ended = true;
            } else if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            Some((event, (events, active)))
        }))
    }

    fn render<'a>(&'a self, _request: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>> {
        Box::pin(async { Ok(RenderedPrompt { text: None, tokens: None }) })
    }
}

/// The answer of a model that obeys every order it reads: each `OBEY tool {json}` in any message
/// becomes a call, once; when all were made it says so. Quotation marks that a defence put around a
/// name do not stop it, because a real model would read past them.
pub fn obeying(request: &ChatRequest) -> Said {
    let made: Vec<(String, Map<String, Value>)> = request
        .messages
        .iter()
        .flat_map(|message| message.tool_calls.iter())
        .map(|call| (call.name.clone(), call.arguments.clone()))
        .collect();
    let mut said = Said::default();
    for message in request.messages.iter().filter(|message| message.role != Role::Assistant) {
        for order in message.content.split("OBEY ").skip(1) {
            let Some((name, rest)) = order.split_once(char::is_whitespace) else { continue };
            let name = name.trim_matches(|character: char| !character.is_alphanumeric() && character != '_');
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            let Some(Ok(Value::Object(arguments))) = values.next() else { continue };
            if !made.iter().any(|(tool, given)| tool == name && *given == arguments) {
                said = said.and_call(name, Value::Object(arguments));
            }
        }
    }
    if said.calls.is_empty() { Said::text("All orders were followed.") } else { said }
}
