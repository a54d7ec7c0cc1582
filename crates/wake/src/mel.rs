//! Mel spectrogram of the speech embedding, computed directly.
//!
//! Frames of 512 samples every 160, no centring; a periodic Hann window of 400 in their middle; power of
//! 257 bins; 32 Slaney bands from 60 to 3800 Hz, normalised by area; decibels with a floor 80 below the
//! loudest of the call; a tenth of that plus 2. Samples are 16-bit values, not fractions of full scale.

use std::f64::consts::TAU;
use std::sync::Arc;

use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftPlanner};

/// Bands of the spectrogram.
pub const MEL_BANDS: usize = 32;
/// Samples of a frame.
pub(crate) const FRAME: usize = 512;
/// Samples from one frame to the next.
pub(crate) const STEP: usize = 160;

const WINDOW: usize = 400;
const WINDOW_START: usize = 56;
const BINS: usize = FRAME / 2 + 1;
const LOWEST_HZ: f64 = 60.0;
const HIGHEST_HZ: f64 = 3800.0;
const RANGE_DB: f32 = 80.0;

/// One frame of the spectrogram.
pub type MelFrame = [f32; MEL_BANDS];

/// The tables of the spectrogram; made once.
pub(crate) struct MelPlan {
    fft: Arc<dyn Fft<f64>>,
    window: [f64; WINDOW],
    /// Per band: the first bin and the weights of the bins from there.
    bands: Vec<(usize, Vec<f32>)>,
}

impl std::fmt::Debug for MelPlan {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("MelPlan")
    }
}

/// Memory of one stream's spectrogram.
#[derive(Debug, Clone)]
pub(crate) struct MelScratch {
    spectrum: Vec<Complex64>,
    fft: Vec<Complex64>,
}

impl MelPlan {
    pub(crate) fn new() -> Self {
        let window = std::array::from_fn(|n| 0.5 - 0.5 * (TAU * n as f64 / WINDOW as f64).cos());
        Self { fft: FftPlanner::new().plan_fft_forward(FRAME), window, bands: bands() }
    }

    pub(crate) fn scratch(&self) -> MelScratch {
        let zero = Complex64::new(0.0, 0.0);
        MelScratch { spectrum: vec![zero; FRAME], fft: vec![zero; self.fft.get_inplace_scratch_len()] }
    }

    /// The frames of one call, appended. Two real frames share one complex transform, in double precision: quiet
    /// bands beside loud ones would keep the rounding of both.
    pub(crate) fn frames(&self, samples: &[f32], scratch: &mut MelScratch, into: &mut Vec<MelFrame>) {
        if samples.len() < FRAME {
            return;
        }
        let (first, count) = (into.len(), (samples.len() - FRAME) / STEP + 1);
        for pair in (0..count).step_by(2) {
            let at = |frame: usize| &samples[frame * STEP + WINDOW_START..][..WINDOW];
            let one = at(pair);
            let two = (pair + 1 < count).then(|| at(pair + 1));
            scratch.spectrum.fill(Complex64::new(0.0, 0.0));
            let places = &mut scratch.spectrum[WINDOW_START..WINDOW_START + WINDOW];
            match two {
                Some(two) => {
                    for (place, ((one, two), weight)) in places.iter_mut().zip(one.iter().zip(two).zip(&self.window)) {
                        *place = Complex64::new(f64::from(*one) * weight, f64::from(*two) * weight);
                    }
                }
                None => {
                    for (place, (one, weight)) in places.iter_mut().zip(one.iter().zip(&self.window)) {
                        *place = Complex64::new(f64::from(*one) * weight, 0.0);
                    }
                }
            }
            self.fft.process_with_scratch(&mut scratch.spectrum, &mut scratch.fft);
            let (one, two) = powers(&scratch.spectrum);
            into.push(self.decibels(&one));
            if pair + 1 < count {
                into.push(self.decibels(&two));
            }
        }
        let frames = &mut into[first..];
        let loudest = frames.iter().flatten().fold(f32::NEG_INFINITY, |loudest, value| loudest.max(*value));
        for value in frames.iter_mut().flatten() {
            *value = value.max(loudest - RANGE_DB) / 10.0 + 2.0;
        }
    }

    fn decibels(&self, power: &[f32; BINS]) -> MelFrame {
        std::array::from_fn(|band| {
            let (start, weights) = &self.bands[band];
            let sum: f32 = power[*start..].iter().zip(weights).map(|(power, weight)| power * weight).sum();
            10.0 * sum.max(1e-10).log10()
        })
    }
}

/// The frames of one call of the spectrogram on samples at 16 kHz, full scale at ±1: `(n − 512) / 160 + 1` of
/// them, none below 512. A stream calls it on 1760 samples every 1280 ([`crate::FrontEnd`]).
pub fn spectrogram(samples: &[f32]) -> Vec<MelFrame> {
    let plan = MelPlan::new();
    let scaled: Vec<f32> = samples.iter().map(|sample| sample * 32_768.0).collect();
    let mut frames = Vec::new();
    plan.frames(&scaled, &mut plan.scratch(), &mut frames);
    frames
}

/// Power of the two real signals that were the real and the imaginary part of one.
fn powers(spectrum: &[Complex64]) -> ([f32; BINS], [f32; BINS]) {
    let (mut one, mut two) = ([0.0; BINS], [0.0; BINS]);
    for bin in 0..BINS {
        let (here, mirrored) = (spectrum[bin], spectrum[(FRAME - bin) % FRAME]);
        let (re, im) = ((here.re + mirrored.re) * 0.5, (here.im - mirrored.im) * 0.5);
        one[bin] = (re * re + im * im) as f32;
        let (re, im) = ((here.im + mirrored.im) * 0.5, (mirrored.re - here.re) * 0.5);
        two[bin] = (re * re + im * im) as f32;
    }
    (one, two)
}

/// Slaney's scale: linear below 1 kHz, logarithmic above.
fn hz_to_mel(hz: f64) -> f64 {
    if hz < 1000.0 { hz * 3.0 / 200.0 } else { 15.0 + (hz / 1000.0).ln() * 27.0 / 6.4f64.ln() }
}

fn mel_to_hz(mel: f64) -> f64 {
    if mel < 15.0 { mel * 200.0 / 3.0 } else { 1000.0 * ((mel - 15.0) * 6.4f64.ln() / 27.0).exp() }
}

fn bands() -> Vec<(usize, Vec<f32>)> {
    let (low, high) = (hz_to_mel(LOWEST_HZ), hz_to_mel(HIGHEST_HZ));
    let edge = |place: usize| mel_to_hz(low + (high - low) * place as f64 / (MEL_BANDS + 1) as f64);
    (0..MEL_BANDS)
        .map(|band| {
            let (left, middle, right) = (edge(band), edge(band + 1), edge(band + 2));
            let weight = |bin: usize| {
                let hz = bin as f64 * 16_000.0 / FRAME as f64;
                let height = ((hz - left) / (middle - left)).min((right - hz) / (right - middle)).max(0.0);
                height * 2.0 / (right - left)
            };
            let start = (0..BINS).find(|bin| weight(*bin) > 0.0).unwrap_or(0);
            let weights = (start..BINS).map(|bin| weight(bin) as f32).take_while(|weight| *weight > 0.0).collect();
            (start, weights)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mel(samples: &[f32]) -> Vec<MelFrame> {
        let plan = MelPlan::new();
        let mut frames = Vec::new();
        plan.frames(samples, &mut plan.scratch(), &mut frames);
        frames
    }

    #[test]
    fn frames_are_counted_without_centring() {
        for (samples, frames) in [(511, 0), (512, 1), (1280, 5), (1760, 8), (16_000, 97), (32_000, 197)] {
            assert_eq!(mel(&vec![1.0; samples]).len(), frames, "{samples}");
        }
    }

    #[test]
    fn a_tone_is_loudest_in_its_band_and_the_floor_is_80_db_below() {
        let tone: Vec<f32> =
            (0..1760).map(|n| 8000.0 * (std::f32::consts::TAU * 1000.0 * n as f32 / 16_000.0).sin()).collect();
        for frame in mel(&tone) {
            let loudest = (0..MEL_BANDS).max_by(|one, two| frame[*one].total_cmp(&frame[*two])).unwrap();
            let edge = |place: f64| mel_to_hz(hz_to_mel(60.0) + (hz_to_mel(3800.0) - hz_to_mel(60.0)) * place / 33.0);
            assert!(edge(loudest as f64) < 1000.0 && edge(loudest as f64 + 2.0) > 1000.0, "band {loudest}");
            let (top, bottom) = (frame[loudest], frame.iter().copied().fold(f32::MAX, f32::min));
            assert!(top - bottom <= 8.0 + 1e-4, "{top} {bottom}");
        }
    }

    #[test]
    fn silence_is_at_the_bottom() {
        assert!(mel(&[0.0; 1760]).iter().flatten().all(|value| (*value + 8.0).abs() < 1e-6));
    }

    #[test]
    fn two_frames_in_one_transform_are_two_transforms() {
        let noise: Vec<f32> = (0..1760u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 16) as f32 - 32_768.0).collect();
        let together = mel(&noise);
        for (place, frame) in together.iter().enumerate() {
            let alone = mel(&noise[place * STEP..place * STEP + FRAME]);
            for (one, two) in frame.iter().zip(&alone[0]) {
                assert!((one - two).abs() < 1e-5, "{one} {two}");
            }
        }
    }
}
