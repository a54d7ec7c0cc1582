//! Conversations: threads, their running turns, and who follows them.
//!
//! ```text
//! socket ─ say ─► Conversations ─► Room (one a thread) ─► turn task ─► Assistant::say_turn
//!                                   │  ▲                                   │ events
//!                  every follower ◄─┘  └────────── Person (Interaction) ◄──┘
//! ```
//! - [`Room`]: one thread as it is now: what was said, the running turn, its open question, its
//!   followers. Everything about it is published under one lock, numbered by `seq`, so that a
//!   snapshot and the messages after it never disagree.
//! - [`TurnView`]: the running turn as a client shows it; a reload loses nothing.
//! - [`Person`]: the page as the loop sees it; [`Question`]: a confirmation that stands open.
//! - [`Conversations`]: all rooms, the model behind them, the order of things said.
//! - [`commands`]: slash commands and feedback, as `tenpass chat` has them.
//! - [`history`]: a thread read back from the store.

mod commands;
mod conversations;
mod feedback;
mod history;
mod person;
mod question;
mod reread;
mod room;
mod say;
mod turn_task;
mod view;

pub use conversations::{Conversations, Quiet};
pub use history::{Answer, PastTurn};
pub(crate) use person::{Person, Source};
pub use question::Answered;
pub(crate) use question::Question;
pub use room::Room;
pub use say::{Said, SayRefused, Speaker, Taken};
pub use view::{CallView, TurnView};
