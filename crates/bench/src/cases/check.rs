//! What a case expects against what its tools can be given: an expectation that no call could meet is
//! a mistake in the case, not a failure of the model.

use serde_json::{Map, Value, json};
use tenpass_agent::arguments::{Fault, validate};
use tenpass_trace::ToolDefinition;

use super::case::{Case, ExpectedCall};
use super::matcher::{Argument, Matcher};
use super::notation::{CallSpans, Spans};
use super::source::{Source, suggestion};
use crate::grade::compare;

/// Reports every expectation that the case's tools cannot meet or that contradicts another.
pub(super) fn case(source: &Source<'_>, case: &Case, spans: &Spans) {
    let names: Vec<&str> = case.tools.iter().map(|tool| tool.name.as_str()).collect();
    for (name, span) in case.expect.forbid.iter().zip(&spans.forbid) {
        if !names.contains(&name.as_str()) {
            source.error(span, format!("unknown tool `{name}` in forbid"), suggestion(name, &names));
        }
    }
    let expected = case.expect.alternatives.iter().zip(&spans.alternatives);
    for (call, span) in expected.flat_map(|(calls, spans)| calls.iter().zip(spans)) {
        match case.tools.iter().find(|tool| tool.name == call.tool) {
            Some(tool) => arguments(source, tool, call, span),
            None => source.error(&span.tool, format!("unknown tool `{}`", call.tool), suggestion(&call.tool, &names)),
        }
        if case.expect.forbid.contains(&call.tool) {
            let message = format!("`{}` is both expected and forbidden", call.tool);
            source.error(&span.tool, message, "remove it from one of the two");
        }
    }
}

fn arguments(source: &Source<'_>, tool: &ToolDefinition, call: &ExpectedCall, spans: &CallSpans) {
    let root = &tool.parameters;
    for ((name, argument), span) in call.arguments.iter().zip(&spans.arguments) {
        if argument.off_schema {
            continue;
        }
        match property(root, root, name) {
            Property::Known(schema) => {
                if let Err(problem) = possible(argument, schema, root) {
                    let message = format!("`{}` can never be given `{name}` = {argument}: {problem}", tool.name);
                    source.error(span, message, "correct the expected value or the tool's schema");
                }
            }
            Property::Free => {}
            Property::Unknown(known) => {
                let message = format!("`{}` has no argument `{name}`", tool.name);
                source.error(span, message, suggestion(name, &known));
            }
        }
        if argument.matcher == Matcher::Absent && required(root).any(|required| required == name) {
            source.error(span, format!("`{name}` is required by `{}`, so it cannot be absent", tool.name), "");
        }
    }
    let listed = |name: &str| call.arguments.iter().any(|(argument, _)| argument == name);
    if call.only
        && let Some(missing) = required(root).find(|name| !listed(name))
    {
        let message = format!("`only` forbids `{missing}`, which `{}` requires", tool.name);
        source.error(&spans.tool, message, format!("list it: {missing} = {{ any = true }}"));
    }
}

/// The names a call must have. `reason` is demanded of the model and not of the call (K17).
fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).filter(|name| *name != "reason")
}

enum Property<'s> {
    Known(&'s Value),
    /// Not named, and the schema takes what it does not name.
    Free,
    Unknown(Vec<&'s str>),
}

fn property<'s>(schema: &'s Value, root: &'s Value, name: &str) -> Property<'s> {
    let schema = resolved(schema, root);
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Property::Free };
    if let Some(property) = properties.get(name) {
        return Property::Known(resolved(property, root));
    }
    let composed = ["allOf", "anyOf", "oneOf", "if", "patternProperties"].iter().any(|key| schema.get(key).is_some());
    match schema.get("additionalProperties") {
        _ if composed => Property::Free,
        Some(Value::Bool(false)) | None => Property::Unknown(properties.keys().map(String::as_str).collect()),
        Some(Value::Object(additional)) if !additional.is_empty() => Property::Known(&schema["additionalProperties"]),
        Some(_) => Property::Free,
    }
}

/// Follows one local reference.
fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    target.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

/// Could any value satisfy both the matcher and the schema? Errs on the side of yes.
fn possible(argument: &Argument, schema: &Value, root: &Value) -> Result<(), String> {
    match &argument.matcher {
        Matcher::Exact(value) => fits(value, schema, root),
        Matcher::Number { value, within } if *within == 0.0 && of_type(schema, &["string"]).is_err() => {
            fits(&Value::Number(value.clone()), schema, root)
        }
        Matcher::Number { .. } => {
            of_type(schema, &["number", "integer", "string"]).and_then(|()| in_enum(argument, schema))
        }
        Matcher::Regex(_) | Matcher::Date(_) | Matcher::Contains(_) | Matcher::Loose(_) => {
            of_type(schema, &["string"]).and_then(|()| in_enum(argument, schema))
        }
        Matcher::AnyOf(options) => options.iter().try_for_each(|option| possible(option, schema, root)),
        Matcher::Any | Matcher::Absent => Ok(()),
        Matcher::Object { members, .. } => {
            of_type(schema, &["object"])?;
            members.iter().try_for_each(|(name, member)| match property(schema, root, name) {
                Property::Known(inner) => {
                    possible(member, inner, root).map_err(|problem| format!("`{name}`: {problem}"))
                }
                Property::Free => Ok(()),
                Property::Unknown(known) => Err(format!("it has no member `{name}`; {}", suggestion(name, &known))),
            })
        }
        Matcher::Set(elements) | Matcher::Items(elements) => {
            of_type(schema, &["array"])?;
            match schema.get("items") {
                Some(items @ Value::Object(_)) => {
                    elements.iter().try_for_each(|element| possible(element, resolved(items, root), root))
                }
                _ => Ok(()),
            }
        }
    }
}

/// Validates a literal against a part of a tool's schema.
fn fits(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
    let mut wrapped = Map::new();
    for keyword in ["$schema", "$defs", "definitions"] {
        if let Some(shared) = root.get(keyword) {
            wrapped.insert(keyword.to_owned(), shared.clone());
        }
    }
    wrapped.insert("type".to_owned(), json!("object"));
    wrapped.insert("properties".to_owned(), json!({ "it": schema }));
    let tool = ToolDefinition::new("check", "").with_parameters(Value::Object(wrapped));
    let mut arguments = Map::new();
    arguments.insert("it".to_owned(), value.clone());
    // A reference into another part of the schema cannot be followed here; the tool's own schema has
    // been compiled as a whole.
    let faults = validate(&tool, &arguments);
    match faults.first() {
        None | Some(Fault::InvalidSchema { .. }) => Ok(()),
        Some(Fault::TypeMismatch { expected, found, .. }) => {
            Err(format!("the schema wants {expected}, this is {found}"))
        }
        Some(Fault::WrongValue { reason, .. }) => Err(reason.clone()),
        Some(other) => Err(other.to_string().replace("argument it", "it")),
    }
}

fn of_type(schema: &Value, wanted: &[&str]) -> Result<(), String> {
    let allowed: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    if allowed.iter().any(|kind| wanted.contains(kind)) {
        Ok(())
    } else {
        Err(format!("the schema wants {}, the matcher {}", allowed.join(" or "), wanted.join(" or ")))
    }
}

/// Where the schema lists its values, one of them must satisfy the matcher.
fn in_enum(argument: &Argument, schema: &Value) -> Result<(), String> {
    match schema.get("enum").and_then(Value::as_array) {
        Some(values) if !values.iter().any(|value| compare::accepts(argument, value)) => {
            Err(format!("none of {} satisfies it", Value::Array(values.clone())))
        }
        _ => Ok(()),
    }
}
