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
//! - two systems on the same items, once each: [`mcnemar_exact`], [`sign_test`], [`tango`] for by how
//!   much, [`permutation_clustered`] where items come in clusters, [`votes`] among several;
//! - at any time, while passes still come in: [`SafeStratified`], [`SafeTwoByTwo`],
//!   [`sign_e_value`], and the curtailed [`Gate`];
//! - several comparisons: [`holm`], [`benjamini_hochberg`];
//! - repeats: [`pass_hat_k`], [`pass_at_k`], [`effective`] for outputs that repeat,
//!   [`beta_binomial`] for ranking cases;
//! - events over time: [`poisson_rate`]; nights: [`laney`];
//! - latencies and tokens: [`quantile`], the bounded-memory [`Quantiles`], [`median_difference`].
//!
//! Rates are fractions in `[0, 1]`, differences are after minus before. Nothing here panics: an
//! empty tally yields the interval `[0, 1]` or `None`, never a number that looks measured. Known
//! answers in the tests come from scipy 1.17 and statsmodels 0.15; `tests/known_answers.py` prints most.

mod binomial;
mod bootstrap;
mod boschloo;
mod cmh;
mod delta;
mod evalue;
mod gate;
mod hypergeometric;
mod interval;
mod laney;
mod multiple;
mod paired;
mod permutation;
mod poisson;
mod power;
mod quantile;
mod random;
mod region;
mod repeats;
mod shrinkage;
pub mod special;
mod tally;
mod verdict;
mod votes;

pub use bootstrap::{mean_difference, median_difference};
pub use boschloo::{boschloo, boschloo_each};
pub use cmh::{Cmh, cmh, cmh_exact};
pub use delta::{Delta, Generalisation, delta, generalise};
pub use evalue::{SafeStratified, SafeTwoByTwo, Side, sign_e_value};
pub use gate::Gate;
pub use interval::{Interval, clopper_pearson, newcombe, straight_passes_needed, wilson, wilson_rate};
pub use laney::{LaneyChart, LaneyNight, laney};
pub use multiple::{benjamini_hochberg, holm};
pub use paired::{mcnemar_exact, sign_test, tango, tango_lower};
pub use permutation::{Permutation, permutation_clustered};
pub use poisson::{exposure_needed, poisson_at_least, poisson_at_most, poisson_cdf, poisson_rate};
pub use power::{detectable_difference, passes_to_detect};
pub use quantile::{EXACT_QUANTILES_UP_TO, QUANTILE_RELATIVE_ERROR, Quantiles, quantile};
pub use repeats::{Sampling, bootstrap_mean, effective, pass_at_k, pass_hat_k};
pub use shrinkage::{BetaBinomial, beta_binomial};
pub use tally::{Pair, Tally};
pub use verdict::{Evidence, Guards, PassesNeeded, SMALLEST_EFFECT, Verdict, passes_needed, proven_worse, verdict};
pub use votes::{PairOfVotes, Votes, multinomial_exact, votes};
