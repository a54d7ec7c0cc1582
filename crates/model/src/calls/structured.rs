//! The structured channel: reading calls and tool definitions in any usual form, and judging
//! calls as a backend delivered them.

use serde_json::{Map, Value};
use tenpass_trace::{FailureClass, ToolDefinition};

use super::answer::Verdict;
use super::arguments::{self, Undecodable};
use super::lenient::{self, Dialect, State};
use super::objects::resolve;
use super::shape::Shape;
use super::source::{Tools, Work};
use super::{ParseInput, ParsedCall};
use crate::{FinishReason, StructuredCall};

/// Judges the calls of the structured channel. An unknown name is reported as a call; a call whose
/// arguments cannot be read is not.
pub(super) fn judge(input: &ParseInput<'_>, tools: &Tools<'_>, work: &Work, verdict: &mut Verdict) {
    for call in input.structured {
        if let Some(merged) = unmerge(call, tools, work) {
            verdict.add_class(FailureClass::StreamMerge);
            for (tool, arguments) in merged {
                let notes = vec!["two calls ran together".to_owned()];
                verdict.calls.push(finished(&tool.name, tool, arguments, notes, work));
            }
            continue;
        }
        judge_one(call, input.finish, tools, work, verdict);
    }
}

fn judge_one(call: &StructuredCall, finish: FinishReason, tools: &Tools<'_>, work: &Work, verdict: &mut Verdict) {
    let decoded = match arguments::decode(&call.arguments, work) {
        Ok(decoded) => decoded,
        Err(undecodable) => {
            let cut_off = undecodable == Undecodable::Truncated || finish == FinishReason::Length;
            verdict.add_class(if cut_off { FailureClass::ArgsTruncated } else { FailureClass::ArgsUnparseable });
            return;
        }
    };
    let Some((tool, leaked)) = resolve(&call.name, false, tools) else {
        verdict.add_class(FailureClass::UnknownTool);
        verdict.calls.push(ParsedCall {
            name: call.name.clone(),
            arguments: decoded.map,
            recovered: false,
            shape: Shape::Structured.to_string(),
            notes: Vec::new(),
        });
        return;
    };
    let mut notes = decoded.notes;
    if decoded.encodings > 1 {
        notes.push(format!("arguments encoded {} times", decoded.encodings));
        verdict.add_class(FailureClass::ArgsDoubleEncoded);
    }
    if leaked {
        notes.push("a template marker stood in the name".to_owned());
        verdict.add_class(FailureClass::TemplateMarkerLeak);
    }
    if let Some(repaired) = &call.repaired {
        notes.push(repaired.clone());
        verdict.add_class(FailureClass::StreamMerge);
    }
    verdict.calls.push(finished(&tool.name, tool, decoded.map, notes, work));
}

fn finished(
    name: &str,
    tool: &ToolDefinition,
    mut arguments: Map<String, Value>,
    mut notes: Vec<String>,
    work: &Work,
) -> ParsedCall {
    arguments::fit(tool, &mut arguments, &mut notes, work);
    let recovered = !notes.is_empty();
    ParsedCall { name: name.to_owned(), arguments, recovered, shape: Shape::Structured.to_string(), notes }
}

/// `{"on":true}{"on":false}` under one index: the fragments of two calls ran together. The name is
/// a tool's, or the names of that many tools in a row.
fn unmerge<'a>(
    call: &StructuredCall,
    tools: &Tools<'a>,
    work: &Work,
) -> Option<Vec<(&'a ToolDefinition, Map<String, Value>)>> {
    let objects = objects_in_a_row(call.arguments.as_str()?, work)?;
    let names = match tools.get(&call.name) {
        Some(tool) => vec![tool; objects.len()],
        None => split_names(&call.name, objects.len(), tools, work)?,
    };
    Some(names.into_iter().zip(objects).collect())
}

/// At least two whole objects with nothing else.
fn objects_in_a_row(text: &str, work: &Work) -> Option<Vec<Map<String, Value>>> {
    let mut objects = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let reading = lenient::read(rest, 0, Dialect::Json, work);
        match (reading.state, reading.value) {
            (State::Complete, Value::Object(map)) => objects.push(map),
            _ => return None,
        }
        rest = rest[reading.end..].trim_start();
    }
    (objects.len() > 1).then_some(objects)
}

/// `lampheater` as the names of `count` tools in a row, when there is exactly one way.
fn split_names<'a>(name: &str, count: usize, tools: &Tools<'a>, work: &Work) -> Option<Vec<&'a ToolDefinition>> {
    if count == 0 || !work.spend(name.len()) {
        return None;
    }
    if count == 1 {
        return tools.get(name).map(|tool| vec![tool]);
    }
    let mut ways = tools.names().filter_map(|head| {
        let rest = name.strip_prefix(head).filter(|_| !head.is_empty())?;
        let mut tail = split_names(rest, count - 1, tools, work)?;
        tail.insert(0, tools.get(head)?);
        Some(tail)
    });
    let only = ways.next();
    if ways.next().is_some() { None } else { only }
}

/// Reads structured calls in any usual form: `[{"name","arguments"}]`,
/// `[{"id","function":{"name","arguments"}}]`, `{"tool_calls":[…]}`, a whole message or response
/// around that, or one call alone. `arguments` is an object or a string of JSON.
pub fn parse_structured(value: &Value) -> Result<Vec<StructuredCall>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => {
            let each = items.iter().enumerate();
            let calls =
                each.map(|(index, item)| structured_call(item).map_err(|error| format!("call {index}: {error}")));
            calls.collect()
        }
        Value::Object(map) => {
            let choice = map.get("choices").and_then(|choices| choices.get(0));
            if let Some(inner) = map.get("message").or(choice).filter(|inner| inner.is_object()) {
                return parse_structured(inner);
            }
            match map.get("tool_calls").or_else(|| map.get("calls")) {
                Some(calls) => parse_structured(calls),
                None if map.contains_key("role") => Ok(Vec::new()),
                None => Ok(vec![structured_call(value)?]),
            }
        }
        other => Err(format!("expected a list of calls, found {}", kind_of(other))),
    }
}

fn structured_call(value: &Value) -> Result<StructuredCall, String> {
    let map = value.as_object().ok_or_else(|| format!("expected an object, found {}", kind_of(value)))?;
    let entry = map.get("function").and_then(Value::as_object).unwrap_or(map);
    let name = ["name", "tool_name", "tool"].iter().find_map(|key| entry.get(*key)?.as_str());
    let name = name.ok_or("no 'name' that is a string")?.to_owned();
    let keys = ["arguments", "parameters", "args", "input"];
    let arguments = keys.iter().find_map(|key| entry.get(*key)).map_or_else(|| Value::Object(Map::new()), decode_once);
    let id = ["id", "tool_call_id"].iter().find_map(|key| map.get(*key)?.as_str()).map(str::to_owned);
    Ok(StructuredCall { id, name, arguments, repaired: None })
}

/// The wire's string of arguments as the object in it; the string itself when there is none.
fn decode_once(value: &Value) -> Value {
    match value {
        Value::Null => Value::Object(Map::new()),
        Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(object @ Value::Object(_)) => object,
            _ => value.clone(),
        },
        other => other.clone(),
    }
}

/// Reads tool definitions: plain ones, or OpenAI's `{"type":"function","function":{…}}`, in a list,
/// under `tools`, or one alone.
pub fn parse_tools(value: &Value) -> Result<Vec<ToolDefinition>, String> {
    let items = match value {
        Value::Array(items) => items.clone(),
        Value::Object(map) => match map.get("tools").or_else(|| map.get("functions")).or_else(|| map.get("tool")) {
            Some(Value::Array(items)) => items.clone(),
            Some(other) => return Err(format!("'tools': expected a list, found {}", kind_of(other))),
            None => vec![value.clone()],
        },
        other => return Err(format!("expected a list of tools, found {}", kind_of(other))),
    };
    let mut tools: Vec<ToolDefinition> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let tool = tool_definition(item).map_err(|error| format!("tool {index}: {error}"))?;
        if tools.iter().any(|other| other.name == tool.name) {
            return Err(format!("tool {index}: duplicate name '{}'", tool.name));
        }
        tools.push(tool);
    }
    Ok(tools)
}

fn tool_definition(value: &Value) -> Result<ToolDefinition, String> {
    let outer = value.as_object().ok_or_else(|| format!("expected an object, found {}", kind_of(value)))?;
    let map = match outer.get("function") {
        Some(Value::Object(inner)) => inner,
        Some(other) => return Err(format!("'function': expected an object, found {}", kind_of(other))),
        None => outer,
    };
    let name = map.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    let name = name.ok_or("no 'name' that is a string")?;
    let is_ours = ["category", "keywords", "always", "reads"].iter().any(|key| map.contains_key(*key));
    if is_ours && map.contains_key("description") {
        return serde_json::from_value(Value::Object(map.clone())).map_err(|error| error.to_string());
    }
    let description = map.get("description").and_then(Value::as_str).unwrap_or("");
    let tool = ToolDefinition::new(name, description);
    let keys = ["parameters", "input_schema", "inputSchema"];
    match keys.iter().find_map(|key| map.get(*key)) {
        None | Some(Value::Null) => Ok(tool),
        Some(Value::Object(inner)) if inner.is_empty() => Ok(tool),
        Some(schema @ Value::Object(_)) => Ok(tool.with_parameters(schema.clone())),
        Some(other) => Err(format!("'parameters': expected a JSON Schema object, found {}", kind_of(other))),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn structured_calls_are_read_in_every_usual_form() {
        let forms = [
            json!([{"name":"lamp","arguments":{"on":true}}]),
            json!([{"id":"a","type":"function","function":{"name":"lamp","arguments":"{\"on\":true}"}}]),
            json!({"tool_calls":[{"function":{"index":0,"name":"lamp","arguments":{"on":true}}}]}),
            json!({"role":"assistant","tool_calls":[{"function":{"name":"lamp","arguments":{"on":true}}}]}),
            json!({"choices":[{"message":{"tool_calls":[{"function":{"name":"lamp","arguments":"{\"on\":true}"}}]}}]}),
            json!({"name":"lamp","parameters":{"on":true}}),
        ];
        for form in forms {
            let calls = parse_structured(&form).unwrap();
            assert_eq!(calls.len(), 1, "{form}");
            assert_eq!((calls[0].name.as_str(), &calls[0].arguments), ("lamp", &json!({"on":true})), "{form}");
        }
        assert_eq!(parse_structured(&json!({"role":"assistant","content":"hi"})).unwrap(), []);
        assert!(parse_structured(&json!([{"name":"x"}, 3])).unwrap_err().contains("call 1"));
        assert!(parse_structured(&json!("x")).unwrap_err().contains("a string"));
    }

    #[test]
    fn tools_are_read_in_every_usual_form() {
        let schema = json!({"type":"object","properties":{"on":{"type":"boolean"}}});
        let plain = json!({"name":"lamp","description":"d","parameters":schema});
        let wire = json!({"type":"function","function":plain});
        for form in [json!([plain]), json!([wire]), json!({"tools":[wire]}), plain] {
            let tools = parse_tools(&form).unwrap();
            assert_eq!((tools[0].name.as_str(), &tools[0].parameters), ("lamp", &schema));
        }
        let bare = parse_tools(&json!([{"name":"ping"}])).unwrap();
        assert_eq!(bare[0].parameters, json!({"type":"object","properties":{}}));
        let ours = parse_tools(&json!([{"name":"ping","description":"d","reads":true}])).unwrap();
        assert!(ours[0].reads);
        assert!(parse_tools(&json!([{"name":"a"},{"name":"a"}])).unwrap_err().contains("duplicate"));
        assert!(parse_tools(&json!([{"description":"a"}])).unwrap_err().contains("name"));
        assert!(parse_tools(&json!([{"name":"a","parameters":3}])).unwrap_err().contains("a number"));
    }

    #[test]
    fn names_that_ran_together_are_told_apart() {
        let list =
            [ToolDefinition::new("lamp", ""), ToolDefinition::new("lamp_all", ""), ToolDefinition::new("fan", "")];
        let tools = Tools::new(&list);
        let names = |name: &str| {
            let split = split_names(name, 2, &tools, &Work::new(100))?;
            Some(split.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>())
        };
        assert_eq!(names("lamplamp_all"), Some(vec!["lamp".to_owned(), "lamp_all".to_owned()]));
        assert_eq!(names("fanlamp"), Some(vec!["fan".to_owned(), "lamp".to_owned()]));
        assert_eq!(names("fanlam"), None);
    }
}
