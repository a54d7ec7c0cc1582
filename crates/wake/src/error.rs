//! What can be wrong with a model, a head or a verifier.

use std::path::{Path, PathBuf};

/// A model that cannot be used, or input that does not fit it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WakeError {
    /// The file cannot be opened, read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no ONNX model, or is damaged.
    #[error("{name}: {problem}")]
    Onnx {
        /// The file, or what the bytes are called.
        name: String,
        /// What is wrong, with its place.
        problem: String,
    },
    /// A valid model, but not one that this program can run.
    #[error("{name}: {problem}")]
    Unsupported {
        /// The file.
        name: String,
        /// The operator or shape, and where it is.
        problem: String,
    },
    /// A verifier's file that does not hold together.
    #[error("{path}: {problem}")]
    Verifier {
        /// The file.
        path: PathBuf,
        /// The field and its value.
        problem: String,
    },
    /// A setting outside its range.
    #[error("{name} is {value}: {wanted}")]
    Setting {
        /// The field.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        wanted: &'static str,
    },
}

impl WakeError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { .. } => "check the path and its permissions",
            Self::Onnx { .. } => "the file is damaged or no ONNX model: export or fetch it again",
            Self::Unsupported { .. } => {
                "a head has input [1, frames, 96], as `tenpass train wake` writes it; the front end and the voice \
                 detector are assets: `tenpass models list`"
            }
            Self::Verifier { .. } => "train it again: `tenpass train verifier`",
            Self::Setting { .. } => "choose a value in this range",
        }
    }

    pub(crate) fn file(path: &Path, source: std::io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }

    pub(crate) fn unsupported(name: &str, problem: impl Into<String>) -> Self {
        Self::Unsupported { name: name.to_owned(), problem: problem.into() }
    }
}
