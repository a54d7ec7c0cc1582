//! The loop at work: an [`Agent`] carries out the steps of a [`crate::turn::Turn`].
//!
//! ```text
//!            ┌────────────── flush: records, then events ◄──────────────┐
//!            ▼                                                          │
//!   Turn::next ─► Generate ─► ChatModel::start ──── stream ─► Display ──┤  stop and time beside
//!            ├──► Intend ───► Recorder::intention (on disk, or no call) ─┤  every wait: whatever
//!            ├──► Inspect ──► ToolBox::inspect ──────────────────────────┤  waits is dropped
//!            ├──► Confirm ──► Interaction::confirm ─► Approvals ─────────┤
//!            ├──► Execute ──► ToolBox::run ──────────────────────────────┤
//!            ├──► Escalate ─► Escalation::escalate ──────────────────────┘
//!            └──► Finish ───► TurnReport
//! ```
//!
//! - Text streams while it arrives, without calls, markers and secrets; what turns out not to be
//!   the answer is withdrawn ([`crate::interaction::AgentEvent::Discard`]).
//! - Nothing happens unrecorded: a call whose intention cannot be written does not run, and a trace
//!   that cannot be written ends the turn.
//! - One turn a conversation at a time; a second start is answered busy (Z10).

mod agent;
mod decode;
mod display;
mod driver;
mod escalation;
mod generate;
mod report;
#[cfg(test)]
mod tests;

pub(crate) use decode::AnswerDecoder;

pub use agent::{Agent, AgentSettings};
pub use escalation::Escalation;
pub use report::{TurnError, TurnInput, TurnReport, TurnTimings};
