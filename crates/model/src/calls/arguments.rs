//! From what stands where the arguments belong to an object of arguments that fits the schema.
//!
//! Two steps, each noted when it changes anything: decoding (a string of JSON, once or twice; a
//! list around the object) and fitting to the tool's own schema. Fitting only undoes what can be
//! read in one way: `"3"` where the schema has an integer and no string, `["v"]` where it has a
//! string and no array, `"[1,2]"` where it has an array and no string.

use serde_json::{Map, Number, Value};
use tenpass_trace::ToolDefinition;

use super::lenient::{self, Dialect, State};
use super::source::Work;

/// Encoded more often than this is not decoded.
const MAX_ENCODINGS: usize = 3;

/// Decoded arguments.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Decoded {
    pub(super) map: Map<String, Value>,
    /// How many strings of JSON were around them.
    pub(super) encodings: usize,
    pub(super) notes: Vec<String>,
}

/// Why there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undecodable {
    /// Cut off inside.
    Truncated,
    /// Not JSON, nor repairable, nor an object.
    Unparseable,
}

/// Decodes what a model put where the arguments belong.
pub(super) fn decode(value: &Value, work: &Work) -> Result<Decoded, Undecodable> {
    let mut decoded = Decoded::default();
    let mut value = value.clone();
    loop {
        match value {
            Value::Object(map) => {
                decoded.map = map;
                return Ok(decoded);
            }
            Value::Null => return Ok(decoded),
            Value::Array(mut items) => match (items.len(), items.pop()) {
                (_, None) => return Ok(decoded),
                (1, Some(only @ Value::Object(_))) => {
                    decoded.notes.push("list around the arguments".to_owned());
                    value = only;
                }
                _ => return Err(Undecodable::Unparseable),
            },
            Value::String(text) => {
                let text = text.trim();
                if text.is_empty() {
                    return Ok(decoded);
                }
                decoded.encodings += 1;
                if decoded.encodings > MAX_ENCODINGS {
                    return Err(Undecodable::Unparseable);
                }
                value = decode_text(text, &mut decoded.notes, work)?;
            }
            Value::Bool(_) | Value::Number(_) => return Err(Undecodable::Unparseable),
        }
    }
}

/// Decodes a whole text as one JSON value.
fn decode_text(text: &str, notes: &mut Vec<String>, work: &Work) -> Result<Value, Undecodable> {
    if !text.starts_with(['{', '[', '"', '\'']) && text != "null" && text != "None" {
        return Err(Undecodable::Unparseable);
    }
    let reading = lenient::read(text, 0, Dialect::Json, work);
    notes.extend(reading.repairs.iter().map(|repair| (*repair).to_owned()));
    match reading.state {
        State::Complete if only_closers(&text[reading.end..]) => Ok(reading.value),
        State::Truncated => Err(Undecodable::Truncated),
        State::Complete | State::Invalid => Err(Undecodable::Unparseable),
    }
}

/// Nothing but blanks and closing brackets too many.
pub(super) fn only_closers(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || matches!(c, '}' | ']' | ';' | ','))
}

/// Fits JSON arguments to the tool's schema; what changed goes to `notes`.
pub(super) fn fit(tool: &ToolDefinition, map: &mut Map<String, Value>, notes: &mut Vec<String>, work: &Work) {
    fit_object(&tool.parameters, map, "", notes, work, 0);
}

fn fit_object(
    schema: &Value,
    map: &mut Map<String, Value>,
    path: &str,
    notes: &mut Vec<String>,
    work: &Work,
    depth: usize,
) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    if depth > 16 {
        return;
    }
    for (name, value) in map.iter_mut() {
        if let Some(schema) = properties.get(name) {
            fit_value(schema, value, &format!("{path}/{name}"), notes, work, depth);
        }
    }
}

fn fit_value(schema: &Value, value: &mut Value, path: &str, notes: &mut Vec<String>, work: &Work, depth: usize) {
    let types = Types::of(schema);
    if let Some((fitted, note)) = refit(types, value, work) {
        *value = fitted;
        notes.push(format!("{path}: {note}"));
    }
    match value {
        Value::Object(map) => fit_object(schema, map, path, notes, work, depth + 1),
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return };
            for (index, item) in items.iter_mut().enumerate() {
                fit_value(schema, item, &format!("{path}/{index}"), notes, work, depth + 1);
            }
        }
        _ => {}
    }
}

/// The one other reading of `value` that the schema allows, if what is written it does not allow.
fn refit(types: Types, value: &Value, work: &Work) -> Option<(Value, &'static str)> {
    match value {
        Value::String(text) if !types.is_empty() && !types.has(Types::STRING) => {
            let typed = types.read(text, work)?;
            Some((typed, "was written as a string"))
        }
        Value::Array(items) if types.is_only_scalar() && items.len() == 1 => {
            let only = &items[0];
            if let Value::String(text) = only
                && !types.has(Types::STRING)
            {
                return Some((types.read(text, work)?, "was a string in a list"));
            }
            let fits = match only {
                Value::String(_) => types.has(Types::STRING),
                Value::Number(_) => types.has(Types::NUMBER) || types.has(Types::INTEGER),
                Value::Bool(_) => types.has(Types::BOOLEAN),
                _ => false,
            };
            fits.then(|| (only.clone(), "was wrapped in a list"))
        }
        _ => None,
    }
}

/// Reads the text of a tag (`<parameter=…>`, `<arg_value>`), which has no types of its own.
pub(super) fn from_text(tool: &ToolDefinition, name: &str, text: &str, work: &Work) -> Value {
    let schema = tool.parameters.get("properties").and_then(|properties| properties.get(name));
    let types = schema.map_or(Types(0), Types::of);
    if types.has(Types::STRING) {
        let null = types.has(Types::NULL) && matches!(text, "null" | "None");
        return if null { Value::Null } else { Value::String(unquote(schema, text)) };
    }
    if !types.is_empty() {
        return types.read(text, work).unwrap_or_else(|| Value::String(text.to_owned()));
    }
    // Nothing is known: only what is plainly JSON is taken as JSON.
    match serde_json::from_str::<Value>(text) {
        Ok(Value::String(_)) | Err(_) => Value::String(text.to_owned()),
        Ok(value) => value,
    }
}

/// `"attic"` with its quotes, where an enum knows `attic` but not `"attic"`.
fn unquote(schema: Option<&Value>, text: &str) -> String {
    let inside = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let choices = schema.and_then(|schema| schema.get("enum")).and_then(Value::as_array);
    match (inside, choices) {
        (Some(inside), Some(choices)) if choices.iter().any(|choice| choice == inside) => inside.to_owned(),
        _ => text.to_owned(),
    }
}

/// A call in function syntax, or Gemma's bare values: numbers where the schema wants a string.
pub(super) fn restring(tool: &ToolDefinition, map: &mut Map<String, Value>) {
    let Some(properties) = tool.parameters.get("properties") else { return };
    for (name, value) in map.iter_mut() {
        let types = properties.get(name).map_or(Types(0), Types::of);
        if types.has(Types::STRING) && !types.has(Types::NUMBER | Types::INTEGER) && value.is_number() {
            *value = Value::String(value.to_string());
        }
    }
}

/// The JSON types that a schema allows; empty when it does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Types(u8);

impl Types {
    const STRING: u8 = 1;
    const INTEGER: u8 = 2;
    const NUMBER: u8 = 4;
    const BOOLEAN: u8 = 8;
    const ARRAY: u8 = 16;
    const OBJECT: u8 = 32;
    const NULL: u8 = 64;

    fn of(schema: &Value) -> Self {
        Self(Self::bits(schema, 0))
    }

    fn bits(schema: &Value, depth: usize) -> u8 {
        let mut bits = match schema.get("type") {
            Some(Value::String(name)) => Self::bit(name),
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).fold(0, |all, name| all | Self::bit(name))
            }
            _ => 0,
        };
        for key in ["anyOf", "oneOf"] {
            let branches = schema.get(key).and_then(Value::as_array).filter(|_| depth < 4);
            for branch in branches.into_iter().flatten() {
                bits |= Self::bits(branch, depth + 1);
            }
        }
        if bits == 0 {
            let constants =
                schema.get("enum").and_then(Value::as_array).into_iter().flatten().chain(schema.get("const"));
            bits = constants.fold(0, |all, value| all | Self::bit_of(value));
        }
        bits
    }

    fn bit(name: &str) -> u8 {
        match name {
            "string" | "str" => Self::STRING,
            "integer" | "int" => Self::INTEGER,
            "number" | "float" => Self::NUMBER,
            "boolean" | "bool" => Self::BOOLEAN,
            "array" | "list" => Self::ARRAY,
            "object" | "dict" => Self::OBJECT,
            "null" => Self::NULL,
            // `any`: everything, strings too, so nothing is ever refitted.
            _ => u8::MAX,
        }
    }

    fn bit_of(value: &Value) -> u8 {
        match value {
            Value::String(_) => Self::STRING,
            Value::Number(_) => Self::NUMBER,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
            Value::Null => Self::NULL,
        }
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn has(self, bits: u8) -> bool {
        self.0 & bits != 0
    }

    fn is_only_scalar(self) -> bool {
        !self.is_empty() && !self.has(Self::ARRAY | Self::OBJECT)
    }

    /// Reads `text` as one of the types, none of which is a string.
    fn read(self, text: &str, work: &Work) -> Option<Value> {
        let text = text.trim();
        if self.has(Self::INTEGER | Self::NUMBER)
            && let Ok(number) = serde_json::from_str::<Number>(text)
        {
            let integral = number.as_f64().is_some_and(|value| value.fract() == 0.0);
            return (self.has(Self::NUMBER) || integral).then_some(Value::Number(number));
        }
        if self.has(Self::BOOLEAN) {
            match text {
                "true" | "True" | "TRUE" => return Some(Value::Bool(true)),
                "false" | "False" | "FALSE" => return Some(Value::Bool(false)),
                _ => {}
            }
        }
        if self.has(Self::NULL) && matches!(text, "null" | "None") {
            return Some(Value::Null);
        }
        let container =
            (self.has(Self::ARRAY) && text.starts_with('[')) || (self.has(Self::OBJECT) && text.starts_with('{'));
        if container {
            let reading = lenient::read(text, 0, Dialect::Json, work);
            let whole = reading.state == State::Complete && text[reading.end..].trim().is_empty();
            return whole.then_some(reading.value);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[allow(clippy::needless_pass_by_value, reason = "json! at every call")]
    fn fitted(schema: Value, value: Value) -> (Value, usize) {
        let tool = ToolDefinition::new("t", "").with_parameters(json!({"type":"object","properties":{"x":schema}}));
        let mut map = Map::new();
        map.insert("x".into(), value);
        let mut notes = Vec::new();
        fit(&tool, &mut map, &mut notes, &Work::new(1000));
        (map["x"].clone(), notes.len())
    }

    #[test]
    fn only_what_has_one_reading_is_fitted() {
        assert_eq!(fitted(json!({"type":"integer"}), json!("3")), (json!(3), 1));
        assert_eq!(fitted(json!({"type":"integer"}), json!("3.5")), (json!("3.5"), 0));
        assert_eq!(fitted(json!({"type":"number"}), json!("-2.5")), (json!(-2.5), 1));
        assert_eq!(fitted(json!({"type":"boolean"}), json!("True")), (json!(true), 1));
        assert_eq!(fitted(json!({"type":"boolean"}), json!("yes")), (json!("yes"), 0));
        assert_eq!(fitted(json!({"type":["integer","string"]}), json!("3")), (json!("3"), 0));
        assert_eq!(fitted(json!({"type":"string"}), json!(["v"])), (json!("v"), 1));
        assert_eq!(fitted(json!({"type":"integer"}), json!(["3"])), (json!(3), 1));
        assert_eq!(fitted(json!({"type":"integer"}), json!(["v"])), (json!(["v"]), 0));
        assert_eq!(fitted(json!({"type":"string"}), json!(["v", "w"])), (json!(["v", "w"]), 0));
        assert_eq!(fitted(json!({"type":"array"}), json!(["v"])), (json!(["v"]), 0));
        assert_eq!(fitted(json!({"type":"array"}), json!("[\"a\", \"b\"]")), (json!(["a", "b"]), 1));
        assert_eq!(fitted(json!({"type":"array"}), json!("a, b")), (json!("a, b"), 0));
        assert_eq!(fitted(json!({"type":"array","items":{"type":"integer"}}), json!(["1", 2])), (json!([1, 2]), 1));
        assert_eq!(fitted(json!({"anyOf":[{"type":"integer"},{"type":"null"}]}), json!("3")), (json!(3), 1));
        assert_eq!(fitted(json!({}), json!("3")), (json!("3"), 0));
        assert_eq!(fitted(json!({"type":"any"}), json!("3")), (json!("3"), 0));
    }

    #[test]
    fn encoded_arguments_are_decoded_and_counted() {
        let work = Work::new(1000);
        let once = json!(r#"{"on":true}"#);
        let twice = json!(once.to_string());
        for (value, encodings) in [(json!({"on":true}), 0), (once, 1), (twice, 2)] {
            let decoded = decode(&value, &work).unwrap();
            assert_eq!((Value::Object(decoded.map), decoded.encodings), (json!({"on":true}), encodings));
        }
        assert_eq!(decode(&json!("turn it on"), &work), Err(Undecodable::Unparseable));
        assert_eq!(decode(&json!("{\"on\": tr"), &work), Err(Undecodable::Truncated));
        assert_eq!(decode(&json!(7), &work), Err(Undecodable::Unparseable));
        assert_eq!(decode(&json!(""), &work).unwrap().map.len(), 0);
    }
}
