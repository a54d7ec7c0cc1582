//! What a turn writes to the memory besides the model's own calls (K63): the literal request that
//! was not carried out, and a real tool failure.

use std::sync::{Mutex, PoisonError};

use jiff::SignedDuration;
use tenpass_agent::interaction::{AgentEvent, Confirmation, Interaction, Reply};
use tenpass_agent::memory::{self, Applied, Refusal, Rereader, Trigger};
use tenpass_agent::run::TurnReport;
use tenpass_agent::session::WrittenEntry;
use tenpass_agent::turn::LedgerEntry;
use tenpass_model::BoxFuture;
use tenpass_trace::{CallOutcome, TraceEvent, TraceRecord};
use tokio_util::sync::CancellationToken;

use super::{Assistant, AssistantError};
use crate::memory::{MemoryError, note_failure, remember_request, reread_due};

/// Passes everything on and remembers what was written to the memory.
pub(super) struct Witness<'a> {
    inner: &'a dyn Interaction,
    written: Mutex<Vec<WrittenEntry>>,
}

impl<'a> Witness<'a> {
    pub(super) fn new(inner: &'a dyn Interaction) -> Self {
        Self { inner, written: Mutex::default() }
    }

    pub(super) fn written(self) -> Vec<WrittenEntry> {
        self.written.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Interaction for Witness<'_> {
    fn event(&self, event: AgentEvent) {
        if let AgentEvent::MemoryWritten { section, text } = &event {
            let entry = WrittenEntry { section: section.clone(), text: text.clone() };
            self.written.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        }
        self.inner.event(event);
    }

    fn confirm<'a>(&'a self, confirmation: &'a Confirmation) -> BoxFuture<'a, Reply> {
        self.inner.confirm(confirmation)
    }
}

impl Assistant {
    /// The triggers after a turn. Nothing is written after something from outside was read.
    pub(super) async fn remember(
        &self,
        thread: &str,
        turn: &str,
        text: &str,
        report: &TurnReport,
        interaction: &dyn Interaction,
        stop: &CancellationToken,
    ) -> Result<Vec<WrittenEntry>, AssistantError> {
        let Some(file) = self.memory() else { return Ok(Vec::new()) };
        let mut written = Vec::new();
        let wrote = |call: &LedgerEntry| {
            matches!(call.tool.as_str(), "write_memory" | "update_memory") && call.outcome == CallOutcome::Ok
        };
        if memory::is_literal_request(text) && !report.ledger.iter().any(wrote) {
            let (model, sampling) = (&*self.agent.model, &self.agent.settings.options);
            let now = self.clock().now().timestamp();
            let kept = tokio::select! {
                () = stop.cancelled() => return Ok(written),
                kept = remember_request(model, sampling, file, text, report.tainted, now) => kept.transpose(),
            };
            if let Some(kept) = kept {
                written.extend(self.record(thread, turn, Trigger::Request, kept, interaction)?);
            }
        }
        let broke = |call: &&LedgerEntry| memory::is_real_failure(&call.tool, call.outcome, &call.result);
        for failed in report.ledger.iter().filter(broke) {
            let kept = note_failure(file, &failed.tool, &failed.result, report.tainted, &self.clock().now());
            // A second failure of one tool on one day is no news.
            if !matches!(kept, Err(MemoryError::Refused(Refusal::FailureNoted { .. }))) {
                written.extend(self.record(thread, turn, Trigger::ToolFailure, kept, interaction)?);
            }
        }
        Ok(written)
    }

    /// Records a write or its refusal, and gives the signal (K65).
    fn record(
        &self,
        thread: &str,
        turn: &str,
        trigger: Trigger,
        kept: Result<Applied, MemoryError>,
        interaction: &dyn Interaction,
    ) -> Result<Option<WrittenEntry>, AssistantError> {
        let (entry, refused) = match kept {
            Ok(applied) => (Some(applied.added), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let section = entry.as_ref().map(|entry| entry.section.as_str().to_owned());
        self.recorder().trace(&TraceRecord {
            thread: thread.to_owned(),
            turn: turn.to_owned(),
            event: TraceEvent::Memory {
                trigger: trigger.as_str().to_owned(),
                section: section.clone(),
                written: usize::from(entry.is_some()),
                refused,
            },
        })?;
        let (Some(entry), Some(section)) = (entry, section) else { return Ok(None) };
        interaction.event(AgentEvent::MemoryWritten { section: section.clone(), text: entry.text.clone() });
        Ok(Some(WrittenEntry { section, text: entry.text }))
    }

    /// Reads conversations again that have been quiet for `quiet` (K63c): at launch and on a timer.
    /// Gives one signal for each entry.
    pub async fn reread(&self, quiet: SignedDuration, interaction: &dyn Interaction) -> Result<usize, AssistantError> {
        let Some(file) = self.memory() else { return Ok(0) };
        let rereader = Rereader { sampling: self.agent.settings.options.clone() };
        let now = self.clock().now().timestamp();
        let reports = reread_due(self.database(), &*self.agent.model, file, &rereader, quiet, now).await?;
        let mut written = 0;
        for report in &reports {
            if let Some(event) = report.trace_event() {
                self.recorder().trace(&TraceRecord { thread: String::new(), turn: String::new(), event })?;
            }
            for entry in &report.written {
                written += 1;
                let section = entry.section.as_str().to_owned();
                interaction.event(AgentEvent::MemoryWritten { section, text: entry.text.clone() });
            }
        }
        Ok(written)
    }
}
