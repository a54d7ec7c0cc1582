//! What arrives at the server.

use std::time::Instant;

use serde_json::json;
use tenpass_model::{
    ChatModel, ChatRequest, HttpOptions, ModelError, OllamaModel, OpenAiModel, SamplingOptions, ThinkLevel, collect,
};
use tenpass_trace::{Message, ToolDefinition};

use super::fake;
use super::stub::{Asked, Reply, Stub};

fn full_request(stream: bool) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::system("Be short."), Message::user("light")],
        tools: vec![ToolDefinition::new("lamp", "Switches a lamp.")],
        format: Some(json!({"type": "object", "properties": {"word": {"const": "a"}}})),
        think: Some(ThinkLevel::Medium),
        options: SamplingOptions { seed: 7, context: Some(32768), ..SamplingOptions::default() },
        stream,
        ..ChatRequest::default()
    }
}

/// K7: everything arrives, on the streaming path and on the blocking one.
#[tokio::test]
async fn both_paths_carry_tools_think_format_temperature_and_context() {
    let stub = Stub::start(fake::ollama).await;
    let model = OllamaModel::connect(&stub.url(), "tiny", Some("10m"), &HttpOptions::default()).await.unwrap();
    for stream in [true, false] {
        let answer = collect(model.start(full_request(stream)), Instant::now()).await;
        assert_eq!(answer.error, None);
    }
    for (body, stream) in stub.bodies("/api/chat").iter().zip([true, false]) {
        assert_eq!(body["stream"], stream);
        assert_eq!(body["tools"][0]["function"]["name"], "lamp");
        assert_eq!(body["think"], "medium");
        assert_eq!(body["format"]["type"], "object");
        assert_eq!(body["options"]["temperature"], json!(0.3));
        assert_eq!(body["options"]["num_ctx"], 32768);
        assert_eq!(body["keep_alive"], "10m");
    }
    assert_eq!(stub.bodies("/api/chat").len(), 2);
}

#[tokio::test]
async fn both_paths_carry_everything_in_the_openai_protocol_too() {
    let stub = Stub::start(fake::openai).await;
    let options = HttpOptions { api_key: Some("sk-test".into()), ..HttpOptions::default() };
    let model = OpenAiModel::connect(&format!("{}/v1", stub.url()), "tiny", &options).await.unwrap();
    for stream in [true, false] {
        let answer = collect(model.start(full_request(stream)), Instant::now()).await;
        assert_eq!(answer.error, None);
    }
    for (body, stream) in stub.bodies("/v1/chat/completions").iter().zip([true, false]) {
        assert_eq!(body["stream"], stream);
        assert_eq!(body["tools"][0]["function"]["name"], "lamp");
        assert_eq!(body["reasoning_effort"], "medium");
        assert_eq!(body["response_format"]["type"], "json_schema");
        assert_eq!((&body["temperature"], &body["seed"], &body["top_k"]), (&json!(0.3), &json!(7), &json!(40)));
    }
    assert!(stub.asked().iter().all(|asked| asked.headers.to_lowercase().contains("authorization: bearer sk-test")));
    assert!(stub.asked().iter().all(|asked| asked.method == if asked.body.is_null() { "GET" } else { "POST" }));
}

/// Refuses `top_k` as the real API does.
fn strict(asked: &Asked) -> Reply {
    if asked.body.get("top_k").is_some() {
        let message = "Unrecognized request argument supplied: top_k";
        return Reply::json(400, &json!({"error": {"message": message, "type": "invalid_request_error"}}));
    }
    fake::openai(asked)
}

#[tokio::test]
async fn a_strict_server_is_asked_once_more_in_plainer_words_and_remembered() {
    let stub = Stub::start(strict).await;
    let model = OpenAiModel::connect(&stub.url(), "tiny", &HttpOptions::default()).await.unwrap();
    for _ in 0..2 {
        let answer = collect(
            model.start(ChatRequest { messages: vec![Message::user("hi")], ..ChatRequest::default() }),
            Instant::now(),
        )
        .await;
        assert_eq!((answer.error, answer.text.as_str()), (None, "You said: hi…"));
    }
    let bodies = stub.bodies("/v1/chat/completions");
    assert_eq!(bodies.iter().map(|body| body.get("top_k").is_some()).collect::<Vec<_>>(), [true, false, false]);
    assert!(!model.dialect().extensions);
}

/// Takes thinking levels only as `true`, as some versions of Ollama do.
fn boolean_thinker(asked: &Asked) -> Reply {
    if asked.body["think"].is_string() {
        return Reply::json(400, &json!({"error": "think value \"medium\" is not supported for this model"}));
    }
    fake::ollama(asked)
}

#[tokio::test]
async fn a_server_that_knows_no_levels_gets_a_plain_yes() {
    let stub = Stub::start(boolean_thinker).await;
    let model = OllamaModel::connect(&stub.url(), "tiny", None, &HttpOptions::default()).await.unwrap();
    let answer = collect(model.start(full_request(true)), Instant::now()).await;
    assert_eq!(answer.error, None);
    let sent: Vec<_> = stub.bodies("/api/chat").iter().map(|body| body["think"].clone()).collect();
    assert_eq!(sent, [json!("medium"), json!(true)]);
}

/// llama.cpp with a template that has no tools.
fn toolless_llama(asked: &Asked) -> Reply {
    match asked.path.as_str() {
        "/props" => Reply::json(
            200,
            &json!({
                "default_generation_settings": {"n_ctx": 4096}, "chat_template": "{{ messages }}", "model_ftype": "Q4_1",
                "chat_template_caps": {"supports_tools": false}, "build_info": "b1-test"
            }),
        ),
        "/apply-template" => Reply::json(200, &json!({"prompt": "<|user|>hi"})),
        "/tokenize" => Reply::json(200, &json!({"tokens": [1, 2, 3]})),
        _ => fake::openai(asked),
    }
}

#[tokio::test]
async fn tools_that_a_template_would_drop_in_silence_are_an_error() {
    let stub = Stub::start(toolless_llama).await;
    let model = OpenAiModel::connect(&format!("{}/v1", stub.url()), "", &HttpOptions::default()).await.unwrap();
    let info = model.info();
    assert_eq!(
        (info.context, info.quantization.as_deref(), info.runtime.as_deref()),
        (Some(4096), Some("Q4_1"), Some("llama.cpp b1-test"))
    );
    let answer = collect(model.start(full_request(true)), Instant::now()).await;
    assert!(matches!(answer.error, Some(ModelError::Unsupported { .. })), "{:?}", answer.error);
    let plain = ChatRequest { messages: vec![Message::user("hi")], ..ChatRequest::default() };
    let rendered = model.render(&plain).await.unwrap();
    assert_eq!((rendered.text.as_deref(), rendered.tokens), (Some("<|user|>hi"), Some(3)));
    assert!(collect(model.start(plain), Instant::now()).await.error.is_none());
    assert_eq!(stub.bodies("/v1/chat/completions")[0]["cache_prompt"], true);
}

/// A proxy that does not exist is configured for everything; loopback must not use it. In a
/// process of its own, because the environment is read by the whole process.
#[test]
fn loopback_goes_past_every_proxy() {
    let test = "requests::both_paths_carry_tools_think_format_temperature_and_context";
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(name, "http://127.0.0.1:1");
    }
    let output = command.env_remove("NO_PROXY").env_remove("no_proxy").args(["--exact", test]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
