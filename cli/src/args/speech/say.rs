//! `tenpass say …`.

use std::path::PathBuf;

use clap::Args;

use crate::args::TableFormat;

/// Arguments of `say`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tenpass say \"Dinner is at 19:30.\"
  tenpass say hello --voice kokoro:af_heart --out hello.wav
  tenpass say --file answer.md --language fr --out answer.flac
  tenpass say --list

Voices: kokoro:NAME, piper:NAME or piper:FILE.onnx[#SPEAKER], espeak:LANGUAGE[+VARIANT], flite:NAME, and, paid \
for and only when named, elevenlabs:VOICE_ID.")]
pub(crate) struct Say {
    /// What to say; Markdown, numbers and abbreviations are read as a person would
    #[arg(value_name = "TEXT", required_unless_present_any = ["file", "list"], conflicts_with_all = ["file", "list"])]
    pub(crate) text: Vec<String>,

    /// Say what stands in this file; - reads stdin
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    pub(crate) file: Option<PathBuf>,

    /// The voice [default: of the settings, else the best one present]
    #[arg(long, value_name = "SPEC")]
    pub(crate) voice: Option<String>,

    /// Language of the text: en or fr [default: that of the text]
    #[arg(long, value_name = "LANGUAGE", value_parser = ["en", "fr"])]
    pub(crate) language: Option<String>,

    /// How fast: 2 is twice as fast as the voice's own speed
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub(crate) speed: f32,

    /// Seed of voices that sample: same seed, same sound
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Processor threads of a neural voice [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// Write it to FILE.wav or FILE.flac instead of playing it; - writes WAV to stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Print the text as it would be spoken, chunk by chunk, and say nothing
    #[arg(long, conflicts_with_all = ["out", "list", "voice"])]
    pub(crate) dry_run: bool,

    /// Print the voices of this machine
    #[arg(long)]
    pub(crate) list: bool,

    #[command(flatten)]
    pub(crate) format: TableFormat,
}
