//! Is this JSON value a call?
//!
//! A bare object counts only with the name of one of the turn's tools AND a key that holds
//! arguments. Without such a key it counts only when the name stands under a key that says so
//! (`tool`, `function`, a marker around it) or when the tool takes no parameters: `{"name":"lamp"}`
//! is data as long as `lamp` takes parameters. A tool definition is never a call.

use serde_json::{Map, Value};
use tenpass_trace::ToolDefinition;

use super::arguments::{self, Undecodable};
use super::shape::Shape;
use super::source::{Source, Tools};

/// A call as read, before it is known how it counts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RawCall {
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
    /// Encoded more often than the shape has it.
    pub(super) double_encoded: bool,
    /// A template's marker stood in the name.
    pub(super) leaked: bool,
    /// What had to be assumed.
    pub(super) notes: Vec<String>,
}

/// What a value or a piece of text turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    /// One or more calls of known tools.
    Calls(Vec<RawCall>),
    /// A call of this known tool whose arguments cannot be read.
    Unparseable(String),
    /// A call of this known tool that was cut off.
    Truncated(String),
    /// Written like a call, but of no tool of this turn: it stays text.
    Unknown(String),
    /// No call.
    Data,
}

/// Keys that hold the name, and whether the key alone says that this is a call.
const NAME_KEYS: [(&str, bool); 8] = [
    ("name", false),
    ("tool", true),
    ("tool_name", true),
    ("function", true),
    ("function_name", true),
    ("action", true),
    ("recipient_name", true),
    ("service", false),
];
/// Keys that hold the arguments.
pub(super) const ARGUMENT_KEYS: [&str; 10] = [
    "arguments",
    "parameters",
    "args",
    "params",
    "input",
    "action_input",
    "tool_input",
    "tool_args",
    "kwargs",
    "function_arguments",
];
/// Keys that hold a list of calls.
const LIST_KEYS: [&str; 5] = ["tool_calls", "toolCalls", "function_calls", "tool_uses", "calls"];
/// Keys that hold one call.
const ENTRY_KEYS: [&str; 5] = ["function", "function_call", "tool_call", "toolCall", "tool_use"];
/// Keys around an echoed answer.
const ENVELOPE_KEYS: [&str; 2] = ["message", "choices"];

/// How sure it already is that the value is a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Setting {
    /// A marker or a wrapper says that it is one.
    pub(super) explicit: bool,
    /// Strings of JSON that are normal around the arguments here.
    pub(super) encodings: usize,
}

impl Setting {
    /// Nothing says so.
    pub(super) const BARE: Self = Self { explicit: false, encodings: 0 };
    /// A marker says so.
    pub(super) const MARKED: Self = Self { explicit: true, encodings: 0 };
    /// Inside the wire format, whose arguments are a string.
    const WIRE: Self = Self { explicit: true, encodings: 1 };
}

/// Reads `value`; the shape is that of the value alone, without markers around it.
pub(super) fn interpret(value: &Value, setting: Setting, source: &Source<'_>) -> (Meaning, Shape) {
    interpret_at(value, setting, source, 0)
}

fn interpret_at(value: &Value, setting: Setting, source: &Source<'_>, depth: usize) -> (Meaning, Shape) {
    match value {
        _ if depth > 4 => (Meaning::Data, Shape::JsonObject),
        Value::Array(items) => list(items, setting, source, depth),
        Value::Object(map) => object(map, setting, source, depth),
        _ => (Meaning::Data, Shape::JsonObject),
    }
}

/// A list is calls when every element is written like one.
fn list(items: &[Value], setting: Setting, source: &Source<'_>, depth: usize) -> (Meaning, Shape) {
    let mut calls = Vec::new();
    let mut shape = Shape::JsonObject;
    let mut unknown = None;
    let mut problem = None;
    for item in items {
        let (meaning, item_shape) = interpret_at(item, setting, source, depth + 1);
        match meaning {
            Meaning::Calls(more) => {
                calls.extend(more);
                shape = item_shape;
            }
            Meaning::Unknown(name) => unknown = Some(name),
            Meaning::Data if !setting.explicit => return (Meaning::Data, shape),
            Meaning::Data => {}
            trouble => problem = Some(trouble),
        }
    }
    let meaning = match (calls.is_empty(), problem, unknown) {
        (false, ..) => Meaning::Calls(calls),
        (true, Some(problem), _) => problem,
        (true, None, Some(name)) => Meaning::Unknown(name),
        (true, None, None) => Meaning::Data,
    };
    (meaning, shape)
}

fn object(map: &Map<String, Value>, setting: Setting, source: &Source<'_>, depth: usize) -> (Meaning, Shape) {
    for key in LIST_KEYS {
        if let Some(items @ Value::Array(_)) = map.get(key) {
            let (meaning, _) = interpret_at(items, Setting::WIRE, source, depth + 1);
            return (meaning, Shape::OpenaiEcho);
        }
    }
    for key in ENVELOPE_KEYS {
        if let Some(inner) = map.get(key).filter(|inner| inner.is_object() || inner.is_array()) {
            let (meaning, shape) = interpret_at(inner, setting, source, depth + 1);
            if shape == Shape::OpenaiEcho && meaning != Meaning::Data {
                return (meaning, shape);
            }
        }
    }
    for key in ENTRY_KEYS {
        if let Some(Value::Object(entry)) = map.get(key) {
            let (meaning, _) = entry_of(entry, map, source);
            return (meaning, Shape::ToolObject);
        }
    }
    if map.get("method").and_then(Value::as_str) == Some("tools/call")
        && let Some(Value::Object(entry)) = map.get("params")
    {
        return (named(entry, Setting::MARKED, source).0, Shape::ToolObject);
    }
    match named(map, setting, source) {
        (Meaning::Data, _) => (keyed(map, setting, source), Shape::ToolObject),
        found => found,
    }
}

/// `{"function": {"name": …, "arguments": …}}`; some put the arguments beside it.
fn entry_of(entry: &Map<String, Value>, around: &Map<String, Value>, source: &Source<'_>) -> (Meaning, Shape) {
    let beside = ARGUMENT_KEYS.iter().find_map(|key| around.get_key_value(*key));
    match beside {
        Some((key, arguments)) if !ARGUMENT_KEYS.iter().any(|key| entry.contains_key(*key)) => {
            let mut entry = entry.clone();
            entry.insert(key.clone(), arguments.clone());
            named(&entry, Setting::WIRE, source)
        }
        _ => named(entry, Setting::WIRE, source),
    }
}

/// An object with a name under one of the known keys.
fn named(map: &Map<String, Value>, setting: Setting, source: &Source<'_>) -> (Meaning, Shape) {
    let names = || NAME_KEYS.iter().filter_map(|(key, telling)| Some((*key, *telling, map.get(*key)?.as_str()?)));
    let is_known = |written: &str| resolve(written, true, source.tools).is_some();
    let found = names().find(|(_, _, written)| is_known(written)).or_else(|| names().next());
    let Some((key, telling, written)) = found else { return (Meaning::Data, Shape::JsonObject) };
    let shape = if key == "name" { Shape::JsonObject } else { Shape::ToolObject };
    let given = ARGUMENT_KEYS.iter().find_map(|key| Some((*key, map.get(*key)?)));
    let Some((tool, leaked)) = resolve(written, key == "recipient_name", source.tools) else {
        let like_a_call = given.is_some_and(|(_, value)| !is_schema(value, None)) && key != "service";
        return (if like_a_call { Meaning::Unknown(written.to_owned()) } else { Meaning::Data }, shape);
    };
    let telling = telling || map.get("type").and_then(Value::as_str) == Some("function");
    let meaning = match given {
        Some((key, value)) if is_definition(key, value, map, tool) => Meaning::Data,
        Some((_, value)) => call_of(tool, value, setting, leaked, source),
        None => without_arguments(map, key, tool, setting, telling, leaked, source),
    };
    (meaning, shape)
}

/// The tool that a written name means, and whether a channel marker had to be cut off it.
pub(super) fn resolve<'a>(written: &str, qualified: bool, tools: &Tools<'a>) -> Option<(&'a ToolDefinition, bool)> {
    if let Some(tool) = tools.get(written) {
        return Some((tool, false));
    }
    if qualified && let Some(tool) = tools.get_qualified(written) {
        return Some((tool, false));
    }
    let (clean, _) = written.split_once("<|")?;
    tools.get_qualified(clean).map(|tool| (tool, true))
}

/// A call of `tool` with what stands where its arguments belong.
pub(super) fn call_of(
    tool: &ToolDefinition,
    value: &Value,
    setting: Setting,
    leaked: bool,
    source: &Source<'_>,
) -> Meaning {
    match arguments::decode(value, source.work) {
        Ok(decoded) => {
            let mut call = RawCall {
                name: tool.name.clone(),
                arguments: decoded.map,
                double_encoded: decoded.encodings > setting.encodings,
                leaked,
                notes: decoded.notes,
            };
            if call.double_encoded {
                call.notes.push(format!("arguments encoded {} times", decoded.encodings + 1));
            }
            arguments::fit(tool, &mut call.arguments, &mut call.notes, source.work);
            Meaning::Calls(vec![call])
        }
        Err(Undecodable::Unparseable | Undecodable::Truncated) => Meaning::Unparseable(tool.name.clone()),
    }
}

/// A name without an argument key: a call without arguments, or with its arguments beside the name.
fn without_arguments(
    map: &Map<String, Value>,
    name_key: &str,
    tool: &ToolDefinition,
    setting: Setting,
    telling: bool,
    leaked: bool,
    source: &Source<'_>,
) -> Meaning {
    const ENVELOPE: [&str; 7] = ["id", "type", "index", "tool_call_id", "call_id", "thought", "reasoning"];
    let beside: Map<String, Value> = map
        .iter()
        .filter(|(key, _)| *key != name_key)
        .filter(|(key, _)| has_property(tool, key) || !ENVELOPE.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if beside.is_empty() {
        let said = setting.explicit || (telling && required(tool).next().is_none());
        let complete = takes_nothing(tool) || said;
        return if complete { call_of(tool, &Value::Null, Setting::BARE, leaked, source) } else { Meaning::Data };
    }
    let fits = beside.keys().all(|key| has_property(tool, key)) && required(tool).all(|key| beside.contains_key(key));
    // A homeassistant service has its data beside the name, always.
    if fits && (setting.explicit || telling || name_key == "service") {
        return call_of(tool, &Value::Object(beside), Setting::BARE, leaked, source);
    }
    Meaning::Data
}

/// `{"lamp": {"on": true}}`: every key a tool, every value arguments that the tool knows.
fn keyed(map: &Map<String, Value>, setting: Setting, source: &Source<'_>) -> Meaning {
    let mut calls = Vec::new();
    for (name, value) in map {
        let Some(tool) = source.tools.get(name) else { return Meaning::Data };
        let known = match value {
            Value::Object(arguments) if !is_schema(value, Some(tool)) => {
                arguments.keys().all(|key| has_property(tool, key) || properties(tool).is_none())
                    && (setting.explicit || required(tool).all(|key| arguments.contains_key(key)))
            }
            Value::Null => takes_nothing(tool),
            _ => false,
        };
        if !known {
            return Meaning::Data;
        }
        match call_of(tool, value, Setting::BARE, false, source) {
            Meaning::Calls(more) => calls.extend(more),
            other => return other,
        }
    }
    if calls.is_empty() { Meaning::Data } else { Meaning::Calls(calls) }
}

/// The tool's own definition, recited.
fn is_definition(key: &str, value: &Value, around: &Map<String, Value>, tool: &ToolDefinition) -> bool {
    let described = key == "parameters" && around.contains_key("description") && !has_property(tool, "description");
    let only_schemas = |map: &Map<String, Value>| !map.is_empty() && map.values().all(Value::is_object);
    is_schema(value, Some(tool)) || (described && value.as_object().is_some_and(only_schemas))
}

/// A JSON Schema of an object rather than arguments.
fn is_schema(value: &Value, tool: Option<&ToolDefinition>) -> bool {
    let Some(map) = value.as_object() else { return false };
    let describes = map.get("properties").is_some_and(Value::is_object)
        || (map.get("type").and_then(Value::as_str) == Some("object") && map.len() == 1);
    describes && !tool.is_some_and(|tool| has_property(tool, "properties"))
}

fn properties(tool: &ToolDefinition) -> Option<&Map<String, Value>> {
    tool.parameters.get("properties").and_then(Value::as_object)
}

/// Does the tool have a parameter of this name?
pub(super) fn has_property(tool: &ToolDefinition, name: &str) -> bool {
    properties(tool).is_some_and(|properties| properties.contains_key(name))
}

/// Does its schema say which parameters it has?
pub(super) fn lists_properties(tool: &ToolDefinition) -> bool {
    properties(tool).is_some_and(|properties| !properties.is_empty())
}

/// A tool without parameters.
pub(super) fn takes_nothing(tool: &ToolDefinition) -> bool {
    !lists_properties(tool) && required(tool).next().is_none()
}

/// The tool's required parameters.
pub(super) fn required(tool: &ToolDefinition) -> impl Iterator<Item = &str> {
    tool.parameters.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The tool's parameters in the order of positional arguments: as the schema lists them.
pub(super) fn parameter_names(tool: &ToolDefinition) -> Vec<&str> {
    properties(tool).into_iter().flat_map(|properties| properties.keys()).map(String::as_str).collect()
}
