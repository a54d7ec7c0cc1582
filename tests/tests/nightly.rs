//! Nights through the real binary: a project of its own, a recorded model that reads its system prompt.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tenpass_tests::Tenpass;

const TOOLS: &str = r#"
[[tool]]
name = "lamp"
description = "Switches the lamp."
parameters = { type = "object", properties = { on = { type = "boolean" } }, required = ["on"] }
"#;

const CASES: &str = r#"
family = "lamp"

[[case]]
id = "lamp-on"
language = "en"
kind = "guard"
prompt = "Lamp on."
provenance = "made for this test"
[case.expect]
calls = [{ tool = "lamp", arguments = { on = true } }]

[[case]]
id = "lamp-off"
language = "en"
kind = "guard"
prompt = "Lamp off."
provenance = "made for this test"
[case.expect]
calls = [{ tool = "lamp", arguments = { on = false } }]
"#;

/// A folder with a project: two guard cases, and answers that are right while the prompt says "careful".
struct Project {
    folder: tempfile::TempDir,
    tenpass: Tenpass,
}

impl Project {
    fn new(delay_ms: u32) -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap(), tenpass: Tenpass::new() };
        project.write("tenpass.toml", "[nightly]\nbenches = [\"tools\"]\nmodels = [\"replay:answers.jsonl\"]\n");
        project.write("cases/tools/tools.toml", TOOLS);
        project.write("cases/tools/lamp.toml", CASES);
        project.write("cases/tools/prompt.md", "Be careful.");
        let answer = |matching: &str, on: bool| {
            format!(
                "{{\"match\":{matching},\"calls\":[{{\"name\":\"lamp\",\"arguments\":{{\"on\":{on}}}}}],\"delay_ms\":{delay_ms}}}\n"
            )
        };
        let answers = [
            answer(r#"{"case":"lamp-on","contains":"careful"}"#, true),
            answer(r#"{"case":"lamp-on","contains":"quick"}"#, false),
            answer(r#"{"case":"lamp-off"}"#, false),
        ];
        project.write("answers.jsonl", &answers.concat());
        project
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn command(&self, words: &[&str]) -> std::process::Command {
        let mut command = self.tenpass.command(words);
        command.current_dir(self.folder.path());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs a night, expecting this exit code, and returns what it printed.
    fn night(&self, code: i32) -> String {
        let output = self.run(&["nightly"]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{error}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn nights(&self) -> PathBuf {
        self.tenpass.runs.path().join("nights")
    }

    /// The nights by name, with their folders.
    fn folders(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.nights()).unwrap().map(|entry| entry.unwrap().path());
        let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
        folders.sort_by_key(|path| path.metadata().unwrap().created().ok());
        folders.sort_by_key(|path| json(&path.join("night.json"))["started"].as_str().unwrap().to_owned());
        folders
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn text(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// A folder with cases and nothing else: no `runs`, no `tenpass.toml`.
#[test]
fn a_folder_with_cases_alone_is_a_project_and_a_night_without_them_is_a_mistake() {
    let project = Project::new(0);
    std::fs::remove_file(project.folder.path().join("tenpass.toml")).unwrap();
    let run = |words: &[&str]| {
        let mut command = project.command(words);
        command.env_remove("TENPASS_RUNS_DIR").env("TENPASS_MODEL", "replay:answers.jsonl");
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, error) = run(&["bench", "tools", "--passes", "1"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(project.folder.path().join("runs").is_dir(), "results stay with the project");
    // Of the usual benches the one that is there.
    let (code, error) = run(&["nightly"]);
    assert!(code == Some(0) && error.contains("there is no cases/rounds here: bench rounds is left out"), "{error}");
    project.write("tenpass.toml", "[nightly]\nbenches = [\"rounds\"]\n");
    let nights = || std::fs::read_dir(project.folder.path().join("runs/nights")).unwrap().count();
    let before = nights();
    let (code, error) = run(&["nightly"]);
    assert!(code == Some(2) && error.contains("there is nothing of bench rounds here"), "{error}");
    assert_eq!(nights(), before, "no night was begun");
}

#[test]
fn a_changed_prompt_is_told_with_the_case_that_broke_first_and_its_night() {
    let project = Project::new(0);
    let said = project.night(0);
    assert!(said.contains("no baseline; 20 of 20 right"), "{said}");
    let run = json(&project.folders()[0].join("night.json"))["steps"][0]["result"]["run"].as_str().unwrap().to_owned();
    let blessed = project.run(&["runs", "bless", &run, "--configuration", "replay:answers.jsonl"]);
    assert!(blessed.status.success(), "{}", String::from_utf8_lossy(&blessed.stderr));

    let said = project.night(0);
    assert!(said.contains(&format!("against {run}")) && !said.contains("REGRESSED"), "{said}");

    project.write("cases/tools/prompt.md", "Be quick.");
    let said = project.night(1);
    assert!(said.contains("REGRESSED"), "{said}");
    let folders = project.folders();
    assert_eq!(folders.len(), 3);
    let night = folders[2].file_name().unwrap().to_str().unwrap();
    assert!(said.contains(&format!("first to break: lamp-on, on the night of {night}")), "{said}");

    let kept = json(&folders[2].join("night.json"));
    let counts = &kept["steps"][0]["result"]["cases"];
    let passed = |case: &str| {
        let counts = counts.as_array().unwrap();
        counts.iter().find(|count| count["case"] == case).unwrap()["passed"].as_u64().unwrap()
    };
    assert_eq!((passed("lamp-on"), passed("lamp-off")), (0, 10));
    let summary = text(&folders[2], "summary.md");
    assert!(summary.contains(&format!("**First to break: `lamp-on`, on the night of {night}**")), "{summary}");
    let xml = text(&folders[2], "junit.xml");
    assert!(xml.contains("<failure") && xml.contains("lamp-on") && xml.contains("verdict"), "{xml}");
    let page = text(&folders[2], "report.html");
    assert!(page.contains("First to break: lamp-on") && page.contains("<svg") && page.contains("REGRESSED"));
    assert!(!page.contains("http://") || page.matches("http://").count() == page.matches("http://www.w3.org").count());

    let history = String::from_utf8(project.run(&["nightly", "--history"]).stdout).unwrap();
    let lines: Vec<&str> = history.lines().filter(|line| line.contains("tools")).collect();
    assert_eq!(lines.len(), 3, "{history}");
    assert!(lines[0].contains("REGRESSED") && lines[2].contains("measured"), "{history}");
}

#[test]
fn a_night_that_was_killed_goes_on_and_none_begins_beside_it() {
    let project = Project::new(20);
    let mut child = project.command(&["nightly"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let passes = |runs: &Path| {
        let entries = std::fs::read_dir(runs).unwrap().map(|entry| entry.unwrap().path().join("passes.jsonl"));
        entries.filter_map(|path| std::fs::read_to_string(path).ok()).map(|text| text.lines().count()).sum::<usize>()
    };
    let deadline = Instant::now() + Duration::from_mins(1);
    while passes(project.tenpass.runs.path()) < 3 {
        assert!(Instant::now() < deadline, "the night measures nothing");
        assert!(child.try_wait().unwrap().is_none(), "the night ended before it was killed");
        std::thread::sleep(Duration::from_millis(5));
    }
    let other = project.run(&["nightly"]);
    let error = String::from_utf8_lossy(&other.stderr);
    assert_eq!(other.status.code(), Some(3), "{error}");
    assert!(error.contains(&format!("another night is running: process {}", child.id())), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();

    project.night(0);
    let folders = project.folders();
    assert_eq!(folders.len(), 1, "the same night");
    let night = json(&folders[0].join("night.json"));
    assert_eq!((night["resumed"].as_u64(), night["state"].as_str()), (Some(1), Some("done")));
    let runs = std::fs::read_dir(project.tenpass.runs.path()).unwrap();
    let runs = runs.filter(|entry| entry.as_ref().unwrap().path().join("manifest.json").is_file()).count();
    assert_eq!(runs, 1, "the run was gone on with");
    assert_eq!(night["steps"][0]["result"]["total"], 20);
}

#[test]
fn what_cannot_be_measured_is_said_and_the_rest_goes_on() {
    let project = Project::new(0);
    project.write(
        "tenpass.toml",
        "[nightly]\nbenches = [\"tools\"]\nmodels = [\"replay:missing.jsonl\", \"replay:answers.jsonl\"]\n",
    );
    let said = project.night(3);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].contains("FAILED") && lines[0].contains("missing.jsonl"), "{said}");
    assert!(lines[1].contains("20 of 20 right"), "{said}");
    let xml = text(&project.folders()[0], "junit.xml");
    assert!(xml.contains("<error"), "{xml}");
}

#[test]
fn the_units_name_this_program_and_this_folder() {
    let project = Project::new(0);
    let output = project.run(&["nightly", "--systemd"]);
    let units = String::from_utf8(output.stdout).unwrap();
    let program = tenpass_tests::binary().display().to_string();
    assert!(units.contains(&program) && units.contains("[Timer]") && units.contains("Persistent=true"), "{units}");
    let folder = project.folder.path().canonicalize().unwrap().display().to_string();
    assert!(units.contains(&folder), "{units}");
}
