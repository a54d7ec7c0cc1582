//! What can be wrong with a file of commands.

use std::path::PathBuf;

/// Why commands cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandsError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is larger than any list of commands.
    #[error("{path}: {bytes} bytes are more than {most}")]
    Large {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// What is read at most.
        most: u64,
    },
    /// A mistake in the file.
    #[error("{path}{}: {problem}", line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where, counted from 1.
        line: Option<usize>,
        /// What is wrong.
        problem: String,
    },
    /// The file was written by a newer program.
    #[error("{path}: format {found} is newer than {known}, which this program knows")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest that can be read.
        known: u32,
    },
    /// A phrase that must not be learned.
    #[error("\"{heard}\" cannot be learned: {problem}")]
    Phrase {
        /// The phrase.
        heard: String,
        /// Why not.
        problem: String,
    },
}

impl CommandsError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { .. } => "check the path and its permissions; --file names another file",
            Self::Large { .. } => "a file of commands is a few dozen kilobytes: is this the right one?",
            Self::Invalid { .. } => "corpora/commands/commands.toml shows the form, its head explains it",
            Self::Newer { .. } => "update tenpass, or restore the file that this version wrote",
            Self::Phrase { .. } => "`tenpass commands test \"…\"` shows what a text is taken for",
        }
    }
}
