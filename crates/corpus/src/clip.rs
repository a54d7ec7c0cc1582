//! `corpus.toml`: what every file of a corpus is.

use serde::{Deserialize, Serialize};

/// `corpus.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of this format.
    pub format: u32,
    /// The corpus's name: `[a-z0-9-]+`.
    pub name: String,
    /// One line for people: what it is for, and where it comes from.
    pub description: String,
    /// The licence of the sound.
    pub licence: String,
    /// When it was frozen, RFC 3339; absent while it may still grow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<String>,
    /// Written at freezing: SHA-256 over everything that is said about the files, [`crate::Corpus::hash`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The files.
    #[serde(default, rename = "clip")]
    pub clips: Vec<Clip>,
}

/// One sound file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Clip {
    /// The path in the corpus's folder, with `/`.
    pub file: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Length in seconds.
    pub seconds: f64,
    /// What is said; empty for silence and noise.
    pub text: String,
    /// The closed command that it is (its id), `wake` for the wake word alone, `none` for speech that is no
    /// command, `silence` or `noise`.
    pub intent: String,
    /// Language of the text, such as `en`; empty where nothing is said.
    pub language: String,
    /// Who says it: the SPEC of a synthetic voice such as `kokoro:af_bella`, or the name of a person.
    pub voice: String,
    /// True for a synthetic voice.
    pub synthetic: bool,
    /// The day of the recording, `2026-11-30`; of synthetic sound the number of its round, `r1`.
    pub day: String,
    /// Where: `dry`, `near`, `far`, or a name of the user's.
    pub room: String,
    /// The wake word that is said, in lower case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake: Option<String>,
    /// Where the wake word ends, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word_end_s: Option<f64>,
    /// The last voiced sample, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speech_end_s: Option<f64>,
    /// Signal to noise in dB, where noise was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr_db: Option<f64>,
}
