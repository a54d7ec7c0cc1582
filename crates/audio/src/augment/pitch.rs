//! Pitch without length: overlapping pieces at their most similar places (WSOLA, Verhelst and Roelands 1993),
//! then another rate.

use crate::resample;

/// Length of a piece.
const PIECE_S: f64 = 0.032;
/// How far a piece may be moved to fit.
const SEARCH_S: f64 = 0.008;

/// Raises or lowers the pitch by semitones; length and timing stay.
pub(super) fn shift(samples: &[f32], rate: u32, semitones: f64) -> Vec<f32> {
    let factor = 2f64.powf(semitones / 12.0);
    // Rates in whole hertz: the error is below a tenth of a cent.
    let scale = 100_000.0;
    let longer = stretch(samples, rate, factor);
    let mut out = resample(&longer, (scale * factor) as u32, scale as u32);
    out.resize(samples.len(), 0.0);
    out
}

/// Makes the sound so many times as long, with the same pitch.
fn stretch(samples: &[f32], rate: u32, factor: f64) -> Vec<f32> {
    let half = ((f64::from(rate) * PIECE_S / 2.0) as usize).max(8);
    let piece = 2 * half;
    let search = (f64::from(rate) * SEARCH_S) as usize;
    let total = (samples.len() as f64 * factor).round() as usize;
    // Zeros around, so that pieces at the ends are whole.
    let pad = half + search;
    let mut input = vec![0.0; pad];
    input.extend_from_slice(samples);
    input.resize(input.len() + piece + pad, 0.0);
    let window: Vec<f32> = (0..piece)
        .map(|n| (0.5 - 0.5 * (std::f64::consts::TAU * (n as f64 + 0.5) / piece as f64).cos()) as f32)
        .collect();
    let mut out = vec![0.0; total + 2 * piece];
    let mut follow: Option<usize> = None;
    let mut at = 0;
    while at < total + half {
        // The piece whose middle belongs to the output's middle `at`; the output begins `half` early.
        let middle = (at as f64 / factor) as usize;
        let ideal = (middle + pad - half).min(input.len() - piece);
        let begin = follow.map_or(ideal, |next| best(&input, ideal, next.min(input.len() - piece), piece, search));
        for ((out, x), w) in out[at..].iter_mut().zip(&input[begin..begin + piece]).zip(&window) {
            *out += x * w;
        }
        follow = Some(begin + half);
        at += half;
    }
    out[half..half + total].to_vec()
}

/// The place around `ideal` that is most like what would have followed.
fn best(input: &[f32], ideal: usize, next: usize, piece: usize, search: usize) -> usize {
    let wanted = &input[next..next + piece];
    let candidates = ideal.saturating_sub(search)..=(ideal + search).min(input.len() - piece);
    let score = |begin: usize| {
        let there = &input[begin..begin + piece];
        let (mut product, mut energy) = (0.0f32, 1e-9f32);
        for (a, b) in wanted.iter().step_by(2).zip(there.iter().step_by(2)) {
            product += a * b;
            energy += b * b;
        }
        product / energy.sqrt()
    };
    let mut found = (ideal, score(ideal));
    for candidate in candidates {
        let value = score(candidate);
        if value > found.1 {
            found = (candidate, value);
        }
    }
    found.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustfft::FftPlanner;
    use rustfft::num_complex::Complex;

    /// The strongest frequency.
    fn pitch(samples: &[f32], rate: u32) -> f64 {
        let mut spectrum: Vec<Complex<f64>> = samples.iter().map(|x| Complex::new(f64::from(*x), 0.0)).collect();
        FftPlanner::new().plan_fft_forward(spectrum.len()).process(&mut spectrum);
        let half = spectrum.len() / 2;
        let loudest = (1..half).max_by(|a, b| spectrum[*a].norm().total_cmp(&spectrum[*b].norm())).unwrap();
        loudest as f64 * f64::from(rate) / spectrum.len() as f64
    }

    #[test]
    fn pitch_moves_and_time_does_not() {
        for semitones in [-3.0, -1.0, 2.0, 3.0] {
            let mut samples = vec![0.0; 8_000];
            samples.extend(
                (0..16_000).map(|n| 0.5 * (std::f64::consts::TAU * 300.0 * f64::from(n) / 16_000.0).sin() as f32),
            );
            samples.extend(vec![0.0; 8_000]);
            let shifted = shift(&samples, 16_000, semitones);
            assert_eq!(shifted.len(), samples.len());
            let expected = 300.0 * 2f64.powf(semitones / 12.0);
            let heard = pitch(&shifted[9_000..23_000], 16_000);
            assert!((heard - expected).abs() < 2.5, "{semitones}: {heard} for {expected}");
            let audio = crate::Audio::new(shifted, 16_000);
            let (begin, end) = crate::level::voiced(&audio).unwrap();
            assert!(begin.abs_diff(8_000) < 320 && end.abs_diff(24_000) < 320, "{semitones}: {begin} {end}");
            let level = crate::augment::noise::rms(&audio.samples[9_000..23_000]);
            assert!((level - 0.3535).abs() < 0.04, "{semitones}: {level}");
        }
        assert!(shift(&[], 16_000, 2.0).is_empty());
        assert_eq!(shift(&[0.1; 5], 16_000, 2.0).len(), 5);
    }
}
