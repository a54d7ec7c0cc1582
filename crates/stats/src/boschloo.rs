//! Before against after on ONE case: Boschloo's exact unconditional test.

use std::collections::HashMap;

use crate::hypergeometric::Hypergeometric;
use crate::region::Region;
use crate::tally::{Pair, Tally};

/// The work grows with the square of the passes; beyond this many Fisher's test is as good.
const UNCONDITIONAL_UP_TO: u32 = 1000;
/// Peaks of the chance over the unknown rate that are located beyond the grid.
const REFINED_PEAKS: usize = 4;

/// The two-sided p-value: twice the smaller one-sided one, at most 1 (Boschloo 1970, as scipy).
///
/// Fisher's one-sided p is the statistic; its distribution is maximised over the unknown common
/// rate. Uniformly more powerful than Fisher's test. 1 when a side has no scored pass. At ten
/// against ten passes, 10 then 7 gives 0.116: nothing is proven. Past 1,000 passes in all Fisher's
/// own p-value, doubled, is given: still exact, and hardly larger there.
pub fn boschloo(before: Tally, after: Tally) -> f64 {
    if before.is_empty() || after.is_empty() {
        return 1.0;
    }
    let (up, down) = (fisher(before, after), fisher(after, before));
    if before.total().saturating_add(after.total()) > UNCONDITIONAL_UP_TO {
        return (2.0 * up.min(down)).min(1.0);
    }
    let (likely, other) = if up <= down {
        ((before, after, up), (after, before, down))
    } else {
        ((after, before, down), (before, after, up))
    };
    let smaller = one_sided(likely, f64::INFINITY);
    // The other side is a supremum: once any rate lifts it above, it cannot be the smaller one.
    (2.0 * smaller.min(one_sided(other, smaller))).min(1.0)
}

/// [`boschloo`] of every pair. Equal tables, which are most of them at ten passes, are worked out once.
pub fn boschloo_each(pairs: &[Pair]) -> Vec<f64> {
    let mut known = HashMap::new();
    pairs
        .iter()
        .map(|pair| *known.entry((pair.before, pair.after)).or_insert_with(|| boschloo(pair.before, pair.after)))
        .collect()
}

/// Fisher's one-sided p-value of "after is better".
fn fisher(before: Tally, after: Tally) -> f64 {
    let shuffled = Hypergeometric::new(before.total(), after.total(), before.passed() + after.passed());
    shuffled.upper_tails()[(after.passed() - shuffled.first) as usize].min(1.0)
}

/// sup over the common rate of P(a table at least as much in favour of "after is better"), where
/// `observed` is Fisher's p of the table. Stops early, with a lower bound, once that exceeds `enough`.
fn one_sided((before, after, observed): (Tally, Tally, f64), enough: f64) -> f64 {
    let total = before.total() + after.total();
    let region = Region::new(before.total(), after.total(), observed);
    let sums = BinomialSums::new(total);
    let pooled = f64::from(before.passed() + after.passed()) / f64::from(total);
    if enough.is_finite() {
        // A part of the mean is a lower bound of it: the most likely sums alone settle most tables.
        let reach = (2.0 * (f64::from(total) * pooled * (1.0 - pooled)).sqrt()).ceil() as u32;
        let middle = before.passed() + after.passed();
        let bound = sums.mean(&region.tails(middle.saturating_sub(reach), (middle + reach).min(total)), pooled);
        if bound > enough {
            return bound;
        }
    }
    let tails = region.tails(0, total);
    let first = sums.mean(&tails, pooled);
    if first > enough { first } else { maximise(|rate| sums.mean(&tails, rate), total).max(first).min(1.0) }
}

/// Means over the binomial number of successes of so many passes.
struct BinomialSums {
    /// C(n, s + 1)/C(n, s) for every s. Backwards they are their own inverses.
    ratios: Vec<f64>,
}

impl BinomialSums {
    /// A term this much smaller than the largest cannot matter.
    const NEGLIGIBLE: f64 = 1e-16;

    fn new(total: u32) -> Self {
        Self { ratios: (0..total).map(|s| f64::from(total - s) / f64::from(s + 1)).collect() }
    }

    /// The mean of `values`\[s\] when s successes come at this rate.
    fn mean(&self, values: &[f64], rate: f64) -> f64 {
        let total = self.ratios.len();
        if rate <= 0.0 || rate >= 1.0 {
            return values[if rate <= 0.0 { 0 } else { total }];
        }
        let odds = rate / (1.0 - rate);
        let mode = (((total + 1) as f64 * rate) as usize).min(total);
        let (mut weights, mut sum) = (1.0, values[mode]);
        let mut add = |ratio: f64, value: f64, term: &mut f64| {
            *term *= ratio;
            weights += *term;
            sum += *term * value;
            *term >= Self::NEGLIGIBLE
        };
        let mut term = 1.0;
        for (ratio, value) in self.ratios[mode..].iter().zip(&values[mode + 1..]) {
            if !add(ratio * odds, *value, &mut term) {
                break;
            }
        }
        term = 1.0;
        let inverse = 1.0 / odds;
        for (ratio, value) in self.ratios[total - mode..].iter().zip(values[..mode].iter().rev()) {
            if !add(ratio * inverse, *value, &mut term) {
                break;
            }
        }
        sum / weights
    }
}

/// The maximum over the rate of a mean over binomial sums of `total` trials.
///
/// In φ = arcsin √rate its features are equally wide everywhere, about 1/(2√total), so a grid even
/// in φ with a few points a feature misses none.
fn maximise(function: impl Fn(f64) -> f64, total: u32) -> f64 {
    let steps = (8.0 * f64::from(total).sqrt()).max(64.0) as usize;
    let at = |i: usize| std::f64::consts::FRAC_PI_2 * i as f64 / steps as f64;
    let function = |angle: f64| function(angle.sin().powi(2));
    let values: Vec<f64> = (0..=steps).map(|i| function(at(i))).collect();
    let best = values.iter().copied().fold(0.0, f64::max);
    // A peak can rise a little between two grid points; how much, the parabola through its
    // neighbours tells. Only the most promising are refined: with many passes the middle is flat but
    // for ripples.
    let promise = |i: usize| {
        let (left, middle, right) = (values[i.max(1) - 1], values[i], values[(i + 1).min(steps)]);
        let bend = 2.0 * middle - left - right;
        let rise = if bend > 0.0 { (left - right).powi(2) / (8.0 * bend) } else { 0.0 };
        let peak = middle >= left && middle >= right && middle + 3.0 * rise >= best;
        peak.then_some((middle + rise, i))
    };
    let mut peaks: Vec<(f64, usize)> = (0..=steps).filter_map(promise).collect();
    peaks.sort_unstable_by(|left, right| right.0.total_cmp(&left.0));
    let refined = |(_, i): &(f64, usize)| golden_section(function, at(i.saturating_sub(1)), at((i + 1).min(steps)));
    peaks.iter().take(REFINED_PEAKS).map(refined).fold(best, f64::max)
}

/// The maximum of a function with one peak between `low` and `high`.
fn golden_section(function: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut left, mut right) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut at_left, mut at_right) = (function(left), function(right));
    for _ in 0..24 {
        if at_left > at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - RATIO * (high - low);
            at_left = function(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + RATIO * (high - low);
            at_right = function(right);
        }
    }
    at_left.max(at_right)
}

#[cfg(test)]
#[allow(clippy::unreadable_literal, reason = "known answers stand as their source printed them")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values from scipy.stats.boschloo_exact(alternative="two-sided"), n = 256, confirmed by a dense grid.
    #[test]
    fn values_of_scipy() {
        let known = [
            (10, 10, 7, 10, 0.11577606201171892),
            (0, 10, 4, 10, 0.04219055175781256),
            (0, 10, 3, 10, 0.11577606201171892),
            (6, 10, 10, 10, 0.04219055175781256),
            (5, 10, 5, 10, 0.9449272155761729),
            (2, 10, 9, 10, 0.00257682800292969),
            (12, 30, 22, 30, 0.010237488579185381),
            (25, 30, 29, 30, 0.1348334760593297),
            (0, 30, 5, 30, 0.02740840750992998),
            (3, 7, 9, 10, 0.06654845447624384),
            (10, 10, 4, 9, 0.0069038927735774625),
            (1, 1, 0, 1, 0.5000000000000001),
            (1, 3, 8, 20, 0.9486816062390675),
            (14, 20, 27, 30, 0.09726129494354631),
        ];
        for (a, n, b, m, p) in known {
            let found = boschloo(Tally::new(a, n - a), Tally::new(b, m - b));
            assert!((found - p).abs() < 1e-7 * p, "{a}/{n} {b}/{m}: {found} is not {p}");
        }
    }

    fn of_ten(passed: u32) -> Tally {
        Tally::new(passed, 10 - passed)
    }

    #[test]
    fn the_smallest_significant_after_is_the_table_of_the_method() {
        let smallest = |before: u32| (before + 1..=10).find(|&after| boschloo(of_ten(before), of_ten(after)) <= 0.05);
        let found: Vec<_> = (0..=10).map(smallest).collect();
        let expected = [Some(4), Some(6), Some(7), Some(8), Some(9), Some(10), Some(10), None, None, None, None];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_wake_word_numbers_read_as_the_method_says() {
        let missed = |misses: u32| Tally::new(29 - misses, misses);
        assert!(boschloo(missed(3), missed(18)) <= 0.0015);
        assert!(boschloo(missed(18), missed(14)) > 0.05);
    }

    #[test]
    fn nothing_scored_proves_nothing() {
        assert!((boschloo(Tally::default(), of_ten(10)) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn past_a_thousand_passes_fishers_test_takes_over_without_a_jump() {
        let (just_below, just_above) =
            (boschloo(Tally::new(450, 50), Tally::new(470, 30)), boschloo(Tally::new(450, 50), Tally::new(471, 30)));
        // scipy.stats.boschloo_exact of the first
        assert!((just_below - 0.023199512210729592).abs() < 1e-9, "{just_below}");
        assert!((just_above / just_below - 1.0).abs() < 0.15, "{just_below} {just_above}");
        // scipy.stats.fisher_exact([[33000, 32900], [100, 200]], alternative="greater"), twice
        let large = boschloo(Tally::new(33_000, 100), Tally::new(32_900, 200));
        assert!((large / 7.424_462_832_790_456e-9 - 1.0).abs() < 1e-6, "{large}");
    }

    proptest! {
        #[test]
        fn it_is_a_probability_and_symmetric(a in 0_u32..=12, n in 0_u32..=12, b in 0_u32..=12, m in 0_u32..=12) {
            let (before, after) = (Tally::new(a, n), Tally::new(b, m));
            let p = boschloo(before, after);
            prop_assert!((0.0..=1.0).contains(&p));
            prop_assert!((p - boschloo(after, before)).abs() < 1e-12);
            let flipped = boschloo(Tally::new(n, a), Tally::new(m, b));
            prop_assert!((p - flipped).abs() < 1e-9, "{p} {flipped}");
        }

        #[test]
        fn no_peak_is_missed(n in 1_u32..80, m in 1_u32..80, x in 0.0_f64..=1.0, y in 0.0_f64..=1.0) {
            let (a, b) = ((x * f64::from(n)).round() as u32, (y * f64::from(m)).round() as u32);
            let (before, after) = (Tally::new(a, n - a), Tally::new(b, m - b));
            // The definition on a grid many times as dense: a lower bound, and nearly reached.
            let dense = |before: Tally, after: Tally| {
                let tails = Region::new(before.total(), after.total(), fisher(before, after)).tails(0, n + m);
                let sums = BinomialSums::new(n + m);
                let rate = |i: u32| (std::f64::consts::FRAC_PI_2 * f64::from(i) / 3000.0).sin().powi(2);
                (0..=3000).map(|i| sums.mean(&tails, rate(i))).fold(0.0, f64::max)
            };
            let expected = (2.0 * dense(before, after).min(dense(after, before))).min(1.0);
            let found = boschloo(before, after);
            prop_assert!(found >= expected - 1e-12 && found <= expected * (1.0 + 1e-4), "{found} {expected}");
        }

        #[test]
        fn a_wider_gap_is_never_less_significant(before in 0_u32..=10, after in 0_u32..10) {
            prop_assume!(after >= before);
            let (near, far) = (boschloo(of_ten(before), of_ten(after)), boschloo(of_ten(before), of_ten(after + 1)));
            prop_assert!(far <= near + 1e-12);
        }
    }
}
