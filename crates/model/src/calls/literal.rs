//! The contents of a quoted string: escapes, and the paths that look like escapes.

/// What the decoder had to assume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decoded {
    /// The string's value.
    pub(super) text: String,
    /// True when a backslash was kept that JSON would have refused, or read as an escape.
    pub(super) repaired: bool,
}

/// Decodes what stands between the quotes. `key` is the parameter's name, a hint for paths.
///
/// JSON escapes are JSON escapes, except where they cannot be meant: in `C:\Users\new` the `\n`
/// is no line break. A backslash that starts no escape is kept, and makes its whole word literal.
pub(super) fn decode(raw: &str, key: Option<&str>) -> Decoded {
    if !raw.contains('\\') {
        return Decoded { text: raw.to_owned(), repaired: false };
    }
    let Some(path) = path_start(raw, key) else {
        return decode_words(raw);
    };
    let mut decoded = decode_words(&raw[..path]);
    keep_backslashes(&raw[path..], &mut decoded.text);
    decoded.repaired = true;
    decoded
}

/// Where a Windows path with single backslashes starts, if there is one.
fn path_start(raw: &str, key: Option<&str>) -> Option<usize> {
    if is_unc(raw) {
        return Some(0);
    }
    let bytes = raw.as_bytes();
    let mut at = 0;
    while let Some(offset) = raw[at..].find(":\\") {
        let colon = at + offset;
        at = colon + 2;
        let starts_word = colon >= 1 && (colon == 1 || !bytes[colon - 2].is_ascii_alphanumeric());
        let drive = starts_word && bytes[colon - 1].is_ascii_alphabetic();
        let names = |next: &u8| next.is_ascii_alphanumeric() || matches!(next, b'_' | b'.' | b'$' | b'%' | b'(');
        if !drive || !bytes.get(at).is_some_and(names) {
            continue;
        }
        if is_path(&raw[at - 1..], key, bytes[colon - 1]) {
            return Some(colon - 1);
        }
    }
    None
}

/// `\\server\share`: two backslashes, then single ones.
fn is_unc(raw: &str) -> bool {
    let Some(rest) = raw.strip_prefix("\\\\") else { return false };
    let server = rest.find('\\').unwrap_or(0);
    server > 0
        && rest[..server].bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
        && rest.as_bytes().get(server + 1).is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'_')
}

/// Is `\…` after a drive letter a path, or an escape after "Q:"?
fn is_path(tail: &str, key: Option<&str>, drive: u8) -> bool {
    const HINTS: [&str; 9] = ["path", "file", "dir", "folder", "cwd", "chemin", "fichier", "dossier", "location"];
    let word = tail.split_whitespace().next().unwrap_or("");
    let forbidden = |c: char| matches!(c, '/' | ':' | '*' | '?' | '<' | '>' | '|');
    let hinted = key.is_some_and(|key| {
        let key = key.to_ascii_lowercase();
        HINTS.iter().any(|hint| key.contains(hint))
    });
    has_invalid_escape(word)
        || hinted
        || (!word.contains(forbidden) && word.matches('\\').count() >= 2)
        || (!word.contains(forbidden) && matches!(drive.to_ascii_lowercase(), b'c'..=b'h'))
}

fn has_invalid_escape(word: &str) -> bool {
    let mut at = 0;
    while let Some(offset) = word[at..].find('\\') {
        let (_, length) = escape(&word[at + offset..]);
        let Some(length) = length else { return true };
        at += offset + length;
    }
    false
}

/// The value and length of the escape that `text` starts with; no length when it is none.
fn escape(text: &str) -> (char, Option<usize>) {
    let simple = |c| (c, Some(2));
    match text.as_bytes().get(1) {
        // Also Python's and JavaScript's line continuation.
        Some(b'n' | b'\n') => simple('\n'),
        Some(b't') => simple('\t'),
        Some(b'r') => simple('\r'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(quoted @ (b'"' | b'\'' | b'\\' | b'/' | b'`')) => simple(char::from(*quoted)),
        Some(b'u') => unicode_escape(text),
        _ => ('\\', None),
    }
}

/// `\uXXXX`, a surrogate pair included.
fn unicode_escape(text: &str) -> (char, Option<usize>) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 4)?;
        let all_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        all_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
    };
    let Some(high) = unit(2) else { return ('\\', None) };
    if let Some(plain) = char::from_u32(high) {
        return (plain, Some(6));
    }
    let low = if text.get(6..8) == Some("\\u") { unit(8) } else { None };
    match low {
        Some(low @ 0xDC00..=0xDFFF) if high < 0xDC00 => {
            let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), Some(12))
        }
        _ => (char::REPLACEMENT_CHARACTER, Some(6)),
    }
}

/// Decodes escapes word by word: a word with something that is no escape is literal as a whole.
pub(super) fn decode_words(raw: &str) -> Decoded {
    let mut decoded = Decoded { text: String::with_capacity(raw.len()), repaired: false };
    for word in raw.split_inclusive(char::is_whitespace) {
        if has_invalid_escape(word) {
            keep_backslashes(word, &mut decoded.text);
            decoded.repaired = true;
        } else {
            decode_word(word, &mut decoded.text);
        }
    }
    decoded
}

fn decode_word(word: &str, into: &mut String) {
    let mut at = 0;
    while let Some(offset) = word[at..].find('\\') {
        into.push_str(&word[at..at + offset]);
        let (value, length) = escape(&word[at + offset..]);
        into.push(value);
        at += offset + length.unwrap_or(1);
    }
    into.push_str(&word[at..]);
}

/// Keeps every backslash but those before a quote; a doubled one inside a path is a single one.
fn keep_backslashes(raw: &str, into: &mut String) {
    let mut rest = raw;
    if let Some(unc) = rest.strip_prefix("\\\\") {
        into.push_str("\\\\");
        rest = unc;
    }
    while let Some(at) = rest.find('\\') {
        into.push_str(&rest[..at]);
        let next = rest.as_bytes().get(at + 1);
        let kept = match next {
            Some(b'"') => "\"",
            Some(b'\\') => "\\",
            _ => "",
        };
        if kept.is_empty() {
            into.push('\\');
            rest = &rest[at + 1..];
        } else {
            into.push_str(kept);
            rest = &rest[at + 2..];
        }
    }
    into.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &str) -> String {
        decode(raw, Some("text")).text
    }

    #[test]
    fn proper_escapes_are_json_escapes() {
        assert_eq!(text(r#"a\nb\t\"c\" \\d\/ \u00e9 \ud83d\ude00"#), "a\nb\t\"c\" \\d/ é 😀");
        assert_eq!(text(r"C:\\Users\\new"), r"C:\Users\new");
        assert!(!decode(r"C:\\Users\\new", None).repaired);
        assert_eq!(text(r"Q:\nWhat?"), "Q:\nWhat?");
        assert_eq!(text(r"note:\nbuy milk"), "note:\nbuy milk");
        assert_eq!(text(r"lone \ud800!"), "lone \u{fffd}!");
    }

    #[test]
    fn windows_paths_keep_their_backslashes() {
        for path in [r"C:\Users\new", r"c:\temp\notes.txt", r"C:\new", r"D:\Program Files\new\table", r"\\nas\new"] {
            assert_eq!(text(path), path);
        }
        assert_eq!(decode(r"Z:\notes", Some("file_path")).text, r"Z:\notes");
        assert_eq!(text(r"open C:\Users\new please"), r"open C:\Users\new please");
        assert_eq!(text(r"first\nsecond C:\Users\new"), "first\nsecond C:\\Users\\new");
    }

    #[test]
    fn what_is_no_escape_stays() {
        assert_eq!(text(r"\d+\.\w and \n"), "\\d+\\.\\w and \n");
        assert_eq!(text(r"50\% off"), r"50\% off");
        assert_eq!(text("ends with \\"), "ends with \\");
    }
}
