//! `tenpass shadow …`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::TextOrJson;

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Shadow {
    /// Score every frame with the head in service and with a candidate, and log where they differ
    ///
    /// Nothing wakes because of the candidate. Every event of at least 0.2 by either head is logged with both scores and
    /// four seconds of sound. A folder of recorded days is gone through as fast as it can be computed.
    #[command(after_help = START_EXAMPLES)]
    Start(Box<Start>),
    /// Ask for the wake word so many times and count who heard it: the absolute miss rate of both heads
    ///
    /// A shadow never sees what both heads miss; a prompt does. Recordings of the word, one utterance a file, stand for
    /// answers; each counts once. Probes are no exposure and no live wakes.
    #[command(after_help = PROBE_EXAMPLES)]
    Probe(Probe),
    /// Show what was heard so far: exposure, events, labels, disagreements
    #[command(after_help = "Example:\n  tenpass shadow status\n  tenpass shadow status --unlabelled")]
    Status(Status),
    /// Say what an event was
    #[command(after_help = "Example:\n  tenpass shadow label 20261130T080003-240 other")]
    Label(LabelEvent),
}

const START_EXAMPLES: &str = "Examples:
  arecord -q -f S16_LE -r 16000 -c 1 | tenpass shadow start --candidate kora-2.onnx --from -
  tenpass shadow start --candidate kora-2.onnx --from recorded-days";

const PROBE_EXAMPLES: &str = "Examples:
  tenpass shadow probe --times 20
  arecord -q -f S16_LE -r 16000 -c 1 | tenpass shadow probe --from -
  tenpass shadow probe --from recordings/kora-2026-12-01";

/// Which shadow is meant.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The candidate's head; without it the last one that listened
    #[arg(long, value_name = "FILE")]
    pub(crate) candidate: Option<PathBuf>,
    /// The folder of the head in service, its record and the shadow logs
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

/// Arguments of `shadow start`.
#[derive(Debug, Args)]
pub(crate) struct Start {
    /// The candidate's head
    #[arg(long, value_name = "FILE")]
    pub(crate) candidate: PathBuf,
    /// The head to compare with; without it the one in service
    #[arg(long, value_name = "FILE")]
    pub(crate) champion: Option<PathBuf>,
    /// A recording, a folder of recorded days (2026-11-30.wav, 2026-11-30T080000.flac), or `-` for 16-bit samples
    /// at 16 kHz on stdin; without it the microphone
    #[arg(long, value_name = "FILE|DIR|-")]
    pub(crate) from: Option<PathBuf>,
    /// The speaker verifier that both are used with
    #[arg(long, value_name = "FILE")]
    pub(crate) verifier: Option<PathBuf>,
    /// Threshold of heads that do not bring their own
    #[arg(long, value_name = "SCORE")]
    pub(crate) threshold: Option<f32>,
    /// Days after which the candidate is judged, once
    #[arg(long, value_name = "DAYS", default_value_t = 7, conflicts_with = "e_value")]
    pub(crate) horizon: u32,
    /// Judge it at any time by an e-value instead
    #[arg(long)]
    pub(crate) e_value: bool,
    /// Label events weakly by what followed: transcribe it with this engine and look for a closed command
    #[arg(long, value_name = "SPEC")]
    pub(crate) follow: Option<String>,
    /// Language of what follows
    #[arg(long, value_name = "CODE", default_value = "en")]
    pub(crate) language: String,
    /// The folder of the head in service, its record and the shadow logs
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

/// Arguments of `shadow probe`.
#[derive(Debug, Args)]
pub(crate) struct Probe {
    #[command(flatten)]
    pub(crate) which: Which,
    /// How often to ask
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) times: u32,
    /// Recordings of the word, a folder or corpus of them, or `-` for 16-bit samples at 16 kHz on stdin; without it the
    /// microphone
    #[arg(long, value_name = "FILE|DIR|-", num_args = 1..)]
    pub(crate) from: Vec<PathBuf>,
    /// The speaker verifier that both are used with
    #[arg(long, value_name = "FILE")]
    pub(crate) verifier: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: TextOrJson,
}

/// Arguments of `shadow status`.
#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) which: Which,
    /// List the events that nobody has labelled, disagreements first
    #[arg(long)]
    pub(crate) unlabelled: bool,
    #[command(flatten)]
    pub(crate) format: TextOrJson,
}

/// Arguments of `shadow label`.
#[derive(Debug, Args)]
pub(crate) struct LabelEvent {
    /// The event, as `shadow status --unlabelled` lists it
    pub(crate) event: String,
    /// What it was
    #[arg(value_enum)]
    pub(crate) is: Was,
    #[command(flatten)]
    pub(crate) which: Which,
}

/// What an event was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Was {
    /// The user said the wake word.
    Wake,
    /// Someone else said it.
    OtherVoice,
    /// Something else.
    Other,
}
