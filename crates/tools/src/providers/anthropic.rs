//! Anthropic's Messages API, streamed
//! (<https://platform.claude.com/docs/en/build-with-claude/streaming>).

use serde_json::{Value, json};
use tenpass_model::decode::{Sse, SseEvent};

use super::answer::{Finished, Reader, StreamFault, TokenUsage, push};
use super::message::Exchange;

/// The version of the wire format that is spoken.
pub(super) const VERSION: &str = "2023-06-01";

/// The body of a request.
pub(super) fn body(model: &str, max_tokens: u32, exchange: &Exchange) -> Value {
    let mut body = json!({ "model": model, "max_tokens": max_tokens, "stream": true, "messages": exchange.wire() });
    if !exchange.system.is_empty() {
        body["system"] = exchange.system.clone().into();
    }
    body
}

/// Events: `message_start`, then blocks of `content_block_delta`, `message_delta` with the stop
/// reason and the final count, `message_stop`; `ping` and unknown events anywhere; `error`.
pub(super) struct AnthropicReader {
    sse: Sse,
    finished: Finished,
    stop_reason: Option<String>,
    done: bool,
}

impl AnthropicReader {
    pub(super) fn new() -> Self {
        Self { sse: Sse::new(), finished: Finished::default(), stop_reason: None, done: false }
    }

    fn event(&mut self, event: SseEvent) -> Result<(), StreamFault> {
        let data = match event {
            SseEvent::Data(data) => data,
            SseEvent::Error(data) => return Err(StreamFault::Reported(message(&data))),
        };
        let event: Value =
            serde_json::from_str(&data).map_err(|_| StreamFault::Protocol("an event that is not JSON".to_owned()))?;
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => self.count(event.pointer("/message/usage")),
            "content_block_delta" => {
                // Thinking is not the answer.
                let text = event.pointer("/delta/text").and_then(Value::as_str).unwrap_or_default();
                push(&mut self.finished.text, text)?;
            }
            "message_delta" => {
                let reason = event.pointer("/delta/stop_reason").and_then(Value::as_str);
                self.stop_reason = reason.map(str::to_owned).or(self.stop_reason.take());
                self.count(event.get("usage"));
            }
            "message_stop" => self.done = true,
            "error" => return Err(StreamFault::Reported(message(&data))),
            _ => {}
        }
        Ok(())
    }

    /// Counts are cumulative; cached tokens are counted apart from the others.
    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        let count = |field: &str| usage.get(field).and_then(Value::as_u64);
        let total = self.finished.usage.get_or_insert_with(TokenUsage::default);
        if let Some(input) = count("input_tokens") {
            let cached =
                ["cache_creation_input_tokens", "cache_read_input_tokens"].map(|field| count(field).unwrap_or(0));
            total.input = total.input.max(input.saturating_add(cached[0]).saturating_add(cached[1]));
        }
        total.output = total.output.max(count("output_tokens").unwrap_or(0));
    }
}

fn message(data: &str) -> String {
    let document: Value = serde_json::from_str(data).unwrap_or_default();
    let error = document.get("error").unwrap_or(&document);
    let field = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    format!("{}: {}", field("type"), field("message"))
}

impl Reader for AnthropicReader {
    fn feed(&mut self, bytes: &[u8]) -> Result<(), StreamFault> {
        self.sse.push(bytes);
        while !self.done {
            let Some(event) = self.sse.next_event()? else { break };
            self.event(event)?;
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn end(mut self: Box<Self>) -> Result<Finished, StreamFault> {
        if !self.done {
            if let Ok(Some(SseEvent::Error(data))) = self.sse.end() {
                return Err(StreamFault::Reported(message(&data)));
            }
            return Err(StreamFault::Truncated);
        }
        self.finished.is_cut =
            matches!(self.stop_reason.as_deref(), Some("max_tokens" | "model_context_window_exceeded"));
        Ok(self.finished)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "event: message_start\n\
        data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":25,\"cache_read_input_tokens\":5,\"output_tokens\":1}}}\n\n\
        event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n\
        event: ping\ndata: {\"type\":\"ping\"}\n\n\
        event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n\
        event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"H\u{e9}\"}}\n\n\
        event: something_new\ndata: {\"type\":\"something_new\"}\n\n\
        event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"llo\"}}\n\n\
        event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":15}}\n\n\
        event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

    fn read(chunks: &[&[u8]]) -> Result<Finished, StreamFault> {
        let mut reader = Box::new(AnthropicReader::new());
        for chunk in chunks {
            reader.feed(chunk)?;
        }
        reader.end()
    }

    #[test]
    fn an_answer_is_the_same_however_it_is_cut() {
        let whole =
            Finished { text: "Héllo".into(), is_cut: false, usage: Some(TokenUsage { input: 30, output: 15 }) };
        let bytes = STREAM.as_bytes();
        for cut in 0..=bytes.len() {
            assert_eq!(read(&[&bytes[..cut], &bytes[cut..]]).as_ref(), Ok(&whole), "{cut}");
        }
    }

    #[test]
    fn every_early_end_is_truncation() {
        let stop = STREAM.find("event: message_stop").unwrap();
        for cut in (0..stop).filter(|cut| STREAM.is_char_boundary(*cut)) {
            assert!(read(&[&STREAM.as_bytes()[..cut]]).is_err(), "{cut}");
        }
        assert_eq!(read(&[&STREAM.as_bytes()[..stop]]), Err(StreamFault::Truncated));
    }

    #[test]
    fn errors_in_the_stream_and_the_token_limit() {
        let error = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
        let broken = STREAM.replace("event: message_delta", &format!("{error}event: message_delta"));
        assert_eq!(read(&[broken.as_bytes()]), Err(StreamFault::Reported("overloaded_error: Overloaded".into())));
        assert!(read(&[STREAM.replace("end_turn", "max_tokens").as_bytes()]).unwrap().is_cut);
        assert!(matches!(read(&[b"<html>\n"]), Err(StreamFault::Protocol(_))));
        assert!(matches!(read(&[b"data: {\"type\":\n\n"]), Err(StreamFault::Protocol(_))));
    }
}
