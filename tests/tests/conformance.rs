//! The one conformance suite on real backends: the embedded engine, and the OpenAI-compatible
//! client against a real llama-server with the same file.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as the tests do")]

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tenpass_engine::{EmbeddedModel, LoadOptions};
use tenpass_model::conformance::{Asked, Subject, Suite, failures, run};
use tenpass_model::{BoxFuture, ChatModel, ChatRequest, HttpOptions, ModelError, OpenAiModel, SamplingOptions};
use tenpass_tests::{LlamaServer, asset, embedded};
use tenpass_trace::{Message, ToolCall, ToolDefinition};

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
        format: Some(Asked {
            request: ChatRequest { format: Some(schema), ..ask("Which city?", 40) },
            contains: "\"Paris\"".to_owned(),
        }),
        distinct: ["France", "Japan", "Germany"]
            .iter()
            .zip(["Paris", "Tokyo", "Berlin"])
            .map(|(country, city)| Asked {
                request: ask(&format!("What is the capital of {country}?"), 24),
                contains: city.to_owned(),
            })
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
            let options = LoadOptions {
                path: "no-such-file.gguf".into(),
                spec: "embedded:none".into(),
                name: "none".into(),
                sha256: None,
                context: None,
                threads: None,
            };
            EmbeddedModel::load(&options).map(|model| Arc::new(model) as Arc<dyn ChatModel>)
        })
    }

    fn active(&self) -> BoxFuture<'_, usize> {
        Box::pin(async { self.0.counters().active.load(Ordering::Relaxed) as usize })
    }
}

#[tokio::test]
async fn the_embedded_engine_conforms() {
    let subject = Embedded(Arc::new(embedded("smollm2-135m", None)));
    let failed = failures(&run(&subject, &suite(9000)).await);
    assert!(failed.is_empty(), "{failed}");
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
struct Llama {
    model: Arc<OpenAiModel>,
    server: LlamaServer,
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
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

#[cfg(all(target_os = "linux", target_arch = "x86_64"))] // the platform of the server's package
#[tokio::test]
async fn the_openai_client_conforms_on_a_real_llama_server() {
    let server = LlamaServer::start(&asset("smollm2-135m"), &["-c", "4096", "--parallel", "2", "--slots"]);
    let spec = server.spec();
    let url = spec.strip_prefix("openai:").unwrap();
    let model =
        OpenAiModel::connect(url, "", &HttpOptions { idle: Some(Duration::from_mins(1)), ..HttpOptions::default() })
            .await
            .unwrap();
    let subject = Llama { model: Arc::new(model), server };
    let failed = failures(&run(&subject, &suite(9000)).await);
    assert!(failed.is_empty(), "{failed}");
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))] // the platform of the server's package
#[tokio::test]
async fn both_backends_count_the_same_prompt_tokens() {
    let server = LlamaServer::start(&asset("smollm2-135m"), &["-c", "4096", "--parallel", "1"]);
    let spec = server.spec();
    let remote =
        OpenAiModel::connect(spec.strip_prefix("openai:").unwrap(), "", &HttpOptions::default()).await.unwrap();
    let ours = embedded("smollm2-135m", None);
    for text in [
        "Bonjour, où est passé le fichier « été 2026 » ?",
        "fn main() {\n    println!(\"{}\", 1234567);\n}",
        "日本語 🙂 naïve\t\ttabs   and   blanks",
        "<|im_end|> is not an end here",
    ] {
        let request = ask(text, 1);
        let own = ours.render(&request).await.unwrap();
        let theirs = remote.render(&request).await.unwrap();
        assert_eq!(own.text, theirs.text, "the rendered prompt of {text:?}");
        if !text.contains("<|im_end|>") {
            assert_eq!(own.tokens, theirs.tokens, "the token count of {text:?}");
        }
    }
}

/// Earlier turns that show how a call looks: a 135M model follows examples, not descriptions.
fn with_examples() -> ChatRequest {
    let lamp = ToolDefinition::new("set_lamp", "Switches the lamp of a room.").with_parameters(json!({
        "type": "object", "properties": { "room": { "type": "string" }, "on": { "type": "boolean" } }, "required": ["room", "on"]
    }));
    let mut messages = vec![Message::system("You switch lamps.")];
    for (number, room) in ["hall", "attic", "garage"].iter().enumerate() {
        messages.push(Message::user(format!("Switch on the lamp in the {room}.")));
        let arguments = json!({ "room": room, "on": true }).as_object().cloned().unwrap();
        let id = format!("call{number:05}");
        messages.push(Message {
            tool_calls: vec![ToolCall { id: Some(id.clone()), name: "set_lamp".into(), arguments }],
            ..Message::assistant("")
        });
        messages.push(Message { tool_call_id: Some(id), ..Message::tool("set_lamp", "{\"ok\": true}") });
        messages.push(Message::assistant("Done."));
    }
    messages.push(Message::user("Switch on the lamp in the kitchen."));
    ChatRequest { messages, tools: vec![lamp], ..ask("", 96) }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))] // the platform of the server's package
#[tokio::test]
async fn a_real_server_streams_structured_tool_calls() {
    let template = tenpass_tests::repository().join("tests/data/tools-chatml.jinja");
    let template = template.display().to_string();
    let extra = ["-c", "4096", "--parallel", "1", "--chat-template-file", &template];
    let server = LlamaServer::start(&asset("smollm2-135m"), &extra);
    let spec = server.spec();
    let model = OpenAiModel::connect(spec.strip_prefix("openai:").unwrap(), "", &HttpOptions::default()).await.unwrap();
    let mut calls = Vec::new();
    for stream in [true, false] {
        let request = ChatRequest { stream, ..with_examples() };
        let answer = tenpass_model::collect(model.start(request), std::time::Instant::now()).await;
        assert_eq!(answer.error, None);
        assert_eq!(answer.calls.len(), 1, "{answer:?}");
        assert_eq!(answer.calls[0].name, "set_lamp");
        assert_eq!(answer.calls[0].arguments["room"], "kitchen", "{answer:?}");
        calls.push(answer.calls[0].arguments.clone());
    }
    assert_eq!(calls[0], calls[1], "streamed and whole");
}

/// A second architecture (gemma3: windows, norms, its own tokenizer) against llama.cpp, token by token.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[tokio::test]
async fn gemma3_continues_as_llama_cpp_does() {
    let server = LlamaServer::start(&asset("gemma3-270m"), &["-c", "2048", "--parallel", "1"]);
    let model = embedded("gemma3-270m", Some(2048));
    // Longer than the window of 512 tokens, so that local layers must forget.
    let long = "The cat sat on the mat and looked at the rain. ".repeat(70);
    let mut agreed = 0;
    let prompts = ["The capital of France is", "One, two, three, four,", &format!("{long}The cat sat on the")];
    for text in prompts {
        let request = ask(text, 6);
        let prompt = model.prompt_tokens(&request).unwrap();
        let ours = tenpass_model::collect(model.start(request), std::time::Instant::now()).await;
        let theirs = server.complete(&prompt, 6);
        assert!(!ours.text.is_empty(), "{ours:?}");
        agreed += usize::from(theirs.starts_with(&ours.text) || ours.text.starts_with(&theirs));
    }
    // Weights are rounded differently (Q4_K against 8 bits): one near-tie may fall the other way.
    assert!(agreed >= 2, "{agreed} of {} continuations agree", prompts.len());
}
