//! Levels of 20 ms frames in the band of speech.

use std::f64::consts::PI;

/// Samples of a frame at 16 kHz: 20 ms.
pub const BARGE_FRAME_SAMPLES: usize = 320;
/// Length of a frame in microseconds.
pub const BARGE_FRAME_US: u64 = 20_000;
/// What silence measures, in dB below full scale.
pub const FLOOR_DB: f32 = -100.0;

const RATE: f64 = 16_000.0;
const LOW_HZ: f64 = 100.0;
const HIGH_HZ: f64 = 4_000.0;

/// A section of second order (direct form II transposed); coefficients as in the Audio EQ Cookbook.
#[derive(Debug, Clone, Copy)]
struct Section {
    b: [f64; 3],
    a: [f64; 2],
    state: [f64; 2],
}

#[derive(Clone, Copy, PartialEq)]
enum Pass {
    Low,
    High,
}

impl Section {
    fn new(pass: Pass, hz: f64, q: f64) -> Self {
        let (sin, cos) = (2.0 * PI * hz / RATE).sin_cos();
        let alpha = sin / (2.0 * q);
        let b = match pass {
            Pass::Low => [f64::midpoint(1.0, -cos), 1.0 - cos, f64::midpoint(1.0, -cos)],
            Pass::High => [f64::midpoint(1.0, cos), -1.0 - cos, f64::midpoint(1.0, cos)],
        };
        let a0 = 1.0 + alpha;
        Self { b: b.map(|b| b / a0), a: [-2.0 * cos / a0, (1.0 - alpha) / a0], state: [0.0; 2] }
    }

    fn push(&mut self, x: f64) -> f64 {
        let y = self.b[0] * x + self.state[0];
        self.state = [self.b[1] * x - self.a[0] * y + self.state[1], self.b[2] * x - self.a[1] * y];
        y
    }
}

/// A band pass of fourth order at each end (Butterworth), and the level of what passes.
#[derive(Debug, Clone)]
pub struct BandLevels {
    sections: [Section; 4],
}

impl Default for BandLevels {
    fn default() -> Self {
        Self::new()
    }
}

impl BandLevels {
    /// At rest.
    pub fn new() -> Self {
        // The two Q of a Butterworth filter of fourth order.
        let (flat, peaked) = (0.541_196_1, 1.306_562_96);
        Self {
            sections: [
                Section::new(Pass::High, LOW_HZ, flat),
                Section::new(Pass::High, LOW_HZ, peaked),
                Section::new(Pass::Low, HIGH_HZ, flat),
                Section::new(Pass::Low, HIGH_HZ, peaked),
            ],
        }
    }

    /// The level of this frame in the band, in dB below full scale; [`FLOOR_DB`] at least. Samples that are no
    /// numbers count as silence.
    pub fn push(&mut self, frame: &[f32]) -> f32 {
        let mut sum = 0.0;
        for sample in frame {
            let mut value = if sample.is_finite() { f64::from(*sample) } else { 0.0 };
            for section in &mut self.sections {
                value = section.push(value);
            }
            sum += value * value;
        }
        let mean = sum / frame.len().max(1) as f64;
        (10.0 * mean.max(1e-12).log10()).max(f64::from(FLOOR_DB)) as f32
    }

    /// Levels of all whole frames of a sound at 16 kHz.
    pub fn of(samples: &[f32]) -> Vec<f32> {
        let mut levels = Self::new();
        samples.chunks_exact(BARGE_FRAME_SAMPLES).map(|frame| levels.push(frame)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(hz: f64) -> f32 {
        let samples: Vec<f32> = (0..16_000).map(|i| (2.0 * PI * hz * f64::from(i) / RATE).sin() as f32).collect();
        *BandLevels::of(&samples).last().unwrap()
    }

    #[test]
    fn the_band_passes_and_the_rest_does_not() {
        // A sine of full scale has −3 dB.
        for hz in [200.0, 1000.0, 3000.0] {
            assert!((tone(hz) + 3.01).abs() < 0.7, "{hz}: {}", tone(hz));
        }
        for edge in [100.0, 4000.0] {
            assert!((tone(edge) + 6.02).abs() < 0.6, "{edge}: {}", tone(edge));
        }
        assert!(tone(30.0) < -40.0 && tone(7500.0) < -60.0, "{} {}", tone(30.0), tone(7500.0));
    }

    #[test]
    fn silence_and_nonsense_have_the_floor() {
        assert_eq!(BandLevels::of(&[0.0; 640]), [FLOOR_DB, FLOOR_DB]);
        assert!(BandLevels::of(&[f32::NAN; 320])[0] <= FLOOR_DB);
    }
}
