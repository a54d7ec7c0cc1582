//! A ledger that lives as long as the process: for benches and tests.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::civil::Date;

use super::{Charge, Ledger, LedgerError, SpendKind};

/// See the module. Real conversations use the database's ledger, which survives a restart.
#[derive(Debug, Default)]
pub struct MemoryLedger {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    last_id: i64,
    open: BTreeMap<i64, Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    kind: SpendKind,
    day: Date,
    amount: u64,
}

impl MemoryLedger {
    /// What `day` has cost so far, reservations included.
    pub fn sum(&self, kind: SpendKind, day: Date) -> u64 {
        self.lock().sum(kind, day)
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn sum(&self, kind: SpendKind, day: Date) -> u64 {
        let entries = self.open.values().filter(|entry| entry.kind == kind && entry.day == day);
        entries.fold(0, |sum, entry| sum.saturating_add(entry.amount))
    }
}

impl Ledger for MemoryLedger {
    fn reserve(&self, charge: &Charge) -> Result<Option<i64>, LedgerError> {
        let mut entries = self.lock();
        let latest = entries.open.values().filter(|entry| entry.kind == charge.kind).map(|entry| entry.day).max();
        let day = latest.map_or(charge.day, |latest| latest.max(charge.day));
        if entries.sum(charge.kind, day).saturating_add(charge.amount) > charge.cap {
            return Ok(None);
        }
        entries.last_id += 1;
        let id = entries.last_id;
        entries.open.insert(id, Entry { kind: charge.kind, day, amount: charge.amount });
        Ok(Some(id))
    }

    fn settle(&self, id: i64, amount: u64) -> Result<(), LedgerError> {
        let mut entries = self.lock();
        let entry = entries.open.get_mut(&id).ok_or_else(|| LedgerError::new(format!("there is no entry {id}")))?;
        entry.amount = amount;
        Ok(())
    }

    fn release(&self, id: i64) -> Result<(), LedgerError> {
        self.lock().open.remove(&id);
        Ok(())
    }
}
