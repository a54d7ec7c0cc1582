//! The memory file as the application uses it: every change is read, checked, made and written under
//! one lock, from what the file is at that moment.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tenpass_agent::memory::{Applied, Decision, Document, Entry, Section, Source, validate};
use uuid::Uuid;

use super::disk::{Lock, Staged, read, resolve};
use super::error::MemoryError;

/// How long a writer waits for another.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// How often a change is made again because an editor saved in between.
const MAX_TRIES: usize = 8;
/// Writes that can be taken back, the last first.
const UNDO_DEPTH: usize = 50;

/// The memory file (K60).
#[derive(Debug)]
pub struct MemoryFile {
    path: PathBuf,
    done: Mutex<Vec<Done>>,
}

/// One write of this session.
#[derive(Debug, Clone)]
struct Done {
    added: Option<Entry>,
    removed: Option<Entry>,
}

/// What taking a write back did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The entry that is gone.
    pub removed: Option<Entry>,
    /// The entry that is back.
    pub restored: Option<Entry>,
}

impl MemoryFile {
    /// The memory at this path. Nothing is created before the first write.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, MemoryError> {
        let path = path.into();
        resolve(&path)?;
        Ok(Self { path, done: Mutex::default() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The memory as it is now; an empty one when there is no file yet.
    pub fn show(&self) -> Result<Document, MemoryError> {
        Ok(document(read(&resolve(&self.path)?)?.as_deref()))
    }

    /// Checks a decision against the file as it is now and writes it.
    pub fn write(&self, decision: &Decision, source: Source<'_>, now: Timestamp) -> Result<Applied, MemoryError> {
        self.write_waiting(decision, source, now, LOCK_WAIT)
    }

    /// The same, without waiting for another writer ([`MemoryError::Busy`]).
    pub fn try_write(&self, decision: &Decision, source: Source<'_>, now: Timestamp) -> Result<Applied, MemoryError> {
        self.write_waiting(decision, source, now, Duration::ZERO)
    }

    fn write_waiting(
        &self,
        decision: &Decision,
        source: Source<'_>,
        now: Timestamp,
        wait: Duration,
    ) -> Result<Applied, MemoryError> {
        let applied = self.change(wait, |document| {
            let checked = validate(decision, document, source)?;
            Ok(document.apply(&checked, now, Uuid::new_v4))
        })?;
        self.remember(Done { added: Some(applied.added.clone()), removed: applied.replaced.clone() });
        Ok(applied)
    }

    /// Writes an entry that the user typed.
    pub fn add(&self, section: Section, text: &str, now: Timestamp) -> Result<Applied, MemoryError> {
        self.write(&Decision::write(section, text), Source::User, now)
    }

    /// Replaces the entry that `needle` names (id, unique start of one, text, unique part of it), in
    /// its section. Does not wait for another writer.
    pub fn try_update(
        &self,
        needle: &str,
        text: &str,
        source: Source<'_>,
        now: Timestamp,
    ) -> Result<Applied, MemoryError> {
        let applied = self.change(Duration::ZERO, |document| {
            // A line written by hand has no id to be replaced by.
            document.assign_ids(&mut Uuid::new_v4);
            let old = document.find(needle)?;
            let mut decision = Decision::write(old.section, text);
            decision.contradicts = old.id.map(|id| id.to_string());
            let checked = validate(&decision, document, source)?;
            Ok(document.apply(&checked, now, Uuid::new_v4))
        })?;
        self.remember(Done { added: Some(applied.added.clone()), removed: applied.replaced.clone() });
        Ok(applied)
    }

    /// Removes the entry that an id, the unique start of one, its text or a unique part of it names.
    pub fn forget(&self, needle: &str) -> Result<Entry, MemoryError> {
        let removed = self.change(LOCK_WAIT, |document| {
            let entry = document.find(needle)?.clone();
            document.remove_entry(&entry);
            Ok(entry)
        })?;
        self.remember(Done { added: None, removed: Some(removed.clone()) });
        Ok(removed)
    }

    /// Takes back the last write or removal of this session, unless its entry was changed since.
    pub fn undo(&self) -> Result<Undone, MemoryError> {
        let nothing = |reason| MemoryError::NothingToUndo { reason };
        let last = self.stack().last().cloned().ok_or_else(|| nothing("nothing was written in this session"))?;
        let undone = self.change(LOCK_WAIT, |document| {
            if let Some(added) = &last.added {
                let standing = added.id.and_then(|id| document.get(id)).filter(|entry| entry.text == added.text);
                let Some(id) = standing.and_then(|entry| entry.id) else {
                    return Err(nothing("the entry was changed or removed since"));
                };
                document.remove(id);
            }
            if let Some(removed) = &last.removed {
                document.restore(removed);
            }
            Ok(Undone { removed: last.added.clone(), restored: last.removed.clone() })
        });
        // What cannot be taken back now never can.
        if matches!(undone, Ok(_) | Err(MemoryError::NothingToUndo { .. })) {
            self.stack().pop();
        }
        undone
    }

    fn stack(&self) -> std::sync::MutexGuard<'_, Vec<Done>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, done: Done) {
        let mut stack = self.stack();
        stack.push(done);
        let excess = stack.len().saturating_sub(UNDO_DEPTH);
        stack.drain(..excess);
    }

    /// Reads, changes and replaces the file under the lock.
    fn change<T>(
        &self,
        wait: Duration,
        mut edit: impl FnMut(&mut Document) -> Result<T, MemoryError>,
    ) -> Result<T, MemoryError> {
        let target = resolve(&self.path)?;
        let _lock = Lock::take(&target, wait)?;
        for _ in 0..MAX_TRIES {
            let before = read(&target)?;
            let mut document = document(before.as_deref());
            let outcome = edit(&mut document)?;
            if Staged::write(&target, document.render())?.replace(before.as_deref())? {
                return Ok(outcome);
            }
        }
        Err(MemoryError::Changing { path: target })
    }
}

fn document(text: Option<&str>) -> Document {
    match text {
        Some(text) if !text.trim().is_empty() => Document::parse(text),
        _ => Document::template(),
    }
}
