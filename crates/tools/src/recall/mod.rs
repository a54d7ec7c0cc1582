//! What was said and answered before, looked up by words.
//!
//! The tools search an [`Archive`]: the database of conversations, or one in memory. Results are
//! dated, quoted, say what was searched (K22), have at most 8,000 characters and count as untrusted:
//! a past turn is data.

mod archive;
mod listing;
#[cfg(test)]
mod tests;
mod tools;

pub use archive::{Archive, ArchiveError, MemoryArchive, PastAnswer, PastMessage};
pub use listing::MAX_CHARACTERS;
pub use tools::{RecallProviderAnswers, SearchPastConversations, recall_tools};
