//! How a run ended.

use std::path::PathBuf;
use std::time::Duration;

use tenpass_model::ModelError;

use crate::store::{RunState, StoreError};

/// A configuration that was given up.
#[derive(Debug, Clone, PartialEq)]
pub struct StoppedConfiguration {
    /// Its id.
    pub configuration: String,
    /// The fault that ended it.
    pub error: ModelError,
}

/// How a run ended. Its results are in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOutcome {
    /// The run's name.
    pub run: String,
    /// Its folder.
    pub directory: PathBuf,
    /// Complete, interrupted, or failed when a configuration was given up.
    pub state: RunState,
    /// Passes of the whole run.
    pub total: u64,
    /// Passes that need nothing more, earlier sessions included.
    pub done: u64,
    /// Passes that got their result in this session.
    pub measured: u64,
    /// How many of those are INVALID.
    pub invalid: u64,
    /// Configurations that were given up.
    pub stopped: Vec<StoppedConfiguration>,
    /// How long this session took.
    pub elapsed: Duration,
}

/// A run that could not be carried out. What it had measured is kept.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan makes no sense.
    #[error("nothing to run: {0}")]
    Plan(String),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RunError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Plan(_) => "check --model, --passes, --filter and --partition",
            Self::Store(error) => error.hint(),
        }
    }
}
