//! Recording a person: one utterance at a time from a microphone, cut, measured, kept or asked for again.
//!
//! What records is a [`Take`]: it gets blocks of samples and says when the utterance is over. It knows no device
//! and no clock; a file can stand for the microphone.

use tenpass_audio::level::{frame_levels, speech_end_s, trim};
use tenpass_audio::{Audio, loudness};

use crate::corpus::rounded;

/// When an utterance begins and ends, and what is good enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TakeRules {
    /// Speech that has not begun after so long is not waited for.
    pub wait_s: f64,
    /// An utterance is not longer.
    pub longest_s: f64,
    /// So much silence ends it.
    pub silence_s: f64,
    /// What stands so far above the floor is speech, in decibels.
    pub above_floor_db: f64,
    /// Silence that is kept around it.
    pub keep_s: f64,
    /// Quieter speech is refused, in decibels below full scale.
    pub quietest_dbfs: f64,
    /// A shorter utterance is refused.
    pub shortest_s: f64,
    /// Speech must stand so far above the floor, in decibels.
    pub lowest_snr_db: f64,
    /// A larger share of samples at full scale is refused.
    pub most_clipped: f64,
}

impl Default for TakeRules {
    fn default() -> Self {
        Self {
            wait_s: 6.0,
            longest_s: 10.0,
            silence_s: 0.8,
            above_floor_db: 12.0,
            keep_s: 0.25,
            quietest_dbfs: -42.0,
            shortest_s: 0.2,
            lowest_snr_db: 12.0,
            most_clipped: 0.0005,
        }
    }
}

/// Why a recording is not good enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Flaw {
    /// Nobody spoke.
    Silent,
    /// Speech has this level, in decibels below full scale.
    Quiet(f64),
    /// This share of samples is at full scale.
    Clipped(f64),
    /// It is so many seconds long.
    Short(f64),
    /// It was cut off at the longest time.
    Long(f64),
    /// Speech stands so many decibels above the noise.
    Noisy(f64),
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Silent => {
                formatter.write_str("nothing was heard: check the microphone, then speak after the countdown")
            }
            Self::Quiet(level) => {
                write!(formatter, "too quiet ({level:.0} dBFS): come closer, or raise the input level")
            }
            Self::Clipped(share) => {
                write!(formatter, "too loud ({:.1} % of it is cut off): lower the input level", share * 100.0)
            }
            Self::Short(seconds) => write!(formatter, "too short ({seconds:.2} s)"),
            Self::Long(seconds) => write!(formatter, "no end after {seconds:.0} s: make a pause behind the phrase"),
            Self::Noisy(db) => {
                write!(formatter, "too noisy (speech stands {db:.0} dB above the room): find a quieter place")
            }
        }
    }
}

/// A good recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// Cut to the utterance.
    pub audio: Audio,
    /// The last voiced sample, in seconds.
    pub speech_end_s: f64,
    /// Level of the speech, in decibels below full scale.
    pub speech_dbfs: f64,
    /// Level of the room, in decibels below full scale.
    pub floor_dbfs: f64,
}

/// One utterance that is being recorded.
#[derive(Debug)]
pub struct Take {
    rules: TakeRules,
    audio: Audio,
    /// Levels of every 10 ms so far.
    levels: Vec<f64>,
    looked_at: usize,
    begun: bool,
    quiet_frames: usize,
    over: bool,
    cut_off: bool,
}

/// Frames before speech can begin: the floor is not known earlier.
const FLOOR_FRAMES: usize = 15;
/// So many loud frames in a row are speech and no click.
const LOUD_FRAMES: usize = 5;
const FRAMES_PER_S: f64 = 100.0;

impl Take {
    /// Begins to listen at a rate.
    pub fn new(rate: u32, rules: TakeRules) -> Self {
        Self {
            rules,
            audio: Audio::new(Vec::new(), rate.max(100)),
            levels: Vec::new(),
            looked_at: 0,
            begun: false,
            quiet_frames: 0,
            over: false,
            cut_off: false,
        }
    }

    /// Takes what the microphone gave; true when the utterance is over.
    pub fn push(&mut self, samples: &[f32]) -> bool {
        if !self.over {
            self.audio.samples.extend_from_slice(samples);
            self.look();
        }
        self.over
    }

    /// The level of the last 50 ms, in decibels below full scale.
    pub fn level_dbfs(&self) -> f64 {
        self.levels.iter().rev().take(5).copied().fold(-120.0, f64::max)
    }

    /// Whether speech has begun.
    pub fn begun(&self) -> bool {
        self.begun
    }

    fn look(&mut self) {
        let frame = (f64::from(self.audio.rate) / FRAMES_PER_S).round() as usize;
        while self.looked_at + frame <= self.audio.samples.len() && !self.over {
            let piece = &self.audio.samples[self.looked_at..self.looked_at + frame];
            self.levels.push(Audio::new(piece.to_vec(), self.audio.rate).level_dbfs());
            self.looked_at += frame;
            self.decide();
        }
    }

    fn decide(&mut self) {
        let count = self.levels.len();
        let seconds = count as f64 / FRAMES_PER_S;
        let loud = |level: f64, floor: f64| level > (floor + self.rules.above_floor_db).max(-60.0);
        let floor = self.floor();
        if !self.begun {
            let recent = &self.levels[count.saturating_sub(LOUD_FRAMES)..];
            self.begun =
                count >= FLOOR_FRAMES && recent.len() == LOUD_FRAMES && recent.iter().all(|level| loud(*level, floor));
            self.over = !self.begun && seconds >= self.rules.wait_s;
            return;
        }
        let speaking = loud(self.levels[count - 1], floor);
        self.quiet_frames = if speaking { 0 } else { self.quiet_frames + 1 };
        self.cut_off = seconds >= self.rules.longest_s;
        self.over = self.cut_off || self.quiet_frames as f64 / FRAMES_PER_S >= self.rules.silence_s;
    }

    /// The level that a tenth of frames stays below.
    fn floor(&self) -> f64 {
        let mut sorted = self.levels.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 10).copied().unwrap_or(-120.0)
    }

    /// Cuts and judges what was heard.
    pub fn finish(self) -> Result<Taken, Flaw> {
        let rules = self.rules;
        if !self.begun {
            return Err(Flaw::Silent);
        }
        let floor_dbfs = self.floor();
        let mut audio = trim(&self.audio, rules.keep_s);
        let speech_end_s = speech_end_s(&audio).ok_or(Flaw::Silent)?;
        let measured = loudness(&audio);
        let mut levels = frame_levels(&audio);
        levels.sort_by(f64::total_cmp);
        let speech_dbfs = levels[(levels.len() - 1) * 9 / 10];
        let voiced = tenpass_audio::voiced(&audio).map_or(0.0, |(a, b)| (b - a) as f64 / f64::from(audio.rate));
        if self.cut_off {
            return Err(Flaw::Long(rules.longest_s));
        }
        if measured.clipped > rules.most_clipped {
            return Err(Flaw::Clipped(measured.clipped));
        }
        if voiced < rules.shortest_s {
            return Err(Flaw::Short(voiced));
        }
        if speech_dbfs < rules.quietest_dbfs {
            return Err(Flaw::Quiet(speech_dbfs));
        }
        if speech_dbfs - floor_dbfs < rules.lowest_snr_db {
            return Err(Flaw::Noisy(speech_dbfs - floor_dbfs));
        }
        // A constant offset of the converter is no sound.
        let offset = measured.offset as f32;
        audio.samples.iter_mut().for_each(|x| *x -= offset);
        Ok(Taken { audio, speech_end_s: rounded(speech_end_s), speech_dbfs, floor_dbfs })
    }
}

#[cfg(test)]
mod tests {
    use tenpass_audio::Random;

    use super::*;

    /// Room noise with a buzz in it.
    fn heard(before_s: f64, speech_s: f64, after_s: f64, level: f32, noise: f32) -> Vec<f32> {
        let mut random = Random::new(7);
        let at = |seconds: f64| (seconds * 16_000.0) as usize;
        let mut samples = vec![0.0; at(before_s)];
        samples.extend((0..at(speech_s)).map(|n| level * (n as f32 * 0.12).sin()));
        samples.extend(vec![0.0; at(after_s)]);
        samples.iter_mut().for_each(|x| *x = (*x + noise * random.normal() as f32).clamp(-1.0, 1.0));
        samples
    }

    fn take(samples: &[f32]) -> (usize, Result<Taken, Flaw>) {
        let mut take = Take::new(16_000, TakeRules::default());
        let used = samples.chunks(333).take_while(|block| !take.push(block)).count();
        (used * 333, take.finish())
    }

    #[test]
    fn an_utterance_is_cut_out() {
        let (used, taken) = take(&heard(1.0, 0.7, 3.0, 0.3, 0.001));
        let taken = taken.unwrap();
        // It stops listening 0.8 s after the last word.
        assert!((2.4..2.7).contains(&(used as f64 / 16_000.0)), "{used}");
        assert!((taken.audio.seconds() - 1.2).abs() < 0.03, "{}", taken.audio.seconds());
        assert!((taken.speech_end_s - 0.95).abs() < 0.02, "{}", taken.speech_end_s);
        assert!((taken.floor_dbfs - -60.0).abs() < 2.0 && (taken.speech_dbfs - -13.5).abs() < 1.0, "{taken:?}");
    }

    #[test]
    fn what_is_not_good_enough_is_said() {
        assert_eq!(take(&heard(8.0, 0.0, 0.0, 0.0, 0.001)).1, Err(Flaw::Silent));
        assert_eq!(take(&[]).1, Err(Flaw::Silent));
        assert!(matches!(take(&heard(1.0, 0.7, 2.0, 0.005, 0.0001)).1, Err(Flaw::Quiet(_))));
        assert!(matches!(take(&heard(1.0, 0.7, 2.0, 1.8, 0.001)).1, Err(Flaw::Clipped(_))));
        assert!(matches!(take(&heard(1.0, 0.12, 2.0, 0.3, 0.001)).1, Err(Flaw::Short(_))));
        assert!(matches!(take(&heard(1.0, 15.0, 0.0, 0.3, 0.001)).1, Err(Flaw::Long(_))));
        let strict = TakeRules { lowest_snr_db: 30.0, ..TakeRules::default() };
        let mut noisy = Take::new(16_000, strict);
        noisy.push(&heard(1.0, 0.7, 2.0, 0.3, 0.03));
        assert!(matches!(noisy.finish(), Err(Flaw::Noisy(_))));
        for flaw in
            [Flaw::Silent, Flaw::Quiet(-50.0), Flaw::Clipped(0.2), Flaw::Short(0.1), Flaw::Long(10.0), Flaw::Noisy(3.0)]
        {
            assert!(!flaw.to_string().is_empty());
        }
    }
}
