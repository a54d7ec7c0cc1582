//! JSON as Python's `json.dumps` writes it, which is what models saw in training.

use serde_json::Value;

/// How `tojson` was asked to write.
pub(super) struct Style {
    pub(super) item_separator: String,
    pub(super) key_separator: String,
    pub(super) indent: Option<String>,
    pub(super) sort_keys: bool,
    pub(super) ensure_ascii: bool,
}

impl Default for Style {
    /// `json.dumps(value, ensure_ascii=False)`.
    fn default() -> Self {
        Self {
            item_separator: ", ".to_owned(),
            key_separator: ": ".to_owned(),
            indent: None,
            sort_keys: false,
            ensure_ascii: false,
        }
    }
}

/// `value` as JSON text in `style`.
pub(super) fn dumps(value: &Value, style: &Style) -> String {
    let mut text = String::new();
    write(value, style, 0, &mut text);
    text
}

fn write(value: &Value, style: &Style, depth: usize, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => text.push_str(&python_number(number)),
        Value::String(string) => write_string(string, style.ensure_ascii, text),
        Value::Array(items) => write_items(items.len(), ('[', ']'), style, depth, text, |index, text| {
            write(&items[index], style, depth + 1, text);
        }),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            if style.sort_keys {
                entries.sort_by_key(|(key, _)| *key);
            }
            write_items(entries.len(), ('{', '}'), style, depth, text, |index, text| {
                let (key, value) = entries[index];
                write_string(key, style.ensure_ascii, text);
                text.push_str(&style.key_separator);
                write(value, style, depth + 1, text);
            });
        }
    }
}

fn write_items(
    count: usize,
    (open, close): (char, char),
    style: &Style,
    depth: usize,
    text: &mut String,
    mut item: impl FnMut(usize, &mut String),
) {
    text.push(open);
    for index in 0..count {
        if index > 0 {
            // With an indent, Python breaks the line in place of the separator's blank.
            let separator =
                if style.indent.is_some() { style.item_separator.trim_end() } else { &style.item_separator };
            text.push_str(separator);
        }
        new_line(style, depth + 1, text);
        item(index, text);
    }
    if count > 0 {
        new_line(style, depth, text);
    }
    text.push(close);
}

fn new_line(style: &Style, depth: usize, text: &mut String) {
    if let Some(indent) = &style.indent {
        text.push('\n');
        text.push_str(&indent.repeat(depth));
    }
}

fn write_string(string: &str, ensure_ascii: bool, text: &mut String) {
    text.push('"');
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            character if character < ' ' || ensure_ascii && !character.is_ascii() => {
                let mut units = [0; 2];
                text.extend(character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
            }
            character => text.push(character),
        }
    }
    text.push('"');
}

/// Rust and Python agree on numbers except for exponents: `1e-7` is Python's `1e-07`.
pub(super) fn python_number(number: &serde_json::Number) -> String {
    let text = number.to_string();
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent.trim_start_matches('+')),
    };
    format!("{}e{sign}{digits:0>2}", mantissa.strip_suffix(".0").unwrap_or(mantissa))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_equals_pythons() {
        // Expected texts are json.dumps' of Python 3.11.
        let value: Value =
            serde_json::from_str(r#"{"b":[1,2.5,1e-7,1e22,true,null],"a":{"é":"\"\\\n\u0001😀"},"e":[],"o":{}}"#)
                .unwrap();
        assert_eq!(
            dumps(&value, &Style::default()),
            r#"{"b": [1, 2.5, 1e-07, 1e+22, true, null], "a": {"é": "\"\\\n\u0001😀"}, "e": [], "o": {}}"#
        );
        let style = Style { indent: Some("  ".into()), sort_keys: true, ensure_ascii: true, ..Style::default() };
        assert_eq!(
            dumps(&value, &style),
            "{\n  \"a\": {\n    \"\\u00e9\": \"\\\"\\\\\\n\\u0001\\ud83d\\ude00\"\n  },\n  \"b\": [\n    1,\n    2.5,\n    1e-07,\n    1e+22,\n    true,\n    null\n  ],\n  \"e\": [],\n  \"o\": {}\n}"
        );
    }
}
