//! Why there is no vector.

use std::path::PathBuf;

/// Why a text could not be embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A file of the model.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The model's architecture is another one.
    #[error("{}: {found} is not a model that is known here (bert)", path.display())]
    Architecture {
        /// Its configuration.
        path: PathBuf,
        /// What it names.
        found: String,
    },
    /// The model failed.
    #[error("the embedding model failed: {0}")]
    Model(String),
    /// The other computer failed.
    #[error("{address}: {problem}")]
    Remote {
        /// Its address.
        address: String,
        /// What went wrong.
        problem: String,
    },
    /// The address cannot be used.
    #[error("{address}: {problem}")]
    Address {
        /// As it was given.
        address: String,
        /// Why not.
        problem: &'static str,
    },
}

impl EmbedError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { .. } => "fetch the model again: tenpass models pull minilm-l6-v2",
            Self::Architecture { .. } => "take a BERT model such as all-MiniLM or bge",
            Self::Model(_) => "try with a shorter text; the model may be broken: tenpass models verify",
            Self::Remote { .. } => {
                "check that the other computer runs `tenpass serve --role embeddings` and can be reached"
            }
            Self::Address { .. } => "name the other computer, such as http://192.168.1.20:7374",
        }
    }
}
