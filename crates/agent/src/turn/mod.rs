//! One turn as a state machine without I/O: a test can step it, [`crate::run`] drives it.
//!
//! ```text
//! the person's message
//!        │
//!        ▼
//!  ┌─► Generate ──── a round: tools, messages, think, options (K1, K2, K3, K8)
//!  │     │
//!  │     ├─ calls ─► Intend each ─► for each: repeats ─► aliases, schema ─► policy ─► Inspect
//!  │     │           (on disk)      (K12)         (K16, K45)                            │
//!  │     │              Execute ◄─ Inspect ◄─ approved ◄─ Confirm ◄─────── asks ◄───────┤
//!  │     │                 │       again                     │                          │
//!  │     │                 │                          no ────┤            runs ─────────┘
//!  │     │                 ▼                                 ▼
//!  │     │            a tool message: the result, or why nothing ran (K21, K44)
//!  │     │                 │
//!  │     │                 ├─ three blocks in a row, or the cap (K5, Z5) ─► after the loop
//!  │     │                 └─ every 4 calls: Generate a summary (R5)
//!  │◄────┼─────────────────┘
//!  │     │
//!  │     └─ no calls ─► unreadable call, made-up marker, announcement without an act:
//!  │◄─ once each ─────── the loop again with what is left (K13, K14, K15)
//!  │                     else, with text: the answer
//!  │                     else after the loop, in this order (K11):
//!  └◄─ once ────────────── (a) a tool succeeded: ask without tools, else its result verbatim
//!                          (b) nothing at all: Escalate, unless a call was rejected or refused
//!                          a fixed honest sentence
//!                          (c) what was answered stays answered over every relaunch (K12)
//! ```
//!
//! - Texts are masked before they enter a message, a record or an event (K46); results are cut to
//!   their cap with the cut stated (R9, K22). Arguments reach the tool and the confirmation as the
//!   model made them.
//! - A result from outside taints the rest of the turn: it is delimited, overrides are dropped,
//!   memory is not written.
//! - Stop keeps the shown text and ends the turn; so does the timeout. K6 forbids to escalate text
//!   that was interrupted, K11b escalates a timeout: so a timeout escalates only without any text.

mod after;
mod answers;
mod budget;
mod calls;
mod compression;
mod conversation;
mod guard;
mod limits;
mod machine;
mod outcome;
mod repeats;
mod setup;
mod step;
#[cfg(test)]
mod tests;
mod wording;

pub use crate::prompt::Language;
pub(crate) use guard::masked_request;
pub use limits::Limits;
pub use machine::Turn;
pub use outcome::{LedgerEntry, TurnOutcome};
pub use setup::{CONTEXT_TOKENS, JUDGE_TEMPERATURE, TurnSetup, loop_options};
pub use step::{Ask, Escalated, EscalationRequest, Generation, Purpose, Step};
