//! Runs that stop what is decided: the same verdicts, fewer passes.

// The lint's exception for tests does not cover their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::*;
use tenpass_bench::run::{Configuration, RunEvent, RunOptions, RunPlan, execute};
use tenpass_bench::store::{EarlyStop, LEVEL_DURING, LEVEL_END, RunState, merge, open_run, regrade};
use tenpass_model::FinishReason;
use tokio_util::sync::CancellationToken;

/// Right in so many of a hundred passes: case-0 never, case-1 always, the others between.
const RATES: [u64; 8] = [0, 100, 0, 100, 50, 80, 100, 0];

fn by_rate(name: &str, worse: u64) -> Arc<FakeModel> {
    Arc::new(FakeModel::new(name, move |request, _| {
        let question = &request.messages.last().unwrap().content;
        let case: usize = question.trim_start_matches('q').parse().unwrap();
        let rate = RATES[case % RATES.len()].saturating_sub(worse);
        // The low bits of a derived seed are as good as a die.
        let right = request.options.seed % 100 < rate;
        Script::Events(if right { right_answer() } else { vec![text("no"), done(FinishReason::Stop)] })
    }))
}

fn gates(cases: usize, configurations: Vec<Configuration>) -> RunPlan {
    let early_stop = Some(EarlyStop { gate: 8, ..EarlyStop::default() });
    RunPlan { early_stop, ..plan(cases, 10, configurations) }
}

/// Right answers and passes of every case and configuration.
fn tallies(store: &Path, run: &str) -> BTreeMap<(String, String), (u32, u32)> {
    let mut found = BTreeMap::new();
    for ((case, configuration, _), pass) in measured(store, run) {
        let (right, all) = found.entry((case, configuration)).or_insert((0, 0));
        *right += u32::from(pass.4 == Some(true));
        *all += 1;
    }
    found
}

#[tokio::test]
async fn every_gate_has_the_verdict_of_all_passes_and_clear_ones_cost_half() {
    let (short, long) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let one = || vec![configuration(by_rate("a", 0), 20)];
    let early = run(gates(8, one()), options(short.path())).await.unwrap();
    let whole = run(plan(8, 10, one()), options(long.path())).await.unwrap();
    let (stopped, all) = (tallies(short.path(), &early.run), tallies(long.path(), &whole.run));
    for (cell, (right, passes)) in &stopped {
        assert_eq!(*right >= 8, all[cell].0 >= 8, "{cell:?}: {right} of {passes} and {:?}", all[cell]);
        let clear = match RATES[cell.0.trim_start_matches("case-").parse::<usize>().unwrap()] {
            0 => Some((0, 3)),
            100 => Some((8, 8)),
            _ => None,
        };
        assert!(clear.is_none_or(|clear| clear == (*right, *passes)), "{cell:?}: {right} of {passes}");
    }
    // Three always fail, three always pass: 3·3 + 3·8 of 60.
    let clear: u32 =
        stopped.iter().filter(|(_, tally)| matches!(tally, (0, _) | (8, 8))).map(|(_, tally)| tally.1).sum();
    assert!(clear <= 33 && early.done < 60, "{clear} passes for the clear cases, {} in all", early.done);

    assert_eq!((early.state, early.total), (RunState::Complete, early.done));
    let manifest = open_run(short.path(), &early.run).unwrap().manifest().clone();
    let record = manifest.early_stop.clone().unwrap();
    assert_eq!(record.saved, 80 - early.done);
    assert_eq!(manifest.total_passes(), early.done);
    let closed: BTreeMap<&str, u32> = record.closed.iter().map(|gate| (gate.case.as_str(), gate.passes)).collect();
    assert_eq!((closed["case-0"], closed["case-1"]), (3, 8));
    let sentences = record.sentences(10);
    assert!(sentences[0].contains("their rates are biased, the gates are not"), "{sentences:?}");
    let opened = open_run(short.path(), &early.run).unwrap();
    assert_eq!(regrade(&opened, None).unwrap().changed, 0);
    assert_eq!(opened.summary().unwrap().configurations[0].cells[0].answers, 3);
}

#[tokio::test]
async fn passes_that_are_run_are_those_of_a_whole_run() {
    let (short, long) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let one = || vec![configuration(by_rate("a", 0), 7)];
    let early = run(gates(8, one()), options(short.path())).await.unwrap();
    let whole = run(plan(8, 10, one()), options(long.path())).await.unwrap();
    let whole = measured(long.path(), &whole.run);
    for (key, pass) in measured(short.path(), &early.run) {
        assert_eq!(whole[&key], pass, "{key:?}");
    }
}

#[tokio::test]
async fn a_stopped_run_goes_on_to_the_same_passes_wherever_it_was_ended() {
    let calm = tempfile::tempdir().unwrap();
    let two = || vec![configuration(by_rate("a", 0), 6), configuration(by_rate("b", 20), 6)];
    let whole = run(gates(8, two()), options(calm.path())).await.unwrap();
    let expected = measured(calm.path(), &whole.run);
    for after in [1, 5, 17, 40, 61] {
        let store = tempfile::tempdir().unwrap();
        let (seen, cancel) = (AtomicUsize::new(0), CancellationToken::new());
        let sink = |event: &RunEvent| {
            if matches!(event, RunEvent::PassFinished { .. }) && seen.fetch_add(1, Ordering::SeqCst) + 1 == after {
                cancel.cancel();
            }
        };
        let first = execute(gates(8, two()), options(store.path()), &sink, cancel.clone()).await.unwrap();
        assert_eq!(first.state, RunState::Interrupted);
        assert_eq!(open_run(store.path(), &first.run).unwrap().manifest().early_stop.clone().unwrap().saved, 0);
        let resume = RunOptions { resume: Some(first.run.clone()), ..options(store.path()) };
        let opened = open_run(store.path(), &first.run).unwrap();
        let second = run(RunPlan::of_run(&opened, two()), resume.clone()).await.unwrap();
        assert_eq!((second.state, second.total), (RunState::Complete, second.done), "after {after}");
        assert_eq!(measured(store.path(), &first.run), expected, "after {after}");
        let again = run(gates(8, two()), resume).await.unwrap();
        assert_eq!((again.state, again.measured, again.done), (RunState::Complete, 0, second.done));
    }
}

#[tokio::test]
async fn parts_that_stopped_early_are_merged_to_the_whole() {
    let (calm, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let one = || vec![configuration(by_rate("a", 0), 6)];
    let whole = run(gates(8, one()), options(calm.path())).await.unwrap();
    let mut parts = Vec::new();
    for part in ["1/3", "2/3", "3/3"] {
        let plan = RunPlan { partition: Some(part.parse().unwrap()), ..gates(8, one()) };
        parts.push(open_run(store.path(), &run(plan, options(store.path())).await.unwrap().run).unwrap());
    }
    let merged = merge(store.path(), &parts).unwrap();
    assert_eq!(measured(store.path(), merged.id()), measured(calm.path(), &whole.run));
    let early = |run: &tenpass_bench::store::Run| run.manifest().early_stop.clone().unwrap();
    let (joined, expected) = (early(&merged), early(&open_run(calm.path(), &whole.run).unwrap()));
    assert_eq!((joined.saved, joined.closed.len()), (expected.saved, expected.closed.len()));
    assert_eq!((merged.manifest().state(), merged.manifest().total_passes()), (RunState::Complete, whole.total));
    let resume = RunOptions { resume: Some(merged.id().to_owned()), ..options(store.path()) };
    let again = run(gates(8, one()), resume).await.unwrap();
    assert_eq!((again.state, again.measured), (RunState::Complete, 0));
}

#[tokio::test]
async fn a_clear_regression_ends_the_comparison_during_the_run() {
    let store = tempfile::tempdir().unwrap();
    let rules = EarlyStop {
        gate: 8,
        gated: Some(vec!["case-1".to_owned()]),
        during: Some(LEVEL_DURING),
        end: Some(LEVEL_END),
        ..EarlyStop::default()
    };
    let worse = vec![configuration(by_rate("before", 0), 30), configuration(by_rate("after", 90), 30)];
    let plan = RunPlan { early_stop: Some(rules), ..plan(24, 10, worse) };
    let events = Mutex::new(Vec::new());
    let sink = |event: &RunEvent| events.lock().unwrap().push(event.clone());
    let outcome = execute(plan, options(store.path()), &sink, CancellationToken::new()).await.unwrap();
    assert_eq!(outcome.state, RunState::Complete);
    assert!(outcome.done <= 24 * 2 * 6, "{} of 480 passes", outcome.done);
    let manifest = open_run(store.path(), &outcome.run).unwrap().manifest().clone();
    let [decided] = &manifest.early_stop.unwrap().decided[..] else { panic!("one was decided") };
    assert_eq!((decided.configuration.as_str(), decided.better), ("after", 0));
    assert!(decided.e_value >= 100.0 && decided.worse >= 8, "{decided:?}");
    let last = events.lock().unwrap().iter().rev().find_map(|event| match event {
        RunEvent::Shortened { total } => Some(*total),
        _ => None,
    });
    assert!(last.is_some_and(|total| total < 480), "{last:?}");
    // Another rule is another run.
    let opened = open_run(store.path(), &outcome.run).unwrap();
    let mut other = RunPlan::of_run(
        &opened,
        vec![configuration(by_rate("before", 0), 30), configuration(by_rate("after", 90), 30)],
    );
    other.early_stop = None;
    let resume = RunOptions { resume: Some(outcome.run.clone()), ..options(store.path()) };
    let error = run(other, resume).await.unwrap_err().to_string();
    assert!(error.contains("early_stop"), "{error}");
}
