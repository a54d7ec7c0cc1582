//! Tools as a short list for the system message: a third of the tokens of their JSON.

use std::fmt::Write as _;

use serde_json::Value;
use tenpass_trace::ToolDefinition;

use crate::describe::{choices, properties, required_names};

/// References deeper than this are shown by their type only.
const DEEPEST: usize = 4;

/// One block a tool: name and description, then one line an argument with type, choices,
/// obligation and meaning.
pub(super) fn list(tools: &[ToolDefinition]) -> String {
    let mut text = String::new();
    for tool in tools {
        line(&mut text, format_args!("{}: {}", tool.name, tool.description.trim()));
        arguments(&mut text, &tool.parameters, &tool.parameters, 1);
    }
    text.truncate(text.trim_end().len());
    text
}

fn arguments(text: &mut String, schema: &Value, root: &Value, depth: usize) {
    let schema = resolved(schema, root);
    let required = required_names(schema);
    for (name, property) in properties(schema) {
        let property = resolved(property, root);
        let indent = "  ".repeat(depth);
        let obligation = if required.contains(&name.as_str()) { "" } else { ", optional" };
        let kind = kind(property, root);
        match property.get("description").and_then(Value::as_str) {
            Some(meaning) => line(text, format_args!("{indent}{name} ({kind}{obligation}): {}", meaning.trim())),
            None => line(text, format_args!("{indent}{name} ({kind}{obligation})")),
        }
        if depth < DEEPEST {
            let inner = property.get("items").map_or(property, |items| resolved(items, root));
            arguments(text, inner, root, depth + 1);
        }
    }
}

fn kind(schema: &Value, root: &Value) -> String {
    if let Some(choices) = choices(schema) {
        return choices;
    }
    if let Some(branches) = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array) {
        let kinds: Vec<String> = branches.iter().map(|branch| kind(resolved(branch, root), root)).collect();
        return kinds.join(" or ");
    }
    let name = match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ if schema.get("properties").is_some() => "object".to_owned(),
        _ => "any".to_owned(),
    };
    if name == "array" {
        return schema.get("items").map_or(name, |items| format!("list of {}", kind(resolved(items, root), root)));
    }
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(low), Some(high)) => format!("{name} {low} to {high}"),
        (Some(low), None) => format!("{name} from {low}"),
        (None, Some(high)) => format!("{name} up to {high}"),
        (None, None) => name,
    }
}

/// Follows local references; an unknown or circular one is shown as it stands.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut current = schema;
    for _ in 0..DEEPEST {
        let Some(target) = current.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'))
        else {
            break;
        };
        match root.pointer(target) {
            Some(next) => current = next,
            None => break,
        }
    }
    current
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{arguments}");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_fact_of_the_schema_has_its_place() {
        let tool = ToolDefinition::new("send", "Sends a letter. ").with_parameters(json!({
            "type": "object",
            "properties": {
                "to": {"type": "array", "items": {"$ref": "#/$defs/person"}},
                "copies": {"type": "integer", "minimum": 1, "maximum": 3, "description": "How many."},
                "by": {"enum": ["air", "sea"]},
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}]}
            },
            "required": ["to", "by"],
            "$defs": {"person": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}
        }));
        let expected = "\
send: Sends a letter.
  to (list of object)
    name (string)
  copies (integer 1 to 3, optional): How many.
  by (air | sea)
  note (string or null, optional)
ping: Pings.";
        assert_eq!(list(&[tool, ToolDefinition::new("ping", "Pings.")]), expected);
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let circular = ToolDefinition::new("t", "").with_parameters(json!({
            "type": "object", "properties": {"self": {"$ref": "#"}, "loop": {"$ref": "#/properties/loop"}}
        }));
        assert!(list(&[circular]).lines().count() < 40);
    }
}
