//! How the runner orders, repeats, gives up and cancels, shown with a fake model.

// The lint's exception for tests does not cover their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::*;
use tenpass_bench::run::{RunError, RunEvent, execute, pass_seed};
use tenpass_bench::store::{End, PassFilter, RunState, open_run};
use tenpass_model::{FinishReason, ModelError};
use tenpass_trace::FailureClass;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn configurations_alternate_case_by_case_and_passes_go_together() {
    let store = tempfile::tempdir().unwrap();
    let log = Arc::<Mutex<Vec<String>>>::default();
    let a = Arc::new(FakeModel::by_seed("a").with_log(&log));
    let b = Arc::new(FakeModel::by_seed("b").with_log(&log));
    let plan = plan(3, 4, vec![configuration(a.clone(), 10), configuration(b, 10)]);
    let outcome = run(plan, options(store.path())).await.unwrap();
    assert_eq!((outcome.state, outcome.done, outcome.total, outcome.invalid), (RunState::Complete, 24, 24, 0));
    let mut order = log.lock().unwrap().clone();
    order.dedup();
    assert_eq!(order, ["a:q0", "b:q0", "b:q1", "a:q1", "a:q2", "b:q2"]);
    assert_eq!(*a.batches.lock().unwrap(), [4, 4, 4]);
}

#[tokio::test]
async fn jobs_bound_the_passes_in_flight() {
    let store = tempfile::tempdir().unwrap();
    let model = Arc::new(FakeModel::by_seed("a"));
    run(plan(3, 10, vec![configuration(model.clone(), 4)]), options(store.path())).await.unwrap();
    assert!(model.open.1.load(Ordering::SeqCst) <= 4);
    assert_eq!(model.batches.lock().unwrap().iter().sum::<usize>(), 30);
    assert_eq!(model.batches.lock().unwrap()[0], 4);
    assert_eq!(model.open.0.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn with_one_configuration_several_cases_are_in_flight() {
    let store = tempfile::tempdir().unwrap();
    // Nothing ends before eight passes, of four cases, have been handed over.
    let gate = Arc::new(tokio::sync::Barrier::new(8));
    let model = Arc::new(GatedModel { inner: FakeModel::by_seed("a"), gate });
    let mut configuration = tenpass_bench::run::Configuration::new(model);
    configuration.jobs = 8;
    let outcome = run(plan(4, 2, vec![configuration]), options(store.path())).await.unwrap();
    assert_eq!(outcome.done, 8);
}

/// Holds every answer back until as many have been asked for as the gate wants.
struct GatedModel {
    inner: FakeModel,
    gate: Arc<tokio::sync::Barrier>,
}

impl tenpass_model::ChatModel for GatedModel {
    fn info(&self) -> &tenpass_model::ModelInfo {
        self.inner.info()
    }

    fn start(&self, request: tenpass_model::ChatRequest) -> tenpass_model::ChatStream {
        use futures_util::StreamExt;
        let gate = Arc::clone(&self.gate);
        let answer = self.inner.start(request);
        let wait = async move {
            gate.wait().await;
            answer
        };
        futures_util::stream::once(wait).flatten().boxed()
    }

    fn render<'a>(
        &'a self,
        request: &'a tenpass_model::ChatRequest,
    ) -> tenpass_model::BoxFuture<'a, Result<tenpass_model::RenderedPrompt, ModelError>> {
        self.inner.render(request)
    }
}

#[tokio::test]
async fn passes_differ_by_seed_only_and_configurations_share_seeds() {
    let store = tempfile::tempdir().unwrap();
    let models = ["a", "b"].map(|name| configuration(Arc::new(FakeModel::by_seed(name)), 3));
    let outcome = run(plan(2, 3, models.to_vec()), options(store.path())).await.unwrap();
    let opened = open_run(store.path(), &outcome.run).unwrap();
    for detail in details(store.path(), &outcome.run) {
        assert_eq!(detail.pass.seed, pass_seed(7, &detail.pass.case, detail.pass.pass));
        let request = opened.request(&detail.pass.request).unwrap().unwrap();
        assert_eq!((request.request.options.seed, request.offered), (0, vec!["lamp".to_owned()]));
    }
    // Two cases asked by two models with equal settings are two distinct requests.
    let requests = std::fs::read_to_string(opened.directory().join("requests.jsonl")).unwrap();
    assert_eq!(requests.lines().count(), 2);
}

#[tokio::test]
async fn a_transient_fault_is_repeated_and_every_attempt_recorded() {
    let store = tempfile::tempdir().unwrap();
    let model = FakeModel::new("a", |_, number| match number {
        0 => Script::Events(vec![text("half an ans"), Err(unreachable())]),
        1 => Script::Events(vec![text("no end")]),
        _ => Script::Events(right_answer()),
    });
    let plan = plan(1, 1, vec![configuration(Arc::new(model), 1)]);
    let (outcome, events) = run_noting(plan, options(store.path())).await;
    let outcome = outcome.unwrap();
    assert_eq!((outcome.state, outcome.invalid), (RunState::Complete, 0));
    let failed = events.iter().filter(|event| matches!(event, RunEvent::AttemptFailed { .. })).count();
    assert_eq!(failed, 2);
    let [detail] = &details(store.path(), &outcome.run)[..] else { panic!("one pass") };
    assert_eq!((detail.pass.attempt, detail.outcome.as_ref().unwrap().success), (3, Some(true)));
    let earlier = open_run(store.path(), "latest").unwrap().earlier_attempts(&detail.pass).unwrap();
    let texts: Vec<_> = earlier.iter().map(|pass| (pass.attempt, pass.text.as_str(), pass.is_final)).collect();
    assert_eq!(texts, [(1, "half an ans", false), (2, "no end", false)]);
    assert_eq!(earlier[1].fault.as_ref().unwrap().class, FailureClass::InvalidRestart);
    assert_eq!(open_run(store.path(), "latest").unwrap().summary().unwrap().repeated_attempts, 2);
}

#[tokio::test]
async fn a_fault_that_stays_is_invalid_not_a_failure() {
    let store = tempfile::tempdir().unwrap();
    let model = FakeModel::new("a", |request, _| {
        let asks_for_trouble = request.messages.last().unwrap().content == "q1";
        Script::Events(if asks_for_trouble { vec![Err(unreachable())] } else { right_answer() })
    });
    let model = Arc::new(model);
    let outcome = run(plan(3, 2, vec![configuration(model.clone(), 2)]), options(store.path())).await.unwrap();
    assert_eq!((outcome.state, outcome.done, outcome.invalid), (RunState::Complete, 6, 2));
    assert_eq!(model.asked(), 4 + 2 * 3);
    let summary = open_run(store.path(), "latest").unwrap().summary().unwrap();
    let cell = &summary.configurations[0].cells[1];
    assert_eq!((cell.answers, cell.successes, cell.invalid), (0, 0, 2));
    assert_eq!(cell.classes.get(&FailureClass::InvalidTransport), Some(&2));
}

#[tokio::test]
async fn an_overflow_is_invalid_at_once_and_stops_nothing() {
    let store = tempfile::tempdir().unwrap();
    let overflow = ModelError::Overflow { prompt_tokens: 5000, context: 4096 };
    let model = Arc::new(FakeModel::new("a", move |_, _| Script::Events(vec![Err(overflow.clone())])));
    let outcome = run(plan(4, 3, vec![configuration(model.clone(), 1)]), options(store.path())).await.unwrap();
    assert_eq!((outcome.state, outcome.invalid, model.asked()), (RunState::Complete, 12, 12));
    assert!(outcome.stopped.is_empty());
    let filter = PassFilter { class: Some(FailureClass::InvalidOverflow), ..PassFilter::default() };
    assert_eq!(open_run(store.path(), "latest").unwrap().passes(&filter).unwrap().len(), 12);
}

#[tokio::test]
async fn a_fatal_fault_stops_its_configuration_and_no_other() {
    let store = tempfile::tempdir().unwrap();
    let missing = ModelError::NotFound { model: "a".into(), reason: "not pulled".into() };
    let error = missing.clone();
    let a = Arc::new(FakeModel::new("a", move |_, number| {
        Script::Events(if number < 2 { right_answer() } else { vec![Err(error.clone())] })
    }));
    let b = Arc::new(FakeModel::by_seed("b"));
    let plan = plan(3, 2, vec![configuration(a.clone(), 1), configuration(b, 1)]);
    let (outcome, events) = run_noting(plan, options(store.path())).await;
    let outcome = outcome.unwrap();
    assert_eq!((outcome.state, outcome.done, outcome.total), (RunState::Failed, 2 + 6, 12));
    assert_eq!(outcome.stopped[0].error, missing);
    assert_eq!(a.asked(), 3);
    let stopped = RunEvent::ConfigurationStopped { configuration: "a".into(), error: missing };
    assert_eq!(events.iter().filter(|event| **event == stopped).count(), 1);
    let manifest = open_run(store.path(), "latest").unwrap().manifest().clone();
    assert_eq!(manifest.sessions[0].stopped[0].configuration, "a");
}

#[tokio::test]
async fn a_server_that_is_down_is_given_up() {
    let store = tempfile::tempdir().unwrap();
    let model = Arc::new(FakeModel::new("a", |_, _| Script::Events(vec![Err(unreachable())])));
    let outcome = run(plan(30, 10, vec![configuration(model.clone(), 1)]), options(store.path())).await.unwrap();
    assert_eq!((outcome.state, outcome.invalid, model.asked()), (RunState::Failed, 5, 15));
    assert_eq!(outcome.stopped[0].error, unreachable());
}

#[tokio::test]
async fn no_end_in_time_is_a_failure_of_the_model() {
    let store = tempfile::tempdir().unwrap();
    let model = Arc::new(FakeModel::new("a", |_, _| Script::Hang(vec![text("let me think")])));
    let mut plan = plan(1, 2, vec![configuration(model.clone(), 2)]);
    plan.timeout = Duration::from_millis(30);
    let outcome = run(plan, options(store.path())).await.unwrap();
    assert_eq!((outcome.state, outcome.invalid, model.asked()), (RunState::Complete, 0, 2));
    for detail in details(store.path(), &outcome.run) {
        let outcome = detail.outcome.unwrap();
        assert_eq!((detail.pass.end, detail.pass.text.as_str()), (End::Timeout, "let me think"));
        assert_eq!((outcome.success, outcome.class), (Some(false), Some(FailureClass::Timeout)));
    }
    assert_eq!(model.open.0.load(Ordering::SeqCst), 0, "the requests were cancelled");
}

#[tokio::test]
async fn cancelling_keeps_what_is_finished_and_drops_the_rest() {
    let store = tempfile::tempdir().unwrap();
    let model = Arc::new(FakeModel::new("a", |_, number| {
        if number < 5 { Script::Events(right_answer()) } else { Script::Hang(vec![text("…")]) }
    }));
    let cancel = CancellationToken::new();
    let events = Mutex::new(Vec::new());
    let sink = |event: &RunEvent| {
        let mut events = events.lock().unwrap();
        events.push(event.clone());
        if events.iter().filter(|event| matches!(event, RunEvent::PassFinished { .. })).count() == 5 {
            cancel.cancel();
        }
    };
    let plan = plan(4, 2, vec![configuration(model.clone(), 3)]);
    let outcome = execute(plan, options(store.path()), &sink, cancel.clone()).await.unwrap();
    assert_eq!((outcome.state, outcome.done, outcome.total), (RunState::Interrupted, 5, 8));
    assert_eq!(events.lock().unwrap().last(), Some(&RunEvent::Interrupted { done: 5, total: 8 }));
    assert_eq!(details(store.path(), &outcome.run).len(), 5);
    assert_eq!(model.open.0.load(Ordering::SeqCst), 0, "the requests were cancelled");
    let manifest = open_run(store.path(), "latest").unwrap().manifest().clone();
    assert_eq!(manifest.state(), RunState::Interrupted);
    assert!(manifest.finished().is_some());
}

#[tokio::test]
async fn passes_before_the_first_answer_are_cold_unless_warmed_up() {
    let store = tempfile::tempdir().unwrap();
    let cold = |run: &str| {
        details(store.path(), run).iter().filter(|detail| detail.pass.cold).map(|detail| detail.pass.pass).collect()
    };
    let model = || vec![configuration(Arc::new(FakeModel::by_seed("a")), 1)];
    let outcome = run(plan(2, 3, model()), options(store.path())).await.unwrap();
    let passes: Vec<u32> = cold(&outcome.run);
    assert_eq!(passes, [1]);
    let mut options = options(store.path());
    options.warm_up = true;
    let outcome = run(plan(2, 3, model()), options).await.unwrap();
    let passes: Vec<u32> = cold(&outcome.run);
    assert!(passes.is_empty(), "{passes:?}");
}

#[tokio::test]
async fn what_one_configuration_made_warm_is_not_cold_for_another_of_the_same_model() {
    let store = tempfile::tempdir().unwrap();
    let model = Arc::new(FakeModel::by_seed("a"));
    let mut copy = configuration(Arc::clone(&model), 1);
    copy.id.push_str(" #2");
    let both = vec![configuration(Arc::clone(&model), 1), copy];
    let outcome = run(plan(2, 3, both), options(store.path())).await.unwrap();
    let details = details(store.path(), &outcome.run);
    let cold: Vec<&str> =
        details.iter().filter(|detail| detail.pass.cold).map(|detail| detail.pass.configuration.as_str()).collect();
    assert_eq!(cold.len(), 1, "the first answer of the engine, and no other: {cold:?}");
}

#[tokio::test]
async fn first_calls_are_timed_in_both_channels() {
    let store = tempfile::tempdir().unwrap();
    let model = FakeModel::new("a", |_, number| {
        Script::Events(if number == 0 {
            right_answer()
        } else {
            let call = r#"<tool_call>{"name":"lamp","arguments":{"on":true}}</tool_call>"#;
            vec![text(call), done(FinishReason::Stop)]
        })
    });
    let outcome = run(plan(1, 2, vec![configuration(Arc::new(model), 1)]), options(store.path())).await.unwrap();
    for detail in details(store.path(), &outcome.run) {
        let (timings, outcome) = (detail.pass.timings, detail.outcome.unwrap());
        assert_eq!((outcome.success, outcome.calls.len()), (Some(true), 1));
        assert_eq!(outcome.recovered, detail.pass.pass == 2);
        let expected = if detail.pass.pass == 1 { timings.first_call_ms } else { timings.text_end_ms };
        assert!(expected.is_some() && outcome.first_call_ms == expected, "{timings:?}");
        assert!(timings.first_token_ms.unwrap() <= timings.total_ms);
    }
}

#[tokio::test]
async fn plans_that_measure_nothing_are_refused() {
    let store = tempfile::tempdir().unwrap();
    let model = || configuration(Arc::new(FakeModel::by_seed("a")), 1);
    for bad in
        [plan(0, 1, vec![model()]), plan(1, 0, vec![model()]), plan(1, 1, vec![]), plan(1, 1, vec![model(), model()])]
    {
        let error = run(bad, options(store.path())).await.unwrap_err();
        assert!(matches!(error, RunError::Plan(_)), "{error}");
    }
    let mut empty_part = plan(1, 1, vec![model()]);
    empty_part.partition = Some("2/2".parse().unwrap());
    let error = run(empty_part, options(store.path())).await.unwrap_err();
    assert_eq!(error.to_string(), "nothing to run: part 2/2 has no case");
    assert_eq!(std::fs::read_dir(store.path()).unwrap().count(), 0);
}
