//! Prompted probes: someone is asked to say the wake word, and both heads are held against it.
//!
//! A shadow only sees what at least one head hears. What both miss shows here alone, as the absolute rate. Probes leave no
//! events and no exposure: nobody would have said the word.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::civil::DateTime;
use tenpass_audio::{Resampler, SPEECH_RATE, WavReader};
use tenpass_wake::{Detector, HOP, Head, Output, WINDOW_FRAMES, dither};

use super::listen::{ShadowError, ShadowSetup, detector_of};
use super::log::{Line, Probe, Recording, ShadowLog, read_shadow};
use crate::records::digest_file;

/// So long after a prompt the word counts, in seconds.
pub const ANSWER_S: f64 = 3.0;

/// Frames of quiet behind a file: a word at its very end is heard, too.
const TAIL_FRAMES: usize = 12;

/// Who heard a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heard {
    /// The head in service.
    pub champion: bool,
    /// The candidate.
    pub candidate: bool,
}

/// Both heads, and the log that probes go to.
pub struct Prober {
    detector: Detector,
    log: ShadowLog,
    /// SHA-256 of the recordings that count already.
    recordings: BTreeSet<String>,
    heard: Heard,
}

impl Prober {
    /// For the shadow in this folder. Nothing is written yet.
    pub fn new(setup: ShadowSetup<'_>, folder: &Path) -> Result<Self, ShadowError> {
        let recordings = read_shadow(folder)?.into_iter().filter_map(|line| match line {
            Line::Recording(recording) => Some(recording.sha256),
            _ => None,
        });
        let recordings = recordings.collect();
        Ok(Self { detector: detector_of(setup)?, log: ShadowLog::open(folder)?, recordings, heard: Heard::default() })
    }

    /// The word is asked for now: what fired before does not count.
    pub fn prompt(&mut self) {
        self.heard = Heard::default();
    }

    /// Sound at 16 kHz, before and after a prompt.
    pub fn push(&mut self, samples: &[f32]) {
        let heard = &mut self.heard;
        self.detector.push(samples, &mut |output| {
            if let Output::Fired(event) = output {
                if event.head == 0 {
                    heard.champion = true;
                } else {
                    heard.candidate = true;
                }
            }
        });
    }

    /// The time for an answer is over: who heard it is written and returned.
    pub fn answered(&mut self, at: DateTime) -> Result<Heard, ShadowError> {
        let heard = std::mem::take(&mut self.heard);
        self.log.append(&Line::Probe(Probe { at, champion: heard.champion, candidate: heard.candidate }))?;
        Ok(heard)
    }

    /// A recording of the word is one probe. `None` when it counted before.
    pub fn file(&mut self, path: &Path, at: DateTime) -> Result<Option<Heard>, ShadowError> {
        let sha256 = digest_file(path)?;
        if self.recordings.contains(&sha256) {
            return Ok(None);
        }
        let mut reader = WavReader::open(path)?;
        let mut resampler = Resampler::new(reader.rate(), SPEECH_RATE);
        let (mut block, mut sound) = (Vec::new(), Vec::new());
        // The stream starts cold.
        let cold = self.detector.heads().map(Head::frames).max().unwrap_or(0).max(WINDOW_FRAMES) + 1;
        self.detector.reset();
        self.push(&dither(cold * HOP));
        self.prompt();
        while reader.next_block(&mut block)? {
            sound.clear();
            resampler.push(&block, &mut sound);
            self.push(&sound);
        }
        sound.clear();
        resampler.finish(&mut sound);
        self.push(&sound);
        self.push(&dither(TAIL_FRAMES * HOP));
        self.log.append(&Line::Recording(Recording { at, sha256: sha256.clone() }))?;
        self.recordings.insert(sha256);
        self.answered(at).map(Some)
    }
}
