//! Strings: where they end, when their quotes cannot be trusted.

use serde_json::Value;

use super::super::literal;
use super::{Dialect, Place, Reader, State};

/// How far a quote looks ahead to find out whether it ends its string, in bytes.
const LOOK_AHEAD: usize = 160;

impl Reader<'_> {
    /// The quote that the text goes on with: how it is written, and how it ends.
    pub(super) fn quote(&self) -> Option<(&'static str, &'static str)> {
        let rest = self.rest();
        let triple = self.dialect == Dialect::Python;
        let kinds = [
            ("\"\"\"", "\"\"\"", triple),
            ("'''", "'''", triple),
            ("\"", "\"", true),
            ("'", "'", true),
            ("“", "”", true),
            ("<|\"|>", "<|\"|>", true),
            ("<escape>", "<escape>", true),
        ];
        kinds.into_iter().find(|(open, _, used)| *used && rest.starts_with(open)).map(|(open, close, _)| (open, close))
    }

    pub(super) fn string(&mut self, place: Place, key: Option<&str>) -> Value {
        let Some((open, close)) = self.quote() else { return self.invalid() };
        if self.dialect == Dialect::Json && open != "\"" {
            self.repair("quotes");
        }
        self.at += open.len();
        if place == Place::Member
            && close.len() == 1
            && let Some(value) = self.unescaped_object(close)
        {
            return value;
        }
        let start = self.at;
        let Some(end) = self.string_end(start, place, close) else {
            self.at = self.text.len();
            self.stop();
            return Value::String(literal::decode_words(&self.text[start..]).text);
        };
        let raw = &self.text[start..end];
        self.at = end + close.len();
        if close == "<|\"|>" || close == "<escape>" {
            return Value::String(raw.to_owned());
        }
        if raw.bytes().any(|byte| byte < b' ') && self.dialect == Dialect::Json {
            self.repair("raw line break in a string");
        }
        let is_key = place == Place::Key;
        let decoded = if is_key { literal::decode_words(raw) } else { literal::decode(raw, key) };
        if decoded.repaired {
            self.repair("backslashes kept");
        }
        Value::String(decoded.text)
    }

    /// Where the string ends: at the first closing quote that something fitting follows.
    fn string_end(&mut self, start: usize, place: Place, close: &str) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let first = close.as_bytes()[0];
        let escapes = !close.starts_with('<');
        let mut at = start;
        while at < bytes.len() {
            if bytes[at] == b'\\' && escapes {
                let closes_path = place != Place::Key
                    && bytes.get(at + 1) == Some(&first)
                    && is_drive_path(&self.text[start..at])
                    && self.closes(at + 1 + close.len(), place, close);
                if closes_path {
                    self.work.spend(at - start);
                    return Some(at + 1);
                }
                at += 2;
                continue;
            }
            if bytes[at] == first && bytes[at..].starts_with(close.as_bytes()) {
                if close.len() > 1 || self.closes(at + close.len(), place, close) {
                    self.work.spend(at - start);
                    return Some(at);
                }
                self.repair("quotes inside a string");
            }
            at += 1;
            if (at - start).is_multiple_of(4096) && !self.work.spend(4096) {
                return None;
            }
        }
        self.work.spend((at - start) % 4096);
        None
    }

    /// Does what follows a quote fit the end of its string?
    fn closes(&self, after: usize, place: Place, quote: &str) -> bool {
        self.work.spend(1);
        let Some(rest) = self.text.get(after..) else { return true };
        let rest = rest.trim_start();
        let Some(next) = rest.bytes().next() else { return true };
        match (place, next) {
            (Place::Key, _) => next == b':',
            (Place::Member, b'}') | (Place::Item | Place::Alone, b']' | b'}') | (Place::Argument, b')') => true,
            (Place::Member, b']') => rest[1..].trim_start().starts_with(['}', ',', ']']),
            (Place::Argument, b',') => {
                let ahead = rest[1..].trim_start();
                ahead.starts_with([')', '"', '\'', '{', '[']) || is_bare_key(ahead, &['=', ':']) || starts_value(ahead)
            }
            (Place::Member, b',') => {
                let ahead = rest[1..].trim_start();
                ahead.is_empty() || ahead.starts_with(['}', ',']) || is_key(ahead, quote)
            }
            (Place::Item, b',') => rest[1..].trim_start().is_empty() || starts_value(rest[1..].trim_start()),
            // A forgotten comma.
            (Place::Member, b'"' | b'\'') => is_key(rest, quote),
            (Place::Alone, _) => !next.is_ascii_alphabetic(),
            _ => false,
        }
    }

    /// `"{"on": true}"` where the inner quotes were not escaped: the object between the quotes.
    fn unescaped_object(&mut self, close: &str) -> Option<Value> {
        let rest = self.rest();
        let inside = rest.strip_prefix('{').or_else(|| rest.strip_prefix("[{"))?.trim_start();
        if !inside.starts_with(close) || self.within_quotes {
            return None;
        }
        let mut inner = Reader::new(self.text, self.at, self.dialect, self.work);
        inner.within_quotes = true;
        let value = inner.value(Place::Alone, None);
        let reading = inner.finish(value);
        let after = self.text.get(reading.end..)?.trim_start();
        if reading.state != State::Complete || !after.starts_with(close) {
            return None;
        }
        let raw = &self.text[self.at..reading.end];
        self.repair("quotes inside a string");
        self.at = self.text.len() - after.len() + close.len();
        Some(Value::String(raw.to_owned()))
    }
}

/// `"key":` or `key:` within the look-ahead. A key longer than that counts as one.
fn is_key(ahead: &str, quote: &str) -> bool {
    if let Some(inside) = ahead.strip_prefix(quote).or_else(|| ahead.strip_prefix(['"', '\''])) {
        let own = ahead.as_bytes()[0];
        let bytes = &inside.as_bytes()[..inside.len().min(LOOK_AHEAD)];
        let mut at = 0;
        while at < bytes.len() && bytes[at] != own {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        let after = inside.get(at + 1..).unwrap_or("").trim_start();
        return at >= bytes.len() || after.is_empty() || after.starts_with(':');
    }
    is_bare_key(ahead, &[':'])
}

fn is_bare_key(ahead: &str, signs: &[char]) -> bool {
    let length = ahead.bytes().take(64).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    length > 0 && ahead[length..].trim_start().starts_with(signs)
}

fn starts_value(ahead: &str) -> bool {
    ahead.starts_with(['"', '\'', '{', '[', ']', '}', '-', '(', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
        || ["true", "false", "null", "True", "False", "None"].iter().any(|word| ahead.starts_with(word))
}

fn is_drive_path(raw: &str) -> bool {
    let bytes = raw.as_bytes();
    bytes.len() > 3
        && bytes[0].is_ascii_alphabetic()
        && bytes[1] == b':'
        && bytes[2] == b'\\'
        && bytes[3].is_ascii_alphanumeric()
}
