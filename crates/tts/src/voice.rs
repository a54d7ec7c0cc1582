//! The trait, what goes in and what comes out.

use std::path::PathBuf;

use serde::Serialize;
use tenpass_audio::Audio;

use crate::Cancel;

/// How a text is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SpeakOptions {
    /// 1 is the voice's own speed; 2 is twice as fast.
    pub speed: f32,
    /// Pitch in semitones, where the engine can; else ignored.
    pub pitch_semitones: f32,
    /// Seed of engines that sample.
    pub seed: u64,
}

impl Default for SpeakOptions {
    fn default() -> Self {
        Self { speed: 1.0, pitch_semitones: 0.0, seed: 0 }
    }
}

impl SpeakOptions {
    /// The speed, when it is one that can be spoken: a quarter to four times.
    pub(crate) fn checked_speed(&self) -> Result<f32, TtsError> {
        if (0.25..=4.0).contains(&self.speed) {
            return Ok(self.speed);
        }
        Err(TtsError::Input(format!("a speed of {} cannot be spoken: 0.25 to 4 can", self.speed)))
    }
}

/// What a voice is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VoiceInfo {
    /// The SPEC: `espeak:fr-fr+f2`, `flite:slt`, `piper:piper-joe`, `kokoro:ff_siwis`, `elevenlabs:ID`.
    pub spec: String,
    /// The engine.
    pub engine: String,
    /// Its language, such as `en` or `fr`.
    pub language: String,
    /// Samples a second of what it speaks.
    pub rate: u32,
    /// Whether it is real speech synthesis of quality, or only a voice of last resort.
    pub natural: bool,
}

/// An engine with its voice.
pub trait Voice: Send + Sync {
    /// What it is.
    fn info(&self) -> &VoiceInfo;
    /// Speaks plain text (no Markdown; see the text functions of this crate) of at most a few sentences.
    fn speak(&self, text: &str, options: &SpeakOptions) -> Result<Audio, TtsError> {
        self.speak_until(text, options, &Cancel::new())
    }
    /// As [`Voice::speak`]; ends early with [`TtsError::Cancelled`] when the switch is thrown.
    fn speak_until(&self, text: &str, options: &SpeakOptions, cancel: &Cancel) -> Result<Audio, TtsError>;
}

/// Why nothing could be spoken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TtsError {
    /// The name of an engine or a voice is wrong.
    #[error("{0}")]
    Spec(String),
    /// A program, a library or a model is not on this machine.
    #[error("{what} is not on this machine")]
    Missing {
        /// What.
        what: String,
        /// How to get it.
        hint: String,
    },
    /// The voice's files cannot be used.
    #[error("{path}: {problem}")]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The text cannot be spoken.
    #[error("{0}")]
    Input(String),
    /// The engine failed.
    #[error("{engine}: {problem}")]
    Engine {
        /// Which.
        engine: String,
        /// What it said.
        problem: String,
    },
    /// It was stopped.
    #[error("stopped")]
    Cancelled,
}

impl TtsError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Spec(_) => "`tenpass say --list` shows the voices of this machine".to_owned(),
            Self::Missing { hint, .. } => hint.clone(),
            Self::Model { .. } => "fetch it again with `tenpass models pull NAME`, or name another voice".to_owned(),
            Self::Input(_) => "change the text or the options".to_owned(),
            Self::Engine { .. } => "try another voice with --voice; `tenpass say --list` shows them".to_owned(),
            Self::Cancelled => "start it again when you are ready".to_owned(),
        }
    }
}
