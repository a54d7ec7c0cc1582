//! The method that every comparison shares: which guards broke, and which word is printed.

use tenpass_stats::{Delta, Evidence, Guards, Pair, Tally, Verdict, benjamini_hochberg, holm, passes_needed, verdict};

/// A guard case holds while it passes at least this often: 8 of 10.
const GUARD_GATE: f64 = 0.8;
/// The level of every test here.
pub(super) const ALPHA: f64 = 0.05;
/// The false discovery rate of the flags on single cases.
const FALSE_DISCOVERIES: f64 = 0.10;

/// Positions of guard cases.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct BrokenGuards {
    /// Fell from at least the gate to below it.
    pub(super) failed: Vec<usize>,
    /// Proven worse: Boschloo, Holm over the guards.
    pub(super) worse: Vec<usize>,
}

impl BrokenGuards {
    /// Of the cases whose position `is_guard` names; `p_values` are Boschloo's of every pair.
    pub(super) fn find(pairs: &[Pair], p_values: &[f64], is_guard: impl Fn(usize) -> bool) -> Self {
        let guards: Vec<usize> = (0..pairs.len()).filter(|&i| is_guard(i)).collect();
        let fell = |pair: &Pair| {
            let holds = |tally: Tally| tally.rate().map(|rate| rate >= GUARD_GATE);
            holds(pair.before) == Some(true) && holds(pair.after) == Some(false)
        };
        Self {
            worse: proven_worse(pairs, p_values, &guards),
            failed: guards.iter().copied().filter(|&i| fell(&pairs[i])).collect(),
        }
    }

    fn summary(&self) -> Guards {
        Guards { failed: !self.failed.is_empty(), proven_worse: !self.worse.is_empty() }
    }
}

/// Positions of the cases that are no guards and proven worse: Boschloo, Holm over all of them. They do not
/// decide the word, but no gain on the others may hide them.
pub(super) fn worse_besides_guards(pairs: &[Pair], p_values: &[f64], is_guard: impl Fn(usize) -> bool) -> Vec<usize> {
    let others: Vec<usize> = (0..pairs.len()).filter(|&i| !is_guard(i)).collect();
    proven_worse(pairs, p_values, &others)
}

/// Of the cases at these positions those that are proven worse, corrected over all of them.
fn proven_worse(pairs: &[Pair], p_values: &[f64], positions: &[usize]) -> Vec<usize> {
    let corrected = holm(&positions.iter().map(|&i| p_values[i]).collect::<Vec<_>>());
    let worse = |i: usize| pairs[i].difference().is_some_and(|difference| difference < 0.0);
    let proven = positions.iter().zip(corrected).filter(|(i, p)| *p <= ALPHA && worse(**i));
    proven.map(|(i, _)| *i).collect()
}

/// The verdict on a difference whose test gave `p`, corrected over whatever was tested beside it.
pub(super) fn judge(delta: Delta, p: f64, guards: &BrokenGuards, smallest_effect: f64) -> Verdict {
    let guards = guards.summary();
    let word = verdict(&Evidence { delta, guards, smallest_effect });
    // The interval knows nothing of other comparisons: what the corrected test does not confirm is open.
    if (word == Verdict::Real || word == Verdict::Regressed) && p > ALPHA && !guards.proven_worse {
        return Verdict::Inconclusive(passes_needed(&delta, smallest_effect));
    }
    word
}

/// The adjusted p-value of every case, and whether it is flagged as moved.
pub(super) fn flags(p_values: &[f64]) -> Vec<(f64, bool)> {
    benjamini_hochberg(p_values).into_iter().map(|adjusted| (adjusted, adjusted <= FALSE_DISCOVERIES)).collect()
}
