//! What can be typed. No defaults that belong to settings, no logic.

pub(crate) mod agent;
pub(crate) mod bench;
pub(crate) mod review;
pub(crate) mod serve;
pub(crate) mod speech;
pub(crate) mod stats;
pub(crate) mod tools;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::printer::ColorChoice;

const ABOUT: &str = "Ten passes each, because one run cannot tell a fix from a coincidence.";

const LONG_ABOUT: &str = "\
Ten passes each, because one run cannot tell a fix from a coincidence.

An agent on a local model, and the benches that say whether it can be trusted: failure cases with
rates over repeated passes, on an embedded model, Ollama, or any OpenAI-compatible server.

Example:
  tenpass models pull smollm2-135m
  tenpass bench tools
  tenpass chat

Exit codes: 0 yes · 1 the answer is no · 2 a mistake in what was typed or in a file ·
3 a backend or a model is missing or failed · 70 a bug · 130 stopped by Ctrl-C";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "tenpass", version, about = ABOUT, long_about = LONG_ABOUT, propagate_version = true, max_term_width = 100)]
pub(crate) struct Arguments {
    /// When to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, global = true)]
    pub(crate) color: ColorChoice,
    /// Fetch nothing; a model that is not on this machine is an error
    #[arg(long, global = true)]
    pub(crate) offline: bool,
    /// Take the settings of this profile of the configuration files
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Where runs are kept
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) runs_dir: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Talk to the agent
    Chat(Box<agent::Chat>),
    /// Run the assistant as a server with a page
    Serve(Box<serve::Serve>),
    /// Measure rates over repeated passes
    #[command(subcommand)]
    Bench(bench::Benches),
    /// Say whether B differs from A: REAL, NO CHANGE, REGRESSED or INCONCLUSIVE
    Compare(Box<review::Compare>),
    /// Measure the winner of a run again with fresh seeds
    Confirm(Box<review::Confirm>),
    /// Run every bench of the night, compare with the baseline, and write the report
    Nightly(Box<review::Nightly>),
    /// Write runs as one HTML page
    Report(review::Report),
    /// Ask runs and traces in SQL
    Query(review::Query),
    /// The calculator behind the verdicts
    #[command(subcommand)]
    Stats(stats::Stats),
    /// List, show, check, collect and exchange failure cases
    #[command(subcommand)]
    Cases(tools::Cases),
    /// List, show and re-grade what was measured
    #[command(subcommand)]
    Runs(tools::Runs),
    /// List, fetch and verify models and other assets
    #[command(subcommand)]
    Models(tools::Models),
    /// Look into raw answers
    #[command(subcommand)]
    Calls(tools::Calls),
    /// Look into the prompts that models receive
    #[command(subcommand)]
    Prompt(tools::Prompt),
    /// Look into what the agent did
    #[command(subcommand)]
    Trace(agent::Trace),
    /// Look into what the agent meant to do
    #[command(subcommand)]
    Journal(agent::Journal),
    /// Show and change what the agent remembers
    #[command(subcommand)]
    Memory(agent::Memory),
    /// Hold what answers claim against what was done
    #[command(subcommand)]
    Claims(agent::Claims),
    /// Write down what is said in sound files
    Transcribe(Box<speech::transcribe::Transcribe>),
    /// Speak a text, or write it as a sound file
    Say(Box<speech::say::Say>),
    /// Make, record, freeze and verify corpora of sound
    #[command(subcommand)]
    Corpus(speech::corpus::Corpus),
    /// Check the closed commands, and try a text on them
    #[command(subcommand)]
    Commands(speech::commands::Commands),
    /// Listen for the wake word, and score sound files with its heads
    #[command(subcommand)]
    Wake(speech::wake::Wake),
    /// Train a wake word or a speaker verifier
    #[command(subcommand)]
    Train(speech::train::Train),
    /// Let a candidate listen beside the one in service
    #[command(subcommand)]
    Shadow(speech::shadow::Shadow),
    /// Put a candidate into service, or take it back
    #[command(subcommand)]
    Promote(speech::promote::Promote),
    /// Vote on answers or voices without knowing whose they are
    #[command(subcommand)]
    Blind(speech::blind::Blind),
    /// Show settings and where each comes from
    #[command(subcommand)]
    Config(tools::Config),
    /// Print shell completions
    #[command(after_help = "Example:\n  tenpass completions bash > ~/.local/share/bash-completion/completions/tenpass")]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write man pages, one a command
    #[command(after_help = "Example:\n  tenpass man ~/.local/share/man/man1")]
    Man {
        /// The folder to write to
        dir: PathBuf,
    },
    /// Print the generated reference pages of this repository
    #[command(hide = true)]
    Generate {
        /// Which page
        #[arg(value_enum)]
        page: Page,
    },
}

/// A generated page.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Page {
    /// Every command with its help.
    Commands,
    /// Every environment variable.
    Environment,
    /// Every setting.
    Configuration,
}

/// How a table is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs.
    Json,
    /// For spreadsheets.
    Csv,
    /// For data frames; needs a file or a pipe.
    Parquet,
}

/// `--format` of commands that print a table.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct TableFormat {
    /// How to print it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}

/// `--format` of commands that print one thing.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct TextOrJson {
    /// How to print it
    #[arg(long, value_enum, default_value = "table", value_name = "FORMAT")]
    pub(crate) format: Plain,
}

/// A table or JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Plain {
    /// For people.
    Table,
    /// For programs.
    Json,
}

impl TextOrJson {
    /// Whether JSON was asked for.
    pub(crate) fn json(self) -> bool {
        self.format == Plain::Json
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    fn check_examples(command: &clap::Command, path: &str) {
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
            let path = format!("{path} {}", sub.get_name());
            if sub.has_subcommands() {
                check_examples(sub, &path);
            } else {
                let help =
                    sub.get_after_help().or(sub.get_after_long_help()).map(ToString::to_string).unwrap_or_default();
                assert!(help.contains(&format!("  {path}")), "`{path} --help` has no example");
            }
        }
    }

    #[test]
    fn the_command_line_is_consistent_and_every_command_has_an_example() {
        let command = super::Arguments::command();
        command.clone().debug_assert();
        check_examples(&command, "tenpass");
    }
}
