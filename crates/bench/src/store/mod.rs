//! The run store: what was measured, kept in files that anyone can read.
//!
//! ```text
//! runs/<id>/manifest.json    what was measured, on what, with what; one session a process
//!           cases.jsonl      the cases as they were (one JSON object a line, here and below)
//!           cases.2.jsonl    the same cases as the second configuration meets them, where it has other
//!                            tools or prompts (a baseline measured beside its candidate; since 1.2)
//!           requests.jsonl   each distinct request once, by sha256, seed zeroed
//!           passes.jsonl     one line an attempt: raw text, reasoning, calls, timings, fault
//!           outcomes.jsonl   one line a pass: its grade; can be remade from the two above
//!           lock             held by the process that writes
//! runs/index.sqlite          positions and numbers of all passes; can be deleted at any time
//! ```
//!
//! The files are the truth. They are appended to, a line in one write; a line counts once its
//! newline is there. A pass may have several lines: failed attempts, and answers that `--resume`
//! got after a fault. Its result is the last line with `final`, and the outcome with the same
//! `attempt`. Nothing is ever rewritten except the manifest and, by a re-grade, the outcomes, both
//! by renaming a complete file over the old one.
//!
//! Readers accept newer minor format versions and refuse newer major ones; writers refuse both.

mod against;
mod case_digests;
mod case_index;
mod case_sets;
mod clock;
mod early;
mod environment;
mod error;
mod id;
mod import;
mod index;
mod index_update;
pub(crate) mod lines;
mod lock;
mod manifest;
mod merge;
mod merge_parts;
mod pick;
mod progress;
mod record;
mod regrade;
mod remove;
mod requests;
mod run;
mod session;
mod summary;
mod writer;

pub use against::{Against, Comparing, Origin};
pub use case_digests::CaseDigests;
pub use case_index::{CaseHead, CaseIndex};
pub use clock::timestamp;
pub use early::{ClosedGate, DecidedComparison, EarlyStop, LEVEL_DURING, LEVEL_END};
pub use environment::{GitState, Host};
pub use error::StoreError;
pub use import::{Importer, import};
pub use index::{INDEX_SCHEMA, Index, PassFilter, PassRow, index_path, index_runs};
pub use manifest::{
    Arguments, ConfigurationRecord, Digests, FormatVersion, Manifest, Regraded, RunState, Session, StoppedRecord,
};
pub use merge::merge;
pub use pick::Picker;
pub use record::{End, Fault, OutcomeRecord, PassRecord, PassTimings, RequestRecord};
pub use regrade::{GradeChange, RegradeReport, Verdict, regrade};
pub use remove::{Leftover, leftovers, remove_folder, remove_leftover, remove_run, shrink_index, size_of, writer_of};
pub use requests::Requests;
pub use run::{PassDetail, Passes, Run, RunEntry, latest_run, list_runs, open_run};
pub use summary::{Cell, ConfigurationSummary, Quantiles, Summary};

pub(crate) use case_sets::CaseSets;
pub(crate) use progress::Progress;
pub(crate) use record::sha256_hex;
pub(crate) use session::{Found, WritableRun, differences};
pub(crate) use writer::{Entry, RunWriter, WriterHandle, WriterStopped};

/// File names within a run's folder.
pub(crate) const CASES: &str = "cases.jsonl";
pub(crate) const REQUESTS: &str = "requests.jsonl";
pub(crate) const PASSES: &str = "passes.jsonl";
pub(crate) const OUTCOMES: &str = "outcomes.jsonl";
/// File name within the store's folder.
pub(crate) const INDEX: &str = "index.sqlite";
