//! The middle of a long turn becomes a summary (R5), by the model itself under a schema, with one
//! retry without it (K10), else by a plain cut.

use serde_json::{Value, json};
use tenpass_model::calls::{self, ParseInput};
use tenpass_model::{ChatRequest, SamplingOptions};
use tenpass_trace::{Message, RetryReason, Role, TraceEvent};

use super::conversation::Middle;
use super::guard;
use super::machine::{Due, Turn};
use super::setup::JUDGE_TEMPERATURE;
use super::wording;
use super::{Ask, Generation, Purpose};
use crate::interaction::AgentEvent;
use crate::untrusted;

/// Two or three sentences.
const SUMMARY_CHARS: usize = 1_000;
const SUMMARY_TOKENS: u32 = 256;
/// Characters of one message, and of all of them, in the log that is summarised.
const LOG_MESSAGE_CHARS: usize = 1_500;
const LOG_CHARS: usize = 16_000;

impl Turn {
    /// Makes the request for a summary due after every so many calls; false when there is nothing
    /// to summarise.
    pub(super) fn compress_if_due(&mut self) -> bool {
        let limits = self.setup.limits;
        if limits.compress_after_calls == 0 || self.since_compression < limits.compress_after_calls {
            return false;
        }
        let Some(middle) = self.conversation.middle(limits.keep_last) else { return false };
        self.since_compression = 0;
        let purpose =
            if self.setup.info.capabilities.structured_output { Purpose::Compress } else { Purpose::CompressPlain };
        self.ask_for_summary(&middle, purpose);
        self.middle = Some(middle);
        true
    }

    fn ask_for_summary(&mut self, middle: &Middle, purpose: Purpose) {
        let request = ChatRequest {
            messages: vec![Message::system(wording::SUMMARISE), Message::user(log(&middle.messages))],
            format: (purpose == Purpose::Compress).then(schema),
            options: SamplingOptions {
                temperature: JUDGE_TEMPERATURE,
                max_tokens: SUMMARY_TOKENS,
                ..self.setup.options.clone()
            },
            ..ChatRequest::default()
        };
        self.due = Due::Ask(Box::new(Ask { request, offered: Vec::new(), declared_shape: None, purpose }));
    }

    /// The model answered a request for a summary.
    pub(super) fn summarised(&mut self, purpose: Purpose, generation: &Generation) {
        let summary = if purpose == Purpose::Compress { constrained(generation) } else { plain(generation) };
        match (summary, purpose, self.middle.take()) {
            (Some(summary), _, Some(middle)) => self.replace_middle(&middle, &summary, true),
            (None, Purpose::Compress, Some(middle)) => {
                self.records.push(TraceEvent::Retry { reason: RetryReason::Unconstrained });
                self.events.push(AgentEvent::Note(wording::retry_note(RetryReason::Unconstrained).to_owned()));
                self.ask_for_summary(&middle, Purpose::CompressPlain);
                self.middle = Some(middle);
            }
            (_, _, middle) => {
                self.middle = middle;
                self.not_summarised();
            }
        }
    }

    /// There is no summary: the middle is cut, and the model is told.
    pub(super) fn not_summarised(&mut self) {
        match self.middle.take() {
            Some(middle) => self.replace_middle(&middle, &wording::truncated(middle.messages.len()), false),
            None => self.ask_loop(),
        }
    }

    fn replace_middle(&mut self, middle: &Middle, summary: &str, is_summarised: bool) {
        let (text, _) = untrusted::strip_markers(summary);
        let text = guard::first_chars(&guard::mask(text.trim()), SUMMARY_CHARS);
        // A summary of what came from outside is still from outside.
        let text = if self.tainted && is_summarised { untrusted::delimit("summary", &text) } else { text };
        self.conversation.compress(middle, &wording::block("summary", &text));
        self.records.push(TraceEvent::Compression { messages: middle.messages.len(), summarised: is_summarised });
        self.events.push(AgentEvent::Note(format!("{} earlier messages summarised", middle.messages.len())));
        self.ask_loop();
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "summary": { "type": "string" } },
        "required": ["summary"],
        "additionalProperties": false
    })
}

fn constrained(generation: &Generation) -> Option<String> {
    let value: Value = serde_json::from_str(generation.text.trim()).ok()?;
    let summary = value.get("summary")?.as_str()?.trim();
    (!summary.is_empty()).then(|| summary.to_owned())
}

fn plain(generation: &Generation) -> Option<String> {
    let parsed = calls::parse(&ParseInput {
        text: &generation.text,
        thinking: "",
        structured: &[],
        tools: &[],
        declared: None,
        finish: generation.finish,
    });
    (!parsed.text.trim().is_empty()).then(|| parsed.text.trim().to_owned())
}

/// The messages as a log, secrets masked; of a long one the start goes first.
fn log(messages: &[Message]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut left = LOG_CHARS;
    for message in messages.iter().rev() {
        let line = guard::first_chars(&line(message), LOG_MESSAGE_CHARS.min(left));
        left = left.saturating_sub(line.chars().count());
        lines.push(line);
        if left == 0 {
            break;
        }
    }
    lines.reverse();
    guard::mask(&lines.join("\n"))
}

fn line(message: &Message) -> String {
    match message.role {
        Role::Tool => format!("result of {}: {}", message.tool_name.as_deref().unwrap_or("a tool"), message.content),
        Role::Assistant => {
            let calls: Vec<String> = message
                .tool_calls
                .iter()
                .map(|call| format!("called {} {}", call.name, Value::Object(call.arguments.clone())))
                .collect();
            format!("assistant: {} {}", message.content, calls.join("; "))
        }
        Role::User | Role::System => format!("user: {}", message.content),
    }
}
