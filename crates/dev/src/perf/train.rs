//! How long a wake head's fit takes, beside a PyTorch recipe with the same network, batches and optimiser on the same
//! features, which both take from the cache of a training.
//!
//! Ours is the difference between a long and a short fit through the binary, the looks at the held-out streams
//! included; the peer counts its own loop, which has none. Sound and features are made once before.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::measure::{Subject, fastest};
use crate::shell::{Workspace, step};

const PYTHON: &str = include_str!("train_peer.py");
/// Steps of the main stage of the short and of the long fit; a fifth more follow.
const SHORT: u32 = 500;
const LONG: u32 = 3_000;
/// How often each is run; the fastest counts.
const TIMES: u32 = 3;

/// Measures and prints.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<Value> {
    let subject = Subject::new(workspace, "wake-training-runs")?;
    let folder = workspace.target.join("perf").join("wake-training");
    std::fs::create_dir_all(&folder)?;
    let work = folder.join("work");
    let fit = |steps: u32| {
        let (steps, out, work) = (steps.to_string(), folder.join("kora.onnx"), work.display().to_string());
        let out = out.display().to_string();
        let words = ["train", "wake", "--word", "kora", "--synthetic", "300", "--voices", "espeak,flite"];
        let all = [&words[..], &["--steps", &steps, "--out", &out, "--work", &work, "--format", "json"]].concat();
        subject.run(&all).map(|measured| measured.wall)
    };
    // Speech and features come into the cache.
    fit(50)?;
    let short = fastest(TIMES, || fit(SHORT))?.as_secs_f64();
    let long = fastest(TIMES, || fit(LONG))?.as_secs_f64();
    let steps = f64::from(LONG - SHORT) * 1.2;
    let ours = (long - short) / steps * 1e3;
    println!("{:<24} {ours:>8.3} ms a step, looks included, one thread", "tenpass");
    let python = venv(workspace)?;
    let script = folder.join("train_peer.py");
    std::fs::write(&script, PYTHON)?;
    let mut rows = vec![json!({ "name": "tenpass", "threads": 1, "ms_per_step": ours })];
    for threads in ["1", "2"] {
        let counted = steps.to_string();
        let output =
            Command::new(&python).arg(&script).arg(work.join("features.bin")).args([&counted, threads]).output()?;
        ensure!(output.status.success(), "PyTorch: {}", String::from_utf8_lossy(&output.stderr));
        let found: Value = serde_json::from_slice(&output.stdout).context("PyTorch printed no JSON")?;
        let theirs = found["seconds"].as_f64().context("PyTorch printed no seconds")? / steps * 1e3;
        println!("{:<24} {theirs:>8.3} ms a step, {threads} thread(s): {:.1} × ours", "PyTorch", theirs / ours);
        rows.push(json!({ "name": "PyTorch", "threads": threads, "ms_per_step": theirs, "data": found }));
    }
    Ok(json!({ "steps": steps, "batch": [1024, 50, 50], "rows": rows }))
}

fn venv(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let venv = workspace.target.join("perf").join("torch-venv");
    let python = venv.join("bin").join("python");
    if Command::new(&python).args(["-c", "import torch, numpy"]).output().is_ok_and(|output| output.status.success()) {
        return Ok(python);
    }
    step("python3 -m venv", Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let packages = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "torch", "numpy"];
    step("pip install torch", Command::new(&python).args(packages))?;
    Ok(python)
}
