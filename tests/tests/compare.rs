//! Fix or coincidence, on the real model through the real binary: an A/A run shows nothing, a planted
//! regression is found, and the winner of a run is confirmed with fresh seeds.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tenpass_tests::Tenpass;

/// Cases of the shipped suite that the small model sometimes passes.
const SOME: [&str; 8] = [
    "--filter",
    "answered-delivery",
    "--filter",
    "correction-enum",
    "--filter",
    "delegate-code",
    "--filter",
    "invented-sort",
];

/// What the description tells and nothing else does: the small model copies the call from it.
const DESCRIPTION: &str =
    r#"Opens a door of the house. The code of every door is 4711: {"name":"open_door","arguments":{"code":"4711"}}"#;

/// A suite in which the right argument stands in a tool's description.
fn doors(folder: &Path, description: &str) {
    let tools = format!(
        "[[tool]]\nname = \"switch_lamp\"\ndescription = \"Switches the lamp on or off.\"\nparameters = {{ type = \
         \"object\", properties = {{ on = {{ type = \"boolean\" }} }}, required = [\"on\"] }}\n\n[[tool]]\nname = \
         \"open_door\"\ndescription = '{description}'\nparameters = {{ type = \"object\", properties = {{ code = {{ \
         type = \"string\" }} }}, required = [\"code\"] }}\n"
    );
    let mut cases = "family = \"doors\"\n".to_owned();
    for door in ["front", "garden", "cellar", "garage", "kitchen", "attic"] {
        write!(
            cases,
            "[[case]]\nid = \"door-{door}\"\nlanguage = \"en\"\nprompt = \"Open the {door} door.\"\nprovenance = \
             \"planted\"\n[case.expect]\ncalls = [{{ tool = \"open_door\", arguments = {{ code = \"4711\" }} }}]\n"
        )
        .unwrap();
    }
    fs::write(folder.join("prompt.md"), "You call the tool that does what the user asks for.\n").unwrap();
    fs::write(folder.join("tools.toml"), tools).unwrap();
    fs::write(folder.join("doors.toml"), cases).unwrap();
}

/// Runs it, expecting this exit code, and reads stdout as JSON.
fn json(tenpass: &Tenpass, code: i32, words: &[&str]) -> Value {
    let output = tenpass.run(words);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "tenpass {}:\n{error}", words.join(" "));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|fault| panic!("{fault}: {error}"))
}

#[test]
fn the_same_thing_twice_is_no_change() {
    let tenpass = Tenpass::new();
    let bench = |more: &[&str]| {
        let mut words = vec!["bench", "tools", "--max-tokens", "64", "--format", "json"];
        words.extend_from_slice(&SOME);
        words.extend_from_slice(more);
        json(&tenpass, 0, &words)
    };
    // Two copies of one configuration have seeds of their own.
    let report = bench(&["--model", "embedded:smollm2-135m", "--model", "embedded:smollm2-135m", "--seed", "5"]);
    assert_eq!(report["configurations"][1]["label"], "embedded:smollm2-135m #2");
    let word = report["comparisons"][0]["verdict"].as_str().unwrap();
    assert!(word == "NO CHANGE" || word.starts_with("INCONCLUSIVE"), "{word}");

    tenpass.ok(&["runs", "bless", "latest", "--configuration", "embedded:smollm2-135m"]);
    let report = bench(&["--against", "baseline", "--seed", "6"]);
    let found = &report["compared"][0];
    let word = found["verdict"].as_str().unwrap();
    assert!(word == "NO CHANGE" || word == "INCONCLUSIVE", "{found}");
    assert_eq!(found["measured_together"], true);
    assert_eq!(found["under_test"].as_array().unwrap().len(), 0);
    // Not the same passes twice: other seeds, and both sides warm.
    let (before, after) = (&found["before"], &found["after"]);
    assert_eq!(before["configuration"], "baseline embedded:smollm2-135m");
    assert_eq!((before["passes"].as_u64(), after["passes"].as_u64()), (Some(40), Some(40)));
    let manifest: Value = tenpass.json(&["runs", "list", "--format", "json"])[0]["manifest"].clone();
    assert_eq!(manifest["configurations"][1]["salt"], 1, "{manifest}");
    assert_eq!(report["configurations"][0]["latency"]["cold"]["first_token_ms"]["count"].as_u64().unwrap_or(0), 0);
}

#[test]
fn a_description_that_was_removed_is_a_regression() {
    let (tenpass, suite) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let path = suite.path().display().to_string();
    let usual = ["bench", "tools", "--cases", &path, "--max-tokens", "48", "--seed", "7", "--format", "json"];
    doors(suite.path(), DESCRIPTION);
    let first = json(&tenpass, 0, &usual);
    let rate = first["configurations"][0]["rate"]["passed"].as_u64().unwrap();
    assert!(rate >= 50, "the model reads the description: {rate} of 60");
    tenpass.ok(&["runs", "bless", "latest"]);
    let shown = tenpass.ok(&["runs", "bless", "--show"]);
    assert!(shown.contains("tools") && shown.contains("there"), "{shown}");

    doors(suite.path(), "");
    let against = [&usual[..], &["--against", "baseline"]].concat();
    let report = json(&tenpass, 1, &against);
    let found = &report["compared"][0];
    assert_eq!((found["verdict"].as_str(), found["regressed"].as_bool()), (Some("REGRESSED"), Some(true)), "{found}");
    let under_test: Vec<&str> =
        found["under_test"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(under_test, ["tool-definitions"]);
    // The baseline was measured with the description that its run had.
    assert!(found["before"]["rate"]["passed"].as_u64().unwrap() >= 50, "{found}");
    assert!(found["after"]["rate"]["passed"].as_u64().unwrap() <= 10, "{found}");

    // Going on with a run that is complete prints the same, and ends the same.
    let again = json(&tenpass, 1, &["bench", "tools", "--resume", "latest", "--format", "json"]);
    assert_eq!(again["compared"], report["compared"]);
    let continued = json(&tenpass, 1, &[&against[..], &["--continue"]].concat());
    assert_eq!(continued["facts"]["run"], report["facts"]["run"], "the seed was typed: this run is it");

    // With --early-stop the same verdict comes from fewer passes.
    let early = json(&tenpass, 1, &[&against[..], &["--early-stop"]].concat());
    assert_eq!(early["compared"][0]["verdict"], "REGRESSED");
    assert!(early["passes"].as_u64().unwrap() < 120, "{}", early["passes"]);
    let notes = early["compared"][0]["notes"].to_string();
    assert!(notes.contains("stopped early"), "{notes}");
}

#[test]
fn a_winner_is_measured_again_with_seeds_it_has_not_met() {
    let (tenpass, suite) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let path = suite.path().display().to_string();
    doors(suite.path(), DESCRIPTION);
    let words =
        ["bench", "tools", "--cases", &path, "--max-tokens", "48", "--passes", "5", "--structure", "text,grammar"];
    tenpass.ok(&words);
    let first = tenpass.json(&["runs", "list", "--format", "json"])[0]["manifest"].clone();
    let report = json(&tenpass, 0, &["confirm", "latest", "--format", "json"]);
    let confirms = &report["confirms"];
    assert_eq!(confirms["configuration"], "embedded:smollm2-135m grammar", "{confirms}");
    assert_eq!(confirms["run"], first["id"]);
    assert_eq!(report["before"]["configuration"], "embedded:smollm2-135m text");
    assert_eq!(report["verdict"], "REAL", "{report}");
    let runs = tenpass.json(&["runs", "list", "--format", "json"]);
    let confirmation = &runs[0]["manifest"];
    assert_eq!(confirmation["parent"], first["id"]);
    assert_ne!(confirmation["seed"], first["seed"]);
    let text = tenpass.ok(&["confirm", first["id"].as_str().unwrap()]);
    assert!(text.contains("the number to report is this one: embedded:smollm2-135m grammar passed"), "{text}");
}

#[test]
fn what_cannot_be_compared_is_said_before_anything_is_measured() {
    let (tenpass, suite) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let path = suite.path().display().to_string();
    doors(suite.path(), DESCRIPTION);
    let usual = ["bench", "tools", "--cases", &path, "--max-tokens", "48", "--passes", "1"];
    let against = |more: &[&str]| tenpass.fails(2, &[&usual[..], &["--against", "baseline"], more].concat());
    let error = against(&[]);
    assert!(error.contains("has no baseline for bench tools") && error.contains("tenpass runs bless"), "{error}");
    tenpass.ok(&usual);
    tenpass.ok(&["runs", "bless", "latest"]);
    let before = fs::read_dir(tenpass.runs.path()).unwrap().count();
    let error = against(&["--structure", "text", "--temperature", "1"]);
    assert!(error.contains("structure") && error.contains("--allow"), "{error}");
    let error = against(&["--guards", "gate-*"]);
    assert!(error.contains("gate-*"), "{error}");
    assert_eq!(fs::read_dir(tenpass.runs.path()).unwrap().count(), before, "no run was begun");
    let id = tenpass.json(&["runs", "list", "--format", "json"])[0]["id"].as_str().unwrap().to_owned();
    fs::remove_dir_all(tenpass.runs.path().join(&id)).unwrap();
    let error = against(&[]);
    assert!(error.contains(&format!("the baseline of bench tools is run {id}, which is no longer in")), "{error}");
}
