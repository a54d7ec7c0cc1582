//! The claim detector: what an answer says was done, against what the ledger of calls shows.
//!
//! Deterministic, English and French (rule 6 of the tool-call rules; row "words claimed" of the
//! multi-round bench). A sentence is taken apart by rules of grammar, not by a list of sentences:
//!
//! - [`tokens`]: words, names, quotations; code and quoted text are nobody's claim.
//! - [`clause`]: clauses, and what they stand under: "if", "you said that", "it seems".
//! - [`english`], [`french`]: verb groups, their tense, mood, negation and voice.
//! - [`senses`]: which acts a verb claims together with its object, and how firmly.
//! - [`tools`]: which acts a tool does, by table, name or description.
//! - [`judge`], [`ask`], [`confirm`]: the five classes of talk that do not match what was done.
//! - [`corpus`]: the labelled sentences that this is measured and gated with.
//!
//! What it does not judge: figures and facts that an answer makes up ("your battery is at 80 %"),
//! and the denial of a capability that a tool does give ("I cannot read files"), for which there is
//! no class.

mod act;
mod ask;
mod check;
mod clause;
mod confirm;
pub mod corpus;
mod english;
mod extract;
mod french;
mod grammar;
mod judge;
mod language;
mod ledger;
mod nominal;
mod nouns;
mod senses;
mod tokens;
mod tools;
mod verbs;

pub use act::Act;
pub use check::{Claim, Finding, check, claims};
pub use grammar::Modality;
pub use language::Language;
pub use ledger::{LedgerEntry, LedgerOutcome};
