//! What an engine does with at most 30 seconds of sound; everything else is the same for all of them.

use crate::transcriber::{EngineInfo, SttError};
use crate::vocabulary::{Special, Vocabulary};

/// Samples of a full window: 29.76 s at 16 kHz, for [`CONTEXT`].
pub(crate) const WINDOW: usize = 320 * CONTEXT;
/// Samples between two frames of the spectrogram.
pub(crate) const HOP: usize = 160;
/// Frames of a full window after the encoder, of 20 ms each. Whisper has 1500; matrix products by blocks of 16, 32
/// or 48 numbers want a multiple of them, without which the encoder takes a quarter longer.
pub(crate) const CONTEXT: usize = 1488;
/// Most tokens of a prompt that a model takes.
pub(crate) const PROMPT_TOKENS: usize = 223;
/// Most tokens of an answer: half of the decoder's context.
pub(crate) const MOST_TOKENS: usize = 224;
/// Candidates at temperatures above 0.
pub(crate) const CANDIDATES: usize = 5;

/// A stretch of sound and how to decode it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<'a> {
    /// 16 kHz, at most [`WINDOW`] of them.
    pub(crate) samples: &'a [f32],
    pub(crate) language: &'a str,
    /// At most [`PROMPT_TOKENS`].
    pub(crate) prompt: &'a [u32],
    pub(crate) beams: usize,
    pub(crate) fallback: bool,
    /// Frames of the encoder, at most [`CONTEXT`].
    pub(crate) context: usize,
    /// Whether timestamps are decoded.
    pub(crate) times: bool,
    /// After so many tokens the answer is given up, at most [`MOST_TOKENS`].
    pub(crate) most_tokens: usize,
    pub(crate) threads: usize,
}

impl Window<'_> {
    /// Temperatures in the order in which they are tried. A prompt is dropped from 0.5 on.
    pub(crate) fn temperatures(&self) -> &'static [f32] {
        if self.fallback { &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0] } else { &[0.0] }
    }

    /// The prompt at a temperature.
    pub(crate) fn prompt_at(&self, temperature: f32) -> &[u32] {
        if temperature < 0.5 { self.prompt } else { &[] }
    }

    /// All tokens that come before the answer.
    pub(crate) fn prefix(&self, special: &Special, multilingual: bool, temperature: f32) -> Vec<u32> {
        let before = self.prompt_at(temperature);
        let mut prefix = Vec::with_capacity(before.len() + 5);
        if !before.is_empty() {
            prefix.push(special.previous);
            prefix.extend_from_slice(before);
        }
        prefix.push(special.start);
        if multilingual {
            prefix.extend(special.language(self.language));
            prefix.push(special.transcribe);
        }
        if !self.times {
            prefix.push(special.no_timestamps);
        }
        prefix
    }
}

/// A token that was decoded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Token {
    pub(crate) id: u32,
    pub(crate) log_probability: f32,
}

/// What an engine decoded at one temperature.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Answer {
    /// With timestamps, and with the closing token where there is one.
    pub(crate) tokens: Vec<Token>,
    pub(crate) no_speech: f32,
    pub(crate) temperature: f32,
}

impl Answer {
    /// Mean log-probability of its tokens.
    pub(crate) fn log_probability(&self) -> f32 {
        let sum: f32 = self.tokens.iter().map(|token| token.log_probability).sum();
        sum / self.tokens.len().max(1) as f32
    }
}

/// An engine with its model.
pub(crate) trait Engine: Send + Sync {
    fn info(&self) -> &EngineInfo;
    fn vocabulary(&self) -> &Vocabulary;
    /// The language that is spoken, by a multilingual model.
    fn detect(&self, samples: &[f32], threads: usize) -> Result<String, SttError>;
    /// Tokens of a text.
    fn tokens(&self, text: &str) -> Result<Vec<u32>, SttError>;
    /// Decodes at one temperature after the other until an answer is accepted, or none is left.
    fn hear(&self, window: &Window<'_>, accept: &dyn Fn(&Answer) -> bool) -> Result<Answer, SttError>;
}
