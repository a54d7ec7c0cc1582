//! A candidate listens beside the head in service.
//!
//! Both heads score the same embeddings on every frame of 80 ms. Whenever either reaches 0.2 an event is logged, with
//! both scores and whether each would have woken the agent, and a WAV of four seconds beside it. Scores within
//! one second are one event. The log is `shadow.jsonl` in a folder for each candidate, one [`Line`] a line.
//!
//! What neither head hears leaves no event. A [`Prober`] asks for the word and counts who heard it: the absolute rate.
//!
//! What an event was is said by a person, or weakly by what followed; the two are kept apart ([`Label`]).

mod days;
mod listen;
mod log;
mod pairing;
mod probe;

pub use days::{HeardAt, Notes, RecordedDay, recorded_days};
pub use listen::{Follow, Found, Listener, ShadowError, ShadowSetup, with_thresholds};
pub use log::{
    By, Exposure, HeadId, Is, Label, Line, Probe, Recording, Rule, SHADOW_FORMAT, Scored, Session, ShadowEvent,
    ShadowLog, civil_s, read_shadow,
};
pub use pairing::{FRAME_S, FrameScores, LOG_FLOOR, Paired, Pairing};
pub use probe::{ANSWER_S, Heard, Prober};
