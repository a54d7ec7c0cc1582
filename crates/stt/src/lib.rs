//! Speech to text behind one trait.
//!
//! A [`SttSpec`] names an engine and a model, [`load`] brings both together, and the [`Transcriber`] that comes out
//! writes down sound of any rate and length. What is the same for all engines is in `listen`: a gate that lets
//! speech alone through, windows of 30 seconds, timestamps, languages, when to try again. `whisper_cpp` and `candle`
//! decode one window. `import` reads the files that models come in, checks them before C++ sees them, and writes
//! whisper.cpp's.

mod candle;
pub mod import;
mod listen;
mod load;
mod spec;
pub mod subtitles;
mod transcriber;
mod vad;
mod vocabulary;
mod whisper_cpp;

pub use listen::Sound;
pub use load::{Files, load, load_with};
pub use spec::{EngineKind, SttSpec};
pub use transcriber::{Decoding, EngineInfo, Enough, Segment, SttError, Transcriber, Transcript};
pub use vocabulary::LANGUAGES;
