//! `tenpass chat`, `trace`, `journal`, `memory`, `claims`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tenpass_agent::{Selection, Structure};
use tenpass_model::ModelSpec;

use super::bench::{Think, parse_selection, parse_structure, parse_temperature};
use super::{TableFormat, TextOrJson};

const CHAT_HELP: &str = "\
Type a message, or /help for what else can be typed. Ctrl-C stops the answer, Ctrl-D leaves. Calls are
shown with their tier; what changes something is asked first, with its real arguments: y or n.

--profile panel asks for everything that is not a read, bar lets reversible desktop actions through,
voice lets media control through.

Examples:
  tenpass chat
  tenpass chat --model ollama:gemma4:12b --profile bar
  tenpass chat --say \"What is in notes.md?\"
  printf 'hello\\n' | tenpass chat --model embedded:smollm2-135m";

/// What an assistant is made of, for every front end.
#[derive(Debug, Args)]
pub(crate) struct AssistantFlags {
    /// The model [default: the setting `model`]
    #[arg(long, value_name = "SPEC")]
    pub(crate) model: Option<ModelSpec>,
    /// How tools reach the model and calls come back: auto, native, grammar or text
    #[arg(long, value_name = "STRATEGY", value_parser = parse_auto_structure)]
    pub(crate) structure: Option<AutoStructure>,
    /// Which tools a turn offers: all, router or relevance
    #[arg(long, value_name = "STRATEGY", value_parser = parse_selection)]
    pub(crate) tools: Option<Selection>,
    /// Which memory entries a turn sees: recent, relevant or off
    #[arg(long, value_name = "STRATEGY", value_parser = parse_retrieval)]
    pub(crate) memory: Option<tenpass_agent::Retrieval>,
    /// The folder the agent may write to
    #[arg(long, value_name = "DIR")]
    pub(crate) files: Option<PathBuf>,
    /// Sampling temperature; 0 is greedy
    #[arg(long, value_name = "T", value_parser = parse_temperature)]
    pub(crate) temperature: Option<f32>,
    /// Context in tokens
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(64..))]
    pub(crate) ctx: Option<u32>,
    /// Most tokens of one answer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: Option<u32>,
    /// Seed of the sampling [default: drawn]
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
}

/// Arguments of `chat`.
#[derive(Debug, Args)]
#[command(after_help = CHAT_HELP)]
pub(crate) struct Chat {
    #[command(flatten)]
    pub(crate) assistant: AssistantFlags,
    /// Go on with this conversation (an id, its beginning, or `latest`)
    #[arg(long, value_name = "THREAD")]
    pub(crate) thread: Option<String>,
    /// Say this and leave after the answer; repeat it for several turns. Confirmations are refused unless
    /// answered on standard input
    #[arg(long, value_name = "TEXT")]
    pub(crate) say: Vec<String>,
    /// How much the model may think, until /think says otherwise
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) think: Option<Think>,
}

/// A structure, or the one that fits the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AutoStructure {
    /// What the model declares, or what a probe recorded.
    Auto,
    /// This one.
    Fixed(Structure),
}

fn parse_auto_structure(text: &str) -> Result<AutoStructure, String> {
    if text == "auto" {
        return Ok(AutoStructure::Auto);
    }
    parse_structure(text).map(AutoStructure::Fixed).map_err(|_| "write auto, native, grammar or text".to_owned())
}

/// A memory strategy.
pub(crate) fn parse_retrieval(text: &str) -> Result<tenpass_agent::Retrieval, String> {
    text.parse().map_err(|_| "write recent, relevant or off".to_owned())
}

/// `tenpass trace …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Trace {
    /// List turns, newest first
    #[command(after_help = "Example:\n  tenpass trace list --limit 20")]
    List {
        /// Most turns
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: usize,
        /// Only turns of this conversation (an id or its beginning)
        #[arg(long, value_name = "THREAD")]
        thread: Option<String>,
        #[command(flatten)]
        format: TableFormat,
    },
    /// Show everything that happened in a turn
    #[command(after_help = "Example:\n  tenpass trace show latest")]
    Show {
        /// The turn: an id, its beginning, or `latest`
        turn: String,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Check the sequence and the hash chain of both journals
    #[command(after_help = "Exit code 1 when something was edited, removed, inserted, reordered or cut.\n\n\
                            Example:\n  tenpass trace verify")]
    Verify {
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Count requests, calls by tier and outcome, confirmations, retries and spending
    #[command(after_help = "Example:\n  tenpass trace stats --days 7")]
    Stats {
        /// Only the last days
        #[arg(long, value_name = "N")]
        days: Option<u32>,
        #[command(flatten)]
        format: TableFormat,
    },
}

/// `tenpass journal …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Journal {
    /// Check the sequence and the hash chain of both journals
    #[command(after_help = "Exit code 1 when something was edited, removed, inserted, reordered or cut.\n\n\
                            Example:\n  tenpass journal verify")]
    Verify {
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Put both journals aside and begin new ones: for a key that was lost, or a loss that was looked into
    #[command(after_help = "Nothing is deleted: the old files get the time in their names.\n\n\
                            Example:\n  tenpass journal set-aside")]
    SetAside,
    /// Print the intentions, oldest first
    #[command(after_help = "Example:\n  tenpass journal show --limit 50")]
    Show {
        /// Most lines, from the end
        #[arg(long, default_value_t = 50, value_name = "N")]
        limit: usize,
        #[command(flatten)]
        format: TableFormat,
    },
}

/// `tenpass memory …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Memory {
    /// Show what is remembered, thirty entries a section
    #[command(after_help = "Example:\n  tenpass memory show")]
    Show {
        #[command(flatten)]
        format: TableFormat,
    },
    /// Add an entry
    #[command(after_help = "Example:\n  tenpass memory add decisions \"The report goes out on Fridays.\"")]
    Add {
        /// The section
        #[arg(value_enum)]
        section: MemorySection,
        /// One sentence, at most 180 characters
        text: String,
    },
    /// Remove an entry
    #[command(after_help = "Example:\n  tenpass memory forget 3f2a")]
    Forget {
        /// Its id, the beginning of its id, or its text
        entry: String,
    },
    /// Print where the memory file is
    #[command(after_help = "Example:\n  tenpass memory path")]
    Path,
}

/// A section of the memory, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum MemorySection {
    /// What was decided.
    Decisions,
    /// How the user does things.
    Patterns,
    /// What is not finished.
    OpenThreads,
    /// What went wrong.
    Anomalies,
}

/// `tenpass claims …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Claims {
    /// Hold what an answer claims against the calls that were made
    #[command(
        after_help = "LEDGER is a JSON list of {\"tool\",\"arguments\",\"outcome\":\"ok|error|refused\"}, TOOLS a TOML \
                      file of [[tool]] or a JSON list of tool definitions. Exit code 1 when a claim does not hold.\n\n\
                      Example:\n  tenpass claims check \"I have saved the file.\" --ledger ledger.json --format json"
    )]
    Check {
        /// The answer
        text: String,
        /// The calls that were made, in order
        #[arg(long, value_name = "FILE")]
        ledger: PathBuf,
        /// The tools there are, for what the answer says it can do
        #[arg(long, value_name = "FILE")]
        tools: Option<PathBuf>,
        #[command(flatten)]
        format: TableFormat,
    },
    /// Measure the claim detector on its labelled sentences
    #[command(after_help = "Exit code 1 when precision or recall is below the gate of the corpus.\n\n\
                            Example:\n  tenpass claims bench")]
    Bench {
        /// The folder of labelled sentences [default: cases/claims]
        #[arg(long, value_name = "DIR")]
        cases: Option<PathBuf>,
        #[command(flatten)]
        format: TableFormat,
    },
}
