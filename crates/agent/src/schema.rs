//! Rewriting JSON Schemas: closed objects, no examples, references that survive being moved.

use serde_json::{Map, Value, json};

/// Keywords whose value maps names to schemas.
const NAMED: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
/// Keywords whose value is a schema for a child of the value.
const CHILD: [&str; 5] = ["items", "additionalItems", "contains", "propertyNames", "unevaluatedItems"];
/// Keywords whose value is a list of schemas for the same value.
const BRANCHES: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords whose value is a schema for the same value.
const IN_PLACE: [&str; 4] = ["if", "then", "else", "not"];
/// Keywords whose value is data, not a schema.
const DATA: [&str; 5] = ["enum", "const", "default", "examples", "required"];
/// Keywords that already say what happens to properties nobody named.
const OPENNESS: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "patternProperties"];

/// Closes every object that lists its properties and does not say whether it takes others.
///
/// An argument the schema does not name would be dropped by the tool without a word, so for calls
/// the silence of a schema means "no". A free map (an object without `properties`) stays open. Where
/// the object is composed (`allOf`, `$ref`, …) the closing keyword is `unevaluatedProperties`.
pub(crate) fn close_objects(schema: &mut Value) {
    let root = schema.clone();
    close(schema, &root, true);
}

/// The same for samplers, which know `additionalProperties` only: definitions and alternatives are
/// closed themselves, unless schemas are added up somewhere (`allOf`, `if`), where that would
/// contradict the other parts.
pub(crate) fn close_objects_for_sampler(schema: &mut Value) {
    close_objects(schema);
    strip_keywords(schema, &["unevaluatedProperties"]);
    if !adds_up(schema) {
        close_plain(schema);
    }
}

fn adds_up(schema: &Value) -> bool {
    match schema {
        Value::Object(node) => {
            ["allOf", "if", "dependentSchemas"].iter().any(|keyword| node.contains_key(*keyword))
                || (node.contains_key("properties")
                    && ["anyOf", "oneOf", "$ref"].iter().any(|keyword| node.contains_key(*keyword)))
                || node.values().any(adds_up)
        }
        Value::Array(items) => items.iter().any(adds_up),
        _ => false,
    }
}

fn close_plain(schema: &mut Value) {
    match schema {
        Value::Object(node) => {
            let plain = node.get("properties").is_some_and(Value::is_object)
                && node.get("type").is_none_or(|kind| kind == "object")
                && !OPENNESS.iter().any(|keyword| node.contains_key(*keyword));
            if plain {
                node.insert("additionalProperties".into(), Value::Bool(false));
            }
            for (keyword, value) in node.iter_mut() {
                if NAMED.contains(&keyword.as_str()) {
                    each_value(value, close_plain);
                } else if !DATA.contains(&keyword.as_str()) {
                    close_plain(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close_plain),
        _ => {}
    }
}

/// `own` is false for a branch that shares its value with the schema around it.
fn close(schema: &mut Value, root: &Value, own: bool) {
    let Some(node) = schema.as_object_mut() else { return };
    for (keyword, value) in node.iter_mut() {
        match keyword.as_str() {
            "dependentSchemas" | "$defs" | "definitions" => each_value(value, |inner| close(inner, root, false)),
            name if NAMED.contains(&name) => each_value(value, |inner| close(inner, root, true)),
            name if BRANCHES.contains(&name) => each_value(value, |inner| close(inner, root, false)),
            name if IN_PLACE.contains(&name) => close(value, root, false),
            "additionalProperties" | "unevaluatedProperties" => close(value, root, true),
            name if CHILD.contains(&name) || name == "prefixItems" => {
                if value.is_array() {
                    each_value(value, |inner| close(inner, root, true));
                } else {
                    close(value, root, true);
                }
            }
            _ => {}
        }
    }
    if !own || OPENNESS.iter().any(|keyword| node.contains_key(*keyword)) {
        return;
    }
    let composed = node.contains_key("$ref")
        || BRANCHES.iter().chain(&IN_PLACE).chain(&["dependentSchemas"]).any(|keyword| node.contains_key(*keyword));
    if composed && lists_properties(node, root, 0) {
        node.insert("unevaluatedProperties".into(), Value::Bool(false));
    } else if !composed && node.contains_key("properties") {
        node.insert("additionalProperties".into(), Value::Bool(false));
    }
}

/// True when a composed schema names properties and no part of it that may hold an object is a
/// free map.
fn lists_properties(node: &Map<String, Value>, root: &Value, depth: usize) -> bool {
    // Deeper chains of references than this are circular or beyond help.
    const DEEPEST: usize = 8;
    if depth > DEEPEST {
        return false;
    }
    if node.contains_key("properties") {
        return true;
    }
    if let Some(target) = node.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#')) {
        return root
            .pointer(target)
            .and_then(Value::as_object)
            .is_some_and(|target| lists_properties(target, root, depth + 1));
    }
    BRANCHES.iter().filter_map(|keyword| node.get(*keyword)?.as_array()).any(|branches| {
        let lists = |branch: &Map<String, Value>| lists_properties(branch, root, depth + 1);
        let other_type = |branch: &Map<String, Value>| branch.get("type").is_some_and(|kind| kind != "object");
        branches.iter().filter_map(Value::as_object).any(lists)
            && branches.iter().filter_map(Value::as_object).all(|branch| lists(branch) || other_type(branch))
    })
}

fn each_value(value: &mut Value, mut visit: impl FnMut(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(visit),
        Value::Object(entries) => entries.values_mut().for_each(&mut visit),
        _ => {}
    }
}

/// Takes keywords out of a schema at every level. Properties that bear the same names stay.
pub(crate) fn strip_keywords(schema: &mut Value, keywords: &[&str]) {
    let Some(node) = schema.as_object_mut() else { return };
    node.retain(|keyword, _| !keywords.contains(&keyword.as_str()));
    for (keyword, value) in node.iter_mut() {
        match keyword.as_str() {
            name if NAMED.contains(&name) => each_value(value, |inner| strip_keywords(inner, keywords)),
            name if DATA.contains(&name) => {}
            _ if value.is_array() => each_value(value, |inner| strip_keywords(inner, keywords)),
            _ => strip_keywords(value, keywords),
        }
    }
}

/// True when a local reference occurs anywhere in the schema.
pub(crate) fn has_local_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(node) => {
            node.get("$ref").and_then(Value::as_str).is_some_and(|target| target.starts_with('#'))
                || node.values().any(has_local_reference)
        }
        Value::Array(items) => items.iter().any(has_local_reference),
        _ => false,
    }
}

/// Points local references at the place the schema has been moved to (a JSON pointer like
/// `#/$defs/name`).
pub(crate) fn rebase_references(schema: &mut Value, root: &str) {
    match schema {
        Value::Object(node) => {
            if let Some(Value::String(target)) = node.get_mut("$ref")
                && let Some(rest) = target.strip_prefix('#')
            {
                *target = format!("{root}{rest}");
            }
            node.values_mut().for_each(|inner| rebase_references(inner, root));
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| rebase_references(inner, root)),
        _ => {}
    }
}

/// The tool's schema as an object schema, whatever was given (`null` and `{}` mean no parameters).
pub(crate) fn object_schema(parameters: &Value) -> Value {
    match parameters {
        Value::Object(node) if !node.is_empty() => {
            let mut schema = node.clone();
            if !schema.contains_key("type") && !schema.contains_key("$ref") {
                schema.insert("type".into(), json!("object"));
            }
            Value::Object(schema)
        }
        Value::Null | Value::Object(_) => json!({"type": "object", "properties": {}}),
        // Not a schema at all: left as it is, for validation to report.
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_closes_an_object_and_speech_is_obeyed() {
        let mut schema = json!({
            "type": "object",
            "properties": {
                "to": {"type": "object", "properties": {"email": {}}},
                "tags": {"type": "array", "items": {"type": "object", "properties": {"k": {}}}},
                "free": {"type": "object"},
                "open": {"type": "object", "properties": {"a": {}}, "additionalProperties": true}
            }
        });
        close_objects(&mut schema);
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["properties"]["to"]["additionalProperties"], false);
        assert_eq!(schema["properties"]["tags"]["items"]["additionalProperties"], false);
        assert_eq!(schema["properties"]["free"], json!({"type": "object"}));
        assert_eq!(schema["properties"]["open"]["additionalProperties"], true);
    }

    #[test]
    fn what_a_reference_points_at_is_closed_where_it_is_used() {
        let mut schema = json!({
            "type": "object",
            "properties": {"who": {"$ref": "#/$defs/person"}, "map": {"$ref": "#/$defs/map"}},
            "$defs": {"person": {"type": "object", "properties": {"name": {}}}, "map": {"type": "object"}}
        });
        let mut sampled = schema.clone();
        close_objects(&mut schema);
        assert_eq!(schema["properties"]["who"]["unevaluatedProperties"], false);
        assert_eq!(schema["properties"]["map"], json!({"$ref": "#/$defs/map"}));
        close_objects_for_sampler(&mut sampled);
        assert_eq!(sampled["properties"]["who"], json!({"$ref": "#/$defs/person"}));
        assert_eq!(sampled["$defs"]["person"]["additionalProperties"], false);
        assert_eq!(sampled["$defs"]["map"], json!({"type": "object"}));
    }

    #[test]
    fn schemas_that_add_up_are_not_closed_for_the_sampler() {
        let mut schema = json!({"type": "object", "allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]});
        let before = schema.clone();
        close_objects_for_sampler(&mut schema);
        assert_eq!(schema, before);
    }

    #[test]
    fn a_property_may_be_called_like_a_keyword() {
        let mut schema = json!({
            "type": "object",
            "description": "gone",
            "properties": {"description": {"type": "string", "description": "gone"}, "enum": {"enum": ["description"]}},
            "required": ["description"]
        });
        strip_keywords(&mut schema, &["description"]);
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {"description": {"type": "string"}, "enum": {"enum": ["description"]}},
                "required": ["description"]
            })
        );
    }

    #[test]
    fn references_follow_their_schema() {
        let mut schema = json!({"items": [{"$ref": "#/$defs/a"}, {"$ref": "#"}, {"$ref": "http://x/y"}]});
        rebase_references(&mut schema, "#/$defs/tool");
        assert_eq!(
            schema["items"],
            json!([{"$ref": "#/$defs/tool/$defs/a"}, {"$ref": "#/$defs/tool"}, {"$ref": "http://x/y"}])
        );
    }
}
