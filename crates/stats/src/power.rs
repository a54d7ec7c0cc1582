//! Before the run: how many passes does a question need?

use crate::special::normal_quantile;

/// z for a two-sided test at 5 % plus z for the chance of finding the difference.
fn needed(power: f64) -> f64 {
    -normal_quantile(0.025) + normal_quantile(power)
}

/// The smallest difference of the mean rate over `cases` cases that `passes` passes a case and side
/// find with this chance, at the 5 % level, when a typical case passes at `rate`:
/// (1.96 + z)·√(2·rate·(1 − rate)/(cases·passes)).
///
/// At a rate of 0.8 and ten passes: 0.09 with 30 cases, 0.065 with 60, 0.05 with 100. `None` without
/// cases or passes, or unless rate and power lie between 0 and 1.
pub fn detectable_difference(cases: u32, passes: u32, rate: f64, power: f64) -> Option<f64> {
    let open = |share: f64| share > 0.0 && share < 1.0;
    (cases > 0 && passes > 0 && open(rate) && open(power)).then(|| {
        let observations = f64::from(cases) * f64::from(passes);
        needed(power).max(0.0) * (2.0 * rate * (1.0 - rate) / observations).sqrt()
    })
}

/// The passes a case and side at which [`detectable_difference`] comes down to `difference`.
/// `None` where that gives `None`, or unless the difference is above 0.
pub fn passes_to_detect(cases: u32, difference: f64, rate: f64, power: f64) -> Option<u64> {
    let once = detectable_difference(cases, 1, rate, power)?;
    let positive = difference > 0.0;
    positive.then(|| ((once / difference).powi(2) - 1e-9).ceil().max(1.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_figures_of_the_method() {
        for (cases, low, high) in [(30, 0.08, 0.10), (60, 0.06, 0.07), (100, 0.05, 0.06)] {
            let found = detectable_difference(cases, 10, 0.8, 0.8).unwrap();
            assert!((low..=high).contains(&found), "{cases}: {found}");
        }
    }

    #[test]
    fn what_cannot_be_planned_is_not() {
        assert_eq!(detectable_difference(0, 10, 0.8, 0.8), None);
        assert_eq!(detectable_difference(30, 10, 1.0, 0.8), None);
        assert_eq!(passes_to_detect(30, 0.0, 0.8, 0.8), None);
        assert_eq!(passes_to_detect(30, f64::NAN, 0.8, 0.8), None);
        assert_eq!(passes_to_detect(30, 0.05, 0.8, 1.0), None);
    }

    proptest! {
        #[test]
        fn the_passes_are_just_enough(cases in 1_u32..300, difference in 0.02_f64..0.3, rate in 0.05_f64..0.95) {
            let passes = passes_to_detect(cases, difference, rate, 0.8).unwrap() as u32;
            prop_assert!(detectable_difference(cases, passes, rate, 0.8).unwrap() <= difference + 1e-9);
            if passes > 1 {
                prop_assert!(detectable_difference(cases, passes - 1, rate, 0.8).unwrap() > difference - 1e-9);
            }
        }
    }
}
