//! Changing the rate: a polyphase filter bank of Kaiser-windowed sinc.
//!
//! The pass band ends at 0.92 of the lower rate's half; what would fold back is 90 dB down. `n` samples become
//! `round(n · to / from)`, whole or by block, with the same values.

use crate::Audio;

/// Zero crossings of the sinc on either side, at the lower rate.
const CROSSINGS: usize = 40;
/// Kaiser's β: about 95 dB in the stop band.
const BETA: f64 = 9.6;
/// Where the filter has half its height, of the lower rate's half.
const CUTOFF: f64 = 0.955;
/// Above this many phases the bank is interpolated.
const MOST_PHASES: u64 = 1_024;

/// Changes the rate of what comes by block.
#[derive(Debug, Clone)]
pub struct Resampler {
    from: u64,
    to: u64,
    /// Phases × taps.
    bank: Vec<f32>,
    phases: u64,
    taps: usize,
    /// Input that is still needed; its first sample is number `first` (before the beginning are zeros).
    window: Vec<f32>,
    first: i64,
    taken: u64,
    given: u64,
}

impl Resampler {
    /// From so many samples a second to so many; zero counts as one.
    pub fn new(from: u32, to: u32) -> Self {
        let (from, to) = (u64::from(from.max(1)), u64::from(to.max(1)));
        let divisor = greatest_common_divisor(from, to);
        let (from, to) = (from / divisor, to / divisor);
        let scale = (to as f64 / from as f64).min(1.0);
        let half = (CROSSINGS as f64 / scale).ceil() as usize;
        let taps = 2 * half;
        let phases = to.min(MOST_PHASES);
        let rows = if phases == to { phases } else { phases + 1 };
        let bank =
            if from == to { Vec::new() } else { (0..rows).flat_map(|row| phase(row, phases, half, scale)).collect() };
        // The first output stands at the first input, whose left neighbours are silence.
        Self { from, to, bank, phases, taps, window: vec![0.0; half], first: -(half as i64), taken: 0, given: 0 }
    }

    /// Takes samples and appends what is finished.
    pub fn push(&mut self, samples: &[f32], out: &mut Vec<f32>) {
        self.taken += samples.len() as u64;
        if self.from == self.to {
            out.extend_from_slice(samples);
            return;
        }
        self.window.extend_from_slice(samples);
        self.emit(u64::MAX, out);
    }

    /// Appends the rest, and begins anew.
    pub fn finish(&mut self, out: &mut Vec<f32>) {
        if self.from != self.to {
            let total = (self.taken * self.to * 2 + self.from) / (self.from * 2);
            self.window.resize(self.window.len() + self.taps + 1, 0.0);
            self.emit(total, out);
        }
        let half = self.taps / 2;
        self.window.clear();
        self.window.resize(half, 0.0);
        (self.first, self.taken, self.given) = (-(half as i64), 0, 0);
    }

    fn emit(&mut self, total: u64, out: &mut Vec<f32>) {
        let half = (self.taps / 2) as i64;
        while self.given < total {
            let position = self.given * self.from;
            let (index, phase) = ((position / self.to) as i64, position % self.to);
            // Taps lie at index − half + 1 ..= index + half.
            let begin = (index - half + 1 - self.first) as usize;
            let Some(input) = self.window.get(begin..begin + self.taps) else { break };
            out.push(self.filtered(input, phase));
            self.given += 1;
        }
        let next = (self.given * self.from / self.to) as i64;
        let old = (next - half + 1 - self.first).clamp(0, self.window.len() as i64) as usize;
        // Moving the rest costs as much as it is long: only when it pays.
        if old > 4 * self.taps.max(1_024) || old == self.window.len() {
            self.window.drain(..old);
            self.first += old as i64;
        }
    }

    fn filtered(&self, input: &[f32], phase: u64) -> f32 {
        let row = |index: u64| &self.bank[index as usize * self.taps..][..self.taps];
        if self.phases == self.to {
            return dot(input, row(phase));
        }
        let scaled = phase * self.phases;
        let (index, rest) = (scaled / self.to, (scaled % self.to) as f32 / self.to as f32);
        let (low, high) = (dot(input, row(index)), dot(input, row(index + 1)));
        low + (high - low) * rest
    }
}

/// One row of the bank: the filter for an output that lies `row / phases` of a sample after an input.
fn phase(row: u64, phases: u64, half: usize, scale: f64) -> impl Iterator<Item = f32> {
    let offset = row as f64 / phases as f64;
    let cutoff = scale * CUTOFF;
    let taps: Vec<f64> = (0..2 * half)
        .map(|tap| {
            let x = tap as f64 - (half as f64 - 1.0) - offset;
            let window = kaiser(x / half as f64);
            let angle = std::f64::consts::PI * x * cutoff;
            let sinc = if angle.abs() < 1e-12 { 1.0 } else { angle.sin() / angle };
            cutoff * sinc * window
        })
        .collect();
    // Every phase lets a constant through unchanged.
    let sum: f64 = taps.iter().sum();
    taps.into_iter().map(move |tap| (tap / sum) as f32)
}

fn kaiser(x: f64) -> f64 {
    if x.abs() >= 1.0 { 0.0 } else { bessel(BETA * (1.0 - x * x).sqrt()) / bessel(BETA) }
}

/// Modified Bessel function of order zero.
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..60 {
        term *= (x / (2.0 * f64::from(k))).powi(2);
        sum += term;
    }
    sum
}

/// In eight lanes, always in the same order.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f32>() + rest
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Changes the rate: `round(n · to / from)` samples. A rate of zero counts as one.
pub fn resample(samples: &[f32], from: u32, to: u32) -> Vec<f32> {
    if from == to {
        return samples.to_vec();
    }
    let mut resampler = Resampler::new(from, to);
    let mut out = Vec::with_capacity((samples.len() as u64 * u64::from(to) / u64::from(from.max(1))) as usize + 1);
    // By block, so that the window stays short.
    for block in samples.chunks(16_384) {
        resampler.push(block, &mut out);
    }
    resampler.finish(&mut out);
    out
}

impl Audio {
    /// The same sound with so many samples a second.
    pub fn at_rate(self, rate: u32) -> Self {
        if self.rate == rate { self } else { Self { samples: resample(&self.samples, self.rate, rate), rate } }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use proptest::prelude::*;

    use super::*;

    fn sine(frequency: f64, rate: u32, count: usize) -> Vec<f32> {
        (0..count).map(|n| (TAU * frequency * n as f64 / f64::from(rate)).sin() as f32).collect()
    }

    fn rms(samples: &[f32]) -> f64 {
        (samples.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / samples.len() as f64).sqrt()
    }

    #[test]
    fn a_tone_keeps_its_frequency_phase_and_level() {
        for (from, to) in
            [(8_000, 16_000), (16_000, 8_000), (44_100, 16_000), (22_050, 16_000), (24_000, 16_000), (12_347, 16_000)]
        {
            let count = from as usize;
            let out = resample(&sine(1_000.0, from, count), from, to);
            assert_eq!(out.len(), to as usize, "{from} to {to}");
            let expected = sine(1_000.0, to, to as usize);
            let edge = to as usize / 50;
            let inner = edge..out.len() - edge;
            let error: Vec<f32> = out[inner.clone()].iter().zip(&expected[inner]).map(|(a, b)| a - b).collect();
            let db = 20.0 * rms(&error).log10();
            assert!(db < -80.0, "{from} to {to}: {db:.1} dB");
        }
    }

    #[test]
    fn what_would_fold_back_is_gone() {
        // 9, 11 and 20 kHz have no place at 16 kHz.
        for frequency in [8_500.0, 9_000.0, 11_000.0, 20_000.0] {
            let out = resample(&sine(frequency, 48_000, 48_000), 48_000, 16_000);
            let inner = rms(&out[400..out.len() - 400]);
            assert!(inner < 1e-4, "{frequency}: {inner}");
        }
        // And nothing is invented above the old half.
        let up = resample(&sine(3_500.0, 8_000, 8_000), 8_000, 16_000);
        let down = resample(&up, 16_000, 8_000);
        let error: Vec<f32> =
            down[200..7_800].iter().zip(&sine(3_500.0, 8_000, 8_000)[200..7_800]).map(|(a, b)| a - b).collect();
        assert!(rms(&error) < 1e-3, "{}", rms(&error));
    }

    #[test]
    fn a_constant_stays_one() {
        let out = resample(&vec![0.5; 4_410], 44_100, 16_000);
        assert!(out[200..1_400].iter().all(|x| (x - 0.5).abs() < 1e-5));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn by_block_is_as_whole(
            samples in prop::collection::vec(-1.0f32..1.0, 0..3_000),
            rates in prop::sample::select(vec![(48_000u32, 16_000u32), (8_000, 16_000), (44_100, 16_000), (16_000, 22_050), (9_999, 16_001), (16_000, 16_000)]),
            cut in 1usize..700,
        ) {
            let (from, to) = rates;
            let whole = resample(&samples, from, to);
            let n = samples.len() as f64 * f64::from(to) / f64::from(from);
            prop_assert_eq!(whole.len(), (n + 0.5).floor() as usize);
            let mut resampler = Resampler::new(from, to);
            for _ in 0..2 {
                let mut pieces = Vec::new();
                samples.chunks(cut).for_each(|piece| resampler.push(piece, &mut pieces));
                resampler.finish(&mut pieces);
                prop_assert_eq!(&pieces, &whole);
            }
        }
    }
}
