//! The shape of a network, read from GGUF metadata.
//!
//! One decoder covers the families that differ only in norms, biases, rotary style and windows:
//! llama (Llama, Mistral, SmolLM), qwen2, qwen3 and gemma3.

use crate::gguf::Gguf;
use tenpass_model::ModelError;

/// How rotary embedding pairs the dimensions of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RotaryStyle {
    /// (0,1), (2,3), … as llama's GGUF files store it.
    Interleaved,
    /// (0, d/2), (1, d/2+1), …
    Halves,
}

/// The gate's activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activation {
    /// x · sigmoid(x).
    Silu,
    /// GELU in its tanh form.
    Gelu,
}

/// Local attention of some layers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Window {
    /// Tokens a local layer sees, itself included.
    pub(crate) size: usize,
    /// Every n-th layer is global.
    pub(crate) global_every: usize,
    /// Rotary base of the local layers.
    pub(crate) rotary_base: f32,
}

/// Dimensions and variants of one network.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NetworkConfig {
    pub(crate) layers: usize,
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) head: usize,
    pub(crate) rotary: usize,
    pub(crate) rotary_style: RotaryStyle,
    pub(crate) rotary_base: f32,
    /// Positions are divided by this (linear scaling); 1 for none.
    pub(crate) rotary_divisor: f32,
    pub(crate) epsilon: f32,
    pub(crate) activation: Activation,
    /// Token embeddings are multiplied by this.
    pub(crate) embedding_scale: f32,
    pub(crate) window: Option<Window>,
    /// Tokens the model was trained for.
    pub(crate) context: usize,
}

impl NetworkConfig {
    /// Reads the metadata; an unknown architecture is named.
    pub(crate) fn from_gguf(gguf: &Gguf) -> Result<Self, ModelError> {
        let name = gguf.string("general.architecture")?.to_owned();
        let key = |suffix: &str| format!("{name}.{suffix}");
        let (rotary_style, activation) = match name.as_str() {
            "llama" => (RotaryStyle::Interleaved, Activation::Silu),
            "qwen2" | "qwen3" => (RotaryStyle::Halves, Activation::Silu),
            "gemma3" => (RotaryStyle::Halves, Activation::Gelu),
            other => {
                return Err(gguf.error(format!(
                    "architecture `{other}` is not one the embedded engine runs (llama, qwen2, qwen3, gemma3); serve it with Ollama or llama-server instead"
                )));
            }
        };
        let count = |suffix: &str| -> Result<usize, ModelError> { Ok(gguf.unsigned(&key(suffix))? as usize) };
        let (layers, width, heads) =
            (count("block_count")?, count("embedding_length")?, count("attention.head_count")?);
        let bounds = [
            ("block_count", layers, 1024),
            ("embedding_length", width, 1 << 17),
            ("attention.head_count", heads, 1 << 12),
        ];
        for (what, value, most) in bounds {
            if value == 0 || value > most {
                return Err(gguf.error(format!("{} is {value}, which cannot be", key(what))));
            }
        }
        let kv_heads = count("attention.head_count_kv").unwrap_or(heads);
        let head = count("attention.key_length").unwrap_or(width / heads);
        if kv_heads == 0 || heads % kv_heads != 0 || head == 0 || head % 2 != 0 {
            return Err(gguf.error(format!("{heads} heads, {kv_heads} key heads of {head} values do not fit together")));
        }
        if count("attention.value_length").is_ok_and(|value| value != head) {
            return Err(gguf.error("keys and values of different length are not supported".to_owned()));
        }
        let rotary_divisor = match gguf.string(&key("rope.scaling.type")) {
            Ok("linear") => gguf.float(&key("rope.scaling.factor"))?,
            Ok("none") | Err(_) => 1.0,
            Ok(other) => return Err(gguf.error(format!("rotary scaling `{other}` is not supported"))),
        };
        let gemma = name == "gemma3";
        let window = match count("attention.sliding_window") {
            Ok(size) if gemma && size > 0 => Some(Window { size, global_every: 6, rotary_base: 10_000.0 }),
            _ => None,
        };
        Ok(Self {
            layers,
            width,
            heads,
            kv_heads,
            head,
            rotary: count("rope.dimension_count").unwrap_or(head).min(head),
            rotary_style,
            rotary_base: gguf.float(&key("rope.freq_base")).unwrap_or(10_000.0),
            rotary_divisor,
            epsilon: gguf.float(&key("attention.layer_norm_rms_epsilon"))?,
            activation,
            embedding_scale: if gemma { (width as f32).sqrt() } else { 1.0 },
            window,
            context: count("context_length")?,
        })
    }

    /// Width of the keys (or values) of one token in one layer.
    pub(crate) fn kv_width(&self) -> usize {
        self.kv_heads * self.head
    }

    /// The window of a layer: `None` where it sees everything.
    pub(crate) fn window_of(&self, layer: usize) -> Option<usize> {
        self.window.filter(|window| !(layer + 1).is_multiple_of(window.global_every)).map(|window| window.size)
    }

    /// Bytes of keys and values one token takes.
    pub(crate) fn kv_bytes(&self) -> usize {
        self.layers * self.kv_width() * 2 * size_of::<f32>()
    }
}
