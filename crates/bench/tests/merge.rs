//! Parts of a partition that were killed, copied, edited or made apart, joined to one run or refused.

// The lint's exception for tests does not cover their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use common::*;
use serde_json::Value;
use tenpass_bench::cases::Case;
use tenpass_bench::run::{Configuration, RunEvent, RunPlan, execute};
use tenpass_bench::store::{Run, RunState, StoreError, list_runs, merge, open_run};
use tokio_util::sync::CancellationToken;

const CASES: usize = 7;
const PASSES: u32 = 3;

fn model() -> Configuration {
    configuration(Arc::new(FakeModel::by_seed("a")), 4)
}

fn part_plan(text: &str) -> RunPlan {
    RunPlan { partition: Some(text.parse().unwrap()), ..plan(CASES, PASSES, vec![model()]) }
}

async fn part(store: &Path, text: &str) -> Run {
    let outcome = run(part_plan(text), options(store)).await.unwrap();
    open_run(store, &outcome.run).unwrap()
}

/// A part whose process ended after a few passes.
async fn killed(store: &Path, text: &str, after: usize) -> Run {
    let cancel = CancellationToken::new();
    let seen = std::sync::atomic::AtomicUsize::new(0);
    let sink = |event: &RunEvent| {
        if matches!(event, RunEvent::PassFinished { .. })
            && seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1 == after
        {
            cancel.cancel();
        }
    };
    let mut plan = part_plan(text);
    plan.configurations[0].jobs = 1;
    let outcome = execute(plan, options(store), &sink, cancel.clone()).await.unwrap();
    assert_eq!(outcome.state, RunState::Interrupted);
    open_run(store, &outcome.run).unwrap()
}

async fn go_on(store: &Path, run_id: &str, text: &str) -> Run {
    let mut resume = options(store);
    resume.resume = Some(run_id.to_owned());
    run(part_plan(text), resume).await.unwrap();
    open_run(store, run_id).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

fn edit(run: &Run, change: impl Fn(&mut Value)) -> Run {
    let path = run.directory().join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    fs::write(&path, manifest.to_string()).unwrap();
    open_run(run.store(), run.id()).unwrap()
}

/// The lines of a run's outcomes without durations, sorted: equal for equal runs, byte for byte.
fn outcomes(run: &Run) -> Vec<String> {
    let text = fs::read_to_string(run.directory().join("outcomes.jsonl")).unwrap();
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| {
            let mut outcome: Value = serde_json::from_str(line).unwrap();
            outcome.as_object_mut().unwrap().remove("first_call_ms");
            outcome.to_string()
        })
        .collect();
    lines.sort();
    lines
}

fn refusal(store: &Path, parts: &[&Run]) -> String {
    let parts: Vec<Run> = parts.iter().map(|run| (*run).clone()).collect();
    let before = list_runs(store).unwrap().len();
    let message = merge(store, &parts).unwrap_err().to_string();
    assert_eq!(list_runs(store).unwrap().len(), before, "a refused merge leaves nothing");
    message
}

#[tokio::test]
async fn parts_in_stores_of_their_own_make_the_run_of_one_process() {
    let (whole, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let outcome = run(plan(CASES, PASSES, vec![model()]), options(whole.path())).await.unwrap();
    let whole_run = open_run(whole.path(), &outcome.run).unwrap();
    let stores: Vec<_> = (0..4).map(|_| tempfile::tempdir().unwrap()).collect();
    let mut parts = Vec::new();
    for (number, store) in stores.iter().enumerate() {
        parts.push(part(store.path(), &format!("{}/4", number + 1)).await);
    }
    let merged = merge(target.path(), &parts).unwrap();
    assert_eq!(merged.store(), target.path());
    assert_eq!(measured(target.path(), merged.id()), measured(whole.path(), &outcome.run));
    assert_eq!(outcomes(&merged), outcomes(&whole_run));
    assert_eq!(merged.cases().unwrap(), whole_run.cases().unwrap());
    // A scheduler that starts the merge again finds it done.
    let again = merge(target.path(), &parts).unwrap();
    assert_eq!((again.id(), list_runs(target.path()).unwrap().len()), (merged.id(), 1));
}

#[tokio::test]
async fn of_a_part_that_was_killed_and_begun_anew_the_complete_run_counts() {
    let store = tempfile::tempdir().unwrap();
    let (whole, second) = (part(store.path(), "1/2").await, part(store.path(), "2/2").await);
    let dead = killed(store.path(), "1/2", 2).await;
    let other_dead = killed(store.path(), "1/2", 3).await;
    let parts = [dead.clone(), second.clone(), whole.clone(), other_dead.clone()];
    let merged = merge(store.path(), &parts).unwrap();
    assert_eq!(merged.manifest().parts, [whole.id(), second.id()]);
    assert_eq!(merged.manifest().state(), RunState::Complete);
    let message = refusal(store.path(), &[&dead, &second, &other_dead]);
    let ids = format!("{} and {}", dead.id(), other_dead.id());
    assert!(message.ends_with(&format!("{ids} are all part 1/2, and none is complete")), "{message}");
    // Alone, an unfinished part leaves its passes to --resume.
    let merged = merge(store.path(), &[dead, second]).unwrap();
    assert_eq!(merged.manifest().state(), RunState::Interrupted);
    let mut resume = options(store.path());
    resume.resume = Some(merged.id().to_owned());
    let outcome = run(plan(CASES, PASSES, vec![model()]), resume).await.unwrap();
    assert_eq!((outcome.state, outcome.done), (RunState::Complete, 21));
}

#[tokio::test]
async fn of_copies_of_one_run_the_one_that_went_on_counts() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let second = part(here.path(), "2/2").await;
    let dead = killed(here.path(), "1/2", 4).await;
    copy(dead.directory(), &there.path().join(dead.id()));
    let resumed = go_on(there.path(), dead.id(), "1/2").await;
    let target = tempfile::tempdir().unwrap();
    for order in [[&dead, &second, &resumed], [&resumed, &dead, &second]] {
        let parts: Vec<Run> = order.into_iter().cloned().collect();
        let merged = merge(target.path(), &parts).unwrap();
        assert_eq!((merged.manifest().state(), measured(target.path(), merged.id()).len()), (RunState::Complete, 21));
    }
    assert_eq!(list_runs(target.path()).unwrap().len(), 1);
    // Gone on with in both places, they are two histories.
    let apart = go_on(here.path(), dead.id(), "1/2").await;
    let message = refusal(target.path(), &[&apart, &resumed, &second]);
    assert!(message.ends_with("were gone on with apart") && message.contains(dead.id()), "{message}");
}

#[tokio::test]
async fn a_part_killed_after_its_last_pass_is_complete() {
    let store = tempfile::tempdir().unwrap();
    let (first, second) = (part(store.path(), "1/2").await, part(store.path(), "2/2").await);
    let first = edit(&first, |manifest| {
        manifest["sessions"][0]["state"] = "running".into();
        manifest["sessions"][0]["finished"] = Value::Null;
    });
    let dead = killed(store.path(), "1/2", 1).await;
    let merged = merge(store.path(), &[dead, first.clone(), second]).unwrap();
    assert_eq!((merged.manifest().parts[0].as_str(), merged.manifest().state()), (first.id(), RunState::Complete));
}

#[tokio::test]
async fn parts_of_another_program_grading_or_parent_are_refused() {
    type Change = fn(&mut Value);
    let store = tempfile::tempdir().unwrap();
    let first = part(store.path(), "1/2").await;
    let changes: [(Change, &str); 4] = [
        (|manifest| manifest["sessions"][0]["program"] = "9.9.9".into(), "program: "),
        (
            |manifest| manifest["regraded"] = serde_json::json!({ "at": "2026", "cases": "ab" }),
            "graded again against: ",
        ),
        (|manifest| manifest["parent"] = "20260101-000000-aaaa".into(), "parent: none in the run, 20260101"),
        (|manifest| manifest["configurations"][0]["salt"] = 3.into(), "configuration a salt: null in the run, 3 now"),
    ];
    for (change, reason) in changes {
        let second = edit(&part(store.path(), "2/2").await, change);
        let message = refusal(store.path(), &[&first, &second]);
        assert!(message.contains(reason), "{message}");
    }
}

#[tokio::test]
async fn a_part_with_other_cases_than_were_dealt_is_refused() {
    let store = tempfile::tempdir().unwrap();
    let (first, second) = (part(store.path(), "1/2").await, part(store.path(), "2/2").await);
    let path = second.directory().join("cases.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("You switch lamps.", "You switch fans.")).unwrap();
    let message = refusal(store.path(), &[&first, &second]);
    assert!(message.ends_with("their cases together are not those that were chosen for the whole"), "{message}");
}

#[tokio::test]
async fn a_part_that_is_being_written_is_refused() {
    let store = tempfile::tempdir().unwrap();
    let (first, second) = (part(store.path(), "1/2").await, part(store.path(), "2/2").await);
    let lock = fs::File::options().write(true).open(second.directory().join("lock")).unwrap();
    lock.lock().unwrap();
    let error = merge(store.path(), &[first.clone(), second.clone()]).unwrap_err();
    assert!(matches!(&error, StoreError::Locked { run, .. } if run == second.id()), "{error}");
    lock.unlock().unwrap();
    merge(store.path(), &[first, second]).unwrap();
}

/// A configuration that is measured with tools of its own beside the others, as a baseline is.
#[tokio::test]
async fn cases_of_single_configurations_are_joined_too() {
    let own: Vec<Case> = cases(CASES)
        .into_iter()
        .map(|mut case| {
            case.tools[0].description = "Turns the lamp on or off.".into();
            case
        })
        .collect();
    let both = |own: &[Case]| {
        let baseline = Configuration { cases: Some(own.into()), id: "before".into(), ..model() };
        plan(CASES, PASSES, vec![model(), baseline])
    };
    let (whole, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let outcome = run(both(&own), options(whole.path())).await.unwrap();
    let mut parts = Vec::new();
    for text in ["1/3", "2/3", "3/3"] {
        let plan = RunPlan { partition: Some(text.parse().unwrap()), ..both(&own) };
        let outcome = run(plan, options(store.path())).await.unwrap();
        parts.push(open_run(store.path(), &outcome.run).unwrap());
    }
    let merged = merge(store.path(), &parts).unwrap();
    let whole_run = open_run(whole.path(), &outcome.run).unwrap();
    assert_eq!(measured(store.path(), merged.id()), measured(whole.path(), whole_run.id()));
    for configuration in ["a", "before"] {
        assert_eq!(merged.cases_of(configuration).unwrap(), whole_run.cases_of(configuration).unwrap());
    }
    assert_eq!(merged.cases_of("before").unwrap(), own);
    // The same tools as the others are still its own.
    let plain = cases(CASES);
    let mut parts = Vec::new();
    for text in ["1/2", "2/2"] {
        let plan = RunPlan { partition: Some(text.parse().unwrap()), ..both(&plain) };
        let outcome = run(plan, options(store.path())).await.unwrap();
        parts.push(open_run(store.path(), &outcome.run).unwrap());
    }
    let merged = merge(store.path(), &parts).unwrap();
    assert_eq!(merged.cases_of("before").unwrap(), plain);
}
