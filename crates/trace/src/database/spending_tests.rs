//! Tests of the spending ledger.

use proptest::prelude::*;

use super::*;

const DOLLAR: u64 = 1_000_000;
const MONDAY: &str = "2025-03-03";
const TUESDAY: &str = "2025-03-04";

fn total(database: &Database, day: &str) -> u64 {
    database.spent(SpendKind::Usd, day).unwrap().total_micros()
}

#[test]
fn a_reservation_counts_until_it_is_settled_or_released() {
    let database = Database::in_memory().unwrap();
    let first = database.reserve(SpendKind::Usd, 600_000, DOLLAR, MONDAY).unwrap();
    assert_eq!((first.day(), first.amount_micros(), first.kind()), (MONDAY, 600_000, SpendKind::Usd));
    let refused = database.reserve(SpendKind::Usd, 400_001, DOLLAR, MONDAY).unwrap_err();
    assert_eq!(refused.to_string(), "the USD cap of 2025-03-03 is reached: 0.6 spent + 0.400001 asked > 1");
    let second = database.reserve(SpendKind::Usd, 400_000, DOLLAR, MONDAY).unwrap();
    database.settle(first, 100_000).unwrap();
    assert_eq!(total(&database, MONDAY), 500_000);
    database.release(second).unwrap();
    assert_eq!(total(&database, MONDAY), 100_000);
    // Credits are counted apart: 100 a day.
    let credits = database.reserve(SpendKind::WebCredits, 100 * 1_000_000, 100 * 1_000_000, MONDAY).unwrap();
    assert!(database.reserve(SpendKind::WebCredits, 1, 100 * 1_000_000, MONDAY).is_err());
    database.settle(credits, 100 * 1_000_000).unwrap();
}

#[test]
fn a_call_that_cost_more_than_reserved_is_counted_in_full() {
    let database = Database::in_memory().unwrap();
    let reservation = database.reserve(SpendKind::Usd, 10, DOLLAR, MONDAY).unwrap();
    database.settle(reservation, 2 * DOLLAR).unwrap();
    assert_eq!(total(&database, MONDAY), 2 * DOLLAR);
    assert!(database.reserve(SpendKind::Usd, 0, DOLLAR, MONDAY).is_err());
}

#[test]
fn an_unsettled_reservation_survives_a_restart_as_spent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    drop(Database::open(&path).unwrap().reserve(SpendKind::Usd, 900_000, DOLLAR, MONDAY).unwrap());
    let database = Database::open(&path).unwrap();
    let spent = database.spent(SpendKind::Usd, MONDAY).unwrap();
    assert_eq!((spent.settled_micros, spent.reserved_micros), (0, 900_000));
    assert!(matches!(
        database.reserve(SpendKind::Usd, 200_000, DOLLAR, MONDAY),
        Err(SpendError::CapReached { spent_micros: 900_000, asked_micros: 200_000, cap_micros: DOLLAR, .. })
    ));
}

#[test]
fn a_new_day_has_a_new_budget_and_a_clock_set_back_has_not() {
    let database = Database::in_memory().unwrap();
    drop(database.reserve(SpendKind::Usd, DOLLAR, DOLLAR, MONDAY).unwrap());
    drop(database.reserve(SpendKind::Usd, 300_000, DOLLAR, TUESDAY).unwrap());
    // Set back to Monday: Tuesday's budget goes on, Monday's is not there again.
    let back = database.reserve(SpendKind::Usd, 300_000, DOLLAR, MONDAY).unwrap();
    assert_eq!(back.day(), TUESDAY);
    assert_eq!((total(&database, MONDAY), total(&database, TUESDAY)), (600_000, 600_000));
    assert!(database.reserve(SpendKind::Usd, 500_000, DOLLAR, "2020-01-01").is_err());
    // A refusal advances the day as well.
    assert!(database.reserve(SpendKind::Usd, 2 * DOLLAR, DOLLAR, "2025-03-09").is_err());
    assert_eq!(database.spent(SpendKind::WebCredits, MONDAY).unwrap().day, "2025-03-09");
}

#[test]
fn a_person_can_repair_a_clock_that_stood_in_the_future_without_regaining_a_budget() {
    let database = Database::in_memory().unwrap();
    drop(database.reserve(SpendKind::Usd, 700_000, DOLLAR, "2099-01-01").unwrap());
    database.set_spending_day(MONDAY).unwrap();
    let spent = database.spent(SpendKind::Usd, MONDAY).unwrap();
    assert_eq!((spent.day.as_str(), spent.total_micros()), (MONDAY, 700_000));
    assert!(database.reserve(SpendKind::Usd, 400_000, DOLLAR, MONDAY).is_err());
}

#[test]
fn an_unreadable_ledger_spends_nothing() {
    let database = Database::in_memory().unwrap();
    let open = database.reserve(SpendKind::Usd, 1, DOLLAR, MONDAY).unwrap();
    database.store.write("test", |transaction| transaction.execute_batch("DROP TABLE spending")).unwrap();
    let unreadable = |error: SpendError| matches!(error, SpendError::Unreadable { .. }) && !error.hint().is_empty();
    assert!(unreadable(database.reserve(SpendKind::Usd, 1, DOLLAR, MONDAY).unwrap_err()));
    assert!(unreadable(database.settle(open, 1).unwrap_err()));
    assert!(unreadable(database.spent(SpendKind::Usd, MONDAY).unwrap_err()));
}

#[test]
fn sums_that_overflow_spend_nothing() {
    let database = Database::in_memory().unwrap();
    let open = [0, 0].map(|amount| database.reserve(SpendKind::Usd, amount, DOLLAR, MONDAY).unwrap());
    for reservation in open {
        database.settle(reservation, u64::MAX).unwrap();
    }
    let error = database.reserve(SpendKind::Usd, 1, u64::MAX, MONDAY).unwrap_err();
    assert!(matches!(&error, SpendError::Unreadable { reason } if reason.contains("overflow")), "{error}");
    let error = database.reserve(SpendKind::WebCredits, u64::MAX, u64::MAX, MONDAY).unwrap_err();
    assert!(matches!(error, SpendError::CapReached { .. }));
}

#[test]
fn a_day_must_be_a_date() {
    let database = Database::in_memory().unwrap();
    for day in ["", "2025-3-3", "2025-02-30", "tomorrow", "2025-03-03T00:00", "+002025-03-03", "９999-12-31"] {
        let error = database.reserve(SpendKind::Usd, 1, DOLLAR, day).unwrap_err();
        assert!(matches!(error, SpendError::BadDay { .. }), "{day}");
    }
}

#[test]
fn parallel_processes_never_exceed_the_cap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let databases = [Database::open(&path).unwrap(), Database::open(&path).unwrap()];
    let granted: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let database = &databases[number % 2];
                scope.spawn(move || {
                    let tries = (0..10).map(|_| database.reserve(SpendKind::Usd, 70_000, DOLLAR, MONDAY));
                    let is_refusal = |error: &SpendError| matches!(error, SpendError::CapReached { .. });
                    tries.filter(|result| !result.as_ref().is_err_and(is_refusal)).map(Result::unwrap).count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    // 14 × 0.07 = 0.98: exactly what fits.
    assert_eq!((granted, total(&databases[0], MONDAY)), (14, 980_000));
}

#[derive(Debug, Clone)]
enum Step {
    Reserve(u64, u8),
    Settle(usize, u64),
    Release(usize),
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..500_000_u64, 0..4_u8).prop_map(|(amount, day)| Step::Reserve(amount, day)),
        2 => (any::<usize>(), 0..500_000_u64).prop_map(|(which, actual)| Step::Settle(which, actual)),
        1 => any::<usize>().prop_map(Step::Release),
        1 => Just(Step::Restart),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Against a model: per ledger day, what was granted and not given back never exceeds the cap,
    /// as long as no call costs more than was reserved for it.
    #[test]
    fn the_ledger_never_exceeds_the_cap(steps in proptest::collection::vec(step(), 1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        let mut database = Database::open(&path).unwrap();
        let (mut open, mut spent, mut latest) = (Vec::<Reservation>::new(), [0_u64; 4], 0_u8);
        for step in steps {
            match step {
                Step::Reserve(amount, day) => {
                    latest = latest.max(day);
                    let fits = spent[usize::from(latest)] + amount <= DOLLAR;
                    let result = database.reserve(SpendKind::Usd, amount, DOLLAR, &format!("2025-01-0{}", day + 1));
                    prop_assert_eq!(result.is_ok(), fits);
                    if let Ok(reservation) = result {
                        spent[usize::from(latest)] += amount;
                        open.push(reservation);
                    }
                }
                Step::Settle(which, actual) if !open.is_empty() => {
                    let reservation = open.swap_remove(which % open.len());
                    let actual = actual.min(reservation.amount_micros());
                    let day = usize::from(reservation.day().as_bytes()[9] - b'1');
                    spent[day] -= reservation.amount_micros() - actual;
                    database.settle(reservation, actual).unwrap();
                }
                Step::Release(which) if !open.is_empty() => {
                    let reservation = open.swap_remove(which % open.len());
                    spent[usize::from(reservation.day().as_bytes()[9] - b'1')] -= reservation.amount_micros();
                    database.release(reservation).unwrap();
                }
                Step::Restart => {
                    open.clear();
                    drop(database);
                    database = Database::open(&path).unwrap();
                }
                Step::Settle(..) | Step::Release(_) => {}
            }
            prop_assert!(spent.iter().all(|day| *day <= DOLLAR));
            prop_assert_eq!(total(&database, "2025-01-01"), spent[usize::from(latest)]);
        }
    }
}
