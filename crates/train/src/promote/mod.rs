//! From shadow to service: evidence, conditions, the swap and its record.
//!
//! [`Evidence`] is gathered from a shadow log, the frozen golden set and the candidate's training files;
//! [`Proposal`] holds it against the four conditions. Nothing here promotes: a person does, through
//! [`Service`], which swaps the head's file in one rename and keeps the previous one.

mod conditions;
mod evidence;
mod golden;
mod service;
#[cfg(test)]
mod week;

pub use conditions::{Clause, Condition, Limits, Proposal, State, e_value, one_sided_sign};
pub use evidence::{Evidence, Golden, GoldenClip, LabelCounts, candidates_in_month};
pub use golden::{GoldenError, hear_golden, trained_on};
pub use service::{Decision, InService, Incoming, Service, ServiceError, Step};
