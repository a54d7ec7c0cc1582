//! Names for what other tools name freely.

/// Letters of a case's id.
const LENGTH: usize = 100;

/// A case's id, `[a-z0-9-]+`, for any text.
pub(crate) fn case_id(text: &str) -> String {
    let mut id = String::new();
    for letter in text.chars() {
        if id.len() >= LENGTH {
            break;
        }
        match letter.to_ascii_lowercase() {
            letter @ ('a'..='z' | '0'..='9') => id.push(letter),
            _ if id.is_empty() || id.ends_with('-') => {}
            _ => id.push('-'),
        }
    }
    let id = id.trim_end_matches('-');
    if id.is_empty() { "sample".to_owned() } else { id.to_owned() }
}

/// Bytes as small hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
