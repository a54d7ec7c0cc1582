//! What can be wrong with sound.

use std::path::PathBuf;

/// A file or a sound that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AudioError {
    /// The file cannot be opened, read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not sound that can be read.
    #[error("{path}: {problem}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// There is no microphone, or it failed.
    #[error("{what}")]
    NoDevice {
        /// What is missing.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// The sound cannot be changed as asked.
    #[error("{0}")]
    Unusable(String),
}

impl AudioError {
    /// What to do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::File { .. } => "check the path and its permissions",
            Self::Format { .. } => "give a WAV or FLAC file, for example 16 kHz, 16 bits, one channel",
            Self::NoDevice { hint, .. } => hint,
            Self::Unusable(_) => "check the sound with an audio editor, or record it again",
        }
    }
}
