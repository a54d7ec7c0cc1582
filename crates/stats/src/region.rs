//! Which tables count as at least as extreme: the region of Boschloo's test.

use crate::special::ln_gamma;

/// Two Fisher p-values that differ by less than this, relatively, are one value.
const TIE: f64 = 1e-9;
/// A tail that would shrink to less than this share by subtraction is summed anew.
const CANCELS: f64 = 1e-2;
/// A term this much smaller than the sum cannot matter.
const NEGLIGIBLE: f64 = 1e-18;

/// For every possible sum of successes s: the largest attainable Fisher p, of "after is better",
/// that does not exceed the observed one. It is the chance of the region, given that sum.
pub(crate) struct Region {
    before: usize,
    after: usize,
    limit: f64,
    ln_factorials: Vec<f64>,
}

impl Region {
    pub(crate) fn new(before: u32, after: u32, observed: f64) -> Self {
        let ln_factorials = (0..=before + after).map(|n| ln_gamma(f64::from(n) + 1.0)).collect();
        Self { before: before as usize, after: after as usize, limit: observed * (1.0 + TIE), ln_factorials }
    }

    /// The p-values for the sums from `first` to `last`; 0 for other sums, and where no table is
    /// extreme enough.
    ///
    /// From one sum to the next, the tail P(X ≥ k) grows by the chance that X was k − 1 and that the
    /// additional success falls on "after"; the critical k then moves up by at most one. So each sum
    /// takes a few operations instead of a whole distribution.
    pub(crate) fn tails(&self, first: u32, last: u32) -> Vec<f64> {
        let total = self.before + self.after;
        let (first, last) = (first as usize, last as usize);
        let mut k = self.surely_reached(first);
        let mut tail = self.summed(first, k);
        let mut tails = vec![0.0; total + 1];
        for (s, cell) in tails.iter_mut().enumerate().take(last + 1).skip(first) {
            while tail > self.limit {
                let chance = self.chance(s, k);
                k += 1;
                tail = if tail - chance < CANCELS * tail { self.summed(s, k) } else { tail - chance };
            }
            *cell = tail;
            if s < last && k > 0 {
                let free = (self.after + 1).saturating_sub(k) as f64;
                tail += self.chance(s, k - 1) * free / (total - s) as f64;
            }
        }
        tails
    }

    /// P(X = k) when s successes fall on the two sides at random.
    fn chance(&self, s: usize, k: usize) -> f64 {
        if k > s || k > self.after || s - k > self.before {
            return 0.0;
        }
        let ln = |n: usize| self.ln_factorials[n];
        let choose = |n: usize, k: usize| ln(n) - ln(k) - ln(n - k);
        (choose(self.after, k) + choose(self.before, s - k) - choose(self.before + self.after, s)).exp()
    }

    /// P(X ≥ k) by summing.
    fn summed(&self, s: usize, k: usize) -> f64 {
        let mut term = self.chance(s, k);
        let mut sum = term;
        for k in k..s.min(self.after) {
            let up = (self.after - k) as f64 * (s - k) as f64;
            term *= up / ((k + 1) as f64 * (self.before + k + 1 - s) as f64);
            sum += term;
            if term < NEGLIGIBLE * sum {
                break;
            }
        }
        sum
    }

    /// A k that is reached all but surely, from which the search upwards may start.
    fn surely_reached(&self, s: usize) -> usize {
        let (n, m, s_) = (self.before as f64, self.after as f64, s as f64);
        let total = n + m;
        let deviation = (n * m * s_ * (total - s_) / (total * total * (total - 1.0).max(1.0))).sqrt();
        let lowest = s.saturating_sub(self.before);
        let start = (s_ * m / total - 10.0 * deviation - 2.0).max(0.0) as usize;
        start.max(lowest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hypergeometric::Hypergeometric;
    use proptest::prelude::*;

    /// The whole distribution for every sum.
    fn plain(before: u32, after: u32, observed: f64) -> Vec<f64> {
        (0..=before + after)
            .map(|s| {
                let tails = Hypergeometric::new(before, after, s).upper_tails();
                tails.into_iter().find(|tail| *tail <= observed * (1.0 + TIE)).unwrap_or(0.0)
            })
            .collect()
    }

    proptest! {
        #[test]
        fn stepping_equals_summing(n in 1_u32..200, m in 1_u32..200, ln_observed in -60.0_f64..0.0) {
            let observed = ln_observed.exp();
            let (fast, slow) = (Region::new(n, m, observed).tails(0, n + m), plain(n, m, observed));
            for (s, (fast, slow)) in fast.iter().zip(&slow).enumerate() {
                prop_assert!((fast - slow).abs() <= 1e-8 * observed, "{s}: {fast} {slow}");
            }
        }

        #[test]
        fn a_window_is_cut_from_the_whole(n in 1_u32..60, m in 1_u32..60, from in 0_u32..60, observed in 0.0_f64..1.0) {
            let region = Region::new(n, m, observed);
            let (from, to) = (from.min(n + m), (from + 9).min(n + m));
            let (part, whole) = (region.tails(from, to), region.tails(0, n + m));
            for s in from..=to {
                prop_assert!((part[s as usize] - whole[s as usize]).abs() <= 1e-9 * observed);
            }
        }
    }
}
