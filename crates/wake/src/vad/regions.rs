//! Where speech is in a recording.

use tenpass_audio::{Audio, SPEECH_RATE};

use super::{VAD_BLOCK, Vad};

/// A stretch of speech, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Region {
    /// Where it begins.
    pub start_s: f64,
    /// Where it ends.
    pub end_s: f64,
}

/// When a stretch begins and ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegionOptions {
    /// Speech begins at this probability.
    pub threshold_on: f32,
    /// Speech may end below this one.
    pub threshold_off: f32,
    /// Silence shorter than this does not end it, in ms.
    pub hangover_ms: u32,
    /// A stretch shorter than this is none, in ms.
    pub shortest_ms: u32,
    /// Added on both sides, in ms.
    pub margin_ms: u32,
}

impl Default for RegionOptions {
    fn default() -> Self {
        Self { threshold_on: 0.5, threshold_off: 0.35, hangover_ms: 300, shortest_ms: 96, margin_ms: 100 }
    }
}

/// The stretches of speech in a sound of any rate, in order, apart from each other.
pub fn speech_regions(vad: &mut Vad, audio: &Audio, options: &RegionOptions) -> Vec<Region> {
    let resampled;
    let samples = if audio.rate == SPEECH_RATE {
        &audio.samples
    } else {
        resampled = audio.clone().at_rate(SPEECH_RATE);
        &resampled.samples
    };
    let block_s = VAD_BLOCK as f64 / f64::from(SPEECH_RATE);
    regions(&vad.probabilities(samples), block_s, audio.seconds(), options)
}

fn regions(probabilities: &[f32], block_s: f64, length_s: f64, options: &RegionOptions) -> Vec<Region> {
    let seconds = |ms: u32| f64::from(ms) / 1000.0;
    let mut found: Vec<Region> = Vec::new();
    // Where the stretch began, and the end of its last block that was speech.
    let mut open: Option<(f64, f64)> = None;
    let mut close = |(start, end): (f64, f64)| {
        if end - start + 1e-9 < seconds(options.shortest_ms) {
            return;
        }
        let start_s = (start - seconds(options.margin_ms)).max(0.0);
        let end_s = (end + seconds(options.margin_ms)).min(length_s);
        match found.last_mut().filter(|last| last.end_s >= start_s) {
            Some(last) => last.end_s = end_s,
            None => found.push(Region { start_s, end_s }),
        }
    };
    for (place, probability) in probabilities.iter().enumerate() {
        let (start, end) = (place as f64 * block_s, (place + 1) as f64 * block_s);
        open = match open {
            None if *probability >= options.threshold_on => Some((start, end)),
            Some((from, _)) if *probability >= options.threshold_off => Some((from, end)),
            Some((from, last)) if end - last + 1e-9 >= seconds(options.hangover_ms) => {
                close((from, last));
                None
            }
            other => other,
        };
    }
    open.map(&mut close);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(probabilities: &[f32]) -> Vec<(f64, f64)> {
        let options = RegionOptions { hangover_ms: 200, shortest_ms: 200, margin_ms: 50, ..RegionOptions::default() };
        let length = probabilities.len() as f64 * 0.1;
        regions(probabilities, 0.1, length, &options).iter().map(|r| (r.start_s, r.end_s)).collect()
    }

    #[test]
    fn a_stretch_has_margins_and_survives_a_short_silence() {
        let close = |one: &[(f64, f64)], two: &[(f64, f64)]| {
            one.len() == two.len() && one.iter().zip(two).all(|(a, b)| (a.0 - b.0).abs() + (a.1 - b.1).abs() < 1e-9)
        };
        assert!(close(&found(&[0.0, 0.9, 0.9, 0.0, 0.0, 0.0]), &[(0.05, 0.35)]));
        assert!(close(&found(&[0.0, 0.9, 0.1, 0.9, 0.0, 0.0, 0.0]), &[(0.05, 0.45)]));
        assert!(close(&found(&[0.9, 0.4, 0.4, 0.3, 0.3, 0.9, 0.9]), &[(0.0, 0.35), (0.45, 0.7)]));
    }

    #[test]
    fn a_click_and_silence_are_no_speech() {
        assert_eq!(found(&[0.0, 0.9, 0.0, 0.0, 0.0]), []);
        assert_eq!(found(&[0.4; 20]), []);
        assert_eq!(found(&[]), []);
    }
}
