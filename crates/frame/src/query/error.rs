//! What can go wrong with a query.

use std::time::Duration;

use tenpass_bench::store::StoreError;
use tenpass_trace::journal::JournalError;

use crate::FrameError;

/// A query that was not answered.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// SQLite does not understand it.
    #[error("{message}{place}")]
    Sql {
        /// In SQLite's words.
        message: String,
        /// `, at character 8`, where SQLite tells.
        place: String,
        /// What to do about it.
        hint: String,
    },
    /// It would do something else than read.
    #[error("{what} is refused: a query only reads")]
    Refused {
        /// What it would do.
        what: String,
    },
    /// There is nothing in it.
    #[error("the query is empty")]
    Empty,
    /// There is something after its end.
    #[error("there is more than one statement")]
    Several,
    /// It was stopped.
    #[error("stopped")]
    Stopped,
    /// It took too long.
    #[error("no answer within {:.1} s", .limit.as_secs_f64())]
    TimedOut {
        /// The time that was allowed.
        limit: Duration,
    },
    /// The runs cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The answer cannot be written.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// SQLite failed.
    #[error("the query's database: {0}")]
    Database(rusqlite::Error),
}

impl QueryError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Sql { hint, .. } => hint.clone(),
            Self::Refused { .. } | Self::Several => {
                "write one SELECT, or WITH … SELECT; `tenpass query --tables` shows what there is".to_owned()
            }
            Self::Empty => "such as: tenpass query \"SELECT run, state, passes FROM runs\"".to_owned(),
            Self::Stopped => "nothing was changed".to_owned(),
            Self::TimedOut { .. } => "narrow it to a run (WHERE run = latest()), or raise --timeout".to_owned(),
            Self::Store(error) => error.hint().to_owned(),
            Self::Journal(error) => error.hint().to_owned(),
            Self::Frame(error) => error.hint(),
            Self::Database(_) => {
                "query.sqlite beside the runs and in the agent's folder, and index.sqlite, can be removed at any time"
                    .to_owned()
            }
        }
    }
}
