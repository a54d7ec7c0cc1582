//! A JSON reader that understands what models write instead of JSON.
//!
//! On valid JSON it reads what any JSON reader reads (a property test holds it against
//! `serde_json`). Beyond that it accepts Python literals, single and curly quotes, bare keys,
//! missing and doubled commas, stray closing brackets, raw line breaks and unescaped quotes inside
//! strings, and it notes each. It stops by itself at the end of the value, knows the difference
//! between cut off and wrong, and keeps what it read up to there.

use serde_json::{Map, Number, Value};

mod strings;

use super::source::Work;

/// Deeper nesting is not a tool call.
const MAX_DEPTH: usize = 64;

/// What is normal here, and so no repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// JSON.
    Json,
    /// Python literals, inside a call's brackets.
    Python,
    /// Gemma's: bare keys, and strings bare or between `<|"|>` or `<escape>`.
    Gemma,
}

/// How a reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// At the end of the value.
    Complete,
    /// At the end of the text, inside the value.
    Truncated,
    /// At something that cannot be read.
    Invalid,
}

/// What a reader made of the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    /// The value, as far as it was read.
    pub(super) value: Value,
    /// Where it ends (exclusive), or where reading stopped.
    pub(super) end: usize,
    /// How it ended.
    pub(super) state: State,
    /// Containers that were still open.
    pub(super) open: usize,
    /// True when it was cut off between two values rather than inside one.
    pub(super) at_boundary: bool,
    /// What had to be assumed, in words.
    pub(super) repairs: Vec<&'static str>,
}

/// Reads the value at `at`.
pub(super) fn read(text: &str, at: usize, dialect: Dialect, work: &Work) -> Reading {
    let mut reader = Reader::new(text, at, dialect, work);
    let value = reader.value(Place::Alone, None);
    reader.finish(value)
}

/// Reads the value of a named argument in call syntax: it ends at `,` or `)`.
pub(super) fn read_argument(text: &str, at: usize, key: Option<&str>, work: &Work) -> Reading {
    let mut reader = Reader::new(text, at, Dialect::Python, work);
    let value = reader.value(Place::Argument, key);
    reader.finish(value)
}

/// Where a value stands: this decides which quote ends its string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Key,
    Member,
    Item,
    Argument,
    Alone,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    dialect: Dialect,
    work: &'a Work,
    state: State,
    depth: usize,
    open: usize,
    at_boundary: bool,
    repairs: Vec<&'static str>,
    /// Inside an object between quotes that were not escaped: not another one in it.
    within_quotes: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, at: usize, dialect: Dialect, work: &'a Work) -> Self {
        let state = State::Complete;
        Self {
            text,
            at,
            dialect,
            work,
            state,
            depth: 0,
            open: 0,
            at_boundary: false,
            repairs: Vec::new(),
            within_quotes: false,
        }
    }

    fn finish(self, value: Value) -> Reading {
        let Self { at, state, open, at_boundary, repairs, .. } = self;
        Reading { value, end: at, state, open, at_boundary, repairs }
    }

    fn repair(&mut self, what: &'static str) {
        if !self.repairs.contains(&what) {
            self.repairs.push(what);
        }
    }

    /// Stops reading here: cut off at the end of the text, wrong anywhere else.
    fn stop(&mut self) -> Value {
        if self.state == State::Complete {
            self.state = if self.at >= self.text.len() { State::Truncated } else { State::Invalid };
        }
        Value::Null
    }

    fn invalid(&mut self) -> Value {
        self.state = State::Invalid;
        Value::Null
    }

    fn failed(&self) -> bool {
        self.state != State::Complete
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blank(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn value(&mut self, place: Place, key: Option<&str>) -> Value {
        self.skip_blank();
        if !self.work.spend(1) {
            return self.invalid();
        }
        let Some(byte) = self.peek() else { return self.stop() };
        match byte {
            b'{' => self.object(),
            b'[' => self.array(b']'),
            b'(' if self.dialect == Dialect::Python => self.array(b')'),
            _ if self.quote().is_some() => self.string(place, key),
            b'-' | b'+' | b'.' | b'0'..=b'9' => self.number(place),
            _ => self.word(place, key),
        }
    }

    fn enter(&mut self) -> bool {
        self.depth += 1;
        self.open += 1;
        self.at += 1;
        self.depth <= MAX_DEPTH
    }

    fn leave(&mut self) {
        self.depth -= 1;
        self.open -= 1;
    }

    fn object(&mut self) -> Value {
        let mut map = Map::new();
        if !self.enter() {
            self.invalid();
            return Value::Object(map);
        }
        loop {
            self.skip_separators();
            match self.peek() {
                None => {
                    self.at_boundary = true;
                    self.stop();
                }
                Some(b'}') => {
                    self.at += 1;
                    self.leave();
                }
                Some(b']') if self.stray_bracket() => continue,
                Some(_) => {
                    self.member(&mut map);
                    if !self.failed() {
                        continue;
                    }
                }
            }
            return Value::Object(map);
        }
    }

    /// One `"key": value`; on failure the map keeps the part of the value that was read.
    fn member(&mut self, map: &mut Map<String, Value>) {
        let Some(key) = self.key() else {
            self.stop();
            return;
        };
        self.skip_blank();
        if self.peek() != Some(b':') {
            self.stop();
            return;
        }
        self.at += 1;
        let value = self.value(Place::Member, Some(&key));
        if !self.failed() || !value.is_null() {
            map.insert(key, value);
        }
        if self.failed() {
            return;
        }
        self.skip_blank();
        match self.peek() {
            None | Some(b',' | b'}' | b']') => {}
            Some(_) if self.quote().is_some() => self.repair("missing comma"),
            Some(_) => {
                self.invalid();
            }
        }
    }

    fn key(&mut self) -> Option<String> {
        if self.quote().is_some() {
            let Value::String(key) = self.string(Place::Key, None) else { return None };
            return (!self.failed()).then_some(key);
        }
        let is_part = |c: char| match self.dialect {
            Dialect::Gemma => !matches!(c, ':' | '{' | '}' | '[' | ']' | ',' | '"'),
            _ => c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.'),
        };
        let rest = self.rest();
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.work.spend(length);
        if length == 0 || length > 256 {
            return None;
        }
        if self.dialect == Dialect::Json {
            self.repair("bare key");
        }
        self.at += length;
        Some(rest[..length].trim().to_owned())
    }

    fn array(&mut self, closer: u8) -> Value {
        let mut items = Vec::new();
        if !self.enter() {
            self.invalid();
            return Value::Array(items);
        }
        loop {
            self.skip_separators();
            match self.peek() {
                None => {
                    self.at_boundary = true;
                    self.stop();
                }
                Some(byte) if byte == closer => {
                    self.at += 1;
                    self.leave();
                }
                // The model closed the object around the list and forgot the list.
                Some(b'}' | b')') if self.depth > 1 => {
                    self.repair("missing bracket");
                    self.leave();
                }
                Some(b'}' | b')') => {
                    self.invalid();
                }
                Some(_) => {
                    let value = self.value(Place::Item, None);
                    if !self.failed() || matches!(value, Value::Object(_) | Value::Array(_)) {
                        items.push(value);
                    }
                    if !self.failed() {
                        self.skip_blank();
                        if self.peek().is_none_or(|next| matches!(next, b',' | b']' | b'}' | b')' | b'{')) {
                            continue;
                        }
                        self.invalid();
                    }
                }
            }
            return Value::Array(items);
        }
    }

    /// Skips blanks and commas, and notes what JSON would refuse.
    fn skip_separators(&mut self) {
        let mut commas = 0;
        loop {
            self.skip_blank();
            if self.peek() != Some(b',') {
                break;
            }
            commas += 1;
            self.at += 1;
        }
        if commas > 1 || (commas == 1 && matches!(self.peek(), Some(b'}' | b']'))) {
            self.repair("extra comma");
        }
    }

    /// A `]` inside an object that goes on after it.
    fn stray_bracket(&mut self) -> bool {
        let after = self.text[self.at + 1..].trim_start();
        let goes_on = after.starts_with(['}', ',']);
        if goes_on {
            self.repair("stray bracket");
            self.at += 1;
        }
        goes_on
    }

    fn number(&mut self, place: Place) -> Value {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.work.spend(length);
        let written = &rest[..length];
        let after = rest[length..].trim_start().bytes().next();
        let ends = after.is_none_or(|next| matches!(next, b',' | b'}' | b']' | b')' | b'"' | b'\'' | b'<' | b'`'));
        if (ends || place == Place::Alone)
            && let Some(number) = parse_number(written)
        {
            if self.dialect != Dialect::Python && serde_json::from_str::<Number>(written).is_err() {
                self.repair("number format");
            }
            self.at += length;
            return Value::Number(number);
        }
        if self.dialect == Dialect::Gemma {
            return self.bare_string(place);
        }
        if length == rest.len() {
            self.at += length;
        }
        self.stop()
    }

    fn word(&mut self, place: Place, key: Option<&str>) -> Value {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.work.spend(length);
        let word = &rest[..length];
        if self.dialect == Dialect::Python && is_string_prefix(word) && rest[length..].starts_with(['"', '\'']) {
            self.at += length;
            return self.string(place, key);
        }
        let value = match word {
            "true" | "True" | "TRUE" => Some(Value::Bool(true)),
            "false" | "False" | "FALSE" => Some(Value::Bool(false)),
            "null" | "None" | "undefined" | "NULL" | "nil" => Some(Value::Null),
            _ => None,
        };
        if self.dialect == Dialect::Gemma {
            return self.bare_string(place);
        }
        let Some(value) = value else {
            // `tru` at the very end is a cut-off `true`.
            if length == rest.len() {
                self.at += length;
            }
            return self.stop();
        };
        if self.dialect == Dialect::Json && !matches!(word, "true" | "false" | "null") {
            self.repair("python literal");
        }
        self.at += length;
        value
    }

    /// Gemma's unquoted value: up to the end of its container, or a comma before the next key.
    fn bare_string(&mut self, place: Place) -> Value {
        let rest = self.rest();
        let mut end = rest.len();
        for (offset, byte) in rest.bytes().enumerate() {
            let next_member = || {
                let ahead = rest[offset + 1..].trim_start();
                let key = ahead.bytes().take(64).take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
                key > 0 && ahead[key..].starts_with(':')
            };
            let ends = match byte {
                b'}' | b']' | b'\n' => true,
                b',' => place == Place::Item || next_member(),
                _ => false,
            };
            if ends {
                end = offset;
                break;
            }
        }
        if !self.work.spend(end) {
            return self.invalid();
        }
        self.at += end;
        if end == rest.len() {
            return self.stop();
        }
        match rest[..end].trim() {
            "" => self.invalid(),
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" => Value::Null,
            word => match serde_json::from_str::<Number>(word) {
                Ok(number) => Value::Number(number),
                Err(_) => Value::String(word.to_owned()),
            },
        }
    }
}

fn is_string_prefix(word: &str) -> bool {
    matches!(word, "r" | "f" | "b" | "u" | "R" | "F" | "B" | "U" | "rb" | "br")
}

/// A JSON number, or one as Python writes it.
fn parse_number(written: &str) -> Option<Number> {
    if let Ok(number) = serde_json::from_str::<Number>(written) {
        return Some(number);
    }
    let plain = written.replace('_', "");
    let plain = plain.strip_prefix('+').unwrap_or(&plain);
    if plain.is_empty() || !plain.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E')) {
        return None;
    }
    let leading_zero = plain.len() > 1 && plain.starts_with('0') && !plain.starts_with("0.");
    if leading_zero {
        return None;
    }
    plain.parse::<f64>().ok().and_then(Number::from_f64)
}
