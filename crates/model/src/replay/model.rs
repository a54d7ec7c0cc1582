//! The replaying model.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream;

use super::file::{Answer, read};
use crate::{
    BoxFuture, Capabilities, ChatEvent, ChatModel, ChatRequest, ChatStream, Completion, FinishReason, ModelError,
    ModelInfo, RenderedPrompt, Timings, Usage,
};

/// A model whose answers come from a file. Cloning shares the place reached in it.
#[derive(Debug, Clone)]
pub struct ReplayModel {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    info: ModelInfo,
    answers: Vec<Arc<Answer>>,
    /// A line is for one seed: then the seed is part of what makes requests distinct.
    is_seeded: bool,
    /// For each distinct request: the answers that match it, and how many were given.
    places: Mutex<HashMap<u64, Place>>,
    active: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct Place {
    matching: Vec<u32>,
    given: usize,
}

/// Counts an answer as being given until it is dropped.
struct Active(Arc<AtomicUsize>);

impl Active {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl ReplayModel {
    /// Reads a replay file.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let contents = read(path)?;
        let file = path.display().to_string();
        let recorded = contents.model;
        let info = ModelInfo {
            spec: format!("replay:{file}"),
            backend: "replay".to_owned(),
            name: recorded.as_ref().map_or_else(
                || path.file_stem().map_or_else(|| file.clone(), |stem| stem.to_string_lossy().into_owned()),
                |recorded| recorded.name.clone(),
            ),
            digest: Some(contents.digest),
            template_digest: recorded.as_ref().and_then(|recorded| recorded.template_digest.clone()),
            quantization: recorded.as_ref().and_then(|recorded| recorded.quantization.clone()),
            context: recorded.as_ref().and_then(|recorded| recorded.context),
            runtime: recorded.as_ref().and_then(|recorded| recorded.runtime.clone()),
            capabilities: recorded.map_or_else(everything, |recorded| recorded.capabilities),
        };
        let answers: Vec<_> = contents.answers.into_iter().map(Arc::new).collect();
        let is_seeded =
            answers.iter().any(|answer| answer.matches.as_ref().is_some_and(|matches| matches.seed.is_some()));
        let shared = Shared { info, answers, is_seeded, places: Mutex::default(), active: Arc::default() };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Answers being given at this moment.
    pub fn active(&self) -> usize {
        self.shared.active.load(Ordering::SeqCst)
    }
}

fn everything() -> Capabilities {
    Capabilities { tools: true, thinking: true, structured_output: true, declared_shape: None }
}

/// What makes two requests one to the counter: everything but the seed.
fn key(request: &ChatRequest) -> u64 {
    let mut hasher = DefaultHasher::new();
    request.label.hash(&mut hasher);
    for message in &request.messages {
        message.role.hash(&mut hasher);
        message.content.hash(&mut hasher);
        message.tool_calls.len().hash(&mut hasher);
        for call in &message.tool_calls {
            call.name.hash(&mut hasher);
            serde_json::Value::from(call.arguments.clone()).to_string().hash(&mut hasher);
        }
    }
    for tool in &request.tools {
        tool.name.hash(&mut hasher);
        tool.description.hash(&mut hasher);
    }
    request.format.as_ref().map(ToString::to_string).hash(&mut hasher);
    request.think.hash(&mut hasher);
    let options = &request.options;
    (options.temperature.to_bits(), options.top_k, options.max_tokens, options.context).hash(&mut hasher);
    hasher.finish()
}

impl Shared {
    fn pick(&self, request: &ChatRequest) -> Result<Arc<Answer>, ModelError> {
        let key = if self.is_seeded { key(request) ^ request.options.seed.rotate_left(17) } else { key(request) };
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let place = match places.entry(key) {
            Entry::Occupied(place) => place.into_mut(),
            Entry::Vacant(place) => place.insert(Place { matching: self.matching(request), given: 0 }),
        };
        if place.matching.is_empty() {
            let last = request.messages.last().map_or("", |message| message.content.as_str());
            let start: String = last.chars().take(60).collect();
            let reason = format!("{} has no answer for `{start}`", self.info.spec);
            return Err(ModelError::NotFound { model: self.info.name.clone(), reason });
        }
        let position = place.matching[place.given % place.matching.len()] as usize;
        place.given += 1;
        Ok(Arc::clone(&self.answers[position]))
    }

    fn matching(&self, request: &ChatRequest) -> Vec<u32> {
        let mut digest = None;
        let accepts = |answer: &Answer, digest: &mut Option<String>| {
            answer.matches.as_ref().is_none_or(|matches| matches.accepts(request, digest))
        };
        (0..).zip(&self.answers).filter(|(_, answer)| accepts(answer, &mut digest)).map(|(index, _)| index).collect()
    }

    fn events(&self, answer: &Answer, request: &ChatRequest) -> Vec<Result<ChatEvent, ModelError>> {
        let context = request.options.context.or(self.info.context).map(u64::from);
        if let (Some(prompt_tokens), Some(context)) = (answer.prompt_tokens, context)
            && prompt_tokens > context
        {
            return vec![Err(ModelError::Overflow { prompt_tokens, context })];
        }
        let mut events = Vec::new();
        if !answer.thinking.is_empty() {
            events.push(Ok(ChatEvent::Thinking(answer.thinking.clone())));
        }
        let pieces = if request.stream { answer.chunks } else { 1 };
        events.extend(pieces_of(&answer.text, pieces).map(|piece| Ok(ChatEvent::Text(piece.to_owned()))));
        events.extend(answer.calls.iter().map(|call| Ok(ChatEvent::ToolCall(call.clone()))));
        events.push(match &answer.error {
            Some(failing) => Err(failing.error(&self.info.spec)),
            None => Ok(ChatEvent::Done(completion(answer))),
        });
        events
    }
}

fn completion(answer: &Answer) -> Completion {
    let by_calls = if answer.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    Completion {
        finish: answer.finish.unwrap_or(by_calls),
        usage: Usage {
            prompt_tokens: answer.prompt_tokens,
            cached_tokens: answer.cached_tokens,
            completion_tokens: answer.completion_tokens,
        },
        timings: Timings::default(),
        endpoint: None,
    }
}

/// Cuts a text into about `count` pieces of whole characters.
fn pieces_of(text: &str, count: u32) -> impl Iterator<Item = &str> {
    let size = text.len().div_ceil(count.max(1) as usize).max(1);
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = (size.min(rest.len())..=rest.len()).find(|end| rest.is_char_boundary(*end))?;
        let (piece, tail) = rest.split_at(end);
        rest = tail;
        Some(piece)
    })
}

impl ChatModel for ReplayModel {
    fn info(&self) -> &ModelInfo {
        &self.shared.info
    }

    fn start(&self, request: ChatRequest) -> ChatStream {
        let active = Active::new(&self.shared.active);
        let answer = match self.shared.pick(&request) {
            Ok(answer) => answer,
            Err(error) => return Box::pin(stream::iter([Err(error)])),
        };
        let events = self.shared.events(&answer, &request).into_iter();
        if answer.delay_ms == 0 {
            return Box::pin(stream::unfold((events, active), |(mut events, active)| async move {
                Some((events.next()?, (events, active)))
            }));
        }
        let delay = Duration::from_millis(answer.delay_ms);
        Box::pin(stream::unfold((events, active), move |(mut events, active)| async move {
            let event = events.next()?;
            if !matches!(event, Ok(ChatEvent::Done(_))) {
                tokio::time::sleep(delay).await;
            }
            Some((event, (events, active)))
        }))
    }

    /// A recording has no template; the token count is the recorded one.
    fn render<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>> {
        Box::pin(async move {
            let first = self.shared.matching(request).first().map(|index| &self.shared.answers[*index as usize]);
            let tokens = first.and_then(|answer| answer.prompt_tokens).and_then(|count| u32::try_from(count).ok());
            Ok(RenderedPrompt { text: None, tokens })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect;
    use std::io::Write;
    use std::time::Instant;
    use tenpass_trace::Message;

    fn replay(text: &str) -> ReplayModel {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        ReplayModel::open(file.path()).unwrap()
    }

    fn asking(text: &str) -> ChatRequest {
        ChatRequest { messages: vec![Message::user(text)], ..ChatRequest::default() }
    }

    async fn text(model: &ReplayModel, request: ChatRequest) -> String {
        collect(model.start(request), Instant::now()).await.text
    }

    #[tokio::test]
    async fn answers_come_in_order_for_each_request_and_start_over() {
        let model = replay(
            "{\"match\":{\"contains\":\"lamp\"},\"text\":\"1\"}\n{\"match\":{\"case\":\"door\"},\"text\":\"d\"}\n{\"match\":{\"contains\":\"lamp\"},\"text\":\"2\"}\n",
        );
        let mut seen = Vec::new();
        for pass in 0..3 {
            let mut request = asking("the lamp");
            request.options.seed = pass;
            seen.push(text(&model, request).await);
            seen.push(text(&model, asking("another lamp")).await);
        }
        assert_eq!(seen, ["1", "1", "2", "2", "1", "1"]);
        let door = ChatRequest { label: Some("door".into()), ..asking("x") };
        assert_eq!(text(&model, door).await, "d");
        let none = collect(model.start(asking("nothing")), Instant::now()).await;
        assert!(matches!(none.error, Some(ModelError::NotFound { reason, .. }) if reason.contains("`nothing`")));
    }

    #[tokio::test]
    async fn a_line_may_be_for_one_seed_and_one_request() {
        let request = asking("hi");
        let digest = super::super::request_digest(&request);
        let model = replay(&format!(
            "{{\"match\":{{\"request\":\"{digest}\",\"seed\":1}},\"text\":\"one\"}}\n{{\"match\":{{\"request\":\"{digest}\",\"seed\":2}},\"text\":\"two\"}}"
        ));
        for (seed, expected) in [(2, "two"), (1, "one"), (2, "two")] {
            let mut request = request.clone();
            request.options.seed = seed;
            assert_eq!(text(&model, request).await, expected);
        }
    }

    #[tokio::test]
    async fn pieces_errors_usage_and_overflow() {
        let model = replay(
            "{\"text\":\"héllo wörld\",\"thinking\":\"t\",\"chunks\":4,\"prompt_tokens\":9,\"completion_tokens\":2,\"error\":\"boom\"}",
        );
        let events: Vec<_> = futures_util::StreamExt::collect(model.start(asking("x"))).await;
        let pieces: Vec<_> = events
            .iter()
            .filter_map(|event| if let Ok(ChatEvent::Text(text)) = event { Some(text.as_str()) } else { None })
            .collect();
        assert_eq!(pieces.concat(), "héllo wörld");
        assert_eq!(pieces.len(), 4);
        assert!(matches!(events.last(), Some(Err(ModelError::Server { message, .. })) if message == "boom"));
        let mut small = asking("x");
        small.options.context = Some(8);
        let overflow = collect(model.start(small), Instant::now()).await;
        assert_eq!(overflow.error, Some(ModelError::Overflow { prompt_tokens: 9, context: 8 }));
        assert_eq!(model.active(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn delays_are_kept_and_dropping_ends_the_answer() {
        let model = replay("{\"text\":\"abcd\",\"chunks\":4,\"delay_ms\":100}");
        let started = tokio::time::Instant::now();
        assert_eq!(text(&model, asking("x")).await, "abcd");
        assert_eq!(started.elapsed().as_millis(), 400);
        let mut stream = model.start(asking("x"));
        assert!(futures_util::StreamExt::next(&mut stream).await.is_some());
        assert_eq!(model.active(), 1);
        drop(stream);
        assert_eq!(model.active(), 0);
    }
}
