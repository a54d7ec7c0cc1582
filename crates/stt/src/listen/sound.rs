//! Where samples come from, block by block, so that an hour needs no more memory than a minute.

use tenpass_audio::{Audio, SPEECH_RATE, resample};

use crate::transcriber::SttError;

/// Sound at 16 kHz, read from front to back.
pub trait Sound {
    /// Appends the next samples, any number of them; false at the end.
    fn next_block(&mut self, into: &mut Vec<f32>) -> Result<bool, SttError>;
}

/// Sound that is in memory.
pub(crate) struct InMemory<'a> {
    samples: std::borrow::Cow<'a, [f32]>,
    at: usize,
}

impl<'a> InMemory<'a> {
    /// Of any rate.
    pub(crate) fn new(audio: &'a Audio) -> Result<Self, SttError> {
        if audio.rate == 0 {
            return Err(SttError::Input("sound with a rate of 0 Hz".to_owned()));
        }
        let samples = if audio.rate == SPEECH_RATE {
            audio.samples.as_slice().into()
        } else {
            resample(&audio.samples, audio.rate, SPEECH_RATE).into()
        };
        Ok(Self { samples, at: 0 })
    }
}

impl Sound for InMemory<'_> {
    fn next_block(&mut self, into: &mut Vec<f32>) -> Result<bool, SttError> {
        let end = (self.at + SPEECH_RATE as usize).min(self.samples.len());
        into.extend_from_slice(&self.samples[self.at..end]);
        self.at = end;
        Ok(end < self.samples.len())
    }
}
