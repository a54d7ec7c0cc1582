//! What can go wrong between a run and its files.

use std::io;
use std::path::{Path, PathBuf};

use crate::store::FormatVersion;

/// A run that cannot be read, written, found or joined.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file of the store cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file of the store cannot be written (a full disk, a missing permission).
    #[error("cannot write {}: {source}{}", path.display(), kept_words(*kept))]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
        /// How many passes of the run are safe in its files, when a run was going on.
        kept: Option<u64>,
    },
    /// A line that is neither valid nor the torn last one.
    #[error("{}:{line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The manifest is not one.
    #[error("{} is not a run manifest: {reason}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The run was written by a newer program.
    #[error("{} has format {found}, this program {action} up to {supported}", path.display())]
    NewerFormat {
        /// The manifest.
        path: PathBuf,
        /// The format of the file.
        found: FormatVersion,
        /// The newest format that this program knows.
        supported: FormatVersion,
        /// `reads` or `writes`.
        action: &'static str,
    },
    /// Another process writes to this run.
    #[error("run {run} is being written by {by}")]
    Locked {
        /// The run.
        run: String,
        /// Who holds the lock, as far as it said.
        by: String,
    },
    /// No run has this name.
    #[error("no run `{query}` in {}", directory.display())]
    NoRun {
        /// What was asked for.
        query: String,
        /// Where it was looked for.
        directory: PathBuf,
    },
    /// Several runs begin with this.
    #[error("`{query}` is the beginning of several runs: {}", matches.join(", "))]
    Ambiguous {
        /// What was asked for.
        query: String,
        /// The runs that match.
        matches: Vec<String>,
    },
    /// The run has no such case.
    #[error("run {run} has no case `{case}`")]
    NoCase {
        /// The run.
        run: String,
        /// What was asked for.
        case: String,
    },
    /// What is to be resumed is not what was started.
    #[error("run {run} cannot be resumed like this: {}", differences.join("; "))]
    Mismatch {
        /// The run.
        run: String,
        /// Each difference: `what: A in the run, B now`.
        differences: Vec<String>,
    },
    /// The parts do not make one run.
    #[error("these runs cannot be merged: {0}")]
    Merge(String),
    /// What was read elsewhere does not make a run.
    #[error("this does not make a run: {0}")]
    Import(String),
    /// The index cannot be used, not even in memory.
    #[error("the index {} failed: {source}", path.display())]
    Index {
        /// The index file.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// A record cannot be turned into JSON: a bug, not the user's mistake.
    #[error("cannot encode a record for {}: {reason}", path.display())]
    Encode {
        /// The file it was meant for.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

fn kept_words(kept: Option<u64>) -> String {
    kept.map_or_else(String::new, |count| format!("; all {count} passes written before are kept"))
}

impl StoreError {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source, kept: None }
    }

    pub(crate) fn line(path: &Path, line: u64, reason: impl Into<String>) -> Self {
        Self::Line { path: path.to_owned(), line, reason: reason.into() }
    }

    /// The same error, saying how many passes survive it.
    pub(crate) fn with_kept(self, passes: u64) -> Self {
        match self {
            Self::Write { path, source, .. } => Self::Write { path, source, kept: Some(passes) },
            other => other,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Read { .. } => "check that the path exists and is readable",
            Self::Write { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                "free some space, then continue with --resume"
            }
            Self::Write { .. } => "check the folder's permissions and free space, then continue with --resume",
            Self::Line { .. } => "the file was edited or damaged; remove that line, then continue with --resume",
            Self::Manifest { .. } => "restore the manifest, or remove the run's folder",
            Self::NewerFormat { .. } => "update tenpass",
            Self::Locked { .. } => "wait for that process to end, or stop it",
            Self::NoRun { .. } => "`tenpass runs list` shows the runs",
            Self::Ambiguous { .. } => "give more letters of the run's name",
            Self::NoCase { .. } => "`tenpass cases list` shows the cases",
            Self::Mismatch { .. } => "resume with the settings of the run, or start a new run",
            Self::Merge(_) => "merge all parts of one --partition run, each once, made with equal settings",
            Self::Import(_) => "the file was cut or edited; export or download it again",
            Self::Index { .. } => "remove the index file: it is rebuilt from the runs",
            Self::Encode { .. } => "this is a bug; please report it",
        }
    }
}
