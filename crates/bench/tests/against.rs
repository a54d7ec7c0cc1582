//! A baseline measured beside a candidate, in one run: its own tools and prompts, its own seeds where it is
//! a copy, and everything a run can do with that.

// The lint's exception for tests does not cover their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::*;
use tenpass_bench::cases::Case;
use tenpass_bench::run::{Beside, Configuration, RunEvent, RunOptions, RunPlan, execute, find_same, salted_seed};
use tenpass_bench::store::{Comparing, PassFilter, RunState, merge, open_run, regrade};
use tokio_util::sync::CancellationToken;

/// The cases as they were: another system prompt, and the tool under its old name.
fn before(count: usize) -> Vec<Case> {
    let text = serde_json::to_string(&cases(count)).unwrap();
    let text = text.replace("Switches the lamp.", "An old description.").replace("You switch lamps.", "Be quick.");
    serde_json::from_str(&text).unwrap()
}

/// Answers only whoever was told to be quick, and by seed.
fn model() -> Arc<FakeModel> {
    Arc::new(FakeModel::new("m", |request, _| {
        let quick = request.messages[0].content.starts_with("Be quick.");
        let seed = request.options.seed;
        let answer = if quick && !seed.is_multiple_of(4) { right_answer() } else { answer_by_seed(seed) };
        Script::Events(answer)
    }))
}

fn beside_plan(count: usize, passes: u32) -> RunPlan {
    let beside = Beside::new(&before(count), &cases(count), |_| true, Comparing::default());
    let mut baseline = configuration(model(), 4);
    "baseline m".clone_into(&mut baseline.id);
    baseline.cases.clone_from(&beside.baseline_cases);
    let mut plan = plan(0, passes, vec![baseline, configuration(model(), 4)]);
    plan.cases = beside.cases;
    plan.against = Some(beside.against);
    plan
}

#[test]
fn the_baseline_keeps_tools_and_prompts_and_gets_the_questions_and_expectations_of_today() {
    let mut stored = before(4);
    stored[1].messages[1].content = "another question".to_owned();
    stored[2].expect.no_call = true;
    stored[2].expect.alternatives.clear();
    stored.remove(3);
    stored.push(Case { id: "gone".to_owned(), ..stored[0].clone() });
    let today = cases(4);
    let beside = Beside::new(&stored, &today, |_| true, Comparing::default());
    let against = &beside.against;
    assert_eq!((&against.only_before, &against.only_after), (&vec!["gone".to_owned()], &vec!["case-3".to_owned()]));
    assert_eq!(against.questions_changed, ["case-1"]);
    assert_eq!(against.expectations_changed, ["case-2"]);
    assert_eq!(beside.cases, today[..3]);
    let baseline = beside.baseline_cases.unwrap();
    for (own, case) in baseline.iter().zip(&today) {
        assert_eq!((&own.id, &own.expect, own.kind), (&case.id, &case.expect, case.kind));
        assert_eq!(own.messages[0].content, "Be quick.");
        assert_eq!(own.messages[1], case.messages[1]);
        assert_eq!(own.tools[0].description, "An old description.");
    }
    let sentences = against.sentences();
    assert!(sentences[0].starts_with("1 case (gone) left out") && sentences.len() == 4, "{sentences:?}");
    // Filters hold for both sides, and equal cases are kept once.
    let few = Beside::new(&today, &today, |case| case.id == "case-2", Comparing::default());
    assert_eq!((few.cases.len(), few.baseline_cases, few.against.sentences().len()), (1, None, 0));
}

#[tokio::test]
async fn each_configuration_meets_its_own_version_of_a_case() {
    let store = tempfile::tempdir().unwrap();
    let outcome = run(beside_plan(3, 6), options(store.path())).await.unwrap();
    assert_eq!((outcome.state, outcome.done), (RunState::Complete, 36));
    let opened = open_run(store.path(), &outcome.run).unwrap();
    assert_eq!(opened.cases().unwrap(), cases(3));
    assert_eq!(opened.cases_of("m").unwrap(), cases(3));
    assert_eq!(
        opened.cases_of("baseline m").unwrap(),
        beside_plan(3, 6).configurations[0].cases.clone().unwrap().to_vec()
    );
    assert!(opened.directory().join("cases.1.jsonl").is_file());
    let records = &opened.manifest().configurations;
    assert_eq!((records[0].cases.as_deref(), records[1].cases.as_deref()), (Some("cases.1.jsonl"), None));
    let digests = records[0].digests.clone().unwrap();
    assert!(digests.tools != opened.manifest().digests.tools && digests.prompts != opened.manifest().digests.prompts);
    for detail in details(store.path(), &outcome.run) {
        let request = opened.request(&detail.pass.request).unwrap().unwrap();
        let is_baseline = detail.pass.configuration == "baseline m";
        assert_eq!(request.request.messages[0].content.starts_with("Be quick."), is_baseline);
        let sent = serde_json::to_string(&request.request).unwrap();
        assert_eq!(sent.contains("An old description."), is_baseline, "{sent}");
    }
    // Graded again with the tools that each was offered.
    let report = regrade(&opened, None).unwrap();
    assert_eq!((report.graded, report.changed), (36, 0));
    assert_eq!(opened.case_of("baseline m", "case-1").unwrap().messages[0].content, "Be quick.");
}

#[tokio::test]
async fn a_run_with_two_versions_of_its_cases_is_resumed_and_merged_like_any_other() {
    let calm = tempfile::tempdir().unwrap();
    let whole = run(beside_plan(5, 3), options(calm.path())).await.unwrap();
    let expected = measured(calm.path(), &whole.run);
    for after in [1, 9, 20] {
        let store = tempfile::tempdir().unwrap();
        let (seen, cancel) = (AtomicUsize::new(0), CancellationToken::new());
        let sink = |event: &RunEvent| {
            if matches!(event, RunEvent::PassFinished { .. }) && seen.fetch_add(1, Ordering::SeqCst) + 1 == after {
                cancel.cancel();
            }
        };
        let first = execute(beside_plan(5, 3), options(store.path()), &sink, cancel.clone()).await.unwrap();
        // The grades of the last passes are lost, too.
        let outcomes = store.path().join(&first.run).join("outcomes.jsonl");
        let text = fs::read_to_string(&outcomes).unwrap();
        fs::write(&outcomes, text.split_inclusive('\n').take(after / 2).collect::<String>()).unwrap();
        let opened = open_run(store.path(), &first.run).unwrap();
        // A plan made from the run has no cases of its own.
        let again = RunPlan::of_run(&opened, beside_plan(5, 3).configurations.into_iter().map(without_cases).collect());
        let resume = RunOptions { resume: Some(first.run.clone()), ..options(store.path()) };
        let second = run(again, resume).await.unwrap();
        assert_eq!(second.state, RunState::Complete);
        assert_eq!(measured(store.path(), &first.run), expected, "after {after}");
        assert_eq!(open_run(store.path(), &first.run).unwrap().manifest().against, beside_plan(5, 3).against);
    }
    let store = tempfile::tempdir().unwrap();
    let mut parts = Vec::new();
    for part in ["1/2", "2/2"] {
        let plan = RunPlan { partition: Some(part.parse().unwrap()), ..beside_plan(5, 3) };
        parts.push(open_run(store.path(), &run(plan, options(store.path())).await.unwrap().run).unwrap());
    }
    let merged = merge(store.path(), &parts).unwrap();
    assert_eq!(measured(store.path(), merged.id()), expected);
    let original = open_run(calm.path(), &whole.run).unwrap();
    assert_eq!(merged.cases_of("baseline m").unwrap(), original.cases_of("baseline m").unwrap());
    assert_eq!(merged.manifest().configurations, original.manifest().configurations);
}

fn without_cases(configuration: Configuration) -> Configuration {
    Configuration { cases: None, ..configuration }
}

#[tokio::test]
async fn other_cases_than_the_run_has_are_refused() {
    let store = tempfile::tempdir().unwrap();
    let mut plan = beside_plan(3, 1);
    plan.configurations[0].cases = Some(before(2).into());
    let error = run(plan, options(store.path())).await.unwrap_err();
    assert_eq!(error.to_string(), "nothing to run: `baseline m` has other cases than the run");
    // And so is a file that was exchanged, or a name that leads elsewhere.
    let outcome = run(beside_plan(3, 1), options(store.path())).await.unwrap();
    let folder = store.path().join(&outcome.run);
    let own = fs::read_to_string(folder.join("cases.1.jsonl")).unwrap();
    fs::write(folder.join("cases.1.jsonl"), own.split_inclusive('\n').skip(1).collect::<String>()).unwrap();
    let opened = open_run(store.path(), &outcome.run).unwrap();
    let error = regrade(&opened, None).unwrap_err().to_string();
    assert!(error.contains("cases.1.jsonl:1: not the case that cases.jsonl has here"), "{error}");
    let manifest = fs::read_to_string(folder.join("manifest.json")).unwrap();
    fs::write(folder.join("manifest.json"), manifest.replace("cases.1.jsonl", "../cases.1.jsonl")).unwrap();
    let error = open_run(store.path(), &outcome.run).unwrap_err().to_string();
    assert!(error.ends_with("`../cases.1.jsonl` is no file of cases"), "{error}");
}

#[tokio::test]
async fn copies_of_a_configuration_meet_other_random_numbers() {
    let store = tempfile::tempdir().unwrap();
    let mut copy = configuration(Arc::new(FakeModel::by_seed("a")), 3);
    copy.id = "a #2".to_owned();
    copy.salt = 1;
    let plan = plan(2, 5, vec![configuration(Arc::new(FakeModel::by_seed("a")), 3), copy]);
    let outcome = run(plan, options(store.path())).await.unwrap();
    let mut seeds = BTreeSet::new();
    for detail in details(store.path(), &outcome.run) {
        let salt = u32::from(detail.pass.configuration == "a #2");
        assert_eq!(detail.pass.seed, salted_seed(7, salt, &detail.pass.case, detail.pass.pass));
        seeds.insert(detail.pass.seed);
    }
    assert_eq!(seeds.len(), 20);
    let salts: Vec<u32> =
        open_run(store.path(), "latest").unwrap().manifest().configurations.iter().map(|one| one.salt).collect();
    assert_eq!(salts, [0, 1]);
}

#[tokio::test]
async fn the_run_of_a_plan_is_found_again_when_it_is_exactly_that() {
    let store = tempfile::tempdir().unwrap();
    let part = |part: &str| RunPlan { partition: Some(part.parse().unwrap()), ..beside_plan(4, 2) };
    assert_eq!(find_same(&store.path().join("none"), &part("1/2"), true).unwrap(), None);
    let cancel = CancellationToken::new();
    let sink = |event: &RunEvent| {
        if matches!(event, RunEvent::PassFinished { .. }) {
            cancel.cancel();
        }
    };
    let unfinished = execute(part("1/2"), options(store.path()), &sink, cancel.clone()).await.unwrap();
    assert_eq!(unfinished.state, RunState::Interrupted);
    let found = |plan: &RunPlan, seeded| find_same(store.path(), plan, seeded).unwrap().map(|run| run.id().to_owned());
    assert_eq!(found(&part("1/2"), false), Some(unfinished.run.clone()));
    assert_eq!(found(&part("1/2"), true), Some(unfinished.run.clone()));
    assert_eq!(found(&part("2/2"), true), None, "another part");
    let other_seed = RunPlan { seed: 8, ..part("1/2") };
    assert_eq!((found(&other_seed, false), found(&other_seed, true)), (Some(unfinished.run.clone()), None));
    assert_eq!(found(&RunPlan { passes: 3, ..part("1/2") }, false), None);
    let mut other_cases = part("1/2");
    let mut own = other_cases.configurations[0].cases.clone().unwrap().to_vec();
    own[0].messages[0].content.push('!');
    other_cases.configurations[0].cases = Some(own.into());
    assert_eq!(found(&other_cases, false), None, "the baseline meets another prompt");

    let resume = RunOptions { resume: Some(unfinished.run.clone()), ..options(store.path()) };
    run(part("1/2"), resume).await.unwrap();
    assert_eq!(found(&part("1/2"), true), Some(unfinished.run), "complete, and the seed was asked for");
    assert_eq!(found(&part("1/2"), false), None, "complete: another seed is another run");
    let filter = PassFilter { configuration: Some("baseline m".to_owned()), ..PassFilter::default() };
    assert_eq!(open_run(store.path(), "latest").unwrap().passes(&filter).unwrap().len(), 4);
    assert!(Path::new(&open_run(store.path(), "latest").unwrap().directory().join("cases.1.jsonl")).is_file());
}
