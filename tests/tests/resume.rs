//! SIGKILL at random moments, then `--resume`: the same passes as an uninterrupted run.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tenpass_tests::Tenpass;

const KILLS: u64 = 24;
const PASSES: u32 = 10;

/// A replay file whose answers depend on the seed, so that a pass done twice would be noticed.
fn replay(folder: &Path) -> PathBuf {
    let path = folder.join("answers.jsonl");
    let mut text = String::new();
    for answer in 0..7 {
        text.push_str(&format!("{{\"match\":null,\"text\":\"answer {answer}\",\"delay_ms\":{}}}\n", answer % 3));
    }
    std::fs::write(&path, text).unwrap();
    path
}

/// Every final pass of a run: (case, configuration, pass) with its seed; panics on a double.
fn passes(runs: &Path) -> BTreeMap<(String, String, u64), u64> {
    let run = std::fs::read_dir(runs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.join("passes.jsonl").is_file())
        .unwrap();
    let text = std::fs::read_to_string(run.join("passes.jsonl")).unwrap();
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let pass: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let name = |key: &str| pass[key].as_str().unwrap().to_owned();
        let key = (name("case"), name("configuration"), pass["pass"].as_u64().unwrap());
        assert!(found.insert(key.clone(), pass["seed"].as_u64().unwrap()).is_none(), "{key:?} was measured twice");
    }
    let outcomes = std::fs::read_to_string(run.join("outcomes.jsonl")).unwrap();
    assert_eq!(outcomes.lines().count(), found.len(), "one grade a pass");
    found
}

#[test]
fn a_killed_run_resumes_to_the_same_set_of_passes() {
    let files = tempfile::tempdir().unwrap();
    let spec = format!("replay:{}", replay(files.path()).display());
    let passes_word = PASSES.to_string();
    let words = ["bench", "tools", "--model", &spec, "--passes", &passes_word, "--seed", "11", "--jobs", "5"];

    let whole = Tenpass::new();
    whole.ok(&words);
    let expected = passes(whole.runs.path());
    assert!(expected.len() >= 600, "{} passes", expected.len());

    let mut interrupted = 0;
    for round in 0..KILLS {
        let tenpass = Tenpass::new();
        let mut child = tenpass.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Spread over the life of the process, from before the run exists to near its end.
        std::thread::sleep(Duration::from_millis(15 + round * 37));
        child.kill().unwrap();
        child.wait().unwrap();
        let begun = std::fs::read_dir(tenpass.runs.path())
            .unwrap()
            .any(|entry| entry.unwrap().path().join("manifest.json").is_file());
        if begun {
            interrupted += 1;
            tenpass.ok(&["bench", "tools", "--resume", "latest"]);
        } else {
            tenpass.ok(&words);
        }
        assert_eq!(passes(tenpass.runs.path()), expected, "round {round}");
    }
    assert!(interrupted >= KILLS / 3, "only {interrupted} of {KILLS} kills hit a run");
}

#[test]
fn an_interrupt_keeps_what_is_finished_and_says_how_to_go_on() {
    let files = tempfile::tempdir().unwrap();
    let path = files.path().join("slow.jsonl");
    std::fs::write(&path, "{\"match\":null,\"text\":\"slow\",\"delay_ms\":20}\n").unwrap();
    let spec = format!("replay:{}", path.display());
    let tenpass = Tenpass::new();
    let child = tenpass
        .command(&["bench", "tools", "--model", &spec, "--passes", "50", "--jobs", "2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let status = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.contains("go on with: tenpass bench tools --resume"), "{error}");
    assert!(!passes(tenpass.runs.path()).is_empty());
}
