//! Two stored runs of 100,000 passes each compared, the report of one written, and inspect_ai's reading
//! of a log beside ours.
//!
//! The passes are replayed: what is measured is reading, statistics and writing. A plain script that
//! reads the same files and counts stands beside the comparison, `runs show` of the same run too.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::measure::{Measured, Subject};
use crate::shell::Workspace;

const CASES: usize = 100;
/// Passes a case of the runs that are compared: 100,000 in all.
const PASSES: u64 = 1000;
/// Passes a case of the log that inspect_ai reads, unless said otherwise: 10,000 in all. A hundred
/// thousand of its samples take gigabytes.
const INSPECT_PASSES: u64 = 100;
/// What the timed commands are repeated, the fastest of which counts.
const TIMES: u32 = 5;
const PLAIN: &str = include_str!("compare_plain.py");
const INSPECT: &str = include_str!("compare_inspect.py");

/// Measures and prints.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<Value> {
    let inspect_passes = match arguments {
        [] => INSPECT_PASSES,
        [flag, count] if flag == "--inspect-passes" => count.parse().context("--inspect-passes wants a number")?,
        _ => bail!("perf compare takes --inspect-passes N and nothing else"),
    };
    let subject = Subject::new(workspace, "compare-runs")?;
    let suite = suite(&subject.runs)?;
    let before = bench(&subject, &suite, "before", 0, PASSES)?;
    let after = bench(&subject, &suite, "after", 1, PASSES)?;
    let mut rows = Vec::new();
    comparison(&subject, &before, &after, &mut rows)?;
    report(&subject, &after, &mut rows)?;
    let log = bench(&subject, &suite, "before", 0, inspect_passes)?;
    let version = inspect(workspace, &subject, &log, &mut rows)?;
    for row in &rows {
        row.print();
    }
    println!("inspect_ai {version}; {inspect_passes} passes of each of {CASES} cases in its log");
    let named = |row: &Row| json!({ "what": row.what, "ms": row.ms, "peak_bytes": row.peak_bytes });
    Ok(json!({
        "passes": CASES as u64 * PASSES, "inspect_passes": CASES as u64 * inspect_passes, "inspect_ai": version,
        "rows": rows.iter().map(named).collect::<Vec<_>>(),
    }))
}

/// One line of the result.
struct Row {
    what: String,
    ms: f64,
    peak_bytes: u64,
    wanted: &'static str,
}

impl Row {
    fn print(&self) {
        let wanted = if self.wanted.is_empty() { String::new() } else { format!("   (wanted: {})", self.wanted) };
        println!("{:<48} {:>10.1} ms {:>8.1} MB{wanted}", self.what, self.ms, self.peak_bytes as f64 / 1e6);
    }
}

fn comparison(subject: &Subject, before: &str, after: &str, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    // The first look at a run fills the index; that is the bench's doing and not the comparison's.
    let words = ["compare", before, after, "--format", "json"];
    let found: Value = serde_json::from_str(&subject.run(&words)?.stdout).context("the comparison is not JSON")?;
    ensure!(found["verdict"] == "REAL", "the planted gain came out {}", found["verdict"]);
    let compared = [&found["before"], &found["after"]].map(|side| side["rate"]["total"].as_u64().unwrap_or(0));
    ensure!(compared == [CASES as u64 * PASSES; 2], "{compared:?} passes were compared");
    rows.push(repeated(subject, "compare, two runs of 100,000 passes", "below 200 ms, 100 MB", &words)?);
    rows.push(repeated(subject, "runs show, one of them", "", &["runs", "show", after])?);
    let script = subject.runs.join("plain.py");
    std::fs::write(&script, PLAIN)?;
    let folders = [before, after].map(|run| subject.runs.join(run));
    let plain = python(Path::new("python3"), &script, &folders)?;
    let (ours, theirs) = (found["delta"]["estimate"].as_f64(), plain["delta"].as_f64());
    let agree = ours.zip(theirs).is_some_and(|(ours, theirs)| (ours - theirs).abs() < 1e-9);
    ensure!(agree, "the script finds a difference of {theirs:?}, the comparison one of {ours:?}");
    rows.push(Row {
        what: "a Python script that reads and counts the same".to_owned(),
        ms: plain["seconds"].as_f64().unwrap_or(f64::NAN) * 1e3,
        peak_bytes: plain["peak_bytes"].as_u64().unwrap_or(0),
        wanted: "",
    });
    Ok(())
}

fn report(subject: &Subject, run: &str, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    let page = subject.runs.join("report.html").display().to_string();
    let words = ["report", run, "--out", &page];
    rows.push(repeated(subject, "report, 100,000 passes", "below 2,000 ms", &words)?);
    let bytes = std::fs::metadata(&page).context("the report was not written")?.len();
    println!("the report has {:.1} MB", bytes as f64 / 1e6);
    Ok(())
}

/// The same log read by both: ours into a run, theirs into memory. Returns the version of inspect_ai.
fn inspect(workspace: &Workspace, subject: &Subject, run: &str, rows: &mut Vec<Row>) -> anyhow::Result<String> {
    let folder = subject.runs.join("log");
    let out = folder.display().to_string();
    let exported = subject.run(&["runs", "export", run, "--format", "inspect", "--out", &out])?;
    rows.push(row("runs export --format inspect", "", &exported));
    let log = only_file(&folder)?;
    let imported = subject.run(&["runs", "import", "inspect", &log.display().to_string()])?;
    rows.push(row("runs import inspect, the same log", "", &imported));
    let python3 = venv(workspace)?;
    let script = subject.runs.join("read_log.py");
    std::fs::write(&script, INSPECT)?;
    let theirs = python(&python3, &script, &[log])?;
    let peak_bytes = theirs["peak_bytes"].as_u64().unwrap_or(0);
    for (what, key) in [("inspect_ai, the whole log", "whole_s"), ("inspect_ai, its summaries only", "summaries_s")] {
        let ms = theirs[key].as_f64().with_context(|| format!("the script tells no {key}"))? * 1e3;
        rows.push(Row { what: what.to_owned(), ms, peak_bytes, wanted: "" });
    }
    Ok(theirs["version"].as_str().unwrap_or("of unknown version").to_owned())
}

/// The one file in a folder: a run of one configuration is one log.
fn only_file(folder: &Path) -> anyhow::Result<PathBuf> {
    let files = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    let [file] = files.as_slice() else { bail!("{} has {} files and not one", folder.display(), files.len()) };
    Ok(file.clone())
}

/// A virtual environment with inspect_ai, made once.
fn venv(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let folder = workspace.target.join("perf").join("inspect-venv");
    let python3 = folder.join("bin").join("python");
    let has_it =
        || Command::new(&python3).args(["-c", "import inspect_ai"]).output().is_ok_and(|made| made.status.success());
    if has_it() {
        return Ok(python3);
    }
    println!("installing inspect_ai into {}", folder.display());
    let steps: [(&Path, Vec<String>); 2] = [
        (Path::new("python3"), vec!["-m".into(), "venv".into(), folder.display().to_string()]),
        (&python3, ["-m", "pip", "install", "--quiet", "inspect_ai"].map(str::to_owned).to_vec()),
    ];
    for (program, words) in steps {
        let status = Command::new(program).args(&words).status().context("python3 does not start")?;
        ensure!(status.success(), "python3 {} ended with {status}", words.join(" "));
    }
    ensure!(has_it(), "inspect_ai was installed and cannot be imported");
    Ok(python3)
}

/// Runs a script that prints one JSON object.
fn python(program: &Path, script: &Path, paths: &[PathBuf]) -> anyhow::Result<Value> {
    let output = Command::new(program).arg(script).args(paths).output().context("python3 does not start")?;
    if !output.status.success() {
        bail!("{} failed: {}", script.display(), String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("the script did not print JSON")
}

/// The fastest of several runs, with the most memory that any took.
fn repeated(subject: &Subject, what: &str, wanted: &'static str, words: &[&str]) -> anyhow::Result<Row> {
    let (mut best, mut peak_bytes) = (Duration::MAX, 0);
    for _ in 0..TIMES {
        let measured = subject.run(words)?;
        best = best.min(measured.wall);
        peak_bytes = peak_bytes.max(measured.peak_bytes);
    }
    Ok(Row { what: what.to_owned(), ms: best.as_secs_f64() * 1e3, peak_bytes, wanted })
}

fn row(what: &str, wanted: &'static str, measured: &Measured) -> Row {
    Row { what: what.to_owned(), ms: measured.wall.as_secs_f64() * 1e3, peak_bytes: measured.peak_bytes, wanted }
}

/// Writes a suite of cases in four families, some of them guards.
fn suite(folder: &Path) -> anyhow::Result<String> {
    let suite = folder.join("suite");
    std::fs::create_dir_all(&suite)?;
    std::fs::write(suite.join("prompt.md"), "You are a helpful assistant.\n")?;
    std::fs::write(suite.join("tools.toml"), TOOL)?;
    for family in 0..4 {
        let mut cases = format!("family = \"room-{family}\"\n");
        for case in (family..CASES).step_by(4) {
            let kind = if case % 5 == 4 { "guard" } else { "target" };
            write!(
                cases,
                "\n[[case]]\nid = \"lamp-{case}\"\nlanguage = \"en\"\nkind = \"{kind}\"\nprovenance = \"generated for a benchmark\"\nprompt = \"Switch on lamp {case}.\"\n[case.expect]\ncalls = [{{ tool = \"lamp\", arguments = {{ on = true }} }}]\n"
            )?;
        }
        std::fs::write(suite.join(format!("room-{family}.toml")), cases)?;
    }
    Ok(suite.display().to_string())
}

/// Runs a bench on recorded answers and returns the run's id. Of the ten answers to each case three to
/// nine are right, and `more` than that in most cases; the others fail in different ways.
fn bench(subject: &Subject, suite: &str, name: &str, more: usize, passes: u64) -> anyhow::Result<String> {
    let mut answers = String::new();
    for case in 0..CASES {
        let right = 3 + case % 7 + more * (case % 3).min(1);
        for answer in 0..10 {
            let (text, calls) = match answer {
                answer if answer < right => ("", json!([{ "name": "lamp", "arguments": { "on": true } }])),
                answer if answer % 2 == 0 => ("", json!([{ "name": "lamp", "arguments": { "on": false } }])),
                _ => ("Lamp is on.", json!([])),
            };
            let line = json!({
                "match": { "case": format!("lamp-{case}") }, "text": text, "calls": calls,
                "prompt_tokens": 100 + case, "completion_tokens": 10 + answer,
            });
            writeln!(answers, "{line}")?;
        }
    }
    let replay = subject.runs.join(format!("{name}.jsonl"));
    std::fs::write(&replay, answers)?;
    let spec = format!("replay:{}", replay.display());
    let passes = passes.to_string();
    let (_, report, _) = subject.bench(&["--cases", suite, "--model", &spec, "--passes", &passes])?;
    let run = report["run"].as_str().context("the report names no run")?;
    Ok(run.to_owned())
}

const TOOL: &str = r#"
[[tool]]
name = "lamp"
description = "Switches a lamp on or off."
parameters = { type = "object", properties = { on = { type = "boolean" } }, required = ["on"] }
"#;
