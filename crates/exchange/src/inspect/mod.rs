//! Logs of [Inspect](https://inspect.aisi.org.uk), the evaluation framework of the UK AI Security Institute.
//!
//! An `.eval` log is a ZIP:
//!
//! ```text
//! _journal/start.json                 version, eval and plan, before the first sample
//! _journal/summaries/N.json           summaries as they came
//! samples/{id}_epoch_{n}.json         one sample in one epoch: messages, output, scores, events
//! summaries.json                      all summaries
//! reductions.json                     the scores of each sample over its epochs
//! header.json                         everything but samples and reductions
//! tenpass/cases.jsonl, requests.jsonl the cases and requests of a run of ours, which Inspect leaves alone
//! ```
//!
//! A case is their sample, a pass their epoch, a configuration a log. An answer's grade is the score
//! `tenpass` (`C` or `I`); INVALID is a sample's error and has no score. What Inspect has a field for stands
//! there, and is read from there; the rest stands in `store.tenpass` of the sample and `metadata.tenpass` of
//! the log, so that a run that went there and came back is the run it was.

mod chat;
mod conversation;
mod finite;
mod foreign;
mod header;
mod ids;
mod log;
mod open;
mod ours;
mod read;
mod sample;
mod score;
mod shape;
mod thin;
mod time;
mod write;

pub use read::{ImportOptions, ImportedRun, import};
pub use write::export;

/// The scorer's name in a log.
pub(crate) const SCORER: &str = "tenpass";
/// The key of what only this program reads.
pub(crate) const OWN: &str = "tenpass";
/// The cases of an exported run.
pub(crate) const CASES_ENTRY: &str = "tenpass/cases.jsonl";
/// Its requests.
pub(crate) const REQUESTS_ENTRY: &str = "tenpass/requests.jsonl";
