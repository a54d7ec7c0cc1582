//! One channel of samples and its rate.

/// One channel of sound.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Audio {
    /// The samples, full scale at ±1.
    pub samples: Vec<f32>,
    /// Samples a second.
    pub rate: u32,
}

impl Audio {
    /// Sound of these samples.
    pub fn new(samples: Vec<f32>, rate: u32) -> Self {
        Self { samples, rate }
    }

    /// Silence.
    pub fn silence(seconds: f64, rate: u32) -> Self {
        Self { samples: vec![0.0; (seconds * f64::from(rate)).round() as usize], rate }
    }

    /// Its length in seconds.
    pub fn seconds(&self) -> f64 {
        if self.rate == 0 { 0.0 } else { self.samples.len() as f64 / f64::from(self.rate) }
    }

    /// As 16-bit integers, what is louder than full scale cut off.
    pub fn to_i16(&self) -> Vec<i16> {
        self.samples.iter().map(|sample| (sample * 32_768.0).round().clamp(-32_768.0, 32_767.0) as i16).collect()
    }

    /// From 16-bit integers.
    pub fn from_i16(samples: &[i16], rate: u32) -> Self {
        Self { samples: samples.iter().map(|sample| f32::from(*sample) / 32_768.0).collect(), rate }
    }

    /// Level of the whole sound in dB below full scale (root mean square); −120 for silence.
    pub fn level_dbfs(&self) -> f64 {
        if self.samples.is_empty() {
            return -120.0;
        }
        let sum: f64 = self.samples.iter().map(|sample| f64::from(*sample) * f64::from(*sample)).sum();
        (10.0 * (sum / self.samples.len() as f64).max(1e-12).log10()).max(-120.0)
    }
}
