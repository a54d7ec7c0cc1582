//! Inspect's messages, tools and settings as ours.

use std::collections::HashMap;

use serde_json::{Map, Value};
use tenpass_model::calls::ParsedCall;
use tenpass_model::{FinishReason, SamplingOptions, StructuredCall, ThinkLevel, Usage};
use tenpass_trace::{Message, Role, ToolCall, ToolDefinition};

use super::log::{Call, ChatMessage, Config, Content, Part, UsageCounts};

/// What a text refers to by `attachment://`.
pub(crate) struct Attachments<'a> {
    texts: Option<&'a HashMap<String, String>>,
    /// Bytes that may still be put in; a small log could name a large text many times.
    left: usize,
}

/// Bytes of attachments in one sample.
const ATTACHED: usize = 64 << 20;
const PROTOCOL: &str = "attachment://";

impl<'a> Attachments<'a> {
    pub(crate) fn new(texts: Option<&'a HashMap<String, String>>) -> Self {
        Self { texts, left: ATTACHED }
    }

    /// The text itself, or what it refers to.
    fn resolve(&mut self, text: &str) -> String {
        let found = text.strip_prefix(PROTOCOL).and_then(|name| self.texts?.get(name));
        match found {
            Some(found) if found.len() <= self.left => {
                self.left -= found.len();
                found.clone()
            }
            _ => text.to_owned(),
        }
    }

    /// Text and reasoning. Pictures and the like become a word in brackets.
    pub(crate) fn content(&mut self, content: &Content) -> (String, String) {
        let parts = match content {
            Content::Text(text) => return (self.resolve(text), String::new()),
            Content::Parts(parts) => parts,
        };
        let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
        for Part { kind, text, reasoning } in parts {
            match (kind.as_str(), text, reasoning) {
                ("reasoning", _, Some(reasoning)) => thoughts.push(self.resolve(reasoning)),
                (_, Some(text), _) => texts.push(self.resolve(text)),
                (kind, None, _) => texts.push(format!("({kind})")),
            }
        }
        (texts.join("\n"), thoughts.join("\n"))
    }

    /// A message, without what only Inspect keeps of it.
    pub(crate) fn message(&mut self, message: &ChatMessage) -> Message {
        let (content, thinking) = self.content(&message.content);
        let calls = message.tool_calls.iter().flatten().map(|call| ToolCall {
            id: call.id.clone(),
            name: call.function.clone(),
            arguments: arguments(call),
        });
        let is_tool = message.role == Role::Tool;
        // A tool that failed may have said so only in its error.
        let failure = message.error.as_ref().and_then(|error| error.message.clone());
        let content = if content.is_empty() && is_tool { failure.unwrap_or_default() } else { content };
        Message {
            role: message.role,
            content,
            thinking: (!thinking.is_empty()).then_some(thinking),
            tool_calls: calls.collect(),
            tool_name: message.function.clone().filter(|_| is_tool),
            tool_call_id: message.tool_call_id.as_ref().and_then(Value::as_str).filter(|_| is_tool).map(str::to_owned),
        }
    }
}

fn arguments(call: &Call) -> Map<String, Value> {
    call.arguments.as_object().cloned().unwrap_or_default()
}

/// A call as the structured channel brought it.
pub(crate) fn structured(call: &Call) -> StructuredCall {
    StructuredCall {
        id: call.id.clone(),
        name: call.function.clone(),
        arguments: if call.arguments.is_null() { Value::Object(Map::new()) } else { call.arguments.clone() },
        repaired: None,
    }
}

/// A call as it was understood.
pub(crate) fn parsed(call: &Call) -> ParsedCall {
    ParsedCall {
        name: call.function.clone(),
        arguments: arguments(call),
        recovered: false,
        shape: "structured".to_owned(),
        notes: call.parse_error.iter().map(|error| format!("parse error: {error}")).collect(),
    }
}

/// A tool as a request offered it; `None` for what is not one.
pub(crate) fn tool(value: &Value) -> Option<ToolDefinition> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let tool = ToolDefinition::new(text("name")?, text("description").unwrap_or_default());
    let whole = value.pointer("/options/schema").or_else(|| value.get("parameters"));
    Some(match whole {
        Some(schema) if schema.is_object() => tool.with_parameters(schema.clone()),
        _ => tool,
    })
}

/// Token counts; the prompt's include what came from a cache.
pub(crate) fn usage(counts: &UsageCounts) -> Usage {
    let cached = counts.input_tokens_cache_read.unwrap_or(0);
    let prompt = counts.input_tokens.saturating_add(cached);
    let prompt = prompt.saturating_add(counts.input_tokens_cache_write.unwrap_or(0));
    Usage {
        prompt_tokens: Some(prompt),
        cached_tokens: counts.input_tokens_cache_read,
        completion_tokens: Some(counts.output_tokens),
    }
}

/// Why an answer ended.
pub(crate) fn finish(reason: &str) -> FinishReason {
    match reason {
        "stop" => FinishReason::Stop,
        "max_tokens" | "model_length" | "length" => FinishReason::Length,
        "tool_calls" => FinishReason::ToolCalls,
        _ => FinishReason::Other,
    }
}

/// Sampling as far as the log tells, and the names of what it does not.
pub(crate) fn sampling(config: &Config) -> (SamplingOptions, Option<ThinkLevel>, Vec<String>) {
    let think = config.reasoning_effort.as_deref().and_then(|effort| match effort {
        "low" => Some(ThinkLevel::Low),
        "medium" => Some(ThinkLevel::Medium),
        "high" => Some(ThinkLevel::High),
        _ => None,
    });
    let options = SamplingOptions {
        temperature: config.temperature.unwrap_or(0.0),
        top_k: config.top_k.unwrap_or(0),
        top_p: config.top_p.unwrap_or(1.0),
        min_p: 0.0,
        seed: 0,
        max_tokens: config.max_tokens.unwrap_or(0),
        context: None,
        stop: config.stop_seqs.clone().unwrap_or_default(),
    };
    let known = [
        ("temperature", config.temperature.is_some()),
        ("top_k", config.top_k.is_some()),
        ("top_p", config.top_p.is_some()),
        ("min_p", false),
        ("max_tokens", config.max_tokens.is_some()),
        ("seed", config.seed.is_some()),
    ];
    let unknown = known.into_iter().filter(|(_, is_known)| !is_known).map(|(name, _)| name.to_owned()).collect();
    (options, think, unknown)
}
