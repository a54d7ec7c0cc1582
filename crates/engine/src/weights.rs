//! The weights of a network, loaded from GGUF tensors.

use candle_core::Device;
use tenpass_model::ModelError;

use crate::config::NetworkConfig;
use crate::gguf::Gguf;
use crate::kernels::Matrix;

/// A matrix with an optional bias.
pub(crate) struct Linear {
    pub(crate) matrix: Matrix,
    pub(crate) bias: Option<Vec<f32>>,
}

/// One decoder block.
pub(crate) struct Block {
    pub(crate) attention_norm: Vec<f32>,
    pub(crate) query: Linear,
    pub(crate) key: Linear,
    pub(crate) value: Linear,
    pub(crate) query_norm: Option<Vec<f32>>,
    pub(crate) key_norm: Option<Vec<f32>>,
    pub(crate) output: Linear,
    pub(crate) attention_post_norm: Option<Vec<f32>>,
    pub(crate) feed_norm: Vec<f32>,
    pub(crate) gate: Matrix,
    pub(crate) up: Matrix,
    pub(crate) down: Matrix,
    pub(crate) feed_post_norm: Option<Vec<f32>>,
}

/// All weights.
pub(crate) struct Weights {
    pub(crate) embedding: Matrix,
    pub(crate) blocks: Vec<Block>,
    pub(crate) output_norm: Vec<f32>,
    /// The output matrix; `None` when it is the embedding.
    pub(crate) output: Option<Matrix>,
    /// Per-frequency divisors of the rotary embedding (Llama 3).
    pub(crate) rotary_factors: Option<Vec<f32>>,
}

struct Loader<'a> {
    gguf: &'a Gguf,
}

impl Loader<'_> {
    fn values(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let tensor = self.gguf.tensor(name, &Device::Cpu)?;
        if tensor.shape().dims() != shape {
            return Err(self
                .gguf
                .error(format!("tensor {name} has shape {:?}, expected {shape:?}", tensor.shape().dims())));
        }
        let values = tensor.dequantize(&Device::Cpu).and_then(|tensor| tensor.flatten_all()?.to_vec1());
        values.map_err(|error| self.gguf.error(format!("tensor {name}: {error}")))
    }

    fn optional(&self, name: &str, shape: &[usize]) -> Result<Option<Vec<f32>>, ModelError> {
        if self.gguf.has_tensor(name) { self.values(name, shape).map(Some) } else { Ok(None) }
    }

    fn matrix(&self, name: &str, outputs: usize, inputs: usize) -> Result<Matrix, ModelError> {
        let values = self.values(name, &[outputs, inputs])?;
        Matrix::new(values, outputs, inputs).map_err(|error| self.gguf.error(format!("tensor {name}: {error}")))
    }

    fn linear(&self, name: &str, outputs: usize, inputs: usize) -> Result<Linear, ModelError> {
        Ok(Linear {
            matrix: self.matrix(&format!("{name}.weight"), outputs, inputs)?,
            bias: self.optional(&format!("{name}.bias"), &[outputs])?,
        })
    }

    fn block(&self, config: &NetworkConfig, layer: usize) -> Result<Block, ModelError> {
        let name = |suffix: &str| format!("blk.{layer}.{suffix}");
        let (width, head) = (config.width, config.head);
        let (queries, keys) = (config.heads * head, config.kv_width());
        let feed = self.gguf.tensor_shape(&name("ffn_gate.weight"))?[0];
        Ok(Block {
            attention_norm: self.values(&name("attn_norm.weight"), &[width])?,
            query: self.linear(&name("attn_q"), queries, width)?,
            key: self.linear(&name("attn_k"), keys, width)?,
            value: self.linear(&name("attn_v"), keys, width)?,
            query_norm: self.optional(&name("attn_q_norm.weight"), &[head])?,
            key_norm: self.optional(&name("attn_k_norm.weight"), &[head])?,
            output: self.linear(&name("attn_output"), width, queries)?,
            attention_post_norm: self.optional(&name("post_attention_norm.weight"), &[width])?,
            feed_norm: self.values(&name("ffn_norm.weight"), &[width])?,
            gate: self.matrix(&name("ffn_gate.weight"), feed, width)?,
            up: self.matrix(&name("ffn_up.weight"), feed, width)?,
            down: self.matrix(&name("ffn_down.weight"), width, feed)?,
            feed_post_norm: self.optional(&name("post_ffw_norm.weight"), &[width])?,
        })
    }
}

impl Weights {
    /// Loads every tensor the configuration names, checking shapes.
    pub(crate) fn load(gguf: &Gguf, config: &NetworkConfig) -> Result<Self, ModelError> {
        let loader = Loader { gguf };
        let vocabulary = gguf.tensor_shape("token_embd.weight")?[0];
        let blocks = (0..config.layers).map(|layer| loader.block(config, layer)).collect::<Result<_, _>>()?;
        let output = if gguf.has_tensor("output.weight") {
            Some(loader.matrix("output.weight", vocabulary, config.width)?)
        } else {
            None
        };
        Ok(Self {
            embedding: loader.matrix("token_embd.weight", vocabulary, config.width)?,
            blocks,
            output_norm: loader.values("output_norm.weight", &[config.width])?,
            output,
            rotary_factors: loader.optional("rope_freqs.weight", &[config.rotary / 2])?,
        })
    }

    /// The matrix that turns states into logits.
    pub(crate) fn head(&self) -> &Matrix {
        self.output.as_ref().unwrap_or(&self.embedding)
    }
}
