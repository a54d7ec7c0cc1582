//! The words every other crate speaks, and the record of what happened.
//!
//! - Plain data with serde derives: messages, tool definitions, tool calls, failure classes, and the
//!   events a turn leaves behind ([`record`]). A type belongs here when at least two rooms exchange
//!   it. Field names are the ones stored on disk, so renaming one is a format change.
//! - [`mask`](mod@mask): secrets replaced before a model, a journal or a page sees them.

pub mod database;
mod failure;
pub mod journal;
pub mod mask;
mod message;
pub mod record;
mod tool;

pub use failure::{FailureClass, FailureKind};
pub use message::{Message, Role, ToolCall};
pub use record::{CallOutcome, ConfirmationAnswer, Intention, RetryReason, Tier, TraceEvent, TraceRecord, TurnEnd};
pub use tool::{ToolCategory, ToolDefinition};
