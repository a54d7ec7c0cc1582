//! The agent's strategies and rules: which tools a turn offers, how they reach the model, and
//! what makes a call valid.
//!
//! Tool definitions come in from the caller ([`tenpass_trace::ToolDefinition`]); a request ready
//! for any [`tenpass_model::ChatModel`] goes out. Everything here is a pure function: no I/O, no
//! configuration, no clock. Strategies are values ([`Selection`], [`Structure`]), so that a bench
//! can hold one against another.
//!
//! - [`select`]: which tools this turn offers, and the clause for the ones it does not.
//! - [`describe`](mod@describe): the restated description that survives a lossy template.
//! - [`structure`]: how tools enter the request and which shape calls come back in.
//! - [`arguments`]: aliases and JSON Schema validation, before anything runs.

pub mod arguments;
pub mod describe;
mod schema;
pub mod select;
mod strategy;
pub mod structure;
mod words;

pub use strategy::{Selection, StrategyError, Structure};
