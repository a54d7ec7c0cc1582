//! Finding, splitting, joining, re-grading and indexing stored runs.

// The lint's exception for tests does not cover their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use common::*;
use tenpass_bench::run::RunPlan;
use tenpass_bench::store::{PassFilter, Run, RunState, StoreError, list_runs, merge, open_run, regrade};
use tenpass_trace::FailureClass;

fn one_model() -> Vec<tenpass_bench::run::Configuration> {
    vec![configuration(Arc::new(FakeModel::by_seed("a")), 4)]
}

async fn part(store: &Path, text: &str, change: impl Fn(&mut RunPlan)) -> Run {
    let mut plan = plan(7, 3, one_model());
    plan.partition = Some(text.parse().unwrap());
    change(&mut plan);
    let outcome = run(plan, options(store)).await.unwrap();
    open_run(store, &outcome.run).unwrap()
}

#[tokio::test]
async fn merged_parts_are_the_whole() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let outcome = run(plan(7, 3, one_model()), options(whole.path())).await.unwrap();
    let mut runs = Vec::new();
    for text in ["3/3", "1/3", "2/3"] {
        runs.push(part(parts.path(), text, |_| {}).await);
    }
    assert_eq!(runs.iter().map(|run| run.manifest().cases).collect::<Vec<_>>(), [2, 3, 2]);
    let merged = merge(parts.path(), &runs).unwrap();
    assert_eq!(measured(parts.path(), merged.id()), measured(whole.path(), &outcome.run));
    let original = open_run(whole.path(), &outcome.run).unwrap();
    assert_eq!(merged.cases().unwrap(), original.cases().unwrap());
    assert_eq!(merged.manifest().digests, original.manifest().digests);
    assert_eq!((merged.manifest().partition, merged.manifest().state()), (None, RunState::Complete));
    assert_eq!(merged.manifest().parts, [runs[1].id(), runs[2].id(), runs[0].id()]);
    // It is a run like any other: resuming finds nothing to do.
    let mut resume = options(parts.path());
    resume.resume = Some(merged.id().to_owned());
    let again = run(plan(7, 3, one_model()), resume).await.unwrap();
    assert_eq!((again.measured, again.done), (0, 21));
}

#[tokio::test]
async fn parts_that_do_not_belong_together_are_refused() {
    let store = tempfile::tempdir().unwrap();
    let first = part(store.path(), "1/2", |_| {}).await;
    let second = part(store.path(), "2/2", |_| {}).await;
    let twice = part(store.path(), "1/2", |_| {}).await;
    let seeded = part(store.path(), "2/2", |plan| plan.seed = 8).await;
    let of_three = part(store.path(), "2/3", |_| {}).await;
    let outcome = run(plan(7, 3, one_model()), options(store.path())).await.unwrap();
    let whole = open_run(store.path(), &outcome.run).unwrap();
    let refusal = |parts: &[&Run]| {
        let parts: Vec<Run> = parts.iter().map(|run| (*run).clone()).collect();
        merge(store.path(), &parts).unwrap_err().to_string()
    };
    for (parts, reason) in [
        (vec![], "there are none".to_owned()),
        (vec![&first], "part 2/2 is missing".to_owned()),
        (vec![&first, &second, &twice], format!("{} and {} are all part 1/2", first.id(), twice.id())),
        (vec![&first, &seeded], "seed: 7 in the run, 8 now".to_owned()),
        (vec![&first, &of_three], "it is part 2/3".to_owned()),
        (vec![&whole, &second], format!("{} is not a part of a partition", whole.id())),
    ] {
        let message = refusal(&parts);
        assert!(message.starts_with("these runs cannot be merged: ") && message.ends_with(&reason), "{message}");
    }
    assert_eq!(list_runs(store.path()).unwrap().len(), 6, "a refused merge leaves nothing");
}

#[tokio::test]
async fn regrading_repeats_the_grades_and_reports_what_other_cases_change() {
    let store = tempfile::tempdir().unwrap();
    let outcome = run(plan(3, 6, one_model()), options(store.path())).await.unwrap();
    let opened = open_run(store.path(), &outcome.run).unwrap();
    let before = measured(store.path(), opened.id());
    let report = regrade(&opened, None).unwrap();
    assert_eq!((report.graded, report.kept, report.changed), (18, 0, 0));
    assert_eq!(measured(store.path(), opened.id()), before);

    // case-0 is gone, case-1 now wants the lamp off, case-2 is as it was.
    let mut current = cases(3);
    current.remove(0);
    let json = serde_json::to_string(&current[0]).unwrap();
    let expect = serde_json::to_value(&current[0].expect).unwrap();
    let wanted = serde_json::to_string(&expect).unwrap();
    current[0] = serde_json::from_str(&json.replace(&wanted, &wanted.replace("true", "false"))).unwrap();
    let report = regrade(&opened, Some(&current)).unwrap();
    let right = |case: &str| before.iter().filter(|(key, value)| key.0 == case && value.4 == Some(true)).count() as u64;
    assert!(right("case-1") > 0);
    assert_eq!((report.graded, report.kept, report.gained, report.lost), (12, 6, 0, right("case-1")));
    assert_eq!(report.changes.len() as u64, report.changed);
    assert!(report.changes.iter().all(|change| change.case == "case-1"), "{report:?}");
    let summary = open_run(store.path(), opened.id()).unwrap().summary().unwrap();
    assert_eq!(summary.configurations[0].cells[1].successes, 0);
    assert_eq!(summary.configurations[0].cells[0].successes, right("case-0"));
    let manifest = open_run(store.path(), opened.id()).unwrap().manifest().clone();
    assert_eq!(manifest.regraded.unwrap().cases, tenpass_bench::cases::digest(&current));

    let report = regrade(&open_run(store.path(), opened.id()).unwrap(), None).unwrap();
    assert_eq!(report.gained, right("case-1"));
    assert_eq!(measured(store.path(), opened.id()), before);
}

#[tokio::test]
async fn the_index_comes_back_and_follows_the_files() {
    let store = tempfile::tempdir().unwrap();
    let index = store.path().join("index.sqlite");
    let outcome = run(plan(3, 4, one_model()), options(store.path())).await.unwrap();
    let opened = open_run(store.path(), &outcome.run).unwrap();
    let before = (opened.summary().unwrap(), details(store.path(), &outcome.run));

    fs::remove_file(&index).unwrap();
    assert_eq!((opened.summary().unwrap(), details(store.path(), &outcome.run)), before);
    assert!(index.is_file());
    fs::write(&index, "this is not a database, but it is long enough to look like one").unwrap();
    assert_eq!(opened.summary().unwrap(), before.0);
    fs::remove_file(&index).unwrap();
    fs::create_dir(&index).unwrap();
    assert_eq!(opened.summary().unwrap(), before.0, "in memory");
    fs::remove_dir(&index).unwrap();

    // A shorter file, then the whole one again under another number.
    let passes = opened.directory().join("passes.jsonl");
    let whole = fs::read_to_string(&passes).unwrap();
    let half: String = whole.split_inclusive('\n').take(5).collect();
    fs::write(&passes, half).unwrap();
    assert_eq!(details(store.path(), &outcome.run).len(), 5);
    fs::write(passes.with_extension("new"), whole).unwrap();
    fs::rename(passes.with_extension("new"), &passes).unwrap();
    assert_eq!((opened.summary().unwrap(), details(store.path(), &outcome.run)), before);
}

#[tokio::test]
async fn filters_choose_passes() {
    let store = tempfile::tempdir().unwrap();
    let models = ["a", "b"].map(|name| configuration(Arc::new(FakeModel::by_seed(name)), 4)).to_vec();
    let outcome = run(plan(3, 5, models), options(store.path())).await.unwrap();
    let opened = open_run(store.path(), &outcome.run).unwrap();
    let all = details(store.path(), &outcome.run);
    let everything = PassFilter::default();
    let check = |filter: PassFilter, wanted: &dyn Fn(&tenpass_bench::store::PassDetail) -> bool| {
        let found: Vec<_> = opened.passes(&filter).unwrap().collect::<Result<_, _>>().unwrap();
        let expected: Vec<_> = all.iter().filter(|detail| wanted(detail)).cloned().collect();
        assert!(!found.is_empty(), "{filter:?}");
        assert_eq!(found, expected, "{filter:?}");
    };
    check(everything.clone(), &|_| true);
    let one = PassFilter {
        case: Some("case-1".into()),
        configuration: Some("b".into()),
        pass: Some(3),
        ..PassFilter::default()
    };
    check(one, &|found| {
        (found.pass.case.as_str(), found.pass.configuration.as_str(), found.pass.pass) == ("case-1", "b", 3)
    });
    check(PassFilter { success: Some(false), ..everything.clone() }, &|found| {
        found.outcome.as_ref().unwrap().success == Some(false)
    });
    check(PassFilter { class: Some(FailureClass::NoCall), ..everything.clone() }, &|found| {
        found.outcome.as_ref().unwrap().class == Some(FailureClass::NoCall)
    });
    assert_eq!(opened.passes(&PassFilter { limit: Some(4), ..everything.clone() }).unwrap().len(), 4);
    assert_eq!(opened.passes(&PassFilter { pass: Some(99), ..everything.clone() }).unwrap().len(), 0);
    let unknown = PassFilter { case: Some("case-9".into()), ..everything };
    let error = opened.passes(&unknown).unwrap_err();
    assert_eq!(error.to_string(), format!("run {} has no case `case-9`", outcome.run));
}

#[tokio::test]
async fn summaries_count_what_the_outcomes_say() {
    let store = tempfile::tempdir().unwrap();
    // Always the same answer: ten passes are one observation.
    let same = Arc::new(FakeModel::new("same", |_, _| Script::Events(right_answer())));
    let models = vec![configuration(Arc::new(FakeModel::by_seed("a")), 4), configuration(same, 4)];
    let outcome = run(plan(2, 10, models), options(store.path())).await.unwrap();
    let summary = open_run(store.path(), &outcome.run).unwrap().summary().unwrap();
    let all = details(store.path(), &outcome.run);
    for configuration in &summary.configurations {
        for cell in &configuration.cells {
            let passes = all.iter().filter(|found| found.pass.case == cell.case);
            let passes: Vec<_> = passes.filter(|found| found.pass.configuration == configuration.id).collect();
            let right = passes.iter().filter(|found| found.outcome.as_ref().unwrap().success == Some(true)).count();
            let outputs: std::collections::HashSet<_> = passes.iter().map(|found| &found.pass.text).collect();
            assert_eq!((cell.answers, cell.successes), (10, right as u64));
            assert_eq!(cell.distinct_outputs, outputs.len() as u64);
            assert_eq!(cell.classes.values().sum::<u64>(), 10 - right as u64);
        }
        let timed = configuration.total_cold_ms.count + configuration.total_warm_ms.count;
        assert_eq!((timed, configuration.prompt_tokens.p50, configuration.completion_tokens.max), (20, 100.0, 7.0));
    }
    assert_eq!(summary.configurations[1].cells[0].distinct_outputs, 1);
}

#[tokio::test]
async fn runs_are_found_by_name_by_its_beginning_and_as_the_latest() {
    let store = tempfile::tempdir().unwrap();
    assert!(list_runs(&store.path().join("none")).unwrap().is_empty());
    assert!(matches!(open_run(store.path(), "latest"), Err(StoreError::NoRun { .. })));
    let outcome = run(plan(1, 1, one_model()), options(store.path())).await.unwrap();
    let template = store.path().join(&outcome.run);
    let named = |id: &str| {
        let directory = store.path().join(id);
        fs::create_dir(&directory).unwrap();
        let manifest = fs::read_to_string(template.join("manifest.json")).unwrap();
        fs::write(directory.join("manifest.json"), manifest.replace(&outcome.run, id)).unwrap();
    };
    named("29990101-000000-aaaa");
    named("29990101-000000-bbbb");
    let found = |query: &str| open_run(store.path(), query).map(|run| run.id().to_owned());
    assert_eq!(found("latest").unwrap(), "29990101-000000-bbbb");
    assert_eq!(found("29990101-000000-a").unwrap(), "29990101-000000-aaaa");
    assert_eq!(found(&outcome.run).unwrap(), outcome.run);
    assert!(matches!(found("2999"), Err(StoreError::Ambiguous { matches, .. }) if matches.len() == 2));
    for query in ["", "1999", "../x"] {
        assert!(matches!(found(query), Err(StoreError::NoRun { .. })), "{query}");
    }
    // A damaged run is listed as such and hides no other.
    fs::write(store.path().join("29990101-000000-bbbb").join("manifest.json"), "{").unwrap();
    let entries = list_runs(store.path()).unwrap();
    let readable: Vec<_> = entries.iter().map(|entry| entry.run.is_ok()).collect();
    assert_eq!(readable, [true, true, false]);
}
