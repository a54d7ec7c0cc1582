//! How loud the agent's own voice comes back, measured once for a device at a volume.
//!
//! With the levels of microphone and reference in dB and the delay d between them,
//! res = mic − max(noise, ref(t − d) + G). G is the 95th percentile of mic − ref while something is played; the
//! threshold θ is the 99.9th percentile of res on that narration + 3 dB. ref falls at most as fast as the room
//! lets sound die away, and counts one frame early, since no delay is a whole number of frames. Of several slopes, none
//! among them, that one is kept which leaves the least to shout over.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::level::{BandLevels, FLOOR_DB};

/// Version of the stored form.
pub const CALIBRATION_FORMAT: u32 = 1;

/// Reference frames below this are pauses of the narration.
const PLAYING_DB: f32 = -60.0;
/// Largest delay looked for: 500 ms.
const MOST_DELAY: usize = 25;
/// Slopes tried, in dB a frame; the first is the bare formula.
const SLOPES_DB: [f32; 7] = [f32::INFINITY, 6.0, 4.0, 3.0, 2.0, 1.5, 1.0];
/// Frames with sound that a calibration needs: 4 s.
const LEAST_FRAMES: usize = 200;
/// Above the 99.9th percentile.
const MARGIN_DB: f32 = 3.0;
/// Largest stored file that is read.
const MOST_BYTES: u64 = 64 * 1024;

/// What a calibration holds for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Volume of playback, 0–1.
    pub volume: f32,
    /// Loudspeaker and microphone.
    pub device: String,
}

/// A stored calibration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Version of this form.
    pub format: u32,
    /// What it holds for.
    pub setup: Setup,
    /// Delay of the microphone behind the reference, in frames of 20 ms.
    pub delay_frames: usize,
    /// G: 95th percentile of mic − ref.
    pub gain_db: f32,
    /// θ: 99.9th percentile of the residual on narration + 3 dB.
    pub threshold_db: f32,
    /// Level of the room without playback.
    pub noise_db: f32,
    /// How fast the reference may fall, in dB a frame; absent for at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope_db: Option<f32>,
    /// Frames with sound that it was made from.
    pub frames: usize,
    /// SHA-256 over everything above: a file that was edited is refused.
    pub hash: String,
}

/// Why a calibration cannot be made or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// Too little was played.
    #[error("{found_ms} ms of narration came back; a calibration needs {}", LEAST_FRAMES * 20)]
    TooShort {
        /// What there was.
        found_ms: usize,
    },
    /// The microphone does not hear the loudspeaker.
    #[error("the microphone does not hear what is played: {level_db:.0} dB beside a room of {noise_db:.0} dB")]
    NotHeard {
        /// Level while playing.
        level_db: f32,
        /// Level without.
        noise_db: f32,
    },
    /// The file cannot be read or written.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// It holds for something else.
    #[error("the calibration is for {what} {stored}, not {present}")]
    Differs {
        /// `volume`, `device` or `hash`.
        what: &'static str,
        /// As stored.
        stored: String,
        /// As it is now.
        present: String,
    },
}

impl CalibrationError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => "play at least 4 s of speech",
            Self::NotHeard { .. } => "raise the volume, or choose the microphone near the loudspeaker",
            Self::File { .. } => "check the path and its permissions, or calibrate again",
            Self::Differs { .. } => "calibrate again for this device and volume",
        }
    }
}

/// Makes a calibration from sound at 16 kHz: `room` without playback, then the microphone and what was played at
/// the same time, of equal length.
pub fn calibrate(
    room: &[f32],
    microphone: &[f32],
    reference: &[f32],
    setup: Setup,
) -> Result<Calibration, CalibrationError> {
    let noise_db = percentile(BandLevels::of(room), 0.5).unwrap_or(FLOOR_DB);
    let (mic, played) = (BandLevels::of(microphone), BandLevels::of(reference));
    let frames = played.iter().filter(|level| **level > PLAYING_DB).count();
    if frames < LEAST_FRAMES || mic.len() < LEAST_FRAMES {
        return Err(CalibrationError::TooShort { found_ms: frames.min(mic.len()) * 20 });
    }
    let delay_frames = delay(&mic, &played);
    let best = SLOPES_DB.iter().map(|slope| Fit::new(&mic, &played, delay_frames, noise_db, *slope));
    let best = best.min_by(|a, b| a.shouted_over.total_cmp(&b.shouted_over));
    let Some(fit) = best.filter(|fit| fit.level_db > noise_db + 3.0) else {
        let level_db = percentile(mic, 0.95).unwrap_or(FLOOR_DB);
        return Err(CalibrationError::NotHeard { level_db, noise_db });
    };
    let mut made = Calibration {
        format: CALIBRATION_FORMAT,
        setup,
        delay_frames,
        gain_db: fit.gain_db,
        threshold_db: fit.threshold_db,
        noise_db,
        slope_db: fit.slope_db.is_finite().then_some(fit.slope_db),
        frames,
        hash: String::new(),
    };
    made.hash = made.digest();
    Ok(made)
}

impl Calibration {
    /// What the microphone hears of this reference level, given what was expected one frame before.
    pub fn expected_db(&self, before_db: f32, reference_db: f32) -> f32 {
        let falling = before_db - self.slope_db.unwrap_or(f32::INFINITY);
        (reference_db + self.gain_db).max(falling)
    }

    /// Holds it against what is in use now.
    pub fn check(&self, present: &Setup) -> Result<(), CalibrationError> {
        let differs = |what, stored: String, present: String| Err(CalibrationError::Differs { what, stored, present });
        if self.format != CALIBRATION_FORMAT {
            return differs("format", self.format.to_string(), CALIBRATION_FORMAT.to_string());
        }
        if self.setup.device != present.device {
            return differs("device", self.setup.device.clone(), present.device.clone());
        }
        if (self.setup.volume - present.volume).abs() > 0.005 {
            return differs("volume", format!("{:.2}", self.setup.volume), format!("{:.2}", present.volume));
        }
        let digest = self.digest();
        if self.hash != digest {
            return differs("hash", self.hash.clone(), digest);
        }
        Ok(())
    }

    /// Reads a stored one and holds it against what is in use now.
    pub fn load(path: &Path, present: &Setup) -> Result<Self, CalibrationError> {
        let failed = |problem: String| CalibrationError::File { path: path.to_owned(), problem };
        let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
        if size > MOST_BYTES {
            return Err(failed(format!("{size} bytes are no calibration")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        let found: Self = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        found.check(present)?;
        Ok(found)
    }

    /// Stores it as JSON.
    pub fn save(&self, path: &Path) -> Result<(), CalibrationError> {
        let failed = |problem: String| CalibrationError::File { path: path.to_owned(), problem };
        let text = serde_json::to_string_pretty(self).map_err(|error| failed(error.to_string()))?;
        std::fs::write(path, text + "\n").map_err(|error| failed(error.to_string()))
    }

    fn digest(&self) -> String {
        let text = format!(
            "{} {:?} {} {} {} {} {} {:?} {}",
            self.format,
            self.setup.device,
            self.setup.volume,
            self.delay_frames,
            self.gain_db,
            self.threshold_db,
            self.noise_db,
            self.slope_db,
            self.frames
        );
        Sha256::digest(text).iter().fold(String::with_capacity(64), |hash, byte| hash + &format!("{byte:02x}"))
    }
}

/// G and θ for one slope.
struct Fit {
    slope_db: f32,
    gain_db: f32,
    threshold_db: f32,
    /// Level of the microphone while something is played.
    level_db: f32,
    /// Mean level that someone has to exceed.
    shouted_over: f32,
}

impl Fit {
    fn new(mic: &[f32], played: &[f32], delay: usize, noise_db: f32, slope_db: f32) -> Self {
        let pairs = || mic.iter().skip(delay).zip(played);
        // The reference as the room leaves it: it dies away by the slope.
        let mut level = FLOOR_DB;
        let ahead = |i: usize| if delay > 0 { played.get(i + 1).copied().unwrap_or(FLOOR_DB) } else { FLOOR_DB };
        let envelope: Vec<f32> = pairs()
            .enumerate()
            .map(|(i, (_, played))| {
                level = played.max(ahead(i)).max(level - slope_db);
                level
            })
            .collect();
        let gains = pairs().zip(&envelope).filter(|((_, played), _)| **played > PLAYING_DB);
        let gain_db = percentile(gains.map(|((mic, _), envelope)| mic - envelope).collect(), 0.95).unwrap_or(0.0);
        let walls: Vec<f32> = envelope.iter().map(|envelope| (envelope + gain_db).max(noise_db)).collect();
        let residuals = pairs().zip(&walls).map(|((mic, _), wall)| mic - wall).collect();
        let threshold_db = percentile(residuals, 0.999).unwrap_or(0.0) + MARGIN_DB;
        let mean_wall = walls.iter().sum::<f32>() / walls.len().max(1) as f32;
        let level = pairs().filter(|(_, played)| **played > PLAYING_DB).map(|(mic, _)| *mic).collect();
        Self {
            slope_db,
            gain_db,
            threshold_db,
            level_db: percentile(level, 0.95).unwrap_or(FLOOR_DB),
            shouted_over: mean_wall + threshold_db,
        }
    }
}

/// The delay, in frames, at which the levels go together best.
fn delay(mic: &[f32], played: &[f32]) -> usize {
    let correlation = |delay: usize| {
        let pairs: Vec<(f32, f32)> = mic.iter().skip(delay).copied().zip(played.iter().copied()).collect();
        let n = pairs.len().max(1) as f32;
        let (a, b) = pairs.iter().fold((0.0, 0.0), |(a, b), pair| (a + pair.0, b + pair.1));
        let (a, b) = (a / n, b / n);
        let sums = pairs.iter().fold((0.0, 0.0, 1e-6), |sums: (f32, f32, f32), pair| {
            let (x, y) = (pair.0 - a, pair.1 - b);
            (sums.0 + x * y, sums.1 + x * x, sums.2 + y * y)
        });
        sums.0 / (sums.1 * sums.2).max(1e-9).sqrt()
    };
    let found = (0..=MOST_DELAY).map(|delay| (delay, correlation(delay)));
    // Of equals the earliest, so that nothing is left to the order of comparison.
    found.fold((0, f32::NEG_INFINITY), |best, now| if now.1 > best.1 { now } else { best }).0
}

/// Between the two values nearest to it.
fn percentile(mut values: Vec<f32>, share: f32) -> Option<f32> {
    values.sort_unstable_by(f32::total_cmp);
    let position = share * values.len().checked_sub(1)? as f32;
    let (low, high) = (values[position.floor() as usize], values[position.ceil() as usize]);
    Some(low + (high - low) * position.fract())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::barge::level::BARGE_FRAME_SAMPLES;

    /// Noise bursts of 200 ms with pauses of 100 ms, seeded.
    pub(super) fn narration(seconds: usize) -> Vec<f32> {
        let mut state = 7_u64;
        (0..seconds * 16_000)
            .map(|i| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let noise = (state >> 33) as f32 / (1_u64 << 31) as f32 * 2.0 - 1.0;
                if i % 4800 < 3200 { noise * 0.3 } else { 0.0 }
            })
            .collect()
    }

    fn delayed(sound: &[f32], frames: usize, gain: f32) -> Vec<f32> {
        let lead = std::iter::repeat_n(0.0, frames * BARGE_FRAME_SAMPLES);
        lead.chain(sound.iter().map(|sample| sample * gain)).take(sound.len()).collect()
    }

    fn setup() -> Setup {
        Setup { volume: 0.7, device: "test".into() }
    }

    fn room() -> Vec<f32> {
        narration(1).iter().map(|sample| sample * 1e-4).collect()
    }

    #[test]
    fn delay_and_gain_are_found() {
        let played = narration(8);
        let mic = delayed(&played, 4, 0.1);
        let found = calibrate(&room(), &mic, &played, setup()).unwrap();
        assert_eq!(found.delay_frames, 4);
        assert!((found.gain_db + 20.0).abs() < 1.0, "{found:?}");
        assert!((3.0..5.0).contains(&found.threshold_db), "{found:?}");
        assert!(found.noise_db < -80.0);
    }

    #[test]
    fn it_is_refused_where_it_does_not_hold() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calibration.json");
        let played = narration(8);
        let made = calibrate(&room(), &delayed(&played, 2, 0.2), &played, setup()).unwrap();
        made.save(&path).unwrap();
        assert_eq!(Calibration::load(&path, &setup()).unwrap(), made);
        let refused = |present: Setup| Calibration::load(&path, &present).unwrap_err().to_string();
        assert_eq!(refused(Setup { volume: 0.8, ..setup() }), "the calibration is for volume 0.70, not 0.80");
        assert!(refused(Setup { device: "other".into(), ..setup() }).contains("device test, not other"));
        let edited = std::fs::read_to_string(&path).unwrap().replace("\"delay_frames\": 2", "\"delay_frames\": 3");
        std::fs::write(&path, edited).unwrap();
        assert!(refused(setup()).contains("hash"));
        std::fs::write(&path, "{").unwrap();
        assert!(refused(setup()).contains("calibration.json"));
    }

    #[test]
    fn too_little_and_unheard_narration() {
        let played = narration(8);
        let short = calibrate(&room(), &played[..16_000], &played[..16_000], setup()).unwrap_err();
        assert!(short.to_string().contains("ms of narration"), "{short}");
        let deaf = calibrate(&room(), &vec![0.0; played.len()], &played, setup()).unwrap_err();
        assert!(matches!(deaf, CalibrationError::NotHeard { .. }), "{deaf}");
        assert!(calibrate(&[], &[], &[], setup()).is_err());
    }
}
