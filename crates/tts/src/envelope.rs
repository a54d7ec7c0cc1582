//! Loudness over time, taken before playback, for something that moves with the voice.

use serde::Serialize;
use tenpass_audio::Audio;

/// Length of a frame in milliseconds.
pub const FRAME_MS: u32 = 20;
/// What is drawn as nothing, and as full, in dB below full scale.
const SILENT_DB: f32 = -50.0;
const LOUD_DB: f32 = -12.0;
/// How much of the way to a louder, and to a quieter, value is gone in a frame: rise 20 ms, fall 120 ms.
const ATTACK: f32 = 0.632;
const RELEASE: f32 = 0.154;

/// One value in 0..1 for every 20 ms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Envelope {
    /// The values, smoothed: quick to rise, slow to fall.
    pub levels: Vec<f32>,
}

impl Envelope {
    /// Of a whole sound. The last frame may be shorter.
    pub fn of(audio: &Audio) -> Self {
        let frame = (audio.rate as usize * FRAME_MS as usize / 1_000).max(1);
        let mut level = 0.0_f32;
        let levels = audio.samples.chunks(frame).map(|samples| {
            let power = samples.iter().map(|sample| sample * sample).sum::<f32>() / samples.len() as f32;
            let decibels = 10.0 * power.max(1e-12).log10();
            let target = ((decibels - SILENT_DB) / (LOUD_DB - SILENT_DB)).clamp(0.0, 1.0);
            level += (target - level) * if target > level { ATTACK } else { RELEASE };
            level
        });
        Self { levels: levels.collect() }
    }

    /// The value at a time; 0 outside of the sound.
    pub fn at(&self, time_s: f64) -> f32 {
        if time_s < 0.0 {
            return 0.0;
        }
        self.levels.get((time_s * 1_000.0 / f64::from(FRAME_MS)) as usize).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rises_quickly_falls_slowly_and_stays_in_range() {
        let rate = 16_000;
        let mut samples = vec![0.0; 3_200];
        samples.extend((0..6_400).map(|at| 0.5 * (at as f32 * 0.2).sin()));
        samples.extend(vec![0.0; 6_400]);
        let envelope = Envelope::of(&Audio::new(samples, rate));
        assert_eq!(envelope.levels.len(), 50);
        assert!(envelope.levels.iter().all(|level| (0.0..=1.0).contains(level)));
        assert!(envelope.at(0.1) < 1e-6);
        assert!(envelope.at(0.25) > 0.85, "{}", envelope.at(0.25));
        let (just_after, later) = (envelope.at(0.62), envelope.at(0.95));
        assert!(just_after > 0.6 && later < 0.1 && later > 0.0, "{just_after} {later}");
        assert!(envelope.at(-1.0).abs() < f32::EPSILON && envelope.at(9.0).abs() < f32::EPSILON);
        assert!(Envelope::of(&Audio::default()).levels.is_empty());
    }
}
