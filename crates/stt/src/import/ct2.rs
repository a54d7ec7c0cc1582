//! CTranslate2's `model.bin`, as faster-whisper uses it.
//!
//! Little-endian: version, name of the specification, its revision, count of variables; each variable has a name
//! (length with its closing zero in 16 bits), rank in 8 bits, dimensions in 32, type in 8, size in bytes in
//! 32; then the aliases, pairs of names. Source: `model_spec.py` of CTranslate2 (MIT), binary version 6.

use std::collections::HashMap;

use half::f16;

use super::shape::ModelShape;
use super::weights::{Values, Weights};

/// What no model of this kind exceeds.
const MAX_VARIABLES: u32 = 8192;
const MAX_NAME: usize = 512;
const MAX_RANK: u8 = 4;

struct Variable<'a> {
    dims: Vec<usize>,
    kind: u8,
    bytes: &'a [u8],
}

/// A file in memory that is read from front to back.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| {
            format!("ends inside {what}: {} bytes are there, {} more are wanted", self.bytes.len() - self.at, count)
        })?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn byte(&mut self, what: &str) -> Result<u8, String> {
        Ok(self.take(1, what)?[0])
    }

    fn short(&mut self, what: &str) -> Result<u16, String> {
        let bytes = self.take(2, what)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn word(&mut self, what: &str) -> Result<u32, String> {
        let bytes = self.take(4, what)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn text(&mut self, what: &str) -> Result<&'a str, String> {
        let length = usize::from(self.short(what)?);
        if length == 0 || length > MAX_NAME {
            return Err(format!("{what} has {length} bytes"));
        }
        let bytes = self.take(length, what)?;
        let text = bytes.strip_suffix(&[0]).ok_or_else(|| format!("{what} does not end"))?;
        std::str::from_utf8(text).map_err(|_| format!("{what} is not text"))
    }
}

/// Variables and aliases of a file.
struct File<'a> {
    variables: HashMap<&'a str, Variable<'a>>,
    aliases: HashMap<&'a str, &'a str>,
}

/// True for bytes that begin as a CTranslate2 model does.
pub(crate) fn is_ct2(bytes: &[u8]) -> bool {
    let mut reader = Reader { bytes, at: 0 };
    matches!(reader.word("the version"), Ok(1..=16)) && reader.text("the specification").is_ok()
}

/// Reads a whole model.
pub(crate) fn read(bytes: &[u8]) -> Result<Weights, String> {
    let file = parse(bytes)?;
    let tensors = tensors(&file)?;
    Weights::new(shape(&file)?, tensors)
}

fn parse(bytes: &[u8]) -> Result<File<'_>, String> {
    let mut reader = Reader { bytes, at: 0 };
    let version = reader.word("the version")?;
    if !(1..=16).contains(&version) {
        return Err("is no CTranslate2 model".to_owned());
    }
    let specification = reader.text("the specification")?;
    if specification != "WhisperSpec" {
        return Err(format!("is a CTranslate2 model of {specification:?} and not of Whisper"));
    }
    reader.word("the revision")?;
    let count = reader.word("the count of variables")?;
    if count > MAX_VARIABLES {
        return Err(format!("says that it has {count} variables"));
    }
    let mut variables = HashMap::new();
    for index in 0..count {
        let name = reader.text(&format!("the name of variable {index}"))?;
        variables.insert(name, variable(&mut reader, name)?);
    }
    let mut aliases = HashMap::new();
    if reader.at < bytes.len() {
        for _ in 0..reader.word("the count of aliases")?.min(MAX_VARIABLES) {
            let alias = reader.text("an alias")?;
            aliases.insert(alias, reader.text("an alias")?);
        }
    }
    if reader.at != bytes.len() {
        return Err(format!("has {} bytes after its end", bytes.len() - reader.at));
    }
    Ok(File { variables, aliases })
}

fn variable<'a>(reader: &mut Reader<'a>, name: &str) -> Result<Variable<'a>, String> {
    let rank = reader.byte(name)?;
    if rank > MAX_RANK {
        return Err(format!("{name} has rank {rank}"));
    }
    let dims = (0..rank).map(|_| reader.word(name).map(|dim| dim as usize)).collect::<Result<Vec<_>, _>>()?;
    let kind = reader.byte(name)?;
    let size = reader.word(name)? as usize;
    let width = match kind {
        0 | 3 => 4,
        1 => 1,
        2 | 4 | 5 => 2,
        other => return Err(format!("{name} is of unknown type {other}")),
    };
    let expected = dims.iter().try_fold(width, |product: usize, dim| product.checked_mul(*dim));
    if expected != Some(size) {
        return Err(format!("{name} has {size} bytes, which is not {dims:?}"));
    }
    Ok(Variable { dims, kind, bytes: reader.take(size, name)? })
}

impl<'a> File<'a> {
    fn get(&self, name: &str) -> Result<&Variable<'a>, String> {
        let found = self.variables.get(name).or_else(|| self.variables.get(self.aliases.get(name)?));
        found.ok_or_else(|| format!("has no variable {name}"))
    }

    fn dims(&self, name: &str, rank: usize) -> Result<&[usize], String> {
        let dims = &self.get(name)?.dims;
        if dims.len() == rank { Ok(dims) } else { Err(format!("{name} has the dimensions {dims:?}")) }
    }

    fn values(&self, name: &str) -> Result<Values, String> {
        let variable = self.get(name)?;
        match variable.kind {
            0 => Ok(Values::Single(
                variable
                    .bytes
                    .chunks_exact(4)
                    .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
                    .collect(),
            )),
            4 => Ok(Values::Half(
                variable.bytes.chunks_exact(2).map(|two| f16::from_le_bytes([two[0], two[1]])).collect(),
            )),
            5 => Ok(Values::Single(
                variable
                    .bytes
                    .chunks_exact(2)
                    .map(|two| half::bf16::from_le_bytes([two[0], two[1]]).to_f32())
                    .collect(),
            )),
            _ => Err(format!("{name} is quantised; convert the model with float16 or float32 weights")),
        }
    }

    fn layers(&self, side: &str) -> usize {
        let prefix = format!("{side}/layer_");
        let numbers =
            self.variables.keys().filter_map(|name| name.strip_prefix(&prefix)?.split('/').next()?.parse().ok());
        numbers.max().map_or(0, |last: usize| last.saturating_add(1))
    }
}

fn shape(file: &File<'_>) -> Result<ModelShape, String> {
    let embedding = file.dims("decoder/embeddings/weight", 2)?;
    let (vocabulary, state) = (embedding[0], embedding[1]);
    Ok(ModelShape {
        vocabulary,
        audio_context: file.dims("encoder/position_encodings/encodings", 2)?[0],
        state,
        heads: state / 64,
        audio_layers: file.layers("encoder"),
        text_context: file.dims("decoder/position_encodings/encodings", 2)?[0],
        text_layers: file.layers("decoder"),
        mels: file.dims("encoder/conv1/weight", 3)?[1],
    })
}

/// Every tensor under OpenAI's name.
fn tensors(file: &File<'_>) -> Result<HashMap<String, Values>, String> {
    let shape = shape(file)?;
    shape.check()?;
    let mut tensors = HashMap::new();
    let plain = [
        ("encoder.conv1.weight", "encoder/conv1/weight"),
        ("encoder.conv1.bias", "encoder/conv1/bias"),
        ("encoder.conv2.weight", "encoder/conv2/weight"),
        ("encoder.conv2.bias", "encoder/conv2/bias"),
        ("encoder.positional_embedding", "encoder/position_encodings/encodings"),
        ("decoder.positional_embedding", "decoder/position_encodings/encodings"),
        ("decoder.token_embedding.weight", "decoder/embeddings/weight"),
    ];
    for (ours, theirs) in plain {
        tensors.insert(ours.to_owned(), file.values(theirs)?);
    }
    norm(file, &mut tensors, "encoder.ln_post", "encoder/layer_norm")?;
    norm(file, &mut tensors, "decoder.ln", "decoder/layer_norm")?;
    for (side, layers) in [("encoder", shape.audio_layers), ("decoder", shape.text_layers)] {
        for layer in 0..layers {
            let ours = format!("{side}.blocks.{layer}");
            let theirs = format!("{side}/layer_{layer}");
            block(file, &mut tensors, &ours, &theirs, shape.state, side == "decoder")?;
        }
    }
    Ok(tensors)
}

fn norm(file: &File<'_>, tensors: &mut HashMap<String, Values>, ours: &str, theirs: &str) -> Result<(), String> {
    tensors.insert(format!("{ours}.weight"), file.values(&format!("{theirs}/gamma"))?);
    tensors.insert(format!("{ours}.bias"), file.values(&format!("{theirs}/beta"))?);
    Ok(())
}

fn linear(file: &File<'_>, tensors: &mut HashMap<String, Values>, ours: &str, theirs: &str) -> Result<(), String> {
    tensors.insert(format!("{ours}.weight"), file.values(&format!("{theirs}/weight"))?);
    tensors.insert(format!("{ours}.bias"), file.values(&format!("{theirs}/bias"))?);
    Ok(())
}

/// A fused projection taken apart: row blocks of `state` rows each.
fn fused(
    file: &File<'_>,
    tensors: &mut HashMap<String, Values>,
    ours: &str,
    theirs: &str,
    (state, names): (usize, &[&str]),
) -> Result<(), String> {
    let weight = file.values(&format!("{theirs}/weight"))?;
    let bias = file.values(&format!("{theirs}/bias"))?;
    if weight.len() != names.len() * state * state || bias.len() != names.len() * state {
        return Err(format!("{theirs} has {} values and {} biases", weight.len(), bias.len()));
    }
    let missing = || format!("{theirs} is too short");
    for (at, name) in names.iter().enumerate() {
        let rows = weight.part(at * state * state..(at + 1) * state * state).ok_or_else(missing)?;
        tensors.insert(format!("{ours}.{name}.weight"), rows);
        let own = bias.part(at * state..(at + 1) * state).ok_or_else(missing)?;
        if *name == "key" {
            // Whisper's keys have none; the fused layout fills it with zeros.
            if own.to_f32().iter().any(|value| *value != 0.0) {
                return Err(format!("{theirs} has a bias for its keys, which Whisper has not"));
            }
        } else {
            tensors.insert(format!("{ours}.{name}.bias"), own);
        }
    }
    Ok(())
}

fn block(
    file: &File<'_>,
    tensors: &mut HashMap<String, Values>,
    ours: &str,
    theirs: &str,
    state: usize,
    cross: bool,
) -> Result<(), String> {
    norm(file, tensors, &format!("{ours}.attn_ln"), &format!("{theirs}/self_attention/layer_norm"))?;
    let (attention, source) = (format!("{ours}.attn"), format!("{theirs}/self_attention"));
    fused(file, tensors, &attention, &format!("{source}/linear_0"), (state, &["query", "key", "value"]))?;
    linear(file, tensors, &format!("{attention}.out"), &format!("{source}/linear_1"))?;
    if cross {
        norm(file, tensors, &format!("{ours}.cross_attn_ln"), &format!("{theirs}/attention/layer_norm"))?;
        let (attention, source) = (format!("{ours}.cross_attn"), format!("{theirs}/attention"));
        linear(file, tensors, &format!("{attention}.query"), &format!("{source}/linear_0"))?;
        fused(file, tensors, &attention, &format!("{source}/linear_1"), (state, &["key", "value"]))?;
        linear(file, tensors, &format!("{attention}.out"), &format!("{source}/linear_2"))?;
    }
    norm(file, tensors, &format!("{ours}.mlp_ln"), &format!("{theirs}/ffn/layer_norm"))?;
    linear(file, tensors, &format!("{ours}.mlp.0"), &format!("{theirs}/ffn/linear_0"))?;
    linear(file, tensors, &format!("{ours}.mlp.2"), &format!("{theirs}/ffn/linear_1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &mut Vec<u8>, text: &str) {
        bytes.extend((text.len() as u16 + 1).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.push(0);
    }

    fn header(specification: &str, variables: u32) -> Vec<u8> {
        let mut bytes = 6u32.to_le_bytes().to_vec();
        text(&mut bytes, specification);
        bytes.extend(3u32.to_le_bytes());
        bytes.extend(variables.to_le_bytes());
        bytes
    }

    fn bias(bytes: &mut Vec<u8>, name: &str, size: u32) {
        text(bytes, name);
        bytes.push(1);
        bytes.extend(2u32.to_le_bytes());
        bytes.push(0);
        bytes.extend(size.to_le_bytes());
        bytes.extend([0; 8]);
    }

    #[test]
    fn every_way_to_be_damaged_has_its_words() {
        let of = |bytes: &[u8]| read(bytes).unwrap_err();
        assert!(of(b"").contains("ends inside the version"));
        assert_eq!(of(b"GGUFxxxxxxxxxxxx"), "is no CTranslate2 model");
        assert!(of(&header("TransformerSpec", 0)).contains("TransformerSpec"));
        assert!(of(&header("WhisperSpec", 1 << 30)).contains("variables"));
        assert!(of(&header("WhisperSpec", 1)).contains("ends inside the name of variable 0"));
        let mut wrong = header("WhisperSpec", 1);
        bias(&mut wrong, "a/bias", 12);
        assert!(of(&wrong).contains("a/bias has 12 bytes"));
        let mut cut = header("WhisperSpec", 1);
        bias(&mut cut, "a/bias", 8);
        cut.truncate(cut.len() - 3);
        assert!(of(&cut).contains("ends inside a/bias"));
        let mut whole = header("WhisperSpec", 1);
        bias(&mut whole, "a/bias", 8);
        assert_eq!(of(&whole), "has no variable decoder/embeddings/weight");
        whole.extend(0u32.to_le_bytes());
        whole.push(7);
        assert!(of(&whole).contains("1 bytes after its end"));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(mut bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400), valid: bool) {
            if valid {
                let mut head = header("WhisperSpec", 3);
                head.extend(&bytes);
                bytes = head;
            }
            proptest::prop_assert!(read(&bytes).is_err());
        }
    }
}
