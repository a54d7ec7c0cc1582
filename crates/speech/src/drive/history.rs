//! The last minute of the microphone.

use std::collections::VecDeque;

use tenpass_audio::{Audio, SPEECH_RATE};

/// Samples kept: longer than the longest utterance with what comes before it.
const KEPT: usize = 45 * SPEECH_RATE as usize;

/// A ring of samples at 16 kHz that knows their time.
#[derive(Debug, Clone, Default)]
pub struct History {
    samples: VecDeque<f32>,
    /// Samples that were dropped.
    dropped: u64,
}

impl History {
    /// Nothing heard yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the microphone gave next.
    pub fn push(&mut self, samples: &[f32]) {
        self.samples.extend(samples);
        let excess = self.samples.len().saturating_sub(KEPT);
        self.samples.drain(..excess);
        self.dropped += excess as u64;
    }

    /// The sound between two times, as far as it is still there.
    pub fn between(&self, from_us: u64, to_us: u64) -> Audio {
        let index = |us: u64| {
            let sample = u128::from(us) * u128::from(SPEECH_RATE) / 1_000_000;
            (sample.saturating_sub(u128::from(self.dropped)) as usize).min(self.samples.len())
        };
        let (from, to) = (index(from_us), index(to_us));
        Audio::new(self.samples.range(from..to.max(from)).copied().collect(), SPEECH_RATE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_sound_is_dropped_and_times_stay() {
        let mut history = History::new();
        for second in 0..60_u8 {
            history.push(&vec![f32::from(second); 16_000]);
        }
        assert_eq!(history.between(59_000_000, 60_000_000).samples[0].to_string(), "59");
        assert_eq!(history.between(50_000_000, 50_500_000).samples.len(), 8000);
        assert_eq!(history.between(0, 16_000_000).samples.len(), 16_000);
        assert!(history.between(70_000_000, 80_000_000).samples.is_empty());
        assert!(history.between(9, 3).samples.is_empty());
    }
}
