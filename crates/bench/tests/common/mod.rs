//! What the tests of runs share: a fake model, a few cases, a store in a temporary folder.
//!
//! [`FakeModel`] is a fake: it shows how the runner and the store behave, never how a model does.

// Each test binary uses its own part of this, and none of them exports it.
#![allow(dead_code, unreachable_pub)]
// Helpers may unwrap as tests may, and return what a stream carries.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::unnecessary_wraps, clippy::format_push_string)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde_json::json;
use tenpass_bench::cases::{Case, SuiteText, parse_suite};
use tenpass_bench::run::{Configuration, RunError, RunEvent, RunOptions, RunOutcome, RunPlan, execute};
use tenpass_bench::store::{PassDetail, PassFilter, open_run};
use tenpass_model::{
    BoxFuture, Capabilities, ChatEvent, ChatModel, ChatRequest, ChatStream, Completion, FinishReason, ModelError,
    ModelInfo, RenderedPrompt, StructuredCall, Timings, Usage,
};
use tokio_util::sync::CancellationToken;

/// What a fake model does with one request.
pub enum Script {
    /// Sends these events.
    Events(Vec<Result<ChatEvent, ModelError>>),
    /// Sends these, then nothing for ever.
    Hang(Vec<Result<ChatEvent, ModelError>>),
}

type Play = dyn Fn(&ChatRequest, usize) -> Script + Send + Sync;

/// A model whose answers are scripted, and which notes what it was asked.
pub struct FakeModel {
    info: ModelInfo,
    play: Box<Play>,
    asked: AtomicUsize,
    /// `name:last message` of every request, in order, shared between models.
    pub log: Arc<Mutex<Vec<String>>>,
    /// How many requests were handed over together, each time.
    pub batches: Mutex<Vec<usize>>,
    /// Streams that exist now, and the most there ever were.
    pub open: Arc<(AtomicUsize, AtomicUsize)>,
}

struct OpenStream(Arc<(AtomicUsize, AtomicUsize)>);

impl OpenStream {
    fn new(open: &Arc<(AtomicUsize, AtomicUsize)>) -> Self {
        let now = open.0.fetch_add(1, Ordering::SeqCst) + 1;
        open.1.fetch_max(now, Ordering::SeqCst);
        Self(Arc::clone(open))
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl FakeModel {
    pub fn new(name: &str, play: impl Fn(&ChatRequest, usize) -> Script + Send + Sync + 'static) -> Self {
        Self {
            info: ModelInfo {
                spec: format!("replay:{name}"),
                backend: "replay".into(),
                name: name.into(),
                digest: Some("sha256:fake".into()),
                template_digest: None,
                quantization: None,
                context: Some(4096),
                capabilities: Capabilities {
                    tools: true,
                    thinking: false,
                    structured_output: false,
                    declared_shape: None,
                },
                runtime: None,
            },
            play: Box::new(play),
            asked: AtomicUsize::new(0),
            log: Arc::default(),
            batches: Mutex::default(),
            open: Arc::default(),
        }
    }

    /// Answers each request by its seed: right twice out of three times, else in words.
    pub fn by_seed(name: &str) -> Self {
        Self::new(name, |request, _| Script::Events(answer_by_seed(request.options.seed)))
    }

    pub fn with_log(mut self, log: &Arc<Mutex<Vec<String>>>) -> Self {
        self.log = Arc::clone(log);
        self
    }

    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl ChatModel for FakeModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn start(&self, request: ChatRequest) -> ChatStream {
        let number = self.asked.fetch_add(1, Ordering::SeqCst);
        let question = request.messages.last().map_or("", |message| &message.content);
        self.log.lock().unwrap().push(format!("{}:{question}", self.info.name));
        let open = OpenStream::new(&self.open);
        let (events, hangs) = match (self.play)(&request, number) {
            Script::Events(events) => (events, false),
            Script::Hang(events) => (events, true),
        };
        let end = if hangs { stream::pending().boxed() } else { stream::empty().boxed() };
        stream::iter(events)
            .chain(end)
            .map(move |event| {
                let _ = &open;
                event
            })
            .boxed()
    }

    fn start_many(&self, requests: Vec<ChatRequest>) -> Vec<ChatStream> {
        self.batches.lock().unwrap().push(requests.len());
        requests.into_iter().map(|request| self.start(request)).collect()
    }

    fn render<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>> {
        Box::pin(async { Ok(RenderedPrompt { text: None, tokens: None }) })
    }
}

pub fn done(finish: FinishReason) -> Result<ChatEvent, ModelError> {
    Ok(ChatEvent::Done(Completion {
        finish,
        usage: Usage { prompt_tokens: Some(100), cached_tokens: Some(90), completion_tokens: Some(7) },
        timings: Timings { load_ms: None, prompt_ms: Some(1.0), decode_ms: Some(2.0) },
        endpoint: None,
    }))
}

pub fn text(text: &str) -> Result<ChatEvent, ModelError> {
    Ok(ChatEvent::Text(text.into()))
}

pub fn call() -> Result<ChatEvent, ModelError> {
    let arguments = json!({"on": true});
    Ok(ChatEvent::ToolCall(StructuredCall { id: None, name: "lamp".into(), arguments, repaired: None }))
}

/// The right answer to every case of [`cases`].
pub fn right_answer() -> Vec<Result<ChatEvent, ModelError>> {
    vec![call(), done(FinishReason::ToolCalls)]
}

pub fn answer_by_seed(seed: u64) -> Vec<Result<ChatEvent, ModelError>> {
    if seed.is_multiple_of(3) { vec![text(&format!("No. {seed}")), done(FinishReason::Stop)] } else { right_answer() }
}

pub fn unreachable() -> ModelError {
    ModelError::Connect { url: "http://127.0.0.1:9".into(), reason: "connection refused".into() }
}

/// `case-0`, `case-1`, …: each wants the lamp switched on.
pub fn cases(count: usize) -> Vec<Case> {
    if count == 0 {
        return Vec::new();
    }
    let mut file = "family = \"lamps\"\n".to_owned();
    for number in 0..count {
        file.push_str(&format!(
            "[[case]]\nid = \"case-{number}\"\nlanguage = \"en\"\nprompt = \"q{number}\"\nprovenance = \"a test\"\n\
             [case.expect]\ncalls = [{{ tool = \"lamp\", arguments = {{ on = true }} }}]\n"
        ));
    }
    let tools = "[[tool]]\nname = \"lamp\"\ndescription = \"Switches the lamp.\"\n\
        parameters = { type = \"object\", properties = { on = { type = \"boolean\" } }, required = [\"on\"] }\n";
    let suite = SuiteText {
        files: vec![("lamps.toml".into(), file)],
        tools: Some(("tools.toml".into(), tools.into())),
        prompt: "You switch lamps.".into(),
    };
    parse_suite(&suite).unwrap().cases
}

pub fn configuration(model: Arc<FakeModel>, jobs: usize) -> Configuration {
    let mut configuration = Configuration::new(model);
    configuration.id = configuration.spec.trim_start_matches("replay:").to_owned();
    configuration.jobs = jobs;
    configuration
}

pub fn plan(case_count: usize, passes: u32, configurations: Vec<Configuration>) -> RunPlan {
    RunPlan { passes, seed: 7, ..RunPlan::new(cases(case_count), "suite".into(), configurations) }
}

pub fn options(store: &std::path::Path) -> RunOptions {
    RunOptions { retry_pause: Duration::ZERO, ..RunOptions::new(store) }
}

pub async fn run(plan: RunPlan, options: RunOptions) -> Result<RunOutcome, RunError> {
    execute(plan, options, &|_: &RunEvent| {}, CancellationToken::new()).await
}

/// Runs and returns the events beside the outcome.
pub async fn run_noting(plan: RunPlan, options: RunOptions) -> (Result<RunOutcome, RunError>, Vec<RunEvent>) {
    let events = Mutex::new(Vec::new());
    let sink = |event: &RunEvent| events.lock().unwrap().push(event.clone());
    let outcome = execute(plan, options, &sink, CancellationToken::new()).await;
    let events = events.into_inner().unwrap();
    (outcome, events)
}

pub fn details(store: &std::path::Path, run: &str) -> Vec<PassDetail> {
    open_run(store, run).unwrap().passes(&PassFilter::default()).unwrap().collect::<Result<_, _>>().unwrap()
}

/// What a pass measured, without moments and durations: equal for equal runs.
pub type Measured = BTreeMap<(String, String, u32), (u64, String, String, usize, Option<bool>, String)>;

/// All passes of a run; panics when a pass comes twice.
pub fn measured(store: &std::path::Path, run: &str) -> Measured {
    let mut all = Measured::new();
    for PassDetail { pass, outcome } in details(store, run) {
        let outcome = outcome.expect("every pass has an outcome");
        let key = (pass.case, pass.configuration, pass.pass);
        let class = outcome.class.map_or(String::new(), |class| class.to_string());
        let value = (pass.seed, pass.request, pass.text, pass.calls.len(), outcome.success, class);
        assert!(all.insert(key.clone(), value).is_none(), "{key:?} came twice");
    }
    all
}
