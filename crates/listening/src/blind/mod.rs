//! Blind votes: which answers a person prefers who does not know whose they are.
//!
//! ```text
//! prompts × candidates ─► answers, own names taken out ─► ballots ─► votes ─► [`Outcome`]
//!                         (text, or sound at one loudness)  (sealed)           names, tests, checks
//! ```
//! - A [`Ballot`] shows every candidate's answer to one prompt, side by side and complete. Over blocks of ballots each
//!   candidate stands equally often in each place. About one ballot in seven comes a second time in another order,
//!   which says how far the votes agree with themselves.
//! - Who is who is sealed until every ballot is voted: files and pages know candidates by a number that is drawn
//!   anew for each session ([`Session`]). Who looks earlier ends the voting.
//! - Two candidates are judged by the sign test and by an e-value, which may be looked at after any vote; three or
//!   more by the exact multinomial test and by pairs with Holm's correction.

mod ballots;
mod choice;
mod names;
mod outcome;
mod prompts;
mod session;
mod sound;
#[cfg(test)]
mod tests;

pub use ballots::{Ballot, REPLAYED, ballots};
pub use choice::{Choice, ChoiceError};
pub use names::strip_names;
pub use outcome::{Length, Outcome, Pair, Position, Standing, Verdict};
pub use prompts::{BlindPrompt, PromptsError, read_prompts};
pub use session::{
    Answer, BlindError, Candidate, Kind, MOST_CANDIDATES, NewSession, Session, Shown, ShownAnswer, Vote,
};
pub use sound::{LOUDNESS_LUFS, SoundError, at_equal_loudness};
