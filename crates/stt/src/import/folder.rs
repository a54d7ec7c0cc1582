//! A folder as Hugging Face lays it out: `config.json`, `model.safetensors`, `tokenizer.json`.

use std::collections::HashMap;
use std::path::Path;

use candle_core::{DType, Device, Tensor};
use half::f16;
use serde_json::Value;

use super::shape::{ModelShape, Part};
use super::weights::{Values, Weights};

/// The name of a tensor in transformers' code.
pub(crate) fn transformers_name(ours: &str) -> String {
    let name = ours
        .replace("cross_attn_ln", "encoder_attn_layer_norm")
        .replace("mlp_ln", "final_layer_norm")
        .replace("ln_post", "layer_norm")
        .replace("decoder.ln.", "decoder.layer_norm.")
        .replace("token_embedding", "embed_tokens")
        .replace("positional_embedding", "embed_positions.weight")
        .replace("mlp.0", "fc1")
        .replace("mlp.2", "fc2")
        .replace("blocks", "layers")
        .replace(".query.", ".q_proj.")
        .replace(".key.", ".k_proj.")
        .replace(".value.", ".v_proj.")
        .replace(".out.", ".out_proj.")
        .replace("cross_attn.", "encoder_attn.");
    let name = match name.split_once(".attn_ln") {
        Some((before, after)) => format!("{before}.self_attn_layer_norm{after}"),
        None => name.replace(".attn.", ".self_attn."),
    };
    format!("model.{name}")
}

/// Reads `config.json`.
pub(crate) fn shape(config: &[u8]) -> Result<ModelShape, String> {
    let value: Value = serde_json::from_slice(config).map_err(|error| format!("is no JSON: {error}"))?;
    if value["model_type"].as_str().is_some_and(|kind| kind != "whisper") {
        return Err(format!("is of a model of type {}", value["model_type"]));
    }
    let number = |key: &str| {
        let number = value[key].as_u64().and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| format!("has no number {key}"))
    };
    let (heads, text_heads) = (number("encoder_attention_heads")?, number("decoder_attention_heads")?);
    if heads != text_heads {
        return Err(format!("says {heads} heads in the encoder and {text_heads} in the decoder"));
    }
    let shape = ModelShape {
        vocabulary: number("vocab_size")?,
        audio_context: number("max_source_positions")?,
        state: number("d_model")?,
        heads,
        audio_layers: number("encoder_layers")?,
        text_context: number("max_target_positions")?,
        text_layers: number("decoder_layers")?,
        mels: number("num_mel_bins")?,
    };
    shape.check()?;
    Ok(shape)
}

/// Reads `model.safetensors` for a shape.
pub(crate) fn read(path: &Path, shape: ModelShape) -> Result<Weights, String> {
    let found = candle_core::safetensors::load(path, &Device::Cpu).map_err(|error| first_line(&error))?;
    let mut tensors = HashMap::new();
    for part in shape.parts() {
        let name = transformers_name(&part.name);
        // Files of the decoder alone leave out `model.`; some keep it.
        let tensor = found.get(&name).or_else(|| found.get(name.trim_start_matches("model.")));
        let tensor = tensor.ok_or_else(|| format!("has no tensor {name}"))?;
        let values = values(tensor, &part).map_err(|error| format!("{name}: {error}"))?;
        tensors.insert(part.name, values);
    }
    Weights::new(shape, tensors)
}

fn values(tensor: &Tensor, part: &Part) -> Result<Values, String> {
    // A bias is a column in whisper.cpp's files and a row here.
    let dims: Vec<usize> = part.dims.iter().copied().filter(|dim| *dim != 1).collect();
    if tensor.dims() != dims {
        return Err(format!("has the shape {:?} and not {dims:?}", tensor.dims()));
    }
    let flat = tensor.flatten_all().map_err(|error| first_line(&error))?;
    match tensor.dtype() {
        DType::F16 => Ok(Values::Half(flat.to_vec1::<f16>().map_err(|error| first_line(&error))?)),
        DType::F32 | DType::BF16 => {
            let single = flat.to_dtype(DType::F32).and_then(|flat| flat.to_vec1::<f32>());
            Ok(Values::Single(single.map_err(|error| first_line(&error))?))
        }
        other => Err(format!("is of type {other:?}")),
    }
}

/// candle's errors may carry a backtrace.
pub(crate) fn first_line(error: &candle_core::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_transformers() {
        for (ours, theirs) in [
            ("encoder.positional_embedding", "model.encoder.embed_positions.weight"),
            ("encoder.ln_post.bias", "model.encoder.layer_norm.bias"),
            ("decoder.ln.weight", "model.decoder.layer_norm.weight"),
            ("decoder.token_embedding.weight", "model.decoder.embed_tokens.weight"),
            ("encoder.blocks.3.attn_ln.bias", "model.encoder.layers.3.self_attn_layer_norm.bias"),
            ("decoder.blocks.0.attn.query.weight", "model.decoder.layers.0.self_attn.q_proj.weight"),
            ("decoder.blocks.1.cross_attn.out.bias", "model.decoder.layers.1.encoder_attn.out_proj.bias"),
            ("decoder.blocks.1.cross_attn_ln.weight", "model.decoder.layers.1.encoder_attn_layer_norm.weight"),
            ("decoder.blocks.2.mlp.0.weight", "model.decoder.layers.2.fc1.weight"),
            ("decoder.blocks.2.mlp_ln.bias", "model.decoder.layers.2.final_layer_norm.bias"),
        ] {
            assert_eq!(transformers_name(ours), theirs);
        }
    }

    #[test]
    fn a_folder_comes_back_as_it_was_written() {
        let weights = super::super::weights::tests::small();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        let tensors: HashMap<String, Tensor> = weights
            .shape
            .parts()
            .iter()
            .map(|part| {
                let dims: Vec<usize> = part.dims.iter().copied().filter(|dim| *dim != 1).collect();
                let values = weights.values(part).unwrap().to_f32();
                let tensor = Tensor::from_vec(values, dims, &Device::Cpu).unwrap().to_dtype(DType::F16).unwrap();
                (transformers_name(&part.name), tensor)
            })
            .collect();
        candle_core::safetensors::save(&tensors, &path).unwrap();
        let read_back = read(&path, weights.shape).unwrap();
        for part in weights.shape.parts() {
            assert_eq!(read_back.values(&part), weights.values(&part), "{}", part.name);
        }
        let mut short = tensors;
        short.remove("model.decoder.layers.0.fc1.bias");
        candle_core::safetensors::save(&short, &path).unwrap();
        assert_eq!(read(&path, weights.shape).unwrap_err(), "has no tensor model.decoder.layers.0.fc1.bias");
        std::fs::write(&path, b"not at all").unwrap();
        assert!(read(&path, weights.shape).is_err());
    }

    #[test]
    fn a_configuration_of_something_else_is_refused() {
        assert!(shape(b"[").unwrap_err().contains("no JSON"));
        assert!(shape(br#"{"model_type":"llama"}"#).unwrap_err().contains("llama"));
        assert!(shape(br#"{"model_type":"whisper"}"#).unwrap_err().contains("has no number"));
    }
}
