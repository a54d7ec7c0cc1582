//! The matrix of faults: each is the right error, with its hint, and no secret in it; what came
//! before is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::json;
use tenpass_model::wrappers::{Retry, RetryPolicy};
use tenpass_model::{
    ChatEvent, ChatModel, ChatRequest, Collected, HttpOptions, ModelError, OllamaModel, OpenAiModel, collect,
};
use tenpass_trace::{FailureClass, Message};

use super::fake;
use super::stub::{Asked, Part, Reply, Stub};

const KEY: &str = "sk-very-secret";

fn request() -> ChatRequest {
    ChatRequest { messages: vec![Message::user("hi")], ..ChatRequest::default() }
}

fn options() -> HttpOptions {
    HttpOptions { api_key: Some(KEY.into()), idle: Some(Duration::from_millis(300)), ..HttpOptions::default() }
}

/// Serves `reply` to chat requests and the fake to everything else.
async fn serving(reply: Reply) -> Stub {
    Stub::start(move |asked: &Asked| match asked.path.as_str() {
        "/api/chat" | "/v1/chat/completions" => reply.clone(),
        path if path.starts_with("/api") => fake::ollama(asked),
        _ => fake::openai(asked),
    })
    .await
}

async fn both(stub: &Stub) -> [Arc<dyn ChatModel>; 2] {
    let with_password = stub.url().replace("http://", "http://user:hunter2@");
    let ollama = OllamaModel::connect(&with_password, "tiny", None, &options()).await.unwrap();
    let openai = OpenAiModel::connect(&with_password, "tiny", &options()).await.unwrap();
    for shown in [format!("{ollama:?} {:?}", ollama.info()), format!("{openai:?} {:?}", openai.info())] {
        assert!(!shown.contains("hunter2") && !shown.contains(KEY), "{shown}");
    }
    [Arc::new(ollama), Arc::new(openai)]
}

async fn ask(model: &dyn ChatModel) -> Collected {
    let answer = collect(model.start(request()), Instant::now()).await;
    let error = answer.error.as_ref().expect("the request fails");
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("hunter2") && !shown.contains(KEY) && !shown.contains('\n'), "{shown}");
    assert!(!error.hint().is_empty());
    answer
}

/// The error of both backends for the same reply.
async fn errors(reply: Reply) -> Vec<ModelError> {
    let stub = serving(reply).await;
    let mut errors = Vec::new();
    for model in both(&stub).await {
        let answer = ask(&*model).await;
        assert!(answer.completion.is_none());
        errors.push(answer.error.unwrap());
    }
    errors
}

#[tokio::test]
async fn a_server_that_is_down_is_named_with_the_systems_reason() {
    let stub = serving(Reply::json(200, &json!({}))).await;
    let models = both(&stub).await;
    let address = stub.stop().await;
    for model in models {
        let error = ask(&*model).await.error.unwrap();
        let ModelError::Connect { url, reason } = &error else { panic!("{error:?}") };
        assert!(url.contains(&address.to_string()) && reason.to_lowercase().contains("refused"), "{error}");
        assert!(error.is_transient());
    }
    let url = format!("http://{address}");
    assert!(matches!(OllamaModel::connect(&url, "tiny", None, &options()).await, Err(ModelError::Connect { .. })));
    assert!(matches!(OpenAiModel::connect(&url, "tiny", &options()).await, Err(ModelError::Connect { .. })));
}

#[tokio::test]
async fn a_page_instead_of_an_answer_is_named() {
    for status in [200, 502] {
        for error in errors(Reply::new(status, "text/html", "<!DOCTYPE html>\n<html><body>nginx</body></html>")).await {
            let (ModelError::Protocol { what: text, .. } | ModelError::Http { message: text, .. }) = &error else {
                panic!("{error:?}")
            };
            assert!(text.contains("HTML"), "{error}");
        }
    }
}

#[tokio::test]
async fn statuses_keep_the_servers_words_and_lose_the_key() {
    for (status, transient) in [(401, false), (503, true), (500, true), (400, false)] {
        let words = format!("Incorrect API key provided:\n {KEY}");
        for error in errors(Reply::json(status, &json!({"error": {"message": words}}))).await {
            let ModelError::Http { status: got, message, .. } = &error else { panic!("{error:?}") };
            assert_eq!((*got, message.as_str()), (status, "Incorrect API key provided: ***"));
            assert_eq!(error.is_transient(), transient, "{status}");
        }
    }
}

#[tokio::test]
async fn a_model_that_went_away_is_not_found() {
    for error in errors(Reply::json(404, &json!({"error": "model 'tiny' not found"}))).await {
        assert!(matches!(&error, ModelError::NotFound { model, .. } if model == "tiny"), "{error:?}");
    }
}

#[tokio::test]
async fn missing_abilities_are_told_from_other_refusals() {
    for (message, feature) in
        [("tiny does not support tools", "tools"), ("\"tiny\" does not support thinking", "thinking")]
    {
        for error in errors(Reply::json(400, &json!({"error": message}))).await {
            assert!(matches!(&error, ModelError::Unsupported { feature: found, .. } if found == feature), "{error:?}");
        }
    }
}

fn first_piece() -> Vec<(&'static str, &'static str)> {
    vec![
        ("/api/chat", "{\"message\":{\"content\":\"He\"},\"done\":false}\n"),
        ("/v1/chat/completions", "data: {\"choices\":[{\"delta\":{\"content\":\"He\"}}]}\n\n"),
    ]
}

/// Both backends after "He" and then `then`.
async fn after_text(then: &[Part]) -> Vec<ModelError> {
    let mut errors = Vec::new();
    for (index, (_, piece)) in first_piece().into_iter().enumerate() {
        let reply = then.iter().cloned().fold(Reply::new(200, "text/plain", piece), Reply::then);
        let stub = serving(reply).await;
        let answer = ask(&*both(&stub).await[index]).await;
        assert_eq!((answer.text.as_str(), answer.completion), ("He", None), "what came is kept");
        errors.push(answer.error.unwrap());
    }
    errors
}

#[tokio::test]
async fn an_error_under_http_200_is_the_servers_error() {
    let parts = ["{\"error\":\"an error was encountered while running the model: out of memory\"}\n"];
    for error in after_text(&parts.map(|part| Part::Bytes(part.into()))).await {
        assert!(
            matches!(&error, ModelError::Server { message, .. } if message.ends_with("out of memory")),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn an_overflow_in_the_middle_of_a_stream_is_an_overflow() {
    let part = "{\"error\":{\"code\":400,\"message\":\"too big\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":9031,\"n_ctx\":4096}}\n";
    for error in after_text(&[Part::Bytes(part.into())]).await {
        assert_eq!(error, ModelError::Overflow { prompt_tokens: 9031, context: 4096 });
        assert_eq!(error.class(), FailureClass::InvalidOverflow);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_truncated_however_it_breaks() {
    for then in [
        vec![Part::Abort],
        vec![],
        vec![Part::Bytes(b"{\"message\":{\"con".to_vec()), Part::Abort],
        vec![Part::Bytes(b"data: {\"choices\":[{\"del".to_vec())],
    ] {
        // Half a line of the other protocol is not what this one can be cut to.
        let is_ndjson = matches!(then.first(), Some(Part::Bytes(bytes)) if bytes.starts_with(b"{"));
        let is_sse = matches!(then.first(), Some(Part::Bytes(bytes)) if bytes.starts_with(b"data"));
        let errors = after_text(&then).await;
        for (error, own) in errors.iter().zip([!is_sse, !is_ndjson]) {
            if own {
                assert!(matches!(error, ModelError::Truncated { .. }), "{then:?}: {error:?}");
                assert!(error.is_transient());
            }
        }
    }
}

#[tokio::test]
async fn half_a_line_followed_by_another_is_not_the_protocol() {
    for error in after_text(&[Part::Bytes(b"data: {\"choi\n\n{\"mess\n".to_vec())]).await {
        assert!(matches!(&error, ModelError::Protocol { what, .. } if what.contains("not JSON")), "{error:?}");
    }
}

#[tokio::test]
async fn silence_ends_at_the_idle_limit_before_and_after_the_first_byte() {
    for error in after_text(&[Part::Hang]).await {
        assert!(matches!(&error, ModelError::Silent { seconds: 1, .. }), "{error:?}");
    }
    let silent = Reply { parts: vec![Part::Hang], ..Reply::new(200, "text/plain", "") };
    for error in errors(silent).await {
        assert!(matches!(&error, ModelError::Silent { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_socket() {
    for (index, (_, piece)) in first_piece().into_iter().enumerate() {
        let mut stub = serving(Reply::new(200, "text/plain", piece).then(Part::Hang)).await;
        let no_limit = HttpOptions::default();
        let model: Arc<dyn ChatModel> = if index == 0 {
            Arc::new(OllamaModel::connect(&stub.url(), "tiny", None, &no_limit).await.unwrap())
        } else {
            Arc::new(OpenAiModel::connect(&stub.url(), "tiny", &no_limit).await.unwrap())
        };
        let mut stream = model.start(request());
        assert_eq!(stream.next().await, Some(Ok(ChatEvent::Text("He".into()))));
        drop(stream);
        // The model, and with it the connection pool, is still alive.
        tokio::time::timeout(Duration::from_secs(10), stub.wait_for_hang_ups(1))
            .await
            .expect("the server sees the end");
        assert_eq!(model.info().name, "tiny");
    }
}

#[tokio::test]
async fn a_full_queue_is_survived_by_trying_again() {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let stub = Stub::start(move |asked: &Asked| {
        if asked.path == "/api/chat" && seen.fetch_add(1, Ordering::SeqCst) == 0 {
            return Reply::json(
                503,
                &json!({"error": "server busy, please try again. maximum pending requests exceeded"}),
            );
        }
        fake::ollama(asked)
    })
    .await;
    let model = OllamaModel::connect(&stub.url(), "tiny", None, &options()).await.unwrap();
    let policy = RetryPolicy { first_delay: Duration::from_millis(1), ..RetryPolicy::default() };
    let answer = collect(Retry::new(Arc::new(model), policy).start(request()), Instant::now()).await;
    assert_eq!((answer.error, answer.text.as_str()), (None, "You said: hi…"));
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

/// Ollama before `truncate`: drops the front of the conversation and says nothing.
fn dropping(knows_debug: bool, keeps: usize) -> impl Fn(&Asked) -> Reply + Send + Sync + 'static {
    move |asked| {
        if asked.path != "/api/chat" {
            return fake::ollama(asked);
        }
        if knows_debug && asked.body["_debug_render_only"] == true {
            return Reply::json(200, &json!({"_debug_info": {"rendered_template": "<|user|>hi<|assistant|>"}}));
        }
        Reply::json(
            200,
            &json!({"message": {"content": "Hello"}, "done": true, "done_reason": "stop", "prompt_eval_count": keeps, "eval_count": 1}),
        )
    }
}

/// K8: a prompt that was cut in silence is an error that names both numbers.
#[tokio::test]
async fn a_prompt_cut_in_silence_is_an_overflow() {
    for (knows_debug, words, keeps, cut) in [
        (false, 400, 90, true),
        (true, 400, 90, true),
        // 400 words in 420 tokens: below what they should cost, above the sure bound, near the
        // limit; only the rendered text tells.
        (true, 400, 420, true),
        (false, 400, 420, false),
        (true, 3, 20, false),
        (false, 400, 512, true),
    ] {
        let stub = Stub::start(dropping(knows_debug, keeps)).await;
        let model = OllamaModel::connect(&stub.url(), "tiny", None, &options()).await.unwrap();
        let mut request = ChatRequest {
            messages: vec![Message::system("word ".repeat(words)), Message::user("hi")],
            ..ChatRequest::default()
        };
        request.options.context = Some(512);
        let answer = collect(model.start(request), Instant::now()).await;
        match answer.error {
            Some(ModelError::Overflow { prompt_tokens, context }) if cut => {
                assert!(prompt_tokens >= words as u64 && context == keeps as u64, "{prompt_tokens} {context}");
            }
            None if !cut => assert!(answer.completion.is_some()),
            other => panic!("{knows_debug} {words} {keeps}: {other:?}"),
        }
    }
}
