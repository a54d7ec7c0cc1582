//! Several tests at once.

/// Holm's adjusted p-values, in the order given: compare each with α to hold the chance of one or
/// more false alarms at α.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let tests = p_values.len();
    let mut adjusted = vec![0.0; tests];
    let mut running = 0.0_f64;
    for (rank, index) in ascending(p_values).into_iter().enumerate() {
        running = running.max(p_values[index] * (tests - rank) as f64).min(1.0);
        adjusted[index] = running;
    }
    adjusted
}

/// Adjusted p-values of Benjamini and Hochberg, in the order given: the flags at or below q have
/// an expected share of at most q false ones.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let tests = p_values.len();
    let mut adjusted = vec![0.0; tests];
    let mut running = 1.0_f64;
    for (rank, index) in ascending(p_values).into_iter().enumerate().rev() {
        running = running.min(p_values[index] * tests as f64 / (rank + 1) as f64);
        adjusted[index] = running;
    }
    adjusted
}

fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&left, &right| p_values[left].total_cmp(&p_values[right]));
    order
}

#[cfg(test)]
#[allow(clippy::unreadable_literal, reason = "known answers stand as their source printed them")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values from statsmodels.stats.multitest.multipletests.
    #[test]
    fn values_of_statsmodels() {
        let p = [0.01, 0.04, 0.03, 0.005, 0.2, 0.049, 0.9, 0.04];
        let expected = [0.07, 0.2, 0.18, 0.04, 0.4, 0.2, 0.9, 0.2];
        for (found, expected) in holm(&p).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        let expected = [0.04, 0.064, 0.064, 0.04, 0.2285714285714286, 0.06533333333333334, 0.9, 0.064];
        for (found, expected) in benjamini_hochberg(&p).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    proptest! {
        #[test]
        fn both_keep_the_order_and_never_lower_a_p_value(p in prop::collection::vec(0.0_f64..=1.0, 0..30)) {
            for method in [holm, benjamini_hochberg] {
                let adjusted = method(&p);
                for (i, &raw) in p.iter().enumerate() {
                    prop_assert!(adjusted[i] >= raw - 1e-15 && adjusted[i] <= 1.0);
                    for (j, &other) in p.iter().enumerate() {
                        prop_assert!(raw > other || adjusted[i] <= adjusted[j]);
                    }
                }
            }
            for (strict, lenient) in holm(&p).iter().zip(benjamini_hochberg(&p)) {
                prop_assert!(lenient <= strict + 1e-15);
            }
        }
    }
}
