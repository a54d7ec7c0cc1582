//! The ledger of spending (K47): an amount is reserved before a call is made, and counts as spent
//! from that moment.
//!
//! - Atomic: one `BEGIN IMMEDIATE` transaction reads the sum and writes the reservation, over all
//!   threads and processes.
//! - Crash-safe: a reservation that was never settled stays spent.
//! - The ledger's day is the latest day that was ever asked for: a clock set back neither re-opens
//!   an earlier day's budget nor forgets what was spent. [`Database::set_spending_day`] is the way
//!   back for a person whose clock once stood in the future.
//! - Fails closed: what cannot be read or written is [`SpendError::Unreadable`], and no money is
//!   spent.

use rusqlite::{OptionalExtension, Transaction};
use serde::{Deserialize, Serialize};

use super::columns::{count, integer, variant_text};
use super::{Database, DatabaseError};

/// What is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpendKind {
    /// US dollars, in millionths.
    Usd,
    /// Credits of a web-search service, in millionths of a credit.
    WebCredits,
}

impl std::fmt::Display for SpendKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Usd => "USD",
            Self::WebCredits => "web credits",
        })
    }
}

/// An amount set aside for one call. Settle or release it when the call is over; dropping it leaves
/// the whole amount spent.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reservation that is neither settled nor released stays spent"]
pub struct Reservation {
    id: i64,
    kind: SpendKind,
    day: String,
    amount_micros: u64,
}

impl Reservation {
    /// What it was reserved from.
    pub fn kind(&self) -> SpendKind {
        self.kind
    }

    /// The ledger's day it counts for.
    pub fn day(&self) -> &str {
        &self.day
    }

    /// The amount, in millionths.
    pub fn amount_micros(&self) -> u64 {
        self.amount_micros
    }
}

/// What stands in the ledger for a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spent {
    /// The ledger's day.
    pub day: String,
    /// Settled, in millionths.
    pub settled_micros: u64,
    /// Reserved and not settled yet, in millionths. Counts as spent.
    pub reserved_micros: u64,
}

impl Spent {
    /// Both.
    pub fn total_micros(&self) -> u64 {
        self.settled_micros.saturating_add(self.reserved_micros)
    }
}

/// Why nothing may be spent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpendError {
    /// The call would exceed the day's cap.
    #[error(
        "the {kind} cap of {day} is reached: {} spent + {} asked > {}",
        decimal(*spent_micros), decimal(*asked_micros), decimal(*cap_micros)
    )]
    CapReached {
        /// What would be spent.
        kind: SpendKind,
        /// The ledger's day.
        day: String,
        /// Spent so far, open reservations included.
        spent_micros: u64,
        /// What the call could cost.
        asked_micros: u64,
        /// The cap.
        cap_micros: u64,
    },
    /// The ledger cannot be read or written.
    #[error("the spending ledger is unreadable, so nothing is spent: {reason}")]
    Unreadable {
        /// Why.
        reason: String,
    },
    /// The day is not a date.
    #[error("{day:?} is not a day of the form YYYY-MM-DD")]
    BadDay {
        /// What was given.
        day: String,
    },
}

impl SpendError {
    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::CapReached { .. } => {
                "wait for the next day or raise the cap in the settings; if the day shown lies in the future, the \
                 clock was once ahead: set the ledger's day back"
            }
            Self::Unreadable { .. } => "repair or move away the database; paid calls stay off until it can be read",
            Self::BadDay { .. } => "give the local date",
        }
    }
}

impl From<DatabaseError> for SpendError {
    fn from(error: DatabaseError) -> Self {
        Self::Unreadable { reason: error.to_string() }
    }
}

/// Millionths as a decimal number.
fn decimal(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn checked_day(day: &str) -> Result<&str, SpendError> {
    let valid = day.len() == 10 && day.is_ascii() && day.parse::<jiff::civil::Date>().is_ok();
    if valid { Ok(day) } else { Err(SpendError::BadDay { day: day.to_owned() }) }
}

impl Database {
    /// Sets an amount aside, if the day's cap allows it.
    pub fn reserve(
        &self,
        kind: SpendKind,
        amount_micros: u64,
        cap_micros: u64,
        day: &str,
    ) -> Result<Reservation, SpendError> {
        let day = checked_day(day)?;
        let now = self.now_text();
        self.store.write("reserve an amount", |transaction| {
            let day = advance_day(transaction, day)?;
            let spent_micros = spent(transaction, kind, &day)?.total_micros();
            if spent_micros.saturating_add(amount_micros) > cap_micros.min(integer(u64::MAX).unsigned_abs()) {
                let asked_micros = amount_micros;
                return Ok(Err(SpendError::CapReached { kind, day, spent_micros, asked_micros, cap_micros }));
            }
            transaction.execute(
                "INSERT INTO spending (kind, day, at, reserved) VALUES (?1, ?2, ?3, ?4)",
                (variant_text(&kind)?, &day, &now, integer(amount_micros)),
            )?;
            Ok(Ok(Reservation { id: transaction.last_insert_rowid(), kind, day, amount_micros }))
        })?
    }

    /// Replaces a reservation by what the call did cost, more or less than was reserved.
    #[expect(clippy::needless_pass_by_value, reason = "a reservation is settled once")]
    pub fn settle(&self, reservation: Reservation, actual_micros: u64) -> Result<(), SpendError> {
        let Reservation { id, .. } = reservation;
        let changed = self.store.write("settle a reservation", |transaction| {
            transaction.execute(
                "UPDATE spending SET actual = ?2 WHERE id = ?1 AND actual IS NULL",
                (id, integer(actual_micros)),
            )
        })?;
        if changed == 1 {
            Ok(())
        } else {
            Err(SpendError::Unreadable { reason: format!("there is no open reservation {id}") })
        }
    }

    /// Gives a reservation back: the call was not made.
    pub fn release(&self, reservation: Reservation) -> Result<(), SpendError> {
        self.settle(reservation, 0)
    }

    /// What was spent on the ledger's day, which is `day` or the latest day seen.
    pub fn spent(&self, kind: SpendKind, day: &str) -> Result<Spent, SpendError> {
        let day = checked_day(day)?;
        Ok(self.store.write("read the spending ledger", |transaction| {
            let day = ledger_day(transaction, day)?;
            spent(transaction, kind, &day)
        })?)
    }

    /// Sets the ledger's day, back too: for a person whose clock once stood in the future, never for
    /// code. What was spent on later days goes on to count until those days are over.
    pub fn set_spending_day(&self, day: &str) -> Result<(), SpendError> {
        let day = checked_day(day)?;
        Ok(self.store.write("set the ledger's day", |transaction| store_day(transaction, day))?)
    }
}

/// The latest of this day and every day seen. ISO dates sort as text.
fn ledger_day(transaction: &Transaction<'_>, day: &str) -> rusqlite::Result<String> {
    let seen: Option<String> =
        transaction.query_row("SELECT day FROM spending_day", [], |row| row.get(0)).optional()?;
    let seen = match seen {
        Some(seen) => Some(seen),
        None => transaction.query_row("SELECT max(day) FROM spending", [], |row| row.get(0))?,
    };
    Ok(seen.filter(|seen| seen.as_str() > day).unwrap_or_else(|| day.to_owned()))
}

fn advance_day(transaction: &Transaction<'_>, day: &str) -> rusqlite::Result<String> {
    let day = ledger_day(transaction, day)?;
    store_day(transaction, &day)?;
    Ok(day)
}

fn store_day(transaction: &Transaction<'_>, day: &str) -> rusqlite::Result<()> {
    transaction
        .execute("INSERT INTO spending_day (id, day) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET day = ?1", [day])?;
    Ok(())
}

/// The sums of the day. Rows of later days, which only a repaired clock leaves, count too.
fn spent(transaction: &Transaction<'_>, kind: SpendKind, day: &str) -> rusqlite::Result<Spent> {
    transaction.query_row(
        "SELECT coalesce(sum(actual), 0), coalesce(sum(reserved) FILTER (WHERE actual IS NULL), 0)
         FROM spending WHERE kind = ?1 AND day >= ?2",
        (variant_text(&kind)?, day),
        |row| {
            Ok(Spent { day: day.to_owned(), settled_micros: count(row.get(0)?), reserved_micros: count(row.get(1)?) })
        },
    )
}

#[cfg(test)]
#[path = "spending_tests.rs"]
mod tests;
