//! `tenpass bench barge …`.

use std::path::PathBuf;

use clap::Args;

use crate::args::TextOrJson;

const HELP: &str = "\
A voice narrates into a simulated room; its echo, noise and, in trials, someone who interrupts reach the microphone. SNR
is the level of the one who interrupts over the echo, both at the microphone. Measured are stops for nothing in an
hour of playback, missed interruptions at each SNR, and the time from the onset of the voice to the duck and the stop.
A duck takes playback down by 12 dB at once, so that someone who was heard for 100 ms is heard better after it.

Examples:
  tenpass bench barge
  tenpass bench barge --hours 2 --trials 100 --snr 0,5,10,15 --echo-db -6 --format json
  tenpass bench barge --resume latest";

/// Arguments of `bench barge`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct BenchBarge {
    /// The corpus that those who interrupt are taken from; corpora/small of the project when not given
    #[arg(long, value_name = "DIR")]
    pub(crate) corpus: Option<PathBuf>,
    /// The voice that narrates; the best English one when not given
    #[arg(long, value_name = "SPEC")]
    pub(crate) voice: Option<String>,
    /// A text to narrate
    #[arg(long, value_name = "FILE")]
    pub(crate) text: Option<PathBuf>,
    /// Hours of playback in which nobody interrupts
    #[arg(long, value_name = "HOURS", default_value_t = 0.25)]
    pub(crate) hours: f64,
    /// Levels of the one who interrupts over the echo
    #[arg(long, value_name = "DB", value_delimiter = ',', allow_hyphen_values = true, default_value = "-5,0,5,10,15")]
    pub(crate) snr: Vec<f64>,
    /// Trials at each level
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) trials: u32,
    /// Level of the echo against what is played
    #[arg(long, value_name = "DB", default_value_t = -12.0, allow_hyphen_values = true)]
    pub(crate) echo_db: f64,
    /// Delay of the echo
    #[arg(long, value_name = "MS", default_value_t = 60.0)]
    pub(crate) delay_ms: f64,
    /// Level of the room's noise below full scale
    #[arg(long, value_name = "DB", default_value_t = -65.0, allow_hyphen_values = true)]
    pub(crate) noise_db: f64,
    /// Seed of room, places and times
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Finish a run that was stopped; everything else is taken from it
    #[arg(long, value_name = "RUN", conflicts_with_all = ["corpus", "voice", "text"])]
    pub(crate) resume: Option<String>,
    #[command(flatten)]
    pub(crate) format: TextOrJson,
}
