//! How loud a sound is, where speech begins and ends in it, and whether a recording is good enough.

use crate::Audio;

/// Frames of this length are what is loud or silent.
const FRAME_S: f64 = 0.01;
/// A frame that is so far below the loudest ones is no speech.
const BELOW_SPEECH_DB: f64 = 40.0;
/// Nor is one below this.
const SILENT_DBFS: f64 = -65.0;
/// Samples from here on are at full scale.
const FULL_SCALE: f32 = 0.998;

/// Measures of a sound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loudness {
    /// Root mean square of everything, dB below full scale.
    pub level_dbfs: f64,
    /// The highest sample, dB below full scale.
    pub peak_dbfs: f64,
    /// The tenth part of frames (10 ms) that is quietest is below this.
    pub floor_dbfs: f64,
    /// The tenth part of frames that is loudest is above this.
    pub speech_dbfs: f64,
    /// Share of samples that are cut off: at full scale, at least three in a row.
    pub clipped: f64,
    /// Mean of the samples.
    pub offset: f64,
}

pub(crate) fn decibels(power: f64) -> f64 {
    (10.0 * power.max(1e-12).log10()).max(-120.0)
}

fn power(samples: &[f32]) -> f64 {
    samples.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>() / samples.len().max(1) as f64
}

fn frame_length(rate: u32) -> usize {
    ((f64::from(rate) * FRAME_S).round() as usize).max(1)
}

/// Level of every 10 ms in dB below full scale; a last piece shorter than half of that is left out.
pub fn frame_levels(audio: &Audio) -> Vec<f64> {
    let length = frame_length(audio.rate);
    let frames = audio.samples.chunks(length).filter(|frame| frame.len() * 2 >= length);
    frames.map(|frame| decibels(power(frame))).collect()
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(at).copied().unwrap_or(-120.0)
}

/// Measures a sound.
pub fn loudness(audio: &Audio) -> Loudness {
    let mut levels = frame_levels(audio);
    levels.sort_by(f64::total_cmp);
    let peak = audio.samples.iter().fold(0.0f32, |peak, x| peak.max(x.abs()));
    let count = audio.samples.len().max(1) as f64;
    Loudness {
        level_dbfs: audio.level_dbfs(),
        peak_dbfs: decibels(f64::from(peak).powi(2)),
        floor_dbfs: quantile(&levels, 0.1),
        speech_dbfs: quantile(&levels, 0.9),
        clipped: clipped(&audio.samples) as f64 / count,
        offset: audio.samples.iter().map(|x| f64::from(*x)).sum::<f64>() / count,
    }
}

fn clipped(samples: &[f32]) -> usize {
    let runs = samples.chunk_by(|a, b| (a.abs() >= FULL_SCALE) == (b.abs() >= FULL_SCALE));
    runs.filter(|run| run[0].abs() >= FULL_SCALE && run.len() >= 3).map(<[f32]>::len).sum()
}

/// Where sound begins and ends, in samples (the end is behind the last one); `None` for silence.
///
/// Meant for clean sound: what is 40 dB below the loudest frames, or below −65 dBFS, is silence. In a sound with
/// a noise floor what stands less than 10 dB above it is silence too.
pub fn voiced(audio: &Audio) -> Option<(usize, usize)> {
    let levels = frame_levels(audio);
    let mut sorted = levels.clone();
    sorted.sort_by(f64::total_cmp);
    let loudest = quantile(&sorted, 0.95);
    let floor = quantile(&sorted, 0.1);
    // A sound without any pause has no floor to stand above.
    let above_floor = if loudest - floor > 20.0 { floor + 10.0 } else { -120.0 };
    let threshold = (loudest - BELOW_SPEECH_DB).max(SILENT_DBFS).max(above_floor);
    let first = levels.iter().position(|level| *level > threshold)?;
    let last = levels.iter().rposition(|level| *level > threshold)?;
    let length = frame_length(audio.rate);
    let amplitude = 10f64.powf(threshold / 20.0) as f32;
    // Inside the outermost frames it is known to the sample.
    let end = ((last + 1) * length).min(audio.samples.len());
    let begin_at = audio.samples[first * length..].iter().position(|x| x.abs() > amplitude).unwrap_or(0);
    let end_at = audio.samples[..end].iter().rposition(|x| x.abs() > amplitude).map_or(end, |at| at + 1);
    Some((first * length + begin_at, end_at))
}

/// The last voiced sample, in seconds: see [`voiced`].
pub fn speech_end_s(audio: &Audio) -> Option<f64> {
    voiced(audio).map(|(_, end)| end as f64 / f64::from(audio.rate.max(1)))
}

/// Cuts silence off both ends and keeps so many seconds of it on either side, where it is there.
/// Silence becomes an empty sound.
pub fn trim(audio: &Audio, keep_s: f64) -> Audio {
    let Some((begin, end)) = voiced(audio) else { return Audio::new(Vec::new(), audio.rate) };
    let keep = (keep_s.max(0.0) * f64::from(audio.rate)) as usize;
    let range = begin.saturating_sub(keep)..(end + keep).min(audio.samples.len());
    Audio::new(audio.samples[range].to_vec(), audio.rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(amplitude: f32, seconds: f64, rate: u32) -> Vec<f32> {
        let count = (seconds * f64::from(rate)) as usize;
        (0..count).map(|n| amplitude * (n as f32 * 0.4).sin()).collect()
    }

    fn between_silence(noise: f32) -> Audio {
        let mut random = crate::Random::new(3);
        let mut samples = vec![0.0; 8_000];
        samples.extend(tone(0.5, 0.5, 16_000));
        samples.extend(vec![0.0; 4_000]);
        samples.iter_mut().for_each(|x| *x += noise * random.normal() as f32);
        Audio::new(samples, 16_000)
    }

    #[test]
    fn speech_is_found_to_the_millisecond() {
        for noise in [0.0, 0.0005, 0.005] {
            let audio = between_silence(noise);
            let (begin, end) = voiced(&audio).unwrap();
            assert!(begin.abs_diff(8_000) <= 16 && end.abs_diff(16_000) <= 16, "{noise}: {begin} {end}");
        }
        assert_eq!(voiced(&Audio::silence(1.0, 16_000)), None);
        assert_eq!(voiced(&Audio::new(Vec::new(), 16_000)), None);
        assert_eq!(voiced(&Audio::new(tone(0.5, 0.2, 8_000), 8_000)).unwrap().1, 1_600);
    }

    #[test]
    fn trimming_keeps_what_was_asked() {
        let trimmed = trim(&between_silence(0.0), 0.1);
        assert!(trimmed.samples.len().abs_diff(8_000 + 2 * 1_600) <= 32, "{}", trimmed.samples.len());
        assert!(trim(&Audio::silence(1.0, 16_000), 0.1).samples.is_empty());
        let short = trim(&between_silence(0.0), 5.0);
        assert_eq!(short.samples.len(), 20_000);
    }

    #[test]
    fn measures() {
        let measured = loudness(&between_silence(0.001));
        assert!((measured.peak_dbfs - -6.0).abs() < 0.2, "{measured:?}");
        assert!((measured.floor_dbfs - -60.0).abs() < 2.0, "{measured:?}");
        assert!((measured.speech_dbfs - -9.0).abs() < 0.5, "{measured:?}");
        assert!(measured.clipped == 0.0 && measured.offset.abs() < 1e-3);
        let mut loud = tone(1.4, 1.0, 16_000);
        loud.iter_mut().for_each(|x| *x = x.clamp(-1.0, 1.0));
        assert!(loudness(&Audio::new(loud, 16_000)).clipped > 0.2);
        assert_eq!(loudness(&Audio::new(Vec::new(), 16_000)).peak_dbfs, -120.0);
    }
}
