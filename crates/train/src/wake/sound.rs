//! A sound that is trained on or tested with, and where it came from.

use serde::{Deserialize, Serialize};
use tenpass_audio::{Audio, SPEECH_RATE, voiced};

use crate::features::sound_hash;

/// Where a sound came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A person, recorded.
    User,
    /// A synthetic voice.
    Synthetic,
}

/// What a sound is to the training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The wake word.
    Word,
    /// Nearly the wake word.
    Near,
    /// Other speech.
    Speech,
    /// No speech.
    Noise,
}

/// Which part of the training it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Weights are trained on it.
    Train,
    /// Checkpoint and threshold are chosen on it.
    Dev,
    /// Only measured on.
    Test,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Train, Self::Dev, Self::Test];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Dev => "dev",
            Self::Test => "test",
        }
    }
}

/// One sound at 16 kHz.
#[derive(Debug, Clone, PartialEq)]
pub struct Sound {
    /// The samples.
    pub samples: Vec<i16>,
    /// Its name by content; see [`sound_hash`].
    pub hash: String,
    /// Where the voice begins and ends, in seconds; `None` where there is none.
    pub voiced_s: Option<(f64, f64)>,
    /// Where the wake word ends.
    pub word_end_s: Option<f64>,
    /// What is said, as far as known.
    pub text: String,
    /// What it is to the training.
    pub role: Role,
    /// Where it came from.
    pub origin: Origin,
    /// Who says it, as far as known.
    pub voice: String,
    /// What is never divided between training and test: a voice, or a day of recordings.
    pub group: String,
    /// The part its group was given to.
    pub part: Part,
}

impl Sound {
    /// Of samples at 16 kHz; everything else is to be filled in.
    pub fn of(samples: Vec<i16>) -> Self {
        let audio = Audio::from_i16(&samples, SPEECH_RATE);
        let rate = f64::from(SPEECH_RATE);
        let voiced_s = voiced(&audio).map(|(begin, end)| (begin as f64 / rate, end as f64 / rate));
        Self {
            hash: sound_hash(&samples),
            samples,
            voiced_s,
            word_end_s: None,
            text: String::new(),
            role: Role::Speech,
            origin: Origin::User,
            voice: String::new(),
            group: String::new(),
            part: Part::Train,
        }
    }

    /// Its length.
    pub fn seconds(&self) -> f64 {
        self.samples.len() as f64 / f64::from(SPEECH_RATE)
    }

    /// As floats.
    pub fn audio(&self) -> Audio {
        Audio::from_i16(&self.samples, SPEECH_RATE)
    }
}
