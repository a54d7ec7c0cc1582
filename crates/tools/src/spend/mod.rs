//! The one choke point of spending (K47): nothing paid is sent before its worst case is reserved.
//!
//! [`Budget::reserve`] adds the worst-case amount to the day's sum in the injected [`Ledger`] and
//! refuses when a cap would be passed; the returned [`Reservation`] is settled with what the call
//! really cost, released when nothing was sent, and kept at its worst case when it is dropped after
//! sending (a stopped answer is billed). The ledger decides atomically, so parallel calls together
//! never pass a cap. The model knows none of this: it sees a tool error.
//!
//! A ledger that cannot be read refuses ([`WhenUnreadable::Refuse`]); [`WhenUnreadable::Allow`] is
//! the documented, explicit alternative.

mod budget;
mod database;
mod ledger;
mod memory;

pub use budget::{Budget, Caps, Reservation, SpendError, WhenUnreadable};
pub use database::DatabaseLedger;
pub use ledger::{Charge, Held, Ledger, LedgerError};
pub use memory::MemoryLedger;
pub use tenpass_trace::database::SpendKind;
