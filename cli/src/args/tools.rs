//! The commands around the benches: cases, runs, models, calls, prompts, settings.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tenpass_model::ModelSpec;

use super::{Format, TextOrJson};

/// Where cases are.
#[derive(Debug, Clone, Args)]
pub(crate) struct CasesPath {
    /// A folder of case files, or one file [default: cases/tools]
    #[arg(long, value_name = "PATH")]
    pub(crate) cases: Option<PathBuf>,
}

/// `tenpass cases …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Cases {
    /// List the cases
    #[command(after_help = "Example:\n  tenpass cases list --format json")]
    List {
        #[command(flatten)]
        path: CasesPath,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Show one case: what is asked, which tools there are, what must happen
    #[command(after_help = "Example:\n  tenpass cases show delegate-formal-letter")]
    Show {
        /// The case's id
        id: String,
        #[command(flatten)]
        path: CasesPath,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Check case files; every mistake is named with its line
    #[command(after_help = "Example:\n  tenpass cases check --cases my-cases")]
    Check {
        #[command(flatten)]
        path: CasesPath,
    },
    /// Turn published benchmarks into cases
    #[command(subcommand)]
    Import(Import),
}

/// `tenpass cases import …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// The Berkeley function-calling leaderboard (BFCL v4) files
    #[command(
        after_help = "Example:\n  tenpass models pull bfcl\n  tenpass cases import bfcl \"$(tenpass models path bfcl)\" --out my-cases/bfcl\n  tenpass bench tools --cases my-cases/bfcl"
    )]
    Bfcl {
        /// The folder with BFCL_v4_*.json and possible_answer/
        dir: PathBuf,
        /// Where to write the case files
        #[arg(long, value_name = "DIR", required_unless_present = "check")]
        out: Option<PathBuf>,
        /// Only these categories
        #[arg(long, value_delimiter = ',', value_name = "NAME")]
        category: Vec<String>,
        /// Replay the shipped answers and wrong ones through the grader instead of writing files
        #[arg(long)]
        check: bool,
    },
}

/// `tenpass runs …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List the runs, newest first
    #[command(after_help = "Example:\n  tenpass runs list")]
    List {
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Show a run's table, or one case, or one pass with request, raw text, calls and grade
    #[command(
        after_help = "Examples:\n  tenpass runs show latest\n  tenpass runs show latest --case delegate-formal-letter --pass 3"
    )]
    Show {
        /// The run's id, its beginning, or `latest`
        run: String,
        /// Only this case
        #[arg(long, value_name = "ID")]
        case: Option<String>,
        /// Only this pass of the case, counted from 1
        #[arg(long, value_name = "N", requires = "case")]
        pass: Option<u32>,
        /// Only this configuration
        #[arg(long, value_name = "ID")]
        configuration: Option<String>,
        /// How to print it
        #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
        format: Format,
    },
    /// Grade a run's stored answers again; needs no model
    #[command(after_help = "Example:\n  tenpass runs regrade latest --current-cases")]
    Regrade {
        /// The run's id, its beginning, or `latest`
        run: String,
        /// Judge by the case files as they are now instead of those the run stored
        #[arg(long)]
        current_cases: bool,
        #[command(flatten)]
        path: CasesPath,
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Join the parts of a partitioned run
    #[command(after_help = "Example:\n  tenpass runs merge 20261130-2200 20261130-2201")]
    Merge {
        /// The parts
        #[arg(required = true, num_args = 2..)]
        runs: Vec<String>,
    },
}

/// `tenpass models …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Models {
    /// List the catalogue and what is on this machine
    #[command(after_help = "Example:\n  tenpass models list")]
    List {
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Fetch a model, check its hash, and put it in place
    #[command(after_help = "Example:\n  tenpass models pull smollm2-135m")]
    Pull {
        /// Names from the catalogue
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Print where a model is
    #[command(after_help = "Example:\n  tenpass models path smollm2-135m")]
    Path {
        /// A name from the catalogue
        name: String,
    },
    /// Hash what is on this machine and compare with the catalogue
    #[command(after_help = "Example:\n  tenpass models verify")]
    Verify {
        /// Only these
        names: Vec<String>,
        #[command(flatten)]
        format: TextOrJson,
    },
}

/// `tenpass calls …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Calls {
    /// Print what the parser makes of a raw answer, as JSON
    #[command(after_help = "\
The answer is read from standard input; --structured FILE adds the calls of the backend's own
channel. Prints {\"calls\":[{\"name\",\"arguments\",\"recovered\",\"shape\"}],\"class\":…,\"text\":…}.

Example:
  tenpass calls parse --tools tools.json < raw.txt")]
    Parse {
        /// JSON (or the suite's TOML) with this turn's tools
        #[arg(long, value_name = "FILE")]
        tools: PathBuf,
        /// JSON list of structured calls, as the backend sent them
        #[arg(long, value_name = "FILE")]
        structured: Option<PathBuf>,
        /// The reasoning, where the backend separates it
        #[arg(long, value_name = "FILE")]
        thinking: Option<PathBuf>,
        /// The textual shape the model's template declares, such as hermes
        #[arg(long, value_name = "SHAPE")]
        declared: Option<String>,
        /// Why the answer ended
        #[arg(long, value_enum, default_value = "stop", value_name = "REASON")]
        finish: Finish,
    },
}

/// Why an answer ended, as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Finish {
    /// The model ended its turn.
    Stop,
    /// The token limit.
    Length,
    /// The model ended its turn with calls.
    ToolCalls,
}

/// `tenpass prompt …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Prompt {
    /// Print the prompt of a case as the model receives it, with its token count
    #[command(
        after_help = "Example:\n  tenpass prompt show --case delegate-formal-letter --model embedded:smollm2-135m"
    )]
    Show {
        /// The case's id
        #[arg(long, value_name = "ID")]
        case: String,
        /// The model
        #[arg(long, value_name = "SPEC")]
        model: Option<ModelSpec>,
        /// How tools reach the model: native, grammar or text
        #[arg(long, value_name = "STRATEGY", value_parser = |text: &str| text.parse::<tenpass_agent::Structure>().map_err(|_| "write native, grammar or text".to_owned()))]
        structure: Option<tenpass_agent::Structure>,
        /// Which tools are offered: all, router or relevance
        #[arg(long, value_name = "STRATEGY", value_parser = |text: &str| text.parse::<tenpass_agent::Selection>().map_err(|_| "write all, router or relevance".to_owned()))]
        tools: Option<tenpass_agent::Selection>,
        #[command(flatten)]
        path: CasesPath,
        #[command(flatten)]
        format: TextOrJson,
    },
}

/// `tenpass config …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Show every setting in force and where it comes from
    #[command(after_help = "Example:\n  tenpass config show")]
    Show {
        #[command(flatten)]
        format: TextOrJson,
    },
    /// Print the commented default configuration
    #[command(after_help = "Example:\n  tenpass config default > tenpass.toml")]
    Default,
}
