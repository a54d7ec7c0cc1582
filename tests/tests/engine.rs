//! The embedded engine on the real SmolLM2: against candle's own implementation, and what sharing
//! must not change.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::sync::atomic::Ordering;
use std::time::Instant;

use futures_util::future::join_all;
use tenpass_engine::EmbeddedModel;
use tenpass_model::{ChatModel, ChatRequest, Collected, FinishReason, ModelError, SamplingOptions, collect};
use tenpass_tests::{asset, embedded};
use tenpass_trace::Message;

fn ask(text: &str, temperature: f32, seed: u64, max_tokens: u32) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::system("You answer in one short sentence."), Message::user(text)],
        options: SamplingOptions { temperature, seed, max_tokens, ..SamplingOptions::default() },
        ..ChatRequest::default()
    }
}

async fn answers(model: &EmbeddedModel, requests: Vec<ChatRequest>) -> Vec<Collected> {
    let now = Instant::now();
    join_all(model.start_many(requests).into_iter().map(|stream| collect(stream, now))).await
}

#[tokio::test]
async fn it_knows_the_capital_of_france() {
    let model = embedded("smollm2-135m", None);
    let answer = answers(&model, vec![ask("What is the capital of France?", 0.0, 1, 32)]).await.remove(0);
    assert!(answer.text.contains("Paris"), "{answer:?}");
    let completion = answer.completion.unwrap();
    assert_eq!(completion.finish, FinishReason::Stop);
    assert!(completion.usage.prompt_tokens.unwrap() > 20);
}

#[tokio::test]
async fn greedy_passes_are_one_row_however_many_they_are() {
    let model = embedded("smollm2-135m", None);
    let rows = |model: &EmbeddedModel| model.counters().rows.load(Ordering::Relaxed);
    answers(&model, vec![ask("Name a colour.", 0.0, 1, 24)]).await;
    let one = rows(&model);
    answers(&model, (0..10).map(|seed| ask("Name a fruit.", 0.0, seed, 24)).collect()).await;
    let ten = rows(&model) - one;
    // Ten greedy passes take the rows of one; the second prompt even shares the first one's prefix.
    assert!(ten <= one, "{ten} rows for ten passes, {one} for one");
}

#[tokio::test]
async fn a_pass_gives_the_same_answer_alone_and_in_any_company() {
    let model = embedded("smollm2-135m", None);
    // Without the 8-bit kernels products are rounded by batch size: then only greedy choices, which
    // near-ties aside do not hang on the last bit, can be expected to agree.
    let exact = model.is_batch_invariant();
    let request = |seed| ask("Tell me about the sea.", if exact { 0.8 } else { 0.0 }, seed, if exact { 40 } else { 8 });
    let mut crowd: Vec<ChatRequest> = (0..12).map(request).collect();
    crowd.extend((0..4).map(|seed| ask("Write a line about snow.", 0.9, seed, 30)));
    let together = answers(&model, crowd).await;
    for seed in [0u64, 5, 11] {
        let alone = answers(&model, vec![request(seed)]).await.remove(0);
        assert_eq!(alone.text, together[seed as usize].text, "seed {seed}");
    }
    let distinct: std::collections::HashSet<&str> = together[..12].iter().map(|answer| answer.text.as_str()).collect();
    assert!(!exact || distinct.len() > 6, "seeds must matter: {} distinct answers", distinct.len());
}

#[tokio::test]
async fn a_prompt_beyond_the_context_is_an_error_with_both_numbers() {
    let model = embedded("smollm2-135m", None);
    let long = "word ".repeat(9000);
    let answer = answers(&model, vec![ask(&long, 0.0, 1, 8)]).await.remove(0);
    let Some(ModelError::Overflow { prompt_tokens, context }) = answer.error else { panic!("{answer:?}") };
    assert!(prompt_tokens > 9000 && context == 8192, "{prompt_tokens} of {context}");
}

#[tokio::test]
async fn dropping_a_stream_stops_its_rows() {
    let model = embedded("smollm2-135m", None);
    drop(model.start(ask("Count to a thousand.", 0.7, 3, 2000)));
    // The dropped pass must leave the batch: what is asked next costs its own rows only.
    answers(&model, vec![ask("Say yes.", 0.0, 1, 4)]).await;
    let before = model.counters().rows.load(Ordering::Relaxed);
    answers(&model, vec![ask("Say yes.", 0.0, 1, 4)]).await;
    let rows = model.counters().rows.load(Ordering::Relaxed) - before;
    assert!(rows <= 8, "{rows} rows for four tokens of a cached prompt");
}

#[tokio::test]
async fn a_schema_is_obeyed_by_every_pass() {
    let model = embedded("smollm2-135m", None);
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "name": { "const": "lamp" }, "arguments": { "type": "object",
            "properties": { "room": { "enum": ["attic", "hall"] }, "on": { "type": "boolean" } },
            "required": ["room", "on"], "additionalProperties": false } },
        "required": ["name", "arguments"], "additionalProperties": false
    });
    let requests = (0..20).map(|seed| ChatRequest {
        format: Some(schema.clone()),
        ..ask("Switch on the light in the attic.", 1.0, seed, 64)
    });
    for answer in answers(&model, requests.collect()).await {
        let value: serde_json::Value =
            serde_json::from_str(&answer.text).unwrap_or_else(|error| panic!("{error}: {}", answer.text));
        assert_eq!(value["name"], "lamp");
        assert!(["attic", "hall"].contains(&value["arguments"]["room"].as_str().unwrap()));
        assert!(value["arguments"]["on"].is_boolean());
    }
}

/// candle's own quantised llama, greedy, on the same tokens.
fn candle_greedy(path: &std::path::Path, prompt: &[u32], count: usize) -> Vec<u32> {
    use candle_core::quantized::gguf_file::Content;
    use candle_core::{Device, Tensor};
    use candle_transformers::models::quantized_llama::ModelWeights;
    let mut file = std::fs::File::open(path).unwrap();
    let content = Content::read(&mut file).unwrap();
    let mut model = ModelWeights::from_gguf(content, &mut file, &Device::Cpu).unwrap();
    let mut tokens = prompt.to_vec();
    let mut position = 0;
    for _ in 0..count {
        let input = Tensor::new(&tokens[position..], &Device::Cpu).unwrap().unsqueeze(0).unwrap();
        let logits = model.forward(&input, position).unwrap().squeeze(0).unwrap();
        position = tokens.len();
        tokens.push(logits.argmax(0).unwrap().to_scalar::<u32>().unwrap());
    }
    tokens.split_off(prompt.len())
}

#[tokio::test]
async fn greedy_answers_agree_with_candle_transformers() {
    let model = embedded("smollm2-135m", None);
    let path = asset("smollm2-135m");
    let mut agreed = 0;
    let questions = [
        "What is the capital of Italy?",
        "How many legs has a spider?",
        "What colour is the sky?",
        "Who wrote Hamlet?",
    ];
    for question in questions {
        let request = ask(question, 0.0, 1, 8);
        let prompt = model.prompt_tokens(&request).unwrap();
        let theirs = candle_greedy(&path, &prompt, 8);
        let expected = model.text_of(&theirs);
        let ours = answers(&model, vec![request]).await.remove(0);
        // Ours may end where the model ended its turn; theirs was forced on.
        agreed += usize::from(!ours.text.is_empty() && expected.starts_with(&ours.text));
    }
    // Both round to 8 bits in different places: one near-tie among four may fall the other way.
    assert!(agreed >= 3, "{agreed} of {} answers agree", questions.len());
}
