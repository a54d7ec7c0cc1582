//! What a spending record must be able to do.

use jiff::civil::Date;

/// What is counted, each with a cap of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpendKind {
    /// Money, in millionths of a US dollar.
    MicroDollars,
    /// Paid web searches, in credits.
    WebCredits,
}

impl SpendKind {
    /// The stored name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MicroDollars => "micro_dollars",
            Self::WebCredits => "web_credits",
        }
    }
}

/// One amount that is about to be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charge {
    /// What is counted.
    pub kind: SpendKind,
    /// The worst case, in units of `kind`.
    pub amount: u64,
    /// The most that the day may reach, in units of `kind`.
    pub cap: u64,
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

/// Where spending is recorded. Every method is atomic and durable before it returns.
pub trait Ledger: Send + Sync {
    /// Adds `charge.amount` to its day and returns the entry's id, or `None`, changing nothing,
    /// when the day's sum would pass `charge.cap`. A clock that was set back does not reopen an
    /// allowance: the charge counts for the latest day that the ledger knows.
    fn reserve(&self, charge: &Charge) -> Result<Option<i64>, LedgerError>;

    /// Replaces an entry's amount by what it really was. An entry that is neither settled nor
    /// released (a crash) keeps counting with its worst case.
    fn settle(&self, id: i64, amount: u64) -> Result<(), LedgerError>;

    /// Removes an entry whose call was never sent.
    fn release(&self, id: i64) -> Result<(), LedgerError>;
}
