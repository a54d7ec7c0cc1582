//! What repeated passes say: reliability, and how many observations they really are.

use crate::interval::Interval;
use crate::quantile::quantile;
use crate::random::SplitMix64;
use crate::special::ln_choose;
use crate::tally::Tally;

/// How the passes of one configuration came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// Temperature above 0 and a seed of its own per pass: equal outputs are still separate draws.
    Independent,
    /// Temperature 0 or one shared seed: an output that repeats is the same observation again.
    Deterministic,
}

/// The tally that counts as evidence, out of `all` passes of one case whose distinct outputs gave
/// `distinct` (one verdict each). Ten identical outputs of a deterministic model are one.
pub fn effective(all: Tally, distinct: Tally, sampling: Sampling) -> Tally {
    match sampling {
        Sampling::Deterministic if distinct.total() < all.total() => distinct,
        Sampling::Deterministic | Sampling::Independent => all,
    }
}

/// pass^k: the mean chance that k passes drawn from a case's passes ALL succeed,
/// C(y, k)/C(K, k). Cases with fewer than k passes are left out; `None` when all are.
pub fn pass_hat_k(tallies: &[Tally], k: u32) -> Option<f64> {
    mean(&per_case(tallies, k, Tally::passed))
}

/// pass@k: the mean chance that AT LEAST ONE of k passes succeeds, 1 − C(K − y, k)/C(K, k).
pub fn pass_at_k(tallies: &[Tally], k: u32) -> Option<f64> {
    mean(&per_case(tallies, k, Tally::failed)).map(|none| 1.0 - none)
}

fn per_case(tallies: &[Tally], k: u32, count: fn(Tally) -> u32) -> Vec<f64> {
    tallies
        .iter()
        .filter(|tally| tally.total() >= k.max(1))
        .map(|tally| ratio_of_choices(count(*tally), tally.total(), k))
        .collect()
}

/// C(some, k)/C(all, k).
fn ratio_of_choices(some: u32, all: u32, k: u32) -> f64 {
    /// Up to here factor by factor, which rounds least.
    const FACTORS: u32 = 100;
    if k > some {
        0.0
    } else if k <= FACTORS {
        (0..k).map(|i| f64::from(some - i) / f64::from(all - i)).product()
    } else {
        (ln_choose(some, k) - ln_choose(all, k)).exp().min(1.0)
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The percentile bootstrap interval of a mean over cases; the same seed gives the same interval.
/// `None` without values or resamples.
pub fn bootstrap_mean(values: &[f64], resamples: usize, seed: u64, confidence: f64) -> Option<Interval> {
    if values.is_empty() || resamples == 0 {
        return None;
    }
    let mut random = SplitMix64::new(seed);
    let mut draw = || values[random.below(values.len())];
    let mut means: Vec<f64> =
        (0..resamples).map(|_| (0..values.len()).map(|_| draw()).sum::<f64>() / values.len() as f64).collect();
    means.sort_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    Some(Interval { low: quantile(&means, tail)?, high: quantile(&means, 1.0 - tail)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ten_identical_outputs_of_a_deterministic_model_are_one_observation() {
        let (all, one) = (Tally::new(10, 0), Tally::new(1, 0));
        assert_eq!(effective(all, one, Sampling::Deterministic), one);
        assert_eq!(effective(all, one, Sampling::Independent), all);
    }

    #[test]
    fn reliability_of_a_small_example() {
        // C(4,3)/C(5,3) = 4/10; C(5,3)/C(5,3) = 1; C(1,3) = 0 and 1 − C(4,3)/C(5,3) = 6/10.
        let tallies = [Tally::new(4, 1), Tally::new(5, 0), Tally::new(1, 4)];
        assert!((pass_hat_k(&tallies, 3).unwrap() - 1.4 / 3.0).abs() < 1e-12);
        assert!((pass_at_k(&tallies, 3).unwrap() - 2.6 / 3.0).abs() < 1e-12);
        assert_eq!(pass_hat_k(&tallies, 6), None);
    }

    #[test]
    fn long_rows_of_passes_are_worked_out_in_logarithms() {
        let tallies = [Tally::new(900, 100)];
        let direct: f64 = (0..150_u32).map(|i| f64::from(900 - i) / f64::from(1000 - i)).product();
        assert!((pass_hat_k(&tallies, 150).unwrap() / direct - 1.0).abs() < 1e-9);
        assert!((pass_hat_k(&[Tally::new(7, 3)], 3).unwrap() - 35.0 / 120.0).abs() < 1e-15);
    }

    #[test]
    fn the_bootstrap_agrees_with_the_normal_interval_of_a_large_sample() {
        // 200 values, half 0 and half 1: standard error of the mean 0.03536, so ±0.0693.
        let values: Vec<f64> = (0..200).map(|i| f64::from(i % 2)).collect();
        let found = bootstrap_mean(&values, 4000, 1, 0.95).unwrap();
        assert!((found.low - 0.4307).abs() < 0.01 && (found.high - 0.5693).abs() < 0.01, "{found:?}");
        assert_eq!(bootstrap_mean(&values, 4000, 1, 0.95), Some(found));
        assert_eq!(bootstrap_mean(&[], 10, 1, 0.95), None);
    }

    proptest! {
        #[test]
        fn reliability_falls_and_coverage_rises_with_k(
            cells in prop::collection::vec((0_u32..=10, 0_u32..=10), 1..20), k in 1_u32..10
        ) {
            let tallies: Vec<_> = cells.iter().map(|&(y, n)| Tally::new(y.min(n + 10), 10)).collect();
            let (all, any) = (pass_hat_k(&tallies, k).unwrap(), pass_at_k(&tallies, k).unwrap());
            prop_assert!(all <= any + 1e-12 && (0.0..=1.0).contains(&all) && (-1e-12..=1.0).contains(&any));
            prop_assert!(pass_hat_k(&tallies, k + 1).unwrap() <= all + 1e-12);
            prop_assert!(pass_at_k(&tallies, k + 1).unwrap() >= any - 1e-12);
        }

        #[test]
        fn with_one_draw_both_are_the_mean_rate(cells in prop::collection::vec((0_u32..=10, 0_u32..=10), 1..20)) {
            let tallies: Vec<_> = cells.iter().map(|&(y, n)| Tally::new(y, n + 1)).collect();
            let rate = tallies.iter().filter_map(|t| t.rate()).sum::<f64>() / tallies.len() as f64;
            prop_assert!((pass_hat_k(&tallies, 1).unwrap() - rate).abs() < 1e-10);
            prop_assert!((pass_at_k(&tallies, 1).unwrap() - rate).abs() < 1e-10);
        }
    }
}
