//! `tenpass bench …`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use tenpass_agent::{Selection, Structure};
use tenpass_bench::run::Partition;
use tenpass_model::{ModelSpec, ThinkLevel};

use super::Format;
use super::speech::bench_barge::BenchBarge;
use super::speech::bench_stt::BenchStt;
use super::speech::bench_turn::BenchTurn;
use super::speech::bench_wake::BenchWake;

/// The benches.
#[derive(Debug, Subcommand)]
pub(crate) enum Benches {
    #[command(flatten)]
    Model(Bench),
    /// Speech to text: which prompt understands how many commands, and is the difference real?
    Stt(Box<BenchStt>),
    /// The wake word: how often it is missed, how often it fires on something else
    Wake(Box<BenchWake>),
    /// The time from the end of speech to the first sound of the answer, part by part
    Turn(Box<BenchTurn>),
    /// Barge-in: does speech stop the answer, and does the answer not stop itself?
    Barge(Box<BenchBarge>),
}

/// The benches of language models.
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Tool choice: does the model call the right tool with the right arguments?
    Tools(Box<Tools>),
    /// Multi-round scenarios on the real tool loop: does the turn end as it must, and is what is said true?
    Rounds(Box<Rounds>),
}

impl Bench {
    /// What every bench takes.
    pub(crate) fn measure(&self) -> &Measure {
        match self {
            Self::Tools(tools) => &tools.measure,
            Self::Rounds(rounds) => &rounds.measure,
        }
    }

    /// The bench's name in commands and manifests.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Tools(_) => "tools",
            Self::Rounds(_) => "rounds",
        }
    }
}

const TOOLS_HELP: &str = "\
SPEC names a backend and a model; several are several configurations of one run:
  embedded:smollm2-135m                a model of the catalogue, or a path to a GGUF file
  ollama:gemma4:12b                    a model of the Ollama server
  openai:http://127.0.0.1:8080/v1#name any OpenAI-compatible server
  replay:FILE                          recorded answers
Several servers of one model share its passes: openai:URL,URL#NAME or ollama:URL,URL#NAME. They
must serve the same; one that fails is rested, and its requests go to the others.

Examples:
  tenpass bench tools
  tenpass bench tools --model ollama:gemma4:12b --model ollama:qwen3.5:9b --family delegation
  tenpass bench tools --structure native,grammar --passes 20 --format json
  tenpass bench tools --resume latest
  tenpass bench tools --against baseline --guards 'talk-*'
  tenpass bench tools --model X --model X          the same twice, with other seeds: how much is noise?
  tenpass bench tools --partition 2/8 --seed 7 --continue";

const ROUNDS_HELP: &str = "\
A scenario has a world in a temporary folder (files, memory, pages, a clock), the user's turns, scripted answers
to confirmations, and faults; the loop, the policy and the tools are the real ones. It passes when the world, the
calls and the words are as they must be, and every answer claims only what was done.

Examples:
  tenpass bench rounds
  tenpass bench rounds --family injection --passes 3
  tenpass bench rounds --structure native,grammar --memory recent,off
  tenpass bench rounds --prompt default --prompt -tool_sections
  tenpass bench rounds --model openai:http://127.0.0.1:8080/v1#name --probe
  tenpass bench rounds --resume latest";

/// Arguments of `bench tools`.
#[derive(Debug, Args)]
#[command(after_help = TOOLS_HELP)]
pub(crate) struct Tools {
    #[command(flatten)]
    pub(crate) measure: Measure,
}

/// Arguments of `bench rounds`.
#[derive(Debug, Args)]
#[command(after_help = ROUNDS_HELP)]
pub(crate) struct Rounds {
    #[command(flatten)]
    pub(crate) measure: Measure,
    /// Which memory entries a turn sees: recent, relevant or off; several are several configurations
    #[arg(long, value_delimiter = ',', value_name = "STRATEGY", value_parser = super::agent::parse_retrieval, conflicts_with = "resume")]
    pub(crate) memory: Vec<tenpass_agent::Retrieval>,
    /// Sections of the prompt as changes to the default, such as -persona,+capability_memo; repeat it for several
    /// configurations
    #[arg(long = "prompt", value_name = "SECTIONS", allow_hyphen_values = true, value_parser = parse_sections, conflicts_with = "resume")]
    pub(crate) prompt: Vec<tenpass_agent::prompt::Sections>,
    /// Find out which structure each model can do, record it, and use it
    #[arg(long, conflicts_with_all = ["structure", "resume"])]
    pub(crate) probe: bool,
}

/// What every bench takes.
#[derive(Debug, Args)]
#[allow(clippy::struct_field_names, clippy::struct_excessive_bools, reason = "fields are flags, and named after them")]
pub(crate) struct Measure {
    /// Model to measure; repeat it for several
    #[arg(long = "model", value_name = "SPEC")]
    pub(crate) models: Vec<ModelSpec>,
    /// A folder of case files, or one file [default: the bench's folder under cases]
    #[arg(long, value_name = "PATH")]
    pub(crate) cases: Option<PathBuf>,
    /// Passes of each case and configuration
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) passes: Option<u32>,
    /// Passes at the same time, at each server of a model [default: as many as the backend takes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) jobs: Option<u32>,
    /// Only cases whose id contains this; repeat it for several
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Vec<String>,
    /// Only cases of this family; repeat it for several
    #[arg(long, value_name = "NAME")]
    pub(crate) family: Vec<String>,
    /// Only cases in this language
    #[arg(long, value_name = "CODE")]
    pub(crate) language: Option<String>,
    /// How tools reach the model and calls come back; several are several configurations
    /// [default: native where the model's template knows tools, else grammar]
    #[arg(long, value_delimiter = ',', value_name = "STRATEGY", value_parser = parse_structure)]
    pub(crate) structure: Vec<Structure>,
    /// Which tools are offered: all, router or relevance; several are several configurations
    #[arg(long, value_delimiter = ',', value_name = "STRATEGY", value_parser = parse_selection)]
    pub(crate) tools: Vec<Selection>,
    /// Sampling temperature; 0 is greedy
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = parse_temperature)]
    pub(crate) temperature: Option<f32>,
    /// Keep the k most likely tokens; 0 keeps all
    #[arg(long, value_name = "K")]
    pub(crate) top_k: Option<u32>,
    /// Keep the smallest set of tokens whose probability reaches this
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = parse_share)]
    pub(crate) top_p: Option<f32>,
    /// Drop tokens below this share of the most likely one
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = parse_share)]
    pub(crate) min_p: Option<f32>,
    /// Most tokens an answer may have [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: Option<u32>,
    /// Context in tokens [default: the model's own, at most 32768]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(64..))]
    pub(crate) ctx: Option<u32>,
    /// How much the model may think
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) think: Option<Think>,
    /// Seed of the run; every pass derives its own [default: drawn]
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
    /// Longest time for one answer, such as 90s or 2m
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    pub(crate) timeout: Option<Duration>,
    /// Measure only part k of n of the cases, for several machines
    #[arg(long, value_name = "K/N")]
    pub(crate) partition: Option<Partition>,
    /// Go on with this run (an id, its beginning, or `latest`)
    #[arg(long, value_name = "RUN", conflicts_with_all = ["models", "cases", "passes", "filter", "family", "language", "structure", "tools", "temperature", "top_k", "top_p", "min_p", "max_tokens", "ctx", "think", "seed", "partition"])]
    pub(crate) resume: Option<String>,
    /// Measure this run's configuration afresh beside the candidate, and compare: a run, or `baseline`
    #[arg(long, value_name = "RUN", conflicts_with = "resume")]
    pub(crate) against: Option<String>,
    #[command(flatten)]
    pub(crate) comparing: super::review::Comparing,
    /// Stop what is decided: a gate (8 of 10) at its eighth success or third failure, a comparison at its e-value.
    /// Verdicts stay; the rates of what was stopped are biased, and the result says so
    #[arg(long, conflicts_with = "resume")]
    pub(crate) early_stop: bool,
    /// Go on with the unfinished run of exactly this, or begin one: for schedulers that start a part again
    #[arg(long, conflicts_with = "resume")]
    pub(crate) r#continue: bool,
    /// Ask servers for whole answers instead of streams
    #[arg(long)]
    pub(crate) no_stream: bool,
    /// Ask each configuration once before the first pass, unrecorded
    #[arg(long)]
    pub(crate) warm_up: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}

fn parse_sections(text: &str) -> Result<tenpass_agent::prompt::Sections, String> {
    text.parse().map_err(|error: tenpass_agent::prompt::SectionError| error.hint())
}

/// A thinking level, as typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Think {
    /// Short.
    Low,
    /// Middle.
    Medium,
    /// Long.
    High,
}

impl From<Think> for ThinkLevel {
    fn from(think: Think) -> Self {
        match think {
            Think::Low => Self::Low,
            Think::Medium => Self::Medium,
            Think::High => Self::High,
        }
    }
}

pub(crate) fn parse_structure(text: &str) -> Result<Structure, String> {
    text.parse().map_err(|_| "write native, grammar or text".to_owned())
}

pub(crate) fn parse_selection(text: &str) -> Result<Selection, String> {
    text.parse().map_err(|_| "write all, router or relevance".to_owned())
}

pub(crate) fn parse_temperature(text: &str) -> Result<f32, String> {
    text.parse().ok().filter(|value| (0.0..=5.0).contains(value)).ok_or_else(|| "write a number from 0 to 5".to_owned())
}

fn parse_share(text: &str) -> Result<f32, String> {
    text.parse().ok().filter(|value| (0.0..=1.0).contains(value)).ok_or_else(|| "write a number from 0 to 1".to_owned())
}

fn parse_timeout(text: &str) -> Result<Duration, String> {
    let time = tenpass_config::parse_duration(text).filter(|time| !time.is_zero());
    time.ok_or_else(|| "write a time such as 90s or 2m".to_owned())
}
