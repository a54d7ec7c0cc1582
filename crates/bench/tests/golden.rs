//! Runs as every version of the format wrote them: they open, are read and are graded again for ever.
//!
//! `data/runs` holds one folder a version, made by the program of its time: 1.0 and 1.1 with the embedded
//! model (1.1 cut to one scenario), 1.2 with recorded answers, a baseline beside a candidate and early stops.

// The lint's exception for tests does not cover their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use tenpass_bench::store::{FormatVersion, PassFilter, Run, list_runs, open_run, regrade};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/runs")
}

/// A store with copies of all of them: reading makes an index, and a re-grade writes.
fn store() -> tempfile::TempDir {
    let store = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(data()).unwrap() {
        let folder = entry.unwrap();
        let copy = store.path().join(folder.file_name());
        fs::create_dir(&copy).unwrap();
        for file in fs::read_dir(folder.path()).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), copy.join(file.file_name())).unwrap();
        }
    }
    store
}

/// (format, bench, configurations, passes read, right answers) of a run.
fn facts(run: &Run) -> (String, String, usize, u64, u64) {
    let manifest = run.manifest();
    let cells: Vec<_> = run.summary().unwrap().configurations.into_iter().flat_map(|one| one.cells).collect();
    let answers = cells.iter().map(|cell| cell.answers + cell.invalid).sum();
    let right = cells.iter().map(|cell| cell.successes).sum();
    (manifest.format.to_string(), manifest.bench.clone(), manifest.configurations.len(), answers, right)
}

#[test]
fn runs_of_every_version_are_read_and_graded_again() {
    let store = store();
    let runs: Vec<Run> = list_runs(store.path()).unwrap().into_iter().map(|entry| entry.run.unwrap()).collect();
    let mut found: Vec<_> = runs.iter().map(facts).collect();
    found.sort();
    let expected = |format: &str, bench: &str, configurations, answers, right| {
        (format.to_owned(), bench.to_owned(), configurations, answers, right)
    };
    assert_eq!(
        found,
        EXPECTED.map(|(format, bench, one, answers, right)| expected(format, bench, one, answers, right))
    );
    for run in &runs {
        let before = facts(run);
        for record in &run.manifest().configurations {
            assert_eq!(run.cases_of(&record.id).unwrap().len() as u64, run.manifest().cases, "{}", run.id());
        }
        for detail in run.passes(&PassFilter::default()).unwrap() {
            let pass = detail.unwrap().pass;
            assert!(run.request(&pass.request).unwrap().is_some(), "{}: {} {}", run.id(), pass.case, pass.pass);
        }
        let report = regrade(run, None).unwrap();
        assert_eq!(report.graded, before.3, "{}", run.id());
        let again = open_run(store.path(), run.id()).unwrap();
        assert_eq!(facts(&again), before, "{}: grades changed: {:?}", run.id(), report.changes);
    }
    // Somebody must add the next version's.
    let newest = found.last().map(|facts| facts.0.clone());
    assert_eq!(newest, Some(FormatVersion::CURRENT.to_string()));
}

/// Format, bench, configurations, passes read, right answers.
const EXPECTED: [(&str, &str, usize, u64, u64); 3] =
    [("1.0", "tools", 1, 10, 0), ("1.1", "rounds", 1, 1, 0), ("1.2", "tools", 2, 32, 32)];

#[test]
fn a_baseline_beside_its_candidate_keeps_its_own_cases() {
    let store = store();
    let runs = list_runs(store.path()).unwrap().into_iter().map(|entry| entry.run.unwrap());
    let run = runs.into_iter().find(|run| run.manifest().against.is_some()).expect("1.2 has one");
    let records = &run.manifest().configurations;
    assert_eq!((records[0].cases.as_deref(), records[1].cases.as_deref()), (Some("cases.1.jsonl"), None));
    assert!(records[0].digests.is_some() && records[0].origin.is_some());
    assert_ne!(run.cases_of(&records[0].id).unwrap()[0].tools, run.cases().unwrap()[0].tools);
    let early = run.manifest().early_stop.clone().expect("it stopped early");
    assert!(early.saved > 0 && !early.closed.is_empty(), "{early:?}");
}
