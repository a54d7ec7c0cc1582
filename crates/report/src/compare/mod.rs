//! Is this fix real, or a coincidence? Before against after, over the same cases.
//!
//! ```text
//! configurations of one run ─► within ─┐
//!                                      ├─► judge: Δ, exact test, guards ─► the word
//! two sides, pass by pass ──► gather ──┴─► runs ─► RunComparison (serde) ─► table, Markdown, HTML, CSV
//! ```
//! Two questions, always both: did it change on THESE cases (the headline), and would it on cases not
//! written yet.

mod correct;
pub(crate) mod csv;
mod data;
mod failures;
mod gather;
mod html;
mod judge;
mod measures;
mod notes;
mod runs;
mod within;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

pub use csv::comparison_csv;
pub use data::{
    COMPARISON_VERSION, Change, ComparedCase, ComparedSide, Difference, FailureChange, MeasureChange, Role,
    RunComparison, SideFacts,
};
pub use gather::SideGathering;
pub use html::comparison_html;
pub use runs::{ComparisonRequest, compare_runs};
pub(crate) use within::compare;

use tenpass_stats::{Delta, Interval, Pair, PassesNeeded, delta, passes_needed};

use crate::summary::OtherCases;

/// The change over these pairs with the p-value of `test`; `None` when no case is scored on both sides.
fn change(pairs: &[Pair], test: impl Fn(&[Pair]) -> f64) -> Option<(Change, Delta)> {
    let found = delta(pairs)?;
    let change = Change {
        cases: found.cases as u64,
        before: found.before,
        after: found.after,
        estimate: found.estimate,
        standard_error: found.standard_error,
        low: found.interval_95.low,
        high: found.interval_95.high,
        low_90: found.interval_90.low,
        high_90: found.interval_90.high,
        p: test(pairs),
        passes: found.passes,
    };
    Some((change, found))
}

/// The passes that would settle an open question about this change.
fn needed(change: &Change, smallest_effect: f64) -> PassesNeeded {
    let delta = Delta {
        cases: change.cases as usize,
        before: change.before,
        after: change.after,
        estimate: change.estimate,
        standard_error: change.standard_error,
        interval_95: Interval { low: change.low, high: change.high },
        interval_90: Interval { low: change.low_90, high: change.high_90 },
        passes: change.passes,
    };
    passes_needed(&delta, smallest_effect)
}

impl From<tenpass_stats::Generalisation> for OtherCases {
    fn from(found: tenpass_stats::Generalisation) -> Self {
        Self {
            families: found.clusters as u64,
            standard_error: found.standard_error,
            low: found.interval_95.low,
            high: found.interval_95.high,
        }
    }
}
