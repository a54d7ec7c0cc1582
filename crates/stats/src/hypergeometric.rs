//! The distribution of successes on one side, given both margins: what shuffling labels produces.

use crate::tally::Tally;

/// P(successes after = `first` + i | both margins), for every possible value.
pub(crate) struct Hypergeometric {
    /// The smallest possible number of successes after.
    pub(crate) first: u32,
    /// One probability per possible number; they sum to 1.
    pub(crate) weights: Vec<f64>,
}

impl Hypergeometric {
    /// `successes` in all, among `before` and `after` passes.
    pub(crate) fn new(before: u32, after: u32, successes: u32) -> Self {
        let first = successes.saturating_sub(before);
        let last = successes.min(after);
        // From the mode outwards by the ratio of neighbours: nothing overflows, and what underflows
        // is too small to matter.
        let [n, m, s] = [before, after, successes].map(f64::from);
        let ratio = |k: u32| {
            let k = f64::from(k);
            (m - k) * (s - k) / ((k + 1.0) * (n - s + k + 1.0))
        };
        let mode = ((s + 1.0) * (m + 1.0) / (n + m + 2.0)).floor() as u32;
        let mode = mode.clamp(first, last);
        let mut weights = vec![1.0; (last - first + 1) as usize];
        for k in mode..last {
            weights[(k + 1 - first) as usize] = weights[(k - first) as usize] * ratio(k);
        }
        for k in (first..mode).rev() {
            weights[(k - first) as usize] = weights[(k + 1 - first) as usize] / ratio(k);
        }
        let sum: f64 = weights.iter().sum();
        for weight in &mut weights {
            *weight /= sum;
        }
        Self { first, weights }
    }

    /// Mean and variance of the successes after, given the margins of this pair.
    pub(crate) fn moments(before: Tally, after: Tally) -> (f64, f64) {
        let (k_before, k_after) = (f64::from(before.total()), f64::from(after.total()));
        let total = k_before + k_after;
        let successes = f64::from(before.passed()) + f64::from(after.passed());
        if total < 2.0 {
            return (f64::from(after.passed()), 0.0);
        }
        let variance = k_before * k_after * successes * (total - successes) / (total * total * (total - 1.0));
        (successes * k_after / total, variance)
    }

    /// P(successes after ≥ `first` + i) for every i, plus a final 0.
    pub(crate) fn upper_tails(&self) -> Vec<f64> {
        let mut tails = vec![0.0; self.weights.len() + 1];
        for (i, weight) in self.weights.iter().enumerate().rev() {
            tails[i] = tails[i + 1] + weight;
        }
        tails
    }
}
