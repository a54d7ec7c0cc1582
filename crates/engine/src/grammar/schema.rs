//! What is done to a JSON Schema before it is compiled.
//!
//! Two things, both so that every answer parses: numbers without bounds get wide ones, because an
//! unbounded number may have a thousand digits or an exponent that no float holds; and "any value"
//! is spelt out, because the numbers in it need bounds, too. Keywords that a grammar cannot
//! express (`uniqueItems`, `not`, unknown formats) are left to whoever validates the answer.

use serde_json::{Map, Value, json};

/// Largest magnitude of an unbounded number: 15 digits, which every JSON reader keeps exactly.
const MOST: i64 = 999_999_999_999_999;

/// Where "any value" is defined.
const ANY: &str = "tenpass-any-value";

/// Keywords that hold one schema.
const ONE: &[&str] = &["additionalProperties", "items", "not", "contains", "propertyNames"];
/// Keywords that hold a list of schemas.
const LISTS: &[&str] = &["anyOf", "oneOf", "allOf", "prefixItems"];
/// Keywords that hold schemas by name.
const MAPS: &[&str] = &["properties", "patternProperties", "$defs", "definitions"];
/// Keywords that say nothing about the value.
const ANNOTATIONS: &[&str] =
    &["title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly", "$defs"];

/// The schema as it is compiled.
pub(super) fn prepare(schema: &Map<String, Value>) -> Value {
    let mut schema = schema.clone();
    let mut uses_any = false;
    bound(&mut schema, &mut uses_any);
    if uses_any {
        let definitions = schema.entry("$defs").or_insert_with(|| json!({}));
        if let Value::Object(definitions) = definitions {
            definitions.insert(ANY.to_owned(), any_value());
        }
    }
    schema.insert("x-guidance".to_owned(), json!({ "whitespace_flexible": false, "lenient": true }));
    Value::Object(schema)
}

/// Adds bounds below `schema`.
fn bound(schema: &mut Map<String, Value>, uses_any: &mut bool) {
    let types = types(schema);
    let is = |name: &str| types.iter().any(|kind| kind == name);
    if is("number") || is("integer") {
        bound_number(schema);
    }
    // What these leave open is any value.
    if is("object") && !schema.contains_key("additionalProperties") && !schema.contains_key("unevaluatedProperties") {
        schema.insert("additionalProperties".to_owned(), Value::Bool(true));
    }
    if is("array") && !schema.contains_key("items") {
        schema.insert("items".to_owned(), Value::Bool(true));
    }
    for (keyword, value) in schema.iter_mut() {
        match value {
            value if ONE.contains(&keyword.as_str()) => bound_value(value, uses_any),
            Value::Array(items) if LISTS.contains(&keyword.as_str()) => {
                for item in items {
                    bound_value(item, uses_any);
                }
            }
            Value::Object(entries) if MAPS.contains(&keyword.as_str()) => {
                for entry in entries.values_mut() {
                    bound_value(entry, uses_any);
                }
            }
            _ => {}
        }
    }
}

fn bound_value(schema: &mut Value, uses_any: &mut bool) {
    let any = match schema {
        Value::Bool(flag) => *flag,
        Value::Object(map) => map.keys().all(|keyword| ANNOTATIONS.contains(&keyword.as_str())),
        _ => false,
    };
    if any {
        *uses_any = true;
        *schema = json!({ "$ref": format!("#/$defs/{ANY}") });
    } else if let Value::Object(map) = schema {
        bound(map, uses_any);
    }
}

fn bound_number(schema: &mut Map<String, Value>) {
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let (low, high) =
        (number("minimum").or(number("exclusiveMinimum")), number("maximum").or(number("exclusiveMaximum")));
    let most = MOST as f64;
    // A bound of the schema's own that lies beyond stays alone.
    if high.is_none() && low.is_none_or(|low| low < most) {
        schema.insert("maximum".to_owned(), MOST.into());
    }
    if low.is_none() && high.is_none_or(|high| high > -most) {
        schema.insert("minimum".to_owned(), (-MOST).into());
    }
}

fn types(schema: &Map<String, Value>) -> Vec<String> {
    if schema.contains_key("enum") || schema.contains_key("const") {
        return Vec::new();
    }
    let name = |value: &Value| value.as_str().map(str::to_owned);
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().filter_map(name).collect(),
        Some(single) => name(single).into_iter().collect(),
        None => Vec::new(),
    }
}

fn any_value() -> Value {
    let any = json!({ "$ref": format!("#/$defs/{ANY}") });
    json!({ "anyOf": [
        { "type": ["string", "boolean", "null"] },
        { "type": "number", "minimum": -MOST, "maximum": MOST },
        { "type": "array", "items": any },
        { "type": "object", "additionalProperties": any },
    ] })
}
