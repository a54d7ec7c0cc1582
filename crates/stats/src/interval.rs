//! Intervals of one rate.

use crate::special::{beta_quantile, normal_critical};
use crate::tally::Tally;

/// A closed interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Nothing is known about a rate.
    pub const UNKNOWN_RATE: Self = Self { low: 0.0, high: 1.0 };

    /// True when `value` lies in the interval, ends included.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Upper minus lower end.
    pub fn width(self) -> f64 {
        self.high - self.low
    }
}

/// Wilson's score interval, for display: 10 of 10 is 0.72 to 1, 5 of 10 is 0.24 to 0.76.
///
/// `confidence` is a fraction such as 0.95. Nothing scored gives `[0, 1]`.
pub fn wilson(tally: Tally, confidence: f64) -> Interval {
    tally.rate().map_or(Interval::UNKNOWN_RATE, |rate| wilson_rate(rate, f64::from(tally.total()), confidence))
}

/// Wilson's interval for a rate observed in `n` effective passes, which need not be whole.
pub fn wilson_rate(rate: f64, n: f64, confidence: f64) -> Interval {
    if n.is_nan() || n <= 0.0 || rate.is_nan() {
        return Interval::UNKNOWN_RATE;
    }
    let rate = rate.clamp(0.0, 1.0);
    score_interval(rate, rate * (1.0 - rate) / n, n, normal_critical(confidence))
}

/// The score interval around `rate` whose sampling variance is `variance`, from `n` passes.
///
/// With variance = rate(1 − rate)/n this is Wilson's; with the smaller variance of a mean over
/// cases it stays as narrow as the data allow, yet never has zero width.
pub(crate) fn score_interval(rate: f64, variance: f64, n: f64, z: f64) -> Interval {
    let square = z * z;
    let shrink = 1.0 + square / n;
    let centre = (rate + square / (2.0 * n)) / shrink;
    let half = z / shrink * (variance + square / (4.0 * n * n)).sqrt();
    // At rate 0 and 1 the end is exact; rounding must not move it inside.
    let low = if rate <= 0.0 { 0.0 } else { (centre - half).clamp(0.0, rate) };
    let high = if rate >= 1.0 { 1.0 } else { (centre + half).clamp(rate, 1.0) };
    Interval { low, high }
}

/// The exact interval of Clopper and Pearson, where a guarantee is claimed: it covers the truth at
/// least as often as `confidence` says.
pub fn clopper_pearson(tally: Tally, confidence: f64) -> Interval {
    let tail = (1.0 - confidence) / 2.0;
    let (passed, failed) = (f64::from(tally.passed()), f64::from(tally.failed()));
    Interval {
        low: if tally.passed() == 0 { 0.0 } else { beta_quantile(passed, failed + 1.0, tail) },
        high: if tally.failed() == 0 { 1.0 } else { beta_quantile(passed + 1.0, failed, 1.0 - tail) },
    }
}

/// The interval of a difference of two independent rates, after minus before (Newcombe's method 10,
/// Statistics in Medicine 17, 1998): Wilson's intervals of both sides combined. `[−1, 1]` when a side
/// has no scored pass.
pub fn newcombe(before: Tally, after: Tally, confidence: f64) -> Interval {
    let (Some(rate_before), Some(rate_after)) = (before.rate(), after.rate()) else {
        return Interval { low: -1.0, high: 1.0 };
    };
    let (a, b) = (wilson(before, confidence), wilson(after, confidence));
    let difference = rate_after - rate_before;
    Interval {
        low: difference - (rate_after - b.low).hypot(a.high - rate_before),
        high: difference + (b.high - rate_after).hypot(rate_before - a.low),
    }
}

/// How many passes in a row, all of them good, show a rate of at least `rate` with one-sided
/// `confidence`: 59 for 0.95 at 0.95. `None` when no number of passes can.
pub fn straight_passes_needed(rate: f64, confidence: f64) -> Option<u64> {
    let possible = rate > 0.0 && rate < 1.0 && confidence > 0.0 && confidence < 1.0;
    possible.then(|| ((1.0 - confidence).ln() / rate.ln() - 1e-12).ceil() as u64)
}

#[cfg(test)]
#[allow(clippy::unreadable_literal, reason = "known answers stand as their source printed them")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(interval: Interval, low: f64, high: f64) {
        assert!((interval.low - low).abs() < 1e-11, "{interval:?} starts at {low}");
        assert!((interval.high - high).abs() < 1e-11, "{interval:?} ends at {high}");
    }

    /// Values from statsmodels.stats.proportion.proportion_confint.
    #[test]
    fn values_of_statsmodels() {
        close(wilson(Tally::new(0, 10), 0.95), 0.0, 0.2775327998628892);
        close(wilson(Tally::new(0, 10), 0.9), 0.0, 0.2129419700834071);
        close(clopper_pearson(Tally::new(0, 10), 0.95), 0.0, 0.3084971078187607);
        close(clopper_pearson(Tally::new(0, 10), 0.9), 0.0, 0.2588655508930523);
        close(wilson(Tally::new(5, 5), 0.95), 0.236593090512564, 0.7634069094874361);
        close(wilson(Tally::new(5, 5), 0.9), 0.26927182113826714, 0.7307281788617328);
        close(clopper_pearson(Tally::new(5, 5), 0.95), 0.18708602844739855, 0.8129139715526015);
        close(clopper_pearson(Tally::new(5, 5), 0.9), 0.22244110100812936, 0.7775588989918707);
        close(wilson(Tally::new(7, 3), 0.95), 0.39677814746114537, 0.8922087325936989);
        close(wilson(Tally::new(7, 3), 0.9), 0.44169979586983493, 0.873123416096802);
        close(clopper_pearson(Tally::new(7, 3), 0.95), 0.34754714994000274, 0.9332604888222655);
        close(clopper_pearson(Tally::new(7, 3), 0.9), 0.39337578389458766, 0.9127355660858497);
        close(wilson(Tally::new(10, 0), 0.95), 0.7224672001371107, 1.0);
        close(wilson(Tally::new(10, 0), 0.9), 0.7870580299165928, 1.0);
        close(clopper_pearson(Tally::new(10, 0), 0.95), 0.6915028921812392, 1.0);
        close(clopper_pearson(Tally::new(10, 0), 0.9), 0.7411344491069477, 1.0);
        close(wilson(Tally::new(1, 2), 0.95), 0.06149194472039621, 0.7923403991979522);
        close(clopper_pearson(Tally::new(1, 2), 0.95), 0.008403758659612643, 0.9057006759497539);
        close(wilson(Tally::new(287, 13), 0.95), 0.9272825343659885, 0.9745035519155927);
        close(clopper_pearson(Tally::new(287, 13), 0.95), 0.927038535779718, 0.9767281589953176);
        close(wilson(Tally::new(59, 0), 0.95), 0.9388706294732116, 1.0);
        close(clopper_pearson(Tally::new(59, 0), 0.95), 0.9393910990496601, 1.0);
        close(wilson(Tally::new(18, 11), 0.95), 0.4400254420598852, 0.7731197789919015);
        close(clopper_pearson(Tally::new(18, 11), 0.95), 0.42260464066440123, 0.7931313005134929);
    }

    /// Values from statsmodels.stats.proportion.confint_proportions_2indep(method="newcomb").
    #[test]
    fn differences_of_statsmodels() {
        let found = |a: (u32, u32), b: (u32, u32)| newcombe(Tally::new(a.0, a.1), Tally::new(b.0, b.1), 0.95);
        close(found((10, 0), (7, 3)), -0.6032218525388546, 0.03759243457905076);
        close(found((3, 7), (8, 2)), 0.06647631448630487, 0.7397586340406174);
        close(found((26, 3), (11, 18)), -0.6840023380149834, -0.27564557812860596);
        close(found((5, 0), (5, 0)), -0.43448246478317476, 0.43448246478317476);
        assert_eq!(newcombe(Tally::default(), Tally::new(1, 0), 0.95), Interval { low: -1.0, high: 1.0 });
    }

    #[test]
    fn the_page_of_the_method_is_reproduced() {
        let ten = wilson(Tally::new(10, 0), 0.95);
        assert_eq!((format!("{:.2}", ten.low), format!("{:.2}", ten.high)), ("0.72".into(), "1.00".into()));
        let half = wilson(Tally::new(5, 5), 0.95);
        assert_eq!((format!("{:.2}", half.low), format!("{:.2}", half.high)), ("0.24".into(), "0.76".into()));
        assert_eq!(straight_passes_needed(0.95, 0.95), Some(59));
    }

    #[test]
    fn straight_passes_agree_with_the_exact_interval() {
        // One-sided 95 % is the lower end of the two-sided 90 % interval.
        assert!(clopper_pearson(Tally::new(59, 0), 0.90).low >= 0.95);
        assert!(clopper_pearson(Tally::new(58, 0), 0.90).low < 0.95);
        assert_eq!(straight_passes_needed(1.0, 0.95), None);
        assert_eq!(straight_passes_needed(0.95, 1.0), None);
    }

    #[test]
    fn nothing_scored_says_nothing() {
        assert_eq!(wilson(Tally::default(), 0.95), Interval::UNKNOWN_RATE);
        assert_eq!(clopper_pearson(Tally::default(), 0.95), Interval::UNKNOWN_RATE);
    }

    proptest! {
        #[test]
        fn both_intervals_hold_the_rate_stay_in_bounds_and_mirror(passed in 0_u32..300, failed in 0_u32..300) {
            prop_assume!(passed + failed > 0);
            let (tally, mirror) = (Tally::new(passed, failed), Tally::new(failed, passed));
            for method in [wilson, clopper_pearson] {
                let (there, back) = (method(tally, 0.95), method(mirror, 0.95));
                prop_assert!(there.low >= 0.0 && there.high <= 1.0 && there.width() > 0.0);
                prop_assert!(there.contains(tally.rate().unwrap()));
                prop_assert!((there.low + back.high - 1.0).abs() < 1e-9);
                prop_assert!((there.high + back.low - 1.0).abs() < 1e-9);
            }
        }

        #[test]
        fn one_more_success_moves_both_ends_up(passed in 0_u32..100, failed in 1_u32..100) {
            let (fewer, more) = (Tally::new(passed, failed), Tally::new(passed + 1, failed - 1));
            for method in [wilson, clopper_pearson] {
                let (fewer, more) = (method(fewer, 0.95), method(more, 0.95));
                prop_assert!(more.low > fewer.low || more.low.abs() < 1e-15);
                prop_assert!(more.high > fewer.high || fewer.high >= 1.0);
            }
        }

        #[test]
        fn more_confidence_is_wider(passed in 0_u32..100, failed in 1_u32..100) {
            let tally = Tally::new(passed, failed);
            for method in [wilson, clopper_pearson] {
                prop_assert!(method(tally, 0.99).width() > method(tally, 0.9).width());
            }
        }

        #[test]
        fn the_exact_interval_is_never_narrower_than_it_claims(total in 1_u32..40, truth in 0.01_f64..0.99) {
            let covered: f64 = (0..=total)
                .filter(|&passed| clopper_pearson(Tally::new(passed, total - passed), 0.95).contains(truth))
                .map(|passed| {
                    let ln = crate::special::ln_choose(total, passed)
                        + f64::from(passed) * truth.ln()
                        + f64::from(total - passed) * (-truth).ln_1p();
                    ln.exp()
                })
                .sum();
            prop_assert!(covered >= 0.95 - 1e-9, "{covered} at {truth} with {total}");
        }
    }
}
