//! Drives a [`crate::VoiceTurn`] with real parts: engines, a device, a clock.
//!
//! One loop serves two clocks ([`Work`]). [`VirtualWork`] carries each job out at once and delivers its answer when it
//! would have been there, by the time it took or by a time written down: sound of minutes passes in the time
//! of its computing, and with written times two runs are equal to the microsecond. [`RealWork`] has a thread for each
//! engine and waits.

mod driver;
mod history;
mod parts;
mod player;
mod real;
mod simulated;
#[cfg(test)]
mod tests;
mod work;

pub use driver::{DUCK_GAIN, DriveOptions, Driver, Report, Wake};
pub use history::History;
pub use parts::{
    Components, Ears, EngineEars, EngineMouth, Mouth, Piece, Responder, Router, ScriptedEars, ScriptedMouth,
    ScriptedResponder, Timed, silence_around,
};
pub use player::Player;
pub use real::RealWork;
pub use simulated::VirtualWork;
pub use work::{Done, Job, Work};
