//! The benches of speech: transcription prompts, wake words, latency of a turn, barge-in.
//!
//! Every bench keeps its passes in [`store`], so that it can be stopped, resumed and scored again. [`stt`] compares
//! prompts, engines and decodings on identical audio, scored by [`normalise`] and [`score`]. [`turn`] measures the latency
//! of voice turns part by part, [`barge`] how well a voice interrupts playback,
//! [`wake`] misses and false wakes of wake words, [`blind`] which answers or voices a person prefers unseen.

pub mod barge;
pub mod blind;
pub mod normalise;
pub mod score;
pub mod store;
pub mod stt;
pub mod turn;
pub mod wake;
