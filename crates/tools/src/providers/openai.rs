//! OpenAI-compatible chat completions, streamed, and DeepSeek, which speaks the same
//! (<https://platform.openai.com/docs/api-reference/chat-streaming>, <https://api-docs.deepseek.com>).

use serde_json::{Value, json};
use tenpass_model::decode::{Decode, OpenAiDecoder};
use tenpass_model::{ChatEvent, Completion, FinishReason};

use super::answer::{Finished, Reader, StreamFault, TokenUsage, push};
use super::message::Exchange;

/// The body of a request. `limit` is the name of the token limit: OpenAI's newer models accept
/// only `max_completion_tokens`, most compatible servers and DeepSeek only `max_tokens`.
pub(super) fn body(model: &str, limit: &str, max_tokens: u32, exchange: &Exchange) -> Value {
    let mut messages = exchange.wire();
    if !exchange.system.is_empty() {
        messages.insert(0, json!({ "role": "system", "content": exchange.system }));
    }
    let mut body = json!({
        "model": model,
        "messages": messages,
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    body[limit] = max_tokens.into();
    body
}

/// The shared decoder, of which only text and counts matter here.
pub(super) struct OpenAiReader {
    decoder: OpenAiDecoder,
    text: String,
    completion: Option<Completion>,
}

impl OpenAiReader {
    pub(super) fn new() -> Self {
        Self { decoder: OpenAiDecoder::default(), text: String::new(), completion: None }
    }

    fn take(&mut self, events: Vec<ChatEvent>) -> Result<(), StreamFault> {
        for event in events {
            match event {
                ChatEvent::Text(piece) => push(&mut self.text, &piece)?,
                ChatEvent::Done(completion) => self.completion = Some(completion),
                ChatEvent::Thinking(_) | ChatEvent::ToolCall(_) => {}
            }
        }
        Ok(())
    }
}

impl Reader for OpenAiReader {
    fn feed(&mut self, bytes: &[u8]) -> Result<(), StreamFault> {
        let mut events = Vec::new();
        self.decoder.feed(bytes, &mut events)?;
        self.take(events)
    }

    fn is_done(&self) -> bool {
        self.decoder.is_done()
    }

    fn end(mut self: Box<Self>) -> Result<Finished, StreamFault> {
        let mut events = Vec::new();
        self.decoder.end(&mut events)?;
        self.take(events)?;
        let completion = self.completion.ok_or(StreamFault::Truncated)?;
        let usage = match (completion.usage.prompt_tokens, completion.usage.completion_tokens) {
            (Some(input), Some(output)) => Some(TokenUsage { input, output }),
            _ => None,
        };
        Ok(Finished { text: self.text, is_cut: completion.finish == FinishReason::Length, usage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_counts_and_truncation() {
        let chunk = |text: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
        let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n\
                   data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n";
        let read = |text: &str| {
            let mut reader = Box::new(OpenAiReader::new());
            reader.feed(text.as_bytes())?;
            reader.end()
        };
        let whole = read(&format!("{}{}{end}", chunk("a"), chunk("b"))).unwrap();
        assert_eq!(
            whole,
            Finished { text: "ab".into(), is_cut: true, usage: Some(TokenUsage { input: 7, output: 3 }) }
        );
        assert_eq!(read(&chunk("a")), Err(StreamFault::Truncated));
        let error = "data: {\"error\":{\"message\":\"server_error\"}}\n\n";
        assert_eq!(read(&format!("{}{error}", chunk("a"))), Err(StreamFault::Reported("server_error".into())));
    }
}
