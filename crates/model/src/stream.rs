//! The events of one answer.

use std::pin::Pin;
use std::time::Instant;

use futures_util::{Stream, StreamExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ModelError;

/// A stream of events; dropping it cancels the request.
pub type ChatStream = Pin<Box<dyn Stream<Item = Result<ChatEvent, ModelError>> + Send>>;

/// One event of an answer, in the order in which the backend produced it.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatEvent {
    /// A piece of the answer's text.
    Text(String),
    /// A piece of the reasoning.
    Thinking(String),
    /// A complete call from the structured channel.
    ToolCall(StructuredCall),
    /// The end; always last, exactly once.
    Done(Completion),
}

/// A call as the backend's structured channel delivered it, before any judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StructuredCall {
    /// The backend's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The name, untouched.
    pub name: String,
    /// The arguments: an object when the backend sent one or its string decoded to one; else the
    /// undecodable string itself.
    #[serde(default)]
    pub arguments: Value,
    /// Repairs the stream assembler had to make (missing index, merged fragments), for the
    /// class `stream_merge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired: Option<String>,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model ended its turn.
    Stop,
    /// The token limit.
    Length,
    /// The model ended its turn with calls.
    ToolCalls,
    /// Another reason the server named.
    Other,
}

/// Token counts as the backend reports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: Option<u64>,
    /// Prompt tokens that came from a cache.
    pub cached_tokens: Option<u64>,
    /// Tokens of the answer.
    pub completion_tokens: Option<u64>,
}

/// Durations the backend reports, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Timings {
    /// Loading the model.
    pub load_ms: Option<f64>,
    /// Evaluating the prompt.
    pub prompt_ms: Option<f64>,
    /// Decoding the answer.
    pub decode_ms: Option<f64>,
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Completion {
    /// Why.
    pub finish: FinishReason,
    /// Token counts.
    pub usage: Usage,
    /// The backend's durations.
    pub timings: Timings,
    /// Which of several endpoints answered; `None` where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

/// A whole answer with the moments at which its parts arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct Collected {
    /// The text.
    pub text: String,
    /// The reasoning.
    pub thinking: String,
    /// Calls of the structured channel.
    pub calls: Vec<StructuredCall>,
    /// How it ended; `None` when the stream failed before its end.
    pub completion: Option<Completion>,
    /// The failure that ended it, if one did. What arrived before it is kept.
    pub error: Option<ModelError>,
    /// Milliseconds from the start to the first text, thinking or call.
    pub first_token_ms: Option<f64>,
    /// Milliseconds to the first structured call.
    pub first_call_ms: Option<f64>,
    /// Milliseconds to the end.
    pub total_ms: f64,
}

/// Reads a stream to its end, keeping what arrived even when it fails.
pub async fn collect(mut stream: ChatStream, started: Instant) -> Collected {
    let elapsed = || started.elapsed().as_secs_f64() * 1e3;
    let mut all = Collected {
        text: String::new(),
        thinking: String::new(),
        calls: Vec::new(),
        completion: None,
        error: None,
        first_token_ms: None,
        first_call_ms: None,
        total_ms: 0.0,
    };
    while let Some(event) = stream.next().await {
        if !matches!(event, Ok(ChatEvent::Done(_)) | Err(_)) {
            all.first_token_ms.get_or_insert_with(elapsed);
        }
        match event {
            Ok(ChatEvent::Text(piece)) => all.text.push_str(&piece),
            Ok(ChatEvent::Thinking(piece)) => all.thinking.push_str(&piece),
            Ok(ChatEvent::ToolCall(call)) => {
                all.first_call_ms.get_or_insert_with(elapsed);
                all.calls.push(call);
            }
            Ok(ChatEvent::Done(completion)) => all.completion = Some(completion),
            Err(error) => all.error = Some(error),
        }
    }
    all.total_ms = elapsed();
    all
}
