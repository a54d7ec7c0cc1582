//! The smaller commands, through the real binary.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};
use tenpass_tests::{Tenpass, asset, repository};

fn parse(tools: &Value, structured: Option<&Value>, text: &str) -> Value {
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    let tools_file = folder.path().join("tools.json");
    std::fs::write(&tools_file, tools.to_string()).unwrap();
    let tools_file = tools_file.display().to_string();
    let structured_file = folder.path().join("structured.json");
    let structured_path = structured_file.display().to_string();
    let mut words = vec!["calls", "parse", "--tools", &tools_file];
    if let Some(structured) = structured {
        std::fs::write(&structured_file, structured.to_string()).unwrap();
        words.extend(["--structured", &structured_path]);
    }
    let mut child = tenpass.command(&words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn calls_parse_reads_text_and_structured_calls() {
    let tools = json!([{ "name": "lamp", "description": "Switches a lamp.", "parameters": { "type": "object", "properties": { "on": { "type": "boolean" } } } }]);
    let parsed = parse(&tools, None, "Sure.\n<tool_call>{\"name\":\"lamp\",\"arguments\":{\"on\":true}}</tool_call>");
    assert_eq!(parsed["calls"][0]["name"], "lamp");
    assert_eq!(parsed["calls"][0]["arguments"], json!({ "on": true }));
    assert_eq!(parsed["calls"][0]["recovered"], true);
    assert_eq!(parsed["text"], "Sure.");
    let structured =
        json!([{ "id": "1", "type": "function", "function": { "name": "lamp", "arguments": "{\"on\":false}" } }]);
    let parsed = parse(&tools, Some(&structured), "");
    assert_eq!(parsed["calls"][0]["recovered"], false);
    assert_eq!(parsed["calls"][0]["arguments"], json!({ "on": false }));
    assert_eq!(parsed["class"], Value::Null);
    let parsed = parse(&tools, None, "{\"name\":\"Paris\",\"population\":2}");
    assert_eq!(parsed["calls"], json!([]));
}

#[test]
fn the_models_are_there_and_whole() {
    let tenpass = Tenpass::new();
    asset("smollm2-135m");
    let verified = tenpass.json(&["models", "verify", "smollm2-135m", "--format", "json"]);
    assert_eq!(verified[0]["state"], "present");
    assert!(tenpass.ok(&["models", "list"]).contains("smollm2-135m"));
}

#[test]
fn published_function_calling_cases_agree_with_the_grader() {
    let tenpass = Tenpass::new();
    let data = asset("bfcl").display().to_string();
    // Every shipped answer of simple_python, multiple, parallel and irrelevance passes, every wrong one fails.
    let report = tenpass.ok(&["cases", "import", "bfcl", &data, "--check"]);
    for category in ["simple_python", "multiple", "parallel", "irrelevance"] {
        let line = report
            .lines()
            .find(|line| line.starts_with(&format!("{category} ")))
            .unwrap_or_else(|| panic!("{category}: {report}"));
        let words: Vec<&str> = line.split_whitespace().collect();
        let (right, all) = words[2].split_once('/').unwrap();
        assert_eq!(right, all, "{line}");
        assert!(words[3].starts_with("0/"), "{line}");
    }
    let out = tempfile::tempdir().unwrap();
    let path = out.path().display().to_string();
    tenpass.ok(&["cases", "import", "bfcl", &data, "--category", "multiple", "--out", &path]);
    assert!(tenpass.ok(&["cases", "check", "--cases", &path]).starts_with("200 cases"));
}

#[test]
fn completions_and_man_pages_are_generated() {
    let tenpass = Tenpass::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(tenpass.ok(&["completions", shell]).contains("tenpass"), "{shell}");
    }
    let folder = tempfile::tempdir().unwrap();
    tenpass.ok(&["man", &folder.path().display().to_string()]);
    assert!(folder.path().join("tenpass-bench-tools.1").is_file());
}

#[test]
fn colours_obey_the_flag_and_the_pipe() {
    let tenpass = Tenpass::new();
    let replay = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(replay.path(), "{\"match\":null,\"text\":\"hello\"}\n").unwrap();
    let spec = format!("replay:{}", replay.path().display());
    tenpass.ok(&["bench", "tools", "--model", &spec, "--filter", "talk", "--passes", "2"]);
    assert!(!tenpass.ok(&["runs", "show", "latest"]).contains('\x1b'));
    assert!(tenpass.ok(&["runs", "show", "latest", "--color", "always"]).contains('\x1b'));
    let csv = tenpass.ok(&["runs", "show", "latest", "--format", "csv"]);
    assert!(csv.lines().count() >= 4, "{csv}");
}

/// Every command of the README's blocks marked `sh tested` ends well, in their order.
#[test]
fn the_commands_of_the_readme_work() {
    let tenpass = Tenpass::new();
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let mut commands = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        match line.trim() {
            "```sh tested" => inside = true,
            "```" => inside = false,
            command if inside && !command.is_empty() => commands.push(command.to_owned()),
            _ => {}
        }
    }
    assert!(commands.len() >= 6, "{commands:?}");
    for command in commands {
        // As a shell takes it: blanks part words, except between double quotes.
        let words: Vec<&str> = command
            .split('"')
            .enumerate()
            .flat_map(|(part, text)| if part % 2 == 1 { vec![text] } else { text.split_whitespace().collect() })
            .collect();
        assert_eq!(words.first(), Some(&"tenpass"), "{command}");
        tenpass.ok(&words[1..]);
    }
}

#[test]
fn cases_go_to_the_formats_of_others_and_come_back() {
    let tenpass = Tenpass::new();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (config, back) = (path("promptfooconfig.yaml"), path("back"));
    assert!(tenpass.ok(&["cases", "export", "promptfoo", "--out", &config]).starts_with("77 of 77 cases"));
    assert!(tenpass.ok(&["cases", "import", "promptfoo", &config, "--out", &back]).starts_with("77 cases"));
    let listed = |cases: &str| tenpass.json(&["cases", "list", "--cases", cases, "--format", "json"]);
    assert_eq!(listed(&back)["cases"].as_array().unwrap().len(), 77);
    let error = tenpass.fails(2, &["cases", "import", "promptfoo", &config, "--out", &back]);
    assert!(error.contains("is there already"), "{error}");

    let (bfcl, again) = (path("bfcl"), path("again"));
    let said = tenpass.ok(&["cases", "export", "bfcl", "--out", &bfcl]);
    let written: usize = said.split_whitespace().next().unwrap().parse().unwrap();
    let words = ["cases", "import", "bfcl", &bfcl, "--category", "irrelevance", "--out", &again];
    let imported: usize = tenpass.ok(&words).split_whitespace().next().unwrap().parse().unwrap();
    assert!(imported > 0 && imported <= written, "{imported} of {written}");
    // Without a category every one that was written comes back.
    let all = tenpass.ok(&["cases", "import", "bfcl", &bfcl, "--out", &path("all")]);
    assert!(all.starts_with(&format!("{written} cases")), "{all}");

    std::fs::write(folder.path().join("bad.yaml"), "tests:\n  - vars: {a: [}\n").unwrap();
    let error = tenpass.fails(2, &["cases", "import", "promptfoo", &path("bad.yaml"), "--out", &path("none")]);
    assert!(error.contains("bad.yaml:2"), "{error}");
}
