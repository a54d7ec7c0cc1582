//! Interrupting the agent by voice while it speaks.
//!
//! The microphone hears the agent too. [`BandLevels`] measures both, the microphone and what is played, in frames
//! of 20 ms between 100 and 4,000 Hz; a [`Calibration`] says how loud the agent's own voice comes back; what
//! is louder than that, and speech by a [`crate::VoiceActivity`], is someone else ([`BargeDetector`]).

mod calibration;
mod detector;
mod level;

pub use calibration::{CALIBRATION_FORMAT, Calibration, CalibrationError, Setup, calibrate};
pub use detector::{BargeDetector, BargeOptions, BargeSignal};
pub use level::{BARGE_FRAME_SAMPLES, BARGE_FRAME_US, BandLevels, FLOOR_DB};
