//! What a spending record must be able to do.

use jiff::civil::Date;
use tenpass_trace::database::SpendKind;

/// One amount that is about to be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charge {
    /// What is spent.
    pub kind: SpendKind,
    /// The worst case, in millionths of a dollar or credit.
    pub amount_micros: u64,
    /// The most that the day may reach, in millionths.
    pub cap_micros: u64,
    /// The day in the user's zone.
    pub day: Date,
}

/// A ledger that cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot use the spending record: {reason}")]
pub struct LedgerError {
    /// The store's reason.
    pub reason: String,
}

impl LedgerError {
    /// An error with this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// An amount that a ledger holds. When it is dropped it keeps counting: so does one that a crash
/// left behind.
pub trait Held: Send {
    /// Replaces the amount by what it really was, in millionths.
    fn settle(self: Box<Self>, actual_micros: u64) -> Result<(), LedgerError>;

    /// Gives it back: nothing was sent.
    fn release(self: Box<Self>) -> Result<(), LedgerError>;
}

/// Where spending is recorded.
pub trait Ledger: Send + Sync {
    /// Atomically and durably adds the charge to its day, or changes nothing and returns `None`
    /// when the day's sum would pass the cap. A clock that was set back does not reopen an
    /// allowance: the charge counts for the latest day that the ledger knows.
    fn reserve(&self, charge: &Charge) -> Result<Option<Box<dyn Held>>, LedgerError>;
}
