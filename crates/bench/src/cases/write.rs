//! Cases written as a case file that the loader reads back as the same cases.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use tenpass_trace::{Message, Role, ToolCategory, ToolDefinition};

use super::case::{Case, CaseKind, Expect, ExpectedCall};

/// A case file for cases of one family, with all tools inline. `comment` becomes the head of the file.
///
/// JSON null has no writing in TOML: members of tool schemas that are null are left out.
pub fn to_toml(family: &str, comment: &str, cases: &[Case]) -> String {
    let mut text = String::new();
    for line in comment.lines() {
        put(&mut text, format_args!("# {line}\n"));
    }
    put(&mut text, format_args!("family = {}\n", string(family)));
    for case in cases {
        write_case(&mut text, case);
    }
    text
}

/// Writing to a String cannot fail.
pub(super) fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(arguments);
}

fn write_case(text: &mut String, case: &Case) {
    put(text, format_args!("\n[[case]]\nid = {}\nlanguage = \"{}\"\n", string(&case.id), case.language));
    if case.kind != CaseKind::default() {
        put(text, format_args!("kind = \"{}\"\n", case.kind));
    }
    let (system, rest) = match case.messages.split_first() {
        Some((first, rest)) if first.role == Role::System => (first.content.as_str(), rest),
        _ => ("", case.messages.as_slice()),
    };
    // Written even when empty: the folder the file lands in may have a system prompt.
    put(text, format_args!("system = {}\n", string(system)));
    match rest {
        [only] if only.role == Role::User => put(text, format_args!("prompt = {}\n", string(&only.content))),
        history => {
            put(text, format_args!("history = [\n"));
            for message in history {
                put(text, format_args!("  {},\n", inline(&message_table(message))));
            }
            put(text, format_args!("]\n"));
        }
    }
    put(text, format_args!("tool = [\n"));
    for tool in &case.tools {
        put(text, format_args!("  {},\n", inline(&tool_table(tool))));
    }
    put(text, format_args!("]\nprovenance = {}\n", string(&case.provenance)));
    write_expect(text, &case.expect);
}

pub(super) fn write_expect(text: &mut String, expect: &Expect) {
    put(text, format_args!("[case.expect]\n"));
    match expect.alternatives.as_slice() {
        [] => {}
        [calls] => {
            put(text, format_args!("calls = [\n"));
            for call in calls {
                put(text, format_args!("  {},\n", inline(&call_table(call))));
            }
            put(text, format_args!("]\n"));
        }
        several => {
            put(text, format_args!("any_of = [\n"));
            for calls in several {
                let calls = Value::Array(calls.iter().map(call_table).collect());
                put(text, format_args!("  {},\n", inline(&calls)));
            }
            put(text, format_args!("]\n"));
        }
    }
    if expect.no_call {
        put(text, format_args!("no_call = true\n"));
    }
    if expect.ordered {
        put(text, format_args!("ordered = true\n"));
    }
    if !expect.forbid.is_empty() {
        let forbid = Value::Array(expect.forbid.iter().cloned().map(Value::String).collect());
        put(text, format_args!("forbid = {}\n", inline(&forbid)));
    }
}

fn call_table(call: &ExpectedCall) -> Value {
    let mut table = Map::new();
    table.insert("tool".to_owned(), Value::String(call.tool.clone()));
    if !call.arguments.is_empty() {
        let arguments = call.arguments.iter().map(|(name, argument)| (name.clone(), argument.to_notation()));
        table.insert("arguments".to_owned(), Value::Object(arguments.collect()));
    }
    if call.only {
        table.insert("only".to_owned(), Value::Bool(true));
    }
    Value::Object(table)
}

fn message_table(message: &Message) -> Value {
    // The stored form is the one the loader takes.
    let mut table = serde_json::to_value(message).unwrap_or_default();
    if let Some(table) = table.as_object_mut() {
        table.remove("thinking");
    }
    table
}

pub(super) fn tool_table(tool: &ToolDefinition) -> Value {
    let mut table = serde_json::to_value(tool).unwrap_or_default();
    if tool.category == ToolCategory::Core
        && let Some(table) = table.as_object_mut()
    {
        table.remove("category");
    }
    table
}

/// A JSON value in TOML's inline notation.
pub(super) fn inline(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        // JSON's numbers are TOML's.
        Value::Number(number) => number.to_string(),
        Value::String(text) => string(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(table) if table.is_empty() => "{}".to_owned(),
        Value::Object(table) => {
            let entries: Vec<String> = table
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| format!("{} = {}", key(name), inline(value)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-'));
    if bare { name.to_owned() } else { string(name) }
}

/// A basic string; JSON's escapes are TOML's, except that TOML also wants DEL escaped.
pub(super) fn string(text: &str) -> String {
    Value::String(text.to_owned()).to_string().replace('\u{7f}', "\\u007f")
}
