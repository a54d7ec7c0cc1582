//! Values as Python prints them: `True`, `None`, `{'a': 1}`.

use minijinja::Value;
use minijinja::value::ValueKind;

/// Python's `str(value)`.
pub(super) fn to_str(value: &Value) -> String {
    match value.kind() {
        ValueKind::Undefined => String::new(),
        ValueKind::String => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        _ => to_repr(value),
    }
}

fn to_repr(value: &Value) -> String {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => "None".to_owned(),
        ValueKind::Bool => if value.is_true() { "True" } else { "False" }.to_owned(),
        ValueKind::Number => match serde_json::to_value(value) {
            Ok(serde_json::Value::Number(number)) => super::json::python_number(&number),
            _ => value.to_string(),
        },
        ValueKind::String => quoted(value.as_str().unwrap_or_default()),
        ValueKind::Seq | ValueKind::Iterable => {
            let items: Vec<String> = value.try_iter().into_iter().flatten().map(|item| to_repr(&item)).collect();
            format!("[{}]", items.join(", "))
        }
        ValueKind::Map => {
            let entry = |key: Value| {
                let item = value.get_item(&key).unwrap_or_default();
                format!("{}: {}", to_repr(&key), to_repr(&item))
            };
            let entries: Vec<String> = value.try_iter().into_iter().flatten().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
        _ => value.to_string(),
    }
}

fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut quoted = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            character if character == quote => quoted.extend(['\\', character]),
            character => quoted.push(character),
        }
    }
    quoted.push(quote);
    quoted
}
