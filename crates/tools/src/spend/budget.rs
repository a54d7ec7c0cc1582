//! Caps, and the reservation that every paid call holds while it runs.

use std::sync::Arc;

use jiff::Zoned;

use super::{Charge, Held, Ledger, LedgerError, SpendKind};

/// How much a day may cost (K47).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Millionths of a US dollar a day.
    pub usd_micros: u64,
    /// Paid web searches a day, in millionths of a credit.
    pub web_credit_micros: u64,
}

impl Default for Caps {
    /// $1 and 100 web credits a day.
    fn default() -> Self {
        Self::new(1.0, 100)
    }
}

impl Caps {
    /// Caps from dollars and credits. A negative or absurd number of dollars is no allowance.
    pub fn new(dollars: f64, web_credits: u32) -> Self {
        let micros = (dollars * 1e6).round();
        let usd_micros = if (0.0..1e15).contains(&micros) { micros as u64 } else { 0 };
        Self { usd_micros, web_credit_micros: u64::from(web_credits) * 1_000_000 }
    }

    fn of(&self, kind: SpendKind) -> u64 {
        match kind {
            SpendKind::Usd => self.usd_micros,
            SpendKind::WebCredits => self.web_credit_micros,
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
    #[error("the daily cap of {} {kind} leaves no room for {} more", decimal(*.cap_micros), decimal(*.amount_micros))]
    Cap {
        /// What is spent.
        kind: SpendKind,
        /// The worst case of this call, in millionths.
        amount_micros: u64,
        /// The cap, in millionths.
        cap_micros: u64,
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

    /// Sets the worst case of a call that starts at `now` aside.
    pub fn reserve(&self, kind: SpendKind, amount_micros: u64, now: &Zoned) -> Result<Reservation, SpendError> {
        let cap_micros = self.caps.of(kind);
        let charge = Charge { kind, amount_micros, cap_micros, day: now.date() };
        let held = match self.ledger.reserve(&charge) {
            Ok(Some(held)) => Some(held),
            Ok(None) => return Err(SpendError::Cap { kind, amount_micros, cap_micros }),
            Err(_) if self.when_unreadable == WhenUnreadable::Allow => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Reservation { held, sent: false })
    }
}

fn decimal(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// An amount set aside. Dropped before [`Reservation::sent`] it is released; dropped after, it
/// stays at its worst case, because what was sent may be billed.
#[must_use = "a reservation that is dropped at once reserves nothing"]
pub struct Reservation {
    held: Option<Box<dyn Held>>,
    sent: bool,
}

impl std::fmt::Debug for Reservation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Reservation").field("sent", &self.sent).finish_non_exhaustive()
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

    /// True while a bill may come of it.
    pub fn is_sent(&self) -> bool {
        self.sent
    }

    /// The call is over and cost this much, in millionths.
    pub fn settle(mut self, actual_micros: u64) -> Result<(), LedgerError> {
        self.held.take().map_or(Ok(()), |held| held.settle(actual_micros))
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let (Some(held), false) = (self.held.take(), self.sent) {
            // A release that fails leaves the worst case counted: the safe side.
            let _ = held.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use tenpass_trace::database::Database;

    use super::super::{DatabaseLedger, MemoryLedger};
    use super::*;

    struct Broken;

    impl Ledger for Broken {
        fn reserve(&self, _: &Charge) -> Result<Option<Box<dyn Held>>, LedgerError> {
            Err(LedgerError::new("disk on fire"))
        }
    }

    fn at(text: &str) -> Zoned {
        text.parse().unwrap()
    }

    fn noon() -> Zoned {
        at("2026-03-01T12:00:00+01:00[Europe/Paris]")
    }

    fn budget(dollars: f64) -> (MemoryLedger, Budget) {
        let ledger = MemoryLedger::default();
        (ledger.clone(), Budget::new(Arc::new(ledger), Caps::new(dollars, 3)))
    }

    #[test]
    fn the_default_caps_are_one_dollar_and_a_hundred_credits() {
        assert_eq!(Caps::default(), Caps { usd_micros: 1_000_000, web_credit_micros: 100_000_000 });
        for nothing in [f64::NAN, -1.0, f64::INFINITY] {
            assert_eq!(Caps::new(nothing, 0).usd_micros, 0);
        }
    }

    #[test]
    fn settled_and_cut_calls_count_and_calls_never_sent_do_not() {
        let (ledger, budget) = budget(0.001);
        let sum = || ledger.sum(SpendKind::Usd, noon().date());
        let mut first = budget.reserve(SpendKind::Usd, 600, &noon()).unwrap();
        first.sent();
        first.settle(100).unwrap();
        assert_eq!(sum(), 100);
        drop(budget.reserve(SpendKind::Usd, 900, &noon()).unwrap());
        assert_eq!(sum(), 100, "never sent");
        let mut cut = budget.reserve(SpendKind::Usd, 500, &noon()).unwrap();
        cut.sent();
        drop(cut);
        assert_eq!(sum(), 600, "sent and cut: the worst case stays");
        let mut refused = budget.reserve(SpendKind::Usd, 400, &noon()).unwrap();
        refused.sent();
        refused.refused();
        drop(refused);
        assert_eq!(sum(), 600);
        let error = budget.reserve(SpendKind::Usd, 401, &noon()).unwrap_err();
        assert_eq!(error.to_string(), "the daily cap of 0.001 USD leaves no room for 0.000401 more");
        let told = error.for_model("claude");
        assert!(told.contains("unavailable now") && !told.contains("cap") && !told.contains("0.0"), "{told}");
    }

    #[test]
    fn a_new_day_in_the_users_zone_has_a_new_allowance_and_a_clock_set_back_has_none() {
        let database = Arc::new(Database::in_memory().unwrap());
        let ledgers: [Arc<dyn Ledger>; 2] =
            [Arc::new(MemoryLedger::default()), Arc::new(DatabaseLedger::new(database))];
        for ledger in ledgers {
            let budget = Budget::new(ledger, Caps::new(1.0, 3));
            let spend = |time: &str| {
                let mut held = budget.reserve(SpendKind::WebCredits, 3_000_000, &at(time))?;
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
    }

    #[test]
    fn an_unreadable_ledger_refuses_unless_told_otherwise() {
        let closed = Budget::new(Arc::new(Broken), Caps::default());
        let error = closed.reserve(SpendKind::WebCredits, 1, &noon()).unwrap_err();
        assert!(matches!(error, SpendError::Ledger(_)) && !error.for_model("x").contains("fire"));
        let open = closed.when_unreadable(WhenUnreadable::Allow);
        let mut held = open.reserve(SpendKind::WebCredits, 1, &noon()).unwrap();
        held.sent();
        held.settle(1).unwrap();
    }

    #[test]
    fn parallel_calls_together_never_pass_the_cap() {
        let (ledger, budget) = budget(0.001);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        if let Ok(mut held) = budget.reserve(SpendKind::Usd, 90, &noon()) {
                            held.sent();
                        }
                        assert!(ledger.sum(SpendKind::Usd, noon().date()) <= 1000);
                    }
                });
            }
        });
        assert_eq!(ledger.sum(SpendKind::Usd, noon().date()), 11 * 90, "floor(1000 / 90)");
    }
}
