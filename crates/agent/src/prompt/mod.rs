//! The messages of a turn, assembled from what the operator wrote and what is only data.
//!
//! The system message holds the operator's text and the user's own portrait (K60), and nothing
//! else: memory entries, provider answers, past turns and names of files are user or assistant
//! messages, cleaned and delimited (R6). Its parts stand in the order of how seldom they change,
//! and the exact time stands next to the person's message, so that the prefix up to the window
//! stays the same from turn to turn and its cache warm (K26).
//!
//! Order: system · memory · provider answers · window of past messages · context · message.
//!
//! ```
//! use tenpass_agent::prompt::{Input, assemble};
//!
//! let now = "2026-03-03T14:05[Europe/Paris]".parse().unwrap();
//! let assembled = assemble(&Input::new("What is the time?", &now));
//! assert_eq!(assembled.messages.last().unwrap().content, "What is the time?");
//! ```

mod assemble;
mod blocks;
mod language;
mod sections;
#[cfg(test)]
mod tests;
mod texts;
mod window;

pub use assemble::{Assembled, Input, assemble};
pub use blocks::{ANSWER_CHARACTERS, ANSWERS_SHOWN, ENTRY_CHARACTERS, MemoryEntry, ProviderAnswer};
pub use language::Language;
pub use sections::{SectionError, Sections};
pub use texts::default_persona;
pub use window::{WINDOW_MESSAGES, join_turns, window};
