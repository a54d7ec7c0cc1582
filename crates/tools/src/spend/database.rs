//! The ledger of the conversations' database: durable and shared between processes.

use std::sync::Arc;

use tenpass_trace::database::{Database, Reservation, SpendError};

use super::{Charge, Held, Ledger, LedgerError};

/// See the module.
#[derive(Debug, Clone)]
pub struct DatabaseLedger(Arc<Database>);

impl DatabaseLedger {
    /// The ledger in `database`.
    pub fn new(database: Arc<Database>) -> Self {
        Self(database)
    }
}

struct Entry {
    database: Arc<Database>,
    reservation: Reservation,
}

impl Ledger for DatabaseLedger {
    fn reserve(&self, charge: &Charge) -> Result<Option<Box<dyn Held>>, LedgerError> {
        let day = charge.day.to_string();
        match self.0.reserve(charge.kind, charge.amount_micros, charge.cap_micros, &day) {
            Ok(reservation) => Ok(Some(Box::new(Entry { database: Arc::clone(&self.0), reservation }))),
            Err(SpendError::CapReached { .. }) => Ok(None),
            Err(error) => Err(LedgerError::new(error.to_string())),
        }
    }
}

impl Held for Entry {
    fn settle(self: Box<Self>, actual_micros: u64) -> Result<(), LedgerError> {
        self.database.settle(self.reservation, actual_micros).map_err(|error| LedgerError::new(error.to_string()))
    }

    fn release(self: Box<Self>) -> Result<(), LedgerError> {
        self.database.release(self.reservation).map_err(|error| LedgerError::new(error.to_string()))
    }
}
