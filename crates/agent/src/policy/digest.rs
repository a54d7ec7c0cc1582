//! Digests of calls: sha256 over canonical JSON, so that key order and white space never matter and
//! a changed value always does.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// JSON without white space and with the keys of every object sorted by their bytes.
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, &mut text);
    text
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => write_object(object, text),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_value(item, text);
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

fn write_object(object: &Map<String, Value>, text: &mut String) {
    let mut keys: Vec<&String> = object.keys().collect();
    keys.sort_unstable();
    text.push('{');
    for (index, key) in keys.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&Value::from(key.as_str()).to_string());
        text.push(':');
        if let Some(value) = object.get(key) {
            write_value(value, text);
        }
    }
    text.push('}');
}

/// The digest of a call as the model made it ([`tenpass_trace::Intention::digest`]): hex sha256 of
/// the canonical `{"arguments":…,"tool":…}`.
pub fn call_digest(tool: &str, arguments: &Map<String, Value>) -> String {
    hex_sha256(&canonical_json(&serde_json::json!({ "tool": tool, "arguments": arguments })))
}

/// The same digest for arguments as a record holds them, whatever their type.
pub(crate) fn signature(tool: &str, arguments: &Value) -> String {
    hex_sha256(&canonical_json(&serde_json::json!({ "tool": tool, "arguments": arguments })))
}

/// The digest of a confirmation: as [`call_digest`], with the lines that the tool computed.
pub fn confirmation_digest(tool: &str, arguments: &Map<String, Value>, preview: &[String]) -> String {
    hex_sha256(&canonical_json(&serde_json::json!({ "tool": tool, "arguments": arguments, "preview": preview })))
}

fn hex_sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
