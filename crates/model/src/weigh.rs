//! Weighing the prompt (K8): did the server read all of it?
//!
//! Servers that drop part of a prompt without a word betray themselves only by the number of
//! prompt tokens they report. [`Weight::floor`] is a number that no honest report can be below:
//! every common tokenizer splits at white space before it merges, so each word costs a token at
//! least. [`Weight::estimate`] is what the prompt more likely costs, for messages and for the
//! question whether a closer look is worth a request.

use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;
use tenpass_trace::Role;

use crate::{Capabilities, ChatRequest, ModelError};

/// Two counts of the prompt of one request, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// The prompt has at least this many.
    pub floor: u64,
    /// It probably has about this many.
    pub estimate: u64,
}

impl Weight {
    /// Weighs a request for a model with these capabilities.
    pub fn of(request: &ChatRequest, capabilities: &Capabilities) -> Self {
        let mut words = 0;
        let mut bytes = 0;
        for message in &request.messages {
            // Templates strip reasoning out of what the model said, and one without tools may
            // leave out what tools said.
            let is_kept = match message.role {
                Role::System | Role::User => true,
                Role::Tool => capabilities.tools,
                Role::Assistant => false,
            };
            if is_kept {
                words += message.content.split_whitespace().count() as u64;
            }
            bytes += message.content.len() as u64;
        }
        for tool in &request.tools {
            // Templates may leave out the descriptions of parameters, never that of the tool.
            if capabilities.tools {
                words += tool.description.split_whitespace().count() as u64;
            }
            bytes += (tool.name.len() + tool.description.len() + tool.parameters.to_string().len()) as u64;
        }
        Self { floor: words, estimate: (bytes / 4).max(words + words / 3) }
    }

    /// The overflow error for a context of `context` tokens that did not hold the prompt.
    pub(crate) fn overflow(self, context: Option<u64>) -> ModelError {
        let context = context.unwrap_or(0);
        ModelError::Overflow { prompt_tokens: self.estimate.max(context + 1), context }
    }

    /// The overflow error for a server that read only `reported` tokens.
    pub fn truncated(self, reported: u64) -> ModelError {
        ModelError::Overflow { prompt_tokens: self.floor.max(self.estimate).max(reported + 1), context: reported }
    }
}

/// The overflow error in a server's refusal: `None` when it is about something else. `known` is
/// the context length, when it is known without the server's words.
pub(crate) fn refused(message: &str, body: Option<&Value>, weight: Weight, known: Option<u64>) -> Option<ModelError> {
    let error = body.map(|body| body.get("error").unwrap_or(body));
    let field = |name: &str| error.and_then(|error| error.get(name));
    let number = |name: &str| field(name).and_then(Value::as_u64);
    // llama.cpp names both in fields of their own.
    if let (Some(prompt_tokens), Some(context)) = (number("n_prompt_tokens"), number("n_ctx")) {
        return Some(ModelError::Overflow { prompt_tokens, context });
    }
    let code = |name: &str| field(name).and_then(Value::as_str).unwrap_or_default();
    let coded = code("code") == "context_length_exceeded" || code("type") == "exceed_context_size_error";
    if !coded && !speaks_of_overflow(message) {
        return None;
    }
    Some(numbers(message, known).map_or_else(
        || weight.overflow(known),
        |(prompt_tokens, context)| ModelError::Overflow { prompt_tokens, context },
    ))
}

fn speaks_of_overflow(message: &str) -> bool {
    let text = message.to_lowercase();
    let context = [
        "context length",
        "context size",
        "context window",
        "context limit",
        "num_ctx",
        "exceeds context",
        "max context",
    ];
    let excess = ["exceed", "too long", "too large", "greater than", "larger than", "maximum", "longer than"];
    let about = |words: &[&str]| words.iter().any(|word| text.contains(word));
    (about(&context) && about(&excess)) || text.contains("prompt is too long") || text.contains("prompt too long")
}

/// Prompt and context size out of a sentence: "maximum context length is 4096 tokens. However,
/// you requested 5000 tokens (…)", "5000 tokens exceed the context of 4096".
fn numbers(message: &str, known: Option<u64>) -> Option<(u64, u64)> {
    static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\d+").ok());
    static LIMIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)(?:context (?:length|size|window|limit)(?: is| of)?|num_ctx|n_ctx)\D{0,12}?(\d+)").ok()
    });
    let all: Vec<u64> = NUMBER.as_ref()?.find_iter(message).filter_map(|found| found.as_str().parse().ok()).collect();
    let limit = LIMIT.as_ref()?.captures(message).and_then(|found| found.get(1)?.as_str().parse::<u64>().ok());
    let prompt = all.iter().copied().max()?;
    let context = limit.or(known).or_else(|| all.iter().copied().filter(|number| *number < prompt).max())?;
    (prompt > context).then_some((prompt, context))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tenpass_trace::{Message, ToolDefinition};

    const WEIGHT: Weight = Weight { floor: 10, estimate: 12 };

    #[test]
    fn every_word_costs_a_token_at_least() {
        let capabilities = Capabilities { tools: true, thinking: false, structured_output: true, declared_shape: None };
        let request = ChatRequest {
            messages: vec![
                Message::system("Be  short.\nAlways."),
                Message::user("Turn on the lamp"),
                Message::tool("lamp", "is on"),
            ],
            tools: vec![ToolDefinition::new("lamp", "Switches a lamp")],
            ..ChatRequest::default()
        };
        assert_eq!(Weight::of(&request, &capabilities).floor, 3 + 4 + 2 + 3);
        let toolless = Capabilities { tools: false, ..capabilities };
        assert_eq!(Weight::of(&request, &toolless).floor, 3 + 4);
    }

    #[test]
    fn both_numbers_are_found_in_every_servers_words() {
        let llama = json!({"error": {"code": 400, "message": "request (9031 tokens) exceeds the available context size (4096 tokens), try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 9031, "n_ctx": 4096}});
        let overflow = |prompt_tokens, context| Some(ModelError::Overflow { prompt_tokens, context });
        assert_eq!(refused("x", Some(&llama), WEIGHT, None), overflow(9031, 4096));
        for (message, expected) in [
            (
                "request (9031 tokens) exceeds the available context size (4096 tokens), try increasing it",
                overflow(9031, 4096),
            ),
            (
                "This model's maximum context length is 4097 tokens. However, your messages resulted in 5000 tokens.",
                overflow(5000, 4097),
            ),
            (
                "This model's maximum context length is 2048 tokens. However, you requested 3000 tokens (2900 in the messages, 100 in the completion).",
                overflow(3000, 2048),
            ),
            ("prompt is too long: 210000 tokens > 200000 maximum", overflow(210_000, 200_000)),
            ("the input length exceeds the context length", overflow(12, 0)),
            ("model 'x' not found", None),
            ("context canceled", None),
        ] {
            assert_eq!(refused(message, None, WEIGHT, None), expected, "{message}");
        }
        assert_eq!(
            refused("the input length exceeds the context length", None, WEIGHT, Some(4096)),
            overflow(4097, 4096)
        );
    }
}
