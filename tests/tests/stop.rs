//! Stopping a turn frees what computed it: the embedded engine and a real server, and the text so far
//! is kept, marked, and in no export (K6).
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tenpass_agent::interaction::{AgentEvent, Confirmation, Interaction, Reply, SystemClock};
use tenpass_agent::run::{Agent, AgentSettings};
use tenpass_agent::session::SessionState;
use tenpass_agent::testing::MemoryRecorder;
use tenpass_agent::tool::Tools;
use tenpass_model::{BoxFuture, ChatModel, HttpOptions, OpenAiModel};
use tenpass_tests::{LlamaServer, asset, embedded};
use tenpass_tools::assistant::{Assistant, Options, Parts};
use tenpass_trace::TurnEnd;
use tenpass_trace::database::Database;
use tokio_util::sync::CancellationToken;

/// Within this time after a stop nothing may compute any more.
const FREED_WITHIN: Duration = Duration::from_millis(200);
/// A shared machine may stall any single attempt; the middle one of these counts.
const ATTEMPTS: usize = 5;

/// A person who stops the turn when the first words appear.
struct Impatient {
    stop: CancellationToken,
    stopped_at: Mutex<Option<Instant>>,
}

impl Interaction for Impatient {
    fn event(&self, event: AgentEvent) {
        if matches!(event, AgentEvent::Text(text) if !text.trim().is_empty()) && !self.stop.is_cancelled() {
            *self.stopped_at.lock().unwrap() = Some(Instant::now());
            self.stop.cancel();
        }
    }

    fn confirm<'a>(&'a self, _: &'a Confirmation) -> BoxFuture<'a, Reply> {
        Box::pin(async { Reply::Refuse })
    }
}

/// Stops a turn at its first words and waits until `is_busy` says no; the time that took.
async fn stop_once(model: Arc<dyn ChatModel>, is_busy: &(dyn Fn() -> bool + Sync)) -> Duration {
    let database = Arc::new(Database::in_memory().unwrap());
    let mut settings = AgentSettings { structure: Some(tenpass_agent::Structure::Text), ..AgentSettings::default() };
    settings.options.max_tokens = 2_000;
    let agent = Agent::new(
        model,
        Arc::new(Tools::default()),
        Arc::new(MemoryRecorder::default()),
        Arc::new(SystemClock),
        settings,
    );
    let parts = Parts { agent, database: Arc::clone(&database), memory: None, options: Options::default() };
    let assistant = Assistant::new(parts);
    let mut session = SessionState::new("thread");
    let stop = CancellationToken::new();
    let person = Impatient { stop: stop.clone(), stopped_at: Mutex::default() };
    let report = assistant.say(&mut session, "Tell me a very long story about the sea.", &person, stop).await.unwrap();
    let stopped_at = person.stopped_at.lock().unwrap().expect("the model wrote something");
    while is_busy() && stopped_at.elapsed() < Duration::from_secs(20) {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let freed = stopped_at.elapsed();

    assert_eq!(report.end, TurnEnd::Stopped);
    assert!(!report.text.trim().is_empty(), "the text so far is kept");
    let stored = database.messages("thread").unwrap();
    let last = stored.last().unwrap();
    assert!(last.interrupted && last.message.content == report.text, "{stored:?}");
    assert!(database.exportable().unwrap().is_empty() && database.exportable_exchanges().unwrap().is_empty());
    freed
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_frees_the_embedded_engine() {
    let model = Arc::new(embedded("smollm2-135m", Some(4096)));
    let mut times = Vec::new();
    for _ in 0..ATTEMPTS {
        let busy = || model.counters().active.load(Ordering::SeqCst) > 0;
        times.push(stop_once(Arc::clone(&model) as Arc<dyn ChatModel>, &busy).await);
    }
    assert!(middle(times.clone()) < FREED_WITHIN, "the engine was freed after {times:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_frees_a_real_server() {
    let server = LlamaServer::start(&asset("smollm2-135m"), &["--slots", "-c", "4096"]);
    let base = format!("http://127.0.0.1:{}/v1", server.port);
    let model = Arc::new(OpenAiModel::connect(&base, "", &HttpOptions::default()).await.unwrap());
    let mut times = Vec::new();
    for _ in 0..ATTEMPTS {
        let busy = || server.busy_slots() > 0;
        times.push(stop_once(Arc::clone(&model) as Arc<dyn ChatModel>, &busy).await);
    }
    assert!(middle(times.clone()) < FREED_WITHIN, "the server was freed after {times:?}");
}
