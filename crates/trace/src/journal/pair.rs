//! The two journals of the agent, each the witness of the other.
//!
//! Every line names the head the other journal had on the disk at that moment, and after each
//! intention and each beginning and end of a turn both heads go to a third place ([`HeadKeeper`]).
//! Opening compares what the others remember with what is there: a tail that is missing is written
//! down in both journals, so that it stays found after they have grown again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::append::{Durability, Journal, Recovery};
use super::line::{Anchor, Head, Notice};
use super::{JournalError, JournalKey};
use crate::{Intention, TraceEvent, TraceRecord};

/// The name of the journal of what happened; its file has the ending `.jsonl` (K50).
pub const TRACE_JOURNAL: &str = "orchestrator-trace";

/// The name of the journal of what the model meant to do; its file has the ending `.jsonl` (K51).
pub const INTENTIONS_JOURNAL: &str = "intentions";

/// The heads of journals by their names.
pub type Heads = BTreeMap<String, Head>;

/// The file of a journal in a directory.
pub fn journal_path(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.jsonl"))
}

/// A third place that remembers the heads, so that cutting both files is noticed.
pub trait HeadKeeper: Send + Sync {
    /// What was kept last.
    fn known(&self) -> Result<Heads, String>;

    /// Keeps these heads, which are on the disk.
    fn keep(&self, heads: &Heads) -> Result<(), String>;

    /// Forgets all heads: the journals were set aside ([`super::set_aside`]).
    fn forget(&self) -> Result<(), String>;
}

/// What opening the journals found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JournalsRecovery {
    /// At the end of the trace.
    pub trace: Recovery,
    /// At the end of the intentions.
    pub intentions: Recovery,
    /// Lines that somebody remembers and that are gone: the journal, and the head it had. Both
    /// journals now say so too.
    pub lost: Vec<(String, Head)>,
}

/// Both journals of one directory, open. Shared between threads by reference; one process at a time
/// has them.
pub struct Journals {
    directory: PathBuf,
    pair: Mutex<Pair>,
    keeper: Option<Arc<dyn HeadKeeper>>,
    trace_durability: Durability,
}

struct Pair {
    trace: Journal,
    intentions: Journal,
    keeper_error: Option<String>,
}

impl std::fmt::Debug for Journals {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Journals").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl Journals {
    /// Opens or creates both journals of the directory, every line on the disk before it counts.
    pub fn open(
        directory: &Path,
        key: &JournalKey,
        keeper: Option<Arc<dyn HeadKeeper>>,
    ) -> Result<(Self, JournalsRecovery), JournalError> {
        Self::open_with(directory, key, keeper, Durability::Synced)
    }

    /// As [`Journals::open`], with the durability of the trace. Intentions, and the lines that begin
    /// and end a turn, are always on the disk before they count.
    pub fn open_with(
        directory: &Path,
        key: &JournalKey,
        keeper: Option<Arc<dyn HeadKeeper>>,
        trace_durability: Durability,
    ) -> Result<(Self, JournalsRecovery), JournalError> {
        let known = match &keeper {
            Some(keeper) => keeper.known().map_err(|reason| JournalError::Heads { reason })?,
            None => Heads::new(),
        };
        let (trace, trace_recovery) = Journal::open(&journal_path(directory, TRACE_JOURNAL), key, TRACE_JOURNAL)?;
        let (intentions, intentions_recovery) =
            Journal::open(&journal_path(directory, INTENTIONS_JOURNAL), key, INTENTIONS_JOURNAL)?;
        let mut pair = Pair { trace, intentions, keeper_error: None };
        let lost = pair.write_down_losses(&known)?;
        let journals = Self { directory: directory.to_owned(), pair: Mutex::new(pair), keeper, trace_durability };
        journals.keep(&mut journals.lock());
        Ok((journals, JournalsRecovery { trace: trace_recovery, intentions: intentions_recovery, lost }))
    }

    /// Writes an intention and returns when it is on the disk: before that, nothing may be asked or
    /// done (K51).
    pub fn intention(&self, intention: &Intention) -> Result<Head, JournalError> {
        let mut pair = self.lock();
        let anchor = anchor_of(&pair.trace);
        let head = pair.intentions.append_anchored(intention, Some(anchor), Durability::Synced)?;
        self.keep(&mut pair);
        Ok(head)
    }

    /// Writes what happened (K50).
    pub fn trace(&self, record: &TraceRecord) -> Result<Head, JournalError> {
        let mut pair = self.lock();
        let anchor = anchor_of(&pair.intentions);
        let border = matches!(record.event, TraceEvent::Request { .. } | TraceEvent::Final { .. });
        let durability = if border { Durability::Synced } else { self.trace_durability };
        let head = pair.trace.append_anchored(record, Some(anchor), durability)?;
        if border {
            self.keep(&mut pair);
        }
        Ok(head)
    }

    /// The last line of each journal that is on the disk.
    pub fn heads(&self) -> Heads {
        self.lock().heads()
    }

    /// Where they are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Why the heads could not be kept the last time, if so. The journals go on without their third
    /// witness.
    pub fn keeper_error(&self) -> Option<String> {
        self.lock().keeper_error.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Pair> {
        self.pair.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, pair: &mut Pair) {
        if let Some(keeper) = &self.keeper {
            pair.keeper_error = keeper.keep(&pair.heads()).err();
        }
    }
}

fn anchor_of(journal: &Journal) -> Anchor {
    Anchor { journal: journal.name().to_owned(), head: journal.synced_head() }
}

/// True when a journal that ends with `is` cannot have had the head `was`.
fn lacks(is: Head, was: Head) -> bool {
    was.seq > is.seq || (was.seq == is.seq && was.mac != is.mac)
}

impl Pair {
    fn heads(&self) -> Heads {
        [&self.trace, &self.intentions]
            .map(|journal| (journal.name().to_owned(), journal.synced_head()))
            .into_iter()
            .collect()
    }

    /// Writes a notice of every missing tail into both journals. Afterwards their last lines name
    /// each other's new heads, so that the next opening does not find the same loss again.
    fn write_down_losses(&mut self, known: &Heads) -> Result<Vec<(String, Head)>, JournalError> {
        let mut lost: Vec<(String, Head)> = Vec::new();
        for (journal, witness) in [(&self.trace, &self.intentions), (&self.intentions, &self.trace)] {
            let anchored = witness.last_anchor().filter(|anchor| anchor.journal == journal.name());
            let remembered = anchored.map(|anchor| anchor.head).into_iter().chain(known.get(journal.name()).copied());
            let missing = remembered.filter(|was| lacks(journal.head(), *was)).max_by_key(|was| was.seq);
            lost.extend(missing.map(|was| (journal.name().to_owned(), was)));
        }
        for (journal, was) in &lost {
            let notice = Notice::CutTail { journal: journal.clone(), seq: was.seq, mac: was.mac };
            self.trace.notice(notice.clone(), Some(anchor_of(&self.intentions)))?;
            self.intentions.notice(notice, Some(anchor_of(&self.trace)))?;
        }
        Ok(lost)
    }
}

#[cfg(test)]
#[path = "pair_tests.rs"]
mod tests;
