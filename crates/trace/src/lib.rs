//! The words every other crate speaks: messages, tool definitions, tool calls, failure classes.
//!
//! Plain data with serde derives; no I/O and no dependency on another room. A type belongs here
//! when at least two rooms exchange it. Field names are the ones stored on disk, so renaming one
//! is a format change.

mod failure;
mod message;
mod tool;

pub use failure::{FailureClass, FailureKind};
pub use message::{Message, Role, ToolCall};
pub use tool::{ToolCategory, ToolDefinition};
