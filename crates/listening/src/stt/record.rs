//! One line of a run: a clip transcribed by an arm.

use serde::{Deserialize, Serialize};
use tenpass_stt::Transcript;

use crate::store::Pass;

/// What an arm heard in a clip. Raw: scores are made when it is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SttPass {
    /// The arm's id.
    pub arm: String,
    /// The clip's file.
    pub clip: String,
    /// Counted from 1.
    pub pass: u32,
    /// The text; empty for nothing.
    pub text: String,
    /// Mean log-probability of the segments.
    #[serde(default)]
    pub log_probability: Option<f32>,
    /// The highest probability that nothing was said.
    #[serde(default)]
    pub no_speech: Option<f32>,
    /// The highest temperature that was needed.
    #[serde(default)]
    pub temperature: f32,
    /// Time of the transcription in milliseconds.
    pub total_ms: f64,
    /// Length of the sound in seconds.
    pub audio_s: f64,
    /// Why there is no text: such a pass is INVALID and scored nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl SttPass {
    /// From a transcript.
    pub(crate) fn of(arm: &str, clip: &str, pass: u32, transcript: &Transcript) -> Self {
        let segments = &transcript.segments;
        let count = segments.len() as f32;
        let mean = segments.iter().map(|segment| segment.log_probability).sum::<f32>() / count;
        let highest = |value: fn(&tenpass_stt::Segment) -> f32| segments.iter().map(value).reduce(f32::max);
        Self {
            arm: arm.to_owned(),
            clip: clip.to_owned(),
            pass,
            text: transcript.text(),
            log_probability: mean.is_finite().then_some(mean),
            no_speech: highest(|segment| segment.no_speech).filter(|value| value.is_finite()),
            temperature: highest(|segment| segment.temperature).filter(|value| value.is_finite()).unwrap_or(0.0),
            total_ms: transcript.total_ms,
            audio_s: transcript.audio_s,
            error: None,
        }
    }

    /// Whether another pass could differ: a higher temperature was needed, or nothing came out.
    pub(crate) fn sampled(&self) -> bool {
        self.temperature > 0.0 || self.text.is_empty() && self.error.is_none()
    }
}

impl Pass for SttPass {
    fn key(&self) -> String {
        key(&self.arm, &self.clip, self.pass)
    }
}

pub(crate) fn key(arm: &str, clip: &str, pass: u32) -> String {
    format!("{arm}\u{1f}{clip}\u{1f}{pass}")
}
