//! Sounds at one loudness: of two equal voices the louder is preferred.

use ebur128::{EbuR128, Mode};
use tenpass_audio::Audio;

/// What all answers are brought to, in LUFS (ITU-R BS.1770), where no peak forbids it.
pub const LOUDNESS_LUFS: f64 = -23.0;
/// Highest peak, dB below full scale.
const PEAK_DBFS: f64 = -1.0;

/// A sound whose loudness cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SoundError {
    /// Nothing in it is loud enough to be measured.
    #[error("answer {0} is silent: its loudness cannot be compared")]
    Silent(usize),
    /// The measure refuses the sound.
    #[error("the loudness of answer {0} cannot be measured: {1}")]
    Measure(usize, String),
}

/// Brings the sounds of one ballot to equal loudness: [`LOUDNESS_LUFS`], or lower for all of them when one would
/// come above −1 dBFS.
pub fn at_equal_loudness(sounds: &mut [Audio]) -> Result<(), SoundError> {
    let mut gains = Vec::with_capacity(sounds.len());
    let mut too_loud: f64 = 0.0;
    for (place, sound) in sounds.iter().enumerate() {
        let gain = LOUDNESS_LUFS - loudness(place, sound)?;
        let peak = sound.samples.iter().fold(0.0_f64, |peak, sample| peak.max(f64::from(sample.abs())));
        too_loud = too_loud.max(20.0 * peak.log10() + gain - PEAK_DBFS);
        gains.push(gain);
    }
    for (sound, gain) in sounds.iter_mut().zip(gains) {
        let factor = 10.0_f64.powf((gain - too_loud) / 20.0) as f32;
        sound.samples.iter_mut().for_each(|sample| *sample *= factor);
    }
    Ok(())
}

/// Integrated loudness. What is shorter than one block of the measure (0.4 s) is measured repeated.
fn loudness(place: usize, sound: &Audio) -> Result<f64, SoundError> {
    let failed = |error: ebur128::Error| SoundError::Measure(place, error.to_string());
    let mut meter = EbuR128::new(1, sound.rate, Mode::I).map_err(failed)?;
    let whole = (f64::from(sound.rate) * 0.5) as usize;
    let times = whole.div_ceil(sound.samples.len().max(1)).clamp(1, 1 << 16);
    for _ in 0..times {
        meter.add_frames_f32(&sound.samples).map_err(failed)?;
    }
    let loudness = meter.loudness_global().map_err(failed)?;
    if loudness.is_finite() { Ok(loudness) } else { Err(SoundError::Silent(place)) }
}
