//! A promptfoo configuration as cases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tenpass_agent::prompt::Language as Spoken;
use tenpass_bench::cases::{Case, CaseKind, Expect, Language};
use tenpass_trace::{Message, Role, ToolCall, ToolDefinition};

use super::asserts;
use super::files::{referred, resolved, text, tree};
use super::{Converted, OWN};
use crate::ExchangeError;

/// Most cases that one configuration becomes.
const MOST_CASES: usize = 20_000;

/// Reads a configuration, YAML or JSON, with the files that it refers to.
pub fn import(path: &Path) -> Result<Converted, ExchangeError> {
    let configuration = tree(path)?;
    if !configuration.is_object() {
        return Err(format_error(path, "it is no table of settings"));
    }
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    let source = Source { path, folder, configuration: &configuration };
    let mut converted = Converted::default();
    let mut ids = BTreeMap::new();
    let prompts = source.prompts()?;
    let shared = source.tools()?;
    for (place, test) in source.tests()?.iter().enumerate() {
        let entry = format!("tests[{place}]");
        if let Some(own) = test.pointer("/metadata/tenpass").filter(|own| own.get("expect").is_some()) {
            converted.cases.push(source.own(&entry, own)?);
        } else {
            source.foreign(&entry, test, &prompts, &shared, &mut ids, &mut converted)?;
        }
        if converted.cases.len() > MOST_CASES {
            let limit = MOST_CASES as u64;
            return Err(ExchangeError::TooLarge { path: path.to_owned(), entry, limit, unit: "cases" });
        }
    }
    Ok(converted)
}

fn format_error(path: &Path, reason: impl Into<String>) -> ExchangeError {
    ExchangeError::Format { path: path.to_owned(), format: "a promptfoo configuration", reason: reason.into() }
}

struct Source<'a> {
    path: &'a Path,
    folder: PathBuf,
    configuration: &'a Value,
}

impl Source<'_> {
    fn wrong(&self, entry: &str, reason: impl ToString) -> ExchangeError {
        ExchangeError::entry(self.path, entry, reason)
    }

    /// A list, or the file that holds it; a single value is a list of one.
    fn list(&self, name: &str) -> Result<Vec<Value>, ExchangeError> {
        let Some(value) = self.configuration.get(name) else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for item in if let Value::Array(items) = value { items.as_slice() } else { std::slice::from_ref(value) } {
            match resolved(&self.folder, item)? {
                Value::Array(items) => all.extend(items),
                one => all.push(one),
            }
        }
        Ok(all)
    }

    fn tests(&self) -> Result<Vec<Value>, ExchangeError> {
        let tests = self.list("tests")?;
        match tests.iter().position(|test| !test.is_object()) {
            Some(place) => Err(self.wrong(&format!("tests[{place}]"), "it is no table")),
            None if tests.is_empty() => Err(format_error(self.path, "it has no `tests`")),
            None => Ok(tests),
        }
    }

    /// The prompts, as text or as a list of messages.
    fn prompts(&self) -> Result<Vec<Value>, ExchangeError> {
        let mut prompts = Vec::new();
        let all = match self.configuration.get("prompts") {
            Some(Value::Array(all)) => all.clone(),
            Some(one) => vec![one.clone()],
            None => Vec::new(),
        };
        for (place, prompt) in all.iter().enumerate() {
            let raw = match prompt {
                Value::Object(fields) => match fields.get("raw").or_else(|| fields.get("id")) {
                    Some(Value::String(text)) => text.clone(),
                    _ => return Err(self.wrong(&format!("prompts[{place}]"), "it has neither `raw` nor `id`")),
                },
                Value::String(text) => text.clone(),
                _ => return Err(self.wrong(&format!("prompts[{place}]"), "it is no text")),
            };
            prompts.push(match referred(&self.folder, &raw) {
                Some(path)
                    if path.extension().is_some_and(|kind| kind == "json" || kind == "yaml" || kind == "yml") =>
                {
                    tree(&path)?
                }
                Some(path) => Value::String(text(&path)?),
                None => Value::String(raw),
            });
        }
        Ok(prompts)
    }

    /// The tools of the first provider that has any.
    fn tools(&self) -> Result<Vec<ToolDefinition>, ExchangeError> {
        for (place, provider) in self.list("providers")?.iter().enumerate() {
            // `id: settings`, or a table with `config`.
            let nested = provider.as_object().and_then(|fields| fields.values().find_map(|value| value.get("config")));
            if let Some(tools) = provider.get("config").or(nested).and_then(|config| config.get("tools")) {
                return self.definitions(&format!("providers[{place}].config.tools"), tools);
            }
        }
        Ok(Vec::new())
    }

    fn definitions(&self, entry: &str, tools: &Value) -> Result<Vec<ToolDefinition>, ExchangeError> {
        let mut all = Vec::new();
        for item in if let Value::Array(items) = tools { items.as_slice() } else { std::slice::from_ref(tools) } {
            match resolved(&self.folder, item)? {
                Value::Array(items) => all.extend(items),
                one => all.push(one),
            }
        }
        let named = all.iter().enumerate().map(|(place, tool)| {
            definition(tool).ok_or_else(|| self.wrong(&format!("{entry}[{place}]"), "it has no `name`"))
        });
        named.collect()
    }

    /// A test that this program wrote.
    fn own(&self, entry: &str, own: &Value) -> Result<Case, ExchangeError> {
        let entry = format!("{entry}.metadata.{OWN}");
        let shared = self
            .configuration
            .pointer("/defaultTest/metadata/tenpass/tools")
            .cloned()
            .unwrap_or_else(|| Value::Array(Vec::new()));
        let shared: Vec<ToolDefinition> =
            serde_json::from_value(shared).map_err(|error| self.wrong("defaultTest.metadata.tenpass.tools", error))?;
        let offered = own.get("offered").and_then(Value::as_array).into_iter().flatten();
        let tools = offered.map(|place| {
            let tool = place.as_u64().and_then(|place| shared.get(usize::try_from(place).ok()?));
            tool.cloned().ok_or_else(|| self.wrong(&format!("{entry}.offered"), format!("there is no tool {place}")))
        });
        let tools = tools.collect::<Result<Vec<_>, _>>()?;
        let mut case = Map::new();
        for name in ["id", "family", "language", "kind", "provenance", "messages", "expect"] {
            let value = own.get(name).ok_or_else(|| self.wrong(&entry, format!("`{name}` is missing")))?;
            case.insert(name.to_owned(), value.clone());
        }
        case.insert("tools".to_owned(), Value::Array(Vec::new()));
        case.insert("source".to_owned(), Value::String(self.path.display().to_string()));
        let case: Case = serde_json::from_value(Value::Object(case)).map_err(|error| self.wrong(&entry, error))?;
        Ok(Case { tools, ..case })
    }

    /// A test of somebody else: a case for each prompt.
    fn foreign(
        &self,
        entry: &str,
        test: &Value,
        prompts: &[Value],
        shared: &[ToolDefinition],
        ids: &mut BTreeMap<String, usize>,
        converted: &mut Converted,
    ) -> Result<(), ExchangeError> {
        let name = test.get("description").and_then(Value::as_str).unwrap_or(entry).to_owned();
        let both = |pointer: &str| {
            let shared = self.configuration.pointer(&format!("/defaultTest{pointer}"));
            (shared.cloned(), test.pointer(pointer).cloned())
        };
        let tools = match test.pointer("/options/tools").or_else(|| test.pointer("/options/config/tools")) {
            Some(tools) => self.definitions(&format!("{entry}.options.tools"), tools)?,
            None => shared.to_vec(),
        };
        let (shared_asserts, own_asserts) = both("/assert");
        let all = [shared_asserts, own_asserts].into_iter().flatten();
        let asserts: Vec<Value> = all.flat_map(|list| list.as_array().cloned().unwrap_or_default()).collect();
        let read = asserts::read(&asserts, &tools);
        let note = |text: String| format!("{name}: {text}");
        converted.notes.extend(read.notes.into_iter().map(note));
        if !read.expect.is_effective() {
            converted.notes.push(note("left out: it does not say which tools must be called".to_owned()));
            return Ok(());
        }
        if let Some(tool) = unknown(&read.expect, &tools) {
            converted.notes.push(note(format!("left out: it expects `{tool}`, which it does not offer")));
            return Ok(());
        }
        let (shared_vars, own_vars) = both("/vars");
        let mut vars = Map::new();
        for table in [shared_vars, own_vars].into_iter().flatten() {
            vars.extend(resolved(&self.folder, &table)?.as_object().cloned().unwrap_or_default());
        }
        for prompt in prompts {
            let messages = match conversation(prompt, &vars) {
                Ok(messages) => messages,
                Err(reason) => {
                    converted.notes.push(format!("{name}: left out: {reason}"));
                    continue;
                }
            };
            let id = unique(&name, ids);
            let asked = messages.iter().rev().find(|message| message.role == Role::User);
            converted.cases.push(Case {
                id,
                family: "promptfoo".to_owned(),
                language: asked.map_or(Language::English, |message| spoken(&message.content)),
                kind: CaseKind::Target,
                messages,
                tools: tools.clone(),
                provenance: format!("promptfoo configuration {}, {name}", file_name(self.path)),
                expect: read.expect.clone(),
                source: format!("{}, {entry}", self.path.display()),
                scenario: None,
            });
        }
        Ok(())
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn spoken(text: &str) -> Language {
    match Spoken::detect(text) {
        Some(Spoken::French) => Language::French,
        _ => Language::English,
    }
}

/// A tool in OpenAI's form, Anthropic's, or bare.
fn definition(tool: &Value) -> Option<ToolDefinition> {
    let bare = tool.get("function").unwrap_or(tool);
    let name = bare.get("name")?.as_str().filter(|name| !name.is_empty())?;
    let description = bare.get("description").and_then(Value::as_str).unwrap_or_default();
    let definition = ToolDefinition::new(name, description);
    let schema = bare.get("parameters").or_else(|| bare.get("input_schema")).filter(|schema| schema.is_object());
    Some(match schema {
        Some(schema) => definition.with_parameters(schema.clone()),
        None => definition,
    })
}

/// A tool that is expected or forbidden and not offered.
fn unknown(expect: &Expect, tools: &[ToolDefinition]) -> Option<String> {
    let called = expect.alternatives.iter().flatten().map(|call| &call.tool);
    called.chain(&expect.forbid).find(|name| !tools.iter().any(|tool| tool.name == **name)).cloned()
}

/// `[a-z0-9-]+`, once each.
fn unique(name: &str, ids: &mut BTreeMap<String, usize>) -> String {
    let mut id = String::from("promptfoo");
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() {
            id.push(letter.to_ascii_lowercase());
        } else if !id.ends_with('-') {
            id.push('-');
        }
        if id == "promptfoo" || (id.len() == 10 && !id.contains('-')) {
            id.insert(9, '-');
        }
    }
    let id = id.trim_end_matches('-').to_owned();
    let count = ids.entry(id.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { id } else { format!("{id}-{count}") }
}

/// The messages of a prompt with its variables filled in.
fn conversation(prompt: &Value, vars: &Map<String, Value>) -> Result<Vec<Message>, String> {
    let list = match prompt {
        Value::String(text) => {
            let rendered = rendered(text, vars)?;
            match serde_json::from_str::<Value>(&rendered) {
                Ok(Value::Array(list)) => list,
                _ => return Ok(vec![Message::user(rendered.trim())]),
            }
        }
        Value::Array(list) => list.iter().map(|message| filled(message, vars)).collect::<Result<_, _>>()?,
        _ => return Err("its prompt is neither a text nor a list of messages".to_owned()),
    };
    let messages: Vec<Message> = list.iter().map(message).collect::<Result<_, _>>()?;
    match messages.last() {
        Some(last) if matches!(last.role, Role::User | Role::Tool) => Ok(messages),
        _ => Err("its prompt does not end in a message to answer".to_owned()),
    }
}

fn filled(value: &Value, vars: &Map<String, Value>) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => Value::String(rendered(text, vars)?),
        Value::Array(items) => Value::Array(items.iter().map(|item| filled(item, vars)).collect::<Result<_, _>>()?),
        Value::Object(fields) => {
            let filled = fields.iter().map(|(name, value)| Ok((name.clone(), filled(value, vars)?)));
            Value::Object(filled.collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}

/// Fills in `{{ name }}`; anything else that the template language can do is refused.
fn rendered(text: &str, vars: &Map<String, Value>) -> Result<String, String> {
    if let Some(raw) = text.strip_prefix("{% raw %}").and_then(|text| text.strip_suffix("{% endraw %}")) {
        return Ok(raw.to_owned());
    }
    if text.contains("{%") {
        return Err("its prompt has template statements, which are not run here".to_owned());
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once("{{") {
        let (name, after) = tail.split_once("}}").ok_or("its prompt has `{{` without `}}`")?;
        let name = name.trim();
        let value = vars.get(name).ok_or_else(|| format!("its prompt uses `{name}`, which it does not set"))?;
        out.push_str(head);
        match value {
            Value::String(text) => out.push_str(text),
            other => out.push_str(&other.to_string()),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// A message in the form of chat APIs.
fn message(value: &Value) -> Result<Message, String> {
    let content = match value.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    };
    match value.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => Ok(Message::system(content)),
        Some("user") => Ok(Message::user(content)),
        Some("assistant") => {
            let calls = value.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
            let tool_calls = calls.map(call).collect::<Option<Vec<_>>>().ok_or("a call of its history has no name")?;
            Ok(Message { tool_calls, ..Message::assistant(content) })
        }
        Some("tool") => {
            let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
            Ok(Message {
                role: Role::Tool,
                tool_call_id: text("tool_call_id"),
                tool_name: text("name"),
                ..Message::user(content)
            })
        }
        other => Err(format!("a message has the role `{}`", other.unwrap_or_default())),
    }
}

fn call(value: &Value) -> Option<ToolCall> {
    let function = value.get("function")?;
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) => serde_json::from_str(text).ok()?,
        Some(Value::Object(fields)) => fields.clone(),
        _ => Map::new(),
    };
    let id = value.get("id").and_then(Value::as_str).map(str::to_owned);
    Some(ToolCall { id, name: function.get("name")?.as_str()?.to_owned(), arguments })
}
