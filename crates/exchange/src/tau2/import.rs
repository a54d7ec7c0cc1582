//! The tasks of a domain.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use tenpass_agent::prompt::Language as Spoken;
use tenpass_bench::cases::{Argument, Case, CaseKind, Expect, ExpectedCall, Language, Matcher};
use tenpass_trace::{Message, ToolDefinition};

use super::{Converted, python};
use crate::ExchangeError;

/// Largest file that is read, in bytes.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Debug, Deserialize)]
struct Task {
    id: String,
    user_scenario: Scenario,
    #[serde(default)]
    evaluation_criteria: Option<Criteria>,
}

#[derive(Debug, Deserialize)]
struct Scenario {
    instructions: Instructions,
}

/// Structured, or one text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Instructions {
    Structured {
        reason_for_call: String,
        #[serde(default)]
        known_info: Option<String>,
    },
    Text(String),
}

#[derive(Debug, Default, Deserialize)]
struct Criteria {
    #[serde(default)]
    actions: Option<Vec<Action>>,
}

#[derive(Debug, Deserialize)]
struct Action {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    /// Arguments that are compared; all of them when it is not there.
    #[serde(default)]
    compare_args: Option<Vec<String>>,
    /// Who acts: the customer's own actions are not the agent's.
    #[serde(default)]
    requestor: Option<String>,
}

/// Reads the domain in `folder`.
pub fn import(folder: &Path) -> Result<Converted, ExchangeError> {
    let path = folder.join("tasks.json");
    let text = read(&path)?;
    let tasks: Vec<Value> = serde_json::from_str(&text).map_err(|error| line(&path, &error))?;
    let policy = folder.join("policy.md");
    let policy = if policy.is_file() { read(&policy)? } else { String::new() };
    let domain = std::path::absolute(folder)
        .ok()
        .and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_default();
    let tools = tools(folder, &domain)?;
    let mut converted = Converted::default();
    let mut ids = BTreeSet::new();
    for (place, task) in tasks.into_iter().enumerate() {
        let task: Task = serde_json::from_value(task)
            .map_err(|error| ExchangeError::entry(&path, format!("task {place}"), error))?;
        match case(&task, &domain, &policy, &tools) {
            Ok(mut case) => {
                case.source = format!("{}, task {place}", path.display());
                if !ids.insert(case.id.clone()) {
                    return Err(ExchangeError::entry(
                        &path,
                        format!("task {place}"),
                        format!("a second task `{}`", task.id),
                    ));
                }
                converted.cases.push(case);
            }
            Err(reason) => converted.notes.push(format!("task {}: left out: {reason}", task.id)),
        }
    }
    Ok(converted)
}

fn read(path: &Path) -> Result<String, ExchangeError> {
    let bytes = std::fs::metadata(path).map_err(|error| ExchangeError::read(path, error))?.len();
    if bytes > MOST_BYTES {
        return Err(ExchangeError::TooLarge {
            path: path.to_owned(),
            entry: "the file".into(),
            limit: MOST_BYTES,
            unit: "bytes",
        });
    }
    std::fs::read_to_string(path).map_err(|error| ExchangeError::read(path, error))
}

fn line(path: &Path, error: &serde_json::Error) -> ExchangeError {
    let text = error.to_string();
    ExchangeError::line(path, error.line() as u64, text.split(" at line ").next().unwrap_or(&text))
}

/// The tools: `tools.json` in the folder, or `tools.py` in it or in the checkout around it.
fn tools(folder: &Path, domain: &str) -> Result<Vec<ToolDefinition>, ExchangeError> {
    let json = folder.join("tools.json");
    if json.is_file() {
        let listed: Vec<Value> = serde_json::from_str(&read(&json)?).map_err(|error| line(&json, &error))?;
        let named = listed.iter().enumerate().map(|(place, tool)| {
            let bare = tool.get("function").unwrap_or(tool);
            let name = bare.get("name").and_then(Value::as_str);
            let name = name.ok_or_else(|| ExchangeError::entry(&json, format!("tool {place}"), "it has no `name`"))?;
            let text = bare.get("description").and_then(Value::as_str).unwrap_or_default();
            let tool = ToolDefinition::new(name, text);
            let tool = ToolDefinition { reads: bare.get("reads") == Some(&Value::Bool(true)), ..tool };
            let schema = bare.get("parameters").filter(|schema| schema.is_object()).cloned();
            Ok(match schema {
                Some(schema) => tool.with_parameters(schema),
                None => tool,
            })
        });
        return named.collect();
    }
    let nearby: [PathBuf; 2] =
        [folder.join("tools.py"), folder.join("../../../../src/tau2/domains").join(domain).join("tools.py")];
    let found = nearby.iter().find(|path| path.is_file()).ok_or_else(|| ExchangeError::Format {
        path: folder.to_owned(),
        format: "a domain of tau2-bench",
        reason: "it has neither tools.json nor tools.py, and is not in a checkout that has".to_owned(),
    })?;
    let tools = python::tools(&read(found)?);
    if tools.is_empty() {
        let reason = "no method is under @is_tool(…)".to_owned();
        return Err(ExchangeError::Format { path: found.clone(), format: "a file of tools", reason });
    }
    Ok(tools)
}

fn case(task: &Task, domain: &str, policy: &str, tools: &[ToolDefinition]) -> Result<Case, String> {
    let said = match &task.user_scenario.instructions {
        Instructions::Structured { reason_for_call, known_info } => {
            let known = known_info.as_deref().unwrap_or_default();
            [reason_for_call.trim(), known.trim()]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("\n\n")
        }
        Instructions::Text(text) => text.trim().to_owned(),
    };
    if said.is_empty() {
        return Err("the customer says nothing".to_owned());
    }
    let actions =
        task.evaluation_criteria.as_ref().and_then(|criteria| criteria.actions.as_deref()).unwrap_or_default();
    let agents: Vec<&Action> =
        actions.iter().filter(|action| action.requestor.as_deref().is_none_or(|who| who == "assistant")).collect();
    let expect = if agents.is_empty() {
        let forbid: Vec<String> = tools.iter().filter(|tool| !tool.reads).map(|tool| tool.name.clone()).collect();
        if forbid.is_empty() {
            return Err("it expects no action, and no tool writes".to_owned());
        }
        Expect { forbid, ..Expect::default() }
    } else {
        Expect { alternatives: first_calls(&agents, &said, tools)?, ..Expect::default() }
    };
    let mut messages = Vec::new();
    if !policy.trim().is_empty() {
        messages.push(Message::system(policy.trim()));
    }
    let language = match Spoken::detect(&said) {
        Some(Spoken::French) => Language::French,
        _ => Language::English,
    };
    messages.push(Message::user(said));
    Ok(Case {
        id: id(domain, &task.id),
        family: format!("tau2-{}", plain(domain)),
        language,
        kind: CaseKind::Target,
        messages,
        tools: tools.to_vec(),
        provenance: format!("tau2-bench (MIT), domain {domain}, task {}: its first call", task.id),
        expect,
        source: String::new(),
        scenario: None,
    })
}

/// One alternative for each expected action that can come first: its arguments are in what was said.
fn first_calls(actions: &[&Action], said: &str, tools: &[ToolDefinition]) -> Result<Vec<Vec<ExpectedCall>>, String> {
    let mut alternatives: Vec<Vec<ExpectedCall>> = Vec::new();
    for action in actions {
        if !tools.iter().any(|tool| tool.name == action.name) {
            return Err(format!("it expects `{}`, which is no tool of the domain", action.name));
        }
        let compared =
            |name: &str| action.compare_args.as_ref().is_none_or(|names| names.iter().any(|one| one == name));
        let checked: Vec<(&String, &Value)> = action.arguments.iter().filter(|(name, _)| compared(name)).collect();
        if !checked.iter().all(|(_, value)| is_said(value, said)) {
            continue;
        }
        let arguments = checked.into_iter().map(|(name, value)| (name.clone(), matcher(value))).collect();
        let call = vec![ExpectedCall { tool: action.name.clone(), arguments, only: false }];
        if !alternatives.contains(&call) {
            alternatives.push(call);
        }
    }
    if alternatives.is_empty() {
        return Err("the arguments of its calls are not in what the customer says".to_owned());
    }
    Ok(alternatives)
}

/// Whether a value stands in the text, apart from case; flags and nothing need not be said.
fn is_said(value: &Value, said: &str) -> bool {
    match value {
        Value::String(text) => said.to_lowercase().contains(&text.to_lowercase()),
        Value::Number(number) => said.contains(&number.to_string()),
        Value::Array(items) => !items.is_empty() && items.iter().all(|item| is_said(item, said)),
        Value::Object(fields) => !fields.is_empty() && fields.values().all(|field| is_said(field, said)),
        Value::Bool(_) | Value::Null => true,
    }
}

fn matcher(value: &Value) -> Argument {
    match value {
        Value::String(text) if text.chars().any(char::is_alphanumeric) => Argument::new(Matcher::Loose(text.clone())),
        Value::Null => Argument { absent_ok: Some(true), ..Argument::new(Matcher::Exact(Value::Null)) },
        other => Argument::exact(other.clone()),
    }
}

fn id(domain: &str, task: &str) -> String {
    format!("tau2-{}-{}", plain(domain), plain(task))
}

/// `[a-z0-9-]+`
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() {
            plain.push(letter.to_ascii_lowercase());
        } else if !plain.ends_with('-') && !plain.is_empty() {
            plain.push('-');
        }
    }
    let plain = plain.trim_end_matches('-');
    if plain.is_empty() { "x".to_owned() } else { plain.to_owned() }
}
