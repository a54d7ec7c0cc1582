//! The streaming front end over sound, with the cache before it.

use std::path::Path;

use sha2::{Digest, Sha256};
use tenpass_wake::{EmbeddingModel, FrontEnd};

use super::FeatureError;
use super::cache::{Cache, Key};

/// Raised whenever the same sound would give other features.
const VERSION: &str = "1";

/// Makes embeddings, or takes them from the cache.
#[derive(Debug)]
pub struct Extractor {
    model: EmbeddingModel,
    version: String,
    cache: Cache,
}

/// Whether a stream begins with its first sample, or has heard dither before.
#[derive(Debug, Clone, Copy)]
enum Start {
    Fresh,
    Warm,
}

impl Extractor {
    /// With this embedding model; the cache lies in the folder.
    pub fn open(model: &Path, folder: &Path) -> Result<Self, FeatureError> {
        let loaded = EmbeddingModel::load(model).map_err(|error| FeatureError::FrontEnd(error.to_string()))?;
        let bytes = std::fs::read(model).map_err(|source| FeatureError::File { path: model.to_owned(), source })?;
        let version = format!("{VERSION}:{}", hex(&Sha256::digest(bytes)));
        Ok(Self { model: loaded, version, cache: Cache::open(folder)? })
    }

    /// What features depend on besides the sound: the version of this code and the embedding model's hash.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The embeddings of a clip, one after another, 96 values each: 2.0 s (16 kHz) give 16.
    pub fn clip(&self, samples: &[i16]) -> Result<Vec<f32>, FeatureError> {
        self.embeddings(samples, Start::Fresh)
    }

    /// The embeddings of continuous sound: one every 80 ms from its beginning on.
    pub fn stream(&self, samples: &[i16]) -> Result<Vec<f32>, FeatureError> {
        self.embeddings(samples, Start::Warm)
    }

    fn embeddings(&self, samples: &[i16], start: Start) -> Result<Vec<f32>, FeatureError> {
        let key = self.key(samples, start);
        if let Some(found) = self.cache.get(&key)? {
            return Ok(found);
        }
        let mut front_end = match start {
            Start::Fresh => FrontEnd::new(&self.model),
            Start::Warm => FrontEnd::warmed(&self.model),
        };
        let mut found = Vec::with_capacity(samples.len() / 1280 * 96);
        let mut block = Vec::with_capacity(16_000);
        for part in samples.chunks(16_000) {
            block.clear();
            block.extend(part.iter().map(|sample| f32::from(*sample) / 32_768.0));
            front_end.push(&block, &mut |embedding| found.extend_from_slice(&embedding));
        }
        self.cache.put(&key, &found)?;
        Ok(found)
    }

    fn key(&self, samples: &[i16], start: Start) -> Key {
        let mut hash = Sha256::new();
        hash.update(self.version.as_bytes());
        hash.update(match start {
            Start::Fresh => b"clip",
            Start::Warm => b"flow",
        });
        update(&mut hash, samples);
        hash.finalize().into()
    }
}

/// A name of this sound, whatever file it came in: half of the SHA-256 of its samples at 16 kHz, in hex.
pub fn sound_hash(samples: &[i16]) -> String {
    let mut hash = Sha256::new();
    update(&mut hash, samples);
    hex(&hash.finalize()[..16])
}

fn update(hash: &mut Sha256, samples: &[i16]) {
    let mut bytes = Vec::with_capacity(8192);
    for part in samples.chunks(4096) {
        bytes.clear();
        bytes.extend(part.iter().flat_map(|sample| sample.to_le_bytes()));
        hash.update(&bytes);
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
