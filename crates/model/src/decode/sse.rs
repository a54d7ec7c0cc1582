//! Server-sent events (WHATWG HTML, 9.2.6 "Interpreting an event stream").

use super::lines::Lines;
use super::{Fault, MAX_LINE_BYTES};

/// One event with data.
#[derive(Debug, PartialEq)]
pub enum SseEvent {
    /// `data:` lines, joined by newlines.
    Data(String),
    /// An `error:` field (older llama.cpp), or data of an event named `error`.
    Error(String),
}

/// Incremental event-stream parser.
#[derive(Debug)]
pub struct Sse {
    lines: Lines,
    data: Option<String>,
    is_error: bool,
    at_start: bool,
}

impl Sse {
    /// A parser at the start of a stream.
    #[allow(clippy::new_without_default, reason = "a stream has a start, not a default")]
    pub fn new() -> Self {
        Self { lines: Lines::new(MAX_LINE_BYTES), data: None, is_error: false, at_start: true }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.lines.push(bytes);
    }

    /// The next whole event.
    pub fn next_event(&mut self) -> Result<Option<SseEvent>, Fault> {
        while let Some(line) = self.lines.next_line()? {
            if let Some(event) = self.line(&line)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The event that the end of the stream completes. The standard drops it; servers that leave
    /// out the last blank line exist.
    pub fn end(&mut self) -> Result<Option<SseEvent>, Fault> {
        let rest = self.lines.rest()?;
        if let Some(event) = self.line(&rest)? {
            return Ok(Some(event));
        }
        Ok(self.dispatch())
    }

    fn line(&mut self, line: &str) -> Result<Option<SseEvent>, Fault> {
        let line = if std::mem::take(&mut self.at_start) { line.trim_start_matches('\u{feff}') } else { line };
        if line.is_empty() {
            return Ok(self.dispatch());
        }
        // An error document that a proxy writes into the stream without any field name.
        if line.starts_with('{') {
            return Ok(Some(SseEvent::Error(line.to_owned())));
        }
        if line.starts_with('<') {
            return Err(Fault::Protocol("an HTML page instead of an event stream".to_owned()));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                    if data.len() > MAX_LINE_BYTES {
                        return Err(Fault::Protocol(format!("an event longer than {MAX_LINE_BYTES} bytes")));
                    }
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => self.is_error = value == "error",
            "error" => return Ok(Some(SseEvent::Error(value.to_owned()))),
            // Comments (empty field name), id, retry and unknown fields.
            _ => {}
        }
        Ok(None)
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let is_error = std::mem::take(&mut self.is_error);
        let data = self.data.take()?;
        Some(if is_error { SseEvent::Error(data) } else { SseEvent::Data(data) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<SseEvent> {
        let mut sse = Sse::new();
        sse.push(text.as_bytes());
        let mut all = Vec::new();
        while let Some(event) = sse.next_event().unwrap() {
            all.push(event);
        }
        all.extend(sse.end().unwrap());
        all
    }

    fn data(text: &str) -> SseEvent {
        SseEvent::Data(text.to_owned())
    }

    #[test]
    fn fields_comments_and_several_data_lines() {
        let text = "\u{feff}: hello\r\nid: 1\r\ndata: {\"a\":\r\ndata:1}\r\n\r\n\n:\n\ndata: two\n\ndata:[DONE]";
        assert_eq!(read(text), [data("{\"a\":\n1}"), data("two"), data("[DONE]")]);
    }

    #[test]
    fn errors_in_every_dress() {
        let text = "event: error\ndata: {\"x\":1}\n\nerror: {\"y\":2}\n\n{\"error\":\"z\"}\n";
        let errors = [r#"{"x":1}"#, r#"{"y":2}"#, r#"{"error":"z"}"#].map(|text| SseEvent::Error(text.to_owned()));
        assert_eq!(read(text), errors);
    }

    #[test]
    fn a_page_is_not_a_stream() {
        let mut sse = Sse::new();
        sse.push(b"<!doctype html>\n<html>");
        assert!(matches!(sse.next_event(), Err(Fault::Protocol(what)) if what.contains("HTML")));
    }
}
