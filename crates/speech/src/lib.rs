//! From sound to action: closed commands, endpointing, barge-in, the voice turn.
//!
//! [`VoiceTurn`] is the turn as a state machine without I/O; [`drive`] gives it engines, a device and a clock, virtual
//! or real. [`Endpointer`] says when someone has finished, [`barge`] who speaks while the agent does, [`Milestones`]
//! where the time went.

pub mod commands;

mod activity;
pub mod barge;
pub mod drive;
mod endpoint;
mod heard;
mod parts;
mod phantom;
pub mod turn;

pub use activity::{FRAME_SAMPLES, FRAME_US, ScriptedActivity, VoiceActivity};
pub use endpoint::{EndReason, EndpointEvent, EndpointMode, EndpointOptions, Endpointer, Hint};
pub use heard::Heard;
pub use parts::{Milestones, PART_NAMES, Parts};
pub use phantom::{is_phantom, is_phantom_interruption};
pub use turn::VoiceTurn;
