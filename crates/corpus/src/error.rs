//! What can be wrong with a corpus.

use std::path::{Path, PathBuf};

use tenpass_audio::AudioError;

/// A corpus that cannot be used, or not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// There is no corpus in the folder.
    #[error("{0} holds no corpus: it has no corpus.toml")]
    None(PathBuf),
    /// The folder holds something else, or a corpus already.
    #[error("{0} is not empty")]
    Occupied(PathBuf),
    /// A file of the corpus cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// `corpus.toml`, or another file of text, says something that it must not.
    #[error("{path}: {problem}")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What.
        problem: String,
    },
    /// The corpus is frozen.
    #[error("the corpus {name} was frozen on {day} and cannot be changed")]
    Frozen {
        /// Its name.
        name: String,
        /// When.
        day: String,
    },
    /// A file is not the one that was put in.
    #[error("{path}: {problem}")]
    Changed {
        /// The file.
        path: PathBuf,
        /// In what.
        problem: String,
    },
    /// A sound cannot be read, written or used.
    #[error(transparent)]
    Audio(#[from] AudioError),
    /// What was asked for cannot be done.
    #[error("{0}")]
    Unusable(String),
    /// Nothing of what was to be spoken could be spoken.
    #[error("no voice could speak: {0}")]
    Speechless(String),
}

impl CorpusError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::None(_) => "name a folder with a corpus; `tenpass corpus list` shows those below corpora/".to_owned(),
            Self::Occupied(_) => "name a new folder, or one with a corpus that is not frozen".to_owned(),
            Self::File { .. } => "check the path and its permissions".to_owned(),
            Self::Manifest { .. } => "correct the entry, or bring the file back from version control".to_owned(),
            Self::Frozen { .. } => "make a new corpus in another folder".to_owned(),
            Self::Changed { .. } => "`tenpass corpus verify` names every file that differs".to_owned(),
            Self::Audio(error) => error.hint().to_owned(),
            Self::Unusable(_) => "see `tenpass corpus --help`".to_owned(),
            Self::Speechless(_) => "`tenpass say --list` shows the voices of this machine".to_owned(),
        }
    }

    pub(crate) fn file(path: &Path, source: std::io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }

    pub(crate) fn manifest(path: &Path, problem: impl Into<String>) -> Self {
        Self::Manifest { path: path.to_owned(), problem: problem.into() }
    }
}
