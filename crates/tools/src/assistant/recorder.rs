//! The journals as the loop's recorder, with the watchdog beside them.

use std::sync::{Arc, Mutex, PoisonError};

use tenpass_agent::interaction::{RecordError, Recorder};
use tenpass_agent::watchdog::{Alert, Watchdog};
use tenpass_trace::journal::Journals;
use tenpass_trace::{Intention, TraceRecord};

/// Writes both journals and lets the watchdog see every record (K48). What it raises is written to
/// the trace too; the model never sees it.
pub struct JournalRecorder {
    journals: Arc<Journals>,
    watchdog: Mutex<Watchdog>,
    alerts: Mutex<Vec<Alert>>,
}

impl JournalRecorder {
    /// A recorder on these journals.
    pub fn new(journals: Arc<Journals>) -> Self {
        Self { journals, watchdog: Mutex::default(), alerts: Mutex::default() }
    }

    /// The journals.
    pub fn journals(&self) -> &Arc<Journals> {
        &self.journals
    }

    /// What the watchdog raised since the last call, for the person.
    pub fn take_alerts(&self) -> Vec<Alert> {
        std::mem::take(&mut *self.alerts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self, record: &TraceRecord) -> Result<(), RecordError> {
        self.journals
            .trace(record)
            .map(|_| ())
            .map_err(|error| RecordError { what: "orchestrator-trace.jsonl".to_owned(), reason: error.to_string() })
    }
}

impl Recorder for JournalRecorder {
    fn intention(&self, intention: &Intention) -> Result<(), RecordError> {
        self.journals
            .intention(intention)
            .map(|_| ())
            .map_err(|error| RecordError { what: "intentions.jsonl".to_owned(), reason: error.to_string() })
    }

    fn trace(&self, record: &TraceRecord) -> Result<(), RecordError> {
        self.write(record)?;
        let raised = self.watchdog.lock().unwrap_or_else(PoisonError::into_inner).observe(record);
        for alert in &raised {
            self.write(&alert.record(&record.thread, &record.turn))?;
        }
        self.alerts.lock().unwrap_or_else(PoisonError::into_inner).extend(raised);
        Ok(())
    }
}
