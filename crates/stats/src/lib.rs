//! Intervals, paired tests and effective sample sizes: pure functions, no dependency, no I/O.
//!
//! The question behind all of it: *is this fix real, or a coincidence?* Data are [`Tally`] values,
//! successes out of passes of one case under one configuration; a comparison is a slice of
//! [`Pair`] values, the same cases before and after.
//!
//! - one case: [`wilson`] for display, [`clopper_pearson`] where a guarantee is claimed,
//!   [`boschloo`] for before against after;
//! - two configurations over the same cases: [`cmh`] and [`cmh_exact`] for "did it change on
//!   these cases", [`delta`] for by how much, [`generalise`] for cases not written yet,
//!   [`verdict`] for the word that is printed;
//! - several comparisons: [`holm`], [`benjamini_hochberg`];
//! - repeats: [`pass_hat_k`], [`pass_at_k`], [`effective`] for outputs that repeat;
//! - latencies: [`quantile`] and the bounded-memory [`Quantiles`].
//!
//! Rates are fractions in `[0, 1]`, differences are after minus before. Nothing here panics: an
//! empty tally yields the interval `[0, 1]` or `None`, never a number that looks measured. Known
//! answers in the tests come from scipy 1.17 and statsmodels 0.15.

mod boschloo;
mod cmh;
mod delta;
mod hypergeometric;
mod interval;
mod multiple;
mod quantile;
mod repeats;
pub mod special;
mod tally;
mod verdict;

pub use boschloo::{boschloo, boschloo_each};
pub use cmh::{Cmh, cmh, cmh_exact};
pub use delta::{Delta, Generalisation, delta, generalise};
pub use interval::{Interval, clopper_pearson, straight_passes_needed, wilson, wilson_rate};
pub use multiple::{benjamini_hochberg, holm};
pub use quantile::{EXACT_QUANTILES_UP_TO, QUANTILE_RELATIVE_ERROR, Quantiles, quantile};
pub use repeats::{Sampling, bootstrap_mean, effective, pass_at_k, pass_hat_k};
pub use tally::{Pair, Tally};
pub use verdict::{Evidence, Guards, PassesNeeded, SMALLEST_EFFECT, Verdict, passes_needed, proven_worse, verdict};
