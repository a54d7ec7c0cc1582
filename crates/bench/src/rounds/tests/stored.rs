//! Scenarios in the run store: written, resumed, split, merged and graded again like any case.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tenpass_agent::testing::{Said, ScriptedModel};
use tenpass_model::{ChatRequest, ModelError};
use tenpass_trace::{FailureClass, Role};
use tokio_util::sync::CancellationToken;

use super::{case, last_result};
use crate::run::{Configuration, Partition, RunEvent, RunOptions, RunPlan, execute};
use crate::store::{PassFilter, RunState, merge, open_run, regrade};

/// Two scenarios: one of one turn, one of two.
const IDS: [&str; 2] = ["answer-follows-the-result", "follow-up-reads-again"];

/// Reads the file of its scenario once a turn and answers, or, one pass in three, lies.
fn model() -> ScriptedModel {
    ScriptedModel::new(|request: &ChatRequest| {
        let file = match request.label.as_deref() {
            Some("answer-follows-the-result") => "meeting.txt",
            _ => "team.txt",
        };
        let is_answered = request.messages.last().is_some_and(|message| message.role == Role::Tool);
        if !is_answered && !request.options.seed.is_multiple_of(3) {
            return Said::call("read_file", json!({ "filename": file, "reason": "asked" }));
        }
        if last_result(request).contains("Thursday") {
            return Said::text("On Thursday at 16:30 in room 4.");
        }
        Said::text("Amina leads the team, Chloe does the design.")
    })
}

fn plan() -> RunPlan {
    let cases = IDS.map(case).to_vec();
    let mut configuration = Configuration::new(Arc::new(model()));
    configuration.jobs = 2;
    RunPlan {
        bench: "rounds".to_owned(),
        passes: 3,
        seed: 11,
        timeout: Duration::from_secs(30),
        ..RunPlan::new(cases, "suite".into(), vec![configuration])
    }
}

fn options(store: &Path) -> RunOptions {
    RunOptions { retry_pause: Duration::ZERO, ..RunOptions::new(store) }
}

/// What each pass measured, without moments and durations.
type Measured = BTreeMap<(String, u32), (u64, String, String, Option<bool>, Option<FailureClass>, Vec<String>)>;

fn measured(store: &Path, run: &str) -> Measured {
    let mut all = Measured::new();
    for detail in open_run(store, run).unwrap().passes(&PassFilter::default()).unwrap() {
        let detail = detail.unwrap();
        let (pass, outcome) = (detail.pass, detail.outcome.unwrap());
        let played = pass.played.unwrap();
        let asked = played.turns.iter().flat_map(|turn| &turn.answers).map(|answer| answer.request.clone()).collect();
        let value = (pass.seed, pass.request, pass.text, outcome.success, outcome.class, asked);
        assert!(all.insert((pass.case.clone(), pass.pass), value).is_none(), "{} came twice", pass.case);
    }
    all
}

async fn whole(store: &Path) -> String {
    let ignore = |_: &RunEvent| {};
    let outcome = execute(plan(), options(store), &ignore, CancellationToken::new()).await.unwrap();
    assert_eq!((outcome.state, outcome.measured, outcome.invalid), (RunState::Complete, 6, 0));
    outcome.run
}

#[tokio::test]
async fn a_run_is_stored_with_every_request_and_graded_again_without_a_model() {
    let store = tempfile::tempdir().unwrap();
    let id = whole(store.path()).await;
    let measured_first = measured(store.path(), &id);
    assert!(measured_first.values().any(|pass| pass.3 == Some(true)), "{measured_first:?}");
    let run = open_run(store.path(), &id).unwrap();
    let requests = std::fs::read_to_string(run.directory().join("requests.jsonl")).unwrap();
    for (key, pass) in &measured_first {
        assert_eq!(pass.5.first(), Some(&pass.1), "{key:?}: the first request");
        assert!(pass.5.iter().all(|sha256| requests.contains(sha256)), "{key:?}");
    }
    let lines: Vec<&str> = requests.lines().collect();
    let mut distinct = lines.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), lines.len(), "no request is written twice");
    assert_eq!(run.cases().unwrap(), plan().cases);
    let report = regrade(&run, None).unwrap();
    assert_eq!((report.graded, report.changed), (6, 0));
    assert_eq!(measured(store.path(), &id), measured_first);
}

#[tokio::test]
async fn a_run_that_was_cancelled_is_resumed_to_the_same_passes() {
    let calm = tempfile::tempdir().unwrap();
    let expected = measured(calm.path(), &whole(calm.path()).await);
    for after in [1, 2, 3] {
        let store = tempfile::tempdir().unwrap();
        let (seen, cancel) = (AtomicUsize::new(0), CancellationToken::new());
        let sink = |event: &RunEvent| {
            let is_pass = matches!(event, RunEvent::PassFinished { .. });
            if is_pass && seen.fetch_add(1, Ordering::SeqCst) + 1 == after {
                cancel.cancel();
            }
        };
        let first = execute(plan(), options(store.path()), &sink, cancel.clone()).await.unwrap();
        assert_eq!(first.state, RunState::Interrupted);
        let resume = RunOptions { resume: Some(first.run.clone()), ..options(store.path()) };
        let ignore = |_: &RunEvent| {};
        let second = execute(plan(), resume, &ignore, CancellationToken::new()).await.unwrap();
        assert_eq!((second.state, first.measured + second.measured), (RunState::Complete, 6));
        assert_eq!(measured(store.path(), &first.run), expected, "after {after}");
    }
}

#[tokio::test]
async fn parts_are_merged_to_the_whole() {
    let calm = tempfile::tempdir().unwrap();
    let expected = measured(calm.path(), &whole(calm.path()).await);
    let store = tempfile::tempdir().unwrap();
    let mut parts = Vec::new();
    for part in [1, 2] {
        let plan = RunPlan { partition: Some(Partition::new(part, 2).unwrap()), ..plan() };
        let ignore = |_: &RunEvent| {};
        let outcome = execute(plan, options(store.path()), &ignore, CancellationToken::new()).await.unwrap();
        assert_eq!(outcome.measured, 3);
        parts.push(open_run(store.path(), &outcome.run).unwrap());
    }
    let merged = merge(store.path(), &parts).unwrap();
    assert_eq!(measured(store.path(), merged.id()), expected);
}

#[tokio::test]
async fn a_backend_that_fails_once_is_asked_again_and_one_that_stays_away_is_invalid() {
    let store = tempfile::tempdir().unwrap();
    let gone = || ModelError::Connect { url: "http://127.0.0.1:9".into(), reason: "refused".into() };
    let failed = AtomicUsize::new(0);
    let flaky = ScriptedModel::new(move |_| {
        // Every second request of the first four fails.
        let number = failed.fetch_add(1, Ordering::SeqCst);
        if number < 4 && number % 2 == 1 {
            return Said::error(gone());
        }
        Said::text("Amina leads the team, Chloe does the design.")
    });
    let mut configuration = Configuration::new(Arc::new(flaky));
    configuration.jobs = 1;
    let plan = || RunPlan { configurations: vec![configuration.clone()], cases: vec![case(IDS[1])], ..plan() };
    let ignore = |_: &RunEvent| {};
    let outcome = execute(plan(), options(store.path()), &ignore, CancellationToken::new()).await.unwrap();
    assert_eq!((outcome.state, outcome.measured, outcome.invalid), (RunState::Complete, 3, 0));

    let away = ScriptedModel::saying(vec![Said::error(gone())]);
    let plan =
        RunPlan { configurations: vec![Configuration::new(Arc::new(away))], cases: vec![case(IDS[0])], ..plan() };
    let outcome = execute(plan, options(store.path()), &ignore, CancellationToken::new()).await.unwrap();
    assert_eq!((outcome.measured, outcome.invalid), (3, 3));
    let run = open_run(store.path(), &outcome.run).unwrap();
    for detail in run.passes(&PassFilter::default()).unwrap() {
        let outcome = detail.unwrap().outcome.unwrap();
        assert_eq!((outcome.success, outcome.class), (None, Some(FailureClass::InvalidTransport)));
    }
}
