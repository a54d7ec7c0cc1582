//! Sentence embeddings of a real model, held against the recipe written out in NumPy.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failure is a panic")]

use std::process::Command;

use tenpass_embed::{BertEmbedder, EmbedError, cosine};
use tenpass_tests::{asset, finished, python};

/// Short, long, empty, accents, and one of more than 256 tokens.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "A man is eating food.",
        "Somebody has a meal.",
        "The stock market fell sharply today.",
        "",
        "Où est la gare ? Ça coûte 3 €.",
        "I need to cancel my dentist appointment on Tuesday because I will be travelling to Lyon with my sister.",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push("the quick brown fox jumps over the lazy dog ".repeat(60));
    texts
}

#[test]
fn sentences_with_one_meaning_are_near_and_a_batch_changes_nothing() {
    let embedder = BertEmbedder::load(&asset("minilm-l6-v2")).unwrap();
    let texts = texts();
    let together = embedder.embed_here(&texts).unwrap();
    assert!(together.iter().all(|vector| vector.len() == 384 && (cosine(vector, vector) - 1.0).abs() < 1e-5));
    for (text, vector) in texts.iter().zip(&together) {
        let alone = embedder.embed_here(std::slice::from_ref(text)).unwrap();
        assert!(cosine(&alone[0], vector) > 0.99999, "{text:?} is another in a batch");
    }
    let near = cosine(&together[0], &together[1]);
    let far = cosine(&together[0], &together[2]);
    assert!(near > 0.5 && far < 0.2, "near {near}, far {far}");
}

/// Vectors of the published recipe written out in NumPy, with the Python tokenizer, on the same files.
#[test]
fn vectors_agree_with_numpy() {
    let folder = asset("minilm-l6-v2");
    let script = tempfile::tempdir().unwrap();
    let input = script.path().join("texts.json");
    std::fs::write(&input, serde_json::to_string(&texts()).unwrap()).unwrap();
    let python = python("minilm", &["numpy==2.3.5", "tokenizers==0.22.1", "safetensors==0.7.0"]);
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/data/minilm.py");
    let mut command = Command::new(python);
    let printed = finished(command.arg(program).arg(&folder).arg(&input), "the reference");
    let reference: Vec<Vec<f32>> = serde_json::from_str(&printed).unwrap();
    let ours = BertEmbedder::load(&folder).unwrap().embed_here(&texts()).unwrap();
    for ((text, ours), theirs) in texts().iter().zip(&ours).zip(&reference) {
        let worst = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-4, "{text:?} differs by {worst}");
    }
}

#[test]
fn a_folder_that_is_no_model_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let failed = || BertEmbedder::load(folder.path()).err().unwrap();
    assert!(matches!(failed(), EmbedError::File { path, .. } if path.ends_with("config.json")));
    std::fs::write(folder.path().join("config.json"), "{\"model_type\": \"t5\"}").unwrap();
    assert!(failed().to_string().contains("t5 is not a model that is known here"));
    std::fs::copy(asset("minilm-l6-v2").join("config.json"), folder.path().join("config.json")).unwrap();
    std::fs::write(folder.path().join("model.safetensors"), b"not tensors").unwrap();
    assert!(matches!(failed(), EmbedError::File { path, .. } if path.ends_with("model.safetensors")));
}
