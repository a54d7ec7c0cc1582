//! The cloud of a world: a server on loopback that speaks the providers' wire formats, so that the
//! real clients, the real budget and the real store are what a delegation goes through.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;

use serde_json::{Value, json};
use tenpass_model::{
    BoxFuture, Capabilities, ChatEvent, ChatModel, ChatRequest, ChatStream, Completion, FinishReason, ModelError,
    ModelInfo, RenderedPrompt, Timings, Usage,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::scenario::ProviderAnswer;

/// Longest request that is read, in bytes.
const REQUEST_BYTES: usize = 1 << 20;

/// A running server; it ends when this is dropped.
pub(super) struct Cloud {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Cloud {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Cloud {
    /// Serves the answers of the providers that are in the cloud.
    pub(super) async fn start(providers: &BTreeMap<String, ProviderAnswer>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let providers = providers.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let providers = providers.clone();
                tokio::spawn(async move {
                    let _ = serve(stream, &providers).await;
                });
            }
        });
        Ok(Self { address, task })
    }

    /// The root of a provider's interface.
    pub(super) fn root(&self, provider: &str) -> String {
        format!("http://{}/{provider}", self.address)
    }
}

/// Answers one request and closes the connection.
async fn serve(mut stream: TcpStream, providers: &BTreeMap<String, ProviderAnswer>) -> io::Result<()> {
    let Some(path) = read_request(&mut stream).await? else { return Ok(()) };
    let provider = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    let (status, kind, body) = match providers.get(provider) {
        Some(ProviderAnswer::Answer(text)) if provider == "claude" => ("200 OK", "text/event-stream", messages(text)),
        Some(ProviderAnswer::Answer(text)) => ("200 OK", "text/event-stream", completions(text)),
        Some(ProviderAnswer::Error(reason)) => {
            let body = json!({ "error": { "type": "overloaded_error", "message": reason } });
            ("503 Service Unavailable", "application/json", body.to_string())
        }
        None => ("404 Not Found", "application/json", json!({ "error": { "message": "not found" } }).to_string()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// Reads a request to the end of its body; gives its path.
async fn read_request(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = head
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .and_then(|(_, value)| value.trim().parse::<usize>().ok())
                .unwrap_or(0);
            if bytes.len() >= end + 4 + length.min(REQUEST_BYTES) {
                return Ok(head.split_whitespace().nth(1).map(str::to_owned));
            }
        }
        let read = stream.read(&mut buffer).await?;
        if read == 0 || bytes.len() > REQUEST_BYTES {
            return Ok(None);
        }
        bytes.extend_from_slice(&buffer[..read]);
    }
}

fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// About four characters a token, as the bills of a bench need no better.
fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

/// Anthropic's stream of a message.
fn messages(text: &str) -> String {
    let usage = json!({ "input_tokens": 400, "output_tokens": 1 });
    let stop = json!({ "stop_reason": "end_turn" });
    [
        event("message_start", &json!({ "type": "message_start", "message": { "usage": usage } })),
        event(
            "content_block_delta",
            &json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } }),
        ),
        event(
            "message_delta",
            &json!({ "type": "message_delta", "delta": stop, "usage": { "output_tokens": tokens(text) } }),
        ),
        event("message_stop", &json!({ "type": "message_stop" })),
    ]
    .concat()
}

/// OpenAI's stream of a chat completion.
fn completions(text: &str) -> String {
    let delta = json!({ "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": null }] });
    let usage = json!({ "prompt_tokens": 400, "completion_tokens": tokens(text) });
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }], "usage": usage });
    format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n")
}

/// The local writer of a world that says what it writes.
pub(super) struct FixedWriter {
    info: ModelInfo,
    answer: ProviderAnswer,
}

impl FixedWriter {
    pub(super) fn new(answer: ProviderAnswer) -> Self {
        let info = ModelInfo {
            spec: "replay:writer".to_owned(),
            backend: "replay".to_owned(),
            name: "writer".to_owned(),
            digest: None,
            template_digest: None,
            quantization: None,
            context: None,
            capabilities: Capabilities {
                tools: false,
                thinking: false,
                structured_output: false,
                declared_shape: None,
            },
            runtime: None,
        };
        Self { info, answer }
    }
}

impl ChatModel for FixedWriter {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn start(&self, _request: ChatRequest) -> ChatStream {
        let events = match &self.answer {
            ProviderAnswer::Answer(text) => vec![
                Ok(ChatEvent::Text(text.clone())),
                Ok(ChatEvent::Done(Completion {
                    finish: FinishReason::Stop,
                    usage: Usage::default(),
                    timings: Timings::default(),
                    endpoint: None,
                })),
            ],
            ProviderAnswer::Error(reason) => {
                vec![Err(ModelError::Stopped { model: self.info.name.clone(), reason: reason.clone() })]
            }
        };
        Box::pin(futures_util::stream::iter(events))
    }

    fn render<'a>(&'a self, _request: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>> {
        Box::pin(async { Ok(RenderedPrompt { text: None, tokens: None }) })
    }
}
