//! A ledger that lives as long as the process: for benches and tests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::civil::Date;
use tenpass_trace::database::SpendKind;

use super::{Charge, Held, Ledger, LedgerError};

/// See the module. Real conversations use [`super::DatabaseLedger`], which survives a restart.
#[derive(Debug, Clone, Default)]
pub struct MemoryLedger {
    entries: Arc<Mutex<Entries>>,
}

#[derive(Debug, Default)]
struct Entries {
    last_id: u64,
    all: BTreeMap<u64, Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    kind: SpendKind,
    day: Date,
    micros: u64,
}

impl MemoryLedger {
    /// What `day` has cost so far in millionths, reservations included.
    pub fn sum(&self, kind: SpendKind, day: Date) -> u64 {
        self.lock().sum(kind, day)
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn sum(&self, kind: SpendKind, day: Date) -> u64 {
        let entries = self.all.values().filter(|entry| entry.kind == kind && entry.day == day);
        entries.fold(0, |sum, entry| sum.saturating_add(entry.micros))
    }
}

struct Open {
    ledger: MemoryLedger,
    id: u64,
}

impl Ledger for MemoryLedger {
    fn reserve(&self, charge: &Charge) -> Result<Option<Box<dyn Held>>, LedgerError> {
        let mut entries = self.lock();
        let day = entries.all.values().map(|entry| entry.day).max().map_or(charge.day, |latest| latest.max(charge.day));
        if entries.sum(charge.kind, day).saturating_add(charge.amount_micros) > charge.cap_micros {
            return Ok(None);
        }
        entries.last_id += 1;
        let id = entries.last_id;
        entries.all.insert(id, Entry { kind: charge.kind, day, micros: charge.amount_micros });
        drop(entries);
        Ok(Some(Box::new(Open { ledger: self.clone(), id })))
    }
}

impl Held for Open {
    fn settle(self: Box<Self>, actual_micros: u64) -> Result<(), LedgerError> {
        if let Some(entry) = self.ledger.lock().all.get_mut(&self.id) {
            entry.micros = actual_micros;
        }
        Ok(())
    }

    fn release(self: Box<Self>) -> Result<(), LedgerError> {
        self.settle(0)
    }
}
