//! Append-only journals whose every change is noticed (K50 to K52).
//!
//! A journal is a file of JSON lines. The first one names it:
//!
//! ```text
//! {"journal":"intentions","version":1,"key":"<id of the key>","seq":0,"at":"…","prev":"<64 zeros>","mac":"…"}
//! {"seq":1,"at":"<RFC 3339, UTC>","prev":"<mac of line 0>","anchor":{"journal":"orchestrator-trace","seq":4,"mac":"…"},"record":{…},"mac":"…"}
//! ```
//!
//! - `mac` is the HMAC-SHA256, in hexadecimal, of the journal's name and all bytes of the line before
//!   `,"mac":`. `prev` is the `mac` of the line before, so a `mac` covers the whole file up to it.
//! - `anchor` is the head of the other journal at that moment; heads also go to a third place. So a
//!   tail that was cut, which leaves a valid chain, is missed by somebody.
//! - A line with `notice` instead of `record` is the journal's own: a torn line that was set aside,
//!   or a tail that was found to be missing.
//! - A write that was cut off leaves bytes without a newline: opening moves them to
//!   `<file>.torn-<seq>`, and nothing is lost.

mod append;
mod aside;
mod chain;
#[cfg(test)]
mod crash_tests;
mod error;
mod key;
mod line;
mod pair;
mod read;
mod scan;
mod tail;
#[cfg(test)]
mod testing;
mod verify;

pub use append::{Durability, Journal, Recovery, Torn};
pub use aside::set_aside;
pub use error::JournalError;
pub use key::JournalKey;
pub use line::{Head, Mac};
pub use pair::{HeadKeeper, Heads, INTENTIONS_JOURNAL, Journals, JournalsRecovery, TRACE_JOURNAL, journal_path};
pub use read::{Entry, Position, Records, records, records_from};
pub use verify::{FINDINGS, FileReport, Finding, FindingKind, Verification, verify};

/// The version of the format, in the first line of each file.
pub const VERSION: u32 = 1;

/// A line is shorter than this, its newline not counted.
pub const LINE_BYTES: usize = 8 * 1024 * 1024;
