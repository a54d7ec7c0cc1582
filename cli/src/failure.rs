//! What a command reports when it cannot do its work: one line, a hint, an exit code.

use std::fmt::Display;

use tenpass_bench::run::RunError;
use tenpass_bench::store::StoreError;
use tenpass_catalog::CatalogError;
use tenpass_config::ConfigError;
use tenpass_exchange::ExchangeError;
use tenpass_model::{ModelError, PoolError};
use tenpass_review::ReviewError;
use tenpass_tools::assistant::{AssistantError, LiveError};
use tenpass_tools::memory::MemoryError;
use tenpass_trace::database::DatabaseError;
use tenpass_trace::journal::JournalError;

use crate::exit::Exit;

/// A command that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// The user's mistake.
    pub(crate) fn mistake(message: impl Display) -> Self {
        Self { exit: Exit::Mistake, message: message.to_string(), hint: None }
    }

    /// Something that is needed is missing, busy or failed.
    pub(crate) fn backend(message: impl Display) -> Self {
        Self { exit: Exit::Backend, message: message.to_string(), hint: None }
    }

    /// A bug of this program.
    pub(crate) fn bug(message: impl Display) -> Self {
        let hint = "this is a bug in tenpass: please report it with the command line".to_owned();
        Self { exit: Exit::Bug, message: message.to_string(), hint: Some(hint) }
    }

    /// The same failure with what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A file that could not be read.
    pub(crate) fn file(path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::mistake(format!("{}: {error}", path.display()))
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self { exit: Exit::Backend, message: error.to_string(), hint: Some(error.hint().to_owned()) }
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Model(error) => error.into(),
            typed => {
                let hint = typed.hint();
                Self::mistake(typed).hint(hint)
            }
        }
    }
}

impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Self {
        let exit = match error {
            CatalogError::Unknown { .. } | CatalogError::Invalid { .. } => Exit::Mistake,
            _ => Exit::Backend,
        };
        Self { exit, message: error.to_string(), hint: Some(error.hint()) }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::mistake(&error).hint(error.hint())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::mistake(&error).hint(error.hint())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::mistake(&error).hint(error.hint())
    }
}

impl From<ExchangeError> for Failure {
    fn from(error: ExchangeError) -> Self {
        Self::mistake(&error).hint(error.hint())
    }
}

impl From<ReviewError> for Failure {
    fn from(error: ReviewError) -> Self {
        Self::mistake(&error).hint(error.hint())
    }
}

impl From<LiveError> for Failure {
    fn from(error: LiveError) -> Self {
        let hint = error.hint();
        Self::mistake(error).hint(hint)
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        let hint = error.hint();
        Self::mistake(error).hint(hint)
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        let hint = error.hint();
        Self::mistake(error).hint(hint)
    }
}

impl From<tenpass_tts::TtsError> for Failure {
    fn from(error: tenpass_tts::TtsError) -> Self {
        use tenpass_tts::TtsError;
        let exit = match &error {
            TtsError::Spec(_) | TtsError::Input(_) => Exit::Mistake,
            TtsError::Cancelled => Exit::Interrupted,
            _ => Exit::Backend,
        };
        Self { exit, message: error.to_string(), hint: Some(error.hint()) }
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        let hint = error.hint();
        Self::mistake(error).hint(hint)
    }
}

impl From<AssistantError> for Failure {
    fn from(error: AssistantError) -> Self {
        let hint = match &error {
            AssistantError::Busy(busy) => busy.hint(),
            AssistantError::Store(store) => store.hint(),
            AssistantError::Memory(_) => "`tenpass memory path` shows where the file is",
            AssistantError::Record(_) => "nothing happens unrecorded: check that the disk is not full",
        };
        Self::mistake(&error).hint(hint)
    }
}
