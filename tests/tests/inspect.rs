//! Runs in the hands of other tools: Inspect's own library and viewer, and readers of JUnit XML, all from PyPI.
//!
//! They are installed by pip into a virtual environment under the target folder; a test that cannot have them
//! fails.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tenpass_tests::script::{ScriptServer, Scripted};
use tenpass_tests::{Tenpass, finished, repository};

const PACKAGES: [&str; 3] = ["inspect_ai==0.3.285", "junitparser==5.0.3", "xmlschema==4.3.2"];

/// The interpreter that has the packages.
fn python() -> PathBuf {
    tenpass_tests::python("inspect", &PACKAGES)
}

/// Runs the check with these words, expecting success; gives what it printed.
fn check(words: &[&str]) -> String {
    let script = repository().join("tests/data/inspect_check.py");
    let mut command = Command::new(python());
    command.arg(script).args(words).env("NO_COLOR", "1").env("INSPECT_DISPLAY", "none");
    finished(&mut command, &format!("inspect_check.py {}", words[0]))
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn run_ids(tenpass: &Tenpass) -> Vec<String> {
    let runs = tenpass.json(&["runs", "list", "--format", "json"]);
    runs.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}

/// What the files of a run say about one configuration, for the check.
fn facts(tenpass: &Tenpass, run: &str, configuration: &str) -> Value {
    let folder = tenpass.runs.path().join(run);
    let requests = lines(&folder.join("requests.jsonl"));
    let outcomes = lines(&folder.join("outcomes.jsonl"));
    let same =
        |a: &Value, b: &Value| ["case", "configuration", "pass", "attempt"].iter().all(|name| a[*name] == b[*name]);
    let passes = lines(&folder.join("passes.jsonl"));
    let passes: Vec<Value> = passes
        .iter()
        .filter(|pass| pass["configuration"] == configuration && pass["final"] == true)
        .map(|pass| {
            json!({
                "pass": pass,
                "outcome": outcomes.iter().rfind(|outcome| same(outcome, pass)),
                "request": requests.iter().find(|request| request["sha256"] == pass["request"]),
            })
        })
        .collect();
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    assert!(!passes.is_empty(), "{run} has no pass of {configuration}");
    json!({ "configuration": configuration, "passes": passes, "cases": lines(&folder.join("cases.jsonl")), "manifest": manifest })
}

fn configurations(tenpass: &Tenpass, run: &str) -> Vec<String> {
    let manifest = fs::read(tenpass.runs.path().join(run).join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let all = manifest["configurations"].as_array().unwrap();
    all.iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

/// Exports one configuration and holds it against Inspect's reading and viewer.
fn holds(tenpass: &Tenpass, run: &str, configuration: &str) {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    let facts_file = folder.path().join("facts.json");
    fs::write(&facts_file, facts(tenpass, run, configuration).to_string()).unwrap();
    let logs = logs.to_str().unwrap();
    let words = ["runs", "export", run, "--format", "inspect", "--out", logs, "--configuration", configuration];
    tenpass.ok(&words);
    let facts_file = facts_file.to_str().unwrap();
    let read = check(&["log", logs, facts_file]);
    assert!(read.contains("ok: "), "{read}");
    let viewed = check(&["view", logs, facts_file]);
    assert!(viewed.contains("ok: "), "{viewed}");
}

/// Everything in a run's files, whatever its order.
fn content(tenpass: &Tenpass, run: &str) -> Vec<Vec<String>> {
    let folder = tenpass.runs.path().join(run);
    ["cases.jsonl", "requests.jsonl", "passes.jsonl", "outcomes.jsonl"]
        .iter()
        .map(|name| {
            let mut all: Vec<String> = lines(&folder.join(name)).iter().map(Value::to_string).collect();
            all.sort_unstable();
            all
        })
        .collect()
}

/// Exports the whole run and imports it into another store: it is the same run.
fn returns(tenpass: &Tenpass, run: &str) {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().to_str().unwrap();
    tenpass.ok(&["runs", "export", run, "--format", "inspect", "--out", logs]);
    let other = Tenpass::new();
    let said = other.ok(&["runs", "import", "inspect", logs]);
    assert!(said.starts_with(run), "{said}");
    assert_eq!(content(&other, run), content(tenpass, run));
    let table = |tenpass: &Tenpass| tenpass.json(&["runs", "show", run, "--format", "json"]);
    assert_eq!(table(&other), table(tenpass));
}

/// A server that is right, wrong, in words, in broken calls, and gone, by the seed of the request.
fn moody() -> ScriptServer {
    ScriptServer::start(|body| {
        let seed = body["seed"].as_u64().unwrap_or(0);
        let tool = body["tools"][0]["function"]["name"].as_str().unwrap_or("none").to_owned();
        match seed % 5 {
            0 => Scripted::call(&tool, json!({ "task": "a formal letter, \"é\"\n", "provider": "claude" })),
            1 => Scripted::text(
                "<tool_call>{\"name\": \"delegate_to_provider\", \"arguments\": {\"provider\": \"claude\", \"task\": \"x\"}}</tool_call>",
            ),
            2 => Scripted::text("I cannot do this. \u{1b}[31m ]]> & <b>"),
            3 => Scripted { cut_after: Some(1), ..Scripted::text("cut off in the middle of it") },
            _ => Scripted { text: "Both.".to_owned(), ..Scripted::call("no_such_tool", json!({})) },
        }
    })
}

fn measured(tenpass: &Tenpass, words: &[&str]) -> String {
    let output = tenpass.run(words);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some_and(|code| code < 2), "{}:\n{error}", output.status);
    run_ids(tenpass).remove(0)
}

#[test]
fn inspect_reads_and_shows_a_run_with_every_kind_of_pass() {
    let (tenpass, server) = (Tenpass::new(), moody());
    let spec = server.spec();
    let words = [
        "bench",
        "tools",
        "--model",
        &spec,
        "--family",
        "delegation",
        "--family",
        "small-talk",
        "--passes",
        "5",
        "--seed",
        "11",
        "--structure",
        "native,text",
        "--timeout",
        "20s",
    ];
    let run = measured(&tenpass, &words);
    let ids = configurations(&tenpass, &run);
    assert_eq!(ids.len(), 2);
    let invalid = lines(&tenpass.runs.path().join(&run).join("outcomes.jsonl"));
    assert!(invalid.iter().any(|outcome| outcome["success"].is_null()), "the server was never gone");
    assert!(invalid.iter().any(|outcome| outcome["recovered"] == true), "no call was recovered");
    for id in &ids {
        holds(&tenpass, &run, id);
    }
    returns(&tenpass, &run);
}

#[test]
fn inspect_reads_and_shows_a_run_of_the_real_model() {
    let tenpass = Tenpass::new();
    let words = ["bench", "tools", "--family", "small-talk", "--passes", "3", "--seed", "7", "--max-tokens", "48"];
    let run = measured(&tenpass, &words);
    let ids = configurations(&tenpass, &run);
    holds(&tenpass, &run, &ids[0]);
    returns(&tenpass, &run);
}

#[test]
fn inspect_reads_and_shows_scenarios_with_their_whole_conversation() {
    let tenpass = Tenpass::new();
    let server = ScriptServer::start(|body| {
        let answered = body["messages"].as_array().is_some_and(|all| all.iter().any(|one| one["role"] == "tool"));
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        let has = |name: &str| tools.iter().any(|tool| tool["function"]["name"] == name);
        if !answered && has("list_directory") {
            return Scripted::call("list_directory", json!({ "directory": ".", "reason": "to see" }));
        }
        Scripted::text("I have looked. There is nothing more to say.")
    });
    let spec = server.spec();
    let words = ["bench", "rounds", "--model", &spec, "--passes", "2", "--seed", "3", "--structure", "native"];
    let run = measured(&tenpass, &words);
    let played = lines(&tenpass.runs.path().join(&run).join("passes.jsonl"));
    let calls = |pass: &Value| {
        let turns = pass["played"]["turns"].as_array().cloned().unwrap_or_default();
        turns.iter().any(|turn| turn["calls"].as_array().is_some_and(|calls| !calls.is_empty()))
    };
    assert!(played.iter().any(calls), "no scenario called a tool");
    let ids = configurations(&tenpass, &run);
    holds(&tenpass, &run, &ids[0]);
    returns(&tenpass, &run);
}

#[test]
fn what_was_changed_in_inspect_comes_back() {
    let (tenpass, server) = (Tenpass::new(), moody());
    let spec = server.spec();
    let run = measured(
        &tenpass,
        &["bench", "tools", "--model", &spec, "--family", "delegation", "--passes", "3", "--seed", "2"],
    );
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    tenpass.ok(&["runs", "export", &run, "--format", "inspect", "--out", logs.to_str().unwrap()]);
    let log = fs::read_dir(&logs).unwrap().next().unwrap().unwrap().path();
    let rescored = folder.path().join("rescored.eval");
    let edited = check(&["rescore", log.to_str().unwrap(), rescored.to_str().unwrap()]);
    let edited: Value = serde_json::from_str(&edited).unwrap();
    let other = Tenpass::new();
    other.ok(&["runs", "import", "inspect", rescored.to_str().unwrap()]);
    let before = lines(&tenpass.runs.path().join(&run).join("outcomes.jsonl"));
    let after = lines(&other.runs.path().join(&run).join("outcomes.jsonl"));
    assert_eq!(before.len(), after.len());
    for outcome in &after {
        let had = before.iter().rfind(|one| ["case", "pass"].iter().all(|name| one[*name] == outcome[*name])).unwrap();
        if outcome["case"] == edited["case"] && outcome["pass"] == edited["pass"] {
            assert_eq!((&had["success"], &outcome["success"]), (&json!(false), &json!(true)));
            assert_eq!(outcome["reasons"], json!(["a person looked"]));
        } else {
            assert_eq!(had["success"], outcome["success"]);
        }
    }
}

#[test]
fn a_log_that_inspect_wrote_becomes_a_run_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let made = check(&["make", folder.path().to_str().unwrap()]);
    let logs: Vec<&str> = made
        .lines()
        .filter(|line| {
            ["eval", "json"].map(Path::new).iter().any(|end| Path::new(line).extension() == Some(end.as_os_str()))
        })
        .collect();
    assert_eq!(logs.len(), 2, "{made}");
    let tenpass = Tenpass::new();
    for log in &logs {
        let said = tenpass.ok(&["runs", "import", "inspect", log]);
        assert!(said.contains("6 passes of 3 cases with mockllm/model, 2 of them INVALID"), "{said}");
    }
    let ids = run_ids(&tenpass);
    for id in &ids {
        let shown = tenpass.json(&["runs", "show", id, "--format", "json"]);
        let rates: Vec<(String, u64, u64)> = shown["cases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|case| {
                let rate = &case["cells"][0]["rate"];
                (
                    case["case"].as_str().unwrap().to_owned(),
                    rate["passed"].as_u64().unwrap(),
                    rate["total"].as_u64().unwrap(),
                )
            })
            .collect();
        let mut sorted = rates.clone();
        sorted.sort();
        assert_eq!(sorted, [("2".to_owned(), 0, 2), ("fails".to_owned(), 0, 0), ("the-sum".to_owned(), 2, 2)]);
        let pass = tenpass.json(&["runs", "show", id, "--case", "the-sum", "--pass", "2", "--format", "json"]);
        let pass = &pass[0];
        assert!(pass["pass"]["text"].as_str().unwrap().starts_with("The sum is 3. xxx"), "{pass}");
        assert_eq!(pass["pass"]["seed"], 7);
        assert_eq!(
            (&pass["pass"]["usage"]["prompt_tokens"], &pass["pass"]["usage"]["completion_tokens"]),
            (&json!(30), &json!(6))
        );
        assert_eq!(
            pass["outcome"]["calls"][0],
            json!({ "name": "add", "arguments": { "x": 1, "y": 2 }, "recovered": false, "shape": "structured" })
        );
        let messages = pass["request"]["request"]["messages"].as_array().unwrap();
        let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "tool"]);
        let fails = tenpass.json(&["runs", "show", id, "--case", "fails", "--pass", "1", "--format", "json"]);
        assert!(fails[0]["pass"]["fault"]["message"].as_str().unwrap().contains("the server went away"), "{fails}");
    }
    let compared = tenpass.json(&["compare", &ids[1], &ids[0], "--format", "json"]);
    let verdict = compared["verdict"].as_str().unwrap();
    assert!(["NO CHANGE", "INCONCLUSIVE"].contains(&verdict), "{verdict}");
    let page = folder.path().join("report.html");
    tenpass.ok(&["report", &ids[1], &ids[0], "--out", page.to_str().unwrap()]);
    assert!(fs::read_to_string(&page).unwrap().contains("the-sum"));
    // And out again: Inspect reads what it once wrote.
    let again = folder.path().join("again");
    tenpass.ok(&["runs", "export", &ids[0], "--format", "inspect", "--out", again.to_str().unwrap()]);
    let log = fs::read_dir(&again).unwrap().next().unwrap().unwrap().path();
    let times: Value = serde_json::from_str(&check(&["time", log.to_str().unwrap()])).unwrap();
    assert_eq!((&times["samples"], &times["status"]), (&json!(6), &json!("success")));
}

#[test]
fn readers_of_junit_find_what_the_run_found() {
    let (tenpass, server) = (Tenpass::new(), moody());
    let spec = server.spec();
    let run = measured(
        &tenpass,
        &[
            "bench",
            "tools",
            "--model",
            &spec,
            "--family",
            "small-talk",
            "--family",
            "delegation",
            "--passes",
            "4",
            "--seed",
            "5",
        ],
    );
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let facts_file = file("facts.json");
    let ids = configurations(&tenpass, &run);
    fs::write(&facts_file, facts(&tenpass, &run, &ids[0]).to_string()).unwrap();
    tenpass.ok(&["runs", "export", &run, "--format", "junit", "--out", &file("junit.xml")]);
    let schema = repository().join("tests/data/junit.xsd");
    let read = check(&["junit", &file("junit.xml"), schema.to_str().unwrap(), &facts_file]);
    assert!(read.contains("ok: "), "{read}");
}

#[test]
fn tables_have_a_row_a_pass() {
    let (tenpass, server) = (Tenpass::new(), moody());
    let spec = server.spec();
    let run = measured(
        &tenpass,
        &["bench", "tools", "--model", &spec, "--family", "small-talk", "--passes", "2", "--seed", "5"],
    );
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    tenpass.ok(&["runs", "export", &run, "--format", "csv", "--out", &file("passes.csv")]);
    tenpass.ok(&["runs", "export", &run, "--format", "parquet", "--out", &file("passes.parquet")]);
    let csv = fs::read_to_string(file("passes.csv")).unwrap();
    let passes = lines(&tenpass.runs.path().join(&run).join("passes.jsonl"));
    let finals = passes.iter().filter(|pass| pass["final"] == true).count();
    assert!(csv.starts_with("run,configuration,case,family,"));
    // A text may have line ends: the run's name begins each row.
    assert_eq!(csv.matches(&format!("\n{run},")).count(), finals);
    let parquet = fs::read(file("passes.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let error =
        tenpass.fails(2, &["runs", "export", &run, "--format", "csv", "--out", folder.path().to_str().unwrap()]);
    assert!(error.contains("is a folder"), "{error}");
    let error =
        tenpass.fails(2, &["runs", "export", &run, "--format", "csv", "--out", &file("x"), "--configuration", "none"]);
    assert!(error.contains("none"), "{error}");
}

#[test]
fn results_of_tool_bench_become_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.jsonl");
    // As scripts/tool_bench.py of llama.cpp writes it.
    let line = |temp: Value, right: u32, wrong: u32| {
        json!({
            "chat_template": null, "chat_template_file": null, "model": "Qwen 2.5 1.5B", "server_name": "llama-server",
            "model_id": "org/model:Q4_K_M", "test": "hello world", "temp": temp, "top_p": null, "top_k": null, "ctk": null,
            "ctv": null, "seed": null, "success_ratio": f64::from(right) / f64::from(right + wrong), "avg_time": 0.5,
            "median_time": 0.5, "success_count": right, "success_times": vec![0.5; right as usize], "failure_count": wrong,
            "failure_times": vec![1.5; wrong as usize], "failures": if wrong > 0 { json!(["no tool call"]) } else { json!([]) },
        })
    };
    fs::write(&file, format!("{}\n{}\n", line(json!(0.0), 9, 1), line(json!(1.0), 2, 8))).unwrap();
    let tenpass = Tenpass::new();
    let said = tenpass.ok(&["runs", "import", "llama-tool-bench", file.to_str().unwrap()]);
    assert!(said.contains("20 passes of 1 case"), "{said}");
    let shown = tenpass.json(&["runs", "show", "latest", "--format", "json"]);
    let cells = shown["cases"][0]["cells"].as_array().unwrap();
    let rates: Vec<&Value> = cells.iter().map(|cell| &cell["rate"]["passed"]).collect();
    assert_eq!(rates, [&json!(9), &json!(2)]);
    // Once is enough, whatever the file is called.
    let run = said.split(':').next().unwrap();
    let error = tenpass.fails(2, &["runs", "import", "llama-tool-bench", file.to_str().unwrap()]);
    assert!(error.contains(&format!("it is run {run}")) && error.contains("--again"), "{error}");
    assert!(tenpass.ok(&["runs", "list"]).contains("complete, imported"));
    tenpass.ok(&["runs", "import", "llama-tool-bench", file.to_str().unwrap(), "--again"]);
    assert_eq!(run_ids(&tenpass).len(), 2);
    fs::write(&file, "{\"test\": 7}\n").unwrap();
    let error = tenpass.fails(2, &["runs", "import", "llama-tool-bench", file.to_str().unwrap()]);
    assert!(error.contains("results.jsonl:1: "), "{error}");
}
