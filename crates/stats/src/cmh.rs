//! Two configurations over the same cases: the stratified test of Cochran, Mantel and Haenszel.
//!
//! It pools the evidence within cases, so a hard case is compared with itself only.

use crate::hypergeometric::Hypergeometric;
use crate::special::normal_sf;
use crate::tally::Pair;

/// The asymptotic test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cmh {
    /// The statistic, about standard normal when nothing changed; positive when "after" is better.
    pub z: f64,
    /// Two-sided p-value, without continuity correction.
    pub p: f64,
}

/// The asymptotic test. `None` when no case can tell the two apart, because every case passed or
/// failed always, or has no scored pass on one side.
pub fn cmh(pairs: &[Pair]) -> Option<Cmh> {
    let (mut excess, mut variance) = (0.0, 0.0);
    for pair in informative(pairs) {
        let (mean, spread) = Hypergeometric::moments(pair.before, pair.after);
        excess += f64::from(pair.after.passed()) - mean;
        variance += spread;
    }
    (variance > 0.0).then(|| {
        let z = excess / variance.sqrt();
        Cmh { z, p: (2.0 * normal_sf(z.abs())).min(1.0) }
    })
}

/// The exact two-sided p-value: the share of all shufflings of the labels within each case that
/// move the total of successes at least as far from its mean as observed.
///
/// No sampling: the distribution of the total is the convolution of one hypergeometric
/// distribution per case. Its tails are cut where they hold less than 1e-20, so the result is
/// exact to about 1e-15. 1 when no case can tell the two apart.
pub fn cmh_exact(pairs: &[Pair]) -> f64 {
    let (mut observed, mut mean) = (0_i64, 0.0);
    let mut parts = Vec::new();
    for pair in informative(pairs) {
        observed += i64::from(pair.after.passed());
        mean += Hypergeometric::moments(pair.before, pair.after).0;
        let successes = pair.before.passed() + pair.after.passed();
        parts.push(Distribution::of(Hypergeometric::new(pair.before.total(), pair.after.total(), successes)));
    }
    // Two and two: narrow distributions are cheap to convolve.
    while parts.len() > 1 {
        parts = parts.chunks(2).map(Distribution::sum).collect();
    }
    let Some(total) = parts.pop() else { return 1.0 };
    let distance = (observed as f64 - mean).abs();
    let tail: f64 = (total.first..)
        .zip(&total.weights)
        .filter(|(value, _)| (*value as f64 - mean).abs() >= distance - 1e-7)
        .fold(0.0, |tail, (_, weight)| tail + weight);
    tail.clamp(0.0, 1.0)
}

/// Cases scored on both sides, whose successes can be split in more than one way.
fn informative(pairs: &[Pair]) -> impl Iterator<Item = &Pair> {
    pairs.iter().filter(|pair| {
        let both = pair.before.plus(pair.after);
        !pair.before.is_empty() && !pair.after.is_empty() && both.passed() > 0 && both.failed() > 0
    })
}

/// A distribution over consecutive whole numbers.
#[derive(Clone)]
struct Distribution {
    first: i64,
    weights: Vec<f64>,
}

impl Distribution {
    const NEGLIGIBLE: f64 = 1e-20;

    /// Of hundreds of possible splits of one case, only those near its mean have weight.
    fn of(splits: Hypergeometric) -> Self {
        let mut all = Self { first: i64::from(splits.first), weights: splits.weights };
        all.trim();
        all
    }

    /// The distribution of the sum of one or two independent numbers.
    fn sum(parts: &[Self]) -> Self {
        let [left, right] = parts else { return parts[0].clone() };
        let (short, long) = if left.weights.len() < right.weights.len() { (left, right) } else { (right, left) };
        let mut weights = vec![0.0; short.weights.len() + long.weights.len() - 1];
        for (i, factor) in short.weights.iter().enumerate() {
            for (cell, weight) in weights[i..].iter_mut().zip(&long.weights) {
                *cell += factor * weight;
            }
        }
        let mut sum = Self { first: left.first + right.first, weights };
        sum.trim();
        sum
    }

    /// Cuts tails that cannot matter, so that the work grows with the spread, not the range.
    fn trim(&mut self) {
        let negligible = |weights: &mut dyn Iterator<Item = &f64>| {
            let mut mass = 0.0;
            weights
                .take_while(|weight| {
                    mass += **weight;
                    mass < Self::NEGLIGIBLE
                })
                .count()
        };
        let back = negligible(&mut self.weights.iter().rev());
        self.weights.truncate(self.weights.len() - back);
        let front = negligible(&mut self.weights.iter());
        self.weights.drain(..front);
        self.first += front as i64;
    }
}

#[cfg(test)]
#[allow(clippy::unreadable_literal, reason = "known answers stand as their source printed them")]
mod tests {
    use super::*;
    use crate::special::ln_choose;
    use crate::tally::Tally;
    use proptest::prelude::*;

    /// z² and p from statsmodels.stats.contingency_tables.StratifiedTable.test_null_odds, the exact p from a
    /// convolution in exact rational numbers; with one case it is also scipy.stats.fisher_exact.
    #[test]
    fn values_of_statsmodels_and_of_rational_arithmetic() {
        let known = [
            (vec![(3, 10, 7, 10)], 3.0399999999999996, 0.08123591708598532, 0.17889540799757517),
            (
                vec![(3, 10, 7, 10), (10, 10, 10, 10), (5, 10, 6, 10), (0, 10, 2, 10)],
                3.9617021276595747,
                0.04654661430467644,
                0.08372226590884028,
            ),
            (
                vec![(7, 10, 9, 9), (2, 8, 5, 10), (4, 10, 4, 10)],
                2.1047650052960654,
                0.1468409004155966,
                0.1624850240624829,
            ),
            (
                vec![
                    (10, 10, 6, 10),
                    (7, 10, 9, 10),
                    (6, 10, 8, 10),
                    (9, 10, 2, 10),
                    (0, 10, 3, 10),
                    (3, 10, 9, 10),
                    (10, 10, 0, 10),
                    (5, 10, 9, 10),
                    (1, 10, 8, 10),
                    (1, 10, 5, 10),
                    (8, 10, 3, 10),
                    (3, 10, 3, 10),
                ],
                0.0753968253968254,
                0.7836352272681651,
                0.8906463616305396,
            ),
            (
                (0..60).map(|i| (i * 7 % 11, 10, (i * 7 % 11 + u32::from(i % 3 == 0)).min(10), 10)).collect(),
                1.7301854974704889,
                0.1883872095482907,
                0.21384879412004715,
            ),
        ];
        for (cells, square, p, exact) in known {
            let pairs = pairs(&cells);
            let found = cmh(&pairs).unwrap();
            assert!((found.z * found.z - square).abs() < 1e-10 * square.max(1e-3), "{found:?} {square}");
            assert!((found.p - p).abs() < 1e-11, "{found:?} {p}");
            assert!((cmh_exact(&pairs) - exact).abs() < 1e-12, "{} {exact}", cmh_exact(&pairs));
        }
    }

    fn pairs(cells: &[(u32, u32, u32, u32)]) -> Vec<Pair> {
        cells.iter().map(|&(a, n, b, m)| Pair::new(Tally::new(a, n - a), Tally::new(b, m - b))).collect()
    }

    #[test]
    fn cases_that_cannot_tell_are_no_evidence() {
        let always = pairs(&[(10, 10, 10, 10), (0, 10, 0, 10), (0, 0, 5, 10)]);
        assert_eq!(cmh(&always), None);
        assert!((cmh_exact(&always) - 1.0).abs() < 1e-15);
        assert!((cmh_exact(&[]) - 1.0).abs() < 1e-15);
    }

    /// Every way to choose, per case, how many successes fall to "after": no convolution.
    fn enumerated(cells: &[(u32, u32, u32, u32)]) -> f64 {
        let mean: f64 = cells.iter().map(|&(a, n, b, m)| f64::from((a + b) * m) / f64::from(n + m)).sum();
        let observed: u32 = cells.iter().map(|cell| cell.2).sum();
        let distance = (f64::from(observed) - mean).abs();
        let mut totals = vec![(0_u32, 1.0_f64)];
        for &(a, n, b, m) in cells {
            totals = totals
                .iter()
                .flat_map(|&(sum, weight)| {
                    (0..=m.min(a + b)).filter(move |k| a + b - k <= n).map(move |k| {
                        let ln = ln_choose(m, k) + ln_choose(n, a + b - k) - ln_choose(n + m, a + b);
                        (sum + k, weight * ln.exp())
                    })
                })
                .collect();
        }
        totals.iter().filter(|(sum, _)| (f64::from(*sum) - mean).abs() >= distance - 1e-9).map(|(_, w)| w).sum()
    }

    fn cell() -> impl Strategy<Value = (u32, u32, u32, u32)> {
        (1_u32..=6, 1_u32..=6).prop_flat_map(|(n, m)| (0..=n, Just(n), 0..=m, Just(m)))
    }

    proptest! {
        #[test]
        fn convolution_equals_enumeration(cells in prop::collection::vec(cell(), 1..5)) {
            let (fast, slow) = (cmh_exact(&pairs(&cells)), enumerated(&cells));
            prop_assert!((fast - slow).abs() < 1e-10, "{fast} {slow}");
        }

        #[test]
        fn swapping_the_sides_changes_only_the_sign(cells in prop::collection::vec(cell(), 1..20)) {
            let there = pairs(&cells);
            let back: Vec<_> = there.iter().map(|pair| Pair::new(pair.after, pair.before)).collect();
            prop_assert!((cmh_exact(&there) - cmh_exact(&back)).abs() < 1e-10);
            match (cmh(&there), cmh(&back)) {
                (Some(there), Some(back)) => prop_assert!((there.z + back.z).abs() < 1e-9),
                (there, back) => prop_assert_eq!(there, back),
            }
        }

        #[test]
        fn with_many_cases_both_versions_agree(cells in prop::collection::vec((0_u32..=10, 0_u32..=10), 60..80)) {
            let cells: Vec<_> = cells.into_iter().map(|(a, b)| (a, 10, b, 10)).collect();
            let pairs = pairs(&cells);
            // The exact p includes the whole observed step, so it is a little larger.
            let (exact, asymptotic) = (cmh_exact(&pairs), cmh(&pairs).unwrap().p);
            prop_assert!(exact >= asymptotic - 0.01 && exact <= asymptotic + 0.06, "{exact} {asymptotic}");
        }
    }
}
