//! The agent: one loop for chat, serve and the benches, with its strategies, policy and rules.
//!
//! The loop never prints, reads configuration or opens a store. Callers inject a
//! [`tenpass_model::ChatModel`], a [`tool::ToolBox`], an [`interaction::Interaction`], a
//! [`interaction::Recorder`] and a [`interaction::Clock`]; they differ only there.
//!
//! - [`select`]: which tools this turn offers, and the clause for the ones it does not.
//! - [`describe`](mod@describe): the restated description that survives a lossy template.
//! - [`structure`]: how tools enter the request and which shape calls come back in.
//! - [`arguments`]: aliases and JSON Schema validation, before anything runs.
//! - [`tool`]: what a tool is to the loop; [`interaction`]: who is asked, what is kept, what time it is.

pub mod arguments;
pub mod describe;
pub mod interaction;
mod schema;
pub mod policy;
pub mod prompt;
pub mod select;
mod strategy;
pub mod structure;
pub mod tool;
mod words;

pub use strategy::{Selection, StrategyError, Structure};
