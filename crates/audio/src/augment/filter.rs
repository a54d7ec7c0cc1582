//! Second-order filters: bell-shaped equaliser and notch (Bristow-Johnson's cookbook), and the soft clipper.

use std::f64::consts::TAU;

use crate::Random;

/// Centres of the equaliser's seven bands, in hertz; what lies above 0.45 of the rate is left out.
const BANDS: [f64; 7] = [80.0, 180.0, 400.0, 900.0, 1_900.0, 3_700.0, 6_500.0];

struct Biquad {
    b: [f64; 3],
    a: [f64; 2],
}

impl Biquad {
    fn bell(frequency: f64, rate: f64, q: f64, gain_db: f64) -> Self {
        let (gain, w) = (10f64.powf(gain_db / 40.0), TAU * frequency / rate);
        let alpha = w.sin() / (2.0 * q);
        Self::normalised(
            [1.0 + alpha * gain, -2.0 * w.cos(), 1.0 - alpha * gain],
            [1.0 + alpha / gain, -2.0 * w.cos(), 1.0 - alpha / gain],
        )
    }

    fn notch(frequency: f64, rate: f64, q: f64) -> Self {
        let w = TAU * frequency / rate;
        let alpha = w.sin() / (2.0 * q);
        Self::normalised([1.0, -2.0 * w.cos(), 1.0], [1.0 + alpha, -2.0 * w.cos(), 1.0 - alpha])
    }

    fn normalised(b: [f64; 3], a: [f64; 3]) -> Self {
        Self { b: b.map(|b| b / a[0]), a: [a[1] / a[0], a[2] / a[0]] }
    }

    fn apply(&self, samples: &mut [f32]) {
        let (mut s1, mut s2) = (0.0, 0.0);
        for sample in samples {
            let x = f64::from(*sample);
            let y = self.b[0] * x + s1;
            s1 = self.b[1] * x - self.a[0] * y + s2;
            s2 = self.b[2] * x - self.a[1] * y;
            *sample = y as f32;
        }
    }
}

/// Seven bands, each raised or lowered by up to so many decibels.
pub(super) fn equalise(samples: &mut [f32], rate: u32, most_db: f64, random: &mut Random) {
    let rate = f64::from(rate);
    for band in BANDS {
        let (frequency, gain) = (band * random.range(0.75, 1.33), random.range(-most_db, most_db));
        let q = random.range(0.6, 1.4);
        if frequency < 0.45 * rate {
            Biquad::bell(frequency, rate, q, gain).apply(samples);
        }
    }
}

/// Takes out a band of a third to one and a third octaves.
pub(super) fn band_stop(samples: &mut [f32], rate: u32, random: &mut Random) {
    let rate = f64::from(rate);
    let highest = (0.42 * rate).clamp(201.0, 4_000.0);
    let frequency = 200.0 * (highest / 200.0).powf(random.unit());
    let q = random.range(1.0, 4.0);
    Biquad::notch(frequency, rate, q).apply(samples);
}

/// A soft clipper that keeps the level. The amount, 0..1, decides how far into the curve the peak is driven.
pub(super) fn tanh_distortion(samples: &mut [f32], amount: f64) {
    let peak = samples.iter().fold(0.0f32, |peak, x| peak.max(x.abs()));
    if peak == 0.0 {
        return;
    }
    let power = |samples: &[f32]| samples.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
    let before = power(samples);
    let drive = (0.3 + 5.0 * amount.clamp(0.0, 1.0)) as f32 / peak;
    samples.iter_mut().for_each(|x| *x = (*x * drive).tanh());
    let gain = (before / power(samples)).sqrt() as f32;
    samples.iter_mut().for_each(|x| *x *= gain);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain_db(filter: &Biquad, frequency: f64) -> f64 {
        let mut tone: Vec<f32> =
            (0..32_000).map(|n| (TAU * frequency * f64::from(n) / 16_000.0).sin() as f32).collect();
        filter.apply(&mut tone);
        let tail = &tone[16_000..];
        10.0 * (2.0 * tail.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / tail.len() as f64).log10()
    }

    #[test]
    fn filters_do_what_they_say() {
        let bell = Biquad::bell(1_000.0, 16_000.0, 1.0, 6.0);
        assert!((gain_db(&bell, 1_000.0) - 6.0).abs() < 0.01);
        assert!(gain_db(&bell, 60.0).abs() < 0.1);
        let notch = Biquad::notch(1_000.0, 16_000.0, 2.0);
        assert!(gain_db(&notch, 1_000.0) < -60.0 && gain_db(&notch, 4_000.0).abs() < 0.3);
    }

    #[test]
    fn distortion_keeps_the_level_and_flattens_peaks() {
        let tone: Vec<f32> = (0..16_000).map(|n| 0.3 * (n as f32 * 0.05).sin()).collect();
        let mut bent = tone.clone();
        tanh_distortion(&mut bent, 1.0);
        let power = |samples: &[f32]| samples.iter().map(|x| x * x).sum::<f32>();
        assert!((power(&bent) / power(&tone) - 1.0).abs() < 1e-3);
        let peak = |samples: &[f32]| samples.iter().fold(0.0f32, |peak, x| peak.max(x.abs()));
        assert!(peak(&bent) < 0.85 * peak(&tone));
        let mut silence = [0.0; 8];
        tanh_distortion(&mut silence, 0.5);
        assert_eq!(silence, [0.0; 8]);
    }
}
