//! Is it someone else who speaks?

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::calibration::Calibration;
use super::level::{BARGE_FRAME_US, BandLevels, FLOOR_DB};

/// Numbers of the detector.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BargeOptions {
    /// Probability of speech from which a frame counts.
    pub voice: f32,
    /// Frames looked at.
    pub window: usize,
    /// Frames of them that make a candidate: playback stops.
    pub frames: usize,
    /// Frames of them after which playback is ducked.
    pub duck_frames: usize,
    /// The first part of playback is not judged.
    pub deaf_ms: u64,
    /// What is held for so long: the gate after playback, a duck after the last frame that counted.
    pub hold_ms: u64,
}

impl Default for BargeOptions {
    fn default() -> Self {
        Self { voice: 0.6, window: 15, frames: 12, duck_frames: 5, deaf_ms: 200, hold_ms: 300 }
    }
}

/// What follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BargeSignal {
    /// Perhaps: play softly.
    Duck,
    /// It was nothing: play as before.
    Release,
    /// Someone speaks: stop.
    Stop,
}

/// Judges frame by frame while something is played.
#[derive(Debug, Clone)]
pub struct BargeDetector {
    calibration: Calibration,
    options: BargeOptions,
    mic: BandLevels,
    reference: BandLevels,
    /// Reference levels that the microphone has not heard yet.
    delay: VecDeque<f32>,
    expected_db: f32,
    noise_db: f32,
    counted: VecDeque<bool>,
    playing_us: u64,
    since_play_us: u64,
    since_counted_us: u64,
    ducked: bool,
    stopped: bool,
    residual_db: f32,
}

impl BargeDetector {
    /// With a calibration that was checked against the device.
    pub fn new(calibration: Calibration, options: BargeOptions) -> Self {
        let delay = std::iter::repeat_n(FLOOR_DB, calibration.delay_frames).collect();
        Self {
            noise_db: calibration.noise_db,
            calibration,
            options,
            mic: BandLevels::new(),
            reference: BandLevels::new(),
            delay,
            expected_db: FLOOR_DB,
            counted: VecDeque::new(),
            playing_us: 0,
            since_play_us: u64::MAX,
            since_counted_us: u64::MAX,
            ducked: false,
            stopped: false,
            residual_db: FLOOR_DB,
        }
    }

    /// The last residual in dB: over the calibration's threshold it is not the agent.
    pub fn residual_db(&self) -> f32 {
        self.residual_db
    }

    /// 20 ms of the microphone and of what the device was given in the same time (silence when nothing), at
    /// 16 kHz, with the probability of speech. After a stop nothing is signalled until playback begins anew.
    pub fn push(&mut self, mic: &[f32], reference: &[f32], voice: f32, playing: bool) -> Option<BargeSignal> {
        let mic_db = self.mic.push(mic);
        self.delay.push_back(self.reference.push(reference));
        let reference_db = self.delay.pop_front().unwrap_or(FLOOR_DB);
        // A delay is no whole number of frames: the next one may be heard already.
        let reference_db = self.delay.front().map_or(reference_db, |next| next.max(reference_db));
        self.expected_db = self.calibration.expected_db(self.expected_db, reference_db);
        self.residual_db = mic_db - self.noise_db.max(self.expected_db);
        self.follow(playing);
        if self.since_play_us > self.options.hold_ms * 1000 {
            self.hear_room(mic_db, voice);
            return self.quiet();
        }
        let deaf = playing && self.playing_us <= self.options.deaf_ms * 1000;
        let counts = !deaf && voice >= self.options.voice && self.residual_db > self.calibration.threshold_db;
        self.count(counts)
    }

    /// Time of playback and since playback.
    fn follow(&mut self, playing: bool) {
        if playing {
            if self.since_play_us > self.options.hold_ms * 1000 {
                self.playing_us = 0;
                self.stopped = false;
                self.counted.clear();
            }
            self.playing_us += BARGE_FRAME_US;
            self.since_play_us = 0;
        } else {
            self.since_play_us = self.since_play_us.saturating_add(BARGE_FRAME_US);
        }
    }

    /// The room without playback: down at once, up by 1 dB a second, and not while someone speaks.
    fn hear_room(&mut self, mic_db: f32, voice: f32) {
        if voice < 0.3 {
            self.noise_db = if mic_db < self.noise_db {
                self.noise_db + (mic_db - self.noise_db) * 0.1
            } else {
                (self.noise_db + 0.02).min(mic_db)
            };
        }
    }

    fn quiet(&mut self) -> Option<BargeSignal> {
        self.counted.clear();
        std::mem::take(&mut self.ducked).then_some(BargeSignal::Release)
    }

    fn count(&mut self, counts: bool) -> Option<BargeSignal> {
        self.counted.push_back(counts);
        if self.counted.len() > self.options.window {
            self.counted.pop_front();
        }
        self.since_counted_us = if counts { 0 } else { self.since_counted_us.saturating_add(BARGE_FRAME_US) };
        if self.stopped {
            return None;
        }
        let counted = self.counted.iter().filter(|counts| **counts).count();
        if counted >= self.options.frames {
            self.stopped = true;
            self.ducked = false;
            return Some(BargeSignal::Stop);
        }
        if !self.ducked && counted >= self.options.duck_frames {
            self.ducked = true;
            return Some(BargeSignal::Duck);
        }
        if self.ducked && self.since_counted_us >= self.options.hold_ms * 1000 {
            self.ducked = false;
            return Some(BargeSignal::Release);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::barge::calibration::{CALIBRATION_FORMAT, Setup};
    use crate::barge::level::BARGE_FRAME_SAMPLES;

    fn detector() -> BargeDetector {
        let calibration = Calibration {
            format: CALIBRATION_FORMAT,
            setup: Setup { volume: 1.0, device: "test".into() },
            delay_frames: 0,
            gain_db: -20.0,
            threshold_db: 6.0,
            noise_db: -70.0,
            slope_db: None,
            frames: 1000,
            hash: String::new(),
        };
        BargeDetector::new(calibration, BargeOptions::default())
    }

    /// A frame of a 1 kHz tone: 20 whole periods.
    fn tone(amplitude: f32) -> Vec<f32> {
        let phase = |i: usize| std::f32::consts::TAU * i as f32 / 16.0;
        (0..BARGE_FRAME_SAMPLES).map(|i| phase(i).sin() * amplitude).collect()
    }

    /// Plays for `quiet` frames with the echo alone, then someone speaks for `loud` frames, then echo.
    fn signals(quiet: usize, loud: usize, after: usize, voice: f32) -> Vec<(usize, BargeSignal)> {
        let mut detector = detector();
        let (played, echo, someone) = (tone(0.5), tone(0.04), tone(0.4));
        let mut found = Vec::new();
        for frame in 0..quiet + loud + after {
            let mic = if (quiet..quiet + loud).contains(&frame) { &someone } else { &echo };
            if let Some(signal) = detector.push(mic, &played, voice, true) {
                found.push(((frame + 1 - quiet.min(frame + 1)) * 20, signal));
            }
        }
        found
    }

    #[test]
    fn duck_at_100_ms_and_stop_at_240() {
        assert_eq!(signals(50, 30, 0, 0.9), [(100, BargeSignal::Duck), (240, BargeSignal::Stop)]);
    }

    #[test]
    fn a_cough_ducks_and_is_released() {
        let found = signals(50, 7, 40, 0.9);
        assert_eq!(found, [(100, BargeSignal::Duck), (7 * 20 + 300, BargeSignal::Release)]);
    }

    #[test]
    fn what_is_no_voice_and_the_agent_itself_do_nothing() {
        assert!(signals(50, 50, 20, 0.59).is_empty());
        assert!(signals(500, 0, 0, 0.99).is_empty());
    }

    #[test]
    fn the_first_200_ms_are_not_judged() {
        // Someone speaks from the first frame on: frames count from 220 ms on.
        assert_eq!(signals(0, 30, 0, 0.9), [(300, BargeSignal::Duck), (440, BargeSignal::Stop)]);
    }

    #[test]
    fn three_gaps_in_fifteen_frames_are_forgiven_and_four_are_not() {
        let run = |gaps: &[usize]| {
            let mut detector = detector();
            let (played, echo, someone) = (tone(0.5), tone(0.04), tone(0.4));
            for _ in 0..20 {
                detector.push(&echo, &played, 0.9, true);
            }
            let frames = (0..15).map(|frame| {
                let voice = if gaps.contains(&frame) { 0.1 } else { 0.9 };
                detector.push(&someone, &played, voice, true)
            });
            frames.filter(|signal| *signal == Some(BargeSignal::Stop)).count()
        };
        assert_eq!((run(&[2, 6, 10]), run(&[2, 4, 6, 10])), (1, 0));
    }

    #[test]
    fn without_playback_the_gate_closes_after_300_ms() {
        let mut detector = detector();
        for _ in 0..20 {
            detector.push(&tone(0.04), &tone(0.5), 0.9, true);
        }
        let silence = [0.0; BARGE_FRAME_SAMPLES];
        let signals: Vec<_> = (0..40).filter_map(|_| detector.push(&tone(0.4), &silence, 0.9, false)).collect();
        // Within the hold someone who spoke into the last word is still heard.
        assert_eq!(signals, [BargeSignal::Duck, BargeSignal::Stop]);
        let signals: Vec<_> = (0..40).filter_map(|_| detector.push(&tone(0.4), &silence, 0.9, false)).collect();
        assert!(signals.is_empty());
    }
}
