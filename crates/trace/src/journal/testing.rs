//! What the tests of the journals share.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::Map;

use super::{HeadKeeper, Heads, JournalKey, Journals, JournalsRecovery};
use crate::{Intention, TraceEvent, TraceRecord, TurnEnd};

/// Keeps the heads in memory.
#[derive(Default)]
pub(super) struct MemoryKeeper(Mutex<Heads>);

impl HeadKeeper for MemoryKeeper {
    fn known(&self) -> Result<Heads, String> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn keep(&self, heads: &Heads) -> Result<(), String> {
        self.0.lock().unwrap().extend(heads.clone());
        Ok(())
    }

    fn forget(&self) -> Result<(), String> {
        self.0.lock().unwrap().clear();
        Ok(())
    }
}

pub(super) fn key() -> JournalKey {
    JournalKey::from_bytes(&[3; 32])
}

pub(super) fn intention(call: u32) -> Intention {
    Intention {
        thread: "thread".into(),
        turn: "turn".into(),
        call,
        tool: "write_file".into(),
        arguments: Map::from_iter([("filename".to_owned(), format!("{call}.txt").into())]),
        digest: "d".repeat(64),
    }
}

fn record(event: TraceEvent) -> TraceRecord {
    TraceRecord { thread: "thread".into(), turn: "turn".into(), event }
}

pub(super) fn request() -> TraceRecord {
    let (text, model, profile) = ("hello".into(), "embedded".into(), "panel".into());
    record(TraceEvent::Request { text, model, profile, think: None })
}

pub(super) fn between() -> TraceRecord {
    record(TraceEvent::Cancellation { by: "stop".into() })
}

pub(super) fn end() -> TraceRecord {
    let (text, author) = ("done".into(), "embedded".into());
    record(TraceEvent::Final { end: TurnEnd::Natural, text, author, rounds: 1, calls: 1, ms: 1.5 })
}

pub(super) fn open(directory: &Path, keeper: &Arc<MemoryKeeper>) -> (Journals, JournalsRecovery) {
    let keeper: Arc<dyn HeadKeeper> = Arc::<MemoryKeeper>::clone(keeper);
    Journals::open(directory, &key(), Some(keeper)).unwrap()
}

/// `turns` turns of one intention and three trace lines each.
pub(super) fn filled(directory: &Path, turns: u32) -> Arc<MemoryKeeper> {
    let keeper = Arc::new(MemoryKeeper::default());
    let (journals, _) = open(directory, &keeper);
    for turn in 1..=turns {
        journals.trace(&request()).unwrap();
        journals.intention(&intention(turn)).unwrap();
        journals.trace(&between()).unwrap();
        journals.trace(&end()).unwrap();
    }
    keeper
}
