use tenpass_stats::Tally;

use super::*;

fn plan() -> Plan {
    Plan {
        profile: None,
        passes: 10,
        filter: Vec::new(),
        delta_micros: 50_000,
        steps: vec![("tools".into(), Some("replay:x".into()))],
    }
}

/// A night in which each case had so many of ten right.
fn night(id: &str, cases: &[(&str, u32)]) -> Night {
    let mut night = Night::new(id.into(), plan(), 1, format!("{id}T03:00:00Z"));
    let cases: Vec<CaseCount> = cases
        .iter()
        .map(|(case, passed)| CaseCount {
            case: (*case).into(),
            kind: "guard".into(),
            digest: "d".into(),
            passed: *passed,
            total: 10,
            invalid: 0,
            effective: 10,
        })
        .collect();
    let passed: u64 = cases.iter().map(|case| u64::from(case.passed)).sum();
    night.steps[0].state = StepState::Done {
        result: Box::new(BenchResult {
            run: Some("20261130-030000-aaaa".into()),
            passed,
            total: 10 * cases.len() as u64,
            invalid: 0,
            cases,
            comparison: None,
            again: Some(Repeatability { delta: 0.02, standard_error: 0.01 }),
            gate_failed: None,
            notes: Vec::new(),
        }),
    };
    night.state = NightState::Done;
    night
}

fn broken(nights: &[Night]) -> Vec<Broken> {
    first_broken(nights, "tools", Some("replay:x"))
}

#[test]
fn the_case_that_broke_first_is_named_with_its_night() {
    let nights = [
        night("2026-11-20", &[("a", 10), ("b", 9), ("c", 5)]),
        night("2026-11-21", &[("a", 9), ("b", 10), ("c", 6)]),
        night("2026-11-22", &[("a", 10), ("b", 1), ("c", 4)]),
        night("2026-11-23", &[("a", 10), ("b", 0), ("c", 6)]),
        night("2026-11-24", &[("a", 1), ("b", 1), ("c", 5)]),
        night("2026-11-25", &[("a", 0), ("b", 0), ("c", 6)]),
    ];
    let found = broken(&nights);
    let named: Vec<_> =
        found.iter().map(|broken| (broken.case.as_str(), broken.since.as_str(), broken.until.as_str())).collect();
    assert_eq!(named, [("b", "2026-11-22", "2026-11-21"), ("a", "2026-11-24", "2026-11-23")]);
    assert_eq!(found[0].before, Tally::new(19, 1));
    assert_eq!(found[0].after, Tally::new(2, 38));
    let text = markdown(&nights[5], &nights);
    assert!(
        text.contains("First to break: `b`, on the night of 2026-11-22** (19 of 20 up to 2026-11-21, 2 of 40 since"),
        "{text}"
    );
}

#[test]
fn the_line_of_a_step_names_what_is_worse_and_what_is_under_test() {
    let mut nights = [night("2026-11-20", &[("a", 10)])];
    let StepState::Done { result } = &mut nights[0].steps[0].state else { panic!("not done") };
    result.comparison = Some(Found {
        baseline: "20261101-030000-aaaa".into(),
        verdict: "REAL".into(),
        regressed: false,
        delta: 0.25,
        low: 0.2,
        high: 0.3,
        passes_needed: None,
        worse: vec!["fell".into()],
        under_test: vec!["sampling: temperature 0.3 → temperature 0.9".into()],
    });
    let line = one_line(&nights[0].steps[0]);
    assert!(line.contains("REAL; proven worse: fell, Δ +25.0 points"), "{line}");
    assert!(line.contains("; under test: sampling: temperature 0.3 → temperature 0.9; 10 of 10 right"), "{line}");
    let text = markdown(&nights[0], &nights);
    assert!(text.contains("under test: sampling") && text.contains("over 1 night."), "{text}");
    assert!(text.contains("chart has 1 night;") || !text.contains("chart has"), "{text}");
}

#[test]
fn one_bad_night_among_steady_ones_is_not_yet_a_break() {
    let nights: Vec<Night> = (1..=9)
        .map(|day| night(&format!("2026-11-0{day}"), &[("a", if day == 9 { 6 } else { 8 }), ("b", 7), ("c", 9)]))
        .collect();
    assert_eq!(broken(&nights), Vec::new());
}

#[test]
fn a_case_that_recovered_is_not_broken_and_a_changed_one_begins_anew() {
    let mut nights = vec![
        night("2026-11-20", &[("a", 10), ("b", 10)]),
        night("2026-11-21", &[("a", 10), ("b", 10)]),
        night("2026-11-22", &[("a", 0), ("b", 0)]),
        night("2026-11-23", &[("a", 10), ("b", 0)]),
        night("2026-11-24", &[("a", 10), ("b", 0)]),
    ];
    assert_eq!(broken(&nights).iter().map(|broken| broken.case.as_str()).collect::<Vec<_>>(), ["b"]);
    for night in &mut nights[2..] {
        let StepState::Done { result } = &mut night.steps[0].state else { panic!("not done") };
        result.cases[1].digest = "another".into();
    }
    assert_eq!(broken(&nights), Vec::new());
}

#[test]
fn another_blessing_begins_a_new_history() {
    let mut nights: Vec<Night> = [10, 10, 0, 0]
        .iter()
        .zip(20..)
        .map(|(passed, day)| night(&format!("2026-11-{day}"), &[("a", *passed)]))
        .collect();
    assert_eq!(broken(&nights).len(), 1);
    let bless = |night: &mut Night, run: &str| {
        let StepState::Done { result } = &mut night.steps[0].state else { panic!("not done") };
        result.comparison = Some(Found {
            baseline: run.into(),
            verdict: "INCONCLUSIVE".into(),
            regressed: false,
            delta: 0.0,
            low: -0.1,
            high: 0.1,
            passes_needed: None,
            worse: Vec::new(),
            under_test: Vec::new(),
        });
    };
    for night in &mut nights {
        bless(night, "20261120-030000-aaaa");
    }
    assert_eq!(broken(&nights).len(), 1);
    for night in &mut nights[2..] {
        bless(night, "20261122-030000-bbbb");
    }
    assert_eq!(broken(&nights), Vec::new());
}

#[test]
fn repeated_outputs_count_as_one_observation() {
    let count = CaseCount {
        case: "a".into(),
        kind: "guard".into(),
        digest: String::new(),
        passed: 10,
        total: 10,
        invalid: 0,
        effective: 1,
    };
    assert_eq!(count.tally(), Tally::new(1, 0));
}

#[test]
fn noise_is_held_against_what_passes_explain() {
    let nights = [night("2026-11-20", &[("a", 5)]), night("2026-11-21", &[("a", 5)])];
    let noise = noise(&nights, "tools", Some("replay:x")).unwrap();
    assert_eq!((noise.nights, noise.ratio()), (2, Some(2.0)));
}

#[test]
fn two_nights_do_not_overlap_and_one_that_stopped_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let nights = Nights::new(folder.path().join("nights"));
    let lock = nights.lock().unwrap();
    let error = nights.lock().unwrap_err();
    assert!(
        error.to_string().starts_with(&format!("another night is running: process {} since 20", std::process::id())),
        "{error}"
    );
    let mut first = nights.create("2026-11-30", plan(), 7, "2026-11-30T03:00:00Z".into()).unwrap();
    first.steps[0].state = StepState::Running { run: Some("20261130-030000-aaaa".into()) };
    nights.save(&first).unwrap();
    drop(lock);
    let _lock = nights.lock().unwrap();
    assert_eq!(nights.unfinished(&plan()).unwrap(), Some(first.clone()));
    let other = Plan { passes: 3, ..plan() };
    assert_eq!(nights.unfinished(&other).unwrap(), None);
    first.state = NightState::Done;
    nights.save(&first).unwrap();
    assert_eq!(nights.unfinished(&plan()).unwrap(), None);
    let second = nights.create("2026-11-30", plan(), 8, "2026-11-30T04:00:00Z".into()).unwrap();
    assert_eq!(second.id, "2026-11-30-2");
    let ids: Vec<String> = nights.all().unwrap().into_iter().map(|night| night.id).collect();
    assert_eq!(ids, ["2026-11-30", "2026-11-30-2"]);
}

#[test]
fn a_damaged_or_newer_night_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let nights = Nights::new(folder.path());
    let night = nights.create("2026-11-30", plan(), 7, "2026-11-30T03:00:00Z".into()).unwrap();
    let path = nights.write(&night.id, "night.json", b"{\"version\": 1, ").unwrap();
    let error = nights.all().unwrap_err().to_string();
    assert!(error.starts_with(&path.display().to_string()) && error.contains("line 1"), "{error}");
    nights.write(&night.id, "night.json", b"{\"version\": 99}").unwrap();
    assert!(nights.all().unwrap_err().to_string().ends_with("version 99 is newer than 1"));
}

#[test]
fn units_survive_blanks_and_percent_signs() {
    let arguments = ["--profile".to_owned(), "50% off".to_owned()];
    let [(_, service), (name, timer)] =
        units(&Unit { program: "/opt/my tools/tenpass", arguments: &arguments, folder: "/home/a b" });
    assert!(service.contains("\nExecStart=\"/opt/my tools/tenpass\" nightly --profile \"50%% off\"\n"), "{service}");
    assert!(service.contains("\nWorkingDirectory=/home/a b\n"), "{service}");
    assert!(name == "tenpass-nightly.timer" && timer.contains("\nOnCalendar="), "{timer}");
}
