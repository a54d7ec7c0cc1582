//! What can be wrong with a file of another tool.

use std::io;
use std::path::{Path, PathBuf};

use tenpass_bench::store::StoreError;

/// A file of another tool that cannot be read, written or understood.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It is not of the format it should be.
    #[error("{} is not {format}: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// `an Inspect log`, for instance.
        format: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A part of it is not as it must be.
    #[error("{}, {entry}: {reason}", path.display())]
    Entry {
        /// The file.
        path: PathBuf,
        /// The part, such as `samples/x_epoch_2.json`.
        entry: String,
        /// The field and what is wrong with it.
        reason: String,
    },
    /// A line of it is not as it must be.
    #[error("{}:{line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The field and what is wrong with it.
        reason: String,
    },
    /// It is larger than what is read.
    #[error("{}, {entry}: more than {limit} {unit}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The part.
        entry: String,
        /// The limit.
        limit: u64,
        /// What is limited: `bytes`, `entries`.
        unit: &'static str,
    },
    /// The store has this run already.
    #[error("{} was imported before, or measured here: it is run {run}", path.display())]
    Known {
        /// The file or folder.
        path: PathBuf,
        /// The run.
        run: String,
    },
    /// The run has nothing to write.
    #[error("{0}")]
    Nothing(String),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ExchangeError {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }

    #[allow(clippy::needless_pass_by_value, reason = "errors of others are handed over and done with")]
    pub(crate) fn entry(path: &Path, entry: impl Into<String>, reason: impl ToString) -> Self {
        Self::Entry { path: path.to_owned(), entry: entry.into(), reason: reason.to_string() }
    }

    #[allow(clippy::needless_pass_by_value, reason = "errors of others are handed over and done with")]
    pub(crate) fn line(path: &Path, line: u64, reason: impl ToString) -> Self {
        Self::Line { path: path.to_owned(), line, reason: reason.to_string() }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Read { .. } => "check that the path exists and is readable",
            Self::Write { .. } => "check the folder's permissions and free space",
            Self::Format { .. } => "check that this is the file you mean, and that it is complete",
            Self::Entry { .. } | Self::Line { .. } => "the file was edited, damaged or cut; get it again",
            Self::TooLarge { .. } => "split the file, or leave the part out",
            Self::Known { .. } => "--again makes a second run of it",
            Self::Nothing(_) => "`tenpass runs show` tells what the run has",
            Self::Store(error) => error.hint(),
        }
    }
}
