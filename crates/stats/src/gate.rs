//! A gate such as "at least 8 of 10", stopped as soon as the rest cannot change the answer.

use crate::binomial::at_least;
use crate::tally::Tally;

/// At least `need` successes of `of` passes.
///
/// Stopping early gives the same answer as running all of them. The rate of a stopped gate is
/// biased, though: for a rate to publish, run all `of` passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gate {
    /// Successes needed.
    pub need: u32,
    /// Passes at most.
    pub of: u32,
}

impl Gate {
    /// The answer, as soon as the passes so far settle it: `true` at `need` successes, `false` once
    /// `of − need + 1` failures put them out of reach. `None`: run on.
    pub const fn decided(self, so_far: Tally) -> Option<bool> {
        if so_far.passed() >= self.need {
            Some(true)
        } else if so_far.failed() > self.of.saturating_sub(self.need) || self.need > self.of {
            Some(false)
        } else {
            None
        }
    }

    /// The chance that a case of this true rate opens the gate.
    pub fn chance_to_hold(self, rate: f64) -> f64 {
        at_least(self.need, self.of, rate.clamp(0.0, 1.0))
    }

    /// Passes run on average until the answer is settled, at this true rate: 7 to 10 for 8 of 10.
    pub fn passes_expected(self, rate: f64) -> f64 {
        let rate = rate.clamp(0.0, 1.0);
        // The gate is still open after i passes while there are fewer than `need` successes and at
        // most `of − need` failures.
        let Some(spare) = self.of.checked_sub(self.need) else { return 0.0 };
        let open = |i: u32| {
            let at_least_passed = i.saturating_sub(spare);
            if at_least_passed >= self.need {
                0.0
            } else {
                at_least(at_least_passed, i, rate) - at_least(self.need, i, rate)
            }
        };
        (0..self.of).map(open).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GATE: Gate = Gate { need: 8, of: 10 };

    #[test]
    fn eight_of_ten_is_settled_at_eight_successes_or_three_failures() {
        assert_eq!(GATE.decided(Tally::new(7, 2)), None);
        assert_eq!(GATE.decided(Tally::new(8, 0)), Some(true));
        assert_eq!(GATE.decided(Tally::new(8, 2)), Some(true));
        assert_eq!(GATE.decided(Tally::new(0, 3)), Some(false));
        assert_eq!(GATE.decided(Tally::new(7, 3)), Some(false));
    }

    #[test]
    fn gates_at_the_ends() {
        assert_eq!(Gate { need: 0, of: 10 }.decided(Tally::default()), Some(true));
        assert_eq!(Gate { need: 10, of: 10 }.decided(Tally::new(9, 1)), Some(false));
        let impossible = Gate { need: 11, of: 10 };
        assert_eq!(impossible.decided(Tally::default()), Some(false));
        assert!(impossible.chance_to_hold(1.0) < 1e-15 && impossible.passes_expected(0.5) < 1e-15);
        assert!((GATE.passes_expected(1.0) - 8.0).abs() < 1e-12 && (GATE.passes_expected(0.0) - 3.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn it_says_what_all_passes_say(need in 0_u32..12, outcomes in prop::collection::vec(any::<bool>(), 1..12)) {
            let gate = Gate { need, of: outcomes.len() as u32 };
            let whole = outcomes.iter().filter(|passed| **passed).count() as u32 >= need;
            let mut so_far = Tally::default();
            for passed in &outcomes {
                if let Some(answer) = gate.decided(so_far) {
                    prop_assert_eq!(answer, whole);
                }
                so_far.record(*passed);
            }
            prop_assert_eq!(gate.decided(so_far), Some(whole));
        }
    }
}
