//! Summaries of samples: what the list of a log shows without opening any sample.
//!
//! Inspect thins a summary whenever it reads one, so what is written here only has to be at least as much as
//! it keeps: texts of 8 × 1,024 characters, inputs of 5,120, and no other value above 1 kB.

use serde_json::{Map, Value};

use super::shape::Members;

const INPUT: usize = 5120;
const TEXT: usize = 8 * 1024;
const VALUE: usize = 1024;
/// What Inspect puts in the place of a large value.
const REMOVED: &str = "Key removed from summary (> 1k)";
const CUT: &str = "...\n(content truncated)";

/// The summary of a sample with so many messages and repeated attempts.
pub(crate) fn summary(sample: &Value, messages: usize, retries: usize) -> Value {
    let mut summary = Members::default();
    let copy = |name: &str| sample.get(name).filter(|value| !value.is_null()).cloned();
    summary.maybe("id", copy("id"));
    summary.maybe("epoch", copy("epoch"));
    summary.maybe("input", sample.get("input").map(input));
    summary.maybe("target", sample.get("target").map(target));
    summary.maybe("metadata", sample.get("metadata").map(members));
    summary.maybe("scores", sample.get("scores").and_then(Value::as_object).map(scores));
    for name in ["model_usage", "role_usage", "started_at", "completed_at", "total_time", "working_time", "uuid"] {
        summary.maybe(name, copy(name));
    }
    let text = |place: &str| sample.pointer(place).and_then(Value::as_str).map(str::to_owned);
    summary.maybe("error", text("/error/message"));
    summary.maybe("limit", text("/limit/type"));
    summary.maybe("limit_reason", text("/limit/reason"));
    summary.put("retries", retries);
    summary.put("completed", true);
    summary.put("message_count", messages);
    summary.maybe("turn_count", copy("turn_count"));
    summary.take()
}

fn cut(text: &str, limit: usize) -> &str {
    text.char_indices().nth(limit).map_or(text, |(end, _)| &text[..end])
}

/// The marker that Inspect puts, so that what it reads is what it would have made.
fn marked(text: &str) -> String {
    let kept = cut(text, INPUT);
    if kept.len() == text.len() { text.to_owned() } else { format!("{kept}{CUT}") }
}

fn input(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(marked(text)),
        Value::Array(messages) => messages.iter().map(message).collect(),
        other => other.clone(),
    }
}

fn message(message: &Value) -> Value {
    let mut message = message.clone();
    match message.get_mut("content") {
        Some(Value::String(text)) => *text = marked(text),
        Some(Value::Array(parts)) => {
            for part in parts {
                match part.get_mut("text") {
                    Some(Value::String(text)) => *text = marked(text),
                    _ => *part = serde_json::json!({ "type": "text", "text": "(Reasoning)" }),
                }
            }
        }
        _ => {}
    }
    message
}

fn target(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(marked(text)),
        Value::Array(texts) => texts.iter().map(target).collect(),
        other => other.clone(),
    }
}

fn members(value: &Value) -> Value {
    let thinned = value.as_object().into_iter().flatten().map(|(name, value)| {
        let value = match value {
            Value::String(text) => Value::from(cut(text, TEXT)),
            Value::Array(_) | Value::Object(_) if value.to_string().chars().count() > VALUE => Value::from(REMOVED),
            other => other.clone(),
        };
        (name.clone(), value)
    });
    Value::Object(thinned.collect())
}

fn scores(scores: &Map<String, Value>) -> Value {
    let thinned = scores.iter().map(|(name, score)| {
        let mut score = score.clone();
        for text in ["answer", "explanation", "reason"] {
            if let Some(Value::String(text)) = score.get_mut(text) {
                *text = cut(text, TEXT).to_owned();
            }
        }
        if let Some(metadata) = score.get("metadata").map(members) {
            score["metadata"] = metadata;
        }
        (name.clone(), score)
    });
    Value::Object(thinned.collect())
}
