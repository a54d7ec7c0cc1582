//! Values as they are written: in quotes, in an element, or bare.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// Longest value in quotes, in bytes; a longer one is read up to there.
pub(super) const MAX_QUOTED: usize = 1024;
/// Longest value without quotes.
pub(super) const MAX_BARE: usize = 512;

/// A value in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Literal {
    pub(super) range: Range<usize>,
    /// It is longer than what is looked at, and goes on up to this.
    pub(super) goes_on: Option<&'static str>,
    /// Nothing but blanks behind it on its line.
    pub(super) ends_line: bool,
    /// Only blanks follow so far: the line may go on.
    pub(super) undecided: bool,
}

/// What stands behind an opening tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Element {
    /// No text up to a closing tag.
    None,
    /// More is needed.
    Open,
    Value(Literal),
}

/// Opening and closing quotes, longest first.
const QUOTES: &[(&str, &str)] = &[
    ("\\\\\\\"", "\\\\\\\""),
    ("\\\"", "\\\""),
    ("\\'", "\\'"),
    ("\"\"\"", "\"\"\""),
    ("&quot;", "&quot;"),
    ("\"", "\""),
    ("'", "'"),
    ("`", "`"),
    ("“", "”"),
    ("«", "»"),
    ("‘", "’"),
];

/// What may stand in front of a quote: `b"`, `String::from("`, `Some("`.
static PREFIX: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"^([bruf@]{1,2}|(?:[A-Za-z_][A-Za-z0-9_]{0,30}::){0,3}(?:from|new|Some|String|str|SecretString)\()\\?["'`]"#,
    )
    .ok()
});

pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{A0}' | '\u{202F}')
}

/// A character behind which a segment may end.
pub(super) fn is_border(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | '{' | '}' | '(' | ')')
}

/// The last place at or before `at` where a segment may end: behind a border, or in front of a
/// bracket that opens something.
pub(super) fn border_before(text: &str, at: usize) -> usize {
    let last = text[..at].char_indices().rfind(|(_, c)| is_border(*c) || is_opener(*c));
    last.map_or(0, |(at, c)| if is_opener(c) { at } else { at + c.len_utf8() })
}

/// A character in front of which a segment may end.
pub(super) fn is_opener(c: char) -> bool {
    matches!(c, '[' | '<')
}

/// The position behind at most eight blanks.
pub(super) fn skip_blanks(text: &str, at: usize) -> usize {
    at + text[at..].chars().take(8).take_while(|c| is_blank(*c)).map(char::len_utf8).sum::<usize>()
}

/// The length of what stands in front of a quote at the start of `text`.
pub(super) fn prefix(text: &str) -> usize {
    let found = PREFIX.as_ref().and_then(|prefix| prefix.captures(text));
    found.and_then(|found| found.get(1)).map_or(0, |prefix| prefix.end())
}

/// The quote that opens at the start of `text`, and the one that closes it.
pub(super) fn quote(text: &str) -> Option<(&'static str, &'static str)> {
    QUOTES.iter().copied().find(|(open, _)| text.starts_with(open))
}

/// The value from `start` up to `close`. `None`: it goes on behind the text.
pub(super) fn quoted(text: &str, start: usize, close: &'static str, at_end: bool) -> Option<Literal> {
    let start = if close == "»" { skip_blanks(text, start) } else { start };
    let limit = text.floor_char_boundary(start + MAX_QUOTED);
    let window = &text[start.min(limit)..limit];
    let line = window.find('\n').map_or(window, |end| &window[..end]);
    let mut from = 0;
    while let Some(offset) = line[from..].find(close) {
        let end = from + offset;
        let escapes = line[..end].bytes().rev().take_while(|byte| *byte == b'\\').count();
        if escapes % 2 == 0 {
            let end = start + line[..end].trim_end_matches(|c| close == "»" && is_blank(c)).len();
            return Some(Literal { range: start..end, goes_on: None, ends_line: false, undecided: false });
        }
        from = end + close.len().min(1);
    }
    let whole = line.len() < window.len() || at_end;
    let long = limit < text.len() && line.len() == window.len();
    (whole || long).then(|| Literal {
        range: start..start + line.len(),
        goes_on: long.then_some(close),
        ends_line: !long,
        undecided: false,
    })
}

/// The text of an element from `start`: `<password>…</password>`.
pub(super) fn element(text: &str, start: usize, at_end: bool) -> Element {
    let limit = text.floor_char_boundary(start + MAX_QUOTED);
    let window = &text[start..limit];
    let Some(end) = window.find(['<', '\n']) else {
        return if at_end || limit < text.len() { Element::None } else { Element::Open };
    };
    match &text[start + end..] {
        "<" if !at_end => Element::Open,
        rest if rest.starts_with("</") => {
            let range = start..start + end;
            Element::Value(Literal { range, goes_on: None, ends_line: false, undecided: false })
        }
        _ => Element::None,
    }
}

/// The value without quotes from `start`. `None`: more text is needed.
pub(super) fn bare(text: &str, start: usize, in_address: bool, at_end: bool) -> Option<Literal> {
    let limit = text.floor_char_boundary(start + MAX_BARE).max(start);
    let mut end = limit;
    let mut skip = start;
    for (offset, c) in text[start..limit].char_indices().map(|(offset, c)| (start + offset, c)) {
        let rest = &text[offset + c.len_utf8()..];
        let stops = match c {
            // A replacement is part of the value, its bracket included.
            _ if offset < skip => false,
            '[' if super::replacement_end(&text[offset..]).is_some() => {
                skip = offset + super::replacement_end(&text[offset..]).unwrap_or(0);
                false
            }
            '"' | '`' | '<' | '>' => true,
            c if c.is_whitespace() => true,
            '\\' if rest.is_empty() && !at_end => return None,
            '\\' => rest.starts_with(['n', 'r', 't', '"', '\'', '\\']),
            '&' if in_address => true,
            ',' | ';' | ')' | ']' | '}' | '|' | '&' | '\'' => ends_here(c, rest, at_end)?,
            _ => false,
        };
        if stops {
            end = offset;
            break;
        }
    }
    let long = end == limit && limit < text.len();
    if end == text.len() && !at_end {
        return None;
    }
    let trimmed = text[start..end].trim_end_matches(['.', ',', ';', ':']).len();
    let after = skip_blanks(text, end);
    let undecided = after == text.len() && !at_end && after > end;
    let ends_line = after == text.len() || text[after..].starts_with(['\n', '\r']);
    let goes_on = long.then_some("");
    Some(Literal { range: start..start + trimmed, goes_on, ends_line, undecided })
}

/// Does a value end at a comma, bracket or quote that `rest` follows? Yes before blanks, other
/// signs of that kind, and the next key.
fn ends_here(sign: char, rest: &str, at_end: bool) -> Option<bool> {
    let Some(next) = rest.chars().next() else { return at_end.then_some(true) };
    if next.is_whitespace()
        || matches!(next, '"' | '\'' | '`' | ',' | ';' | ')' | ']' | '}' | '|' | '\\' | '<' | '.' | ':')
    {
        return Some(true);
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name = rest.len() - rest.trim_start_matches(is_part).len();
    match rest[name..].chars().next() {
        None if name > 0 && name < 64 => at_end.then_some(false),
        Some('=' | ':' | '"') if name > 0 => Some(true),
        // `;Initial Catalog=x`
        Some(' ') if sign == ';' && rest.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            let second = rest[name + 1..].trim_start_matches(is_part);
            if second.is_empty() && rest.len() < 64 && !at_end { None } else { Some(second.starts_with('=')) }
        }
        _ => Some(false),
    }
}

/// Is it base64 of `user:password`?
pub(super) fn decodes_to_pair(text: &str) -> bool {
    let text = text.trim_end_matches('=');
    if text.len() < 6 || text.len() > 1024 {
        return false;
    }
    let mut plain = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = (bits << 6 | u32::from(value)) & 0xFF_FFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            plain.push((bits >> count) as u8);
        }
    }
    plain.contains(&b':') && std::str::from_utf8(&plain).is_ok_and(|plain| !plain.chars().any(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_end_at_their_own_kind() {
        let read = |text: &str| {
            let (open, close) = quote(text).unwrap();
            quoted(text, open.len(), close, false).map(|literal| text[literal.range].to_owned())
        };
        assert_eq!(read(r#""a\"b" c"#).as_deref(), Some(r#"a\"b"#));
        assert_eq!(read(r#"\"a b\", c"#).as_deref(), Some("a b"));
        assert_eq!(read("'a b' c").as_deref(), Some("a b"));
        assert_eq!(read("« a b » c").as_deref(), Some("a b"));
        assert_eq!(read("\"a b"), None);
        assert_eq!(read("\"a b\nc").as_deref(), Some("a b"));
        let long = format!("\"{}", "a".repeat(2000));
        assert_eq!(read(&long).map(|value| value.len()), Some(MAX_QUOTED));
    }

    #[test]
    fn bare_values_keep_their_signs() {
        let read = |text: &str, at_end| bare(text, 0, false, at_end).map(|literal| text[literal.range].to_owned());
        assert_eq!(read("p,a;s)s x", false).as_deref(), Some("p,a;s)s"));
        assert_eq!(read("pass, x", false).as_deref(), Some("pass"));
        assert_eq!(read("pass;Database=x ", false).as_deref(), Some("pass"));
        assert_eq!(read("pass", false), None);
        assert_eq!(read("pass,", false), None);
        assert_eq!(read("pass,more", false), None);
        assert_eq!(read("pass.", true).as_deref(), Some("pass"));
    }

    #[test]
    fn a_pair_in_base64_is_known() {
        assert!(decodes_to_pair("dXNlcjpwYXNz"));
        assert!(!decodes_to_pair("knowledge") && !decodes_to_pair("of"));
    }
}
