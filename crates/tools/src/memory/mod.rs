//! The memory on disk, and who may write to it. The rules are [`tenpass_agent::memory`]'s.
//!
//! - [`MemoryFile`]: one Markdown file; every change under a lock, from what the file is now, by an
//!   atomic replacement (K60). A world of a bench has one in a temporary folder.
//! - [`memory_tools`]: what the model may do (K62, K64). [`remember_request`], [`note_failure`],
//!   [`reread_due`]: the three triggers (K63). Each real write gives one signal (K65).

mod ask;
mod disk;
mod error;
mod failure;
mod file;
mod literal;
mod quiet;
#[cfg(test)]
mod tests;
mod tools;

pub use ask::AskError;
pub use disk::MAX_BYTES;
pub use error::MemoryError;
pub use failure::note_failure;
pub use file::{MemoryFile, Undone};
pub use literal::{remember_request, write_effects};
pub use quiet::{RereadFailure, RereadReport, reread_due, reread_quiet, thread_messages};
pub use tools::{UpdateMemory, WriteMemory, memory_tools};
