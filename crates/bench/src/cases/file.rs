//! One case file: a family and its cases.

use tenpass_trace::{Message, Role, ToolCall, ToolDefinition};

use super::case::{Case, CaseKind, Language};
use super::source::{Fields, Located, Source, suggestion};
use super::{check, notation, tools};

/// What a case file shares with the others of its suite.
pub(super) struct Shared<'s> {
    /// The tools of `tools.toml`.
    pub(super) tools: &'s [ToolDefinition],
    /// `tools.toml` was read without a fault: what is not in it does not exist.
    pub(super) tools_known: bool,
    /// The suite's system prompt.
    pub(super) system: &'s str,
}

/// The cases of a file. Cases with faults are left out; the faults stand in the source.
pub(super) fn cases(source: &Source<'_>, shared: &Shared<'_>) -> Vec<Case> {
    let table = source.parse();
    // What follows a syntax error is guesswork: report that one alone.
    if source.has_errors() {
        return Vec::new();
    }
    let mut fields = Fields::new(source, table.get_ref(), 0..0);
    let family = fields
        .need("family", "name the failure kind of this file: family = \"…\"")
        .and_then(|value| source.text(value, "family"))
        .unwrap_or_default();
    let list = fields.need("case", "write each case as [[case]]");
    fields.finish("a case file");
    let items = list.and_then(|value| source.list(value, "case")).unwrap_or_default();
    items.into_iter().filter_map(|item| case(source, shared, &family, item)).collect()
}

fn case<'i>(source: &Source<'i>, shared: &Shared<'_>, family: &str, value: Located<'_, 'i>) -> Option<Case> {
    let before = source.error_count();
    let mut fields = source.table(value, "case")?;
    let id = fields.need("id", "give the case a name, unique over the suite").and_then(|value| id(source, value));
    let languages = [("en", Language::English), ("fr", Language::French)];
    if fields.get("language").is_none() {
        source.error(&fields.span(), "`language` is missing", "write language = \"en\" or \"fr\"");
    }
    let language = fields.choice("language", &languages);
    let kind = fields.choice("kind", &[("target", CaseKind::Target), ("guard", CaseKind::Guard)]);
    let provenance = fields
        .need("provenance", "say where the failure was seen")
        .and_then(|value| not_blank(source, value, "provenance"));
    let messages = messages(source, &mut fields, shared);
    let tools = offered(source, &mut fields, shared);
    let expect = fields
        .need("expect", "say what must happen in [case.expect]")
        .and_then(|value| notation::expect(source, value));
    let span = fields.span();
    fields.finish("a case");

    let (tools, complete) = tools;
    if complete && tools.is_empty() {
        source.error(
            &span,
            "the case offers no tool, so nothing can be chosen",
            "name tools in `tools` or define one in `tool`",
        );
    }
    let (expect, spans) = expect?;
    let case = Case {
        id: id?,
        family: family.to_owned(),
        language: language?,
        kind: kind.unwrap_or_default(),
        messages: messages?,
        tools,
        provenance: provenance?,
        expect,
        // The file's name alone: a stored case must not depend on where the checkout was.
        source: format!("{}:{}", base_name(source.name()), source.line(span.start)),
        scenario: None,
    };
    if complete && !case.tools.is_empty() {
        check::case(source, &case, &spans);
    }
    (source.error_count() == before).then_some(case)
}

fn base_name(path: &str) -> &str {
    std::path::Path::new(path).file_name().and_then(std::ffi::OsStr::to_str).unwrap_or(path)
}

fn id<'i>(source: &Source<'i>, value: Located<'_, 'i>) -> Option<String> {
    let id = source.text(value, "id")?;
    if id.is_empty() || !id.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-') {
        source.error(
            &value.span(),
            format!("id {id:?} is not of the form [a-z0-9-]+"),
            "write lower-case words joined by hyphens",
        );
        return None;
    }
    Some(id)
}

fn not_blank<'i>(source: &Source<'i>, value: Located<'_, 'i>, what: &str) -> Option<String> {
    let text = source.text(value, what)?;
    if text.trim().is_empty() {
        source.error(&value.span(), format!("`{what}` is empty"), "");
        return None;
    }
    Some(text)
}

/// The conversation: the system message, then the prompt or the history.
fn messages<'i>(source: &Source<'i>, fields: &mut Fields<'_, 'i>, shared: &Shared<'_>) -> Option<Vec<Message>> {
    let system = fields.text("system").unwrap_or_else(|| shared.system.to_owned());
    let mut messages = Vec::new();
    if !system.trim().is_empty() {
        messages.push(Message::system(system.trim_end()));
    }
    match (fields.get("prompt"), fields.get("history")) {
        (Some(prompt), None) => messages.push(Message::user(not_blank(source, prompt, "prompt")?)),
        (None, Some(history)) => messages.extend(self::history(source, history)?),
        (Some(_), Some(history)) => {
            source.error(
                &history.span(),
                "both `prompt` and `history`",
                "put the prompt as the last message of the history",
            );
            return None;
        }
        (None, None) => {
            source.error(&fields.span(), "neither `prompt` nor `history`", "write prompt = \"…\"");
            return None;
        }
    }
    Some(messages)
}

fn history<'i>(source: &Source<'i>, value: Located<'_, 'i>) -> Option<Vec<Message>> {
    let before = source.error_count();
    let items = source.list(value, "history")?;
    let messages: Vec<Message> = items.iter().filter_map(|item| message(source, item)).collect();
    if source.error_count() > before {
        return None;
    }
    if !matches!(messages.last().map(|message| message.role), Some(Role::User | Role::Tool)) {
        let last = messages
            .last()
            .map_or("nothing".to_owned(), |message| format!("a message of the {}", message.role.as_str()));
        let span = items.last().map_or(value.span(), |item| item.span());
        source.error(&span, format!("the history ends in {last}"), "end it in the user or tool message to answer");
        return None;
    }
    Some(messages)
}

fn message<'i>(source: &Source<'i>, value: Located<'_, 'i>) -> Option<Message> {
    let before = source.error_count();
    let mut fields = source.table(value, "a message")?;
    fields.need("role", "user, assistant or tool");
    // The system message has a key of its own, so that a suite's prompt is said once.
    let role = fields.choice("role", &[("user", Role::User), ("assistant", Role::Assistant), ("tool", Role::Tool)]);
    let content = fields.text("content").unwrap_or_default();
    let calls = fields.get("tool_calls").and_then(|value| source.list(value, "tool_calls")).unwrap_or_default();
    let tool_calls: Vec<ToolCall> = calls.into_iter().filter_map(|call| tool_call(source, call)).collect();
    let tool_name = fields.text("tool_name");
    let tool_call_id = fields.text("tool_call_id");
    let span = fields.span();
    fields.finish("a message");
    if source.error_count() > before {
        return None;
    }
    let role = role?;
    if role == Role::Tool && tool_name.is_none() {
        source.error(&span, "a tool message without `tool_name`", "name the tool whose result this is");
    }
    if role != Role::Assistant && !tool_calls.is_empty() {
        source.error(
            &span,
            format!("a message of the {} with `tool_calls`", role.as_str()),
            "only the assistant calls tools",
        );
    }
    if role == Role::User && content.trim().is_empty() {
        source.error(&span, "a user message without `content`", "");
    }
    Some(Message { role, content, thinking: None, tool_calls, tool_name, tool_call_id })
}

fn tool_call<'i>(source: &Source<'i>, value: Located<'_, 'i>) -> Option<ToolCall> {
    let mut fields = source.table(value, "a tool call")?;
    let id = fields.text("id");
    let name = fields.need("name", "name the tool").and_then(|value| source.text(value, "name"));
    let arguments = fields.get("arguments").map(|value| source.json(value));
    let span = fields.span();
    fields.finish("a tool call");
    let arguments = match arguments {
        None => serde_json::Map::new(),
        Some(serde_json::Value::Object(arguments)) => arguments,
        Some(_) => {
            source.error(&span, "the arguments of a tool call are not a table", "write arguments = { … }");
            return None;
        }
    };
    Some(ToolCall { id, name: name?, arguments })
}

/// The tools of a case, and whether that is all of them (false after a fault).
fn offered<'i>(source: &Source<'i>, fields: &mut Fields<'_, 'i>, shared: &Shared<'_>) -> (Vec<ToolDefinition>, bool) {
    let before = source.error_count();
    let names = fields.texts("tools");
    let inline = fields.get("tool");
    let mut offered: Vec<ToolDefinition> = match (&names, inline) {
        (None, None) => shared.tools.to_vec(),
        _ => Vec::new(),
    };
    let known: Vec<&str> = shared.tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut complete = shared.tools_known;
    for (name, span) in names.into_iter().flatten() {
        if offered.iter().any(|tool| tool.name == name) {
            source.error(&span, format!("tool `{name}` is named twice"), "remove one of them");
        } else if let Some(tool) = shared.tools.iter().find(|tool| tool.name == name) {
            offered.push(tool.clone());
        } else if shared.tools_known {
            let hint = if known.is_empty() {
                "there is no tools.toml beside this file".to_owned()
            } else {
                suggestion(&name, &known)
            };
            source.error(&span, format!("unknown tool `{name}`"), hint);
        }
    }
    if let Some(value) = inline {
        for tool in tools::list(source, value) {
            if offered.iter().any(|other| other.name == tool.name) {
                source.error(
                    &value.span(),
                    format!("tool `{}` is defined twice in this case", tool.name),
                    "rename or remove one of them",
                );
            } else {
                offered.push(tool);
            }
        }
    }
    complete &= source.error_count() == before;
    (offered, complete)
}
