//! Events over time: false wakes an hour, faults a night.

use crate::interval::Interval;
use crate::special::{chi_square_quantile, gamma_inc_upper};

/// The exact interval of an event rate (Garwood 1936): `events` in `exposure`, which may be hours,
/// days or clips; the ends are events per unit of exposure.
///
/// low = χ²(α/2, 2k)/2T, high = χ²(1 − α/2, 2k + 2)/2T. Without exposure nothing is known: the
/// interval is `[0, ∞)`.
pub fn poisson_rate(events: u32, exposure: f64, confidence: f64) -> Interval {
    let tail = (1.0 - confidence) / 2.0;
    Interval {
        low: poisson_at_least(events, exposure, 1.0 - tail),
        high: poisson_at_most(events, exposure, 1.0 - tail),
    }
}

/// The rate that is not exceeded, with this one-sided confidence: 30 hours without an event show at
/// most 0.1 an hour at 95 %. ∞ without exposure.
pub fn poisson_at_most(events: u32, exposure: f64, confidence: f64) -> f64 {
    if !measurable(exposure) {
        return f64::INFINITY;
    }
    chi_square_quantile(2.0 * f64::from(events) + 2.0, confidence) / (2.0 * exposure)
}

/// The rate that is reached at least, with this one-sided confidence. 0 without events or exposure.
pub fn poisson_at_least(events: u32, exposure: f64, confidence: f64) -> f64 {
    if !measurable(exposure) || events == 0 {
        return 0.0;
    }
    chi_square_quantile(2.0 * f64::from(events), 1.0 - confidence) / (2.0 * exposure)
}

/// How long must be watched, with at most `events` events, to show a rate of at most `rate` with
/// this one-sided confidence: 30 for no event, 0.1 and 0.95. `None` when no time can.
pub fn exposure_needed(events: u32, rate: f64, confidence: f64) -> Option<f64> {
    let possible = rate > 0.0 && rate.is_finite() && confidence > 0.0 && confidence < 1.0;
    possible.then(|| chi_square_quantile(2.0 * f64::from(events) + 2.0, confidence) / (2.0 * rate))
}

/// P(at most `events` events) when `expected` are expected.
pub fn poisson_cdf(events: u32, expected: f64) -> f64 {
    gamma_inc_upper(f64::from(events) + 1.0, expected)
}

fn measurable(exposure: f64) -> bool {
    exposure > 0.0 && exposure.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn thirty_hours_of_silence_show_a_tenth_an_hour() {
        assert!(poisson_at_most(0, 30.0, 0.95) <= 0.1 && poisson_at_most(0, 29.9, 0.95) > 0.1);
        assert!((exposure_needed(0, 0.1, 0.95).unwrap() - 29.957).abs() < 0.001);
        assert_eq!(exposure_needed(0, 0.0, 0.95), None);
        assert_eq!(exposure_needed(0, 0.1, 1.0), None);
    }

    #[test]
    fn nothing_watched_says_nothing() {
        for exposure in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(poisson_rate(3, exposure, 0.95), Interval { low: 0.0, high: f64::INFINITY });
        }
    }

    #[test]
    fn millions_of_events_are_no_trouble() {
        let found = poisson_rate(4_000_000, 1.0, 0.95);
        assert!((found.low / 3_996_081.0 - 1.0).abs() < 1e-6 && (found.high / 4_003_922.0 - 1.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn the_ends_are_where_the_tails_begin(events in 0_u32..500, exposure in 0.1_f64..100.0) {
            let found = poisson_rate(events, exposure, 0.95);
            prop_assert!((poisson_cdf(events, found.high * exposure) - 0.025).abs() < 1e-9);
            prop_assert!(found.contains(f64::from(events) / exposure));
            if events > 0 {
                prop_assert!((1.0 - poisson_cdf(events - 1, found.low * exposure) - 0.025).abs() < 1e-9);
            }
        }
    }
}
