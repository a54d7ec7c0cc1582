//! OpenAI-compatible `/chat/completions`: chunks in server-sent events, or one JSON document.

use serde_json::Value;

use super::assemble::{Assembler, Fragment};
use super::sse::{Sse, SseEvent};
use super::{Decode, Fault, MAX_BODY_BYTES, json, server_error};
use crate::{ChatEvent, Completion, FinishReason, Timings, Usage};

/// Which kind of body it is; told by its first byte, because some servers ignore `stream`.
#[derive(Debug)]
enum Body {
    Unknown,
    Events(Sse),
    Document(Vec<u8>),
}

/// Decodes one answer. While the fragments of a call arrive it gives out empty `Text` events, so
/// that time to first token and idle limits see progress; the calls themselves come whole, at the
/// end, because some servers correct them until then.
#[derive(Debug)]
pub struct OpenAiDecoder {
    body: Body,
    calls: Assembler,
    finish: Option<FinishReason>,
    usage: Usage,
    timings: Timings,
    done: bool,
}

impl Default for OpenAiDecoder {
    fn default() -> Self {
        Self {
            body: Body::Unknown,
            calls: Assembler::default(),
            finish: None,
            usage: Usage::default(),
            timings: Timings::default(),
            done: false,
        }
    }
}

impl Decode for OpenAiDecoder {
    fn feed(&mut self, bytes: &[u8], events: &mut Vec<ChatEvent>) -> Result<(), Fault> {
        if matches!(self.body, Body::Unknown) {
            match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return Ok(()),
                Some(b'{') => self.body = Body::Document(Vec::new()),
                Some(_) => self.body = Body::Events(Sse::new()),
            }
        }
        match &mut self.body {
            Body::Document(document) => {
                document.extend_from_slice(bytes);
                if document.len() > MAX_BODY_BYTES {
                    return Err(Fault::Protocol(format!("a response longer than {MAX_BODY_BYTES} bytes")));
                }
                Ok(())
            }
            Body::Events(sse) => {
                sse.push(bytes);
                self.drain(events)
            }
            Body::Unknown => Ok(()),
        }
    }

    fn end(&mut self, events: &mut Vec<ChatEvent>) -> Result<(), Fault> {
        if self.done {
            return Ok(());
        }
        match &mut self.body {
            Body::Unknown => return Err(Fault::Protocol("an empty response".to_owned())),
            Body::Document(document) => {
                let document = std::mem::take(document);
                self.document(&document, events)?;
            }
            Body::Events(sse) => {
                if let Some(event) = sse.end()? {
                    // Half a document is what a stream that was cut leaves behind.
                    if matches!(&event, SseEvent::Data(data) if data.starts_with('{') && json(data).is_err()) {
                        return Err(Fault::Truncated);
                    }
                    self.event(event, events)?;
                }
            }
        }
        if !self.done {
            // A server that leaves out `[DONE]` has still said why the answer ended.
            self.finish.ok_or(Fault::Truncated)?;
            self.conclude(events);
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

impl OpenAiDecoder {
    fn drain(&mut self, events: &mut Vec<ChatEvent>) -> Result<(), Fault> {
        while !self.done {
            let Body::Events(sse) = &mut self.body else { break };
            match sse.next_event()? {
                Some(event) => self.event(event, events)?,
                None => break,
            }
        }
        Ok(())
    }

    fn event(&mut self, event: SseEvent, events: &mut Vec<ChatEvent>) -> Result<(), Fault> {
        match event {
            SseEvent::Data(data) if data.trim() == "[DONE]" => {
                self.finish.get_or_insert(FinishReason::Other);
                self.conclude(events);
                Ok(())
            }
            SseEvent::Data(data) if data.trim().is_empty() => Ok(()),
            SseEvent::Data(data) => {
                let document = json(&data)?;
                self.chunk(&document, events)
            }
            SseEvent::Error(data) => {
                let body = serde_json::from_str(&data).unwrap_or_else(|_| Value::String(data));
                // Wrapped, unless it is a document that already has the field.
                let body = if body.get("error").is_some() { body } else { serde_json::json!({ "error": body }) };
                self.chunk(&body, events)
            }
        }
    }

    fn document(&mut self, bytes: &[u8], events: &mut Vec<ChatEvent>) -> Result<(), Fault> {
        let document: Value = serde_json::from_slice(bytes).map_err(|error| {
            if error.is_eof() {
                Fault::Truncated
            } else {
                Fault::Protocol(crate::http::describe_not_json(&String::from_utf8_lossy(bytes)))
            }
        })?;
        self.chunk(&document, events)
    }

    fn chunk(&mut self, document: &Value, events: &mut Vec<ChatEvent>) -> Result<(), Fault> {
        if let Some(fault) = server_error(document) {
            return self.error(fault, events);
        }
        let choices = document.get("choices").and_then(Value::as_array);
        if choices.is_none() && document.get("usage").is_none() {
            return Err(Fault::Protocol("a JSON document that is no chat completion".to_owned()));
        }
        self.counts(document);
        let Some(choice) = choices.and_then(|choices| choices.first()) else { return Ok(()) };
        if let Some(delta) = choice.get("delta").filter(|delta| delta.is_object()) {
            Self::content(delta, events);
            self.fragments(delta, events);
        } else if let Some(message) = choice.get("message") {
            Self::content(message, events);
            self.whole_calls(message);
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(match reason {
                "stop" | "eos" | "end_turn" => FinishReason::Stop,
                "length" | "max_tokens" => FinishReason::Length,
                "tool_calls" | "function_call" => FinishReason::ToolCalls,
                _ => FinishReason::Other,
            });
        }
        Ok(())
    }

    /// llama.cpp refuses an answer that its own call parser cannot read. That answer is the
    /// model's, wrong as it may be, and not a fault of the server: its text is given out.
    fn error(&mut self, fault: Fault, events: &mut Vec<ChatEvent>) -> Result<(), Fault> {
        let Fault::Server { message, .. } = &fault else { return Err(fault) };
        let Some(text) = unparsed_output(message) else { return Err(fault) };
        events.push(ChatEvent::Text(text.to_owned()));
        self.finish = Some(FinishReason::Other);
        self.conclude(events);
        Ok(())
    }

    fn content(delta: &Value, events: &mut Vec<ChatEvent>) {
        let reasoning = ["reasoning_content", "reasoning", "thinking"]
            .iter()
            .find_map(|field| delta.get(field).and_then(Value::as_str).filter(|text| !text.is_empty()));
        if let Some(reasoning) = reasoning {
            events.push(ChatEvent::Thinking(reasoning.to_owned()));
        }
        match delta.get("content") {
            Some(Value::String(text)) if !text.is_empty() => events.push(ChatEvent::Text(text.clone())),
            Some(Value::Array(parts)) => {
                let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
                events.extend(texts.filter(|text| !text.is_empty()).map(|text| ChatEvent::Text(text.to_owned())));
            }
            _ => {}
        }
        if let Some(refusal) = delta.get("refusal").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            events.push(ChatEvent::Text(refusal.to_owned()));
        }
    }

    fn fragments(&mut self, delta: &Value, events: &mut Vec<ChatEvent>) {
        let calls = delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        for call in calls.chain(delta.get("function_call").filter(|call| call.is_object())) {
            self.calls.push(Fragment::read(call));
            events.push(ChatEvent::Text(String::new()));
        }
    }

    /// Calls of a blocking response are whole; their place is their index.
    fn whole_calls(&mut self, message: &Value) {
        let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        for (index, call) in calls.chain(message.get("function_call").filter(|call| call.is_object())).enumerate() {
            self.calls.push(Fragment { index: Some(index as u64), ..Fragment::read(call) });
        }
    }

    fn counts(&mut self, document: &Value) {
        let usage = document.get("usage").filter(|usage| usage.is_object());
        if let Some(usage) = usage {
            let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
            self.usage.prompt_tokens = count("/prompt_tokens").or(self.usage.prompt_tokens);
            self.usage.completion_tokens = count("/completion_tokens").or(self.usage.completion_tokens);
            self.usage.cached_tokens = count("/prompt_tokens_details/cached_tokens").or(self.usage.cached_tokens);
        }
        if let Some(timings) = document.get("timings") {
            let number = |field: &str| timings.get(field).and_then(Value::as_f64);
            let count = |field: &str| timings.get(field).and_then(Value::as_u64);
            self.timings.prompt_ms = number("prompt_ms").or(self.timings.prompt_ms);
            self.timings.decode_ms = number("predicted_ms").or(self.timings.decode_ms);
            if usage.is_none() {
                let prompt = count("prompt_n").map(|new| new + count("cache_n").unwrap_or(0));
                self.usage.prompt_tokens = self.usage.prompt_tokens.or(prompt);
                self.usage.cached_tokens = self.usage.cached_tokens.or(count("cache_n"));
                self.usage.completion_tokens = self.usage.completion_tokens.or(count("predicted_n"));
            }
        }
    }

    fn conclude(&mut self, events: &mut Vec<ChatEvent>) {
        let has_calls = !self.calls.is_empty();
        events.extend(self.calls.finish().into_iter().map(ChatEvent::ToolCall));
        let finish = match self.finish.unwrap_or(FinishReason::Other) {
            FinishReason::Stop if has_calls => FinishReason::ToolCalls,
            finish => finish,
        };
        self.done = true;
        events.push(ChatEvent::Done(Completion { finish, usage: self.usage, timings: self.timings, endpoint: None }));
    }
}

/// The answer inside llama.cpp's complaint that it could not parse it.
pub(crate) fn unparsed_output(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("Failed to parse input at pos ")?;
    let (position, text) = rest.split_once(':')?;
    position.parse::<u64>().ok()?;
    Some(text.strip_prefix(' ').unwrap_or(text))
}

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;
