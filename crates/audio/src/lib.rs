//! Sound in memory and in files.
//!
//! [`Audio`] is one channel of `f32` samples in −1..1 with its rate. Files are read by block
//! ([`WavReader`]) or whole ([`read`]); whatever their form (8 to 64 bits, integer or float, any number of
//! channels, WAV or FLAC), what comes out is one channel. [`Resampler`] changes the rate, whole or by block;
//! [`level`] measures and finds speech; [`augment`] makes one sound many, by a seed.

pub mod augment;
#[cfg(feature = "audio-device")]
mod device;
mod error;
mod file;
#[cfg(test)]
mod file_tests;
mod flac;
mod input;
pub mod level;
mod random;
mod resample;
mod sound;
mod wav;

pub use error::AudioError;
pub use file::{WavReader, flac_bytes, open, read, read_noted, wav_bytes, write_flac, write_wav};
pub use input::{Input, microphone};
pub use level::{Loudness, loudness, speech_end_s, trim, voiced};
pub use random::Random;
pub use resample::{Resampler, resample};
pub use sound::Audio;

/// The rate of everything that listens, in hertz.
pub const SPEECH_RATE: u32 = 16_000;
