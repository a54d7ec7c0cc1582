//! Recorded-shape traffic over a real socket, cut at many places.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::json;
use tenpass_model::{ChatModel, ChatRequest, Collected, HttpOptions, OllamaModel, OpenAiModel, collect};
use tenpass_trace::Message;

use super::fake;
use super::stub::{Asked, Part, Reply, Stub};

const NDJSON: &str = concat!(
    "{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"Où?\"},\"done\":false}\n",
    "{\"message\":{\"role\":\"assistant\",\"content\":\"Très 😀\"},\"done\":false}\r\n",
    "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"lamp\",\"arguments\":{\"on\":true}}}]},\"done\":false}\n",
    "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":5,\"eval_count\":2}\n",
);

const SSE: &str = concat!(
    ": comment\n\n",
    "data: {\"choices\":[{\"delta\":{\"reasoning\":\"Où?\"}}]}\r\n\r\n",
    "data: {\"choices\":[{\"delta\":{\"content\":\"Très 😀\"}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"lamp\",\"arguments\":\"{\\\"on\\\"\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":true}\"}}]},\"finish_reason\":\"tool_calls\"}],\ndata: \"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n",
    "data: [DONE]\n\n",
);

/// Serves `body` in two pieces, cut one byte further with each request to `path`.
fn cutting(
    path: &'static str,
    body: &'static str,
    other: fn(&Asked) -> Reply,
) -> impl Fn(&Asked) -> Reply + Send + Sync + 'static {
    let cut = Arc::new(AtomicUsize::new(0));
    move |asked| {
        if asked.path != path {
            return other(asked);
        }
        let (head, tail) = body.as_bytes().split_at(cut.fetch_add(1, Ordering::SeqCst).min(body.len()));
        Reply::new(200, "text/plain", head).then(Part::Bytes(tail.to_vec()))
    }
}

/// Thinking, text, calls, prompt tokens, error.
type Essence = (String, String, Vec<(String, serde_json::Value)>, Option<u64>, Option<String>);

fn essence(answer: Collected) -> Essence {
    let calls = answer.calls.into_iter().map(|call| (call.name, call.arguments)).collect();
    let tokens = answer.completion.and_then(|end| end.usage.prompt_tokens);
    (answer.thinking, answer.text, calls, tokens, answer.error.map(|error| error.to_string()))
}

async fn every_cut(model: &dyn ChatModel, length: usize) {
    let request = ChatRequest { messages: vec![Message::user("hi")], ..ChatRequest::default() };
    let expected =
        ("Où?".to_owned(), "Très 😀".to_owned(), vec![("lamp".to_owned(), json!({"on": true}))], Some(5), None);
    for cut in 0..=length {
        let answer = collect(model.start(request.clone()), Instant::now()).await;
        assert_eq!(essence(answer), expected, "cut at byte {cut}");
    }
}

#[tokio::test]
async fn ndjson_survives_a_cut_at_every_byte() {
    let stub = Stub::start(cutting("/api/chat", NDJSON, fake::ollama)).await;
    let model = OllamaModel::connect(&stub.url(), "tiny", None, &HttpOptions::default()).await.unwrap();
    every_cut(&model, NDJSON.len()).await;
}

#[tokio::test]
async fn server_sent_events_survive_a_cut_at_every_byte() {
    let stub = Stub::start(cutting("/v1/chat/completions", SSE, fake::openai)).await;
    let model = OpenAiModel::connect(&stub.url(), "tiny", &HttpOptions::default()).await.unwrap();
    every_cut(&model, SSE.len()).await;
}
