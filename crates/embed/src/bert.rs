//! BERT in this process.

use std::path::Path;
use std::sync::Arc;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use tokenizers::{Tokenizer, TruncationParams};

use crate::{EmbedError, Embedder, EmbedderInfo, ModelFolder, Pooling, Vectors, normalised};

/// Tokens of a text that count: what the sentence-transformers models were trained with.
pub const MOST_TOKENS: usize = 256;
/// Texts of one batch; the padded batch stays small enough for the caches of a processor.
const BATCH: usize = 16;

/// A BERT model on this processor.
pub struct BertEmbedder {
    inner: Arc<Inner>,
    info: EmbedderInfo,
}

struct Inner {
    model: BertModel,
    tokenizer: Tokenizer,
    pooling: Pooling,
}

impl BertEmbedder {
    /// Loads a model from its folder (see [`ModelFolder`]).
    pub fn load(path: &Path) -> Result<Self, EmbedError> {
        let folder = ModelFolder::open(path)?;
        let file = folder.weights();
        let broken = |problem: String| EmbedError::File { path: file.clone(), problem };
        let bytes = std::fs::read(&file).map_err(|error| broken(error.to_string()))?;
        let tensors = VarBuilder::from_buffered_safetensors(bytes, DType::F32, &Device::Cpu);
        let tensors = tensors.map_err(|error| broken(error.to_string()))?;
        let model = BertModel::load(tensors, &folder.config).map_err(|error| broken(error.to_string()))?;
        let words = folder.tokenizer();
        let unusable = |error: tokenizers::Error| EmbedError::File { path: words.clone(), problem: error.to_string() };
        let mut tokenizer = Tokenizer::from_file(&words).map_err(unusable)?;
        let most = MOST_TOKENS.min(folder.config.max_position_embeddings);
        let truncation = TruncationParams { max_length: most, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(unusable)?;
        tokenizer.with_padding(None);
        let info = EmbedderInfo {
            name: folder.name(),
            digest: Some(folder.digest()?),
            dimensions: folder.config.hidden_size,
            device: "cpu".to_owned(),
        };
        Ok(Self { inner: Arc::new(Inner { model, tokenizer, pooling: folder.pooling }), info })
    }

    /// As [`Embedder::embed`], on this thread.
    pub fn embed_here(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.inner.embed(texts)
    }
}

impl Embedder for BertEmbedder {
    fn info(&self) -> &EmbedderInfo {
        &self.info
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> Vectors<'a> {
        let inner = Arc::clone(&self.inner);
        let texts = texts.to_vec();
        Box::pin(async move {
            let work = tokio::task::spawn_blocking(move || inner.embed(&texts));
            work.await.map_err(|error| EmbedError::Model(error.to_string()))?
        })
    }
}

impl Inner {
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let failed = |error: tokenizers::Error| EmbedError::Model(error.to_string());
        let mut tokens = Vec::with_capacity(texts.len());
        for (place, text) in texts.iter().enumerate() {
            let encoding = self.tokenizer.encode(text.as_str(), true).map_err(failed)?;
            tokens.push((place, encoding.get_ids().to_vec()));
        }
        // Texts of one length share a batch, so that little is padded.
        tokens.sort_by_key(|(_, ids)| ids.len());
        let mut vectors = vec![Vec::new(); texts.len()];
        for batch in tokens.chunks(BATCH) {
            let found = self.batch(batch).map_err(|error| EmbedError::Model(error.to_string()))?;
            for ((place, _), vector) in batch.iter().zip(found) {
                vectors[*place] = normalised(vector);
            }
        }
        Ok(vectors)
    }

    fn batch(&self, batch: &[(usize, Vec<u32>)]) -> candle_core::Result<Vec<Vec<f32>>> {
        let longest = batch.iter().map(|(_, ids)| ids.len()).max().unwrap_or(0).max(1);
        let mut ids = Vec::with_capacity(batch.len() * longest);
        let mut mask = Vec::with_capacity(ids.capacity());
        for (_, text) in batch {
            ids.extend_from_slice(text);
            ids.extend(std::iter::repeat_n(0, longest - text.len()));
            mask.extend(std::iter::repeat_n(1_u32, text.len()));
            mask.extend(std::iter::repeat_n(0_u32, longest - text.len()));
        }
        let shape = (batch.len(), longest);
        let ids = Tensor::from_vec(ids, shape, &Device::Cpu)?;
        let mask = Tensor::from_vec(mask, shape, &Device::Cpu)?;
        let words = self.model.forward(&ids, &ids.zeros_like()?, Some(&mask))?;
        let sentences = match self.pooling {
            Pooling::First => words.narrow(1, 0, 1)?.squeeze(1)?,
            Pooling::Mean => {
                let weights = mask.to_dtype(DType::F32)?.unsqueeze(2)?;
                let sum = words.broadcast_mul(&weights)?.sum(1)?;
                sum.broadcast_div(&weights.sum(1)?.clamp(1.0, f64::INFINITY)?)?
            }
        };
        sentences.to_vec2()
    }
}
