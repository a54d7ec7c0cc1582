//! Whisper's input: the logarithm of a mel spectrogram, 100 frames a second.
//!
//! Frames of 400 samples around every 160th, a periodic Hann window, power, mel bands, then
//! `max(log10(max(x, 1e-10)), highest − 8) / 4 + 1`. Fourier's sums are one matrix product, which costs a
//! hundredth of the encoder.

use candle_core::{Device, Result, Tensor};

use crate::import::{BINS, mel_filters};
use crate::listen::engine::HOP;

const POINTS: usize = 400;

/// Tables for one count of bands.
#[derive(Debug)]
pub(crate) struct Spectrogram {
    /// 400 × 402: cosines, then sines, with the window in them.
    waves: Tensor,
    /// 201 × bands.
    filters: Tensor,
}

impl Spectrogram {
    pub(crate) fn new(bands: usize) -> Result<Self> {
        let turn = std::f64::consts::TAU / POINTS as f64;
        let mut waves = Vec::with_capacity(POINTS * 2 * BINS);
        for at in 0..POINTS {
            let hann = 0.5 - 0.5 * (turn * at as f64).cos();
            let angle = |bin: usize| turn * ((at * bin) % POINTS) as f64;
            waves.extend((0..BINS).map(|bin| (hann * angle(bin).cos()) as f32));
            waves.extend((0..BINS).map(|bin| (hann * angle(bin).sin()) as f32));
        }
        let waves = Tensor::from_vec(waves, (POINTS, 2 * BINS), &Device::Cpu)?;
        let filters = Tensor::from_vec(mel_filters(bands), (bands, BINS), &Device::Cpu)?.t()?.contiguous()?;
        Ok(Self { waves, filters })
    }

    /// 1 × bands × `frames`; silence follows the samples.
    pub(crate) fn of(&self, samples: &[f32], frames: usize) -> Result<Tensor> {
        let half = POINTS / 2;
        let mut padded = Vec::with_capacity(frames * HOP + POINTS);
        // The beginning is mirrored, as in OpenAI's code; what follows is silence.
        padded.extend((1..=half).rev().map(|at| samples.get(at).copied().unwrap_or(0.0)));
        padded.extend_from_slice(&samples[..samples.len().min(frames * HOP)]);
        padded.resize(frames * HOP + POINTS, 0.0);
        let rows: Vec<f32> =
            (0..frames).flat_map(|frame| &padded[frame * HOP..frame * HOP + POINTS]).copied().collect();
        let spectrum = Tensor::from_vec(rows, (frames, POINTS), &Device::Cpu)?.matmul(&self.waves)?.sqr()?;
        let power = (spectrum.narrow(1, 0, BINS)? + spectrum.narrow(1, BINS, BINS)?)?;
        let bands = power.matmul(&self.filters)?;
        let floor = 1e-10f64;
        let logarithm = (bands.maximum(floor)?.log()? / std::f64::consts::LN_10)?;
        let highest = f64::from(logarithm.max_all()?.to_scalar::<f32>()?);
        let scaled = ((logarithm.maximum(highest - 8.0)? / 4.0)? + 1.0)?;
        scaled.t()?.contiguous()?.unsqueeze(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tone_is_loudest_in_its_band_and_silence_is_flat() {
        let spectrogram = Spectrogram::new(80).unwrap();
        let tone: Vec<f32> =
            (0..16_000).map(|at| (at as f32 * std::f32::consts::TAU * 1000.0 / 16_000.0).sin()).collect();
        let mel = spectrogram.of(&tone, 200).unwrap();
        assert_eq!(mel.dims(), [1, 80, 200]);
        let mel: Vec<Vec<f32>> = mel.squeeze(0).unwrap().to_vec2().unwrap();
        let loudest = (0..80).max_by(|a, b| mel[*a][50].total_cmp(&mel[*b][50])).unwrap();
        // 1000 Hz is mel 15 of 45.245, and band b has its peak at 45.245·(b + 1)/81.
        assert!((25..=27).contains(&loudest), "{loudest}");
        // 400·1/4 amplitude squared is 1e4; the filter's peak is about 0.0249.
        assert!((mel[loudest][50] - ((1e4f32 * 0.02).log10() / 4.0 + 1.0)).abs() < 0.1, "{}", mel[loudest][50]);
        // Behind the sound everything is at the floor.
        assert!((mel[loudest][50] - mel[10][150] - 2.0).abs() < 1e-4);
        let silence: Vec<f32> = spectrogram.of(&[0.0; 1600], 100).unwrap().flatten_all().unwrap().to_vec1().unwrap();
        assert!(silence.iter().all(|value| (value - -1.5).abs() < 1e-5));
    }
}
