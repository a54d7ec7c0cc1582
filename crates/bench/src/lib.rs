//! Case files, graders, the rate bench, the run store and its index.

// The test helpers are shared with the tests outside, which know this crate by its name.
#[cfg(test)]
extern crate self as tenpass_bench;

pub mod bfcl;
pub mod cases;
pub mod grade;
pub mod life;
pub mod probe;
pub mod rounds;
pub mod run;
pub mod store;
