//! Settings of the detector.

use serde::{Deserialize, Serialize};

use crate::error::WakeError;

/// Seconds of a frame.
pub const FRAME_S: f64 = 0.08;

/// When an event fires, how long it lasts, and who has to agree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DetectorConfig {
    /// A frame counts when its score is at least this; 0–1.
    pub threshold_on: f32,
    /// The event is over once the score is below this; at most `threshold_on`.
    pub threshold_off: f32,
    /// Frames that must count …
    pub hits: usize,
    /// … of so many in a row (80 ms each; at most 64).
    pub of: usize,
    /// An event lasts at least this long, in ms.
    pub refractory_ms: u32,
    /// With a voice detector: speech must have had this probability within `vad_window_ms`.
    pub vad_threshold: f32,
    /// How far back speech may lie, in ms.
    pub vad_window_ms: u32,
    /// With a verifier: the lowest probability that it is the enrolled speaker. `None`: the verifier's own.
    pub verifier_threshold: Option<f32>,
    /// How long before the firing frame's end the word has ended, in ms: the middle of where training puts it.
    pub word_end_lag_ms: u32,
    /// How long before the word's end the samples handed to speech recognition begin, in ms.
    pub lead_ms: u32,
    /// Samples kept for that, in ms.
    pub pre_roll_ms: u32,
}

impl Default for DetectorConfig {
    fn default() -> Self {
        Self {
            threshold_on: 0.5,
            threshold_off: 0.3,
            hits: 2,
            of: 3,
            refractory_ms: 1500,
            vad_threshold: 0.5,
            vad_window_ms: 960,
            verifier_threshold: None,
            word_end_lag_ms: 100,
            lead_ms: 100,
            pre_roll_ms: 1500,
        }
    }
}

impl DetectorConfig {
    /// Whether every value is in its range.
    pub fn check(&self) -> Result<(), WakeError> {
        thresholds(self.threshold_on, self.threshold_off)?;
        if !(1..=64).contains(&self.of) {
            return refused("of", self.of, "from 1 to 64 frames");
        }
        if !(1..=self.of).contains(&self.hits) {
            return refused("hits", self.hits, "from 1 to as many as `of`");
        }
        if !(0.0..=1.0).contains(&self.vad_threshold) {
            return refused("vad_threshold", self.vad_threshold, "from 0 to 1");
        }
        for (name, value) in [
            ("refractory_ms", self.refractory_ms),
            ("vad_window_ms", self.vad_window_ms),
            ("word_end_lag_ms", self.word_end_lag_ms),
            ("lead_ms", self.lead_ms),
            ("pre_roll_ms", self.pre_roll_ms),
        ] {
            if value > 60_000 {
                return refused(name, value, "at most a minute");
            }
        }
        Ok(())
    }
}

/// Frames that a time takes, rounded up.
pub(super) fn frames(ms: u32) -> u64 {
    u64::from(ms).div_ceil(80)
}

pub(super) fn thresholds(on: f32, off: f32) -> Result<(), WakeError> {
    if !(on > 0.0 && on <= 1.0) {
        return refused("threshold_on", on, "above 0, at most 1");
    }
    if !(0.0..=on).contains(&off) {
        return refused("threshold_off", off, "from 0 to threshold_on");
    }
    Ok(())
}

fn refused<T>(name: &'static str, value: impl std::fmt::Display, wanted: &'static str) -> Result<T, WakeError> {
    Err(WakeError::Setting { name, value: value.to_string(), wanted })
}
