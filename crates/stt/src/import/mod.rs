//! From the files that models come in to what the engines read.
//!
//! CTranslate2's `model.bin` and Hugging Face's folders are read into one form ([`weights`]), from which candle
//! takes its tensors and whisper.cpp's ggml file is written ([`ggml`]), once, into a cache ([`cache`]).

mod blocks;
pub(crate) mod cache;
mod ct2;
pub(crate) mod folder;
pub(crate) mod ggml;
mod mel;
pub(crate) mod shape;
pub(crate) mod source;
pub(crate) mod weights;

pub use blocks::Quantisation;
pub use cache::ImportStep;
pub use mel::{BINS, mel_filters};
pub use shape::ModelShape;

/// The bytes of the 50,257 tokens that stand for text, from a `tokenizer.json` of Whisper.
pub fn vocabulary_words(json: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    crate::vocabulary::words_of(json)
}
