//! Caps, and the reservation that every paid call holds while it runs.

use std::sync::Arc;

use jiff::Zoned;

use super::{Charge, Ledger, LedgerError, SpendKind};

/// How much a day may cost (K47).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Millionths of a US dollar a day.
    pub micro_dollars: u64,
    /// Paid web searches a day.
    pub web_credits: u64,
}

impl Default for Caps {
    /// $1 and 100 web credits a day.
    fn default() -> Self {
        Self { micro_dollars: 1_000_000, web_credits: 100 }
    }
}

impl Caps {
    /// Caps from dollars and credits. A negative or absurd number of dollars is no allowance.
    pub fn new(dollars: f64, web_credits: u64) -> Self {
        let micro = (dollars * 1e6).floor();
        Self { micro_dollars: if micro >= 0.0 && micro < 1e15 { micro as u64 } else { 0 }, web_credits }
    }

    fn of(&self, kind: SpendKind) -> u64 {
        match kind {
            SpendKind::MicroDollars => self.micro_dollars,
            SpendKind::WebCredits => self.web_credits,
        }
    }
}

/// What happens to a paid call when the ledger cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenUnreadable {
    /// It is refused: an unknown sum is treated as a reached cap.
    #[default]
    Refuse,
    /// It is sent uncounted. Only for people who would rather pay than be refused.
    Allow,
}

/// Why a paid call was not sent. The model is told [`SpendError::for_model`], nothing more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpendError {
    /// The day's cap would be passed.
    #[error("the daily cap of {cap} {kind} leaves no room for {amount} more", kind = .kind.as_str())]
    Cap {
        /// What is counted.
        kind: SpendKind,
        /// The worst case of this call.
        amount: u64,
        /// The cap.
        cap: u64,
    },
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl SpendError {
    /// The tool error: that it cannot be used now, and no word about money.
    pub fn for_model(&self, what: &str) -> String {
        format!("{what} is unavailable now; do it another way, or say that it is unavailable")
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Cap { .. } => "raise the daily cap in the settings, or wait for the next day",
            Self::Ledger(_) => "check that the database can be read and written; paid calls are refused until then",
        }
    }
}

/// The choke point. Cloning shares the ledger.
#[derive(Clone)]
pub struct Budget {
    ledger: Arc<dyn Ledger>,
    caps: Caps,
    when_unreadable: WhenUnreadable,
}

impl std::fmt::Debug for Budget {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Budget").field("caps", &self.caps).finish_non_exhaustive()
    }
}

impl Budget {
    /// A budget over `ledger` that fails closed.
    pub fn new(ledger: Arc<dyn Ledger>, caps: Caps) -> Self {
        Self { ledger, caps, when_unreadable: WhenUnreadable::default() }
    }

    /// The same budget with another answer to an unreadable ledger.
    pub fn when_unreadable(mut self, choice: WhenUnreadable) -> Self {
        self.when_unreadable = choice;
        self
    }

    /// Sets `amount` (worst case, in units of `kind`) aside for a call that starts at `now`.
    pub fn reserve(&self, kind: SpendKind, amount: u64, now: &Zoned) -> Result<Reservation, SpendError> {
        let cap = self.caps.of(kind);
        let charge = Charge { kind, amount, cap, day: now.date() };
        let id = match self.ledger.reserve(&charge) {
            Ok(Some(id)) => Some(id),
            Ok(None) => return Err(SpendError::Cap { kind, amount, cap }),
            Err(_) if self.when_unreadable == WhenUnreadable::Allow => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Reservation { ledger: Arc::clone(&self.ledger), id, sent: false })
    }
}

/// An amount set aside. Dropped before [`Reservation::sent`] it is released; dropped after, it
/// stays at its worst case, because what was sent may be billed.
#[must_use = "a reservation that is dropped at once reserves nothing"]
pub struct Reservation {
    ledger: Arc<dyn Ledger>,
    id: Option<i64>,
    sent: bool,
}

impl std::fmt::Debug for Reservation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Reservation").field("id", &self.id).field("sent", &self.sent).finish_non_exhaustive()
    }
}

impl Reservation {
    /// The request is about to leave: from here on it may be billed.
    pub fn sent(&mut self) {
        self.sent = true;
    }

    /// The server refused without doing anything billable: from here on a drop releases again.
    pub fn refused(&mut self) {
        self.sent = false;
    }

    /// The call is over and cost `amount`.
    pub fn settle(mut self, amount: u64) -> Result<(), LedgerError> {
        match self.id.take() {
            Some(id) => self.ledger.settle(id, amount),
            None => Ok(()),
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let (Some(id), false) = (self.id.take(), self.sent) {
            // A release that fails leaves the worst case counted: the safe side.
            let _ = self.ledger.release(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::MemoryLedger;
    use super::*;

    struct Broken;

    impl Ledger for Broken {
        fn reserve(&self, _: &Charge) -> Result<Option<i64>, LedgerError> {
            Err(LedgerError::new("disk on fire"))
        }
        fn settle(&self, _: i64, _: u64) -> Result<(), LedgerError> {
            Err(LedgerError::new("disk on fire"))
        }
        fn release(&self, _: i64) -> Result<(), LedgerError> {
            Err(LedgerError::new("disk on fire"))
        }
    }

    fn at(text: &str) -> Zoned {
        text.parse().unwrap()
    }

    fn budget(dollars: f64) -> (Arc<MemoryLedger>, Budget) {
        let ledger = Arc::new(MemoryLedger::default());
        (Arc::clone(&ledger), Budget::new(ledger, Caps::new(dollars, 3)))
    }

    #[test]
    fn the_default_caps_are_one_dollar_and_a_hundred_credits() {
        assert_eq!(Caps::default(), Caps { micro_dollars: 1_000_000, web_credits: 100 });
        assert_eq!(Caps::new(1.0, 100), Caps::default());
        assert_eq!(Caps::new(f64::NAN, 0).micro_dollars, 0);
        assert_eq!(Caps::new(-1.0, 0).micro_dollars, 0);
    }

    #[test]
    fn settled_reserved_and_kept_amounts_count_and_released_ones_do_not() {
        let (ledger, budget) = budget(0.001);
        let now = at("2026-03-01T12:00:00+01:00[Europe/Paris]");
        let sum = || ledger.sum(SpendKind::MicroDollars, now.date());
        let mut first = budget.reserve(SpendKind::MicroDollars, 600, &now).unwrap();
        first.sent();
        first.settle(100).unwrap();
        assert_eq!(sum(), 100);
        drop(budget.reserve(SpendKind::MicroDollars, 900, &now).unwrap());
        assert_eq!(sum(), 100, "never sent");
        let mut cut = budget.reserve(SpendKind::MicroDollars, 500, &now).unwrap();
        cut.sent();
        drop(cut);
        assert_eq!(sum(), 600, "sent and cut: the worst case stays");
        let error = budget.reserve(SpendKind::MicroDollars, 401, &now).unwrap_err();
        assert_eq!(error, SpendError::Cap { kind: SpendKind::MicroDollars, amount: 401, cap: 1000 });
        let told = error.for_model("claude");
        assert!(told.contains("unavailable now") && !told.contains("cap") && !told.contains("1000"), "{told}");
        let mut refused = budget.reserve(SpendKind::MicroDollars, 400, &now).unwrap();
        refused.sent();
        refused.refused();
        drop(refused);
        assert_eq!(sum(), 600);
    }

    #[test]
    fn a_new_day_in_the_users_zone_has_a_new_allowance_and_a_clock_set_back_has_none() {
        let (_ledger, budget) = budget(1.0);
        let spend = |time: &str| {
            let mut held = budget.reserve(SpendKind::WebCredits, 3, &at(time))?;
            held.sent();
            Ok::<_, SpendError>(())
        };
        // 23:30 in New York is already the next day in Paris.
        spend("2026-03-01T23:30:00-05:00[America/New_York]").unwrap();
        spend("2026-03-01T23:40:00-05:00[America/New_York]").unwrap_err();
        spend("2026-03-02T00:01:00-05:00[America/New_York]").unwrap();
        spend("2026-03-01T12:00:00-05:00[America/New_York]").unwrap_err();
        spend("2026-02-01T12:00:00-05:00[America/New_York]").unwrap_err();
    }

    #[test]
    fn an_unreadable_ledger_refuses_unless_told_otherwise() {
        let now = at("2026-03-01T12:00:00+00:00[UTC]");
        let closed = Budget::new(Arc::new(Broken), Caps::default());
        assert!(matches!(closed.reserve(SpendKind::WebCredits, 1, &now), Err(SpendError::Ledger(_))));
        let open = closed.when_unreadable(WhenUnreadable::Allow);
        let mut held = open.reserve(SpendKind::WebCredits, 1, &now).unwrap();
        held.sent();
        held.settle(1).unwrap();
    }

    #[test]
    fn parallel_calls_together_never_pass_the_cap() {
        let (ledger, budget) = budget(0.001);
        let now = at("2026-03-01T12:00:00+00:00[UTC]");
        let kept = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..16)
                .map(|_| {
                    scope.spawn(|| {
                        let tries = (0..10).map(|_| budget.reserve(SpendKind::MicroDollars, 90, &now));
                        let held: Vec<_> = tries.flatten().collect();
                        held.into_iter().map(|mut one| one.sent()).count()
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum::<usize>()
        });
        assert_eq!(kept, 11, "floor(1000 / 90)");
        assert_eq!(ledger.sum(SpendKind::MicroDollars, now.date()), 990);
    }
}
