//! What can go wrong with the memory file.

use std::io;
use std::path::{Path, PathBuf};

use tenpass_agent::memory::{FindError, Refusal};

/// A memory operation that did not happen. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// A rule says no.
    #[error("not kept: {0}")]
    Refused(#[from] Refusal),
    /// No entry, or several, were meant.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Another process holds the file.
    #[error("{} is being written by another process", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Somebody saved the file again and again while it was written.
    #[error("{} keeps changing", path.display())]
    Changing {
        /// The file.
        path: PathBuf,
    },
    /// A folder, a device, a pipe.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A link that is not followed.
    #[error("{} is a link that is not followed: {reason}", path.display())]
    Link {
        /// The link.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// More than a memory file may have.
    #[error("{} has more than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// Not text.
    #[error("{} is not UTF-8 text", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// There is no write of this session to take back, or it is no longer there as it was written.
    #[error("nothing to undo: {reason}")]
    NothingToUndo {
        /// Why.
        reason: &'static str,
    },
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl MemoryError {
    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Refused(refusal) => refusal.hint(),
            Self::Find(error) => error.hint().to_owned(),
            Self::Busy { .. } | Self::Changing { .. } => "try again when the other program is done".to_owned(),
            Self::NotAFile { .. } => "move it away, or name another memory file".to_owned(),
            Self::Link { .. } => "link to a regular file of your own, or put the file itself there".to_owned(),
            Self::TooLarge { .. } => "move old entries to another file".to_owned(),
            Self::NotText { .. } => "save it as UTF-8 in your editor".to_owned(),
            Self::NothingToUndo { .. } => "`memory forget` removes any entry".to_owned(),
            Self::Io { .. } => "check the folder's permissions and the free space".to_owned(),
        }
    }
}
