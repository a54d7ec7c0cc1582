//! What can go wrong with a journal or its key, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// A journal that cannot be opened, written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Another process (or another part of this one) writes the journal.
    #[error("the journal {} is in use by another process", path.display())]
    Locked {
        /// The journal.
        path: PathBuf,
    },
    /// The key can be read by other users.
    #[error("the journal key {} can be read by other users (mode {mode:03o})", path.display())]
    KeyReadableByOthers {
        /// The key file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The key file does not hold 64 hexadecimal digits.
    #[error("the journal key {} is damaged: {length} bytes instead of 64 hexadecimal digits", path.display())]
    KeyDamaged {
        /// The key file.
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
    },
    /// The system has no randomness for a new key.
    #[error("cannot make a journal key: {source}")]
    NoRandomness {
        /// Why.
        source: getrandom::Error,
    },
    /// The journal was written with another key.
    #[error("the journal {} was written with another key", path.display())]
    WrongKey {
        /// The journal.
        path: PathBuf,
    },
    /// The file is another journal than its name says.
    #[error("{} holds the journal {found}, not {wanted}", path.display())]
    OtherJournal {
        /// The file.
        path: PathBuf,
        /// What its first line says.
        found: String,
        /// What it should be.
        wanted: String,
    },
    /// A later version wrote the journal.
    #[error("the journal {} has format version {version}, this program knows {}", path.display(), super::VERSION)]
    Newer {
        /// The journal.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// Its first or last lines do not verify: nothing is added to a broken chain.
    #[error("the journal {} does not verify at its {place}: {reason}", path.display())]
    Broken {
        /// The journal.
        path: PathBuf,
        /// `beginning` or `end`.
        place: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A write failed halfway and could not be undone.
    #[error("the journal {} takes no more lines after a failed write", path.display())]
    Poisoned {
        /// The journal.
        path: PathBuf,
    },
    /// A record is too long for one line.
    #[error("a record of {bytes} bytes does not fit a journal line of {} bytes", super::LINE_BYTES)]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// A record cannot be written as JSON.
    #[error("cannot write a record as json: {source}")]
    Encode {
        /// Why.
        source: serde_json::Error,
    },
    /// A line cannot be read.
    #[error("line {line} of {} cannot be read: {reason}", path.display())]
    Line {
        /// The journal.
        path: PathBuf,
        /// Its number, from 1.
        line: u64,
        /// Why.
        reason: String,
    },
    /// The store of the heads cannot be read.
    #[error("cannot read the stored heads of the journals: {reason}")]
    Heads {
        /// Why.
        reason: String,
    },
}

impl JournalError {
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } | Self::Poisoned { .. } => {
                "check that the folder exists, is writable, and that the disk is not full, then start again"
            }
            Self::Locked { .. } => "close the other one first, or give this one another folder",
            Self::KeyReadableByOthers { .. } => {
                "chmod 600 the file; if others may have read it, remove it and set the journals aside"
            }
            Self::KeyDamaged { .. } | Self::WrongKey { .. } => {
                "put the key back from a backup, or set the journals aside to begin new ones"
            }
            Self::NoRandomness { .. } => "the system's random generator is not available; start again later",
            Self::OtherJournal { .. } => "two journal files were swapped or renamed; put them back",
            Self::Newer { .. } => "use the newer version again, or set the journals aside to begin new ones",
            Self::Broken { .. } => "run `tenpass journal verify`; set the journals aside to begin new ones",
            Self::TooLong { .. } | Self::Encode { .. } => "the call was not recorded, so it must not run",
            Self::Line { .. } => "run `tenpass journal verify`",
            Self::Heads { .. } => "repair or move away the database",
        }
    }
}
