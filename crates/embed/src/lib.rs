//! Sentence embeddings: texts become points, and texts that mean alike lie close to each other.
//!
//! - [`BertEmbedder`]: BERT models such as all-MiniLM and bge, in this process, on safetensors.
//! - [`RemoteEmbedder`]: the same over HTTP, from a second computer (`tenpass serve --role embeddings`), Ollama, or any
//!   server with OpenAI's `/v1/embeddings`.
//!
//! Vectors are normalised to length 1, so that their product is their cosine: [`cosine`].

mod bert;
mod error;
mod folder;
mod remote;

use std::future::Future;
use std::pin::Pin;

pub use bert::{BertEmbedder, MOST_TOKENS};
pub use error::EmbedError;
pub use folder::{ModelFolder, Pooling};
pub use remote::{Api, RemoteEmbedder, is_loopback};

/// What embeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedderInfo {
    /// Name of the model.
    pub name: String,
    /// SHA-256 of its weights, where it is known.
    pub digest: Option<String>,
    /// Values of a vector.
    pub dimensions: usize,
    /// Where it runs: `cpu`, or the address of another computer.
    pub device: String,
}

/// A future of vectors.
pub type Vectors<'a> = Pin<Box<dyn Future<Output = Result<Vec<Vec<f32>>, EmbedError>> + Send + 'a>>;

/// Turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// What it is.
    fn info(&self) -> &EmbedderInfo;

    /// One vector of length 1 a text, in the same order. Longer texts are cut at the model's length.
    fn embed<'a>(&'a self, texts: &'a [String]) -> Vectors<'a>;
}

/// Cosine of two vectors of length 1; 0 where their lengths differ.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    if a.len() == b.len() { a.iter().zip(b).map(|(x, y)| x * y).sum() } else { 0.0 }
}

/// Brings a vector to length 1; a zero vector stays as it is.
pub(crate) fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    vector
}
