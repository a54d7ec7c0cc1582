//! The engines as the driver sees them, real and scripted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tenpass_audio::Audio;
use tenpass_stt::{Decoding, Transcriber};
use tenpass_tts::{SpeakOptions, Voice};

use crate::turn::{Manner, Route};

/// A result, and how long it counts as having taken; `None` is the time that it really took.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed<T> {
    /// The result.
    pub value: T,
    /// Its written time in microseconds.
    pub cost_us: Option<u64>,
}

impl<T> From<T> for Timed<T> {
    fn from(value: T) -> Self {
        Self { value, cost_us: None }
    }
}

/// Speech to text.
pub trait Ears: Send + Sync {
    /// What is said in this sound; an error is a sentence.
    fn transcribe(&self, audio: &Audio) -> Result<Timed<String>, String>;
}

/// Text to speech.
pub trait Mouth: Send + Sync {
    /// Samples a second of everything it speaks.
    fn rate(&self) -> u32;
    /// The sound of this clause; an error is a sentence.
    fn speak(&self, text: &str) -> Result<Timed<Audio>, String>;
}

/// Decides between command and loop.
pub trait Router: Send + Sync {
    /// Where this text goes.
    fn route(&self, text: &str) -> Timed<Route>;
}

impl<F: Fn(&str) -> Timed<Route> + Send + Sync> Router for F {
    fn route(&self, text: &str) -> Timed<Route> {
        self(text)
    }
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece<'a> {
    /// The text.
    pub text: &'a str,
    /// When it counts as having come, in microseconds after the question; `None` is now.
    pub after_us: Option<u64>,
}

/// What answers: the agent, a bare model, a script.
pub trait Responder: Send + Sync {
    /// Answers a text piece by piece. The sink says false when nobody wants to hear more.
    fn respond(&self, text: &str, sink: &mut dyn FnMut(Piece<'_>) -> bool) -> Result<Manner, String>;
}

/// All parts of a turn.
#[derive(Clone)]
pub struct Components {
    /// Speech to text.
    pub ears: Arc<dyn Ears>,
    /// Text to speech.
    pub mouth: Arc<dyn Mouth>,
    /// Command or loop.
    pub router: Arc<dyn Router>,
    /// The answers.
    pub responder: Arc<dyn Responder>,
}

/// An engine of `tenpass-stt`.
pub struct EngineEars {
    engine: Box<dyn Transcriber>,
    decoding: Decoding,
}

impl EngineEars {
    /// With this decoding for every utterance.
    pub fn new(engine: Box<dyn Transcriber>, decoding: Decoding) -> Self {
        Self { engine, decoding }
    }

    /// Says something to it, so that nothing is loaded during a turn.
    pub fn warm(&self) -> Result<(), String> {
        self.engine
            .transcribe(&Audio::silence(1.0, 16_000), &self.decoding)
            .map(drop)
            .map_err(|error| error.to_string())
    }
}

impl Ears for EngineEars {
    fn transcribe(&self, audio: &Audio) -> Result<Timed<String>, String> {
        let found = self.engine.transcribe(audio, &self.decoding).map_err(|error| error.to_string())?;
        Ok(found.text().into())
    }
}

/// A voice of `tenpass-tts`. Sentences that are known beforehand, such as the answers of commands, are spoken once.
pub struct EngineMouth {
    voice: Box<dyn Voice>,
    options: SpeakOptions,
    prepare: Box<dyn Fn(&str) -> String + Send + Sync>,
    known: Mutex<BTreeMap<String, Audio>>,
}

impl EngineMouth {
    /// `prepare` makes a text speakable: no Markdown, numbers as words.
    pub fn new(
        voice: Box<dyn Voice>,
        options: SpeakOptions,
        prepare: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Self {
        Self { voice, options, prepare: Box::new(prepare), known: Mutex::new(BTreeMap::new()) }
    }

    /// Speaks this text now and keeps its sound.
    pub fn know(&self, text: &str) -> Result<(), String> {
        let sound = self.synthesise(text)?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned(), sound);
        Ok(())
    }

    fn synthesise(&self, text: &str) -> Result<Audio, String> {
        let text = (self.prepare)(text);
        if text.trim().is_empty() {
            return Ok(Audio::new(Vec::new(), self.rate()));
        }
        self.voice.speak(&text, &self.options).map_err(|error| error.to_string())
    }
}

impl Mouth for EngineMouth {
    fn rate(&self) -> u32 {
        self.voice.info().rate
    }

    fn speak(&self, text: &str) -> Result<Timed<Audio>, String> {
        if let Some(sound) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(text) {
            return Ok(sound.clone().into());
        }
        Ok(self.synthesise(text)?.into())
    }
}

/// Answers with written text after a written delay: the part of a model whose speed is known.
#[derive(Debug, Clone)]
pub struct ScriptedResponder {
    /// The answer.
    pub text: String,
    /// When its first word comes.
    pub first_us: u64,
    /// Time of each further word.
    pub word_us: u64,
    /// What the answer does.
    pub manner: Manner,
}

impl Responder for ScriptedResponder {
    fn respond(&self, _text: &str, sink: &mut dyn FnMut(Piece<'_>) -> bool) -> Result<Manner, String> {
        let mut after_us = self.first_us;
        for word in self.text.split_inclusive(' ') {
            if !sink(Piece { text: word, after_us: Some(after_us) }) {
                break;
            }
            after_us += self.word_us;
        }
        Ok(self.manner)
    }
}

/// Hears written texts, one after the other, then nothing. For simulations.
#[derive(Debug, Default)]
pub struct ScriptedEars {
    texts: Mutex<std::collections::VecDeque<String>>,
    cost_us: u64,
}

impl ScriptedEars {
    /// Each transcription takes so long.
    pub fn new(texts: &[&str], cost_us: u64) -> Self {
        Self { texts: Mutex::new(texts.iter().map(|text| (*text).to_owned()).collect()), cost_us }
    }
}

impl Ears for ScriptedEars {
    fn transcribe(&self, _audio: &Audio) -> Result<Timed<String>, String> {
        let text = self.texts.lock().unwrap_or_else(PoisonError::into_inner).pop_front().unwrap_or_default();
        Ok(Timed { value: text, cost_us: Some(self.cost_us) })
    }
}

/// Speaks a tone of 60 ms a character, with silence around it. For simulations.
#[derive(Debug, Clone)]
pub struct ScriptedMouth {
    /// Time of each clause.
    pub cost_us: u64,
    /// Silence before and after.
    pub silence_ms: u64,
}

impl Mouth for ScriptedMouth {
    fn rate(&self) -> u32 {
        16_000
    }

    fn speak(&self, text: &str) -> Result<Timed<Audio>, String> {
        let quiet = (self.silence_ms * 16) as usize;
        let sounding = text.chars().count() * 960;
        let tone = |i: usize| (std::f32::consts::TAU * i as f32 / 40.0).sin() * 0.3;
        let mut samples = vec![0.0; quiet];
        samples.extend((1..=sounding).map(tone));
        samples.extend(std::iter::repeat_n(0.0, quiet));
        Ok(Timed { value: Audio::new(samples, 16_000), cost_us: Some(self.cost_us) })
    }
}

/// Samples below −50 dB of full scale at the head and at the end of a sound; of one that is all silent, all at
/// the head.
pub fn silence_around(samples: &[f32]) -> (usize, usize) {
    const AUDIBLE: f32 = 0.003_162;
    let audible = |sample: &f32| sample.abs() >= AUDIBLE;
    let Some(first) = samples.iter().position(audible) else { return (samples.len(), 0) };
    let last = samples.iter().rposition(audible).unwrap_or(first);
    (first, samples.len() - 1 - last)
}
