//! A store of small runs of many ages, and what is left of it.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tenpass_bench::store::open_run;

use super::*;
use crate::bless;

const DAY: Duration = Duration::from_hours(24);

/// 2026-12-01 00:00 UTC.
fn now() -> SystemTime {
    SystemTime::from("2026-12-01T00:00:00Z".parse::<jiff::Timestamp>().unwrap())
}

fn keep(days: u32, newest: usize) -> Keep {
    Keep { younger_than: DAY * days, newest }
}

fn manifest(id: &str, bench: &str, days_old: u32, state: &str) -> Value {
    let started = jiff::Timestamp::try_from(now() - DAY * days_old).unwrap().to_string();
    let finished = (state != "running").then(|| started.clone());
    json!({
        "format": "1.1", "id": id, "bench": bench, "seed": 1, "passes": 1, "timeout_ms": 1000, "cases": 1,
        "digests": { "suite": "", "cases": "", "tools": "", "prompts": "" }, "grader": "1",
        "configurations": [{
            "id": "a", "spec": "replay:a", "structure": "native", "selection": "all", "stream": true, "jobs": 1,
            "model": {
                "spec": "replay:a", "backend": "replay", "name": "a",
                "capabilities": { "tools": true, "thinking": false, "structured_output": false },
            },
            "options": {
                "temperature": 0.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "seed": 0, "max_tokens": 8, "context": null,
            },
        }],
        "sessions": [{
            "program": "0.1.0", "started": started, "finished": finished, "state": state,
            "host": { "os": "x", "architecture": "x", "cores": 1 },
        }],
    })
}

struct Shelf {
    store: tempfile::TempDir,
}

impl Shelf {
    fn new() -> Self {
        Self { store: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.store.path()
    }

    /// A complete run of so many days ago, changed by `change`.
    fn add_with(&self, id: &str, bench: &str, days_old: u32, change: impl Fn(&mut Value)) -> PathBuf {
        let mut manifest = manifest(id, bench, days_old, "complete");
        change(&mut manifest);
        let directory = self.path().join(id);
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("manifest.json"), manifest.to_string()).unwrap();
        fs::write(directory.join("cases.jsonl"), "x".repeat(1000)).unwrap();
        directory
    }

    fn add(&self, id: &str, bench: &str, days_old: u32) -> PathBuf {
        self.add_with(id, bench, days_old, |_| {})
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with("index.sqlite"))
            .collect();
        names.sort();
        names
    }

    fn going(&self, keep: Keep) -> Vec<String> {
        plan(self.path(), keep, now()).unwrap().going().map(|run| run.run.clone()).collect()
    }

    fn kept(&self, keep: Keep, id: &str) -> Option<Kept> {
        plan(self.path(), keep, now()).unwrap().runs.into_iter().find(|run| run.run == id).unwrap().kept
    }
}

#[test]
fn age_and_number_decide_and_nothing_is_touched_before() {
    let shelf = Shelf::new();
    assert_eq!(plan(&shelf.path().join("none"), keep(30, 1), now()).unwrap().runs, []);
    for (id, bench, days) in [
        ("t1", "tools", 90),
        ("t2", "tools", 60),
        ("t3", "tools", 31),
        ("t4", "tools", 29),
        ("r1", "rounds", 80),
        ("r2", "rounds", 70),
    ] {
        shelf.add(id, bench, days);
    }
    assert_eq!(shelf.going(keep(30, 0)), ["t1", "r1", "r2", "t2", "t3"], "oldest first");
    assert_eq!(shelf.going(keep(30, 2)), ["t1", "t2"], "the newest of each bench");
    assert_eq!(shelf.going(keep(30, 9)), [""; 0]);
    assert_eq!(shelf.kept(keep(30, 2), "t4"), Some(Kept::Young));
    assert_eq!(shelf.kept(keep(30, 2), "t3"), Some(Kept::Newest));
    let planned = plan(shelf.path(), keep(30, 2), now()).unwrap();
    assert!(planned.bytes > 2000 && planned.bytes < 6000, "{}", planned.bytes);
    assert_eq!(shelf.names().len(), 6, "planning removes nothing");

    let done = collect(shelf.path(), keep(30, 2), now()).unwrap();
    assert_eq!((done.removed.as_slice(), done.failed.as_slice()), (&["t1".to_owned(), "t2".to_owned()][..], &[][..]));
    assert_eq!(done.bytes, planned.bytes);
    assert_eq!(shelf.names(), ["r1", "r2", "t3", "t4"]);
    assert_eq!(collect(shelf.path(), keep(30, 2), now()).unwrap(), Collected::default());
}

#[test]
fn baselines_and_whatever_kept_runs_refer_to_stay() {
    let shelf = Shelf::new();
    for (id, days) in [("base", 200), ("origin", 190), ("grandparent", 180), ("p1", 170), ("p2", 170), ("old", 160)] {
        shelf.add(id, "tools", days);
    }
    shelf.add_with("parent", "tools", 150, |manifest| manifest["parent"] = "grandparent".into());
    shelf.add_with("merged", "tools", 10, |manifest| manifest["parts"] = json!(["p1", "p2"]));
    shelf.add_with("child", "tools", 9, |manifest| {
        manifest["parent"] = "parent".into();
        manifest["configurations"][0]["origin"] = json!({ "run": "origin", "configuration": "a" });
    });
    // What refers to a run that goes, goes with it.
    shelf.add_with("orphan", "tools", 140, |manifest| manifest["parent"] = "old".into());
    let run = open_run(shelf.path(), "base").unwrap();
    bless(shelf.path(), &run, None, "a test").unwrap();
    assert_eq!(shelf.going(keep(30, 0)), ["old", "orphan"]);
    assert_eq!(shelf.kept(keep(30, 0), "base"), Some(Kept::Baseline));
    assert_eq!(shelf.kept(keep(30, 0), "grandparent"), Some(Kept::Needed { by: "parent".into() }));
    assert_eq!(shelf.kept(keep(30, 0), "p2"), Some(Kept::Needed { by: "merged".into() }));
    assert_eq!(shelf.kept(keep(30, 0), "origin"), Some(Kept::Needed { by: "child".into() }));
    // A baselines file that cannot be read might name any run: nothing goes.
    fs::write(shelf.path().join("baselines.json"), "{").unwrap();
    assert!(collect(shelf.path(), keep(30, 0), now()).is_err());
    assert_eq!(shelf.names().len(), 11);
}

#[test]
fn a_run_that_is_written_to_or_unreadable_stays_and_an_old_unfinished_one_goes() {
    let shelf = Shelf::new();
    let state = |state: &'static str| {
        move |manifest: &mut Value| {
            manifest["sessions"][0]["state"] = state.into();
            manifest["sessions"][0]["finished"] = Value::Null;
        }
    };
    let written = shelf.add_with("written", "tools", 90, state("running"));
    shelf.add_with("killed", "tools", 90, state("running"));
    shelf.add_with("younger", "tools", 3, state("interrupted"));
    // Begun long ago, gone on with lately.
    shelf.add_with("resumed", "tools", 90, |manifest| {
        let mut second = manifest["sessions"][0].clone();
        second["started"] = "2026-11-30T10:00:00Z".into();
        manifest["sessions"].as_array_mut().unwrap().push(second);
    });
    let damaged = shelf.add("damaged", "tools", 90);
    fs::write(damaged.join("manifest.json"), "{").unwrap();
    let lock = fs::File::create(written.join("lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(shelf.kept(keep(30, 0), "written"), Some(Kept::Written { by: "another process".into() }));
    assert!(matches!(shelf.kept(keep(30, 0), "damaged"), Some(Kept::Unreadable { .. })));
    let done = collect(shelf.path(), keep(30, 0), now()).unwrap();
    assert_eq!(done.removed, ["killed"]);
    lock.unlock().unwrap();
    assert_eq!(collect(shelf.path(), keep(30, 0), now()).unwrap().removed, ["written"]);
    assert_eq!(shelf.names(), ["damaged", "resumed", "younger"]);
}

#[test]
fn what_a_killed_process_left_is_found() {
    let shelf = Shelf::new();
    shelf.add("young", "tools", 1);
    for name in [".20260101-000000-aaaa.removed", ".20260101-000000-bbbb.partial", ".hidden", "notes"] {
        fs::create_dir(shelf.path().join(name)).unwrap();
        fs::write(shelf.path().join(name).join("file"), "12345").unwrap();
    }
    // Folders of this moment: half created may mean that somebody is at work.
    let moment = SystemTime::now();
    let planned = plan(shelf.path(), keep(0, 9), moment).unwrap();
    assert_eq!((planned.leftovers, planned.bytes), (vec![".20260101-000000-aaaa.removed".to_owned()], 5));
    let later = moment + DAY;
    let done = collect(shelf.path(), keep(0, 9), later).unwrap();
    assert_eq!((done.removed.len(), done.bytes), (0, 10));
    assert_eq!(shelf.names(), [".hidden", "notes", "young"]);
}

#[test]
fn the_index_forgets_runs_that_are_gone() {
    let shelf = Shelf::new();
    let case = json!({
        "id": "c", "family": "f", "language": "en", "kind": "target", "messages": [], "tools": [],
        "expect": {}, "provenance": "a test",
    });
    let pass = |number: u32| {
        json!({
            "case": "c", "configuration": "a", "pass": number, "attempt": 1, "final": true, "end": "answered",
            "seed": 1, "request": "", "started": "2026-01-01T00:00:00Z", "timings": { "total_ms": 1.0 }, "text": "x",
        })
    };
    for (id, days) in [("old", 90), ("new", 1)] {
        let directory = shelf.add_with(id, "tools", days, |manifest| manifest["passes"] = 4000.into());
        fs::write(directory.join("cases.jsonl"), format!("{case}\n")).unwrap();
        let lines: String = (1..=4000).flat_map(|number| [pass(number).to_string(), "\n".to_owned()]).collect();
        fs::write(directory.join("passes.jsonl"), lines).unwrap();
        fs::write(directory.join("outcomes.jsonl"), "").unwrap();
        open_run(shelf.path(), id).unwrap().index().unwrap();
    }
    let index = shelf.path().join("index.sqlite");
    let before = fs::metadata(&index).unwrap().len();
    let planned = plan(shelf.path(), keep(30, 0), now()).unwrap();
    let done = collect(shelf.path(), keep(30, 0), now()).unwrap();
    let after = fs::metadata(&index).unwrap().len();
    assert_eq!(done.removed, ["old"]);
    assert!(after < before * 2 / 3, "{before} to {after}");
    assert_eq!(done.bytes, planned.bytes + before - after);
    let mut rows = 0;
    open_run(shelf.path(), "new")
        .unwrap()
        .index()
        .unwrap()
        .rows(&tenpass_bench::store::PassFilter::default(), |_| rows += 1)
        .unwrap();
    assert_eq!(rows, 4000);
}

#[test]
fn parts_of_job_files_go_when_the_run_that_joins_them_goes() {
    let shelf = Shelf::new();
    let part = |seed: &str, number: u32, id: &str, days_old: u32| {
        let store = shelf.path().join(format!("parts/{seed}/tools-1/{number}"));
        let directory = store.join(id);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("manifest.json"), manifest(id, "tools", days_old, "complete").to_string()).unwrap();
        directory
    };
    for (seed, days_old) in [("11", 90), ("22", 80), ("33", 70)] {
        part(seed, 1, &format!("a{seed}"), days_old);
        part(seed, 2, &format!("b{seed}"), days_old);
    }
    part("33", 3, "c33", 2);
    fs::create_dir_all(shelf.path().join("parts/other")).unwrap();
    shelf.add_with("joined", "tools", 90, |manifest| manifest["parts"] = json!(["a11", "b11"]));
    shelf.add_with("second", "tools", 80, |manifest| manifest["parts"] = json!(["a22", "b22"]));
    assert_eq!(shelf.kept(keep(30, 1), "parts/22"), Some(Kept::Needed { by: "second".into() }));
    assert_eq!(shelf.kept(keep(30, 1), "parts/33"), Some(Kept::Young), "as young as its youngest part");
    assert_eq!(shelf.going(keep(30, 1)), ["joined", "parts/11"]);
    let done = collect(shelf.path(), keep(30, 1), now()).unwrap();
    assert_eq!((done.removed.len(), done.failed.len()), (2, 0));
    let left: Vec<_> =
        fs::read_dir(shelf.path().join("parts")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
    // A part that is being written keeps its whole set.
    let lock = fs::File::create(shelf.path().join("parts/22/tools-1/2/b22/lock")).unwrap();
    lock.lock().unwrap();
    assert!(matches!(shelf.kept(keep(30, 0), "parts/22"), Some(Kept::Written { .. })));
    lock.unlock().unwrap();
    assert_eq!(shelf.going(keep(30, 0)), ["parts/22", "second"]);
    // Half deleted, a set is found again.
    fs::rename(shelf.path().join("parts/22"), shelf.path().join("parts/.22.removed")).unwrap();
    collect(shelf.path(), keep(30, 0), now()).unwrap();
    assert!(!shelf.path().join("parts/.22.removed").exists());
}
