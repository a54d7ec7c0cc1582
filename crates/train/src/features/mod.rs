//! From sound to streams of embeddings, once: what was computed lies in a cache on disk.
//!
//! Features are made with the streaming front end, as a listener makes them, because the floor of its mel
//! spectrogram depends on the length of each call. A key is the SHA-256 of the version, the front end's
//! own hash, and the samples as 16-bit integers.

mod cache;
mod extract;
mod parallel;

use std::io;
use std::path::PathBuf;

pub(crate) use extract::hex;
pub use extract::{Extractor, sound_hash};
pub use parallel::parallel;

/// Why features cannot be made or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureError {
    /// The cache cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no cache.
    #[error("{path}: {problem}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Another process works in the folder.
    #[error("{path}: another process is using it")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The front end cannot be used.
    #[error("front end: {0}")]
    FrontEnd(String),
}

impl FeatureError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { .. } => "check the path, its permissions and the free space",
            Self::Format { .. } => "remove the file: it is only a cache",
            Self::Busy { .. } => "wait until the other training has ended, or name another folder with --work",
            Self::FrontEnd(_) => "tenpass models pull speech-embedding",
        }
    }
}
