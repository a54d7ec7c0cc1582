//! The agent: one loop for chat, serve and the benches, with its strategies, policy and rules.
//!
//! The loop never prints, reads configuration or opens a store. Callers inject a
//! [`tenpass_model::ChatModel`], a [`tool::ToolBox`], an [`interaction::Interaction`], a
//! [`interaction::Recorder`] and a [`interaction::Clock`]; they differ only there.
//!
//! - [`turn`]: one turn as a state machine without I/O; [`run`]: what drives it.
//! - [`narration`]: announcements without an act.
//! - [`select`]: which tools this turn offers, and the clause for the ones it does not.
//! - [`describe`](mod@describe): the restated description that survives a lossy template.
//! - [`structure`]: how tools enter the request and which shape calls come back in.
//! - [`arguments`]: aliases and JSON Schema validation, before anything runs.
//! - [`policy`]: whether a call may run: tiers, profiles, approvals.
//! - [`prompt`]: the messages of a turn, operator text apart from data.
//! - [`session`]: what a typed or spoken line is, before any model call; the thread and its undo.
//! - [`feedback`]: labels for what may be learned from.
//! - [`watchdog`]: rules over the trace that the model does not know of.
//! - [`memo`]: the capability memo and the counts of the state file.
//! - [`claims`]: what an answer says was done, against the ledger of calls.
//! - [`untrusted`]: text that others wrote, and what it may never become.
//! - [`tool`]: what a tool is to the loop; [`interaction`]: who is asked, what is kept, what time it is.

pub mod arguments;
pub mod claims;
pub mod describe;
pub mod feedback;
pub mod interaction;
pub mod memo;
pub mod memory;
pub mod narration;
pub mod policy;
pub mod prompt;
pub mod run;
mod schema;
pub mod select;
pub mod session;
mod strategy;
pub mod structure;
#[doc(hidden)]
pub mod testing;
pub mod tool;
pub mod turn;
pub mod untrusted;
pub mod watchdog;
mod words;

pub use strategy::{Retrieval, Selection, StrategyError, Structure};
pub use words::{content_words, fold};
