//! What can go wrong with the folder of nights.

use std::io;
use std::path::{Path, PathBuf};

/// The folder of nights could not be used.
#[derive(Debug, thiserror::Error)]
pub enum NightError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A night's file is damaged.
    #[error("{}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// A night's file comes from a newer program.
    #[error("{}: version {found} is newer than {supported}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest that is understood.
        supported: u32,
    },
    /// Another night runs.
    #[error("another night is running: {by}")]
    Running {
        /// Who holds the lock.
        by: String,
    },
}

impl NightError {
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { .. } => "check that the folder exists, is writable, and that the disk is not full",
            Self::Damaged { .. } => "move that night's folder away; the other nights do not need it",
            Self::Newer { .. } => "use the tenpass that wrote it, or a newer one",
            Self::Running { .. } => "wait for it, or give the two nights folders of their own with --dir",
        }
    }
}
