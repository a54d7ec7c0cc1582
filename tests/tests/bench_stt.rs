//! The bench of speech to text with a real model: a few clips, two prompts, a kill in the middle.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failure is a panic here")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use tenpass_tests::{Tenpass, asset, finished};

/// The voice of last resort speaks clips; the manifest is what `tenpass corpus` would write.
fn corpus(folder: &Path) {
    let clips = [
        ("a", "Kora, read number three.", "line-read", "en"),
        ("b", "Kora, calendar.", "view-calendar", "en"),
        ("c", "Kora, shopping list.", "view-shopping", "en"),
        ("d", "The neighbours are moving out in June.", "none", "en"),
    ];
    let mut manifest = String::from(
        "format = 1\nname = \"spoken\"\ndescription = \"by espeak-ng, for a test\"\nlicence = \"CC0-1.0\"\n",
    );
    for (file, text, intent, language) in clips {
        let path = folder.join(format!("{file}.wav"));
        finished(Command::new("espeak-ng").args(["-v", language, "-s", "140", "-w"]).arg(&path).arg(text), "espeak-ng");
        let hash = finished(Command::new("sha256sum").arg(&path), "sha256sum");
        let hash = hash.split_whitespace().next().unwrap();
        manifest.push_str(&format!(
            "\n[[clip]]\nfile = \"{file}.wav\"\nsha256 = \"{hash}\"\nseconds = 2.0\ntext = \"{text}\"\n\
             intent = \"{intent}\"\nlanguage = \"{language}\"\nvoice = \"espeak:{language}\"\nsynthetic = true\n\
             day = \"r1\"\nroom = \"dry\"\n"
        ));
    }
    std::fs::write(folder.join("corpus.toml"), manifest).unwrap();
}

#[test]
fn a_run_is_killed_resumed_and_scored_without_a_model() {
    asset("whisper-base");
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    corpus(folder.path());
    let corpus = folder.path().to_str().unwrap();
    let engine = "whisper.cpp:whisper-base+q8+cut";
    let words = ["bench", "stt", "--corpus", corpus, "--only", "sentences", "--arms", "greedy", "--engine", engine];

    let mut child =
        tenpass.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    // Killed as soon as there is a run to resume, at whatever pass it is by then.
    assert!(lines.any(|line| line.unwrap().starts_with("run ")), "it never began");
    let _ = child.kill();
    let _ = child.wait();
    let found = tenpass.json(&["bench", "stt", "--resume", "latest", "--format", "json"]);
    assert_eq!((&found["passes"], &found["missing"]), (&8.into(), &0.into()), "{found}");
    let arms = found["summary"]["arms"].as_array().unwrap();
    assert_eq!(arms.len(), 2);
    for arm in arms {
        assert_eq!((&arm["understood"]["of"], &arm["false_commands"]["of"]), (&3.into(), &1.into()));
        assert_eq!(arm["false_commands"]["hits"], 0.0);
    }
    assert!(arms.iter().any(|arm| arm["understood"]["hits"].as_f64().unwrap() >= 1.0), "{found}");
    let shown = tenpass.json(&["bench", "stt", "--show", "latest", "--format", "json"]);
    assert_eq!(shown["summary"], found["summary"]);
    let table = tenpass.ok(&["bench", "stt", "--show", "latest"]);
    assert!(table.contains("understands") && table.contains("sentences"), "{table}");
    tenpass.ok(&["bench", "stt", "--show", "latest", "--confusions"]);
}
