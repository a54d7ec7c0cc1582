//! Quantiles of latencies and token counts, in memory that does not grow with the passes.

/// The relative error of a quantile once [`Quantiles`] has left the exact mode: 0.5 %.
pub const QUANTILE_RELATIVE_ERROR: f64 = 0.005;

/// Up to this many values [`Quantiles`] keeps them as they are.
pub const EXACT_QUANTILES_UP_TO: usize = 1024;
/// Bin edges grow by this factor, so that a bin's middle is within the error of all it holds.
const GROWTH: f64 = (1.0 + QUANTILE_RELATIVE_ERROR) / (1.0 - QUANTILE_RELATIVE_ERROR);
/// Bins per factor of e: 1 / ln GROWTH.
const BINS_PER_E: f64 = 99.999_166_661_112_8;
/// Smaller values share the lowest bin: a microsecond, when values are milliseconds.
const SMALLEST: f64 = 1e-3;
/// The highest bin ends near 1e9, eleven days in milliseconds; larger values share it.
const HIGHEST_BIN: usize = 2764;

/// The `p` quantile of values in ascending order, interpolated (type 7, as numpy's default).
/// `None` of nothing.
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = p.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    Some(low + (high - low) * (position - below as f64))
}

/// Collects values one at a time and answers quantiles: exact up to 1,024 values, within
/// [`QUANTILE_RELATIVE_ERROR`] beyond that (logarithmic bins, as in DDSketch, arXiv 1908.10693).
/// Minimum, maximum and count are always exact. Values that are not finite are ignored, negative
/// ones count as 0.
#[derive(Debug, Clone, Default)]
pub struct Quantiles {
    values: Vec<f64>,
    /// Counts of consecutive bins, the first of which is `first_bin`.
    bins: Vec<u32>,
    first_bin: usize,
    count: u64,
    minimum: f64,
    maximum: f64,
}

impl Quantiles {
    /// Nothing collected yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one value.
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        let value = value.max(0.0);
        self.minimum = if self.count == 0 { value } else { self.minimum.min(value) };
        self.maximum = self.maximum.max(value);
        self.count += 1;
        if self.is_exact() && self.values.len() < EXACT_QUANTILES_UP_TO {
            self.values.push(value);
            return;
        }
        for kept in std::mem::take(&mut self.values) {
            self.count_in_bin(bin(kept));
        }
        self.count_in_bin(bin(value));
    }

    /// The bins in use are those between the smallest and the largest value, so memory grows with
    /// the logarithm of their ratio.
    fn count_in_bin(&mut self, bin: usize) {
        if self.bins.is_empty() {
            self.first_bin = bin;
        }
        if bin < self.first_bin {
            self.bins.splice(0..0, std::iter::repeat_n(0, self.first_bin - bin));
            self.first_bin = bin;
        }
        let offset = bin - self.first_bin;
        if offset >= self.bins.len() {
            self.bins.resize(offset + 1, 0);
        }
        self.bins[offset] = self.bins[offset].saturating_add(1);
    }

    /// How many values were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The smallest value.
    pub fn minimum(&self) -> Option<f64> {
        (self.count > 0).then_some(self.minimum)
    }

    /// The largest value.
    pub fn maximum(&self) -> Option<f64> {
        (self.count > 0).then_some(self.maximum)
    }

    /// True while every value is kept.
    pub fn is_exact(&self) -> bool {
        self.bins.is_empty()
    }

    /// The `p` quantile; `None` of nothing.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        self.quantiles([p])[0]
    }

    /// Several quantiles at once, for the price of one.
    pub fn quantiles<const N: usize>(&self, p: [f64; N]) -> [Option<f64>; N] {
        if self.is_exact() {
            let mut sorted = self.values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            return p.map(|p| quantile(&sorted, p));
        }
        p.map(|p| Some(self.of_bins(p)))
    }

    fn of_bins(&self, p: f64) -> f64 {
        let rank = p.clamp(0.0, 1.0) * (self.count - 1) as f64;
        let mut seen = 0_u64;
        let holding = self.bins.iter().position(|&held| {
            seen += u64::from(held);
            seen as f64 > rank
        });
        let index = self.first_bin + holding.unwrap_or(self.bins.len() - 1);
        // The harmonic middle of a bin is equally far, relatively, from both of its edges.
        let middle = SMALLEST * GROWTH.powi(index as i32) * 2.0 / (1.0 + GROWTH);
        middle.clamp(self.minimum, self.maximum)
    }
}

/// The bin of a value: 0 up to the smallest, then one per factor of growth.
fn bin(value: f64) -> usize {
    if value <= SMALLEST {
        return 0;
    }
    (((value / SMALLEST).ln() * BINS_PER_E).ceil() as usize).min(HIGHEST_BIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values from numpy.quantile, whose default is type 7.
    #[test]
    fn values_of_numpy() {
        let sorted = [3.5, 7.25, 8.0, 9.0, 12.0, 41.0, 100.0];
        assert!((quantile(&sorted, 0.0).unwrap() - 3.5).abs() < 1e-11);
        assert!((quantile(&sorted, 0.1).unwrap() - 5.75).abs() < 1e-11);
        assert!((quantile(&sorted, 0.5).unwrap() - 9.0).abs() < 1e-11);
        assert!((quantile(&sorted, 0.9).unwrap() - 64.6).abs() < 1e-11);
        assert!((quantile(&sorted, 0.99).unwrap() - 96.46).abs() < 1e-11);
        assert!((quantile(&sorted, 1.0).unwrap() - 100.0).abs() < 1e-11);
        let mut collected = Quantiles::new();
        for &value in sorted.iter().rev() {
            collected.add(value);
        }
        assert_eq!(collected.quantile(0.9), quantile(&sorted, 0.9));
        assert_eq!((collected.minimum(), collected.maximum(), collected.count()), (Some(3.5), Some(100.0), 7));
    }

    #[test]
    fn nothing_has_no_quantile() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(Quantiles::new().quantile(0.5), None);
        let mut odd = Quantiles::new();
        odd.add(f64::NAN);
        odd.add(f64::INFINITY);
        assert_eq!((odd.count(), odd.maximum()), (0, None));
    }

    #[test]
    fn the_bins_have_the_width_that_the_error_needs() {
        assert!((BINS_PER_E * GROWTH.ln() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn memory_stays_flat() {
        let mut many = Quantiles::new();
        for i in 0..100_000 {
            many.add(f64::from(i));
        }
        assert_eq!((many.values.len(), many.count()), (0, 100_000));
        assert!(many.bins.len() <= HIGHEST_BIN + 1);
        let bins = many.bins.len();
        for i in 0..100_000 {
            many.add(f64::from(i));
        }
        assert_eq!(many.bins.len(), bins);
    }

    proptest! {
        #[test]
        fn the_error_is_the_one_promised(seed in 1_u64..1000, p in 0.0_f64..=1.0, scale in 0.1_f64..1e5) {
            // A long-tailed sample of 5,000: latencies look like this.
            let mut state = seed;
            let mut values: Vec<f64> = (0..5000)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let uniform = ((state >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
                    scale / uniform.powf(0.4)
                })
                .collect();
            let mut sketch = Quantiles::new();
            for &value in &values {
                sketch.add(value);
            }
            prop_assert!(!sketch.is_exact());
            values.sort_by(f64::total_cmp);
            // The sketch names one observed rank; interpolation lies between that one and the next.
            let below = (p * 4999.0).floor() as usize;
            let (low, high) = (values[below], values[(below + 1).min(4999)]);
            let found = sketch.quantile(p).unwrap();
            prop_assert!(found >= low * (1.0 - QUANTILE_RELATIVE_ERROR - 1e-9));
            prop_assert!(found <= high * (1.0 + QUANTILE_RELATIVE_ERROR + 1e-9));
            prop_assert_eq!(sketch.maximum(), values.last().copied());
        }

        #[test]
        fn quantiles_rise_with_p(mut values in prop::collection::vec(0.0_f64..1e6, 1..50), p in 0.0_f64..1.0) {
            values.sort_by(f64::total_cmp);
            prop_assert!(quantile(&values, p) <= quantile(&values, (p + 0.1).min(1.0)));
        }
    }
}
