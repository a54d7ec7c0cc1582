//! The wake word: streaming front end, heads, voice activity, the event machine, the speaker verifier.
//!
//! Samples at 16 kHz become one embedding every 80 ms ([`FrontEnd`]); heads turn the last 16 or so into a
//! score ([`Head`]); a machine turns scores into events ([`Detector`]). Weights come from ONNX files
//! and are computed here ([`onnx`] reads and writes them): no ONNX library is needed. Nothing is printed
//! or fetched; times are counted in samples, never by a clock.
//!
//! Sources: the streaming features are those of openWakeWord (Apache-2.0) on Google's speech embedding
//! (Apache-2.0), the voice detector is silero VAD (MIT).

mod detector;
mod dither;
mod embedding;
mod error;
mod file;
mod frontend;
mod graph;
mod head;
mod mel;
mod net;
pub mod onnx;
#[cfg(test)]
mod testing;
mod vad;
mod verifier;

pub use detector::{Detector, DetectorConfig, Event, FRAME_S, Frame, Output, WINDOW_FRAMES, firing_scores};
pub use dither::dither;
pub use embedding::{EMBEDDING, Embedding, EmbeddingModel, MEL_FRAMES};
pub use error::WakeError;
pub use frontend::{FrontEnd, HOP, embed_clips};
pub use head::Head;
pub use mel::{MEL_BANDS, MelFrame, spectrogram};
pub use vad::{Region, RegionOptions, VAD_BLOCK, Vad, speech_regions};
pub use verifier::{VERIFIER_INPUTS, Verifier, VerifierFile};
