//! What a play keeps of its requests and answers: a model around the model, and a recorder around
//! the journals.
//!
//! Every request of a play gets a seed of its own, derived from the pass's seed and the request's
//! number, so that a pass can be repeated; it is kept with the seed zeroed, because requests that
//! differ by nothing else are one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_util::StreamExt;
use tenpass_agent::interaction::{RecordError, Recorder};
use tenpass_model::{
    BoxFuture, ChatEvent, ChatModel, ChatRequest, ChatStream, ModelError, ModelInfo, RenderedPrompt, Usage,
};
use tenpass_tools::assistant::JournalRecorder;
use tenpass_trace::{ConfirmationAnswer, FailureClass, Intention, RetryReason, TraceEvent, TraceRecord};

use super::played::RawAnswer;
use crate::run::pass_seed;
use crate::store::{RequestRecord, sha256_hex};

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was asked and answered in a play.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Requests made so far.
    made: Mutex<u32>,
    /// The distinct requests, by digest.
    requests: Mutex<BTreeMap<String, RequestRecord>>,
    /// The answers of the turn that runs; each is written by its own stream.
    answers: Mutex<Vec<Arc<Mutex<RawAnswer>>>>,
    /// Names of the tools that the turn offers.
    offered: Mutex<Vec<String>>,
    /// The first failure of the backend.
    error: Mutex<Option<ModelError>>,
}

impl Record {
    /// The answers of the turn that has ended.
    pub(super) fn take_answers(&self) -> Vec<RawAnswer> {
        std::mem::take(&mut *locked(&self.answers)).iter().map(|answer| locked(answer).clone()).collect()
    }

    /// The distinct requests of the play.
    pub(super) fn take_requests(&self) -> Vec<RequestRecord> {
        std::mem::take(&mut *locked(&self.requests)).into_values().collect()
    }

    /// The first failure of the backend, retries and compressions included: what follows it is not
    /// what the model would have done.
    pub(super) fn error(&self) -> Option<ModelError> {
        locked(&self.error).clone()
    }

    /// True when a message of a request holds this text.
    pub(super) fn mentions(&self, text: &str) -> bool {
        locked(&self.requests)
            .values()
            .flat_map(|record| &record.request.messages)
            .any(|message| message.content.contains(text))
    }

    /// Keeps a request; gives its digest.
    fn keep(&self, request: &ChatRequest) -> String {
        let mut zeroed = request.clone();
        zeroed.options.seed = 0;
        let sha256 = sha256_hex(&serde_json::to_vec(&zeroed).unwrap_or_default());
        let offered = self.offered_in(&zeroed);
        locked(&self.requests).entry(sha256.clone()).or_insert_with(|| RequestRecord {
            sha256: sha256.clone(),
            offered,
            request: zeroed,
        });
        sha256
    }

    /// The tools that a request offers: through its own channel, or named in what replaces it.
    fn offered_in(&self, request: &ChatRequest) -> Vec<String> {
        if !request.tools.is_empty() {
            return request.tools.iter().map(|tool| tool.name.clone()).collect();
        }
        let format = request.format.as_ref().map(ToString::to_string).unwrap_or_default();
        let system = request.messages.first().map_or("", |message| message.content.as_str());
        let is_offered = |name: &&String| {
            let (quoted, listed) = (format!("\"{name}\""), format!("{name}: "));
            format.contains(&quoted) || system.lines().any(|line| line.starts_with(&listed))
        };
        locked(&self.offered).iter().filter(is_offered).cloned().collect()
    }

    fn note_error(&self, request_is_constrained: bool, error: &ModelError) {
        // A question of the application that cannot be constrained is asked again without (K10).
        let is_answered_otherwise =
            request_is_constrained && matches!(error, ModelError::Schema { .. } | ModelError::Unsupported { .. });
        if !is_answered_otherwise {
            locked(&self.error).get_or_insert_with(|| error.clone());
        }
    }
}

/// The model of a play.
pub(super) struct RecordingModel {
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) record: Arc<Record>,
    /// The pass's seed.
    pub(super) seed: u64,
    /// The scenario's id.
    pub(super) label: String,
    /// Ask for streamed answers.
    pub(super) stream: bool,
}

impl ChatModel for RecordingModel {
    fn info(&self) -> &ModelInfo {
        self.model.info()
    }

    fn start(&self, mut request: ChatRequest) -> ChatStream {
        let number = {
            let mut made = locked(&self.record.made);
            *made += 1;
            *made
        };
        request.options.seed = pass_seed(self.seed, &self.label, number);
        request.label = Some(self.label.clone());
        request.stream = self.stream;
        let answer = Arc::new(Mutex::new(RawAnswer {
            request: self.record.keep(&request),
            text: String::new(),
            thinking: String::new(),
            calls: Vec::new(),
            finish: None,
            usage: Usage::default(),
            first_token_ms: None,
            ms: 0.0,
        }));
        locked(&self.record.answers).push(Arc::clone(&answer));
        let (record, started) = (Arc::clone(&self.record), Instant::now());
        let is_constrained = request.format.is_some() && request.tools.is_empty();
        let stream = self.model.start(request);
        stream
            .inspect(move |event| {
                note(&mut locked(&answer), started, event);
                if let Err(error) = event {
                    record.note_error(is_constrained, error);
                }
            })
            .boxed()
    }

    fn render<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>> {
        self.model.render(request)
    }
}

fn note(answer: &mut RawAnswer, started: Instant, event: &Result<ChatEvent, ModelError>) {
    answer.ms = started.elapsed().as_secs_f64() * 1e3;
    if matches!(event, Ok(ChatEvent::Text(_) | ChatEvent::Thinking(_) | ChatEvent::ToolCall(_))) {
        answer.first_token_ms.get_or_insert(answer.ms);
    }
    match event {
        Ok(ChatEvent::Text(piece)) => answer.text.push_str(piece),
        Ok(ChatEvent::Thinking(piece)) => answer.thinking.push_str(piece),
        Ok(ChatEvent::ToolCall(call)) => answer.calls.push(call.clone()),
        Ok(ChatEvent::Done(completion)) => {
            answer.finish = Some(completion.finish);
            answer.usage = completion.usage;
        }
        Err(_) => {}
    }
}

/// What the trace of a turn said, for the graders.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TurnNotes {
    /// The answer to each confirmation, by the call's number.
    pub(super) confirmations: BTreeMap<u32, ConfirmationAnswer>,
    /// Why the loop asked again.
    pub(super) retries: Vec<RetryReason>,
    /// What the parser said about the transport of calls.
    pub(super) transport: Vec<FailureClass>,
    /// The turn's time ran out.
    pub(super) timed_out: bool,
}

/// The journals of a play, and notes of what went into them.
pub(super) struct NotingRecorder {
    journals: JournalRecorder,
    record: Arc<Record>,
    notes: Mutex<TurnNotes>,
}

impl NotingRecorder {
    pub(super) fn new(journals: JournalRecorder, record: Arc<Record>) -> Self {
        Self { journals, record, notes: Mutex::default() }
    }

    /// The notes of the turn that has ended.
    pub(super) fn take_notes(&self) -> TurnNotes {
        std::mem::take(&mut *locked(&self.notes))
    }
}

impl Recorder for NotingRecorder {
    fn intention(&self, intention: &Intention) -> Result<(), RecordError> {
        self.journals.intention(intention)
    }

    fn trace(&self, record: &TraceRecord) -> Result<(), RecordError> {
        let mut notes = locked(&self.notes);
        match &record.event {
            TraceEvent::Route { offered, .. } => locked(&self.record.offered).clone_from(offered),
            TraceEvent::Round { class: Some(class), .. } => notes.transport.push(*class),
            TraceEvent::Retry { reason } => notes.retries.push(*reason),
            TraceEvent::Confirmation { call, answer, .. } => {
                notes.confirmations.insert(*call, *answer);
            }
            TraceEvent::Cancellation { by } => notes.timed_out |= by == "timeout",
            _ => {}
        }
        drop(notes);
        self.journals.trace(record)
    }
}
