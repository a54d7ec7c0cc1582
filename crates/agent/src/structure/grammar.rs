//! The schema that a constrained answer follows: one call of one tool, or an answer in words.

use serde_json::{Map, Value, json};
use tenpass_trace::ToolDefinition;

use crate::schema;

/// The pseudo-tool that means "no call, say this". No real tool may bear this name.
pub const ANSWER: &str = "answer";

/// Keywords that tell a sampler nothing.
const ANNOTATIONS: [&str; 9] =
    ["description", "title", "examples", "example", "default", "$comment", "$schema", "$id", "deprecated"];

/// `{"name": …, "arguments": …}` as an `anyOf` with one branch a tool, the tool's own schema for
/// its arguments, and a last branch for [`ANSWER`].
pub fn call_schema(tools: &[ToolDefinition]) -> Value {
    let mut definitions = Map::new();
    let mut branches: Vec<Value> =
        tools.iter().map(|tool| branch(&tool.name, &arguments_schema(tool, &mut definitions))).collect();
    branches.push(branch(
        ANSWER,
        &json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": false}),
    ));
    let mut schema = json!({ "anyOf": branches });
    if !definitions.is_empty() {
        schema["$defs"] = Value::Object(definitions);
    }
    schema
}

fn branch(name: &str, arguments: &Value) -> Value {
    json!({
        "type": "object",
        "properties": { "name": {"const": name}, "arguments": arguments },
        "required": ["name", "arguments"],
        "additionalProperties": false
    })
}

/// The tool's schema, closed and without annotations. One with local references moves to `$defs`
/// as a whole, where its references are pointed at their new place.
fn arguments_schema(tool: &ToolDefinition, definitions: &mut Map<String, Value>) -> Value {
    let mut parameters = schema::object_schema(&tool.parameters);
    schema::strip_keywords(&mut parameters, &ANNOTATIONS);
    schema::close_objects_for_sampler(&mut parameters);
    if !schema::has_local_reference(&parameters) {
        return parameters;
    }
    let place = format!("#/$defs/{}", tool.name);
    schema::rebase_references(&mut parameters, &place);
    definitions.insert(tool.name.clone(), parameters);
    json!({ "$ref": place })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_inside_a_tool_resolve_in_the_whole() {
        let tree = ToolDefinition::new("tree", "").with_parameters(json!({
            "type": "object",
            "properties": {"root": {"$ref": "#/$defs/node"}},
            "required": ["root"],
            "$defs": {"node": {
                "type": "object",
                "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
                "required": ["value"],
                "additionalProperties": false
            }}
        }));
        let schema = call_schema(&[tree, ToolDefinition::new("ping", "")]);
        let valid = |value| jsonschema::is_valid(&schema, &value);
        assert!(valid(json!({"name": "tree", "arguments": {"root": {"value": 1, "next": {"value": 2}}}})));
        assert!(!valid(json!({"name": "tree", "arguments": {"root": {"value": 1, "next": {"value": "2"}}}})));
        assert!(valid(json!({"name": "ping", "arguments": {}})));
        assert!(!valid(json!({"name": "ping", "arguments": {"root": {"value": 1}}})));
    }

    #[test]
    fn annotations_do_not_reach_the_sampler() {
        let tool = ToolDefinition::new("t", "").with_parameters(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"title": {"type": "string", "description": "x", "default": "y"}}
        }));
        assert_eq!(
            call_schema(&[tool])["anyOf"][0]["properties"]["arguments"],
            json!({"type": "object", "properties": {"title": {"type": "string"}}, "additionalProperties": false})
        );
    }
}
