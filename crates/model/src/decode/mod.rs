//! Bytes of a response → events, whatever the boundaries of the chunks they come in.
//!
//! [`OllamaDecoder`] reads NDJSON, [`OpenAiDecoder`] server-sent events (and the single JSON
//! document of a blocking response). Both keep the text of the answer untouched: the
//! concatenated `Text` events are what the server sent, byte for byte. Both hold at most one
//! line, the open calls, and nothing else.

mod assemble;
mod lines;
mod ndjson;
mod openai;
mod sse;

pub use ndjson::OllamaDecoder;
pub use openai::OpenAiDecoder;
pub(crate) use openai::unparsed_output;
pub use sse::{Sse, SseEvent};

use serde_json::Value;

use crate::ChatEvent;

/// Longest line or event that is read, in bytes.
pub const MAX_LINE_BYTES: usize = 16 << 20;
/// Longest blocking response that is read, in bytes.
pub const MAX_BODY_BYTES: usize = 64 << 20;

/// What is wrong with a response.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// The server reported an error inside a successful response.
    Server {
        /// Its message.
        message: String,
        /// The whole error document, for numbers in it.
        body: Value,
    },
    /// The bytes are not the protocol; says what they are.
    Protocol(String),
    /// The response ended before the answer did.
    Truncated,
}

/// An incremental decoder of one answer.
pub trait Decode: Send {
    /// Takes the next bytes and appends the events they complete. After `Done` it ignores bytes.
    fn feed(&mut self, bytes: &[u8], events: &mut Vec<ChatEvent>) -> Result<(), Fault>;

    /// Takes the end of the response.
    fn end(&mut self, events: &mut Vec<ChatEvent>) -> Result<(), Fault>;

    /// True once `Done` was produced.
    fn is_done(&self) -> bool;
}

/// The error of a document that has one. `"error": null` is none.
pub(crate) fn server_error(document: &Value) -> Option<Fault> {
    document.get("error").filter(|error| !error.is_null())?;
    Some(Fault::Server { message: crate::http::error_message(document), body: document.clone() })
}

/// Parses one JSON document of a stream.
pub(crate) fn json(text: &str) -> Result<Value, Fault> {
    serde_json::from_str(text).map_err(|_| Fault::Protocol(crate::http::describe_not_json(text)))
}

#[cfg(test)]
pub(crate) mod tests_support {
    //! Runs a decoder over bytes cut at given places.

    use super::{Decode, Fault};
    use crate::ChatEvent;

    /// Events with neighbouring pieces of text joined, so that only the content counts.
    pub(crate) fn run(mut decoder: impl Decode, chunks: &[&[u8]]) -> Result<Vec<ChatEvent>, (Vec<ChatEvent>, Fault)> {
        let mut events = Vec::new();
        for chunk in chunks {
            if let Err(fault) = decoder.feed(chunk, &mut events) {
                return Err((join(events), fault));
            }
        }
        match decoder.end(&mut events) {
            Ok(()) => Ok(join(events)),
            Err(fault) => Err((join(events), fault)),
        }
    }

    fn join(events: Vec<ChatEvent>) -> Vec<ChatEvent> {
        let mut joined: Vec<ChatEvent> = Vec::new();
        for event in events {
            match (joined.last_mut(), event) {
                (Some(ChatEvent::Text(all)), ChatEvent::Text(piece)) => all.push_str(&piece),
                (_, ChatEvent::Text(piece)) if piece.is_empty() => {}
                (_, event) => joined.push(event),
            }
        }
        joined
    }

    /// Tries a cut at every byte position, and every single byte as its own chunk.
    pub(crate) fn any_cut<D: Decode>(make: impl Fn() -> D, bytes: &[u8]) -> Vec<ChatEvent> {
        let whole = run(make(), &[bytes]).unwrap();
        for cut in 0..=bytes.len() {
            assert_eq!(run(make(), &[&bytes[..cut], &bytes[cut..]]).unwrap(), whole, "cut at byte {cut}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(run(make(), &single).unwrap(), whole, "byte by byte");
        whole
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::tests_support::run;
    use super::{OllamaDecoder, OpenAiDecoder};

    /// Pieces of both protocols and of nothing at all.
    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let known = prop::sample::select(vec![
            "{\"message\":{\"content\":\"é\"},\"done\":false}\n",
            "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":7}},3]},\"done\":false}\n",
            "{\"done\":true,\"done_reason\":\"stop\"}\r\n",
            "data: {\"choices\":[{\"delta\":{\"content\":\"😀\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":[1]}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\n",
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":\"x\"}}\n\n",
            "data: [DONE]\n\n",
            "{\"error\":{}}\n",
            ": \n",
            "\r",
            "\n",
        ]);
        let known = known.prop_map(|text| text.as_bytes().to_vec());
        let garbage = prop::collection::vec(any::<u8>(), 0..6);
        prop::collection::vec(prop_oneof![6 => known, 1 => garbage], 0..8).prop_map(|all| all.concat())
    }

    proptest! {
        #[test]
        fn any_bytes_give_the_same_however_they_are_cut(bytes in pieces(), cut in 0.0..1.0f64) {
            let (head, tail) = bytes.split_at((bytes.len() as f64 * cut) as usize);
            prop_assert_eq!(run(OllamaDecoder::default(), &[head, tail]), run(OllamaDecoder::default(), &[&bytes]));
            prop_assert_eq!(run(OpenAiDecoder::default(), &[head, tail]), run(OpenAiDecoder::default(), &[&bytes]));
        }
    }
}
