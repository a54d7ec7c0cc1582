//! What a person typed or said, read by code before any model call, and the thread it belongs to.
//!
//! [`Input::parse`] decides, in this order: the emergency formula (K49), a slash command, typed
//! feedback (K90), a message. [`spoken_reply`] and [`typed_reply`] read answers to confirmations
//! (K82). [`SessionState`] keeps the thread and its undo.

mod command;
mod emergency;
mod input;
mod reply;
mod state;

pub use command::{COMMANDS, Command, CommandEntry, ThinkSetting, help};
pub use emergency::is_emergency;
pub use input::{Feedback, Input};
pub use reply::{spoken_reply, typed_reply};
pub use state::{Exchange, KEPT_EXCHANGES, SessionState, Undone, WrittenEntry};

use crate::words::fold;

/// The folded words of an utterance: lower case, no accents, no punctuation; an apostrophe ends a
/// word ("d'accord" is two).
fn words(text: &str) -> Vec<String> {
    fold(text)
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
