//! Finding runs, blessing them, and what is confirmed of them.

use std::fs;

use serde_json::json;
use tenpass_bench::store::Run;

use crate::compare_fixture::{Draft, configuration};
use crate::{ReviewError, baseline_of, baselines, bless, compare_candidates, confirmation, find, find_run, told};

/// Two configurations; the second passes twice as often.
fn two() -> Draft {
    Draft::new(4).with(|draft| {
        let mut second = configuration("smollm2 text/short");
        second["structure"] = json!("text");
        draft.manifest["configurations"] = json!([configuration("smollm2"), second]);
        draft.succeed = Box::new(|_, place| if place == 0 { 4 } else { 8 });
    })
}

fn of_bench(bench: &str) -> Draft {
    Draft::new(5).with(|draft| draft.manifest["bench"] = bench.into())
}

fn id(found: Result<(Run, Option<String>), ReviewError>) -> (String, Option<String>) {
    let (run, configuration) = found.unwrap();
    (run.id().to_owned(), configuration)
}

#[test]
fn queries_name_runs_and_configurations() {
    let store = tempfile::tempdir().unwrap();
    two().write(store.path(), "20261130-220000-aaaa");
    of_bench("rounds").write(store.path(), "20261201-220000-bbbb");
    let found = |query: &str, bench| find(store.path(), query, bench);
    assert_eq!(id(found("latest", None)), ("20261201-220000-bbbb".into(), None));
    assert_eq!(id(found("latest", Some("tools"))), ("20261130-220000-aaaa".into(), None));
    assert_eq!(id(found("20261130", None)), ("20261130-220000-aaaa".into(), None));
    // Ids of configurations may have slashes and blanks; their beginning will do when it is theirs alone.
    for named in ["smollm2 text/short", "smollm2 t"] {
        let query = format!("20261130/{named}");
        assert_eq!(id(found(&query, None)), ("20261130-220000-aaaa".into(), Some("smollm2 text/short".into())));
    }
    assert_eq!(id(found("latest/smollm2", Some("tools"))).1.as_deref(), Some("smollm2"), "the whole name comes first");
    let refused = |query: &str, bench| found(query, bench).unwrap_err().to_string();
    assert_eq!(
        refused("20261130/qwen", None),
        "run 20261130-220000-aaaa has no configuration `qwen`; it has: smollm2, smollm2 text/short"
    );
    assert_eq!(refused("20261201", Some("tools")), "20261201-220000-bbbb is a run of bench rounds, not of bench tools");
    assert!(
        refused("latest", Some("wake")).starts_with("no run `latest of bench wake`"),
        "{}",
        refused("latest", Some("wake"))
    );
    assert!(refused("baseline", None).ends_with("has no baseline"));
    let error = find_run(store.path(), "20261130/smollm2").unwrap_err();
    assert_eq!(error.to_string(), "a whole run is needed here, not configuration `smollm2` of 20261130-220000-aaaa");
}

#[test]
fn configurations_have_numbers_and_copies_need_none() {
    let store = tempfile::tempdir().unwrap();
    two().write(store.path(), "20261130-220000-aaaa");
    let named = |query: &str| find(store.path(), query, None).map(|found| found.1);
    for query in ["latest/2", "latest/#2", "20261130/2"] {
        assert_eq!(named(query).unwrap().as_deref(), Some("smollm2 text/short"), "{query}");
    }
    assert!(named("latest/3").is_err() && named("latest/0").is_err());
    let error = named("latest/qwen").unwrap_err();
    assert!(error.hint().starts_with("write 20261130-220000-aaaa/smollm2, or"), "{}", error.hint());
    // An A/A run: the copy differs in name and salt alone, and the first stands for both.
    let copies = of_bench("rounds")
        .with(|draft| {
            let mut copy = configuration("smollm2 #2");
            copy["salt"] = json!(1);
            draft.manifest["configurations"] = json!([configuration("smollm2"), copy]);
        })
        .write(store.path(), "20261201-220000-bbbb");
    assert_eq!(bless(store.path(), &copies, None, "c").unwrap().configuration, "smollm2");
    assert_eq!(named("20261201/#2").unwrap().as_deref(), Some("smollm2 #2"));
}

#[test]
fn a_baseline_is_kept_for_each_bench_and_missed_when_it_is_gone() {
    let store = tempfile::tempdir().unwrap();
    let tools = two().write(store.path(), "20261130-220000-aaaa");
    let rounds = of_bench("rounds").write(store.path(), "20261201-220000-bbbb");
    let several = bless(store.path(), &tools, None, "c").unwrap_err();
    assert_eq!(several.to_string(), "run 20261130-220000-aaaa has 2 configurations: smollm2, smollm2 text/short");
    assert!(baselines(store.path()).unwrap().is_empty(), "a refusal changes nothing");

    bless(store.path(), &tools, Some("smollm2 text"), "tenpass runs bless latest").unwrap();
    let found = baseline_of(store.path(), None).unwrap();
    assert_eq!((found.run.id(), found.configuration.as_str()), ("20261130-220000-aaaa", "smollm2 text/short"));
    let blessing = baselines(store.path()).unwrap()["tools"].clone();
    assert_eq!(blessing.command, "tenpass runs bless latest");
    assert!(blessing.at.starts_with("20") && blessing.at.ends_with('Z'), "{}", blessing.at);

    bless(store.path(), &rounds, None, "c").unwrap();
    let error = baseline_of(store.path(), None).unwrap_err();
    assert_eq!(error.to_string(), "several benches have a baseline: rounds, tools");
    assert_eq!(id(find(store.path(), "baseline", Some("rounds"))).1.as_deref(), Some("smollm2"));
    assert_eq!(id(find(store.path(), "baseline/smollm2", Some("tools"))).1.as_deref(), Some("smollm2"));
    let error = baseline_of(store.path(), Some("wake")).unwrap_err();
    assert!(error.to_string().ends_with("has no baseline for bench wake"), "{error}");

    fs::remove_dir_all(rounds.directory()).unwrap();
    let error = baseline_of(store.path(), Some("rounds")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the baseline of bench rounds is run 20261201-220000-bbbb, which is no longer in"),
        "{error}"
    );
    // The other one does not suffer.
    baseline_of(store.path(), Some("tools")).unwrap();
    let names: Vec<_> = fs::read_dir(store.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().contains("partial")), "{names:?}");
}

#[test]
fn a_damaged_or_newer_file_of_baselines_is_named() {
    let store = tempfile::tempdir().unwrap();
    let path = store.path().join("baselines.json");
    for (text, reason) in [
        ("{", "EOF while parsing an object at line 1 column 1"),
        ("{\"version\":1}", "missing field `baselines` at line 1 column 13"),
        ("{\"version\":2,\"baselines\":{}}", "its version is 2, this program reads up to 1"),
    ] {
        fs::write(&path, text).unwrap();
        let error = baselines(store.path()).unwrap_err();
        assert_eq!(error.to_string(), format!("{} is not a file of baselines: {reason}", path.display()));
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn the_winner_is_confirmed_beside_what_it_won_against() {
    let store = tempfile::tempdir().unwrap();
    let run = two().write(store.path(), "20261130-220000-aaaa");
    let found = confirmation(&run, None).unwrap();
    assert_eq!((found.winner.as_str(), found.beside.as_str()), ("smollm2 text/short", "smollm2"));
    assert!((found.first_rate - 0.8).abs() < 1e-12);
    // The first configuration is confirmed beside the best of the others.
    let found = confirmation(&run, Some("smollm2")).unwrap();
    assert_eq!((found.winner.as_str(), found.beside.as_str()), ("smollm2", "smollm2 text/short"));
    let equal = two().with(|draft| draft.succeed = Box::new(|_, _| 6)).write(store.path(), "20261130-220001-cccc");
    assert_eq!(confirmation(&equal, None).unwrap().winner, "smollm2", "of equals the first");
    let alone = of_bench("tools").write(store.path(), "20261130-220002-dddd");
    let error = confirmation(&alone, None).unwrap_err();
    assert!(error.to_string().contains("there is no winner to confirm"), "{error}");
}

/// Two candidates, one of which is a little better than the baseline.
#[test]
fn several_candidates_are_corrected_together() {
    let store = tempfile::tempdir().unwrap();
    let run = Draft::new(0)
        .with(|draft| {
            let ids = ["base", "b", "c", "d", "e"];
            let all = ids.map(|id| {
                let mut one = configuration(id);
                one["salt"] = json!(0);
                one["structure"] = json!(if id == "base" { "native" } else { "text" });
                one
            });
            draft.manifest["configurations"] = json!(all);
            // Twenty cases of ten passes at one half; b gains 11 points, the others nothing.
            draft.succeed = Box::new(|case, place| 5 + if place == 1 { 1 + u64::from(case % 10 == 0) } else { 0 });
        })
        .write(store.path(), "20261130-220000-aaaa");
    let found = compare_candidates(&run, &told(&tenpass_bench::store::Comparing::default())).unwrap();
    assert_eq!(found.len(), 4);
    let first = &found[0];
    let alone = crate::compare(
        crate::Side { run: &run, configuration: Some("base") },
        crate::Side { run: &run, configuration: Some("b") },
        &crate::CompareOptions::default(),
    )
    .unwrap();
    if alone.verdict == "REAL" && alone.delta.p * 4.0 > 0.05 {
        assert_eq!(first.verdict, "INCONCLUSIVE");
        assert!(first.reasons[0].contains("corrected for 4 comparisons"), "{:?}", first.reasons);
    } else {
        panic!("the test's numbers show nothing: {} at p = {}", alone.verdict, alone.delta.p);
    }
}
