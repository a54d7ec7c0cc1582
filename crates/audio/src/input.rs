//! Where sound comes from, block by block: a file, or the microphone.

use crate::{AudioError, WavReader};

/// A source of sound: one channel, by block.
pub trait Input {
    /// Samples a second.
    fn rate(&self) -> u32;
    /// Replaces the buffer's contents by what comes next; waits for it, where it is made only now. False at the end.
    fn next_block(&mut self, samples: &mut Vec<f32>) -> Result<bool, AudioError>;
}

impl Input for WavReader {
    fn rate(&self) -> u32 {
        Self::rate(self)
    }

    fn next_block(&mut self, samples: &mut Vec<f32>) -> Result<bool, AudioError> {
        Self::next_block(self, samples)
    }
}

/// Opens the microphone: the system's, or the one whose name contains a text.
///
/// Builds without the feature `audio-device` say how to get one with it.
#[cfg(not(feature = "audio-device"))]
pub fn microphone(_name: Option<&str>) -> Result<Box<dyn Input>, AudioError> {
    Err(AudioError::NoDevice { what: "this build cannot open a microphone".to_owned(), hint: WITHOUT.to_owned() })
}

/// What to do about a build without the feature.
#[cfg(not(feature = "audio-device"))]
const WITHOUT: &str = "build with `--features audio-device` (on Linux it needs libasound2-dev and pkg-config), or \
                       give a WAV or FLAC file instead";

#[cfg(feature = "audio-device")]
pub use crate::device::microphone;
