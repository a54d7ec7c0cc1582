//! The rate bench: cases × configurations × passes.
//!
//! A [`RunPlan`] says what is measured, [`RunOptions`] how it is carried out. [`execute`] asks the
//! models, writes every raw answer to the run store before anything parses it, grades it, and
//! tells an [`EventSink`] what happens; it prints nothing and reads no configuration.
//!
//! Order: case after case; the configurations of a case one after the other, forwards on even
//! cases and backwards on odd ones (ABBA), never two at once, so that drift of the machine or the
//! server falls on all of them alike. All passes of one (case, configuration) are handed to the
//! model together, as far as its `jobs` allow; with one configuration, passes of several cases
//! are in flight together.
//!
//! Every pass derives its seed from the run's seed, the case and its number; configurations of a
//! case share seeds, unless their salts differ: copies of one configuration (an A/A run) must not
//! answer the same. An infrastructure fault is INVALID: repeated up to a limit, every attempt
//! recorded, never scored.

mod attempt;
mod beside;
mod coordinator;
mod event;
mod execute;
mod judge;
mod options;
mod outcome;
mod partition;
mod pass;
mod plan;
mod prepare;
mod same;
mod schedule;
mod seed;
#[cfg(test)]
mod tests;
mod turns;
mod waves;

pub use beside::Beside;
pub use event::{EventSink, RunEvent};
pub use execute::execute;
pub use judge::{GRADER_VERSION, judge};
pub use options::RunOptions;
pub use outcome::{RunError, RunOutcome, StoppedConfiguration};
pub use partition::{Partition, PartitionError};
pub use plan::{Configuration, RunPlan};
pub use prepare::{PreparedCase, prepare_case};
pub use same::find_same;
pub use seed::{pass_seed, salted_seed};

pub(crate) use prepare::offered_tools;
