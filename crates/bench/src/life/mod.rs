//! Cases from life: a turn of the agent that went wrong becomes a case that can be asked again.
//!
//! ```text
//! journals, conversations ─► Life ─► LivedTurn ─► Moment: which request of the turn is the question
//!                                        │
//!              portrait, memory ─► Disguise: secrets masked, personal words replaced
//!                                        │
//!     correction, next turns ─► Candidate: what may have been right ─► Draft ─► check: does it fail today?
//!                                                                       │
//!                                  harvest: proposals of a window ◄─────┴─► file_case: into the suite
//! ```
//!
//! Everything in a trace is data: what a model, a page or a file wrote there is the text of a string in
//! the case, never a part of it, and never decides what should have happened.

mod check;
mod conversation;
mod draft;
mod error;
mod expect;
mod filing;
mod harvest;
mod moment;
mod personal;
mod registry;
mod similar;
#[cfg(test)]
mod tests;
mod turns;

pub use check::{CheckPlan, Checked, FailsToday, check};
pub use draft::{Draft, DraftOptions, LIFE_FAMILY};
pub use error::LifeError;
pub use expect::Candidate;
pub use filing::{Filed, file_case};
pub use harvest::{Harvest, Proposal, drafts_toml, harvest};
pub use moment::{Moment, Signal};
pub use personal::{Disguise, PLACEHOLDERS_FILE, Placeholders, Replaced, Whose};
pub use turns::{Life, LivedCall, LivedTurn};
