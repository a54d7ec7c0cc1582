//! Small vocabularies for the tests of this crate.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

use candle_core::quantized::gguf_file::{self, Value};
use serde::Deserialize;

use super::Tokenizer;
use crate::gguf::Gguf;

/// A file with this metadata and no tensors.
pub(crate) fn gguf(metadata: &[(&str, Value)]) -> Gguf {
    let metadata: Vec<_> = metadata.iter().map(|(key, value)| (*key, value)).collect();
    let mut file = Cursor::new(Vec::new());
    gguf_file::write(&mut file, &metadata, &[]).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.gguf");
    std::fs::write(&path, file.into_inner()).unwrap();
    Gguf::open(&path).unwrap()
}

pub(crate) fn strings<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
    Value::Array(texts.into_iter().map(|text| Value::String(text.to_owned())).collect())
}

pub(crate) fn integers(numbers: impl IntoIterator<Item = i32>) -> Value {
    Value::Array(numbers.into_iter().map(Value::I32).collect())
}

/// Token ids that llama-server gave, and the part of the vocabulary that they need.
#[derive(Deserialize)]
pub(crate) struct Golden {
    vocabulary: Vec<(u32, String, i32)>,
    merges: Vec<String>,
    pub(crate) cases: Vec<GoldenCase>,
}

#[derive(Deserialize)]
pub(crate) struct GoldenCase {
    pub(crate) text: String,
    pub(crate) special: bool,
    /// Ids of the whole vocabulary.
    pub(crate) ids: Vec<u32>,
}

impl Golden {
    pub(crate) fn smollm2() -> Self {
        serde_json::from_str(include_str!("testdata/smollm2.json")).unwrap()
    }

    /// The id in the whole vocabulary of each token of the part.
    pub(crate) fn original_ids(&self) -> Vec<u32> {
        self.vocabulary.iter().map(|(id, _, _)| *id).collect()
    }

    pub(crate) fn metadata(&self) -> Vec<(&'static str, Value)> {
        let ids: HashMap<u32, u32> = self.original_ids().into_iter().zip(0..).collect();
        vec![
            ("tokenizer.ggml.model", Value::String("gpt2".into())),
            ("tokenizer.ggml.pre", Value::String("smollm".into())),
            ("tokenizer.ggml.tokens", strings(self.vocabulary.iter().map(|(_, text, _)| text.as_str()))),
            ("tokenizer.ggml.token_type", integers(self.vocabulary.iter().map(|(_, _, kind)| *kind))),
            ("tokenizer.ggml.merges", strings(self.merges.iter().map(String::as_str))),
            ("tokenizer.ggml.bos_token_id", Value::U32(ids[&1])),
            ("tokenizer.ggml.eos_token_id", Value::U32(ids[&2])),
            ("tokenizer.ggml.add_bos_token", Value::Bool(false)),
        ]
    }
}

/// The part of SmolLM2's tokenizer that the golden cases need; any text can be written with it.
pub(crate) fn smollm2() -> Arc<Tokenizer> {
    Arc::new(Tokenizer::from_gguf(&gguf(&Golden::smollm2().metadata())).unwrap())
}

/// A SentencePiece vocabulary: control tokens, all bytes, and these pieces with falling scores.
pub(crate) fn sentencepiece(pieces: &[&str], more: Vec<(&'static str, Value)>) -> Tokenizer {
    let bytes: Vec<String> = (0..=255).map(|byte| format!("<0x{byte:02X}>")).collect();
    let fixed = ["<unk>", "<s>", "</s>", "<start_of_turn>", "\n\n", "<b>"];
    let texts = fixed.into_iter().chain(bytes.iter().map(String::as_str)).chain(pieces.iter().copied());
    let kinds = [2, 3, 3, 3, 4, 4].into_iter().chain([6; 256]).chain(pieces.iter().map(|_| 1));
    let scores = [0.0; 262].into_iter().chain((0..pieces.len()).map(|rank| -(rank as f32)));
    let mut metadata = vec![
        ("tokenizer.ggml.model", Value::String("llama".into())),
        ("tokenizer.ggml.tokens", strings(texts)),
        ("tokenizer.ggml.token_type", integers(kinds)),
        ("tokenizer.ggml.scores", Value::Array(scores.map(Value::F32).collect())),
        ("tokenizer.ggml.bos_token_id", Value::U32(1)),
        ("tokenizer.ggml.eos_token_id", Value::U32(2)),
        ("tokenizer.ggml.unknown_token_id", Value::U32(0)),
    ];
    metadata.extend(more);
    Tokenizer::from_gguf(&gguf(&metadata)).unwrap()
}
