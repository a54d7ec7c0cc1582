//! `tenpass bench wake …`.

use std::path::PathBuf;

use clap::Args;

use super::train::{Source, TrainingData};
use crate::args::TableFormat;

const EXAMPLES: &str = "\
Clips become continuous audio at random phase, heard by the detector of the service. A hit is an event from 0.2 s before \
to 1.0 s after the word's end; all others are false wakes, merged within 2 s. The threshold is chosen on development days \
and reported on test days. Needs the asset speech-embedding.

Examples:
  tenpass bench wake --head kora.onnx --corpus corpora/kora
  tenpass bench wake --head kora.onnx --head kora-new.onnx --corpus recordings/kora corpora/prompts --svg kora.svg
  tenpass bench wake --word kora --ablate user,synthetic --seeds 5 --positives recordings/kora";

/// Arguments of `bench wake`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchWake {
    /// Heads, .onnx; the first is what others are compared with [default: the setting
    /// speech.wake_head, else the head in service, else the shipped one]
    #[arg(long = "head", value_name = "FILE.onnx", num_args = 1..)]
    pub(crate) heads: Vec<PathBuf>,
    /// Corpora or folders with the word and with other sound [default: corpora of this project with the word]
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub(crate) corpus: Vec<PathBuf>,
    /// The wake word [default: what the heads say]
    #[arg(long, value_name = "WORD")]
    pub(crate) word: Option<String>,
    /// Take this threshold for all heads, and all sound for the test
    #[arg(long, value_name = "SCORE")]
    pub(crate) threshold: Option<f32>,
    /// Write the DET curve to this file
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) svg: Option<PathBuf>,
    /// Show the points of the DET curve, too
    #[arg(long)]
    pub(crate) curve: bool,
    /// Go on with a run that was stopped
    #[arg(long, value_name = "RUN")]
    pub(crate) resume: Option<String>,
    /// Train with and without these sources, and compare
    #[arg(long, value_enum, value_name = "SOURCE", value_delimiter = ',', num_args = 1..)]
    pub(crate) ablate: Vec<Source>,
    /// Seeds of every arm of the ablation
    #[arg(long, default_value_t = 5, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) seeds: u64,
    #[command(flatten)]
    pub(crate) data: TrainingData,
    #[command(flatten)]
    pub(crate) format: TableFormat,
}
