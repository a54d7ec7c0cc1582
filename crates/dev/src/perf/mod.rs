//! `cargo dev perf …`: speed and memory as ratios from one run on one machine.
//!
//! Machines are shared and noisy, so nothing here passes or fails by the clock, and every figure
//! stands beside its peer's from the same minutes. Results are printed and written to
//! `target/perf/NAME.json`.

mod compare;
mod engine;
mod harness;
mod measure;
mod stt;
mod train;
mod tts;
mod wake;

use serde_json::Value;

use crate::shell::Workspace;

/// `perf compare`.
pub(crate) fn compare(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<()> {
    save(workspace, "compare", &compare::run(workspace, arguments)?)
}

/// `perf engine`.
pub(crate) fn engine(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<()> {
    save(workspace, "engine", &engine::run(workspace, arguments)?)
}

/// `perf harness`.
pub(crate) fn harness(workspace: &Workspace) -> anyhow::Result<()> {
    save(workspace, "harness", &harness::run(workspace)?)
}

/// `perf stt`.
pub(crate) fn stt(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<()> {
    save(workspace, "stt", &stt::run(workspace, arguments)?)
}

/// `perf tts`.
pub(crate) fn tts(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<()> {
    save(workspace, "tts", &tts::run(workspace, arguments)?)
}

/// `perf wake`.
pub(crate) fn wake(workspace: &Workspace) -> anyhow::Result<()> {
    save(workspace, "wake", &wake::run(workspace)?)
}

/// `perf wake-training`.
pub(crate) fn wake_training(workspace: &Workspace) -> anyhow::Result<()> {
    save(workspace, "wake-training", &train::run(workspace)?)
}

fn save(workspace: &Workspace, name: &str, value: &Value) -> anyhow::Result<()> {
    let folder = workspace.target.join("perf");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{name}.json"));
    std::fs::write(&path, serde_json::to_string_pretty(value)?)?;
    println!("written to target/perf/{name}.json");
    Ok(())
}
