//! The one conformance suite on real backends: the embedded engine, and the OpenAI-compatible
//! client against a real llama-server with the same file.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tenpass_engine::{EmbeddedModel, LoadOptions};
use tenpass_model::conformance::{Asked, Subject, Suite, failures, run};
use tenpass_model::{BoxFuture, ChatModel, ChatRequest, HttpOptions, ModelError, OpenAiModel, SamplingOptions};
use tenpass_tests::{LlamaServer, asset};
use tenpass_trace::Message;

fn ask(text: &str, max_tokens: u32) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::system("You are a helpful assistant."), Message::user(text)],
        options: SamplingOptions { temperature: 0.0, max_tokens, ..SamplingOptions::default() },
        ..ChatRequest::default()
    }
}

/// SmolLM2 calls no tools by itself, so tools are left to the scripted backends' tests.
fn suite(overflow_words: usize) -> Suite {
    let schema = json!({ "type": "object", "properties": { "city": { "const": "Paris" } }, "required": ["city"], "additionalProperties": false });
    Suite {
        question: ask("What is the capital of France?", 24),
        long: ask("Count slowly from one to ten thousand, in words.", 2000),
        overflow: ask(&"word ".repeat(overflow_words), 8),
        tools: None,
        format: Some(Asked { request: ChatRequest { format: Some(schema), ..ask("Which city?", 40) }, contains: "\"Paris\"".to_owned() }),
        distinct: ["France", "Japan", "Germany"]
            .iter()
            .zip(["Paris", "Tokyo", "Berlin"])
            .map(|(country, city)| Asked { request: ask(&format!("What is the capital of {country}?"), 24), contains: city.to_owned() })
            .collect(),
        patience: Duration::from_secs(20),
    }
}

struct Embedded(Arc<EmbeddedModel>);

impl Subject for Embedded {
    fn model(&self) -> Arc<dyn ChatModel> {
        Arc::clone(&self.0) as Arc<dyn ChatModel>
    }

    fn missing(&self) -> BoxFuture<'_, Result<Arc<dyn ChatModel>, ModelError>> {
        Box::pin(async {
            let options = LoadOptions { path: "no-such-file.gguf".into(), spec: "embedded:none".into(), name: "none".into(), sha256: None, context: None, threads: None };
            EmbeddedModel::load(&options).map(|model| Arc::new(model) as Arc<dyn ChatModel>)
        })
    }

    fn active(&self) -> BoxFuture<'_, usize> {
        Box::pin(async { self.0.counters().active.load(Ordering::Relaxed) as usize })
    }
}

#[tokio::test]
async fn the_embedded_engine_conforms() {
    let path = asset("smollm2-135m");
    let options = LoadOptions { path, spec: "embedded:smollm2-135m".into(), name: "smollm2-135m".into(), sha256: None, context: None, threads: None };
    let subject = Embedded(Arc::new(EmbeddedModel::load(&options).unwrap()));
    let failed = failures(&run(&subject, &suite(9000)).await);
    assert!(failed.is_empty(), "{failed}");
}

struct Llama {
    model: Arc<OpenAiModel>,
    server: LlamaServer,
}

impl Subject for Llama {
    fn model(&self) -> Arc<dyn ChatModel> {
        Arc::clone(&self.model) as Arc<dyn ChatModel>
    }

    fn missing(&self) -> BoxFuture<'_, Result<Arc<dyn ChatModel>, ModelError>> {
        // llama-server serves one model whatever the name, so a port where nothing serves the API
        // cannot show NotFound; the router mode of a name that is not loaded is not in this build.
        Box::pin(async { Err(ModelError::NotFound { model: "none".into(), reason: "one model a server".into() }) })
    }

    fn active(&self) -> BoxFuture<'_, usize> {
        Box::pin(async { self.server.busy_slots() })
    }
}

#[tokio::test]
async fn the_openai_client_conforms_on_a_real_llama_server() {
    let server = LlamaServer::start(&asset("smollm2-135m"), &["-c", "4096", "--parallel", "2", "--slots"]);
    let spec = server.spec();
    let url = spec.strip_prefix("openai:").unwrap();
    let model = OpenAiModel::connect(url, "", &HttpOptions { idle: Some(Duration::from_secs(60)), ..HttpOptions::default() }).await.unwrap();
    let subject = Llama { model: Arc::new(model), server };
    let failed = failures(&run(&subject, &suite(9000)).await);
    assert!(failed.is_empty(), "{failed}");
}

#[tokio::test]
async fn both_backends_count_the_same_prompt_tokens() {
    let path = asset("smollm2-135m");
    let server = LlamaServer::start(&path, &["-c", "4096", "--parallel", "1"]);
    let spec = server.spec();
    let remote = OpenAiModel::connect(spec.strip_prefix("openai:").unwrap(), "", &HttpOptions::default()).await.unwrap();
    let options = LoadOptions { path, spec: "embedded:smollm2-135m".into(), name: "smollm2-135m".into(), sha256: None, context: None, threads: None };
    let embedded = EmbeddedModel::load(&options).unwrap();
    for text in ["Bonjour, où est passé le fichier « été 2026 » ?", "fn main() {\n    println!(\"{}\", 1234567);\n}", "日本語 🙂 naïve\t\ttabs   and   blanks", "<|im_end|> is not an end here"] {
        let request = ask(text, 1);
        let ours = embedded.render(&request).await.unwrap();
        let theirs = remote.render(&request).await.unwrap();
        assert_eq!(ours.text, theirs.text, "the rendered prompt of {text:?}");
        if !text.contains("<|im_end|>") {
            assert_eq!(ours.tokens, theirs.tokens, "the token count of {text:?}");
        }
    }
}
