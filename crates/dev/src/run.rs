//! `cargo dev bench` and `cargo dev test`: from a fresh clone to a result in one command.
//!
//! Both build the whole workspace in release: cargo chooses the features of shared dependencies by the
//! packages it is asked for, so building one package here and the workspace there would build the heavy
//! crates twice.

use std::process::Command;

use crate::setup;
use crate::shell::{Workspace, hand_over, step, succeeds};

/// What `cargo dev bench` runs on.
const DEFAULT_MODEL: &str = "smollm2-135m";
/// What the tests run on, each with the platforms it is for (none: all).
const TEST_ASSETS: &[(&str, &[(&str, &str)])] = &[
    (DEFAULT_MODEL, &[]),
    ("gemma3-270m", &[]),
    ("bfcl", &[]),
    ("llama-server", &[("linux", "x86_64")]),
    ("whisper-base", &[]),
    ("whisper-base-tokenizer", &[]),
    ("whisper-tiny-en", &[]),
    ("whisper-tiny-en-tokenizer", &[]),
    ("silero-vad", &[]),
    ("speech-embedding", &[]),
    ("onnxruntime", &[("linux", "x86_64")]),
    ("piper-joe", &[]),
    ("minilm-l6-v2", &[]),
    ("kokoro-82m", &[]),
    ("kokoro-voices", &[]),
    // A Debian package.
    ("asterisk-prompts-en", &[("linux", "x86_64")]),
];

/// The tool-choice bench; the arguments are its own.
pub(crate) fn bench(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<()> {
    setup::run()?;
    build(workspace)?;
    pull(workspace, &[DEFAULT_MODEL])?;
    let shown = ["tenpass bench tools"].into_iter().chain(arguments.iter().map(String::as_str));
    let title = shown.collect::<Vec<_>>().join(" ");
    hand_over(&title, workspace.tenpass().args(["bench", "tools"]).args(arguments))
}

/// Every test; arguments go to the test runner, and then documentation tests are left out.
pub(crate) fn test(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<()> {
    setup::run()?;
    setup::for_tests();
    build_for_tests(workspace)?;
    let here = (std::env::consts::OS, std::env::consts::ARCH);
    let of_use = |platforms: &[(&str, &str)]| platforms.is_empty() || platforms.contains(&here);
    let assets: Vec<&str> =
        TEST_ASSETS.iter().filter(|(_, platforms)| of_use(platforms)).map(|(name, _)| *name).collect();
    pull(workspace, &assets)?;
    if !succeeds("cargo-nextest", &["nextest", "--version"]) {
        return hand_over("tests", workspace.cargo().args(["test", "--workspace", "--release"]).args(arguments));
    }
    if arguments.is_empty() {
        // nextest runs none of these; first, so that the output ends with nextest's own summary.
        step("documentation tests", workspace.cargo().args(["test", "--workspace", "--release", "--doc", "--quiet"]))?;
    }
    hand_over("tests", workspace.cargo().args(["nextest", "run", "--workspace", "--release"]).args(arguments))
}

/// Builds what people run.
pub(crate) fn build(workspace: &Workspace) -> anyhow::Result<()> {
    step("build", cargo_build(workspace).args(["--lib", "--bins"]))
}

/// Builds what people run and what tests run, in one go.
pub(crate) fn build_for_tests(workspace: &Workspace) -> anyhow::Result<()> {
    step("build with tests", cargo_build(workspace).args(["--lib", "--bins", "--tests"]))
}

fn cargo_build(workspace: &Workspace) -> Command {
    let mut command = workspace.cargo();
    command.args(["build", "--workspace", "--release"]);
    command
}

/// Pulls assets of the catalogue; those that are there cost nothing and need no network.
pub(crate) fn pull(workspace: &Workspace, names: &[&str]) -> anyhow::Result<()> {
    let title = format!("models: {}", names.join(", "));
    step(&title, workspace.tenpass().args(["models", "pull"]).args(names))
}
