//! Cases from life through the real binary: a conversation goes wrong, is judged, proposed, made a case,
//! and measured.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use tenpass_tests::Tenpass;
use tenpass_tests::script::{ScriptServer, Scripted};

/// What must be in no case and on no stdout.
const PERSONAL: [&str; 5] = ["Sophie", "Kowalczyk", "06 12 34 56 78", "sophie.kowalczyk@laposte.net", "aB3dE5gH7jK9"];

const REQUEST: &str = "Lis cv-sophie-kowalczyk.txt de Sophie Kowalczyk, 06 12 34 56 78, sophie.kowalczyk@laposte.net, \
                       mon mot de passe est \"aB3dE5gH7jK9\"";

/// A model that reads the file when its seed says so, and makes the answer up otherwise.
fn sometimes() -> ScriptServer {
    ScriptServer::start(|body| {
        let last = body["messages"].as_array().and_then(|messages| messages.last()).cloned().unwrap_or_default();
        let text = last["content"].as_str().unwrap_or_default();
        let name = text.split_whitespace().find(|word| word.contains(".txt")).unwrap_or("a.txt").to_owned();
        if text.contains("Lis ") && body["seed"].as_u64().unwrap_or(0) % 3 == 1 {
            return Scripted::call("read_file", json!({ "filename": name, "reason": "asked" }));
        }
        Scripted::text("Sophie Kowalczyk est boulangère.")
    })
}

fn chat(tenpass: &Tenpass, server: &ScriptServer, lines: &[&str]) {
    // Seed 3: the answer is made up.
    let mut child = tenpass
        .command(&["chat", "--model", &server.spec(), "--seed", "3"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for line in lines {
        writeln!(input, "{line}").unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn assert_clean(what: &str, text: &str) {
    for word in PERSONAL {
        assert!(!text.to_lowercase().contains(&word.to_lowercase()), "{word} in {what}: {text}");
    }
}

fn add(tenpass: &Tenpass, cases: &Path, more: &[&str]) -> Output {
    let mut words = vec!["cases", "add", "--from-trace", "latest", "--cases", cases.to_str().unwrap()];
    words.extend(more);
    tenpass.run(&words)
}

#[test]
fn a_turn_that_was_corrected_becomes_a_case_that_is_measured() {
    let (tenpass, server, place) = (Tenpass::new(), sometimes(), tempfile::tempdir().unwrap());
    chat(&tenpass, &server, &[REQUEST, "corrige : il fallait lire le fichier"]);

    let shown = tenpass.ok(&["cases", "harvest", "--format", "json"]);
    assert_clean("the proposals", &shown);
    let harvest: Value = serde_json::from_str(&shown).unwrap();
    let proposals = harvest["proposals"].as_array().unwrap();
    assert_eq!(proposals.len(), 1, "{shown}");
    assert_eq!(proposals[0]["signals"][0], "corrected");
    assert!(proposals[0]["expect"].as_str().unwrap().contains("read_file"), "{shown}");
    let drafts = place.path().join("drafts");
    let printed = tenpass.ok(&["cases", "harvest", "--out", drafts.to_str().unwrap()]);
    assert_clean("the table", &printed);
    tenpass.ok(&["cases", "check", "--cases", drafts.to_str().unwrap()]);
    assert_clean("the drafts", &std::fs::read_to_string(drafts.join("life.toml")).unwrap());
    assert!(tenpass.fails(2, &["cases", "harvest", "--out", drafts.to_str().unwrap()]).contains("life.toml"));

    let cases = place.path().join("cases");
    let output = add(&tenpass, &cases, &["--passes", "12"]);
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{error}");
    assert_clean("stdout", &out);
    assert!(error.to_lowercase().contains("first name: sophie →"), "the mapping is shown: {error}");
    assert!(error.contains("of 12 passes (95 %:") && error.contains("secrets masked"), "{error}");
    let filed = std::fs::read_to_string(cases.join("life.toml")).unwrap();
    assert_clean("the case", &filed);
    assert!(filed.contains("which is never its before") && filed.contains("family = \"life\""), "{filed}");
    tenpass.ok(&["cases", "check", "--cases", cases.to_str().unwrap()]);

    // The check is a run like any other, and the case is measured like any other.
    let runs = tenpass.json(&["runs", "list", "--format", "json"]);
    assert_eq!(runs.as_array().unwrap().len(), 1, "{runs}");
    let table =
        tenpass.ok(&["bench", "tools", "--cases", cases.to_str().unwrap(), "--model", &server.spec(), "--passes", "5"]);
    assert!(table.contains("lis-cv"), "{table}");

    // It is known by now.
    assert_eq!(add(&tenpass, &cases, &[]).status.code(), Some(2));
    let again = tenpass.json(&["cases", "harvest", "--format", "json", "--cases", cases.to_str().unwrap()]);
    assert_eq!((again["proposals"].as_array().unwrap().len(), &again["known"]), (0, &json!(1)), "{again}");
}

#[test]
fn what_is_right_today_is_not_filed_unasked_and_what_nobody_knows_is_asked_for() {
    let (tenpass, server, place) = (Tenpass::new(), sometimes(), tempfile::tempdir().unwrap());
    let cases = place.path().join("cases");
    assert!(tenpass.fails(2, &["cases", "add", "--from-trace", "latest"]).contains("nothing was recorded yet"));
    chat(&tenpass, &server, &["Bonjour !", "/bad"]);
    // Nothing says what would have been right.
    let output = add(&tenpass, &cases, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--expect '"), "{}", text(&output.stderr));
    // A mistake has its line.
    let output = add(&tenpass, &cases, &["--expect", "calls = [{ tool = 'raed_file' }]"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--expect:1: unknown tool"));
    // Words are what this model always says.
    let output = add(&tenpass, &cases, &["--expect", "no_call = true", "--passes", "4"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("does not fail today") && !cases.join("life.toml").exists());
    let output = add(&tenpass, &cases, &["--expect", "no_call = true", "--passes", "4", "--kind", "guard"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(std::fs::read_to_string(cases.join("life.toml")).unwrap().contains("kind = \"guard\""));
    // Without the check nothing is played.
    let asked = server.requests().len();
    let output = add(&tenpass, &cases, &["--expect", "no_call = true", "--unchecked", "--yes", "--id", "hello-again"]);
    assert!(output.status.success() && server.requests().len() == asked, "{}", text(&output.stderr));
}
