//! A run that was ended at any moment and resumed has the passes of one that was not.

// The lint's exception for tests does not cover their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::*;
use proptest::prelude::*;
use tenpass_bench::run::{Configuration, RunError, RunEvent, RunOptions, RunPlan, execute};
use tenpass_bench::store::{FormatVersion, RunState, StoreError, open_run};
use tokio_util::sync::CancellationToken;

const CASES: usize = 3;
const PASSES: u32 = 4;
const TOTAL: u64 = 2 * 3 * 4;

fn two_models(jobs: usize) -> Vec<Configuration> {
    ["a", "b"].map(|name| configuration(Arc::new(FakeModel::by_seed(name)), jobs)).to_vec()
}

fn whole_plan() -> RunPlan {
    plan(CASES, PASSES, two_models(3))
}

fn resuming(store: &Path, run: &str) -> RunOptions {
    RunOptions { resume: Some(run.to_owned()), ..options(store) }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(future)
}

/// A complete run to compare with, and its store.
fn complete() -> (tempfile::TempDir, String) {
    let store = tempfile::tempdir().unwrap();
    let outcome = block_on(run(whole_plan(), options(store.path()))).unwrap();
    (store, outcome.run)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

fn cut(path: &Path, length: u64) {
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes reach the disk in order, so a crash leaves a beginning of each file.
    #[test]
    fn cutting_the_files_anywhere_loses_and_doubles_nothing(
        passes_share in 0.0..=1.0f64,
        outcomes_share in 0.0..=1.0f64,
        requests_share in 0.0..=1.0f64,
    ) {
        static WHOLE: std::sync::OnceLock<(tempfile::TempDir, String)> = std::sync::OnceLock::new();
        let (whole, id) = WHOLE.get_or_init(complete);
        let store = tempfile::tempdir().unwrap();
        let directory = store.path().join(id);
        copy(&whole.path().join(id), &directory);
        let files = [("passes.jsonl", passes_share), ("outcomes.jsonl", outcomes_share), ("requests.jsonl", requests_share)];
        for (name, share) in files {
            let path = directory.join(name);
            cut(&path, (length(&path) as f64 * share) as u64);
        }
        let outcome = block_on(run(whole_plan(), resuming(store.path(), id))).unwrap();
        prop_assert_eq!((outcome.state, outcome.done), (RunState::Complete, TOTAL));
        prop_assert_eq!(measured(store.path(), id), measured(whole.path(), id));
        for (name, _) in files {
            let text = fs::read_to_string(directory.join(name)).unwrap();
            prop_assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
        }
        // Nothing is left: resuming once more asks no model.
        let again = block_on(run(whole_plan(), resuming(store.path(), id))).unwrap();
        prop_assert_eq!((again.measured, again.done), (0, TOTAL));
    }

    #[test]
    fn cancelling_after_any_pass_loses_and_doubles_nothing(after in 1usize..=24, jobs in 1usize..9) {
        let store = tempfile::tempdir().unwrap();
        let cancel = CancellationToken::new();
        let finished = AtomicUsize::new(0);
        let sink = |event: &RunEvent| {
            if matches!(event, RunEvent::PassFinished { .. }) && finished.fetch_add(1, Ordering::SeqCst) + 1 == after {
                cancel.cancel();
            }
        };
        let plan = plan(CASES, PASSES, two_models(jobs));
        let first = block_on(execute(plan, options(store.path()), &sink, cancel.clone())).unwrap();
        prop_assert!(first.done >= after as u64);
        prop_assert_eq!(details(store.path(), &first.run).len() as u64, first.done);
        let second = block_on(run(whole_plan(), resuming(store.path(), "latest"))).unwrap();
        prop_assert_eq!((second.state, second.done), (RunState::Complete, TOTAL));
        prop_assert_eq!(second.measured, TOTAL - first.done);
        let (whole, id) = complete();
        prop_assert_eq!(measured(store.path(), &second.run), measured(whole.path(), &id));
    }
}

#[test]
fn a_torn_last_line_is_cut_off_and_a_bad_line_is_named() {
    let (store, id) = complete();
    let passes = store.path().join(&id).join("passes.jsonl");
    let whole = fs::read(&passes).unwrap();
    fs::OpenOptions::new().append(true).open(&passes).unwrap().write_all(b"{\"case\":\"case-0\",\"conf").unwrap();
    assert_eq!(details(store.path(), &id).len() as u64, TOTAL, "readers pass over it");
    block_on(run(whole_plan(), resuming(store.path(), &id))).unwrap();
    assert_eq!(fs::read(&passes).unwrap(), whole, "writers cut it off");

    let mut lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    lines[4] = b"{\"case\":\"case-0\",\"conf\n";
    fs::write(&passes, lines.concat()).unwrap();
    let error = block_on(run(whole_plan(), resuming(store.path(), &id))).unwrap_err();
    let place = format!("{}:5: ", passes.display());
    assert!(error.to_string().starts_with(&place), "{error}");
    fs::remove_file(store.path().join("index.sqlite")).unwrap();
    let error = open_run(store.path(), &id).unwrap().summary().unwrap_err();
    assert!(error.to_string().starts_with(&place), "{error}");
}

#[test]
fn lines_of_another_run_are_refused() {
    let (store, id) = complete();
    let passes = store.path().join(&id).join("passes.jsonl");
    let text = fs::read_to_string(&passes).unwrap().replacen("case-1", "case-9", 1);
    let line = text.lines().position(|line| line.contains("case-9")).unwrap() + 1;
    fs::write(&passes, text).unwrap();
    let error = block_on(run(whole_plan(), resuming(store.path(), &id))).unwrap_err();
    assert_eq!(error.to_string(), format!("{}:{line}: the run has no case `case-9`", passes.display()));
}

#[test]
fn an_invalid_pass_is_measured_when_the_run_is_resumed() {
    let store = tempfile::tempdir().unwrap();
    let down = Arc::new(FakeModel::new("a", |request, _| {
        let fails = request.options.seed.is_multiple_of(2);
        Script::Events(if fails { vec![Err(unreachable())] } else { answer_by_seed(request.options.seed) })
    }));
    let plan_with = |model| plan(2, 5, vec![configuration(Arc::new(model), 2)]);
    let mut once = options(store.path());
    once.give_up_after = 100;
    let first = block_on(run(plan(2, 5, vec![configuration(down, 2)]), once)).unwrap();
    assert!(first.invalid > 0 && first.invalid < 10, "{first:?}");
    let second = block_on(run(plan_with(FakeModel::by_seed("a")), resuming(store.path(), &first.run))).unwrap();
    assert_eq!((second.measured, second.invalid, second.done), (first.invalid, 0, 10));
    let healthy = tempfile::tempdir().unwrap();
    let never_down = block_on(run(plan_with(FakeModel::by_seed("a")), options(healthy.path()))).unwrap();
    assert_eq!(measured(store.path(), &first.run), measured(healthy.path(), &never_down.run));
    let detail = details(store.path(), &first.run).into_iter().find(|detail| detail.pass.attempt > 1).unwrap();
    let earlier = open_run(store.path(), &first.run).unwrap().earlier_attempts(&detail.pass).unwrap();
    assert_eq!(earlier.iter().map(|pass| pass.attempt).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(open_run(store.path(), &first.run).unwrap().manifest().sessions.len(), 2);
}

#[test]
fn another_setting_is_refused_by_name_and_changes_nothing() {
    let (store, id) = complete();
    let passes = store.path().join(&id).join("passes.jsonl");
    cut(&passes, length(&passes) / 2);
    let before = fs::read(&passes).unwrap();
    let refuse = |plan: RunPlan, what: &str| {
        let error = block_on(run(plan, resuming(store.path(), &id))).unwrap_err();
        assert!(matches!(error, RunError::Store(StoreError::Mismatch { .. })), "{error}");
        assert_eq!(error.to_string(), format!("run {id} cannot be resumed like this: {what}"));
    };
    let mut changed = whole_plan();
    changed.configurations[1].options.temperature = 0.75;
    changed.seed = 8;
    let temperature = serde_json::to_string(&whole_plan().configurations[1].options.temperature).unwrap();
    refuse(
        changed,
        &format!("configuration b options temperature: {temperature} in the run, 0.75 now; seed: 7 in the run, 8 now"),
    );
    let mut changed = whole_plan();
    changed.configurations.pop();
    refuse(changed, "configurations: a, b in the run, a now");
    let mut changed = whole_plan();
    changed.cases[0].messages[1].content.push('?');
    let error = block_on(run(changed, resuming(store.path(), &id))).unwrap_err();
    assert!(error.to_string().contains("digests cases: "), "{error}");
    assert_eq!(fs::read(&passes).unwrap(), before);
    // More jobs only change the speed, and a plan made from the run has no cases of its own.
    let opened = open_run(store.path(), &id).unwrap();
    let outcome = block_on(run(RunPlan::of_run(&opened, two_models(9)), resuming(store.path(), &id))).unwrap();
    assert_eq!((outcome.state, outcome.done), (RunState::Complete, TOTAL));
}

#[test]
fn two_writers_are_not_let_in() {
    let (store, id) = complete();
    let path = store.path().join(&id).join("lock");
    let held = fs::OpenOptions::new().write(true).open(&path).unwrap();
    held.lock().unwrap();
    let error = block_on(run(whole_plan(), resuming(store.path(), &id))).unwrap_err();
    assert!(matches!(&error, RunError::Store(StoreError::Locked { run, .. }) if *run == id), "{error}");
    let opened = open_run(store.path(), &id).unwrap();
    assert!(matches!(tenpass_bench::store::regrade(&opened, None), Err(StoreError::Locked { .. })));
    drop(held);
    block_on(run(whole_plan(), resuming(store.path(), &id))).unwrap();
}

#[test]
fn newer_minor_versions_are_read_and_not_written() {
    let (store, id) = complete();
    let path = store.path().join(&id).join("manifest.json");
    let manifest = fs::read_to_string(&path).unwrap();
    let current = FormatVersion::CURRENT;
    let next = FormatVersion { minor: current.minor + 1, ..current };
    let newer = |version: &str| {
        let with = format!("\"format\": \"{version}\",\n  \"a_new_field\": 1");
        let changed = manifest.replacen(&format!("\"format\": \"{current}\""), &with, 1);
        assert_ne!(changed, manifest);
        fs::write(&path, changed).unwrap();
    };
    newer(&next.to_string());
    assert_eq!(details(store.path(), &id).len() as u64, TOTAL);
    let error = block_on(run(whole_plan(), resuming(store.path(), &id))).unwrap_err();
    assert_eq!(error.to_string(), format!("{} has format {next}, this program writes up to {current}", path.display()));
    newer("2.0");
    let error = open_run(store.path(), &id).unwrap_err();
    assert_eq!(error.to_string(), format!("{} has format 2.0, this program reads up to 1.2", path.display()));
}
