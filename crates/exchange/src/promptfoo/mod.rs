//! promptfoo configurations, both ways.
//!
//! Written: one test a case, its conversation as chat JSON, its tools in OpenAI's form, and one
//! JavaScript assertion for all of them that knows every matcher of the case files. What promptfoo has
//! no place for stands in `metadata.tenpass`, so that the way back loses nothing.
//!
//! Read: those, and configurations of others as far as they say which tools must be called. An assertion
//! about the text of an answer cannot be held by a case of the tool-choice bench; a test that has no
//! other is left out, with a note, and never becomes a weaker case.

mod asserts;
mod export;
mod files;
mod import;
#[cfg(test)]
mod tests;

use tenpass_bench::cases::Case;

pub use export::export;
pub use import::import;

/// Key of our own facts in `metadata`.
const OWN: &str = "tenpass";

/// What was read or written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Converted {
    /// The cases that were read; empty after an export.
    pub cases: Vec<Case>,
    /// The tests or cases that were left out or only partly understood, one line each.
    pub notes: Vec<String>,
}
