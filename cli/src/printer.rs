//! The only place that writes to the terminal.
//!
//! Results go to stdout, everything else to stderr. Colours obey `--color`, then NO_COLOR and
//! CLICOLOR_FORCE, then whether the stream is a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this module is the printer")]
#![allow(clippy::unused_self, reason = "only who was given a printer may print")]

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use serde::Serialize;

use crate::failure::Failure;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Set when a result could not be written.
static LOST: AtomicBool = AtomicBool::new(false);

/// Whether a result could not be written: then no command ends with success.
pub(crate) fn output_was_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Writes results and messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    colored_out: bool,
    colored_err: bool,
}

fn set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

impl Printer {
    pub(crate) fn new(choice: ColorChoice) -> Self {
        let decide = |terminal: bool| match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => !set("NO_COLOR") && (set("CLICOLOR_FORCE") || terminal),
        };
        Self {
            colored_out: decide(std::io::stdout().is_terminal()),
            colored_err: decide(std::io::stderr().is_terminal()),
        }
    }

    /// Whether results are coloured.
    pub(crate) fn colored(self) -> bool {
        self.colored_out
    }

    /// Columns of the terminal, or 100 where there is none.
    pub(crate) fn width(self) -> usize {
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        columns.or_else(|| console_width().filter(|_| std::io::stdout().is_terminal())).unwrap_or(100).clamp(60, 400)
    }

    /// A result. A closed pipe (`| head`) is no error.
    pub(crate) fn out(self, text: &str) {
        let mut stdout = std::io::stdout().lock();
        let ended = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        let written = write!(stdout, "{text}{ended}").and_then(|()| stdout.flush());
        if let Err(error) = written
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            LOST.store(true, Ordering::Relaxed);
            eprintln!("error: cannot write the output: {error}");
        }
    }

    /// Where a large result is written piece by piece, or one that is not text. It must be flushed.
    pub(crate) fn bytes(self) -> impl Write {
        std::io::BufWriter::with_capacity(64 * 1024, std::io::stdout().lock())
    }

    /// A piece of a conversation, as it is: a line that is still being written ends nowhere yet.
    pub(crate) fn piece(self, text: &str) {
        let mut stdout = std::io::stdout().lock();
        if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
            && error.kind() != std::io::ErrorKind::BrokenPipe
            && !LOST.swap(true, Ordering::Relaxed)
        {
            eprintln!("error: cannot write the output: {error}");
        }
    }

    /// Whether results go to a terminal, where what was written can be taken back.
    pub(crate) fn is_terminal(self) -> bool {
        std::io::stdout().is_terminal()
    }

    /// Lines of the terminal, or 24 where there is none.
    pub(crate) fn height(self) -> usize {
        console::Term::stdout().size_checked().map_or(24, |(lines, _)| usize::from(lines)).max(2)
    }

    /// A result as pretty JSON.
    pub(crate) fn json(self, value: &impl Serialize) -> Result<(), Failure> {
        self.out(&serde_json::to_string_pretty(value).map_err(Failure::bug)?);
        Ok(())
    }

    /// A message beside the results.
    pub(crate) fn note(self, text: &str) {
        eprintln!("{text}");
    }

    /// An error line and its hint.
    pub(crate) fn failure(self, failure: &Failure) {
        let (error, hint, plain) = if self.colored_err { ("\x1b[1;31m", "\x1b[36m", "\x1b[0m") } else { ("", "", "") };
        eprintln!("{error}error{plain}: {}", failure.message);
        if let Some(text) = &failure.hint {
            eprintln!("{hint}hint{plain}: {text}");
        }
    }
}

fn console_width() -> Option<usize> {
    let (_, columns) = console::Term::stdout().size_checked()?;
    Some(usize::from(columns))
}
