//! Continuous sound from clips: gaps by chance, so that a word falls on any phase of the 80 ms steps, and a
//! bed of noise under everything, so that a gap is never digital silence.

use tenpass_audio::augment::{Colour, noise};
use tenpass_audio::{Audio, SPEECH_RATE};

use super::events::{Truth, Word};
use super::sound::Sound;
use crate::network::Random;

/// A stretch is closed when it is this long, in seconds.
pub const STRETCH_S: f64 = 180.0;
/// Pauses between clips, in seconds.
const GAP_S: (f64, f64) = (0.35, 1.9);
/// Levels of the bed, in decibels below full scale.
const BED_DBFS: (f64, f64) = (-72.0, -50.0);
/// Before the first clip: a detector scores nothing in the first 16 steps.
const LEAD_S: f64 = 2.0;

/// A stretch of continuous sound and what is said in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    /// At 16 kHz.
    pub samples: Vec<i16>,
    /// What is said when.
    pub truth: Truth,
}

/// Which clips go into which stretch, in a seeded order: lists of positions.
pub fn plan(seconds: &[f64], seed: u64) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..seconds.len()).collect();
    Random::of(seed, &["timeline"]).shuffle(&mut order);
    let mut stretches: Vec<Vec<usize>> = Vec::new();
    let mut length = f64::INFINITY;
    for clip in order {
        if length > STRETCH_S {
            stretches.push(Vec::new());
            length = 0.0;
        }
        length += seconds[clip] + f64::midpoint(GAP_S.0, GAP_S.1);
        if let Some(last) = stretches.last_mut() {
            last.push(clip);
        }
    }
    stretches
}

/// One stretch of these clips; numbers are the caller's, and come back in [`Word::clip`].
pub fn render(clips: &[(usize, &Sound)], seed: u64) -> Stretch {
    let rate = f64::from(SPEECH_RATE);
    let names: Vec<&str> = clips.iter().map(|(_, sound)| sound.hash.as_str()).collect();
    let mut random = Random::of(seed, &["stretch", &names.join(" ")]);
    let mut samples: Vec<f32> = vec![0.0; (LEAD_S * rate) as usize];
    let mut truth = Truth::default();
    for (number, sound) in clips {
        let begin = samples.len();
        samples.extend(sound.samples.iter().map(|sample| f32::from(*sample) / 32_768.0));
        let at = begin as f64 / rate;
        if let Some((from, to)) = sound.voiced_s {
            truth.speech.push((at + from, at + to));
        }
        if let Some(end_s) = sound.word_end_s {
            truth.words.push(Word { end_s: at + end_s, clip: *number });
        }
        // To the sample: a word falls on any phase.
        samples.resize(samples.len() + (random.between(GAP_S.0, GAP_S.1) * rate) as usize, 0.0);
    }
    // A word at the very end still has its hit window.
    samples.resize(samples.len() + rate as usize, 0.0);
    lay_some_bed(&mut samples, &mut random);
    truth.seconds = samples.len() as f64 / rate;
    Stretch { samples: Audio::new(samples, SPEECH_RATE).to_i16(), truth }
}

/// A bed of a colour and a level by chance.
pub(super) fn lay_some_bed(samples: &mut [f32], random: &mut Random) {
    let colour = Colour::ALL[random.below(Colour::ALL.len())];
    let level = random.between(BED_DBFS.0, BED_DBFS.1);
    lay_bed(samples, colour, level, random.bits());
}

fn lay_bed(samples: &mut [f32], colour: Colour, level_dbfs: f64, seed: u64) {
    let bed = noise(colour, samples.len() as f64 / f64::from(SPEECH_RATE) + 0.01, SPEECH_RATE, seed);
    let gain = 10f64.powf((level_dbfs - bed.level_dbfs()) / 20.0) as f32;
    for (sample, bed) in samples.iter_mut().zip(&bed.samples) {
        *sample = (*sample + bed * gain).clamp(-1.0, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound(seconds: f64, word_end_s: Option<f64>) -> Sound {
        let count = (seconds * 16_000.0) as usize;
        let samples: Vec<i16> = (0..count).map(|at| ((at % 100) as i16 - 50) * 100).collect();
        let mut sound = Sound::of(samples);
        sound.word_end_s = word_end_s;
        sound
    }

    #[test]
    fn every_clip_is_in_one_stretch_in_a_seeded_order() {
        let seconds = vec![10.0; 60];
        let planned = plan(&seconds, 1);
        assert!(planned.len() >= 3 && planned.iter().all(|clips| clips.len() <= 20));
        let mut all: Vec<usize> = planned.iter().flatten().copied().collect();
        assert_ne!(all, (0..60).collect::<Vec<_>>());
        all.sort_unstable();
        assert_eq!(all, (0..60).collect::<Vec<_>>());
        assert_eq!(planned, plan(&seconds, 1));
        assert_ne!(planned, plan(&seconds, 2));
    }

    #[test]
    fn words_are_where_the_truth_says_and_phases_differ() {
        let (word, other) = (sound(1.0, Some(0.8)), sound(2.0, None));
        let clips: Vec<(usize, &Sound)> = (0..12).map(|at| (at, if at % 2 == 0 { &word } else { &other })).collect();
        let stretch = render(&clips, 4);
        assert_eq!(stretch.truth.words.len(), 6);
        assert!((stretch.truth.seconds - stretch.samples.len() as f64 / 16_000.0).abs() < 1e-9);
        let mut phases: Vec<i64> = Vec::new();
        for heard in &stretch.truth.words {
            let end = (heard.end_s * 16_000.0).round() as usize;
            // The clip itself, with a bed far below it.
            let begin = end - 12_800;
            let (here, clean) = (f64::from(stretch.samples[begin + 55]), f64::from(word.samples[55]));
            assert!((here - clean).abs() < 300.0, "{here} {clean}");
            phases.push(end as i64 % 1280 / 100);
        }
        phases.sort_unstable();
        phases.dedup();
        assert!(phases.len() > 2, "{phases:?}");
        let silent = &stretch.samples[..16_000];
        assert!(silent.iter().any(|sample| *sample != 0), "a gap is never digital silence");
        assert_eq!(stretch, render(&clips, 4));
    }
}
