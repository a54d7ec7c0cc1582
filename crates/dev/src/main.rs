//! `cargo dev …`: set-up, build, tests, generated pages and the layer check.
//!
//! Talks to the person at the terminal and starts other programs; it holds no logic of tenpass itself and
//! depends on none of its crates, so that it builds in seconds. Every command can be run again at once:
//! what is there is left alone, and needs no network.
//!
//! Exit codes: 0 done · 1 a check or a test failed · 2 the machine lacks something that only its owner can
//! install · what a started program ended with.

#![allow(clippy::print_stdout, clippy::print_stderr)] // talking is the work of this program

mod check;
mod docs;
mod layers;
mod perf;
mod run;
mod setup;
mod shell;

use std::process::ExitCode;

use shell::{Stop, Workspace};

const HELP: &str = "\
cargo dev COMMAND: set up, test and measure tenpass

  setup             install what the build needs, or print the one line to run
  bench [ARGS…]     set up, build, pull the default model, run `tenpass bench tools ARGS…`
  test [ARGS…]      set up, build, pull the test assets, run the tests; ARGS go to the test runner
  check             format, layers, clippy, generated pages
  ci                check, then test
  check-layers      hold crates/dev/src/layers.rs against the workspace
  perf compare      two runs of 100,000 passes compared, their report, inspect_ai beside ours (--inspect-passes N)
  perf engine       the bench on the embedded engine against llama-server (--cases N, --passes N)
  perf harness      overhead, memory and start-up of the harness itself
  perf stt          our speech engines beside faster-whisper and pywhispercpp (--clips DIR)
  perf tts          time to first chunk and real-time factor of our voices beside piper-tts
  perf wake         the wake word's front end and heads beside openWakeWord and oww-rs
  perf wake-training  the fit of a wake head beside a PyTorch recipe on the same features
  docs [--check]    write the generated pages, or say which is out of date

Models go to the folder that `tenpass config show` prints (TENPASS_HOME moves it).
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let (code, message) = match error.downcast::<Stop>() {
                Ok(stop) => (stop.code, stop.message),
                Err(error) => (1, Some(format!("{error:#}"))),
            };
            if let Some(message) = message {
                eprintln!("cargo dev: {message}");
            }
            ExitCode::from(code)
        }
    }
}

fn dispatch(words: &[String]) -> anyhow::Result<()> {
    let (command, arguments) = words.split_first().map_or(("help", words), |(first, rest)| (first.as_str(), rest));
    if matches!(command, "help" | "--help" | "-h") {
        print!("{HELP}");
        return Ok(());
    }
    if (command, arguments) == ("setup", &[]) {
        return setup::run();
    }
    let workspace = Workspace::find()?;
    match (command, arguments) {
        ("bench", arguments) => run::bench(&workspace, arguments),
        ("test", arguments) => run::test(&workspace, arguments),
        ("check", []) => check::run(&workspace),
        ("ci", []) => check::run(&workspace).and_then(|()| run::test(&workspace, &[])),
        ("check-layers", []) => layers::run(&workspace),
        ("perf", [what, rest @ ..]) if what == "compare" => perf::compare(&workspace, rest),
        ("perf", [what, rest @ ..]) if what == "engine" => perf::engine(&workspace, rest),
        ("perf", [what]) if what == "harness" => perf::harness(&workspace),
        ("perf", [what, rest @ ..]) if what == "stt" => perf::stt(&workspace, rest),
        ("perf", [what, rest @ ..]) if what == "tts" => perf::tts(&workspace, rest),
        ("perf", [what]) if what == "wake" => perf::wake(&workspace),
        ("perf", [what]) if what == "wake-training" => perf::wake_training(&workspace),
        ("docs", []) => docs::run(&workspace, docs::Mode::Write),
        ("docs", [flag]) if flag == "--check" => docs::run(&workspace, docs::Mode::Check),
        _ => Err(Stop::user(format!("no command `{}`\n\n{HELP}", words.join(" "))).into()),
    }
}
