//! JSON as Python writes it: `NaN` and `Infinity` are numbers there, and errors everywhere else.

use std::io::{self, Read};

/// Bytes asked for at once.
const CHUNK: usize = 64 * 1024;

/// Reads JSON and gives it on with `null` in the place of numbers that JSON does not have.
#[derive(Debug)]
pub(crate) struct Finite<R> {
    inner: R,
    filter: Filter,
    input: Vec<u8>,
    ready: Vec<u8>,
    given: usize,
    is_at_end: bool,
}

impl<R: Read> Finite<R> {
    pub(crate) fn new(inner: R) -> Self {
        let input = vec![0; CHUNK];
        Self { inner, filter: Filter::default(), input, ready: Vec::new(), given: 0, is_at_end: false }
    }
}

impl<R: Read> Read for Finite<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.len() && !self.is_at_end {
            self.ready.clear();
            self.given = 0;
            let count = self.inner.read(&mut self.input)?;
            if count == 0 {
                self.is_at_end = true;
                self.filter.end(&mut self.ready);
            }
            for byte in &self.input[..count] {
                self.filter.push(*byte, &mut self.ready);
            }
        }
        let count = buffer.len().min(self.ready.len() - self.given);
        buffer[..count].copy_from_slice(&self.ready[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

const NAN: &[u8] = b"NaN";
const INFINITY: &[u8] = b"Infinity";

#[derive(Debug, Default)]
struct Filter {
    in_string: bool,
    escaped: bool,
    /// The beginning of a word that may be one of the two, with its sign.
    held: Vec<u8>,
}

impl Filter {
    fn push(&mut self, byte: u8, out: &mut Vec<u8>) {
        if self.in_string {
            out.push(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        self.held.push(byte);
        let word = self.held.strip_prefix(b"-").unwrap_or(&self.held);
        if word == NAN || word == INFINITY {
            out.extend_from_slice(b"null");
            self.held.clear();
        } else if !NAN.starts_with(word) && !INFINITY.starts_with(word) {
            // The byte that ended the hope may begin another one, or a string.
            self.held.pop();
            let is_new = self.held.is_empty();
            out.append(&mut self.held);
            if is_new {
                out.push(byte);
                self.in_string = byte == b'"';
            } else {
                self.push(byte, out);
            }
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// A reader that gives a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn filtered(text: &str, step: usize) -> String {
        let mut out = String::new();
        Finite::new(Slow(text.as_bytes(), step)).read_to_string(&mut out).unwrap();
        out
    }

    #[test]
    fn numbers_of_python_become_null() {
        let text = r#"{"a":NaN,"b":[Infinity,-Infinity,-1.5],"c":"NaN \" Infinity","d":-NaN}"#;
        let want = r#"{"a":null,"b":[null,null,-1.5],"c":"NaN \" Infinity","d":null}"#;
        for step in 1..9 {
            assert_eq!(filtered(text, step), want);
        }
        // What is neither stays an error for the parser.
        for other in ["Nan", "-Inf", "Infinit", "--1", "-\"NaN\"", "N"] {
            assert_eq!(filtered(other, 3), other);
        }
    }

    proptest! {
        #[test]
        fn proper_json_is_untouched(text in "\\PC*", number in any::<f64>().prop_filter("finite", |x| x.is_finite()), step in 1_usize..20) {
            let json = serde_json::json!({ "NaN": text, "b": [number, null, true], "-Infinity": { "x": [] } }).to_string();
            prop_assert_eq!(&filtered(&json, step), &json);
            let _: Value = serde_json::from_str(&json).unwrap();
        }
    }
}
