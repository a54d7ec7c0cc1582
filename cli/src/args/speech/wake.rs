//! `tenpass wake …`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::bench_wake::BenchWake;
use crate::args::TableFormat;

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Wake {
    /// Wait for the wake word and print every event as it comes
    ///
    /// Sound comes from the microphone, a file, or stdin (`-`: 16 kHz, 16 bits, one channel, without a header). A
    /// verifier lowers how often other voices wake the agent; it is not authentication.
    #[command(after_help = LISTEN_EXAMPLES)]
    Listen(Listen),
    /// Score sound files: the peak of each head, and the events with their times
    ///
    /// Any rate and number of channels. Quiet noise is put before and after each file, so that short clips are
    /// scored, too; times count from the file's start.
    #[command(after_help = SCORE_EXAMPLES)]
    Score(Score),
    /// As `tenpass bench wake`: misses and false wakes per hour of a head
    #[command(after_help = "Example:\n  tenpass wake bench --head kora.onnx --corpus corpora/kora")]
    Bench(Box<BenchWake>),
    /// As `tenpass bench wake --ablate user,synthetic`: what your own clips and the synthetic ones contribute
    #[command(after_help = "Example:\n  tenpass wake ablate --word kora --positives recordings/kora")]
    Ablate(Box<BenchWake>),
}

const LISTEN_EXAMPLES: &str = "Examples:
  arecord -q -f S16_LE -r 16000 -c 1 | tenpass wake listen --from -
  tenpass wake listen --head kora.onnx --from evening.wav --vad";

const SCORE_EXAMPLES: &str = "Examples:
  tenpass wake score clip.wav --head kora.onnx
  tenpass wake score clips/*.wav --head kora.onnx --head hey-kora.onnx --format csv";

/// Arguments of `wake listen`.
#[derive(Debug, Args)]
pub(crate) struct Listen {
    #[command(flatten)]
    pub(crate) detector: DetectorArguments,
    /// A sound file, or `-` for samples on stdin; the microphone where it is not given
    #[arg(long, value_name = "FILE|-")]
    pub(crate) from: Option<PathBuf>,
    /// How to print events
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: EventFormat,
}

/// Arguments of `wake score`.
#[derive(Debug, Args)]
pub(crate) struct Score {
    /// WAV or FLAC files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) detector: DetectorArguments,
    #[command(flatten)]
    pub(crate) format: TableFormat,
}

/// Heads, thresholds and gates.
#[derive(Debug, Args)]
pub(crate) struct DetectorArguments {
    /// A wake word's head, .onnx; may be given several times [default: the setting speech.wake_head, else the head in
    /// service, else the shipped one]
    #[arg(long = "head", value_name = "HEAD.onnx")]
    pub(crate) heads: Vec<PathBuf>,
    /// A frame counts from this score on [default: the one that the head's training chose, else 0.5]
    #[arg(long, value_name = "SCORE")]
    pub(crate) threshold: Option<f32>,
    /// An event is over below this score [default: 0.6 of the threshold]
    #[arg(long, value_name = "SCORE")]
    pub(crate) threshold_off: Option<f32>,
    /// Frames (80 ms each) that must count …
    #[arg(long, default_value_t = 2, value_name = "COUNT")]
    pub(crate) hits: usize,
    /// … of so many in a row
    #[arg(long, default_value_t = 3, value_name = "COUNT")]
    pub(crate) of: usize,
    /// An event needs speech, too: silero VAD must give at least this probability
    #[arg(long, value_name = "PROBABILITY", num_args = 0..=1, require_equals = true, default_missing_value = "0.5")]
    pub(crate) vad: Option<f32>,
    /// A speaker verifier for the first head, .json; it is not authentication
    #[arg(long, value_name = "VERIFIER.json")]
    pub(crate) verifier: Option<PathBuf>,
}

/// How events are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum EventFormat {
    /// A line for people.
    #[default]
    Text,
    /// A line of JSON.
    Json,
}
