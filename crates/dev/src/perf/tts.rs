//! Time to the first chunk and real-time factor of our voices beside piper-tts, on the same text and the same
//! Piper voice.
//!
//! Each measurement is a process of its own: loading is apart, the first chunk is cold. Both stream: piper-tts by
//! sentence, ours by chunk with the first clause early. The fastest of several runs counts.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::measure::Subject;
use crate::shell::Workspace;

const PEER: &str = include_str!("tts_peer.py");
/// How often each is run.
const TIMES: usize = 3;
/// The texts: a short answer and a longer one.
const TEXTS: [(&str, &str); 2] = [
    ("short", "The meeting starts at three, and everybody is invited."),
    (
        "long",
        "Here is what I have found about your question. There are three trains to the coast tomorrow morning, and \
         the first of them leaves shortly after six. If you would rather sleep a little longer, take the second one. \
         It is slower, but it has a dining car, and the view over the river is worth the time. I can book a seat for \
         you, or set an alarm. Which of the two would you like?",
    ),
];

/// One voice on one text.
struct Row {
    text: &'static str,
    who: String,
    load_ms: f64,
    first_chunk_ms: f64,
    real_time_factor: f64,
    seconds: f64,
}

/// Measures and prints.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<Value> {
    if !arguments.is_empty() {
        bail!("perf tts takes nothing else");
    }
    let subject = Subject::new(workspace, "tts-sounds")?;
    let python = venv(workspace)?;
    let voice = PathBuf::from(subject.run(&["models", "path", "piper-joe"])?.stdout.trim());
    let script = subject.runs.join("tts_peer.py");
    std::fs::write(&script, PEER)?;
    let mut rows = Vec::new();
    let mut version = String::new();
    for (name, text) in TEXTS {
        let file = subject.runs.join(format!("{name}.txt"));
        std::fs::write(&file, text)?;
        let (row, found) = peer(&python, &script, &voice, &file, name)?;
        rows.push(row);
        version = found;
        for spec in ["piper:piper-joe", "kokoro:af_heart"] {
            rows.push(ours(&subject, spec, &file, name)?);
        }
    }
    println!(
        "{:<6} {:<24} {:>10} {:>16} {:>18} {:>9}",
        "text", "voice", "load ms", "first chunk ms", "real-time factor", "length s"
    );
    for row in &rows {
        println!(
            "{:<6} {:<24} {:>10.0} {:>16.0} {:>18.3} {:>9.2}",
            row.text, row.who, row.load_ms, row.first_chunk_ms, row.real_time_factor, row.seconds
        );
    }
    let named = |row: &Row| {
        json!({ "text": row.text, "voice": row.who, "load_ms": row.load_ms, "first_chunk_ms": row.first_chunk_ms,
                "real_time_factor": row.real_time_factor, "seconds": row.seconds })
    };
    Ok(json!({ "piper_tts": version, "times": TIMES, "rows": rows.iter().map(named).collect::<Vec<_>>() }))
}

fn ours(subject: &Subject, spec: &str, text: &Path, name: &'static str) -> anyhow::Result<Row> {
    let out = subject.runs.join("out.wav").display().to_string();
    let text = text.display().to_string();
    let words = ["say", "--file", &text, "--language", "en", "--voice", spec, "--out", &out, "--format", "json"];
    let found = (0..TIMES)
        .map(|_| serde_json::from_str(&subject.run(&words)?.stdout).context("the report is not JSON"))
        .collect::<anyhow::Result<Vec<Value>>>()?;
    best(&found, name, format!("tenpass {spec}"))
}

fn peer(python: &Path, script: &Path, voice: &Path, text: &Path, name: &'static str) -> anyhow::Result<(Row, String)> {
    let mut found = Vec::new();
    for _ in 0..TIMES {
        let output =
            Command::new(python).arg(script).arg(voice).arg(text).output().context("python3 does not start")?;
        ensure!(output.status.success(), "piper-tts failed: {}", String::from_utf8_lossy(&output.stderr));
        found.push(serde_json::from_slice::<Value>(&output.stdout).context("the script did not print JSON")?);
    }
    let version = found[0]["version"].as_str().unwrap_or("of unknown version").to_owned();
    Ok((best(&found, name, format!("piper-tts {version}"))?, version))
}

/// The fastest of several runs, figure by figure.
fn best(found: &[Value], text: &'static str, who: String) -> anyhow::Result<Row> {
    let of = |run: &Value, key: &str| run[key].as_f64().with_context(|| format!("{who} tells no {key}"));
    let mut row = Row {
        text,
        who: who.clone(),
        load_ms: f64::INFINITY,
        first_chunk_ms: f64::INFINITY,
        real_time_factor: f64::INFINITY,
        seconds: 0.0,
    };
    for run in found {
        let seconds = of(run, "seconds")?;
        ensure!(seconds > 1.0, "{who} spoke for {seconds} s only");
        row.load_ms = row.load_ms.min(of(run, "load_ms")?);
        row.first_chunk_ms = row.first_chunk_ms.min(of(run, "first_chunk_ms")?);
        row.real_time_factor = row.real_time_factor.min(of(run, "synthesis_ms")? / 1e3 / seconds);
        row.seconds = seconds;
    }
    Ok(row)
}

/// A virtual environment with piper-tts, made once. It is run and never linked.
fn venv(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let folder = workspace.target.join("perf").join("tts-venv");
    let python = folder.join("bin").join("python");
    let has_it = || Command::new(&python).args(["-c", "import piper"]).output().is_ok_and(|made| made.status.success());
    if has_it() {
        return Ok(python);
    }
    println!("installing piper-tts into {}", folder.display());
    let steps: [(&Path, Vec<String>); 2] = [
        (Path::new("python3"), vec!["-m".into(), "venv".into(), folder.display().to_string()]),
        (&python, ["-m", "pip", "install", "--quiet", "piper-tts"].map(str::to_owned).to_vec()),
    ];
    for (program, words) in steps {
        let status = Command::new(program).args(&words).status().context("python3 does not start")?;
        ensure!(status.success(), "python3 {} ended with {status}", words.join(" "));
    }
    ensure!(has_it(), "piper-tts was installed and cannot be imported");
    Ok(python)
}
