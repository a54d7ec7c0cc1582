//! Cases as a promptfoo configuration.

use std::path::Path;

use serde_json::{Map, Value, json};
use tenpass_bench::cases::{Case, Expect, ExpectedCall};
use tenpass_trace::{Message, Role, ToolDefinition};

use super::{Converted, OWN};
use crate::ExchangeError;

/// The head of the file.
const HEAD: &str = "\
# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json
# Cases of tenpass. Put your own provider in place of the one below; its answers must be tool calls.
";

/// Writes the cases to `out`, a YAML file. Scenarios have no form there and are left out.
pub fn export(cases: &[Case], out: &Path) -> Result<Converted, ExchangeError> {
    let mut converted = Converted::default();
    let kept: Vec<&Case> = cases
        .iter()
        .filter(|case| {
            if case.scenario.is_some() {
                converted
                    .notes
                    .push(format!("{}: left out: a scenario has rounds, a test of promptfoo has one", case.id));
            }
            case.scenario.is_none()
        })
        .collect();
    let text = serde_saphyr::to_string(&configuration(&kept))
        .map_err(|error| ExchangeError::Nothing(format!("the cases cannot be written as YAML: {error}")))?;
    if let Some(folder) = out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| ExchangeError::write(folder, error))?;
    }
    std::fs::write(out, format!("{HEAD}{text}")).map_err(|error| ExchangeError::write(out, error))?;
    Ok(converted)
}

fn configuration(cases: &[&Case]) -> Value {
    let tools = distinct_tools(cases);
    json!({
        "description": "Cases of tenpass",
        "prompts": [{ "id": "conversation", "label": "conversation", "raw": "{{messages}}" }],
        "providers": [{ "id": "openai:chat:gemma4:12b", "config": { "apiBaseUrl": "http://127.0.0.1:11434/v1", "temperature": 0.3 } }],
        "defaultTest": {
            "assert": [{ "type": "javascript", "value": include_str!("checker.js") }],
            "metadata": { OWN: { "version": 1, "tools": tools } },
        },
        "tests": cases.iter().map(|case| test(case, &tools)).collect::<Vec<Value>>(),
    })
}

/// Every tool once, as the cases have it.
fn distinct_tools(cases: &[&Case]) -> Vec<ToolDefinition> {
    let mut tools: Vec<ToolDefinition> = Vec::new();
    for tool in cases.iter().flat_map(|case| &case.tools) {
        if !tools.contains(tool) {
            tools.push(tool.clone());
        }
    }
    tools
}

fn test(case: &Case, tools: &[ToolDefinition]) -> Value {
    let places: Vec<usize> =
        case.tools.iter().filter_map(|tool| tools.iter().position(|known| known == tool)).collect();
    let reads: Vec<&str> = case.tools.iter().filter(|tool| tool.reads).map(|tool| tool.name.as_str()).collect();
    let wire: Vec<Value> = case.messages.iter().enumerate().map(|(place, message)| wire(message, place)).collect();
    json!({
        "description": case.id,
        "vars": { "messages": unrendered(&Value::Array(wire).to_string()) },
        "options": { "tools": case.tools.iter().map(ToolDefinition::to_wire).collect::<Vec<Value>>() },
        "metadata": { OWN: {
            "id": case.id,
            "family": case.family,
            "language": case.language,
            "kind": case.kind,
            "provenance": case.provenance,
            "messages": case.messages,
            "offered": places,
            "reads": reads,
            "expect": expectation(&case.expect),
        } },
    })
}

/// promptfoo renders variables as templates: braces of the text must stay braces.
fn unrendered(text: &str) -> String {
    if text.contains("{{") || text.contains("{%") || text.contains("{#") {
        return format!("{{% raw %}}{text}{{% endraw %}}");
    }
    text.to_owned()
}

/// A message as OpenAI's chat API has it; calls without an id get one from their place.
fn wire(message: &Message, place: usize) -> Value {
    let mut fields = Map::new();
    fields.insert("role".to_owned(), json!(message.role.as_str()));
    fields.insert("content".to_owned(), json!(message.content));
    if !message.tool_calls.is_empty() {
        let calls = message.tool_calls.iter().enumerate().map(|(number, call)| {
            let id = call.id.clone().unwrap_or_else(|| format!("call_{place}_{number}"));
            let arguments = Value::Object(call.arguments.clone()).to_string();
            json!({ "id": id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
        });
        fields.insert("tool_calls".to_owned(), Value::Array(calls.collect()));
    }
    if message.role == Role::Tool {
        let id = message.tool_call_id.clone().unwrap_or_else(|| format!("call_{}_0", place.saturating_sub(1)));
        fields.insert("tool_call_id".to_owned(), json!(id));
    }
    Value::Object(fields)
}

/// The stored form, with the matchers in the notation of case files.
fn expectation(expect: &Expect) -> Value {
    let call = |call: &ExpectedCall| {
        let arguments: Map<String, Value> =
            call.arguments.iter().map(|(name, argument)| (name.clone(), argument.to_notation())).collect();
        json!({ "tool": call.tool, "arguments": arguments, "only": call.only })
    };
    let alternatives: Vec<Vec<Value>> =
        expect.alternatives.iter().map(|calls| calls.iter().map(call).collect()).collect();
    json!({
        "alternatives": alternatives,
        "no_call": expect.no_call,
        "ordered": expect.ordered,
        "forbid": expect.forbid,
    })
}
