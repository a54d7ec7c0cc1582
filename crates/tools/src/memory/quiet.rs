//! The quiet re-read (K63c), run: on a timer and at launch, over the conversations that nobody has
//! written to for twenty minutes. The model is a local one.

use jiff::{SignedDuration, Timestamp};
use tenpass_agent::memory::{
    Decision, Entry, Mark, Refusal, Rereader, Source, ThreadMessage, Trigger, due, without_key_value,
};
use tenpass_agent::tool::SideEffect;
use tenpass_model::ChatModel;
use tenpass_trace::database::{Database, DatabaseError, StoredMessage};
use tenpass_trace::{Role, TraceEvent};

use super::ask::{AskError, Asked, ask};
use super::error::MemoryError;
use super::file::MemoryFile;

/// Parts of one conversation read in one go; what is left is read the next time.
const MAX_PARTS: usize = 4;

/// Tools whose results are the application's own words: they taint nothing.
const OWN_WORDS: &[&str] = &["write_memory", "update_memory", "system_info", "plan_cleanup", "execute_cleanup"];

/// What re-reading one part did.
#[derive(Debug, Default)]
pub struct RereadReport {
    /// How far the conversation is read now: store it. Unmoved when the model did not answer.
    pub mark: Mark,
    /// A model was asked.
    pub asked: bool,
    /// The constraint had to be left out (K10).
    pub retried: bool,
    /// Entries written.
    pub written: Vec<Entry>,
    /// Decisions that a rule refused.
    pub refused: Vec<(Decision, Refusal)>,
    /// Why nothing was read.
    pub failure: Option<RereadFailure>,
}

/// Why a part was not read.
#[derive(Debug, thiserror::Error)]
pub enum RereadFailure {
    /// No usable answer.
    #[error(transparent)]
    Model(#[from] AskError),
    /// The memory file.
    #[error(transparent)]
    File(#[from] MemoryError),
}

impl RereadReport {
    /// One signal for each write (K65).
    pub fn effects(&self) -> Vec<SideEffect> {
        let signal = |entry: &Entry| SideEffect::MemoryWritten {
            section: entry.section.as_str().to_owned(),
            text: entry.text.clone(),
        };
        self.written.iter().map(signal).collect()
    }

    /// The event for the trace (K50); `None` when no model was asked.
    pub fn trace_event(&self) -> Option<TraceEvent> {
        let failure = self.failure.as_ref().map(ToString::to_string);
        let first = || self.refused.first().map(|(_, refusal)| refusal.to_string());
        self.asked.then(|| TraceEvent::Memory {
            trigger: Trigger::Quiet.as_str().to_owned(),
            section: None,
            written: self.written.len(),
            refused: failure.or_else(first),
        })
    }
}

/// Re-reads the next unread part of a conversation: one call of the model, one retry at most. Entries
/// are written only from a whole answer. `None` when everything was read.
///
/// Dropping the future cancels the call and leaves the memory as it is.
pub async fn reread_quiet(
    model: &dyn ChatModel,
    messages: &[ThreadMessage],
    file: &MemoryFile,
    rereader: &Rereader,
    mark: Mark,
    now: Timestamp,
) -> Option<RereadReport> {
    let unread = RereadReport { mark, ..RereadReport::default() };
    let document = match file.show() {
        Ok(document) => document,
        Err(error) => return Some(RereadReport { failure: Some(error.into()), ..unread }),
    };
    let reading = rereader.next(messages, mark, &document)?;
    let Some(request) = reading.request else {
        return Some(RereadReport { mark: mark.read(reading.through), ..unread });
    };
    let asked = RereadReport { asked: true, ..unread };
    match ask(model, request, |answer| rereader.parse(answer)).await {
        Ok(Asked { answer, is_retry }) => {
            let mut report = RereadReport { retried: is_retry, mark: mark.read(reading.through), ..asked };
            keep(file, &answer, &reading.user_texts, now, &mut report);
            if report.failure.is_some() {
                report.mark = mark;
            }
            Some(report)
        }
        Err(error) => {
            let mark = if error.is_the_models() { mark.failed(reading.through) } else { mark };
            Some(RereadReport { retried: error.is_the_models(), mark, failure: Some(error.into()), ..asked })
        }
    }
}

fn keep(file: &MemoryFile, decisions: &[Decision], user_texts: &[String], now: Timestamp, report: &mut RereadReport) {
    let texts: Vec<&str> = user_texts.iter().map(String::as_str).collect();
    let said = texts.join("\n");
    for decision in decisions {
        let decision = without_key_value(decision.clone(), &said);
        match file.write(&decision, Source::Thread(&texts), now) {
            Ok(applied) => report.written.push(applied.added),
            Err(MemoryError::Refused(refusal)) => report.refused.push((decision, refusal)),
            Err(error) => {
                report.failure = Some(error.into());
                return;
            }
        }
    }
}

/// Re-reads every conversation that is due: quiet for `quiet` and with something unread. Marks are
/// kept in the database, one a conversation. To be called at launch and on a timer.
pub async fn reread_due(
    database: &Database,
    model: &dyn ChatModel,
    file: &MemoryFile,
    rereader: &Rereader,
    quiet: SignedDuration,
    now: Timestamp,
) -> Result<Vec<RereadReport>, DatabaseError> {
    let mut reports = Vec::new();
    let Ok(instant) = now.checked_sub(quiet) else { return Ok(reports) };
    for thread in database.threads_quiet_since(instant)? {
        let name = format!("memory:read-through:{}", thread.thread);
        let stored = database.mark(&name)?;
        // A mark that cannot be read is none: reading twice is harmless, duplicates are refused.
        let mut mark: Mark = stored.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        if !due(thread.last_at, now, quiet, mark, thread.last_message) {
            continue;
        }
        let messages = thread_messages(&database.messages(&thread.thread)?);
        for _ in 0..MAX_PARTS {
            let Some(report) = reread_quiet(model, &messages, file, rereader, mark, now).await else { break };
            let is_stuck = report.failure.is_some();
            let is_down = matches!(&report.failure, Some(RereadFailure::Model(error)) if !error.is_the_models());
            if report.mark != mark {
                mark = report.mark;
                database.set_mark(&name, &serde_json::to_string(&mark).unwrap_or_default())?;
            }
            reports.push(report);
            if is_down {
                // The other conversations would fare no better now.
                return Ok(reports);
            }
            if is_stuck {
                break;
            }
        }
    }
    Ok(reports)
}

/// Stored messages as a re-read takes them. A result that is not in the application's own words
/// taints what follows in its turn; a partial text is passed over.
pub fn thread_messages(stored: &[StoredMessage]) -> Vec<ThreadMessage> {
    let mut tainted_turn: Option<&str> = None;
    stored
        .iter()
        .map(|stored| {
            let message = &stored.message;
            let is_own = message.tool_name.as_deref().is_some_and(|tool| OWN_WORDS.contains(&tool));
            if message.role == Role::Tool && !is_own {
                tainted_turn = Some(&stored.turn);
            }
            let is_partial = stored.interrupted && message.role != Role::User;
            ThreadMessage {
                id: stored.id,
                role: message.role,
                text: if is_partial { String::new() } else { message.content.clone() },
                after_taint: tainted_turn == Some(stored.turn.as_str()),
            }
        })
        .collect()
}
