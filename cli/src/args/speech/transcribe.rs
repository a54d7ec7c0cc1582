//! `tenpass transcribe …`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `transcribe`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  tenpass transcribe clip.wav
  tenpass transcribe meeting.flac --language fr --format srt --out subtitles
  arecord -f S16_LE -r 16000 -d 4 | tenpass transcribe - --engine whisper.cpp:whisper-tiny-en+q8+cut")]
pub(crate) struct Transcribe {
    /// WAV or FLAC files of any rate; `-` reads one from stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// What writes it down: ENGINE:MODEL[+q8|+q5][+cut]; ENGINE is whisper.cpp or candle, MODEL a name of the
    /// catalogue or a path
    #[arg(long, value_name = "SPEC")]
    pub(crate) engine: Option<String>,
    /// The language that is spoken, such as `fr`; without it the model finds out
    #[arg(long, value_name = "CODE")]
    pub(crate) language: Option<String>,
    /// Text that the model is to think came before: vocabulary, example sentences; the last 223 tokens count
    #[arg(long, value_name = "TEXT", conflicts_with = "prompt_file")]
    pub(crate) prompt: Option<String>,
    /// The same from a file
    #[arg(long, value_name = "FILE")]
    pub(crate) prompt_file: Option<PathBuf>,
    /// Beams of the search; 1 is greedy
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) beams: u32,
    /// Try again at higher temperatures when an answer is improbable or repeats itself
    #[arg(long)]
    pub(crate) fallback: bool,
    /// Transcribe everything, not only what the voice activity detector calls speech
    #[arg(long)]
    pub(crate) no_gate: bool,
    /// Cut the encoder's context to the length of the sound: faster on short sounds, less exact
    #[arg(long)]
    pub(crate) cut_context: bool,
    /// Threads; without it one for every two cores
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
    /// How to write it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: TranscriptFormat,
    /// Write one file a sound into this folder instead of printing
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// How a transcript is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum TranscriptFormat {
    /// One stretch a line.
    #[default]
    Text,
    /// Everything that is known.
    Json,
    /// SubRip subtitles.
    Srt,
    /// WebVTT subtitles.
    Vtt,
}

impl TranscriptFormat {
    /// Of a file in this format.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Json => "json",
            Self::Srt => "srt",
            Self::Vtt => "vtt",
        }
    }
}
