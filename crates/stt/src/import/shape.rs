//! The dimensions of a Whisper model and the list of its tensors, by their names in OpenAI's code.

use serde::Serialize;

/// Dimensions of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ModelShape {
    /// Tokens, special ones included: 51864 for English only, 51865 or 51866 for many languages.
    pub vocabulary: usize,
    /// Frames that the encoder gives for 30 seconds.
    pub audio_context: usize,
    /// Width of encoder and decoder.
    pub state: usize,
    /// Heads of attention, each 64 wide.
    pub heads: usize,
    /// Layers of the encoder.
    pub audio_layers: usize,
    /// Tokens that the decoder can look back on.
    pub text_context: usize,
    /// Layers of the decoder.
    pub text_layers: usize,
    /// Bands of the spectrogram.
    pub mels: usize,
}

/// What a tensor is used for, which decides how it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Biases, norms, positions: always 32-bit floats.
    Exact,
    /// Kernels of convolutions: never in blocks.
    Kernel,
    /// Matrices, which may be stored in blocks.
    Matrix,
}

/// One tensor of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// Outermost first.
    pub(crate) dims: Vec<usize>,
    pub(crate) role: Role,
}

impl Part {
    pub(crate) fn elements(&self) -> usize {
        self.dims.iter().product()
    }
}

impl ModelShape {
    /// True when the model knows languages other than English.
    pub fn multilingual(&self) -> bool {
        self.vocabulary >= 51_865
    }

    /// Why no Whisper model has these dimensions.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Self { vocabulary, audio_context, state, heads, audio_layers, text_context, text_layers, mels } = *self;
        if !(51_864..=51_866).contains(&vocabulary) {
            return Err(format!("a vocabulary of {vocabulary} tokens; Whisper's has 51864 to 51866"));
        }
        if heads == 0 || heads > 64 || state != heads * 64 {
            return Err(format!("width {state} and {heads} heads; Whisper's heads are 64 wide"));
        }
        let layers = 1..=64;
        if !layers.contains(&audio_layers) || !layers.contains(&text_layers) {
            return Err(format!("{audio_layers} layers in the encoder and {text_layers} in the decoder"));
        }
        if audio_context != 1500 || text_context != 448 {
            return Err(format!("contexts of {audio_context} and {text_context}; Whisper's are 1500 and 448"));
        }
        if mels != 80 && mels != 128 {
            return Err(format!("{mels} mel bands; Whisper has 80 or 128"));
        }
        Ok(())
    }

    /// Every tensor that a model of this shape has.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let mut list = Vec::new();
        let mut add = |name: &str, dims: &[usize], role| {
            list.push(Part { name: name.to_owned(), dims: dims.to_vec(), role });
        };
        let state = self.state;
        add("encoder.positional_embedding", &[self.audio_context, state], Role::Exact);
        add("encoder.conv1.weight", &[state, self.mels, 3], Role::Kernel);
        add("encoder.conv1.bias", &[state, 1], Role::Exact);
        add("encoder.conv2.weight", &[state, state, 3], Role::Kernel);
        add("encoder.conv2.bias", &[state, 1], Role::Exact);
        add("encoder.ln_post.weight", &[state], Role::Exact);
        add("encoder.ln_post.bias", &[state], Role::Exact);
        add("decoder.positional_embedding", &[self.text_context, state], Role::Exact);
        add("decoder.token_embedding.weight", &[self.vocabulary, state], Role::Matrix);
        add("decoder.ln.weight", &[state], Role::Exact);
        add("decoder.ln.bias", &[state], Role::Exact);
        for layer in 0..self.audio_layers {
            block(&mut list, &format!("encoder.blocks.{layer}"), state, false);
        }
        for layer in 0..self.text_layers {
            block(&mut list, &format!("decoder.blocks.{layer}"), state, true);
        }
        list
    }
}

/// The tensors of one layer.
fn block(list: &mut Vec<Part>, prefix: &str, state: usize, cross: bool) {
    let mut add = |name: String, dims: &[usize], role| {
        list.push(Part { name: format!("{prefix}.{name}"), dims: dims.to_vec(), role });
    };
    let attentions: &[&str] = if cross { &["attn", "cross_attn"] } else { &["attn"] };
    for attention in attentions {
        add(format!("{attention}_ln.weight"), &[state], Role::Exact);
        add(format!("{attention}_ln.bias"), &[state], Role::Exact);
        for projection in ["query", "key", "value", "out"] {
            add(format!("{attention}.{projection}.weight"), &[state, state], Role::Matrix);
            // Keys have no bias: softmax would cancel it.
            if projection != "key" {
                add(format!("{attention}.{projection}.bias"), &[state], Role::Exact);
            }
        }
    }
    add("mlp_ln.weight".to_owned(), &[state], Role::Exact);
    add("mlp_ln.bias".to_owned(), &[state], Role::Exact);
    add("mlp.0.weight".to_owned(), &[4 * state, state], Role::Matrix);
    add("mlp.0.bias".to_owned(), &[4 * state], Role::Exact);
    add("mlp.2.weight".to_owned(), &[state, 4 * state], Role::Matrix);
    add("mlp.2.bias".to_owned(), &[state], Role::Exact);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The smallest shape that passes the check.
    pub(crate) const SMALL: ModelShape = ModelShape {
        vocabulary: 51_864,
        audio_context: 1500,
        state: 64,
        heads: 1,
        audio_layers: 1,
        text_context: 448,
        text_layers: 1,
        mels: 80,
    };

    #[test]
    fn tiny_has_its_167_tensors_and_38_million_parameters() {
        let tiny = ModelShape { state: 384, heads: 6, audio_layers: 4, text_layers: 4, ..SMALL };
        let parts = tiny.parts();
        assert_eq!(parts.len(), 11 + 4 * 15 + 4 * 24);
        // OpenAI's tiny.en: 37,184,256 learnt parameters and the 1500 × 384 sinusoids.
        assert_eq!(parts.iter().map(Part::elements).sum::<usize>(), 37_184_256 + 1500 * 384);
    }

    #[test]
    fn shapes_that_no_model_has_are_refused() {
        assert_eq!(SMALL.check(), Ok(()));
        for wrong in [
            ModelShape { vocabulary: 50_257, ..SMALL },
            ModelShape { state: 65, ..SMALL },
            ModelShape { audio_layers: 0, ..SMALL },
            ModelShape { text_layers: 1 << 40, ..SMALL },
            ModelShape { audio_context: 3000, ..SMALL },
            ModelShape { mels: 40, ..SMALL },
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }
}
