//! The bench of barge-in: how often playback stops for nothing, and how loud one has to speak to stop it.
//!
//! A voice narrates into a seeded room; its echo, some noise and, in trials, someone who interrupts reach the
//! microphone. The detector hears the mixture and the reference on a virtual clock. SNR is the level of the one who
//! interrupts over that of the echo, both at the microphone.

mod scene;
mod summary;

use serde::{Deserialize, Serialize};

use crate::store::Pass;

pub use scene::{BargeBench, BargePlan, BargeSounds};
pub use summary::{BargeSummary, SnrRow, summarise_barge};

/// A measured piece of playback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BargePass {
    /// Its number.
    pub index: u32,
    /// The level of the one who interrupts over the echo, in dB; absent where nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snr_db: Option<f64>,
    /// Playback in which nobody interrupted, in seconds.
    pub playback_s: f64,
    /// Stops in it.
    pub false_stops: u32,
    /// Times it was ducked in it.
    pub false_ducks: u32,
    /// From the onset of the voice to the duck, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duck_ms: Option<f64>,
    /// From the onset of the voice to the stop, in milliseconds; absent when it was missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_ms: Option<f64>,
}

impl BargePass {
    /// The name of a pass in its run.
    pub fn key_of(snr_db: Option<f64>, index: u32) -> String {
        match snr_db {
            Some(snr_db) => format!("{snr_db}dB#{index}"),
            None => format!("quiet#{index}"),
        }
    }
}

impl Pass for BargePass {
    fn key(&self) -> String {
        Self::key_of(self.snr_db, self.index)
    }
}
