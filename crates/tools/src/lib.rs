//! The live tool box: what the agent's tools do to files, web, providers and memory.
//!
//! Each tool implements [`tenpass_agent::tool::Tool`]; a [`tenpass_agent::tool::ToolBox`] made of
//! them is what chat, serve and the rounds bench inject into the loop. The loop owns policy,
//! confirmation and journals; nothing here decides whether a call may run.

pub mod assistant;
pub mod cleanup;
pub mod documents;
pub mod files;
pub mod memory;
pub mod page;
pub mod providers;
pub mod recall;
pub mod spend;
pub mod system;
pub mod web;
