//! What can go wrong with a database file, and what to do about it.

use std::path::PathBuf;

/// A database that cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The file or its folder cannot be created.
    #[error("cannot create {}: {source}", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file cannot be opened, or it is damaged.
    #[error("cannot open the database {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// The file has migrations that this version does not know.
    #[error("the database {} was written by a newer version (unknown migration {name})", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The first unknown migration.
        name: String,
    },
    /// The file is a database, but not one of these.
    #[error("{} is the database of another program (it has tables, but no list of migrations)", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A statement failed.
    #[error("cannot {action}: {source}")]
    Query {
        /// What was being done.
        action: &'static str,
        /// Why it failed.
        source: rusqlite::Error,
    },
    /// No such conversation.
    #[error("there is no conversation {thread}")]
    UnknownThread {
        /// The id that was asked for.
        thread: String,
    },
}

impl DatabaseError {
    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Create { .. } => "check that the folder exists, is writable, and that the disk is not full",
            Self::Open { .. } => {
                "check the file's owner and mode; if it is damaged, move it away and a new one is made"
            }
            Self::Newer { .. } => "use the newer version again, or move the file away to start with an empty one",
            Self::Foreign { .. } => "choose another path",
            Self::Query { .. } => "check that the disk is not full and that no other program holds the file",
            Self::UnknownThread { .. } => "list the conversations to find its id",
        }
    }
}
