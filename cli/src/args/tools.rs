//! The commands around the benches: cases, runs, models, calls, prompts, settings.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tenpass_model::ModelSpec;

use super::{Format, TableFormat, TextOrJson};

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
        format: TableFormat,
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
    /// Turn a turn of the agent into a case
    #[command(after_help = "\
Secrets are masked and personal words get placeholders. What should have happened is taken from --expect, from the
user's correction, or asked. The case is played first: it must fail today.

Examples:
  tenpass cases add --from-trace latest
  tenpass cases add --from-trace 3f2a91bc --expect 'calls = [{ tool = \"read_file\" }]'
  tenpass cases add --from-trace 3f2a91bc --expect 'no_call = true' --kind guard --yes")]
    Add(Box<AddCase>),
    /// Propose cases from what went wrong lately
    #[command(after_help = "\
Looks at rejected turns, refused confirmations, rejected calls, thumbs down, corrections and repeats; what there is a
case for already is left out.

Example:
  tenpass cases harvest --days 7")]
    Harvest {
        /// Only the last days
        #[arg(long, value_name = "N", default_value_t = 7)]
        days: u32,
        /// Write drafts of the proposals into this folder
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        #[command(flatten)]
        path: CasesPath,
        #[command(flatten)]
        format: TableFormat,
    },
    /// Turn published benchmarks into cases
    #[command(subcommand)]
    Import(Import),
    /// Write cases in a format of others
    #[command(
        after_help = "Examples:\n  tenpass cases export bfcl --out bfcl\n  tenpass cases export promptfoo --out promptfooconfig.yaml"
    )]
    Export {
        /// The format
        #[arg(value_enum)]
        format: ForeignCases,
        /// A folder for bfcl, a file for promptfoo
        #[arg(long, value_name = "PATH")]
        out: PathBuf,
        #[command(flatten)]
        path: CasesPath,
    },
}

/// A format of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ForeignCases {
    /// The Berkeley function-calling leaderboard.
    Bfcl,
    /// promptfoo.
    Promptfoo,
}

/// Arguments of `cases add`.
#[derive(Debug, Args)]
pub(crate) struct AddCase {
    /// The turn, as `tenpass trace list` shows it: an id, its beginning, `latest`, or a thread's with --turn
    #[arg(long, value_name = "ID")]
    pub(crate) from_trace: String,
    /// Which turn of the thread, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) turn: Option<u32>,
    /// Which request to the model within the turn, counted from 1 [default: the first that went wrong]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) request: Option<u32>,
    /// What should have happened: the lines of [case.expect]
    #[arg(long, value_name = "TOML")]
    pub(crate) expect: Option<String>,
    /// The case's id [default: made from the request]
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// The family [default: life]
    #[arg(long, value_name = "NAME")]
    pub(crate) family: Option<String>,
    /// `target`: to be improved; `guard`: must stay good
    #[arg(long, value_name = "KIND", value_parser = ["target", "guard"])]
    pub(crate) kind: Option<String>,
    /// Words to replace by placeholders, beside those that are found
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    pub(crate) hide: Vec<String>,
    /// Passes that check whether it fails today
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) passes: Option<u32>,
    /// The model that is checked [default: the one that answered]
    #[arg(long, value_name = "SPEC")]
    pub(crate) model: Option<ModelSpec>,
    /// File it without that check
    #[arg(long)]
    pub(crate) unchecked: bool,
    /// Ask nothing
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) path: CasesPath,
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
    /// A promptfoo configuration
    #[command(after_help = "Example:\n  tenpass cases import promptfoo promptfooconfig.yaml --out my-cases")]
    Promptfoo {
        /// The YAML or JSON file
        file: PathBuf,
        /// Where to write the case files
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Tasks of tau2-bench
    #[command(after_help = "Example:\n  tenpass cases import tau2 data/tau2/domains/retail --out my-cases")]
    Tau2 {
        /// The domain's folder, with tasks.json
        dir: PathBuf,
        /// Where to write the case files
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

/// `tenpass runs …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List the runs, newest first
    #[command(after_help = "Example:\n  tenpass runs list")]
    List {
        #[command(flatten)]
        format: TableFormat,
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
        format: TableFormat,
    },
    /// Make a run the baseline that others are compared with
    #[command(after_help = "Examples:\n  tenpass runs bless latest\n  tenpass runs bless --show")]
    Bless {
        /// The run's id, its beginning, or `latest`
        #[arg(required_unless_present = "show")]
        run: Option<String>,
        /// The configuration, where the run has several that are no copies of each other; RUN/ID and RUN/2 do too
        #[arg(long, value_name = "ID")]
        configuration: Option<String>,
        /// Also a run that lacks passes
        #[arg(long)]
        incomplete: bool,
        /// Print the baselines there are
        #[arg(long, conflicts_with_all = ["run", "configuration", "incomplete"])]
        show: bool,
        /// How to print them
        #[arg(long, value_enum, default_value_t, value_name = "FORMAT", requires = "show")]
        format: Format,
    },
    /// Remove old runs; baselines and what others refer to stay
    #[command(after_help = "\
Nothing is removed without --yes: the list is printed. A run stays when it is young, among the
newest of its bench, a baseline, being written, or the parent, a part or the origin of a run that
stays.

Examples:
  tenpass runs gc
  tenpass runs gc --older-than 30d --keep 20 --yes")]
    Gc {
        /// Only runs older than this, such as 30d
        #[arg(long, value_name = "TIME", default_value = "30d", value_parser = parse_age)]
        older_than: std::time::Duration,
        /// Keep at least the newest N of every bench
        #[arg(long, value_name = "N", default_value_t = 20)]
        keep: usize,
        /// Really remove them
        #[arg(long)]
        yes: bool,
        /// How to print it
        #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
        format: Format,
    },
    /// Write a run in a format of others
    #[command(after_help = "Examples:\n  tenpass runs export latest --format inspect --out logs\n  \
                            tenpass runs export latest --format junit --out junit.xml\n  \
                            tenpass runs export latest --format parquet --out passes.parquet")]
    Export {
        /// The run's id, its beginning, or `latest`
        run: String,
        /// The format
        #[arg(long, value_enum, value_name = "FORMAT")]
        format: RunFormat,
        /// A file, or a folder for a format of several files
        #[arg(long, value_name = "PATH")]
        out: PathBuf,
        /// Only this configuration
        #[arg(long, value_name = "ID")]
        configuration: Option<String>,
    },
    /// Read results of other tools as a run
    #[command(after_help = "Examples:\n  tenpass runs import inspect logs/2026-11-30.eval\n  \
                            tenpass runs import llama-tool-bench results.jsonl")]
    Import {
        /// The format
        #[arg(value_enum)]
        format: ForeignRun,
        /// The file; for a run that was exported as several logs, their folder
        file: PathBuf,
        /// A score that is a number counts as right from this value on
        #[arg(long, value_name = "SCORE", default_value_t = 1.0)]
        right_from: f64,
        /// Also where the runs folder has it already: as a second run
        #[arg(long)]
        again: bool,
    },
    /// Join the parts of a partitioned run
    #[command(after_help = "\
The parts must be all of one run: the same cases, settings, seed and program. Of a part that
was killed and begun anew the complete run counts.

Examples:
  tenpass runs merge 20261130-2200 20261130-2201
  tenpass runs merge --from parts/*")]
    Merge {
        /// The parts: runs, their beginnings, or paths of run folders
        #[arg(required_unless_present = "from")]
        runs: Vec<String>,
        /// Other runs folders with the parts; without names, every part in them
        #[arg(long, value_name = "DIR", num_args = 1..)]
        from: Vec<PathBuf>,
        #[command(flatten)]
        format: TextOrJson,
    },
}

/// What a run can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunFormat {
    /// An `.eval` log of Inspect, one a configuration.
    Inspect,
    /// JUnit XML: a test case a case.
    Junit,
    /// A row a pass.
    Csv,
    /// A row a pass.
    Parquet,
}

/// What can be read as a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ForeignRun {
    /// An `.eval` or `.json` log of Inspect.
    Inspect,
    /// JSON lines of llama.cpp's tool bench.
    LlamaToolBench,
}

impl ForeignRun {
    /// As it is typed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Inspect => "inspect",
            Self::LlamaToolBench => "llama-tool-bench",
        }
    }
}

fn parse_age(text: &str) -> Result<std::time::Duration, String> {
    let seconds = text.strip_suffix('d').and_then(|days| days.parse::<u64>().ok()?.checked_mul(86_400));
    let age = seconds.map(std::time::Duration::from_secs).or_else(|| tenpass_config::parse_duration(text));
    age.ok_or_else(|| "write a time such as 30d or 12h".to_owned())
}

/// `tenpass models …`.
#[derive(Debug, Subcommand)]
pub(crate) enum Models {
    /// List the catalogue and what is on this machine
    #[command(after_help = "Example:\n  tenpass models list")]
    List {
        #[command(flatten)]
        format: TableFormat,
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
        format: TableFormat,
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
        format: TableFormat,
    },
    /// Print the commented default configuration
    #[command(after_help = "Example:\n  tenpass config default > tenpass.toml")]
    Default,
}
