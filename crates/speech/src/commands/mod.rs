//! Closed commands: what can be said after the wake word, with no model in the loop.
//!
//! Two axes and a few words: a name opens a view ("calendar"), a verb with a number or a name acts on a line
//! ("read 3"), a word navigates ("back"). [`Commands::load`] reads `commands.toml`, whose head explains its form;
//! [`Commands::dispatch`] says what an utterance is taken for, and why. "None of these" is always possible: nothing
//! is near enough, or two commands are nearly as near. [`Learned`] keeps what the user taught.
//! [`check`](check()) measures how often something else is taken for a command, chooses thresholds on one half of
//! the sentences of `other.toml` and reports the rates on the other half.

mod check;
mod check_altered;
mod dispatch;
mod error;
mod file;
mod language;
mod learned;
mod numbers;
mod other;
mod pattern;
mod phonetic;
#[cfg(test)]
mod tests;
mod text;
mod wake;

pub use check::{Check, ClosePair, Count, FalseCommand, Rates, check, taken};
pub use dispatch::{Commands, Dispatch, How, Near, Phrase, Slots, Why};
pub use error::CommandsError;
pub use file::{Axis, Command, FORMAT, Matching};
pub use language::Language;
pub use learned::{Learned, LearnedPhrase, MOST as MOST_LEARNED, Proposal};
pub use numbers::{Number, number, spoken as spoken_number};
pub use other::{Sentence, load_other};
pub use phonetic::{key as sounds, sound_distance};
pub use text::{fold, words};
