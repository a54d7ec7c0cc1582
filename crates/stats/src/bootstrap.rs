//! By how much a quantity such as latency or tokens differs between two configurations.

use crate::interval::Interval;
use crate::quantile::quantile;
use crate::random::SplitMix64;

/// Resamples of an interval: its ends are then right to about a tenth of its half-width.
const RESAMPLES: usize = 1000;
/// Ranks are grouped in about this many steps, so that a resample need not look at every pass.
const STEPS: usize = 512;
/// Two shares of passes that differ by less than this are one.
const TIE: f64 = 1e-9;

/// The median after minus the median before, with a bootstrap interval over cases.
///
/// The outer index is the case, the same on both sides; the inner one its passes, of which there
/// may be any number. The median is that of all passes, each case counting the same however many
/// passes it has. Passes of one case resemble each other, so a resample draws CASES, with
/// replacement, and keeps each one's passes before and after together (the cluster bootstrap); the
/// interval holds the middle `confidence` of 1,000 such differences. The same seed gives the same
/// interval.
///
/// Cases without a finite value on both sides are left out; `None` when none is left. With fewer
/// than about ten cases the interval is too narrow to lean on. 100,000 passes a side take about 30 ms.
pub fn median_difference(
    before: &[Vec<f64>],
    after: &[Vec<f64>],
    confidence: f64,
    seed: u64,
) -> Option<(f64, Interval)> {
    let cases = paired(before, after);
    let sides = [Ranked::new(cases.iter().map(|case| case.0)), Ranked::new(cases.iter().map(|case| case.1))];
    let difference = |weights: &[f64]| sides[1].median(weights) - sides[0].median(weights);
    resampled(cases.len(), confidence, seed, difference)
}

/// The mean after minus the mean before, each case counting the same, with a bootstrap interval
/// over cases. Shapes, seed and exceptions as in [`median_difference`].
pub fn mean_difference(before: &[Vec<f64>], after: &[Vec<f64>], confidence: f64, seed: u64) -> Option<(f64, Interval)> {
    let cases = paired(before, after);
    let moves: Vec<f64> = cases.iter().map(|(before, after)| mean(after) - mean(before)).collect();
    let difference = |weights: &[f64]| {
        let weighted: f64 = moves.iter().zip(weights).map(|(difference, weight)| difference * weight).sum();
        weighted / weights.iter().sum::<f64>()
    };
    resampled(cases.len(), confidence, seed, difference)
}

/// The cases that were measured on both sides.
fn paired<'a>(before: &'a [Vec<f64>], after: &'a [Vec<f64>]) -> Vec<(&'a [f64], &'a [f64])> {
    let measured = |values: &[f64]| values.iter().any(|value| value.is_finite());
    let both = before.iter().zip(after).filter(|(before, after)| measured(before) && measured(after));
    both.map(|(before, after)| (before.as_slice(), after.as_slice())).collect()
}

fn finite(values: &[f64]) -> impl Iterator<Item = f64> + Clone {
    values.iter().copied().filter(|value| value.is_finite())
}

fn mean(values: &[f64]) -> f64 {
    finite(values).sum::<f64>() / finite(values).count() as f64
}

/// The estimate with every case once, and the percentiles over resamples of the cases.
fn resampled(cases: usize, confidence: f64, seed: u64, difference: impl Fn(&[f64]) -> f64) -> Option<(f64, Interval)> {
    if cases == 0 {
        return None;
    }
    let estimate = difference(&vec![1.0; cases]);
    let mut random = SplitMix64::new(seed);
    let mut weights = vec![0.0; cases];
    let mut differences: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            weights.fill(0.0);
            for _ in 0..cases {
                weights[random.below(cases)] += 1.0;
            }
            difference(&weights)
        })
        .collect();
    differences.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
    Some((estimate, Interval { low: quantile(&differences, tail)?, high: quantile(&differences, 1.0 - tail)? }))
}

/// The values of one side in ascending order, prepared for weighted medians.
struct Ranked {
    /// Value and case.
    values: Vec<(f64, u32)>,
    /// The share that one pass has in its case.
    shares: Vec<f64>,
    /// Values in a step.
    step: usize,
    /// For each step, the share of each case that lies below it; then one last step with everything.
    below: Vec<f64>,
}

impl Ranked {
    fn new<'a>(cases: impl Iterator<Item = &'a [f64]>) -> Self {
        let mut values = Vec::new();
        let mut shares = Vec::new();
        for (case, passes) in cases.enumerate() {
            let start = values.len();
            values.extend(finite(passes).map(|value| (value, case as u32)));
            shares.push(1.0 / (values.len() - start) as f64);
        }
        values.sort_unstable_by(|left, right| left.0.total_cmp(&right.0));
        let step = values.len().div_ceil(STEPS).max(1);
        let mut below = Vec::with_capacity((values.len() / step + 2) * shares.len());
        let mut so_far = vec![0.0; shares.len()];
        for chunk in values.chunks(step) {
            below.extend_from_slice(&so_far);
            for (_, case) in chunk {
                so_far[*case as usize] += shares[*case as usize];
            }
        }
        below.extend_from_slice(&so_far);
        Self { values, shares, step, below }
    }

    /// The median when each case counts with its weight.
    fn median(&self, weights: &[f64]) -> f64 {
        let half = weights.iter().sum::<f64>() / 2.0;
        let lower = self.first_reaching(weights, half - TIE);
        // Where exactly half lies at or below a value, the median is halfway to the next one.
        let upper = self.first_reaching(weights, half + TIE);
        f64::midpoint(lower, upper)
    }

    /// The smallest value at or below which more than `share` of the weight lies.
    fn first_reaching(&self, weights: &[f64], share: f64) -> f64 {
        let cases = self.shares.len();
        let below = |step: usize| -> f64 {
            let row = &self.below[step * cases..(step + 1) * cases];
            row.iter().zip(weights).map(|(below, weight)| below * weight).sum()
        };
        // The last step that starts with no more than the share below it.
        let (mut low, mut high) = (0, self.below.len() / cases - 1);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if below(middle) <= share { low = middle } else { high = middle }
        }
        let mut reached = below(low);
        let first = low * self.step;
        for (value, case) in &self.values[first..] {
            reached += self.shares[*case as usize] * weights[*case as usize];
            if reached > share {
                return *value;
            }
        }
        self.values.last().map_or(f64::NAN, |last| last.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain_median(cases: &[Vec<f64>]) -> f64 {
        let mut all: Vec<f64> = cases.concat();
        all.sort_by(f64::total_cmp);
        quantile(&all, 0.5).unwrap()
    }

    #[test]
    fn a_slowdown_of_every_pass_is_found_and_repeats_with_its_seed() {
        let before: Vec<Vec<f64>> =
            (0..30).map(|case| (0..10).map(|pass| f64::from(100 * case + pass)).collect()).collect();
        let after: Vec<Vec<f64>> = before.iter().map(|case| case.iter().map(|value| value + 7.0).collect()).collect();
        let (estimate, interval) = median_difference(&before, &after, 0.95, 1).unwrap();
        // The same cases are drawn on both sides, so the difference between cases cancels.
        assert!((estimate - 7.0).abs() < 1e-9 && (interval.low - 7.0).abs() < 1e-9, "{estimate} {interval:?}");
        assert_eq!(median_difference(&before, &after, 0.95, 1), Some((estimate, interval)));
        let (mean, interval) = mean_difference(&before, &after, 0.95, 1).unwrap();
        assert!((mean - 7.0).abs() < 1e-9 && interval.width() < 1e-9);
    }

    #[test]
    fn a_case_with_more_passes_counts_no_more() {
        let before = [vec![1.0; 3], vec![2.0; 3], vec![3.0; 3]];
        let after = [vec![1.0; 90], vec![2.0; 3], vec![3.0; 3]];
        let (estimate, _) = median_difference(&before, &after, 0.95, 1).unwrap();
        assert!(estimate.abs() < 1e-12, "{estimate}");
        assert!(mean_difference(&before, &after, 0.95, 1).unwrap().0.abs() < 1e-12);
    }

    #[test]
    fn cases_without_a_partner_or_a_number_are_left_out() {
        let before = [vec![1.0, 3.0], vec![], vec![f64::NAN], vec![5.0]];
        let after = [vec![2.0, 4.0, f64::INFINITY], vec![9.0], vec![9.0]];
        assert!((median_difference(&before, &after, 0.95, 1).unwrap().0 - 1.0).abs() < 1e-12);
        assert_eq!(median_difference(&before[1..3], &after[1..], 0.95, 1), None);
        assert_eq!(mean_difference(&[], &[], 0.95, 1), None);
    }

    proptest! {
        #[test]
        fn with_equal_passes_it_is_the_plain_median(
            cases in prop::collection::vec(prop::collection::vec(0_u32..50, 6), 1..12),
            shift in 0_u32..20,
        ) {
            // Few distinct values, so that ties are everywhere.
            let before: Vec<Vec<f64>> = cases.iter().map(|case| case.iter().map(|v| f64::from(*v)).collect()).collect();
            let after: Vec<Vec<f64>> = before.iter().rev().map(|case| case.iter().map(|v| v * v + f64::from(shift)).collect()).collect();
            let (estimate, interval) = median_difference(&before, &after, 0.95, 5).unwrap();
            prop_assert!((estimate - (plain_median(&after) - plain_median(&before))).abs() < 1e-9);
            prop_assert!(interval.low <= interval.high);
        }

        #[test]
        fn a_resample_is_the_median_of_its_cases_written_out(
            cases in prop::collection::vec(prop::collection::vec(0.0_f64..100.0, 40), 20..40),
            seed in any::<u64>(),
        ) {
            // Enough values for several steps.
            let ranked = Ranked::new(cases.iter().map(Vec::as_slice));
            prop_assert!(ranked.step > 1);
            let (mut random, mut weights, mut drawn) = (SplitMix64::new(seed), vec![0.0; cases.len()], Vec::new());
            for _ in 0..cases.len() {
                let case = random.below(cases.len());
                weights[case] += 1.0;
                drawn.push(cases[case].clone());
            }
            prop_assert!((ranked.median(&weights) - plain_median(&drawn)).abs() < 1e-9);
        }
    }
}
