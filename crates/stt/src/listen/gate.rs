//! What is heard of a sound: all of it, or the parts that a voice activity detector calls speech.
//!
//! Whisper invents words where nothing is said. The gate passes on speech alone, a little of what is around it
//! with it, and keeps a list that turns a moment in what it passed on into a moment of the sound.

use super::sound::Sound;
use crate::transcriber::SttError;

/// Samples that the detector takes at once: 32 ms.
pub(crate) const FRAME: usize = 512;
const RATE: f64 = 16_000.0;
/// Speech begins at this probability and ends below the other.
const BEGIN: f32 = 0.5;
const END: f32 = 0.35;
/// Frames of speech that are none yet: a click.
const SHORTEST: usize = 3;
/// Kept before and after speech: 256 ms.
const AROUND: usize = 8;
/// Frames without speech that end it: 512 ms. Twice what is kept around, so that regions never overlap.
const PAUSE: usize = 2 * AROUND;

/// Gives the probability that a frame of 512 samples is speech.
pub(crate) type Detector<'a> = Box<dyn FnMut(&[f32; FRAME]) -> f32 + 'a>;

/// The stream that is transcribed.
pub(crate) struct Stream<'a> {
    sound: &'a mut dyn Sound,
    detector: Option<Detector<'a>>,
    ended: bool,
    /// Samples of the sound that were read.
    pub(crate) read: u64,
    /// Samples passed on.
    passed: u64,
    /// Where runs begin: in what was passed on, and in the sound.
    runs: Vec<(u64, u64)>,
    /// Read and not decided on.
    waiting: Vec<f32>,
    /// Frames before speech, or a pause within it that may be its end.
    held: Vec<f32>,
    speaking: bool,
    /// Frames of speech in a row while none is sure, frames of pause in a row while there is speech.
    row: usize,
}

impl<'a> Stream<'a> {
    pub(crate) fn new(sound: &'a mut dyn Sound, detector: Option<Detector<'a>>) -> Self {
        Self {
            sound,
            detector,
            ended: false,
            read: 0,
            passed: 0,
            runs: Vec::new(),
            waiting: Vec::new(),
            held: Vec::new(),
            speaking: false,
            row: 0,
        }
    }

    /// Appends until there are `wanted` samples or the sound has ended; true when more may come.
    pub(crate) fn fill(&mut self, into: &mut Vec<f32>, wanted: usize) -> Result<bool, SttError> {
        while into.len() < wanted && !self.ended {
            let mut block = Vec::new();
            self.ended = !self.sound.next_block(&mut block)?;
            if let Some(at) = block.iter().position(|sample| !sample.is_finite()) {
                let at = self.read + at as u64;
                return Err(SttError::Input(format!("sample {at} is no number")));
            }
            self.read += block.len() as u64;
            if self.detector.is_none() {
                self.passed += block.len() as u64;
                into.append(&mut block);
                continue;
            }
            self.waiting.append(&mut block);
            self.decide(into);
        }
        Ok(!self.ended)
    }

    /// Passes on or drops every whole frame that waits, and the rest at the end.
    fn decide(&mut self, into: &mut Vec<f32>) {
        let waiting = std::mem::take(&mut self.waiting);
        let (frames, rest) = waiting.as_chunks::<FRAME>();
        let mut before = self.read - waiting.len() as u64;
        for frame in frames {
            let Some(detector) = &mut self.detector else { break };
            let speech = detector(frame);
            before += FRAME as u64;
            self.frame(frame, speech, before, into);
        }
        self.waiting.extend_from_slice(rest);
        if self.ended {
            let rest = std::mem::take(&mut self.waiting);
            if self.speaking {
                self.held.extend(rest);
                self.held.truncate(AROUND * FRAME);
                let held = std::mem::take(&mut self.held);
                self.pass(&held, into);
            }
        }
    }

    /// One frame; `after` is its end in the sound.
    fn frame(&mut self, frame: &[f32], speech: f32, after: u64, into: &mut Vec<f32>) {
        self.held.extend_from_slice(frame);
        if self.speaking {
            if speech >= END {
                self.row = 0;
                let held = std::mem::take(&mut self.held);
                self.pass(&held, into);
                return;
            }
            self.row += 1;
            if self.row == PAUSE {
                (self.speaking, self.row) = (false, 0);
                let rest = self.held.split_off(AROUND * FRAME);
                let tail = std::mem::replace(&mut self.held, rest);
                self.pass(&tail, into);
            }
            return;
        }
        self.row = if speech >= BEGIN { self.row + 1 } else { 0 };
        if self.row == SHORTEST {
            (self.speaking, self.row) = (true, 0);
            let held = std::mem::take(&mut self.held);
            self.runs.push((self.passed, after - held.len() as u64));
            self.pass(&held, into);
            return;
        }
        let most = (AROUND + self.row) * FRAME;
        let surplus = self.held.len().saturating_sub(most);
        self.held.drain(..surplus);
    }

    fn pass(&mut self, samples: &[f32], into: &mut Vec<f32>) {
        self.passed += samples.len() as u64;
        into.extend_from_slice(samples);
    }

    /// The second of the sound at a sample of what was passed on; at the seam of two runs the end of the first
    /// when an `end` is wanted.
    pub(crate) fn second(&self, sample: u64, end: bool) -> f64 {
        let after = self.runs.partition_point(|(begin, _)| if end { *begin < sample } else { *begin <= sample });
        match after.checked_sub(1).and_then(|at| self.runs.get(at)) {
            Some((begin, origin)) => (origin + sample - begin) as f64 / RATE,
            None => self.runs.first().map_or(sample, |(_, origin)| *origin) as f64 / RATE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Frames(Vec<f32>, usize);

    impl Sound for Frames {
        fn next_block(&mut self, into: &mut Vec<f32>) -> Result<bool, SttError> {
            // Odd blocks, so that frames do not fall on their edges.
            let end = (self.1 + 700).min(self.0.len());
            into.extend_from_slice(&self.0[self.1..end]);
            self.1 = end;
            Ok(end < self.0.len())
        }
    }

    /// Frames of the given probabilities: a sample says how probable it is, and what frame it is in.
    fn gated(probabilities: &[f32]) -> (Vec<f32>, Vec<(u64, u64)>, f64, f64) {
        let samples = probabilities.iter().flat_map(|value| [*value; FRAME]).collect();
        let mut sound = Frames(samples, 0);
        let mut stream = Stream::new(&mut sound, Some(Box::new(|frame: &[f32; FRAME]| frame[0])));
        let mut heard = Vec::new();
        assert!(!stream.fill(&mut heard, usize::MAX).unwrap());
        assert_eq!(stream.read, (probabilities.len() * FRAME) as u64);
        let seam = stream.runs.get(1).map_or(0, |run| run.0);
        let (end, begin) = (stream.second(seam, true), stream.second(seam, false));
        (heard, stream.runs, end, begin)
    }

    #[test]
    fn silence_and_clicks_pass_nothing() {
        assert!(gated(&[0.1; 200]).0.is_empty());
        let mut clicks = vec![0.0; 200];
        for at in [10, 50, 51, 120] {
            clicks[at] = 0.9;
        }
        assert!(gated(&clicks).0.is_empty());
    }

    #[test]
    fn speech_comes_with_what_is_around_it_and_keeps_its_place() {
        let mut frames = vec![0.0; 300];
        frames[100..120].fill(0.9);
        frames[200..210].fill(0.6);
        let (heard, runs, end, begin) = gated(&frames);
        assert_eq!(heard.len(), (20 + 10 + 4 * AROUND) * FRAME);
        assert_eq!(runs[0], (0, 92 * FRAME as u64));
        assert_eq!(runs[1], ((20 + 2 * AROUND as u64) * FRAME as u64, 192 * FRAME as u64));
        assert!((end - 128.0 * FRAME as f64 / RATE).abs() < 1e-9);
        assert!((begin - 192.0 * FRAME as f64 / RATE).abs() < 1e-9);
    }

    #[test]
    fn a_short_pause_belongs_to_the_speech() {
        let mut frames = vec![0.0; 60];
        frames[10..20].fill(0.9);
        frames[20..30].fill(0.2);
        frames[30..40].fill(0.4);
        let (heard, runs, ..) = gated(&frames);
        assert_eq!((heard.len(), runs.len()), ((30 + 2 * AROUND) * FRAME, 1));
        // Speech from the first frame to the last has nothing around it.
        assert_eq!(gated(&[0.9; 20]).0.len(), 20 * FRAME);
    }

    #[test]
    fn without_a_detector_everything_passes() {
        let mut sound = Frames(vec![0.5; 2000], 0);
        let mut stream = Stream::new(&mut sound, None);
        let mut heard = Vec::new();
        assert!(stream.fill(&mut heard, 1000).unwrap());
        assert_eq!(heard.len(), 1400);
        assert!(!stream.fill(&mut heard, 4000).unwrap());
        assert_eq!(heard.len(), 2000);
        assert!((stream.second(1600, true) - 0.1).abs() < 1e-12);
        let mut broken = Frames(vec![f32::NAN], 0);
        let error = Stream::new(&mut broken, None).fill(&mut heard, 4000).unwrap_err();
        assert_eq!(error.to_string(), "sample 0 is no number");
    }
}
