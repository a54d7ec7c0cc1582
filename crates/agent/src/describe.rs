//! What a model is told about a tool when its template drops half of the schema (K18, K19).
//!
//! Some templates render only names and descriptions: `required` and `enum` never arrive. So both
//! are restated in the description, by code. Example values are kept out: a model that reads one
//! sends it.

use serde_json::Value;
use tenpass_trace::ToolDefinition;

use crate::schema;

/// The tool with `required` and every `enum` restated at the end of its description, and without
/// `examples` in its schema. Applying it twice changes nothing.
pub fn describe(tool: &ToolDefinition) -> ToolDefinition {
    let mut described = tool.clone();
    schema::strip_keywords(&mut described.parameters, &["examples", "example"]);
    let restated = restatement(&described.parameters);
    let description = described.description.trim_end();
    if !restated.is_empty() && !description.ends_with(&restated) {
        let stop = if description.is_empty() || description.ends_with(['.', '!', '?']) { "" } else { "." };
        let space = if description.is_empty() { "" } else { " " };
        described.description = format!("{description}{stop}{space}{restated}");
    }
    described
}

/// `Required: provider (claude | chatgpt), task. Optional: section (patterns | decisions).`
fn restatement(parameters: &Value) -> String {
    let required = required_names(parameters);
    let mut obligatory = Vec::new();
    let mut optional = Vec::new();
    for (name, property) in properties(parameters) {
        let mut inner = Vec::new();
        nested_choices(property, name, 0, &mut inner);
        let own = choices(property).map(|values| format!("{name} ({values})"));
        if required.contains(&name.as_str()) {
            obligatory.push(own.unwrap_or_else(|| name.clone()));
        } else {
            optional.extend(own);
        }
        optional.extend(inner);
    }
    let mut parts = Vec::new();
    if !obligatory.is_empty() {
        parts.push(format!("Required: {}.", obligatory.join(", ")));
    }
    if !optional.is_empty() {
        parts.push(format!("Choices: {}.", optional.join(", ")));
    }
    parts.join(" ")
}

/// Enums and obligations inside an argument: `address.kind (home | work)`, `address.city`.
fn nested_choices(schema: &Value, path: &str, depth: usize, found: &mut Vec<String>) {
    // Deep schemas exist, useful restatements of them do not.
    const DEEPEST: usize = 3;
    if depth >= DEEPEST {
        return;
    }
    if let Some(items) = schema.get("items") {
        let inner = format!("{path}[]");
        found.extend(choices(items).map(|values| format!("{inner} ({values})")));
        nested_choices(items, &inner, depth + 1, found);
    }
    let required = required_names(schema);
    for (name, property) in properties(schema) {
        let inner = format!("{path}.{name}");
        match choices(property) {
            Some(values) => found.push(format!("{inner} ({values})")),
            None if required.contains(&name.as_str()) => found.push(format!("{inner} (required)")),
            None => {}
        }
        nested_choices(property, &inner, depth + 1, found);
    }
}

pub(crate) fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

pub(crate) fn required_names(schema: &Value) -> Vec<&str> {
    schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}

/// The values of an `enum` or a `const`, joined by bars.
pub(crate) fn choices(schema: &Value) -> Option<String> {
    let values = match (schema.get("enum").and_then(Value::as_array), schema.get("const")) {
        (Some(values), _) => values.clone(),
        (None, Some(value)) => vec![value.clone()],
        (None, None) => return None,
    };
    let written = values.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    Some(written.collect::<Vec<_>>().join(" | "))
}

/// Something in a definition that makes models call the tool badly.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// A description or the schema holds an example value (K19).
    #[error("tool {tool:?}: example value at {place}: {text:?}")]
    ExampleValue {
        /// The tool.
        tool: String,
        /// Where: `description` or a path into the schema.
        place: String,
        /// The text that introduces the example.
        text: String,
    },
    /// An argument called `reason` is not required, so models will leave it out (K17).
    #[error("tool {tool:?}: `reason` is not in `required`")]
    OptionalReason {
        /// The tool.
        tool: String,
    },
    /// The tool has no description.
    #[error("tool {tool:?}: no description")]
    NoDescription {
        /// The tool.
        tool: String,
    },
}

/// Checks a definition against K17 and K19. A registry's test requires an empty list.
pub fn findings(tool: &ToolDefinition) -> Vec<Finding> {
    let mut found = Vec::new();
    if tool.description.trim().is_empty() {
        found.push(Finding::NoDescription { tool: tool.name.clone() });
    }
    if tool.parameters.pointer("/properties/reason").is_some() && !required_names(&tool.parameters).contains(&"reason")
    {
        found.push(Finding::OptionalReason { tool: tool.name.clone() });
    }
    let mut example = |place: &str, text: &str| {
        found.push(Finding::ExampleValue { tool: tool.name.clone(), place: place.to_owned(), text: text.to_owned() });
    };
    if let Some(marker) = example_marker(&tool.description) {
        example("description", marker);
    }
    examples_in_schema(&tool.parameters, "parameters", &mut example);
    found
}

fn example_marker(text: &str) -> Option<&'static str> {
    const MARKERS: [&str; 8] =
        ["e.g.", "for example", "for instance", "such as", "example:", "par exemple", "exemple :", "p. ex."];
    let lower = text.to_lowercase();
    MARKERS.into_iter().find(|marker| lower.contains(marker))
}

fn examples_in_schema(schema: &Value, place: &str, example: &mut impl FnMut(&str, &str)) {
    if let Some(marker) = schema.get("description").and_then(Value::as_str).and_then(example_marker) {
        example(&format!("{place}.description"), marker);
    }
    for keyword in ["examples", "example"] {
        if schema.get(keyword).is_some() {
            example(place, keyword);
        }
    }
    for (name, property) in properties(schema) {
        examples_in_schema(property, &format!("{place}.{name}"), example);
    }
    if let Some(items) = schema.get("items") {
        examples_in_schema(items, &format!("{place}[]"), example);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn delegate() -> ToolDefinition {
        ToolDefinition::new("delegate", "Hands work over").with_parameters(json!({
            "type": "object",
            "properties": {
                "provider": {"enum": ["claude", "chatgpt"]},
                "task": {"type": "string"},
                "tone": {"enum": ["warm", "dry"]},
                "to": {"type": "object", "properties": {"kind": {"enum": ["home", 2]}, "city": {}}, "required": ["city"]}
            },
            "required": ["provider", "task"]
        }))
    }

    #[test]
    fn required_and_enums_stand_in_the_description_once() {
        let described = describe(&delegate());
        assert_eq!(
            described.description,
            "Hands work over. Required: provider (claude | chatgpt), task. \
             Choices: tone (warm | dry), to.kind (home | 2), to.city (required)."
        );
        assert_eq!(describe(&described), described);
        assert_eq!(described.parameters, delegate().parameters);
    }

    #[test]
    fn a_tool_without_obligations_stays_as_it_is() {
        let plain = ToolDefinition::new("ping", "Answers");
        assert_eq!(describe(&plain), plain);
    }

    #[test]
    fn examples_are_found_everywhere_and_taken_out_of_the_schema() {
        let tool = ToolDefinition::new("t", "Opens a page, e.g. a blog.").with_parameters(json!({
            "type": "object",
            "properties": {
                "url": {"type": "string", "examples": ["https://x"]},
                "list": {"type": "array", "items": {"description": "A day, for example Monday"}},
                "reason": {"type": "string"}
            }
        }));
        let found: Vec<String> = findings(&tool).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found[0].contains("`reason` is not in `required`"));
        assert_eq!(describe(&tool).parameters["properties"]["url"], json!({"type": "string"}));
        assert_eq!(findings(&delegate()), []);
    }
}
