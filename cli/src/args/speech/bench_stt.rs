//! `tenpass bench stt …`.

use std::path::PathBuf;

use clap::Args;

use crate::args::TableFormat;

const HELP: &str = "\
Every arm transcribes the same audio: each engine with each prompt and each way of decoding. A command is
understood when what was heard is dispatched as what was said. A prompt is never scored on a command that it
contains: with leave_out it is rendered anew for each command, without it such a prompt is refused.

SPEC names an engine and a model: whisper.cpp:whisper-base, whisper.cpp:whisper-base+q8 (weights in 8 bits),
whisper.cpp:whisper-tiny-en+cut (the encoder's context cut to the sound), candle:whisper-base.
Arms: greedy (the same answer every time: one pass says it all), fallback (tries again at higher temperatures, where
it samples: --passes of those clips), beam, cut, ungated (without the voice activity gate).

Examples:
  tenpass bench stt
  tenpass bench stt --engine whisper.cpp:whisper-tiny-en --engine whisper.cpp:whisper-base+q8 --arms greedy,cut
  tenpass bench stt --corpus corpora/mine --prompts my-prompts.toml --format json
  tenpass bench stt --resume latest
  tenpass bench stt --show latest --confusions";

/// Arguments of `bench stt`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct BenchStt {
    /// The corpus; corpora/small of the project when not given
    #[arg(long, value_name = "DIR")]
    pub(crate) corpus: Option<PathBuf>,
    /// The prompts; corpora/prompts/stt.toml of the project when not given
    #[arg(long, value_name = "FILE")]
    pub(crate) prompts: Option<PathBuf>,
    /// Only these prompts of the file; the first of the file is always there to compare with
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// The commands; corpora/commands/commands.toml of the project when not given
    #[arg(long, value_name = "FILE")]
    pub(crate) commands: Option<PathBuf>,
    /// An engine; may be given several times [setting: speech.stt]
    #[arg(long, value_name = "SPEC")]
    pub(crate) engine: Vec<String>,
    /// Ways of decoding; the first is what others are compared with
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "greedy,fallback")]
    pub(crate) arms: Vec<String>,
    /// Passes of clips where an arm sampled [setting: bench.passes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) passes: Option<u32>,
    /// Only clips whose file, intent or voice contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Vec<String>,
    /// At most so many clips, evenly from the list
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,
    /// Threads of an engine; 0 takes one for every two cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// The smallest difference that matters, as a fraction
    #[arg(long, value_name = "FRACTION")]
    pub(crate) delta: Option<f64>,
    /// Where the resampling of tests comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Finish a run that was stopped; everything else is taken from it
    #[arg(long, value_name = "RUN", conflicts_with_all = ["show", "corpus", "prompts", "commands", "engine", "passes", "filter", "limit"])]
    pub(crate) resume: Option<String>,
    /// Score a stored run again, without a model
    #[arg(long, value_name = "RUN", conflicts_with_all = ["corpus", "prompts", "commands", "engine", "passes", "filter", "limit"])]
    pub(crate) show: Option<String>,
    /// What was said, what was heard, by whom, with which prompt, and how often
    #[arg(long)]
    pub(crate) confusions: bool,
    /// Exit code 1 unless this prompt is better than none, REAL, with the first engine and decoding
    #[arg(long, value_name = "ID")]
    pub(crate) expect_real: Vec<String>,
    #[command(flatten)]
    pub(crate) format: TableFormat,
}
