//! Noise: coloured, and babble of many voices; mixing at a given ratio of signal to noise.

use crate::level::voiced;
use crate::{Audio, Random};

/// Colours of noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Equal power in every hertz.
    White,
    /// Power falls by 3 dB an octave.
    Pink,
    /// Power falls by 6 dB an octave.
    Brown,
}

impl Colour {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::White, Self::Pink, Self::Brown];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::White => "white",
            Self::Pink => "pink",
            Self::Brown => "brown",
        }
    }
}

/// Noise with a root mean square of 0.1 (−20 dBFS).
pub fn noise(colour: Colour, seconds: f64, rate: u32, seed: u64) -> Audio {
    let count = (seconds.max(0.0) * f64::from(rate)).round() as usize;
    let mut random = Random::named(seed, colour.name());
    let mut samples = coloured(colour, count, &mut random);
    level_to(&mut samples, 0.1);
    Audio::new(samples, rate)
}

pub(super) fn coloured(colour: Colour, count: usize, random: &mut Random) -> Vec<f32> {
    match colour {
        Colour::White => (0..count).map(|_| random.normal() as f32).collect(),
        Colour::Pink => pink(count, random),
        Colour::Brown => brown(count, random),
    }
}

/// Kellet's filter: within 0.05 dB of −3 dB an octave above 9 Hz at 44.1 kHz.
fn pink(count: usize, random: &mut Random) -> Vec<f32> {
    const POLES: [(f64, f64); 6] = [
        (0.99886, 0.055_517_9),
        (0.99332, 0.075_075_9),
        (0.96900, 0.153_852_0),
        (0.86650, 0.310_485_6),
        (0.55000, 0.532_952_2),
        (-0.7616, -0.016_898_0),
    ];
    let (mut state, mut late) = ([0.0; 6], 0.0);
    (0..count)
        .map(|_| {
            let white = random.normal();
            for (state, (pole, gain)) in state.iter_mut().zip(POLES) {
                *state = pole * *state + gain * white;
            }
            let value = state.iter().sum::<f64>() + late + 0.5362 * white;
            late = 0.115_926 * white;
            value as f32
        })
        .collect()
}

/// A leaky sum: without the leak it would wander off.
fn brown(count: usize, random: &mut Random) -> Vec<f32> {
    let mut sum = 0.0;
    (0..count)
        .map(|_| {
            sum = 0.995 * sum + random.normal();
            sum as f32
        })
        .collect()
}

pub(super) fn rms(samples: &[f32]) -> f64 {
    (samples.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / samples.len().max(1) as f64).sqrt()
}

fn level_to(samples: &mut [f32], level: f64) {
    let now = rms(samples);
    if now > 0.0 {
        let gain = (level / now) as f32;
        samples.iter_mut().for_each(|x| *x *= gain);
    }
}

/// A murmur of so many voices at once: the clips, looped from random places, all equally loud, with a root mean
/// square of 0.1 together. Without clips it is silence.
pub fn babble(clips: &[Audio], voices: usize, seconds: f64, rate: u32, seed: u64) -> Audio {
    let mut random = Random::named(seed, "babble");
    let mut mix = Audio::silence(seconds, rate);
    let usable: Vec<&Audio> =
        clips.iter().filter(|clip| !clip.samples.is_empty() && rms(&clip.samples) > 0.0).collect();
    if usable.is_empty() {
        return mix;
    }
    for _ in 0..voices.max(1) {
        let mut clip = usable[random.below(usable.len())].clone().at_rate(rate).samples;
        level_to(&mut clip, 0.1);
        let begin = random.below(clip.len());
        mix.samples.iter_mut().zip(clip.iter().cycle().skip(begin)).for_each(|(mix, voice)| *mix += voice);
    }
    level_to(&mut mix.samples, 0.1);
    mix
}

/// Adds noise so that the voiced part of the signal is so many decibels above it; the noise is looped, from
/// its beginning. Returns what was added; a silent signal or silent noise stays as it is.
pub fn mix_at_snr(signal: &mut Audio, noise: &[f32], snr_db: f64) -> Vec<f32> {
    let Some((begin, end)) = voiced(signal) else { return Vec::new() };
    let level = rms(&signal.samples[begin..end]);
    if level == 0.0 || noise.is_empty() {
        return Vec::new();
    }
    let mut added: Vec<f32> = noise.iter().copied().cycle().take(signal.samples.len()).collect();
    // What counts is the noise under the speech.
    let under = rms(&added[begin..end]);
    if under == 0.0 {
        return Vec::new();
    }
    let gain = (level / under * 10f64.powf(-snr_db / 20.0)) as f32;
    added.iter_mut().for_each(|x| *x *= gain);
    signal.samples.iter_mut().zip(&added).for_each(|(signal, noise)| *signal += noise);
    added
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustfft::FftPlanner;
    use rustfft::num_complex::Complex;

    /// Mean power between two frequencies, in dB.
    fn band(samples: &[f32], rate: u32, low: f64, high: f64) -> f64 {
        let mut spectrum: Vec<Complex<f64>> = samples.iter().map(|x| Complex::new(f64::from(*x), 0.0)).collect();
        FftPlanner::new().plan_fft_forward(spectrum.len()).process(&mut spectrum);
        let bin = |hertz: f64| (hertz * samples.len() as f64 / f64::from(rate)) as usize;
        let bins = &spectrum[bin(low)..bin(high)];
        10.0 * (bins.iter().map(Complex::norm_sqr).sum::<f64>() / bins.len() as f64).log10()
    }

    #[test]
    fn colours_have_their_slopes() {
        for (colour, slope) in [(Colour::White, 0.0), (Colour::Pink, -3.0), (Colour::Brown, -6.0)] {
            let noise = noise(colour, 8.0, 16_000, 5);
            assert!((rms(&noise.samples) - 0.1).abs() < 1e-4);
            let octaves =
                (band(&noise.samples, 16_000, 1_000.0, 2_000.0) - band(&noise.samples, 16_000, 250.0, 500.0)) / 2.0;
            assert!((octaves - slope).abs() < 0.6, "{colour:?}: {octaves}");
        }
    }

    #[test]
    fn the_asked_ratio_is_the_measured_one() {
        let clean = noise(Colour::Pink, 1.0, 16_000, 1);
        let mut padded = Audio::silence(0.5, 16_000);
        padded.samples.extend(&clean.samples);
        padded.samples.extend(vec![0.0; 8_000]);
        for snr in [-15.0, 0.0, 17.5, 30.0] {
            let mut mixed = padded.clone();
            let added = mix_at_snr(&mut mixed, &noise(Colour::White, 0.7, 16_000, 9).samples, snr);
            let rest: Vec<f32> = mixed.samples.iter().zip(&padded.samples).map(|(a, b)| a - b).collect();
            let measured = 20.0 * (rms(&clean.samples) / rms(&rest[8_000..24_000])).log10();
            assert!((measured - snr).abs() < 0.05, "{snr}: {measured}");
            assert_eq!(added.len(), mixed.samples.len());
        }
        let mut silence = Audio::silence(1.0, 16_000);
        assert!(mix_at_snr(&mut silence, &[0.1], 10.0).is_empty());
    }

    #[test]
    fn babble_is_of_the_length_and_level_that_were_asked() {
        let clips =
            [noise(Colour::Pink, 0.3, 8_000, 1), noise(Colour::Brown, 0.4, 16_000, 2), Audio::silence(1.0, 16_000)];
        let mix = babble(&clips, 5, 2.0, 16_000, 7);
        assert_eq!((mix.samples.len(), mix.rate), (32_000, 16_000));
        assert!((rms(&mix.samples) - 0.1).abs() < 1e-3);
        assert_eq!(mix, babble(&clips, 5, 2.0, 16_000, 7));
        assert_ne!(mix, babble(&clips, 5, 2.0, 16_000, 8));
        assert_eq!(rms(&babble(&[], 5, 1.0, 16_000, 7).samples), 0.0);
    }
}
