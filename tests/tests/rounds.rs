//! `bench rounds` from end to end: on the embedded model and on a real llama-server.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use serde_json::Value;
use tenpass_tests::{LlamaServer, Tenpass, asset};

/// Plays some scenarios and returns the summary; every play must have been one.
fn play(tenpass: &Tenpass, words: &[&str]) -> Value {
    let mut all = vec!["bench", "rounds", "--seed", "7", "--max-tokens", "48", "--format", "json"];
    all.extend(words);
    let summary = tenpass.json(&all);
    let configurations = summary["configurations"].as_array().unwrap();
    assert!(!configurations.is_empty(), "{summary}");
    summary
}

/// The plays of the latest run, raw.
fn plays(tenpass: &Tenpass) -> Vec<Value> {
    let run = std::fs::read_dir(tenpass.runs.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.join("passes.jsonl").is_file())
        .unwrap();
    let text = std::fs::read_to_string(run.join("passes.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn scenarios_are_played_on_the_embedded_model_and_graded_again_without_it() {
    let tenpass = Tenpass::new();
    play(
        &tenpass,
        &["--filter", "emergency-word", "--filter", "answer-follows", "--filter", "failed-read", "--passes", "2"],
    );
    let passes = plays(&tenpass);
    assert_eq!(passes.len(), 6);
    for pass in &passes {
        assert_eq!(pass["end"], "answered", "{pass}");
        let turns = pass["played"]["turns"].as_array().unwrap();
        assert!(!turns.is_empty(), "{pass}");
        if pass["case"] == "emergency-word-stops-before-the-model" {
            assert_eq!(turns[0]["end"], "emergency");
            assert_eq!(turns[0]["answers"].as_array().unwrap().len(), 0, "no model was asked");
        } else {
            // Raw answers are kept, each with its request and what the engine counted.
            let answer = &turns[0]["answers"][0];
            assert!(answer["usage"]["prompt_tokens"].as_u64().unwrap() > 100, "{answer}");
            assert_eq!(answer["request"].as_str().unwrap().len(), 64);
        }
    }
    let shown = tenpass.ok(&["runs", "show", "latest", "--case", "answer-follows-the-result", "--pass", "1"]);
    assert!(shown.contains("When and where is the meeting?"), "{shown}");
    let regraded = tenpass.json(&["runs", "regrade", "latest", "--format", "json"]);
    assert_eq!(regraded["changed"], 0, "{regraded}");
}

#[test]
fn the_same_seed_plays_the_same_scenario() {
    let (first, second) = (Tenpass::new(), Tenpass::new());
    for tenpass in [&first, &second] {
        play(tenpass, &["--filter", "history-is-not-repeated-work", "--passes", "2"]);
    }
    let texts = |tenpass: &Tenpass| -> Vec<String> {
        let mut texts: Vec<String> = plays(tenpass)
            .iter()
            .map(|pass| format!("{}: {}", pass["pass"], pass["played"]["turns"][0]["answers"][0]["text"]))
            .collect();
        texts.sort();
        texts
    };
    assert_eq!(texts(&first), texts(&second));
}

#[test]
fn scenarios_are_played_on_a_real_server() {
    let server = LlamaServer::start(&asset("smollm2-135m"), &["-c", "8192", "-np", "2"]);
    let tenpass = Tenpass::new();
    let spec = server.spec();
    play(
        &tenpass,
        &[
            "--model",
            &spec,
            "--structure",
            "text",
            "--filter",
            "history-is-not",
            "--filter",
            "small-talk",
            "--passes",
            "1",
            "--jobs",
            "2",
        ],
    );
    let passes = plays(&tenpass);
    assert_eq!(passes.len(), 2);
    for pass in &passes {
        assert_eq!(pass["end"], "answered", "{pass}");
        let answer = &pass["played"]["turns"][0]["answers"][0];
        assert!(answer["usage"]["completion_tokens"].as_u64().unwrap() > 0, "{answer}");
    }
}

#[test]
fn strategies_of_a_scenario_are_configurations() {
    let tenpass = Tenpass::new();
    let files = tempfile::tempdir().unwrap();
    let replay = files.path().join("answers.jsonl");
    std::fs::write(&replay, "{\"text\":\"You told me: 17:42.\"}\n").unwrap();
    let spec = format!("replay:{}", replay.display());
    let words = [
        "--model",
        &spec,
        "--filter",
        "history-is-not",
        "--memory",
        "recent,off",
        "--prompt",
        "default",
        "--prompt",
        "-history",
        "--passes",
        "2",
    ];
    let summary = play(&tenpass, &words);
    assert_eq!(summary["configurations"].as_array().unwrap().len(), 4, "{summary}");
    let error = tenpass.fails(2, &["bench", "rounds", "--prompt", "-persna"]);
    assert!(error.contains("persona"), "{error}");
    let run = tenpass.json(&["runs", "list", "--format", "json"])[0]["id"].as_str().unwrap().to_owned();
    let error = tenpass.fails(2, &["bench", "tools", "--resume", &run]);
    assert!(error.contains("bench rounds --resume"), "{error}");
}

/// K7 and K8 on a real server: the tools of a turn arrive, and the server counts them.
#[test]
fn the_tools_of_a_turn_reach_a_real_server() {
    let template = tenpass_tests::repository().join("tests/data/tools-chatml.jinja").display().to_string();
    let extra = ["-c", "8192", "-np", "2", "--chat-template-file", &template];
    let server = LlamaServer::start(&asset("smollm2-135m"), &extra);
    let tenpass = Tenpass::new();
    let spec = server.spec();
    let words = ["--model", &spec, "--structure", "native", "--filter", "history-is-not", "--filter", "bar-lets-media"];
    play(&tenpass, &[&words[..], &["--passes", "1", "--jobs", "2"]].concat());
    let mut tokens = Vec::new();
    for pass in plays(&tenpass) {
        let answer = &pass["played"]["turns"][0]["answers"][0];
        let counted = answer["usage"]["prompt_tokens"].as_u64().unwrap_or_else(|| panic!("{pass}"));
        tokens.push((pass["case"].as_str().unwrap().to_owned(), counted));
    }
    tokens.sort();
    // Three tools against fifteen: the difference is the definitions, as the server tokenised them.
    let [(_, three), (_, fifteen)] = &tokens[..] else { panic!("{tokens:?}") };
    assert!(fifteen - three > 500, "{tokens:?}");
}
