//! Runs of the real binary, with their time and memory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::shell::Workspace;

/// The release binary with a runs folder of its own.
pub(crate) struct Subject {
    binary: PathBuf,
    root: PathBuf,
    /// Where its runs go; emptied at the start.
    pub(crate) runs: PathBuf,
}

/// One call that ended well.
pub(crate) struct Measured {
    /// Wall time of the whole process.
    pub(crate) wall: Duration,
    /// Most memory it held, in bytes; sampled, Linux only.
    pub(crate) peak_bytes: u64,
    /// What it printed.
    pub(crate) stdout: String,
}

impl Subject {
    pub(crate) fn new(workspace: &Workspace, name: &str) -> anyhow::Result<Self> {
        let runs = workspace.target.join("perf").join(name);
        if runs.exists() {
            std::fs::remove_dir_all(&runs)?;
        }
        std::fs::create_dir_all(&runs)?;
        Ok(Self { binary: workspace.binary(), root: workspace.root.clone(), runs })
    }

    /// Runs `tenpass` with these words.
    pub(crate) fn run(&self, words: &[&str]) -> anyhow::Result<Measured> {
        let output = self.runs.join("stdout.txt");
        let file = std::fs::File::create(&output)?;
        let started = Instant::now();
        let mut child = Command::new(&self.binary)
            .args(words)
            .current_dir(&self.root)
            .env("TENPASS_RUNS_DIR", &self.runs)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{} does not start", self.binary.display()))?;
        let status = Path::new("/proc").join(child.id().to_string()).join("status");
        let mut peak_bytes = 0;
        let ended = loop {
            // VmHWM is the high-water mark, so a coarse sampling misses only the very end.
            peak_bytes = peak_bytes.max(high_water(&status));
            match child.try_wait()? {
                Some(ended) => break ended,
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let wall = started.elapsed();
        if !ended.success() {
            bail!("tenpass {} ended with {ended}", words.join(" "));
        }
        Ok(Measured { wall, peak_bytes, stdout: std::fs::read_to_string(&output)? })
    }

    /// Runs a bench and returns its measured seconds (loading the model excluded) with the report.
    pub(crate) fn bench(&self, words: &[&str]) -> anyhow::Result<(f64, Value, Measured)> {
        let mut all = vec!["bench", "tools", "--format", "json"];
        all.extend_from_slice(words);
        let measured = self.run(&all)?;
        let report: Value = serde_json::from_str(&measured.stdout).context("the report is not JSON")?;
        let seconds = report["elapsed_s"].as_f64().context("the report names no elapsed time")?;
        Ok((seconds, report, measured))
    }
}

fn high_water(status: &Path) -> u64 {
    let text = std::fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// The smallest of `count` wall times: what the machine can do when nobody disturbs.
pub(crate) fn fastest(count: u32, mut run: impl FnMut() -> anyhow::Result<Duration>) -> anyhow::Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..count {
        best = best.min(run()?);
    }
    Ok(best)
}
