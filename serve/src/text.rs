//! Texts on their way out: nothing that hides, reorders or controls.

use serde_json::Value;

/// `text` without control characters (but line breaks and tabs) and without characters that change
/// the direction of what stands around them. What a confirmation shows goes through
/// [`tenpass_agent::untrusted::visible`] instead, which hides nothing.
pub fn clean(text: &str) -> String {
    text.chars().filter(|character| !is_hostile(*character)).collect()
}

fn is_hostile(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

/// The same for every text in a JSON value, keys included.
pub fn clean_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(text)),
        Value::Array(values) => Value::Array(values.iter().map(clean_value).collect()),
        Value::Object(map) => Value::Object(map.iter().map(|(key, value)| (clean(key), clean_value(value))).collect()),
        other => other.clone(),
    }
}

/// The first `most` characters, with an ellipsis where something was left out.
pub fn shortened(text: &str, most: usize) -> String {
    let mut characters = text.chars();
    let kept: String = characters.by_ref().take(most).collect();
    if characters.next().is_some() { format!("{kept}…") } else { kept }
}

/// On one line, cleaned and shortened.
pub fn one_line(text: &str, most: usize) -> String {
    shortened(&clean(text).split_whitespace().collect::<Vec<_>>().join(" "), most)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_controls_or_reorders_is_left_out() {
        assert_eq!(clean("a\u{1b}[2Jb\u{202e}c\r\n\td\0é"), "a[2Jbc\n\tdé");
        assert_eq!(clean_value(&json!({ "k\u{7}": ["\u{2066}x", 1] })), json!({ "k": ["x", 1] }));
        assert_eq!(one_line("a\n  b\tc", 3), "a b…");
    }
}
