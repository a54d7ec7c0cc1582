//! What a run tells while it goes on.

use std::time::Duration;

use tenpass_model::ModelError;
use tenpass_trace::FailureClass;

/// Something happened in a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEvent {
    /// The run begins, or goes on.
    RunStarted {
        /// Its name.
        run: String,
        /// Passes of the whole run.
        total: u64,
        /// Passes it has already.
        already_done: u64,
    },
    /// A pass has its result, which is in the files.
    PassFinished {
        /// The case.
        case: String,
        /// The configuration.
        configuration: String,
        /// Which pass, counted from 1.
        pass: u32,
        /// Whether the answer is right; `None` when INVALID.
        success: Option<bool>,
        /// The main thing wrong with it.
        class: Option<FailureClass>,
        /// From the request to the end of the answer.
        elapsed: Duration,
    },
    /// An attempt failed and will be repeated.
    AttemptFailed {
        /// The case.
        case: String,
        /// The configuration.
        configuration: String,
        /// Which pass, counted from 1.
        pass: u32,
        /// Which attempt, counted from 1.
        attempt: u32,
        /// Why.
        error: ModelError,
    },
    /// Something was decided early: fewer passes are needed.
    Shortened {
        /// Passes of the whole run, as far as is known now.
        total: u64,
    },
    /// A configuration is given up; the others go on.
    ConfigurationStopped {
        /// The configuration.
        configuration: String,
        /// Why.
        error: ModelError,
    },
    /// Nothing is left to do.
    RunFinished {
        /// Passes the run has now.
        done: u64,
        /// Passes of the whole run.
        total: u64,
    },
    /// The run was cancelled; what is finished is kept.
    Interrupted {
        /// Passes the run has now.
        done: u64,
        /// Passes of the whole run.
        total: u64,
    },
}

/// Whoever wants to know: a progress bar, a log, a test.
pub trait EventSink: Send + Sync {
    /// Called in the order of the events, from one task; should return at once.
    fn event(&self, event: &RunEvent);
}

impl<F: Fn(&RunEvent) + Send + Sync> EventSink for F {
    fn event(&self, event: &RunEvent) {
        self(event);
    }
}
