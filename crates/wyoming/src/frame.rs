//! Events on the wire.
//!
//! ```text
//! {"type": "...", "version": "...", "data": {...}?, "data_length": N?, "payload_length": M?}\n
//! N bytes of JSON, an object, merged over "data"
//! M bytes of payload
//! ```

use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// The protocol's version that is written.
pub const VERSION: &str = "1.8.0";
/// Longest header.
pub const MOST_HEADER: usize = 64 << 10;
/// Longest data.
pub const MOST_DATA: usize = 1 << 20;
/// Longest payload: half a minute of sound at 16 kHz.
pub const MOST_PAYLOAD: usize = 1 << 20;

/// An event.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Event {
    /// What it is.
    pub kind: String,
    /// Its fields.
    pub data: Map<String, Value>,
    /// Samples, or nothing.
    pub payload: Vec<u8>,
}

/// An event that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The connection failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// What came is no event.
    #[error("{0}")]
    Malformed(String),
}

impl Event {
    /// An event with fields; `data` must be an object.
    pub fn new(kind: &str, data: Value) -> Self {
        let data = match data {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        Self { kind: kind.to_owned(), data, payload: Vec::new() }
    }

    /// The same with a payload.
    pub fn with_payload(mut self, payload: Vec<u8>) -> Self {
        self.payload = payload;
        self
    }

    /// A field that is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.data.get(name).and_then(Value::as_str)
    }

    /// A field that is a number from 0.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.data.get(name).and_then(Value::as_u64)
    }
}

/// Reads the next event; `None` at the end of the stream between two events.
pub async fn read(reader: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<Event>, FrameError> {
    let malformed = |problem: String| FrameError::Malformed(problem);
    let mut line = Vec::new();
    let read = (&mut *reader).take(MOST_HEADER as u64 + 1).read_until(b'\n', &mut line).await?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        let problem = if read > MOST_HEADER { "a header over 64 KiB" } else { "the stream ends in a header" };
        return Err(malformed(problem.to_owned()));
    }
    let header: Value =
        serde_json::from_slice(&line).map_err(|error| malformed(format!("a header that is no JSON: {error}")))?;
    let Some(kind) = header["type"].as_str() else { return Err(malformed("a header without a type".to_owned())) };
    let mut event = Event::new(kind, header["data"].clone());
    let data = part(reader, &header, "data_length", MOST_DATA).await?;
    if !data.is_empty() {
        let more: Map<String, Value> = serde_json::from_slice(&data)
            .map_err(|error| malformed(format!("data that is no JSON object: {error}")))?;
        event.data.extend(more);
    }
    event.payload = part(reader, &header, "payload_length", MOST_PAYLOAD).await?;
    Ok(Some(event))
}

async fn part(
    reader: &mut (impl AsyncBufRead + Unpin),
    header: &Value,
    name: &str,
    most: usize,
) -> Result<Vec<u8>, FrameError> {
    let length = match &header[name] {
        Value::Null => return Ok(Vec::new()),
        value => value.as_u64().and_then(|length| usize::try_from(length).ok()).filter(|length| *length <= most),
    };
    let Some(length) = length else {
        return Err(FrameError::Malformed(format!("{name} is no number from 0 to {most}")));
    };
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// Writes an event.
pub async fn write(writer: &mut (impl AsyncWrite + Unpin), event: &Event) -> std::io::Result<()> {
    let data = if event.data.is_empty() { Vec::new() } else { serde_json::to_vec(&event.data)? };
    let mut header = json!({ "type": event.kind, "version": VERSION });
    if !data.is_empty() {
        header["data_length"] = json!(data.len());
    }
    if !event.payload.is_empty() {
        header["payload_length"] = json!(event.payload.len());
    }
    let mut bytes = serde_json::to_vec(&header)?;
    bytes.push(b'\n');
    bytes.extend(data);
    bytes.extend(&event.payload);
    writer.write_all(&bytes).await?;
    writer.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
    }

    fn parsed(bytes: &[u8]) -> Result<Option<Event>, FrameError> {
        block_on(read(&mut std::io::Cursor::new(bytes)))
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(kind in "[a-z-]{1,20}", text in ".{0,60}", payload in prop::collection::vec(any::<u8>(), 0..400)) {
            let event = Event::new(&kind, json!({ "text": text, "rate": 16000 })).with_payload(payload);
            let mut bytes = Vec::new();
            block_on(write(&mut bytes, &event)).unwrap();
            prop_assert_eq!(parsed(&bytes).unwrap().unwrap(), event);
        }

        #[test]
        fn nothing_that_comes_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parsed(&bytes);
        }
    }

    #[test]
    fn data_behind_the_header_wins_over_data_in_it() {
        let bytes = b"{\"type\":\"x\",\"data\":{\"a\":1,\"b\":2},\"data_length\":7}\n{\"b\":3}";
        let event = parsed(bytes).unwrap().unwrap();
        assert_eq!((event.number("a"), event.number("b")), (Some(1), Some(3)));
        assert!(parsed(b"").unwrap().is_none());
    }

    #[test]
    fn lengths_that_are_none_and_streams_that_end_are_refused() {
        for bytes in [
            &b"{\"type\":\"x\",\"payload_length\":99999999999}\n"[..],
            b"{\"type\":\"x\",\"payload_length\":-1}\n",
            b"{\"type\":\"x\",\"data_length\":\"3\"}\n{} ",
            b"{\"type\":\"x\",\"data_length\":2}\n[]",
            b"{\"type\":\"x\",\"payload_length\":4}\nab",
            b"{\"type\":\"x\"",
            b"{}\n",
            b"nonsense\n",
        ] {
            assert!(parsed(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
        let long = [b"{\"type\":\"".to_vec(), vec![b'x'; MOST_HEADER], b"\"}\n".to_vec()].concat();
        assert!(matches!(parsed(&long), Err(FrameError::Malformed(problem)) if problem.contains("64 KiB")));
    }
}
