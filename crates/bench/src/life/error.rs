//! What can go wrong between a turn and its case.

use std::io;
use std::path::PathBuf;

use tenpass_trace::database::DatabaseError;
use tenpass_trace::journal::JournalError;

use crate::cases::CaseError;

/// Why a turn did not become a case.
#[derive(Debug, thiserror::Error)]
pub enum LifeError {
    /// The journals cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The conversations cannot be read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// Nothing was recorded yet.
    #[error("nothing was recorded yet in {}", folder.display())]
    Nothing {
        /// The agent's folder.
        folder: PathBuf,
    },
    /// No turn has that name.
    #[error("no turn or conversation begins with {query:?}")]
    NoTurn {
        /// What was typed.
        query: String,
    },
    /// Several have.
    #[error("{count} {what} begin with {query:?}")]
    Ambiguous {
        /// What was typed.
        query: String,
        /// `turns` or `conversations`.
        what: &'static str,
        /// How many.
        count: usize,
    },
    /// A conversation has no such turn.
    #[error("the conversation {thread} has {turns} turns, not {wanted}")]
    NoSuchTurn {
        /// The conversation.
        thread: String,
        /// How many it has.
        turns: usize,
        /// Which was asked for.
        wanted: u32,
    },
    /// A conversation was named, and not which of its turns.
    #[error("{thread} is a conversation of {turns} turns")]
    WhichTurn {
        /// The conversation.
        thread: String,
        /// How many it has.
        turns: usize,
    },
    /// The turn cannot become a case.
    #[error("turn {turn} cannot become a case: {reason}")]
    Unfit {
        /// The turn.
        turn: String,
        /// Why.
        reason: String,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file of placeholders is damaged.
    #[error("{}: {reason}", path.display())]
    Placeholders {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The file of placeholders is open to others.
    #[error("{} can be read by others", path.display())]
    ReadableByOthers {
        /// The file.
        path: PathBuf,
    },
    /// A personal word would have stayed in the case.
    #[error("the case would still hold a personal word as {kind}")]
    Leak {
        /// What kind of word.
        kind: &'static str,
    },
    /// The suite, or the case as it would be written, has faults.
    #[error("{} faults in the suite", .0.len())]
    Cases(Vec<CaseError>),
    /// What was written would not read back as what was meant. Nothing was changed.
    #[error("{}: the case would not read back as it was meant: {reason}", path.display())]
    NotAsMeant {
        /// The file.
        path: PathBuf,
        /// What differs.
        reason: String,
    },
    /// Two cases of one name.
    #[error("there is a case `{id}` already, at {place}")]
    Taken {
        /// The id.
        id: String,
        /// Where it is.
        place: String,
    },
    /// The name of a case is not of the right form.
    #[error("id {id:?} is not of the form [a-z0-9-]+")]
    BadId {
        /// The id.
        id: String,
    },
    /// A family's name cannot be the name of a file.
    #[error("family {family:?} is not a name of letters, digits and hyphens")]
    BadFamily {
        /// The family.
        family: String,
    },
    /// The file holds another family.
    #[error("{} holds the family `{found}`, not `{wanted}`", path.display())]
    OtherFamily {
        /// The file.
        path: PathBuf,
        /// Its family.
        found: String,
        /// The case's.
        wanted: String,
    },
}

impl LifeError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Journal(error) => error.hint().to_owned(),
            Self::Database(error) => error.hint().to_owned(),
            Self::Nothing { .. } => "`tenpass chat` begins it".to_owned(),
            Self::NoTurn { .. } => "`tenpass trace list` shows the turns and their conversations".to_owned(),
            Self::Ambiguous { .. } => "type more of the id".to_owned(),
            Self::NoSuchTurn { .. } | Self::WhichTurn { .. } => "say which with --turn N, counted from 1".to_owned(),
            Self::Unfit { .. } => "`tenpass trace show ID` shows what was recorded".to_owned(),
            Self::Read { .. } | Self::Write { .. } => "check the folder's permissions and its space".to_owned(),
            Self::Placeholders { path, .. } => {
                format!("move it away ({}): words get other placeholders from then on", path.display())
            }
            Self::ReadableByOthers { path } => format!("chmod 600 {}", path.display()),
            Self::Leak { .. } => "name the word with --hide, and report this".to_owned(),
            Self::Cases(errors) => errors
                .last()
                .and_then(CaseError::hint)
                .unwrap_or("`tenpass cases check` names every mistake")
                .to_owned(),
            Self::NotAsMeant { .. } => "nothing was changed; please report this with the command line".to_owned(),
            Self::Taken { .. } => "name another with --id".to_owned(),
            Self::BadId { .. } => "write lower-case words joined by hyphens".to_owned(),
            Self::BadFamily { .. } => "write --family with lower-case words joined by hyphens".to_owned(),
            Self::OtherFamily { found, .. } => format!("write --family {found}, or name a folder with --cases"),
        }
    }
}
