//! From a call that was right to what other calls must have in common with it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};
use tenpass_agent::{content_words, fold};
use tenpass_trace::ToolDefinition;

use crate::cases::{Argument, ExpectedCall, Matcher, Pattern};

/// Words of a text up to which it is a name and not a sentence.
const NAME_WORDS: usize = 3;
/// Elements of a list up to which each is checked.
const MOST_ELEMENTS: usize = 12;

static DATE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2}).*)?$").ok());
static FILE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[^\s:*?<>|]{0,200}\.[A-Za-z0-9]{1,6}$").ok());

/// The call with a matcher for each argument that says something. `request` is what was asked.
///
/// A value of a closed list, a number, a truth and a date are exact; of a file the name counts and not
/// the folder before it; a few words are compared loosely; of a longer text only a telling word that
/// stands in the request too, for the rest is the model's own wording. The `reason` is free.
pub(in crate::life) fn expected_call(
    tool: &ToolDefinition,
    arguments: &Map<String, Value>,
    request: &str,
) -> ExpectedCall {
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    let mut made = Vec::new();
    for (name, value) in arguments.iter().filter(|(name, _)| *name != "reason") {
        let schema = properties.and_then(|properties| properties.get(name));
        let is_known = properties.is_none() || schema.is_some();
        if let Some(argument) = matcher(name, value, schema, request).filter(|_| is_known) {
            made.push((name.clone(), argument));
        }
    }
    ExpectedCall { tool: tool.name.clone(), arguments: made, only: false }
}

fn matcher(name: &str, value: &Value, schema: Option<&Value>, request: &str) -> Option<Argument> {
    let is_closed = schema.is_some_and(|schema| schema.get("enum").is_some() || schema.get("const").is_some());
    match value {
        Value::Null => None,
        Value::Bool(_) | Value::Number(_) => Some(Argument::exact(value.clone())),
        Value::String(text) if is_closed => Some(Argument::exact(Value::String(text.clone()))),
        Value::String(text) => of_text(name, text.trim(), request).map(Argument::new),
        Value::Array(items) if items.is_empty() || items.len() > MOST_ELEMENTS => None,
        Value::Array(items) => {
            let inner = schema.and_then(|schema| schema.get("items"));
            let elements: Option<Vec<Argument>> =
                items.iter().map(|item| matcher(name, item, inner, request)).collect();
            elements.map(|elements| Argument::new(Matcher::Set(elements)))
        }
        Value::Object(map) => {
            let inner = |name: &str| schema.and_then(|schema| schema.get("properties")?.get(name));
            let members: Vec<(String, Argument)> = map
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), matcher(name, value, inner(name), request)?)))
                .collect();
            (!members.is_empty()).then(|| Argument::new(Matcher::Object { members, only: false }))
        }
    }
}

fn of_text(name: &str, text: &str, request: &str) -> Option<Matcher> {
    if text.is_empty() {
        return None;
    }
    if let Some(parts) = DATE.as_ref().and_then(|date| date.captures(text)) {
        let day = parts.get(1).map(|day| day.as_str().to_owned()).unwrap_or_default();
        return match parts.get(2) {
            Some(time) => pattern(&format!("^{day}[T ]{}", time.as_str())),
            None => crate::grade::date::parse_iso(&day).is_some().then_some(Matcher::Date(day)),
        };
    }
    if let Some((_, address)) = text.split_once("://") {
        let bare = address.trim_start_matches("www.").trim_end_matches('/');
        return (!bare.is_empty()).then(|| Matcher::Contains(bare.to_owned()));
    }
    let names_file = ["file", "path", "folder", "directory"].iter().any(|part| name.contains(part));
    if FILE.as_ref().is_some_and(|file| file.is_match(text)) || (names_file && text.split_whitespace().count() <= 8) {
        let last = text.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(text);
        return pattern(&format!(r"(?i)(^|[/\\]){}[/\\]?$", regex::escape(last)));
    }
    if text.split_whitespace().count() <= NAME_WORDS && text.chars().count() <= 60 {
        let is_empty = crate::grade::text::loose(text).is_empty();
        return (!is_empty).then(|| Matcher::Loose(text.to_owned()));
    }
    telling_word(text, request).map(Matcher::Contains)
}

fn pattern(text: &str) -> Option<Matcher> {
    Pattern::new(text).ok().filter(|pattern| !pattern.matches_everything()).map(Matcher::Regex)
}

/// The longest word of a text that the request has too.
fn telling_word(text: &str, request: &str) -> Option<String> {
    let asked: BTreeSet<String> = content_words(request).into_iter().collect();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 4);
    let telling = words.filter(|word| content_words(word).iter().any(|stem| asked.contains(stem)));
    // Accents are the model's affair: without them the word must be findable as it stands.
    telling.max_by_key(|word| (word.chars().count(), fold(word).len() == word.len())).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cases::{Expect, expect_lines};

    fn lines(arguments: &Value, request: &str) -> String {
        let schema = json!({ "type": "object", "properties": {
            "provider": { "type": "string", "enum": ["claude"] }, "filename": { "type": "string" },
            "task": { "type": "string" }, "on": { "type": "string" }, "count": { "type": "integer" },
            "url": { "type": "string" }, "labels": { "type": "array", "items": { "type": "string" } },
            "reason": { "type": "string" }, "to": { "type": "object", "properties": { "city": { "type": "string" } } },
        } });
        let tool = ToolDefinition::new("t", "T.").with_parameters(schema);
        let call = expected_call(&tool, arguments.as_object().unwrap(), request);
        expect_lines(&Expect { alternatives: vec![vec![call]], ..Expect::default() })
    }

    #[test]
    fn each_kind_of_argument_has_its_matcher() {
        let made = lines(
            &json!({
                "provider": "claude", "filename": "docs/notes 2.md", "on": "2026-12-01", "count": 3,
                "url": "https://www.example.org/a/", "labels": ["red", "dark blue"], "reason": "because",
                "to": { "city": "Lyon" }, "task": "Write a formal letter to the owner of the flat about the heating",
            }),
            "Have Claude write to my landlord about the heating",
        );
        for part in [
            "provider = \"claude\"",
            r#"filename = { regex = "(?i)(^|[/\\\\])notes 2\\.md[/\\\\]?$" }"#,
            "on = { date = \"2026-12-01\" }",
            "count = 3",
            "url = { contains = \"example.org/a\" }",
            "labels = { set = [{ loose = \"red\" }, { loose = \"dark blue\" }] }",
            "to = { object = { city = { loose = \"Lyon\" } } }",
            "task = { contains = \"heating\" }",
        ] {
            assert!(made.contains(part), "{part} in {made}");
        }
        assert!(!made.contains("reason"), "{made}");
    }

    #[test]
    fn the_models_own_wording_is_free() {
        assert!(!lines(&json!({ "task": "Compose something nice and rather long" }), "hi").contains("task"));
        assert!(lines(&json!({ "on": "2026-12-01T09:00" }), "").contains("^2026-12-01[T ]09:00"));
        assert!(!lines(&json!({ "unknown": "x", "task": "" }), "").contains("arguments"));
    }
}
