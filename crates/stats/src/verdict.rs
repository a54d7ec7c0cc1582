//! The word that is printed: real, regressed, no change, or not enough passes to say.

use std::fmt;

use crate::boschloo::boschloo_each;
use crate::delta::Delta;
use crate::multiple::holm;
use crate::tally::Pair;

/// The smallest difference that matters unless the user says otherwise: five points.
pub const SMALLEST_EFFECT: f64 = 0.05;

/// What the guard cases, which must stay good, say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Guards {
    /// A guard case fell below its gate.
    pub failed: bool,
    /// A guard case is proven worse than before.
    pub proven_worse: bool,
}

/// How many more passes would settle an open question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassesNeeded {
    /// Passes a case and configuration, in all: K·(MDE/δ)².
    pub per_case: u64,
    /// Of which are still to be run.
    pub still: u64,
}

/// The conclusion of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The 95 % interval lies above 0, the effect is large enough, and no guard case failed.
    Real,
    /// The 95 % interval lies below 0, or a guard case is proven worse.
    Regressed,
    /// The 90 % interval lies within ± the smallest effect: two one-sided tests of equivalence.
    NoChange,
    /// The passes at hand cannot tell.
    Inconclusive(PassesNeeded),
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Real => "REAL",
            Self::Regressed => "REGRESSED",
            Self::NoChange => "NO CHANGE",
            Self::Inconclusive(_) => "INCONCLUSIVE",
        })
    }
}

/// What [`verdict`] judges.
#[derive(Debug, Clone, Copy)]
pub struct Evidence {
    /// The difference on the cases at hand.
    pub delta: Delta,
    /// What the guard cases say.
    pub guards: Guards,
    /// The smallest difference that matters, δ, a fraction above 0.
    pub smallest_effect: f64,
}

/// The verdict on a comparison. A regression outranks a gain: a guard case that is proven worse
/// cannot be bought back by the others.
pub fn verdict(evidence: &Evidence) -> Verdict {
    let Evidence { delta, guards, smallest_effect } = evidence;
    if delta.interval_95.high < 0.0 || guards.proven_worse {
        return Verdict::Regressed;
    }
    if delta.interval_95.low > 0.0 && delta.estimate >= *smallest_effect && !guards.failed {
        return Verdict::Real;
    }
    if delta.interval_90.low > -smallest_effect && delta.interval_90.high < *smallest_effect {
        return Verdict::NoChange;
    }
    Verdict::Inconclusive(passes_needed(delta, *smallest_effect))
}

/// K·(MDE/δ)² passes a case make a difference of δ detectable with 80 % power; always more than the
/// passes at hand.
pub fn passes_needed(delta: &Delta, smallest_effect: f64) -> PassesNeeded {
    let ratio = delta.smallest_detectable() / smallest_effect.max(1e-6);
    let wanted = (delta.passes * ratio * ratio - 1e-9).ceil();
    let per_case = wanted.max(delta.passes.ceil() + 1.0);
    PassesNeeded { per_case: per_case as u64, still: (per_case - delta.passes).ceil() as u64 }
}

/// The indexes of cases proven worse: fewer successes after than before, Boschloo's p at most
/// `alpha` after Holm's correction over all cases given.
pub fn proven_worse(pairs: &[Pair], alpha: f64) -> Vec<usize> {
    let adjusted = holm(&boschloo_each(pairs));
    (0..pairs.len())
        .filter(|&i| adjusted[i] <= alpha && pairs[i].difference().is_some_and(|difference| difference < 0.0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta::delta;
    use crate::tally::Tally;
    use proptest::prelude::*;

    fn pairs(cells: &[(u32, u32)], passes: u32) -> Vec<Pair> {
        cells.iter().map(|&(a, b)| Pair::new(Tally::new(a, passes - a), Tally::new(b, passes - b))).collect()
    }

    fn judge(cells: &[(u32, u32)], passes: u32, guards: Guards) -> Verdict {
        let delta = delta(&pairs(cells, passes)).unwrap();
        verdict(&Evidence { delta, guards, smallest_effect: SMALLEST_EFFECT })
    }

    #[test]
    fn a_clear_gain_is_real_unless_a_guard_failed() {
        let gain = [(3, 8); 20];
        assert_eq!(judge(&gain, 10, Guards::default()), Verdict::Real);
        let failed = Guards { failed: true, proven_worse: false };
        assert!(matches!(judge(&gain, 10, failed), Verdict::Inconclusive(_)));
        assert_eq!(judge(&gain, 10, Guards { failed: true, proven_worse: true }), Verdict::Regressed);
    }

    #[test]
    fn a_clear_loss_is_a_regression() {
        assert_eq!(judge(&[(8, 3); 20], 10, Guards::default()), Verdict::Regressed);
    }

    #[test]
    fn always_passing_before_and_after_is_no_change() {
        assert_eq!(judge(&[(10, 10); 30], 10, Guards::default()), Verdict::NoChange);
        assert!(matches!(judge(&[(10, 10); 1], 10, Guards::default()), Verdict::Inconclusive(_)));
    }

    #[test]
    fn a_gain_below_the_smallest_effect_is_not_real() {
        // 300 of 1,000 against 330 of 1,000 in each of 60 cases: certain, and too small to matter.
        assert_eq!(judge(&[(300, 330); 60], 1000, Guards::default()), Verdict::NoChange);
    }

    #[test]
    fn the_passes_asked_for_settle_the_question() {
        let Verdict::Inconclusive(needed) = judge(&[(5, 5); 10], 10, Guards::default()) else { panic!("not open") };
        assert_eq!(needed.still, needed.per_case - 10);
        // With that many passes and a true difference of nothing, the 90 % interval fits.
        let half = needed.per_case as u32 / 2;
        assert_eq!(judge(&[(half, half); 10], half * 2, Guards::default()), Verdict::NoChange);
    }

    #[test]
    fn one_case_is_proven_worse_only_by_a_wide_gap() {
        assert_eq!(proven_worse(&pairs(&[(10, 7)], 10), 0.05), Vec::<usize>::new());
        assert_eq!(proven_worse(&pairs(&[(10, 5), (10, 2), (2, 10)], 10), 0.05), vec![0, 1]);
    }

    proptest! {
        #[test]
        fn real_and_regressed_swap_with_the_sides(cells in prop::collection::vec((0_u32..=10, 0_u32..=10), 2..30)) {
            let back: Vec<_> = cells.iter().map(|&(a, b)| (b, a)).collect();
            let (there, back) = (judge(&cells, 10, Guards::default()), judge(&back, 10, Guards::default()));
            if there == Verdict::Real {
                prop_assert_eq!(back, Verdict::Regressed);
            }
            if there == Verdict::NoChange {
                // A regression within ±δ is still a regression.
                prop_assert!(back == Verdict::NoChange || back == Verdict::Regressed);
            }
        }
    }
}
