//! By how much two configurations differ: on these cases, and on cases not written yet.

use std::collections::BTreeMap;

use crate::interval::{Interval, score_interval};
use crate::special::{normal_critical, t_critical};
use crate::tally::{Pair, Tally};

/// Critical values for 80 % power of a two-sided test at 5 %: 1.96 + 0.84.
const DETECTABLE: f64 = 1.959_963_984_540_054 + 0.841_621_233_572_914_3;

/// The mean difference over the cases at hand, which are the population (question 1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delta {
    /// Cases scored on both sides; the others are left out.
    pub cases: usize,
    /// Mean over cases of the rate before.
    pub before: f64,
    /// Mean over cases of the rate after.
    pub after: f64,
    /// After minus before.
    pub estimate: f64,
    /// Standard error of the estimate, from the spread of passes within each case.
    pub standard_error: f64,
    /// 95 % interval.
    pub interval_95: Interval,
    /// 90 % interval, for the test of equivalence.
    pub interval_90: Interval,
    /// Passes a case, the harmonic mean over cases and sides.
    pub passes: f64,
}

impl Delta {
    /// The smallest difference that data like these detect with 80 % power at the 5 % level.
    pub fn smallest_detectable(&self) -> f64 {
        // The interval, unlike the plug-in error, is honest when every case passed always.
        DETECTABLE * (self.interval_95.width() / (2.0 * normal_critical(0.95)))
    }
}

/// Δ̂ = mean of (rate after − rate before). `None` when no case is scored on both sides.
///
/// SE² = (1/J²) Σ [p̂A(1 − p̂A)/(KA − 1) + p̂B(1 − p̂B)/(KB − 1)]. The interval is not Δ̂ ± z·SE,
/// which has no width when every case always passed: each side gets a score interval with that
/// variance, and both are combined as in Newcombe's method 10 (Statistics in Medicine 17, 1998).
/// With many cases the two agree.
pub fn delta(pairs: &[Pair]) -> Option<Delta> {
    let scored: Vec<&Pair> = pairs.iter().filter(|pair| !pair.before.is_empty() && !pair.after.is_empty()).collect();
    let before = Side::of(scored.iter().map(|pair| pair.before))?;
    let after = Side::of(scored.iter().map(|pair| pair.after))?;
    let estimate = after.mean - before.mean;
    let interval = |confidence: f64| {
        let z = normal_critical(confidence);
        let (a, b) = (before.interval(z), after.interval(z));
        Interval {
            low: (estimate - (after.mean - b.low).hypot(a.high - before.mean)).max(-1.0),
            high: (estimate + (b.high - after.mean).hypot(before.mean - a.low)).min(1.0),
        }
    };
    Some(Delta {
        cases: scored.len(),
        before: before.mean,
        after: after.mean,
        estimate,
        standard_error: (before.variance + after.variance).sqrt(),
        interval_95: interval(0.95),
        interval_90: interval(0.90),
        passes: 2.0 / (1.0 / before.passes + 1.0 / after.passes) / scored.len() as f64,
    })
}

/// The mean rate over cases on one side.
struct Side {
    mean: f64,
    /// Sampling variance of the mean.
    variance: f64,
    /// Effective passes in all: J² / Σ 1/K, which is the plain total when K is the same everywhere.
    passes: f64,
}

impl Side {
    fn of(tallies: impl Iterator<Item = Tally> + Clone) -> Option<Self> {
        let rates: Vec<f64> = tallies.clone().filter_map(Tally::rate).collect();
        let cases = rates.len() as f64;
        if rates.is_empty() {
            return None;
        }
        let mean = rates.iter().sum::<f64>() / cases;
        let variances = tallies.clone().zip(&rates).map(|(tally, rate)| {
            if tally.total() > 1 {
                rate * (1.0 - rate) / (f64::from(tally.total()) - 1.0)
            } else {
                // One pass says nothing about its own spread: the pooled variance is an upper bound.
                mean * (1.0 - mean)
            }
        });
        let variance = variances.sum::<f64>() / (cases * cases);
        let inverse: f64 = tallies.map(|tally| 1.0 / f64::from(tally.total())).sum();
        Some(Self { mean, variance, passes: cases * cases / inverse })
    }

    fn interval(&self, z: f64) -> Interval {
        score_interval(self.mean, self.variance, self.passes, z)
    }
}

/// The mean difference seen as a sample from all the cases one could write (question 2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Generalisation {
    /// Cases scored on both sides.
    pub cases: usize,
    /// Families among them.
    pub clusters: usize,
    /// Mean difference.
    pub estimate: f64,
    /// Standard error, clustered by family when a family holds more than one case.
    pub standard_error: f64,
    /// Degrees of freedom of the t distribution.
    pub degrees_of_freedom: usize,
    /// 95 % interval.
    pub interval_95: Interval,
}

/// The t interval of question 2: SE = √[Σ(d − d̄)²/(J(J − 1))] over independent cases, and
/// √[C/(C − 1)·Σ_c(Σ_{j∈c}(d_j − d̄))²]/J with C − 1 degrees of freedom over families
/// (arXiv 2411.00640 with the finite-cluster factor).
///
/// `None` with fewer than two families, or when every case moved by the same amount: then the
/// data say nothing about how much another case would differ.
pub fn generalise(pairs: &[Pair]) -> Option<Generalisation> {
    let moves: Vec<(usize, f64)> = pairs.iter().filter_map(|pair| Some((pair.cluster, pair.difference()?))).collect();
    let cases = moves.len() as f64;
    if moves.is_empty() {
        return None;
    }
    let estimate = moves.iter().map(|(_, d)| d).sum::<f64>() / cases;
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    for (cluster, d) in &moves {
        *sums.entry(*cluster).or_default() += d - estimate;
    }
    let clusters = sums.len() as f64;
    if sums.len() < 2 {
        return None;
    }
    // With one case a family this is the formula for independent cases.
    let squares: f64 = sums.values().map(|sum| sum * sum).sum();
    let standard_error = (clusters / (clusters - 1.0) * squares).sqrt() / cases;
    if standard_error < 1e-12 {
        return None;
    }
    let half = t_critical(clusters - 1.0, 0.95) * standard_error;
    Some(Generalisation {
        cases: moves.len(),
        clusters: sums.len(),
        estimate,
        standard_error,
        degrees_of_freedom: sums.len() - 1,
        interval_95: Interval { low: (estimate - half).max(-1.0), high: (estimate + half).min(1.0) },
    })
}

#[cfg(test)]
#[allow(clippy::unreadable_literal, reason = "known answers stand as their source printed them")]
mod tests {
    use super::*;
    use crate::interval::wilson;
    use proptest::prelude::*;

    /// The standard error by numpy, question 2 by statsmodels OLS on a constant, plain and with clustered errors.
    #[test]
    fn values_of_numpy_and_statsmodels() {
        let mut pairs = of_ten(&[(3, 7), (10, 10), (5, 6), (0, 2), (9, 8), (4, 9), (6, 6), (2, 5)]);
        let found = delta(&pairs).unwrap();
        assert!((found.estimate - 0.175).abs() < 1e-12);
        assert!((found.standard_error - 0.06640573937712178).abs() < 1e-12);
        let check = |pairs: &[Pair], error: f64, low: f64, high: f64| {
            let found = generalise(pairs).unwrap();
            assert!((found.standard_error - error).abs() < 1e-12, "{found:?}");
            assert!((found.interval_95.low - low).abs() < 1e-10, "{found:?}");
            assert!((found.interval_95.high - high).abs() < 1e-10, "{found:?}");
        };
        check(&pairs, 0.07499999999999998, -0.0023468188694588388, 0.35234681886945873);
        for (pair, cluster) in pairs.iter_mut().zip([0, 0, 1, 1, 2, 2, 2, 3]) {
            pair.cluster = cluster;
        }
        check(&pairs, 0.027481054079735227, 0.0875430209786448, 0.26245697902135506);
    }

    fn of_ten(cells: &[(u32, u32)]) -> Vec<Pair> {
        cells
            .iter()
            .enumerate()
            .map(|(i, &(a, b))| Pair::new(Tally::new(a, 10 - a), Tally::new(b, 10 - b)).in_cluster(i))
            .collect()
    }

    #[test]
    fn always_passing_has_an_interval_with_a_width() {
        let found = delta(&of_ten(&[(10, 10); 30])).unwrap();
        assert!(found.standard_error.abs() < 1e-15 && found.estimate.abs() < 1e-15);
        // 300 of 300 on both sides is Wilson's 0.9873 to 1 on both sides.
        let side = wilson(Tally::new(300, 0), 0.95);
        assert!((found.interval_95.high - (1.0 - side.low)).abs() < 1e-12);
        assert!((found.interval_95.low + found.interval_95.high).abs() < 1e-12);
    }

    #[test]
    fn the_detectable_difference_is_the_one_of_the_method() {
        // J = 30 cases of ten passes, rates spread as in practice: 0.08 to 0.10.
        let spread = [(10, 10), (10, 9), (8, 8), (6, 7), (9, 9), (5, 5), (10, 10), (2, 3), (7, 8), (1, 1)];
        let thirty: Vec<_> = spread.iter().cycle().take(30).copied().collect();
        let smallest = delta(&of_ten(&thirty)).unwrap().smallest_detectable();
        assert!((0.08..0.10).contains(&smallest), "{smallest}");
    }

    #[test]
    fn cases_without_a_partner_are_left_out() {
        let mut pairs = of_ten(&[(5, 6), (7, 9)]);
        let whole = delta(&pairs);
        pairs.push(Pair::new(Tally::new(10, 0), Tally::default()).in_cluster(9));
        assert_eq!(delta(&pairs), whole);
        assert_eq!(generalise(&pairs).map(|found| found.cases), Some(2));
        assert_eq!(delta(&pairs[2..]), None);
    }

    #[test]
    fn one_family_cannot_speak_for_others() {
        let pairs: Vec<_> = of_ten(&[(5, 6), (7, 9)]).into_iter().map(|pair| pair.in_cluster(3)).collect();
        assert_eq!(generalise(&pairs), None);
        assert_eq!(generalise(&of_ten(&[(5, 6), (7, 8)])), None, "equal moves have no spread");
    }

    fn cells() -> impl Strategy<Value = Vec<(u32, u32)>> {
        prop::collection::vec((0_u32..=10, 0_u32..=10), 2..40)
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_estimate_and_has_a_width(cells in cells()) {
            let found = delta(&of_ten(&cells)).unwrap();
            prop_assert!(found.interval_95.contains(found.estimate) && found.interval_95.width() > 0.0);
            prop_assert!(found.interval_90.width() < found.interval_95.width());
            prop_assert!(found.interval_95.low >= -1.0 && found.interval_95.high <= 1.0);
            prop_assert!((found.passes - 10.0).abs() < 1e-9);
        }

        #[test]
        fn swapping_the_sides_mirrors(cells in cells()) {
            let there = delta(&of_ten(&cells)).unwrap();
            let back: Vec<_> = cells.iter().map(|&(a, b)| (b, a)).collect();
            let back = delta(&of_ten(&back)).unwrap();
            prop_assert!((there.interval_95.low + back.interval_95.high).abs() < 1e-9);
            prop_assert!((there.standard_error - back.standard_error).abs() < 1e-12);
        }

        #[test]
        fn merging_two_families_keeps_the_estimate(cells in cells()) {
            let apart = of_ten(&cells);
            let merged: Vec<_> = apart.iter().map(|pair| pair.in_cluster(pair.cluster / 2)).collect();
            if let (Some(apart), Some(merged)) = (generalise(&apart), generalise(&merged)) {
                prop_assert!((apart.estimate - merged.estimate).abs() < 1e-12);
                prop_assert!(merged.clusters < apart.clusters);
            }
        }
    }
}
