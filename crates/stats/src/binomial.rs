//! Tails of the binomial distribution.

use crate::special::beta_inc;

/// P(X ≤ k) for X successes of `n` trials at `rate`.
pub(crate) fn at_most(k: u32, n: u32, rate: f64) -> f64 {
    if k >= n { 1.0 } else { beta_inc(f64::from(n - k), f64::from(k) + 1.0, 1.0 - rate) }
}

/// P(X ≥ k) for X successes of `n` trials at `rate`.
pub(crate) fn at_least(k: u32, n: u32, rate: f64) -> f64 {
    match k {
        0 => 1.0,
        k if k > n => 0.0,
        k => beta_inc(f64::from(k), f64::from(n - k) + 1.0, rate),
    }
}
