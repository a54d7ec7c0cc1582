//! From a question and its accepted answers to a case.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};
use tenpass_agent::arguments::validate;
use tenpass_trace::{Message, Role, ToolDefinition};

use super::Imported;
use super::answer::{Accepted, is_required};
use super::category::Category;
use super::error::ImportError;
use super::read::{self, Function, GroundTruth, Question};
use crate::cases::{Argument, Case, CaseKind, Expect, ExpectedCall, Language};
use crate::grade::compare::{accepts, default_of};

/// Imports one category.
pub(super) fn category(data: &Path, category: Category) -> Result<Imported, ImportError> {
    let questions = read::questions(data, category)?;
    let mut answers = if category.is_irrelevance() { BTreeMap::new() } else { read::answers(data, category)? };
    let mut imported = Imported { category, cases: Vec::new(), notes: Vec::new() };
    for (index, question) in questions.into_iter().enumerate() {
        let truth = answers.remove(&question.id);
        if truth.is_none() && !category.is_irrelevance() {
            return Err(entry(&question.id, "the question has no accepted answer"));
        }
        if let Some(reason) = unusable(&question, truth.as_ref()) {
            imported.notes.push(format!("{}: left out: {reason}", question.id));
            continue;
        }
        let source = format!("BFCL {category}:{}", index + 1);
        imported.cases.push(case(question, truth, category, source, &mut imported.notes)?);
    }
    Ok(imported)
}

/// Why a question cannot be a case: no answer could fail it, or none could be right.
fn unusable(question: &Question, truth: Option<&GroundTruth>) -> Option<String> {
    if question.function.is_empty() {
        return Some("it offers no function, so nothing can be called".to_owned());
    }
    for (name, arguments) in truth.into_iter().flatten().flatten() {
        let parameters =
            question.function.iter().find(|function| function.name == *name).map(|function| &function.parameters);
        let required = parameters.and_then(|parameters| parameters.get("required")?.as_array());
        let missing =
            required.into_iter().flatten().filter_map(Value::as_str).find(|required| arguments.get(required).is_none());
        if let Some(missing) = missing {
            return Some(format!("the accepted answer of `{name}` lacks its required argument `{missing}`"));
        }
        let members = arguments.as_object().into_iter().flatten();
        if let Some((argument, _)) = members.into_iter().find(|(_, accepted)| **accepted == json!([])) {
            return Some(format!("it accepts no value for the argument `{argument}` of `{name}`"));
        }
    }
    None
}

/// The id of a case: BFCL's, with the characters that case ids have.
pub(super) fn case_id(id: &str) -> String {
    format!("bfcl-{}", id.replace(['_', '.'], "-").to_lowercase())
}

fn entry(id: &str, reason: impl Into<String>) -> ImportError {
    ImportError::Entry { id: id.to_owned(), reason: reason.into() }
}

fn case(
    question: Question,
    truth: Option<GroundTruth>,
    category: Category,
    source: String,
    notes: &mut Vec<String>,
) -> Result<Case, ImportError> {
    let Question { id, turns, function } = question;
    let messages = messages(&id, turns)?;
    let tools = tools(&id, function)?;
    let expect = match truth {
        None => Expect { no_call: true, ..Expect::default() },
        Some(truth) => Expect { alternatives: vec![calls(&id, &truth, &tools, notes)?], ..Expect::default() },
    };
    Ok(Case {
        id: case_id(&id),
        family: category.family(),
        language: Language::English,
        kind: CaseKind::Target,
        messages,
        tools,
        provenance: format!("BFCL v4, {category}, {id}"),
        expect,
        source,
        scenario: None,
    })
}

/// The conversation; BFCL puts a system message first where it has one.
fn messages(id: &str, turns: Vec<Vec<read::Turn>>) -> Result<Vec<Message>, ImportError> {
    let messages: Result<Vec<Message>, ImportError> = turns
        .into_iter()
        .flatten()
        .map(|turn| match turn.role.as_str() {
            "system" => Ok(Message::system(turn.content.trim_end())),
            "user" => Ok(Message::user(turn.content)),
            "assistant" => Ok(Message::assistant(turn.content)),
            other => Err(entry(id, format!("unknown role `{other}`"))),
        })
        .collect();
    let messages = messages?;
    match messages.last() {
        Some(last) if last.role == Role::User => Ok(messages),
        _ => Err(entry(id, "the question does not end in a user message")),
    }
}

/// Every function once, with its types mapped.
fn tools(id: &str, functions: Vec<Function>) -> Result<Vec<ToolDefinition>, ImportError> {
    let mut tools: Vec<ToolDefinition> = Vec::new();
    for function in functions {
        let parameters = schema(&function.parameters);
        if !parameters.is_object() {
            return Err(entry(id, format!("the parameters of `{}` are not a schema", function.name)));
        }
        let tool = ToolDefinition::new(function.name, function.description).with_parameters(parameters);
        match tools.iter().find(|other| other.name == tool.name) {
            // Some live questions offer the same function twice.
            Some(other) if *other == tool => {}
            Some(_) => return Err(entry(id, format!("two different functions are named `{}`", tool.name))),
            None => tools.push(tool),
        }
    }
    Ok(tools)
}

/// A schema with BFCL's types mapped to JSON Schema's, at every level.
fn schema(bfcl: &Value) -> Value {
    let Some(node) = bfcl.as_object() else { return bfcl.clone() };
    let mut mapped = Map::new();
    for (keyword, value) in node {
        match (keyword.as_str(), value) {
            ("type", Value::String(name)) => {
                if let Some(name) = json_type(name) {
                    mapped.insert("type".to_owned(), json!(name));
                }
            }
            ("properties", Value::Object(properties)) => {
                let properties: Map<String, Value> =
                    properties.iter().map(|(name, inner)| (name.clone(), schema(inner))).collect();
                mapped.insert(keyword.clone(), Value::Object(properties));
            }
            ("items" | "additionalProperties", Value::Object(_)) => {
                mapped.insert(keyword.clone(), schema(value));
            }
            // Names that are required and not defined could never be given.
            ("required", Value::Array(names)) => {
                let defined = |name: &&Value| {
                    name.as_str().is_some_and(|name| node.get("properties").is_none_or(|all| all.get(name).is_some()))
                };
                mapped.insert(keyword.clone(), names.iter().filter(defined).cloned().collect());
            }
            ("enum", Value::Array(values)) => {
                let values: Vec<Value> = values.iter().filter(|value| !value.is_null()).cloned().collect();
                mapped.insert(keyword.clone(), Value::Array(values));
            }
            // Says in prose what `required` says.
            ("optional", _) => {}
            // TOML has no null; a default of null is no default.
            (_, value) if holds_null(value) => {}
            _ => {
                mapped.insert(keyword.clone(), value.clone());
            }
        }
    }
    Value::Object(mapped)
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(members) => members.values().any(holds_null),
        _ => false,
    }
}

/// The JSON Schema type of a BFCL type; `None` for any type.
fn json_type(bfcl: &str) -> Option<&str> {
    match bfcl {
        "dict" | "HashMap" | "object" => Some("object"),
        "float" | "double" | "number" => Some("number"),
        "tuple" | "list" | "array" => Some("array"),
        "bool" | "boolean" => Some("boolean"),
        "any" | "Any" => None,
        other => Some(other),
    }
}

fn calls(
    id: &str,
    truth: &GroundTruth,
    tools: &[ToolDefinition],
    notes: &mut Vec<String>,
) -> Result<Vec<ExpectedCall>, ImportError> {
    let mut calls = Vec::new();
    for (name, arguments) in truth.iter().flatten() {
        let tool = tools
            .iter()
            .find(|tool| tool.name == *name)
            .ok_or_else(|| entry(id, format!("the answer calls `{name}`, which is not offered")))?;
        let arguments =
            arguments.as_object().ok_or_else(|| entry(id, format!("the arguments of `{name}` are not an object")))?;
        let arguments = arguments
            .iter()
            .map(|(argument, accepted)| (argument.clone(), argument_of(id, tool, argument, accepted, notes)));
        calls.push(ExpectedCall { tool: name.clone(), arguments: arguments.collect(), only: true });
    }
    if calls.is_empty() { Err(entry(id, "the accepted answer has no call")) } else { Ok(calls) }
}

/// The matcher of one argument, held against the tool's schema.
fn argument_of(id: &str, tool: &ToolDefinition, name: &str, accepted: &Value, notes: &mut Vec<String>) -> Argument {
    let accepted = accepted_of(tool, name, accepted);
    let mut argument = accepted.matcher();
    // Here only "" in the answers makes absence right; elsewhere a matching default does, too.
    let default = default_of(&tool.parameters, name);
    if argument.absent_ok.is_none() && default.is_some_and(|default| accepts(&argument, default)) {
        argument.absent_ok = Some(false);
    }
    for value in accepted.replays().into_iter().flatten() {
        let mut given = Map::new();
        given.insert(name.to_owned(), value.clone());
        let inside =
            |path: &str| path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        if let Some(fault) = validate(tool, &given).into_iter().find(|fault| inside(fault.path())) {
            argument.off_schema = true;
            notes.push(format!("{id}: `{name}` = {value} is accepted although its schema refuses it: {fault}"));
        }
    }
    argument
}

/// The accepted values of one argument with what the tool's schema says about it.
pub(super) fn accepted_of<'t>(tool: &'t ToolDefinition, name: &str, values: &Value) -> Accepted<'t> {
    let property = tool.parameters.get("properties").and_then(|properties| properties.get(name));
    Accepted::new(values, property, is_required(Some(&tool.parameters), name))
}
