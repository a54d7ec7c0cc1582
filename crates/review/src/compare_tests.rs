//! Comparisons of stored runs: verdicts, refusals, notes.

use serde_json::{Value, json};
use tempfile::TempDir;
use tenpass_bench::store::Run;
use tenpass_report::{Role, RunComparison};

use crate::compare_fixture::{CASES, Draft, configuration};
use crate::{CompareOptions, DIMENSIONS, ReviewError, Side, compare};

fn whole(run: &Run) -> Side<'_> {
    Side { run, configuration: None }
}

fn allowing(names: &[&str]) -> CompareOptions {
    CompareOptions { allow: names.iter().map(|name| (*name).to_owned()).collect(), ..CompareOptions::default() }
}

/// Compares two drafts in a store of their own.
fn drafts(before: Draft, after: Draft, options: &CompareOptions) -> Result<RunComparison, ReviewError> {
    let store = TempDir::new().unwrap();
    let before = before.write(store.path(), "20261130-220012-aaaa");
    let after = after.write(store.path(), "20261201-220031-bbbb");
    compare(whole(&before), whole(&after), options)
}

type Change = fn(&mut Draft);

/// One change for every dimension, with what the two values must show.
const CHANGES: [(&str, Change, [&str; 2]); 17] = [
    (
        "model",
        |draft| draft.configuration()["model"]["digest"] = "sha256:bbbbbbbbbbbbbbbbbbbb".into(),
        ["weights aaaaaaaaaaaa", "weights bbbbbbbbbbbb"],
    ),
    ("structure", |draft| draft.configuration()["structure"] = "grammar".into(), ["native", "grammar"]),
    ("tools", |draft| draft.configuration()["selection"] = "router".into(), ["all", "router"]),
    ("memory", |draft| draft.configuration()["memory"] = "off".into(), ["recent", "off"]),
    (
        "prompt",
        |draft| {
            for case in &mut draft.cases {
                case["messages"][0]["content"] = "You are a helpful assistant. You must use tools.".into();
            }
        },
        ["You may use", "You must use"],
    ),
    (
        "tool-definitions",
        |draft| {
            for case in &mut draft.cases {
                case["tools"][0]["description"] = "".into();
            }
        },
        ["lamp: description “Switches", "lamp: description (empty)"],
    ),
    (
        "sampling",
        |draft| draft.configuration()["options"]["temperature"] = json!(0.7),
        ["temperature 0.3", "temperature 0.7"],
    ),
    ("think", |draft| draft.configuration()["think"] = "high".into(), ["off", "high"]),
    ("context", |draft| draft.configuration()["options"]["context"] = json!(4096), ["2048 tokens", "4096 tokens"]),
    ("stream", |draft| draft.configuration()["stream"] = json!(false), ["streamed", "whole"]),
    ("timeout", |draft| draft.manifest["timeout_ms"] = json!(30_000), ["120 s", "30 s"]),
    ("program", |draft| draft.manifest["sessions"][0]["program"] = "0.2.0".into(), ["0.1.0", "0.2.0"]),
    ("runtime", |draft| draft.configuration()["model"]["runtime"] = "other 2".into(), ["engine 0.1.0", "other 2"]),
    (
        "passes",
        |draft| {
            draft.manifest["passes"] = json!(8);
            draft.written = 8;
        },
        ["10", "8"],
    ),
    ("cases", |draft| drop(draft.cases.pop()), ["20 cases, 1 of them", "19 cases, 0 of them"]),
    ("expectations", |draft| draft.cases[3]["expect"] = json!({ "no_call": true }), ["alternatives", "no_call"]),
    ("grader", |draft| draft.manifest["grader"] = "4".into(), ["3", "4"]),
];

#[test]
fn every_dimension_is_tested() {
    assert_eq!(CHANGES.map(|change| change.0), DIMENSIONS);
}

#[test]
fn one_difference_is_the_variable_under_test() {
    for (name, change, [before, after]) in CHANGES {
        let found = drafts(Draft::new(5), Draft::new(5).with(change), &CompareOptions::default());
        let under_test = match found {
            Ok(found) if name == "passes" => {
                assert!(found.under_test.is_empty(), "passes are no variable: {found:?}");
                found.allowed
            }
            Ok(found) => found.under_test,
            Err(ReviewError::SeveralDifferences { differences, allow, .. }) => {
                assert!(["cases", "expectations", "grader"].contains(&name), "{name} was refused");
                assert_eq!(allow, [name]);
                differences
            }
            Err(error) => panic!("{name}: {error}"),
        };
        assert_eq!(under_test.len(), 1, "{name}: {under_test:?}");
        assert_eq!(under_test[0].name, name);
        assert!(under_test[0].before.contains(before), "{name}: {under_test:?}");
        assert!(under_test[0].after.contains(after), "{name}: {under_test:?}");
    }
}

#[test]
fn a_second_difference_is_refused_until_it_is_allowed() {
    for (name, change, [before, after]) in CHANGES.into_iter().filter(|change| change.0 != "passes") {
        let other = if name == "prompt" { CHANGES[1] } else { CHANGES[4] };
        let two = || Draft::new(5).with(other.1).with(change);
        let error = drafts(Draft::new(5), two(), &CompareOptions::default()).unwrap_err();
        let text = error.to_string();
        for word in [name, before, after, other.0] {
            assert!(text.contains(word), "{name}: {word} is missing in {text}");
        }
        assert!(error.hint().contains("--allow "), "{}", error.hint());
        let found = drafts(Draft::new(5), two(), &allowing(&[name])).unwrap();
        assert_eq!(found.under_test[0].name, other.0, "{name}");
        assert_eq!(found.allowed[0].name, name);
        let told = found.notes.iter().any(|note| note.contains("may be what moved"));
        assert_eq!(told, name != "cases", "{name}: {:?}", found.notes);
    }
}

/// A merged run may have other passes than the baseline: the intervals know, and nothing has to be allowed.
#[test]
fn another_number_of_passes_is_no_second_difference() {
    let fewer = CHANGES.into_iter().find(|change| change.0 == "passes").unwrap().1;
    let sampling = CHANGES.into_iter().find(|change| change.0 == "sampling").unwrap().1;
    let found = drafts(Draft::new(5), Draft::new(5).with(fewer).with(sampling), &CompareOptions::default()).unwrap();
    let names = |all: &[tenpass_report::Difference]| all.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    assert_eq!((names(&found.under_test), names(&found.allowed)), (vec!["sampling".into()], vec!["passes".into()]));
}

#[test]
fn everything_can_be_allowed_and_is_then_said_to_be_mixed() {
    let two = Draft::new(5).with(CHANGES[4].1).with(CHANGES[6].1);
    let found = drafts(Draft::new(5), two, &allowing(&["all"])).unwrap();
    let names: Vec<&str> = found.under_test.iter().map(|difference| difference.name.as_str()).collect();
    assert_eq!(names, ["prompt", "sampling"]);
    assert!(found.notes.iter().any(|note| note.contains("cannot be told")), "{:?}", found.notes);
}

#[test]
fn what_follows_from_another_model_is_no_second_difference() {
    let other = |draft: &mut Draft| {
        let configuration = draft.configuration();
        configuration["model"]["name"] = "smollm2-360m".into();
        configuration["model"]["context"] = json!(8192);
        configuration["structure"] = "grammar".into();
    };
    let found = drafts(Draft::new(5), Draft::new(5).with(other), &CompareOptions::default()).unwrap();
    assert_eq!(found.under_test.len(), 1);
    let besides: Vec<&str> = found.allowed.iter().map(|difference| difference.name.as_str()).collect();
    assert_eq!((found.under_test[0].name.as_str(), besides), ("model", vec!["structure", "context"]));
    // A structure that was typed is the user's own doing.
    let typed = |draft: &mut Draft| draft.configuration()["arguments"]["passed"]["structure"] = "grammar".into();
    let error = drafts(Draft::new(5), Draft::new(5).with(other).with(typed), &CompareOptions::default()).unwrap_err();
    assert!(matches!(error, ReviewError::SeveralDifferences { allow, .. } if allow == ["structure"]));
}

#[test]
fn a_name_that_is_no_difference_is_a_mistake() {
    let error = drafts(Draft::new(5), Draft::new(5), &allowing(&["promt"])).unwrap_err();
    assert_eq!(
        (error.to_string(), error.hint()),
        ("`promt` is nothing that could differ".to_owned(), "did you mean `prompt`?".to_owned())
    );
}

#[test]
fn a_gain_and_a_loss_between_stored_runs() {
    let changed = |succeed| Draft::new(succeed).with(CHANGES[4].1);
    let gain = drafts(Draft::new(3), changed(8), &CompareOptions::default()).unwrap();
    assert_eq!((gain.verdict.as_str(), gain.cases.len()), ("REAL", CASES));
    assert_eq!((gain.before.rate.passed, gain.after.rate.passed, gain.before.rate.total), (60, 160, 200));
    assert!(
        (gain.delta.estimate - 0.5).abs() < 1e-12
            && gain.cases.iter().filter(|case| case.role == Role::Guard).count() == 4
    );
    assert_eq!(gain.measures.len(), 4, "{:?}", gain.measures);
    let loss = drafts(Draft::new(8), changed(3), &CompareOptions::default()).unwrap();
    assert!(loss.regressed);
    assert!((loss.delta.low + gain.delta.high).abs() < 1e-9 && (loss.delta.p - gain.delta.p).abs() < 1e-12);
}

#[test]
fn equal_manifests_are_an_a_a_comparison() {
    let found = drafts(Draft::new(5), Draft::new(5), &CompareOptions::default()).unwrap();
    assert!(found.under_test.is_empty() && found.verdict != "REAL" && !found.regressed);
    assert!(found.notes.iter().any(|note| note.contains("A/A")), "{:?}", found.notes);
    assert!(found.notes.iter().any(|note| note.contains("seeds from 7")), "{:?}", found.notes);
    assert!(found.measures.iter().all(|measure| measure.comparable));
}

fn two_configurations() -> Draft {
    Draft::new(5).with(|draft| {
        let mut other = configuration("smollm2 grammar");
        other["structure"] = "grammar".into();
        draft.manifest["configurations"].as_array_mut().unwrap().push(other);
    })
}

#[test]
fn configurations_of_one_run_were_measured_together() {
    let store = TempDir::new().unwrap();
    let run = two_configurations().write(store.path(), "20261130-220012-aaaa");
    let side = |configuration| Side { run: &run, configuration };
    let found = compare(side(Some("smollm2")), side(Some("smollm2 grammar")), &CompareOptions::default()).unwrap();
    assert!(found.measured_together && !found.notes.iter().any(|note| note.contains("afresh")));
    assert_eq!(found.under_test[0].name, "structure");
    // Two of one embedded engine: the second reads prompts from the first's cache.
    assert!(found.measures.iter().all(|measure| measure.comparable == measure.measure.ends_with("tokens")));
    assert!(found.notes.iter().any(|note| note.contains("share its prompt cache")), "{:?}", found.notes);
    let error = compare(side(None), side(Some("smollm2")), &CompareOptions::default()).unwrap_err();
    assert!(error.to_string().contains("smollm2, smollm2 grammar"), "{error}");
    let itself = compare(side(Some("smollm2")), side(Some("smollm2")), &CompareOptions::default()).unwrap();
    assert!(itself.reasons[0].contains("the same passes") && itself.passes_needed.is_none(), "{:?}", itself.reasons);
}

#[test]
fn targets_and_guards_are_named_by_patterns() {
    let named = |targets: &[&str], guards: &[&str]| {
        let owned = |patterns: &[&str]| patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        CompareOptions { targets: owned(targets), guards: owned(guards), ..CompareOptions::default() }
    };
    let with = |options: &CompareOptions| drafts(Draft::new(5), Draft::new(5).with(CHANGES[4].1), options);
    let found = with(&named(&["lamp-0*"], &["lamp-15", "lamp-16"])).unwrap();
    let count = |role| found.cases.iter().filter(|case| case.role == role).count();
    assert_eq!((count(Role::Target), count(Role::Guard), count(Role::Other)), (10, 2, 8));
    assert!(found.targets_named && found.delta.cases == 10);
    // Only targets named: guards are those of their kind that are not among them.
    let found = with(&named(&["lamp-0*"], &[])).unwrap();
    assert_eq!(found.guards.unwrap().cases, 2);

    let error = with(&named(&["lmp-0*"], &[])).unwrap_err();
    assert_eq!(error.to_string(), "no case that both sides have matches the target `lmp-0*`");
    assert!(error.hint().contains("lamp-0"), "{}", error.hint());
    let error = with(&named(&["lamp-0*"], &["*-09"])).unwrap_err();
    assert_eq!(error.to_string(), "case lamp-09 is named as a target and as a guard");
}

#[test]
fn runs_that_have_nothing_in_common_are_refused() {
    let other_bench = Draft::new(5).with(|draft| draft.manifest["bench"] = "rounds".into());
    let error = drafts(Draft::new(5), other_bench, &CompareOptions::default()).unwrap_err();
    assert!(matches!(error, ReviewError::OtherBench { .. }), "{error}");
    let strangers = Draft::new(5).with(|draft| {
        for case in &mut draft.cases {
            case["id"] = format!("other-{}", case["id"].as_str().unwrap()).into();
        }
    });
    let error = drafts(Draft::new(5), strangers, &allowing(&["all"])).unwrap_err();
    assert!(error.to_string().contains("no scored case in common"), "{error}");
    let empty = Draft::new(5).with(|draft| draft.written = 0);
    let error = drafts(empty, Draft::new(5), &CompareOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "20261130-220012-aaaa has no scored pass of smollm2");
}

#[test]
fn an_unfinished_run_is_compared_as_far_as_it_is() {
    let unfinished = Draft::new(5).with(|draft| {
        draft.written = 6;
        draft.manifest["sessions"][0]["state"] = "interrupted".into();
    });
    let found = drafts(Draft::new(5), unfinished, &CompareOptions::default()).unwrap();
    assert_eq!((found.after.rate.total, found.after.facts.planned_passes), (120, 200));
    for note in ["after was interrupted", "after: 120 of 200 passes have run"] {
        assert!(found.notes.iter().any(|known| known.starts_with(note)), "{note}: {:?}", found.notes);
    }
}

#[test]
fn other_machines_revisions_and_jobs_are_told() {
    let elsewhere = Draft::new(5).with(|draft| {
        draft.manifest["sessions"][0]["host"]["cpu"] = "Other CPU".into();
        draft.manifest["sessions"][0]["git"]["dirty"] = json!(true);
    });
    let found = drafts(Draft::new(5), elsewhere, &CompareOptions::default()).unwrap();
    assert!(found.measures.iter().all(|measure| measure.comparable == measure.measure.ends_with("tokens")));
    for note in ["different machines", "revision 0123456789 before and 0123456789 with changes after"] {
        assert!(found.notes.iter().any(|known| known.contains(note)), "{note}: {:?}", found.notes);
    }
    let more_jobs = Draft::new(5).with(|draft| draft.configuration()["jobs"] = json!(4));
    let found = drafts(Draft::new(5), more_jobs, &CompareOptions::default()).unwrap();
    assert!(found.under_test.is_empty() && !found.measures[0].comparable);
    assert!(found.notes.iter().any(|note| note.contains("1 passes were in flight before and 4 after")));
}

#[test]
fn a_re_grade_with_other_cases_is_another_expectation() {
    let regraded = |cases: &str| {
        let regraded: Value = json!({ "at": "2026-12-01T00:00:00.000Z", "cases": cases });
        Draft::new(5).with(|draft| draft.manifest["regraded"] = regraded)
    };
    assert!(drafts(Draft::new(5), regraded("c"), &CompareOptions::default()).is_ok());
    let error = drafts(Draft::new(5), regraded("other"), &CompareOptions::default()).unwrap_err();
    assert!(matches!(error, ReviewError::SeveralDifferences { allow, .. } if allow == ["expectations"]));
}

#[test]
fn what_an_imported_run_does_not_tell_is_no_difference() {
    let imported = Draft::new(5).with(|draft| {
        draft.configuration()["options"]["temperature"] = json!(0.0);
        draft.configuration()["unknown"] = json!(["temperature"]);
    });
    let found = drafts(Draft::new(5), imported, &CompareOptions::default()).unwrap();
    assert!(found.under_test.is_empty() && found.after.facts.temperature.is_none());
    assert!(found.notes.iter().any(|note| note.contains("does not tell: temperature")), "{:?}", found.notes);
}

#[test]
fn a_run_that_stopped_early_says_that_its_rates_are_biased() {
    let early = json!({ "gate": 8, "saved": 80, "closed": [{ "case": "lamp-03", "passes": 8 }] });
    let stopped = || {
        Draft::new(5).with(|draft| {
            draft.manifest["early_stop"] = early.clone();
            draft.written = 6;
        })
    };
    let found = drafts(Draft::new(5), stopped(), &CompareOptions::default()).unwrap();
    let note = |start: &str| found.notes.iter().any(|note| note.starts_with(start));
    assert!(note("after: stopped early") && !note("after: 120 of"), "{:?}", found.notes);
}

#[test]
fn looks_during_the_run_leave_less_for_the_test_at_its_end() {
    let with = |decided: Value| {
        let store = TempDir::new().unwrap();
        let early = json!({ "gate": 8, "during": 0.01, "end": 0.04, "decided": decided });
        let mut draft = two_configurations().with(|draft| draft.manifest["early_stop"] = early);
        draft.cases.truncate(10);
        // Five cases from 5 to 8 of ten, five that stay: p = 0.045.
        draft.succeed = Box::new(|case, configuration| if case < 5 { 5 + 3 * configuration as u64 } else { 6 });
        let run = draft.write(store.path(), "20261130-220012-aaaa");
        let side = |configuration| Side { run: &run, configuration: Some(configuration) };
        compare(side("smollm2"), side("smollm2 grammar"), &CompareOptions::default()).unwrap()
    };
    let decided =
        json!([{ "configuration": "smollm2 grammar", "e_value": 120.0, "better": 9, "worse": 0, "passes": 6 }]);
    let (decided, open) = (with(decided), with(json!([])));
    assert!((open.delta.p - 0.0451).abs() < 0.0001, "{}", open.delta.p);
    assert_eq!((decided.verdict.as_str(), open.verdict.as_str()), ("REAL", "INCONCLUSIVE"));
    assert!(open.passes_needed.is_some() && open.reasons[0].contains("at the 4 %"), "{:?}", open.reasons);
    assert!(decided.notes.iter().any(|note| note.contains("was decided after 6 of 10 passes")));
}

#[test]
fn a_run_that_measured_its_baseline_afresh_passes_on_what_it_knows() {
    let store = TempDir::new().unwrap();
    let against =
        json!({ "expectations_changed": ["lamp-03"], "only_after": ["lamp-77"], "notes": ["a word of care"] });
    let run = two_configurations().with(|draft| draft.manifest["against"] = against);
    let run = run.write(store.path(), "20261130-220012-aaaa");
    let side = |configuration| Side { run: &run, configuration: Some(configuration) };
    let found = compare(side("smollm2"), side("smollm2 grammar"), &CompareOptions::default()).unwrap();
    for note in ["a word of care", "(lamp-03) changed in what must happen", "(lamp-77) left out"] {
        assert!(found.notes.iter().any(|known| known.contains(note)), "{note}: {:?}", found.notes);
    }
}
