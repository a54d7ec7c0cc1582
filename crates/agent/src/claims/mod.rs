//! The claim detector: what an answer says was done, against what the ledger of calls shows.
//!
//! Deterministic, English and French (rule 6 of the tool-call rules; row "words claimed" of the
//! multi-round bench). A sentence is taken apart by rules of grammar, not by a list of sentences:
//!
//! - `tokens`, `names`, `language`: words, file names, quotations; code and quoted text are nobody's claim.
//! - `clause`, `stance`: clauses, and what they stand under: "if", "you said that", "it seems".
//! - `english`, `french`: verb groups, their tense, mood, negation and voice; `verbs` has their forms.
//! - `subjects`, `bare`, `nominal`, `extract`: who did it, also without a subject or a verb.
//! - `senses`, `meanings`: which acts a verb claims with its `objects`, and how firmly.
//! - `tools`: which acts a tool does, by table, name or description.
//! - `judge`, `ask`, `confirm`: the five classes of talk that do not match what was done.
//! - [`corpus`]: the labelled sentences that this is measured and gated with.
//!
//! What it does not judge: figures and facts that an answer makes up ("your battery is at 80 %"),
//! and the denial of a capability that a tool does give ("I cannot read files"), for which there is
//! no class.

#![allow(clippy::match_same_arms, reason = "an arm is a rule of grammar; two rules may have one effect")]
#![allow(clippy::enum_glob_use, reason = "tables of acts read better without a prefix on each")]
#![allow(clippy::unnecessary_wraps, reason = "an arm of a grammar that always succeeds stands beside arms that do not")]
#![allow(clippy::struct_excessive_bools, reason = "what a verb group has shown so far: independent marks")]

mod act;
mod ask;
mod bare;
mod check;
mod clause;
mod concept;
mod confirm;
pub mod corpus;
mod dates;
mod english;
mod extract;
mod french;
mod grammar;
mod judge;
mod language;
mod ledger;
mod meanings;
mod names;
mod nominal;
mod nouns;
mod objects;
mod senses;
mod stance;
mod subjects;
mod tokens;
mod tools;
mod verbs;

pub use act::Act;
pub use check::{Claim, Finding, check, claims};
pub use grammar::Modality;
pub use language::Language;
pub use ledger::{LedgerEntry, LedgerOutcome};
