//! `tenpass bench turn …`.

use std::path::PathBuf;

use clap::Args;

use crate::args::TableFormat;

const HELP: &str = "\
Every clip is played through the whole pipeline: voice activity, endpoint, speech to text, closed command or model, first
clause, voice, device. Time counts from the last voiced sample, which the corpus knows, to the first sample played
that is not silent; the parts sum to the total. By default the clock is virtual: sound passes at once and each engine
costs what it took. `STT ran` is how long the transcription itself took, most of it while the endpoint was awaited. Goals: closed commands p50 650 ms, p95 900 ms; turns of a model on a CPU p50 2.5 s, on a GPU
(--gpu) p50 950 ms, p95 1600 ms.

Examples:
  tenpass bench turn
  tenpass bench turn --engine whisper.cpp:whisper-tiny-en+q8+cut --voice piper:piper-joe --passes 10
  tenpass bench turn --model embedded:smollm2-135m --real-time --format json
  tenpass bench turn --resume latest";

/// Arguments of `bench turn`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct BenchTurn {
    /// The corpus; corpora/small of the project when not given
    #[arg(long, value_name = "DIR")]
    pub(crate) corpus: Option<PathBuf>,
    /// The commands; corpora/commands/commands.toml of the project when not given
    #[arg(long, value_name = "FILE")]
    pub(crate) commands: Option<PathBuf>,
    /// Only clips whose path, text or intent contains this
    #[arg(long, value_name = "WORD")]
    pub(crate) filter: Vec<String>,
    /// Only clips of this language
    #[arg(long, value_name = "CODE", default_value = "en")]
    pub(crate) language: String,
    /// At most so many clips, taken evenly
    #[arg(long, value_name = "N")]
    pub(crate) clips: Option<usize>,
    /// What writes down speech
    #[arg(long, value_name = "SPEC")]
    pub(crate) engine: Option<String>,
    /// What speaks; the best voice of the language when not given
    #[arg(long, value_name = "SPEC")]
    pub(crate) voice: Option<String>,
    /// The model that answers what is no command; a scripted answer when not given
    #[arg(long, value_name = "SPEC")]
    pub(crate) model: Option<String>,
    /// When the first word of the scripted answer comes
    #[arg(long, value_name = "MS", default_value_t = 500)]
    pub(crate) answer_ms: u64,
    /// From a sample given to the device until it sounds
    #[arg(long, value_name = "MS", default_value_t = 20)]
    pub(crate) device_ms: u64,
    /// Passes of each clip
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) passes: u32,
    /// Threads of the speech engine; without it one a core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
    /// Play every clip in real time, each engine on a thread of its own
    #[arg(long)]
    pub(crate) real_time: bool,
    /// Hold turns of a model against the goals for a GPU
    #[arg(long)]
    pub(crate) gpu: bool,
    /// Seed of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Finish a run that was stopped; everything else is taken from it
    #[arg(long, value_name = "RUN", conflicts_with_all = [
        "corpus", "commands", "filter", "clips", "engine", "voice", "model", "threads", "real_time", "gpu",
    ])]
    pub(crate) resume: Option<String>,
    #[command(flatten)]
    pub(crate) format: TableFormat,
}

impl BenchTurn {
    /// What was typed, for the manifest.
    pub(crate) fn typed(&self) -> serde_json::Value {
        serde_json::json!({
            "corpus": self.corpus, "commands": self.commands, "filter": self.filter, "clips": self.clips,
            "engine": self.engine, "voice": self.voice, "model": self.model, "threads": self.threads,
            "gpu": self.gpu, "real_time": self.real_time, "passes": self.passes,
        })
    }
}
