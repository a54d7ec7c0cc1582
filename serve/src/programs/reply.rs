//! Answers in OpenAI's shape.

use serde_json::{Value, json};
use tenpass_model::calls::{ParseInput, ParsedCall, parse};
use tenpass_model::{Completion, FinishReason, StructuredCall, Usage};
use tenpass_trace::ToolDefinition;

/// What all parts of one answer carry.
pub(super) struct Sheet {
    id: String,
    created: i64,
    model: String,
    tools: Vec<ToolDefinition>,
    declared: Option<String>,
}

/// A piece of a stream.
pub(super) enum Piece<'a> {
    /// The first: who speaks.
    Begin,
    /// Text.
    Text(&'a str),
    /// Reasoning, in the field that most clients read.
    Thinking(&'a str),
    /// A whole call in its place.
    Call(usize, &'a Call),
    /// The last.
    End(&'static str),
}

/// A call with its id.
pub(super) struct Call {
    id: String,
    call: ParsedCall,
}

/// A whole answer.
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) thinking: String,
    pub(super) calls: Vec<Call>,
    pub(super) finish: &'static str,
    usage: Usage,
}

impl Sheet {
    pub(super) fn new(model: &str, tools: Vec<ToolDefinition>, declared: Option<String>) -> Self {
        Self {
            id: format!("chatcmpl-{}", uuid::Uuid::new_v4().simple()),
            created: jiff::Timestamp::now().as_second(),
            model: model.to_owned(),
            tools,
            declared,
        }
    }

    pub(super) fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    /// Reads what a model said.
    pub(super) fn reply(
        &self,
        text: &str,
        thinking: &str,
        structured: &[StructuredCall],
        completion: Option<&Completion>,
    ) -> Reply {
        let finish = completion.map_or(FinishReason::Other, |completion| completion.finish);
        let usage = completion.map(|completion| completion.usage).unwrap_or_default();
        let (calls, text) = if self.has_tools() {
            let parsed = parse(&ParseInput {
                text,
                thinking,
                structured,
                tools: &self.tools,
                declared: self.declared.as_deref(),
                finish,
            });
            (parsed.calls, parsed.text)
        } else {
            (Vec::new(), text.to_owned())
        };
        let calls: Vec<Call> = calls
            .into_iter()
            .map(|call| Call { id: format!("call_{}", &uuid::Uuid::new_v4().simple().to_string()[..24]), call })
            .collect();
        let finish = match finish {
            _ if !calls.is_empty() => "tool_calls",
            FinishReason::Length => "length",
            _ => "stop",
        };
        Reply { text, thinking: thinking.to_owned(), calls, finish, usage }
    }

    /// The answer to a request without a stream.
    pub(super) fn completion(&self, replies: &[Reply]) -> Value {
        let choices: Vec<Value> = replies
            .iter()
            .enumerate()
            .map(|(index, reply)| {
                let mut message = json!({ "role": "assistant", "content": reply.text, "refusal": null });
                if !reply.thinking.is_empty() {
                    message["reasoning_content"] = json!(reply.thinking);
                }
                if !reply.calls.is_empty() {
                    message["tool_calls"] = reply.calls.iter().map(Call::to_json).collect();
                    if reply.text.is_empty() {
                        message["content"] = Value::Null;
                    }
                }
                json!({ "index": index, "message": message, "logprobs": null, "finish_reason": reply.finish })
            })
            .collect();
        let mut whole = self.head("chat.completion");
        whole["choices"] = json!(choices);
        whole["usage"] = usage(replies.iter().map(|reply| reply.usage));
        whole
    }

    /// A piece of a stream.
    pub(super) fn piece(&self, piece: &Piece<'_>) -> Value {
        let (delta, finish) = match piece {
            Piece::Begin => (json!({ "role": "assistant", "content": "" }), None),
            Piece::Text(text) => (json!({ "content": text }), None),
            Piece::Thinking(text) => (json!({ "reasoning_content": text }), None),
            Piece::Call(place, call) => {
                let mut shown = call.to_json();
                shown["index"] = json!(place);
                (json!({ "tool_calls": [shown] }), None)
            }
            Piece::End(finish) => (json!({}), Some(*finish)),
        };
        let mut whole = self.head("chat.completion.chunk");
        whole["choices"] = json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }]);
        whole
    }

    /// The piece with token counts.
    pub(super) fn usage_piece(&self, reply: &Reply) -> Value {
        let mut whole = self.head("chat.completion.chunk");
        whole["choices"] = json!([]);
        whole["usage"] = usage(std::iter::once(reply.usage));
        whole
    }

    fn head(&self, object: &str) -> Value {
        json!({ "id": self.id, "object": object, "created": self.created, "model": self.model })
    }
}

impl Call {
    fn to_json(&self) -> Value {
        let arguments = Value::Object(self.call.arguments.clone()).to_string();
        json!({ "id": self.id, "type": "function", "function": { "name": self.call.name, "arguments": arguments } })
    }
}

/// Counts of several answers to one prompt: the prompt counts once.
fn usage(all: impl Iterator<Item = Usage>) -> Value {
    let (mut prompt, mut cached, mut answers) = (0, 0, 0);
    for usage in all {
        prompt = prompt.max(usage.prompt_tokens.unwrap_or(0));
        cached = cached.max(usage.cached_tokens.unwrap_or(0));
        answers += usage.completion_tokens.unwrap_or(0);
    }
    json!({
        "prompt_tokens": prompt, "completion_tokens": answers, "total_tokens": prompt + answers,
        "prompt_tokens_details": { "cached_tokens": cached },
    })
}
