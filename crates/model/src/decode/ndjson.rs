//! Ollama's `/api/chat` response: one JSON object a line, the counts on the last.

use serde_json::Value;

use super::lines::Lines;
use super::{Decode, Fault, MAX_BODY_BYTES, json, server_error};
use crate::{ChatEvent, Completion, FinishReason, StructuredCall, Timings, Usage};

/// Decodes one answer; a blocking response is a single line of the same shape.
#[derive(Debug)]
pub struct OllamaDecoder {
    lines: Lines,
    has_calls: bool,
    done: bool,
}

impl Default for OllamaDecoder {
    fn default() -> Self {
        Self { lines: Lines::new(MAX_BODY_BYTES), has_calls: false, done: false }
    }
}

impl Decode for OllamaDecoder {
    fn feed(&mut self, bytes: &[u8], events: &mut Vec<ChatEvent>) -> Result<(), Fault> {
        if self.done {
            return Ok(());
        }
        self.lines.push(bytes);
        // What follows the last line is nobody's business, not even when it is garbage.
        while !self.done {
            let Some(line) = self.lines.next_line()? else { break };
            self.line(&line, events)?;
        }
        Ok(())
    }

    fn end(&mut self, events: &mut Vec<ChatEvent>) -> Result<(), Fault> {
        if self.done {
            return Ok(());
        }
        let rest = self.lines.rest()?;
        if !rest.trim().is_empty() {
            // Half a line at the end is a stream that was cut, not another protocol.
            if rest.trim_start().starts_with('{') && serde_json::from_str::<Value>(&rest).is_err() {
                return Err(Fault::Truncated);
            }
            self.line(&rest, events)?;
        }
        if self.done { Ok(()) } else { Err(Fault::Truncated) }
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

impl OllamaDecoder {
    fn line(&mut self, line: &str, events: &mut Vec<ChatEvent>) -> Result<(), Fault> {
        if self.done || line.trim().is_empty() {
            return Ok(());
        }
        let document = json(line)?;
        if let Some(fault) = server_error(&document) {
            return Err(fault);
        }
        if let Some(message) = document.get("message") {
            self.message(message, events);
        } else if document.get("done").is_none() {
            return Err(Fault::Protocol("a JSON line that is no chat response".to_owned()));
        }
        if document.get("done").and_then(Value::as_bool) == Some(true) {
            self.done = true;
            events.push(ChatEvent::Done(completion(&document, self.has_calls)));
        }
        Ok(())
    }

    fn message(&mut self, message: &Value, events: &mut Vec<ChatEvent>) {
        let text = |field: &str| message.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(thinking) = text("thinking") {
            events.push(ChatEvent::Thinking(thinking.to_owned()));
        }
        if let Some(content) = text("content") {
            events.push(ChatEvent::Text(content.to_owned()));
        }
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.has_calls = true;
            events.push(ChatEvent::ToolCall(whole_call(call)));
        }
    }
}

/// A call that arrived in one piece.
fn whole_call(call: &Value) -> StructuredCall {
    let function = call.get("function").unwrap_or(call);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    StructuredCall {
        id: text(call.get("id")).filter(|id| !id.is_empty()),
        name: text(function.get("name")).unwrap_or_default(),
        arguments: super::assemble::decoded(function.get("arguments").cloned().unwrap_or_default()),
        repaired: None,
    }
}

fn completion(document: &Value, has_calls: bool) -> Completion {
    let count = |field: &str| document.get(field).and_then(Value::as_u64);
    let milliseconds = |field: &str| count(field).map(|nanoseconds| nanoseconds as f64 / 1e6);
    let finish = match document.get("done_reason").and_then(Value::as_str) {
        Some("length") => FinishReason::Length,
        Some("stop") | None if has_calls => FinishReason::ToolCalls,
        Some("tool_calls") => FinishReason::ToolCalls,
        Some("stop") | None => FinishReason::Stop,
        Some(_) => FinishReason::Other,
    };
    Completion {
        finish,
        usage: Usage {
            prompt_tokens: count("prompt_eval_count"),
            cached_tokens: None,
            completion_tokens: count("eval_count"),
        },
        timings: Timings {
            load_ms: milliseconds("load_duration"),
            prompt_ms: milliseconds("prompt_eval_duration"),
            decode_ms: milliseconds("eval_duration"),
        },
        endpoint: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::{any_cut, run};
    use super::*;
    use serde_json::json;

    const ANSWER: &str = concat!(
        r#"{"model":"gemma4:12b","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","thinking":"Où? "},"done":false}"#,
        "\n",
        r#"{"model":"gemma4:12b","message":{"role":"assistant","content":"Très "},"done":false}"#,
        "\r\n",
        r#"{"model":"gemma4:12b","message":{"role":"assistant","content":"bien 😀"},"done":false}"#,
        "\n\n",
        r#"{"model":"gemma4:12b","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":{"index":0,"name":"lamp","arguments":{"on":true}}},{"function":{"name":"door","arguments":"{\"open\":1}"}}]},"done":false}"#,
        "\n",
        r#"{"model":"gemma4:12b","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":9,"load_duration":2000000,"prompt_eval_count":26,"prompt_eval_duration":3500000,"eval_count":11,"eval_duration":8000000}"#,
    );

    #[test]
    fn any_chunk_boundary_gives_the_same_events() {
        let events = any_cut(OllamaDecoder::default, ANSWER.as_bytes());
        let [
            ChatEvent::Thinking(thinking),
            ChatEvent::Text(text),
            ChatEvent::ToolCall(lamp),
            ChatEvent::ToolCall(door),
            ChatEvent::Done(done),
        ] = events.as_slice()
        else {
            panic!("{events:?}")
        };
        assert_eq!((thinking.as_str(), text.as_str()), ("Où? ", "Très bien 😀"));
        assert_eq!((lamp.id.as_deref(), &lamp.arguments), (Some("call_1"), &json!({"on": true})));
        assert_eq!((door.name.as_str(), &door.arguments), ("door", &json!({"open": 1})));
        assert_eq!(done.finish, FinishReason::ToolCalls);
        assert_eq!((done.usage.prompt_tokens, done.usage.completion_tokens), (Some(26), Some(11)));
        assert_eq!(
            (done.timings.load_ms, done.timings.prompt_ms, done.timings.decode_ms),
            (Some(2.0), Some(3.5), Some(8.0))
        );
    }

    #[test]
    fn faults_are_told_apart_and_keep_what_came_before() {
        let first = r#"{"message":{"role":"assistant","content":"He"},"done":false}"#;
        for (tail, expected) in [
            ("", Fault::Truncated),
            ("\n{\"message\":{\"content\":\"l", Fault::Truncated),
            ("\n{\"mess\n", Fault::Protocol("text that is not JSON: `{\"mess`".into())),
            ("\n<html>", Fault::Protocol("an HTML page instead of JSON".into())),
            ("\n{\"status\":\"pulling\"}\n", Fault::Protocol("a JSON line that is no chat response".into())),
        ] {
            let bytes = format!("{first}{tail}");
            let (events, fault) = run(OllamaDecoder::default(), &[bytes.as_bytes()]).unwrap_err();
            assert_eq!(events, [ChatEvent::Text("He".into())], "{tail}");
            assert_eq!(fault, expected, "{tail}");
        }
        let error = format!("{first}\n{{\"error\":\"llama runner process has terminated\"}}\n");
        let (_, fault) = run(OllamaDecoder::default(), &[error.as_bytes()]).unwrap_err();
        assert!(matches!(fault, Fault::Server { message, .. } if message.contains("terminated")));
    }

    #[test]
    fn nothing_counts_after_the_end() {
        let mut bytes = format!("{ANSWER}\n{ANSWER}\n").into_bytes();
        bytes.extend(b"\xff\n");
        let events = run(OllamaDecoder::default(), &[&bytes]).unwrap();
        assert_eq!(events.iter().filter(|event| matches!(event, ChatEvent::Done(_))).count(), 1);
        assert!(matches!(events.last(), Some(ChatEvent::Done(_))));
    }
}
