//! `tenpass blind …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tenpass_model::ModelSpec;

use crate::args::TableFormat;

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Blind {
    /// Have models, or voices, answer the same prompts, and draw the ballots
    ///
    /// Answers are shown side by side without names, in an order that is drawn; about one ballot in seven comes twice.
    /// Who is who is sealed until the last vote.
    #[command(after_help = NEW_EXAMPLES)]
    New(Box<New>),
    /// Vote in the terminal: a letter picks an answer
    ///
    /// `a`, `b`, … pick; `t` means equally good, `x` all bad, `u` goes back one ballot, `p` plays a sound again, `q` leaves.
    /// Every vote is kept at once; going on later starts where it ended.
    #[command(after_help = "Example:\n  tenpass blind vote\n  tenpass blind vote 20261201-0930")]
    Vote(Named),
    /// Tell who is who and what the votes prove
    #[command(after_help = RESULT_EXAMPLES)]
    Result(Outcome),
    /// List the sessions
    #[command(after_help = "Example:\n  tenpass blind list")]
    List(TableFormat),
}

const NEW_EXAMPLES: &str = "Examples:
  tenpass blind new --models embedded:smollm2-135m,ollama:gemma3:4b
  tenpass blind new --models ollama:base,ollama:tuned --prompts mine.txt --speak kokoro:af_heart
  tenpass blind new --voices kokoro:af_heart,piper:piper-joe --prompts sentences.txt";

const RESULT_EXAMPLES: &str = "Examples:
  tenpass blind result
  tenpass blind result latest --format json
  tenpass blind result --early";

/// Arguments of `blind new`.
#[derive(Debug, Args)]
pub(crate) struct New {
    /// Models that answer, two to four
    #[arg(long, value_delimiter = ',', value_name = "SPEC,SPEC")]
    pub(crate) models: Vec<ModelSpec>,
    /// Voices that speak the prompts themselves, two to four
    #[arg(long, value_delimiter = ',', value_name = "VOICE,VOICE", conflicts_with_all = ["models", "speak"])]
    pub(crate) voices: Vec<String>,
    /// Speak the models' answers with this voice, and vote by ear
    #[arg(long, value_name = "VOICE")]
    pub(crate) speak: Option<String>,
    /// The prompts: .txt with one a line, or .toml [default: corpora/prompts/blind.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) prompts: Option<PathBuf>,
    /// Take only so many of them, drawn
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit: Option<usize>,
    /// Its title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Show no ballot twice
    #[arg(long)]
    pub(crate) no_replays: bool,
    /// Sampling temperature of the models
    #[arg(long, value_name = "NUMBER")]
    pub(crate) temperature: Option<f32>,
    /// Most tokens of an answer
    #[arg(long, default_value_t = 300, value_name = "COUNT")]
    pub(crate) max_tokens: u32,
    /// Where the order and the sampling come from
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,
    /// Make the missing answers of a session that was interrupted
    #[arg(long, value_name = "ID", conflicts_with_all = ["models", "voices", "prompts", "limit", "title", "no_replays", "speak"])]
    pub(crate) resume: Option<String>,
}

/// A session.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// The session: `latest`, an id, or how one begins
    #[arg(default_value = "latest", value_name = "ID")]
    pub(crate) session: String,
}

/// Arguments of `blind result`.
#[derive(Debug, Args)]
pub(crate) struct Outcome {
    #[command(flatten)]
    pub(crate) named: Named,
    /// Look before the last vote; only the e-value counts then, and there is no voting afterwards
    #[arg(long)]
    pub(crate) early: bool,
    #[command(flatten)]
    pub(crate) format: TableFormat,
}
