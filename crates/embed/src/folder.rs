//! A model's folder: `config.json`, `tokenizer.json`, `model.safetensors`, and how words become one vector.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use candle_transformers::models::bert::Config;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::EmbedError;

/// Largest small file.
const MOST_BYTES: u64 = 64 << 20;

/// How the vectors of words become that of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The mean of all (all-MiniLM).
    Mean,
    /// The first one (bge).
    First,
}

/// What a model's folder holds.
#[derive(Debug)]
pub struct ModelFolder {
    /// The folder.
    pub path: PathBuf,
    /// The network's shape.
    pub config: Config,
    /// From words to a sentence.
    pub pooling: Pooling,
}

impl ModelFolder {
    /// Reads the small files.
    pub fn open(path: &Path) -> Result<Self, EmbedError> {
        let file = path.join("config.json");
        let value = json(&file)?;
        let found = value["model_type"].as_str().unwrap_or("(no model_type)");
        if found != "bert" {
            return Err(EmbedError::Architecture { path: file, found: found.to_owned() });
        }
        let invalid = |error: serde_json::Error| EmbedError::File { path: file.clone(), problem: error.to_string() };
        let config = Config::deserialize(value).map_err(invalid)?;
        let pooling = path.join("1_Pooling/config.json");
        let first = pooling.exists() && json(&pooling)?["pooling_mode_cls_token"] == Value::Bool(true);
        let pooling = if first { Pooling::First } else { Pooling::Mean };
        Ok(Self { path: path.to_owned(), config, pooling })
    }

    /// The file of weights.
    pub fn weights(&self) -> PathBuf {
        self.path.join("model.safetensors")
    }

    /// The tokenizer's file.
    pub fn tokenizer(&self) -> PathBuf {
        self.path.join("tokenizer.json")
    }

    /// The folder's name.
    pub fn name(&self) -> String {
        self.path.file_name().map_or_else(|| "embeddings".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// SHA-256 of the weights.
    pub fn digest(&self) -> Result<String, EmbedError> {
        let path = self.weights();
        let failed = |error: std::io::Error| EmbedError::File { path: path.clone(), problem: error.to_string() };
        let mut file = File::open(&path).map_err(failed)?;
        let mut hash = Sha256::new();
        let mut block = vec![0; 1 << 16];
        loop {
            let read = file.read(&mut block).map_err(failed)?;
            if read == 0 {
                break;
            }
            hash.write_all(&block[..read]).map_err(failed)?;
        }
        Ok(hash.finalize().iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}")))
    }
}

fn json(path: &Path) -> Result<Value, EmbedError> {
    let problem = |problem: String| EmbedError::File { path: path.to_owned(), problem };
    let mut text = String::new();
    let file = File::open(path).map_err(|error| problem(error.to_string()))?;
    file.take(MOST_BYTES).read_to_string(&mut text).map_err(|error| problem(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| problem(error.to_string()))
}
