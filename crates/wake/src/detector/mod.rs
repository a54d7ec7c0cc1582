//! From samples to events: the front end, any number of heads on the same features, the gates, and the
//! event machines.
//!
//! A stream starts with two seconds of dither, and its first 16 frames (or as many as the
//! head's window is long) are cold: they are never scored.

mod config;
mod event;
mod gate;
mod machine;
mod scores;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

pub use config::{DetectorConfig, FRAME_S};
pub use event::{Event, Frame, Output};
pub use scores::firing_scores;

use crate::embedding::{Embedding, EmbeddingModel};
use crate::error::WakeError;
use crate::frontend::{FrontEnd, HOP};
use crate::head::Head;
use crate::vad::Vad;
use crate::verifier::Verifier;
use gate::SpeechGate;
use machine::{Machine, Rules, Step};

/// Embeddings that a verifier sees, and the fewest frames that are cold.
pub const WINDOW_FRAMES: usize = 16;
const SAMPLES_PER_MS: usize = 16;

/// Listens to one stream.
#[derive(Debug)]
pub struct Detector {
    front_end: FrontEnd,
    config: DetectorConfig,
    slots: Vec<Slot>,
    speech: Option<SpeechGate>,
    /// The last embeddings, newest last.
    history: Vec<Embedding>,
    longest: usize,
    /// Frames since the start.
    frames: u64,
    /// Samples since the start.
    samples: u64,
    pre_roll: VecDeque<f32>,
    scores: Vec<Option<f32>>,
}

#[derive(Debug)]
struct Slot {
    head: Head,
    verifier: Option<Verifier>,
    machine: Machine,
    /// The event that goes on or may begin.
    event: Option<Event>,
}

impl Detector {
    /// A stream with these heads.
    pub fn new(model: &EmbeddingModel, heads: Vec<Head>, config: DetectorConfig) -> Result<Self, WakeError> {
        config.check()?;
        let rules = Rules {
            on: config.threshold_on,
            off: config.threshold_off,
            hits: config.hits,
            of: config.of,
            refractory_frames: config::frames(config.refractory_ms),
        };
        let longest = heads.iter().map(Head::frames).max().unwrap_or(0).max(WINDOW_FRAMES);
        let slot = |head| Slot { head, verifier: None, machine: Machine::new(rules), event: None };
        Ok(Self {
            front_end: FrontEnd::warmed(model),
            slots: heads.into_iter().map(slot).collect(),
            speech: None,
            history: Vec::with_capacity(2 * longest),
            longest,
            frames: 0,
            samples: 0,
            pre_roll: VecDeque::with_capacity(config.pre_roll_ms as usize * SAMPLES_PER_MS),
            scores: Vec::new(),
            config,
        })
    }

    /// Events need speech as well.
    pub fn with_vad(mut self, vad: Vad) -> Self {
        self.speech = Some(SpeechGate::new(vad, config::frames(self.config.vad_window_ms)));
        self
    }

    /// Events of this head need the enrolled speaker as well. A head that is not there is left out.
    pub fn with_verifier(mut self, head: usize, verifier: Verifier) -> Self {
        if let Some(slot) = self.slots.get_mut(head) {
            slot.verifier = Some(verifier);
        }
        self
    }

    /// Thresholds of one head.
    pub fn with_thresholds(mut self, head: usize, on: f32, off: f32) -> Result<Self, WakeError> {
        config::thresholds(on, off)?;
        if let Some(slot) = self.slots.get_mut(head) {
            slot.machine.set_thresholds(on, off);
        }
        Ok(self)
    }

    /// Its heads, in the order of [`Frame::scores`].
    pub fn heads(&self) -> impl Iterator<Item = &Head> {
        self.slots.iter().map(|slot| &slot.head)
    }

    /// Its settings.
    pub fn config(&self) -> &DetectorConfig {
        &self.config
    }

    /// Seconds heard since the start.
    pub fn seconds(&self) -> f64 {
        self.samples as f64 / (1000 * SAMPLES_PER_MS) as f64
    }

    /// Starts a new stream: dither, cold, time 0. An event that goes on is forgotten, not told.
    pub fn reset(&mut self) {
        self.front_end.reset_warm();
        self.history.clear();
        self.pre_roll.clear();
        (self.frames, self.samples) = (0, 0);
        if let Some(speech) = &mut self.speech {
            speech.reset();
        }
        for slot in &mut self.slots {
            slot.machine.reset();
            slot.event = None;
        }
    }

    /// Takes samples (16 kHz, full scale at ±1), however cut, and tells what happened.
    pub fn push(&mut self, samples: &[f32], on: &mut dyn FnMut(Output<'_>)) {
        let mut rest = samples;
        while !rest.is_empty() {
            let missing = HOP - (self.samples % HOP as u64) as usize;
            let (now, later) = rest.split_at(missing.min(rest.len()));
            rest = later;
            self.samples += now.len() as u64;
            self.keep(now);
            if let Some(speech) = &mut self.speech {
                speech.push(now);
            }
            let mut found = None;
            self.front_end.push(now, &mut |embedding| found = Some(embedding));
            if let Some(embedding) = found {
                self.frame(&embedding, on);
            }
        }
    }

    /// The events that begin within these samples.
    pub fn events(&mut self, samples: &[f32]) -> Vec<Event> {
        let mut events = Vec::new();
        self.push(samples, &mut |output| {
            if let Output::Fired(event) = output {
                events.push(event.clone());
            }
        });
        events
    }

    /// The stream is over: tells the end of events that still go on.
    pub fn finish(&mut self, on: &mut dyn FnMut(Output<'_>)) {
        for slot in &mut self.slots {
            if let Some(event) = slot.event.take().filter(|_| slot.machine.has_fired()) {
                on(Output::Ended(&event));
            }
            slot.machine.reset();
        }
    }

    /// The last seconds, as long as the pre-roll ring is.
    pub fn pre_roll(&self) -> Vec<f32> {
        self.pre_roll.iter().copied().collect()
    }

    /// What speech recognition begins with: the samples from shortly before the word's end to now.
    pub fn speech_after(&self, event: &Event) -> Vec<f32> {
        let rate = (1000 * SAMPLES_PER_MS) as f64;
        let start = (event.word_end_s * rate).round() as u64;
        let start = start.saturating_sub(u64::from(self.config.lead_ms) * SAMPLES_PER_MS as u64);
        let wanted = usize::try_from(self.samples.saturating_sub(start)).unwrap_or(usize::MAX);
        let skipped = self.pre_roll.len().saturating_sub(wanted);
        self.pre_roll.iter().skip(skipped).copied().collect()
    }

    fn keep(&mut self, samples: &[f32]) {
        let most = self.config.pre_roll_ms as usize * SAMPLES_PER_MS;
        let samples = &samples[samples.len().saturating_sub(most)..];
        let over = (self.pre_roll.len() + samples.len()).saturating_sub(most);
        self.pre_roll.drain(..over);
        self.pre_roll.extend(samples);
    }

    fn frame(&mut self, embedding: &Embedding, on: &mut dyn FnMut(Output<'_>)) {
        if self.history.len() == 2 * self.longest {
            self.history.drain(..self.longest);
        }
        self.history.push(*embedding);
        let index = self.frames;
        self.frames += 1;
        let time_s = self.frames as f64 * FRAME_S;
        let speech = self.speech.as_mut().map(SpeechGate::frame);
        self.scores.clear();
        for slot in &self.slots {
            let cold = slot.head.frames().max(WINDOW_FRAMES) as u64;
            self.scores.push((self.frames > cold).then(|| slot.head.score(&self.history)));
        }
        on(Output::Frame(Frame { index, time_s, scores: &self.scores, speech, embedding }));
        let window = &self.history[self.history.len().saturating_sub(WINDOW_FRAMES)..];
        let heard = Heard { index, time_s, speech, window, config: &self.config };
        for (place, (slot, score)) in self.slots.iter_mut().zip(&self.scores).enumerate() {
            if let Some(score) = score {
                slot.step(place, *score, &heard, on);
            }
        }
    }
}

/// What a frame has, for every head.
struct Heard<'a> {
    index: u64,
    time_s: f64,
    speech: Option<f32>,
    window: &'a [Embedding],
    config: &'a DetectorConfig,
}

impl Slot {
    fn step(&mut self, place: usize, score: f32, heard: &Heard<'_>, on: &mut dyn FnMut(Output<'_>)) {
        let counts = self.machine.counts(score);
        if self.event.is_none() && counts {
            self.event = Some(self.begin(place, score, heard));
        }
        if let Some(event) = &mut self.event
            && score > event.peak
        {
            (event.peak, event.peak_time_s) = (score, heard.time_s);
            event.window.clear();
            event.window.extend_from_slice(heard.window);
        }
        let (verifier, window) = (&self.verifier, self.event.as_ref().map_or(heard.window, |event| &event.window));
        let mut verified = None;
        let step = self.machine.step(heard.index, score, || {
            let voice = heard.speech.is_none_or(|speech| speech >= heard.config.vad_threshold);
            voice
                && verifier.as_ref().is_none_or(|verifier| {
                    let probability = verifier.score(window);
                    verified = Some(probability);
                    probability >= heard.config.verifier_threshold.unwrap_or(verifier.threshold())
                })
        });
        let strength = self.machine.strength();
        if let Some(event) = &mut self.event {
            event.strength = event.strength.max(strength);
            event.verified = verified.or(event.verified);
        }
        match step {
            Step::Quiet if !self.machine.is_active() => self.event = None,
            Step::Quiet => {}
            Step::Fired => {
                if let Some(event) = &mut self.event {
                    event.time_s = heard.time_s;
                    event.word_end_s = (heard.time_s - f64::from(heard.config.word_end_lag_ms) / 1000.0).max(0.0);
                    event.speech = heard.speech;
                    on(Output::Fired(event));
                }
            }
            Step::Ended => {
                if let Some(event) = self.event.take() {
                    on(Output::Ended(&event));
                }
            }
            Step::Rejected => {
                if let Some(event) = self.event.take() {
                    on(Output::Rejected(&event));
                }
            }
        }
    }

    fn begin(&self, head: usize, score: f32, heard: &Heard<'_>) -> Event {
        Event {
            head,
            name: self.head.name().to_owned(),
            time_s: heard.time_s,
            word_end_s: heard.time_s,
            peak: score,
            peak_time_s: heard.time_s,
            strength: 0.0,
            speech: heard.speech,
            verified: None,
            window: heard.window.to_vec(),
        }
    }
}
