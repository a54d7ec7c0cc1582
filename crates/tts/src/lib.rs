//! Text to speech behind one trait.
//!
//! A [`VoiceSpec`] names an engine and a voice, [`open`] makes a [`Voice`] of it, [`present`] lists what this
//! machine has. Programs (espeak-ng, flite) are run and never linked; Piper and Kokoro run on ONNX Runtime,
//! which is loaded when the first of them is opened; ElevenLabs is asked only when it is named.
//! Everything is synchronous and can be stopped with a [`Cancel`].

mod cancel;
mod engine;
mod envelope;
mod files;
mod open;
mod spec;
mod stream;
mod symbols;
mod text;
mod voice;

pub use cancel::Cancel;
pub use engine::kokoro::kokoro_styles;
pub use envelope::{Envelope, FRAME_MS};
pub use files::{ElevenLabsAccount, Files};
pub use open::{best, open, present};
pub use spec::{ENGINES, FLITE_VOICES, VoiceSpec};
pub use stream::{SpeechStream, Spoken, speak_stream};
pub use text::{Chunker, LONGEST_CHUNK, SHORTEST_CHUNK, chunks, spoken};
pub use voice::{SpeakOptions, TtsError, Voice, VoiceInfo};
