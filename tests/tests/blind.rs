//! `tenpass blind`: sessions, votes from a pipe, and what may be said afterwards.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failure is a panic")]

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tenpass_tests::{Tenpass, asset};

/// A model whose every answer is this.
fn replay(folder: &Path, name: &str, answer: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, format!("{}\n", serde_json::json!({ "text": answer }))).unwrap();
    format!("replay:{}", path.display())
}

/// Votes with these lines, and what was shown.
fn vote(tenpass: &Tenpass, lines: &[&str]) -> (i32, String, String) {
    let mut command = tenpass.command(&["blind", "vote"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// The letters under which an answer stands, ballot by ballot, as a person would read them.
fn letters(shown: &str, answer: &str) -> Vec<String> {
    shown.lines().filter(|line| line.contains(answer)).map(|line| line[1..2].to_lowercase()).collect()
}

#[test]
fn who_reads_the_answers_finds_the_preferred_model_and_who_does_not_is_told() {
    let (tenpass, folder) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let kind = replay(folder.path(), "kind.jsonl", "I am Qwen, made by Alibaba. Gladly, here is how.");
    let curt = replay(folder.path(), "curt.jsonl", "No.");
    let prompts = folder.path().join("prompts.txt");
    std::fs::write(&prompts, (1..=12).map(|n| format!("Question {n}?\n")).collect::<String>()).unwrap();
    let models = format!("{kind},{curt}");
    let begin = || tenpass.ok(&["blind", "new", "--models", &models, "--prompts", prompts.to_str().unwrap()]);

    assert!(begin().contains("14 ballots are ready"));
    let refused = tenpass.fails(2, &["blind", "result"]);
    assert!(refused.contains("0 of 14 ballots are voted"), "{refused}");
    // Leaving at once shows the first ballot; nothing that is shown says who it is.
    let (code, shown, note) = vote(&tenpass, &["q"]);
    assert_eq!(code, 0);
    assert!(shown.contains("1 of 14") && shown.contains("I am [model], made by [model]"), "{shown}");
    assert!(!shown.contains("Qwen") && !shown.contains("replay"), "{shown}");
    assert!(note.contains("0 of 14 are voted"), "{note}");
    // A person who prefers the kind one, ballot by ballot; the choice is read from what is on the screen.
    for n in 0..14 {
        let (_, shown, _) = vote(&tenpass, &["q"]);
        let letter = letters(&shown, "Gladly").remove(0);
        let (code, ..) = vote(&tenpass, &[letter.as_str()]);
        assert_eq!(code, 0, "ballot {n}");
    }
    let result: Value = tenpass.json(&["blind", "result", "--format", "json"]);
    assert_eq!(result["verdict"], "preferred");
    assert_eq!(result["standings"][0]["candidate"], kind.as_str());
    assert_eq!(result["standings"][0]["picked"], 12);
    assert_eq!(result["consistency"][0], 2);
    let late = vote(&tenpass, &["a"]);
    assert!(late.1.contains("every ballot is voted"), "{late:?}");

    // Always the left one: the place is found out, nobody is preferred, and the exit code says no.
    begin();
    let (code, ..) = vote(&tenpass, &["a"; 14]);
    assert_eq!(code, 0);
    let output = tenpass.run(&["blind", "result"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("NOT PROVEN"), "{text}");
    assert!(text.contains("14 / 0 picks from left to right") && text.contains("the place decided"), "{text}");
    assert!(text.contains("0 of 2 ballots that came twice were voted alike"), "{text}");

    // An early look ends the voting.
    begin();
    vote(&tenpass, &["a", "u", "b", "t", "q"]);
    let output = tenpass.run(&["blind", "result", "--early"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("looked at after 2 of 14 ballots"), "{text}");
    let (code, _, error) = vote(&tenpass, &["a"]);
    assert_eq!(code, 2);
    assert!(error.contains("would no longer be blind"), "{error}");
    let listed: Value = tenpass.json(&["blind", "list", "--format", "json"]);
    assert_eq!(listed.as_array().unwrap().len(), 3);
    assert_eq!(listed[2]["revealed"], true);
}

#[test]
fn mistakes_are_told_before_anything_is_made() {
    let (tenpass, folder) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let one = replay(folder.path(), "one.jsonl", "Yes.");
    for (words, part) in [
        (vec!["blind", "new"], "nothing to compare is named"),
        (vec!["blind", "new", "--models", &one], "1 different candidates of 1 named"),
        (vec!["blind", "vote"], "there is no blind session yet"),
        (vec!["blind", "new", "--models", &one, "--prompts", "nowhere.txt"], "nowhere.txt"),
    ] {
        let error = tenpass.fails(2, &words);
        assert!(error.contains(part), "{words:?}: {error}");
    }
    assert_eq!(tenpass.json(&["blind", "list", "--format", "json"]), serde_json::json!([]));
}

#[test]
fn voices_come_at_one_loudness_and_a_real_model_answers() {
    for name in ["onnxruntime", "piper-joe", "smollm2-135m"] {
        asset(name);
    }
    let (tenpass, folder) = (Tenpass::new(), tempfile::tempdir().unwrap());
    let prompts = folder.path().join("p.txt");
    std::fs::write(&prompts, "The train leaves at nine.\nIt will rain tomorrow.\n").unwrap();
    let prompts = prompts.to_str().unwrap();
    tenpass.ok(&["blind", "new", "--voices", "piper:piper-joe,espeak:en", "--prompts", prompts, "--no-replays"]);
    let session = std::fs::read_dir(tenpass.runs.path().join("speech")).unwrap().next().unwrap().unwrap().path();
    let mut levels = Vec::new();
    for entry in std::fs::read_dir(session.join("sounds")).unwrap() {
        let sound = tenpass_audio::read(&entry.unwrap().path()).unwrap();
        assert_eq!(sound.rate, 24_000, "a rate would tell the voices apart");
        levels.push(tenpass_audio::loudness(&sound).speech_dbfs);
    }
    assert_eq!(levels.len(), 4);
    let (low, high) =
        levels.iter().fold((0.0_f64, -120.0_f64), |(low, high), level| (low.min(*level), high.max(*level)));
    assert!(high - low < 4.0, "{levels:?}");
    let curt = replay(folder.path(), "curt.jsonl", "No.");
    let models = format!("embedded:smollm2-135m,{curt}");
    tenpass.ok(&["blind", "new", "--models", &models, "--prompts", prompts, "--max-tokens", "24", "--no-replays"]);
    let (code, shown, _) = vote(&tenpass, &["t", "x"]);
    assert_eq!(code, 0);
    assert_eq!(letters(&shown, "No.").len(), 2, "{shown}");
}
