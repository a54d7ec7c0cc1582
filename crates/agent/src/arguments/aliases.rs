//! Argument aliases (K16): a model that means `filename` and writes `file_path` is understood.

use serde_json::{Map, Value};
use tenpass_trace::ToolDefinition;

/// Names that models write for an argument, per argument. Directed: the left name is the schema's.
const ALIASES: &[(&str, &[&str])] = &[
    ("filename", &["path", "file_path", "file_name", "filepath", "file", "name", "document", "target"]),
    ("path", &["filename", "file_path", "file_name", "filepath", "file", "name", "directory", "folder"]),
    ("directory", &["path", "dir", "folder", "directory_path", "folder_path", "dir_path", "location", "name"]),
    ("content", &["text", "contents", "body", "data", "file_content", "new_content"]),
    ("text", &["content", "body", "message"]),
    ("query", &["q", "search", "search_query", "search_term", "keywords", "question", "term", "terms", "topic"]),
    ("url", &["link", "uri", "href", "address", "website", "page", "site"]),
    ("task", &["prompt", "instruction", "instructions", "message", "request", "question", "query", "description"]),
    ("provider", &["model", "assistant", "agent", "service", "provider_name"]),
    ("app", &["application", "app_name", "application_name", "program", "name"]),
    ("action", &["command", "operation", "control"]),
    ("section", &["category", "kind", "type"]),
    ("entry", &["text", "content", "note", "memory", "fact"]),
    ("when", &["date", "datetime", "time", "due", "due_date", "at"]),
    ("date", &["when", "day", "datetime", "due", "due_date"]),
    ("limit", &["count", "max", "max_results", "num_results", "n"]),
    ("count", &["limit", "number", "n", "quantity"]),
    ("reason", &["why", "justification", "rationale", "explanation"]),
];

/// Renames arguments that the schema does not know to the argument they stand for.
///
/// An argument is renamed only when its own name is unknown to the schema and exactly one absent
/// argument can be meant (or exactly one required one among several). A correct key is never
/// overwritten, and nothing is dropped: what stays unknown is validation's to reject. Returns
/// (written, meant) pairs in the order they were applied.
pub fn apply_aliases(tool: &ToolDefinition, arguments: &mut Map<String, Value>) -> Vec<(String, String)> {
    let Some(properties) = tool.parameters.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let required: Vec<&str> = tool
        .parameters
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut renamed = Vec::new();
    // One rename can make another one unambiguous, so go round until nothing moves.
    while let Some((written, meant)) = next_rename(properties, &required, arguments) {
        rename(arguments, &written, &meant);
        renamed.push((written, meant));
    }
    renamed
}

fn next_rename(
    properties: &Map<String, Value>,
    required: &[&str],
    arguments: &Map<String, Value>,
) -> Option<(String, String)> {
    arguments.keys().filter(|key| !properties.contains_key(*key)).find_map(|written| {
        let absent = || properties.keys().filter(|name| !arguments.contains_key(*name));
        the_only(absent().filter(|name| same_name(written, name)), required)
            .or_else(|| the_only(absent().filter(|name| is_alias(written, name)), required))
            .map(|meant| (written.clone(), meant))
    })
}

/// The single candidate, or the single required one among several.
fn the_only<'a>(candidates: impl Iterator<Item = &'a String>, required: &[&str]) -> Option<String> {
    let candidates: Vec<&String> = candidates.collect();
    match candidates.as_slice() {
        [] => None,
        [one] => Some((*one).clone()),
        several => {
            let mut needed = several.iter().filter(|name| required.contains(&name.as_str()));
            match (needed.next(), needed.next()) {
                (Some(one), None) => Some((*one).clone()),
                _ => None,
            }
        }
    }
}

/// Renames a key in place, so that the order of the arguments stays as the model wrote it.
fn rename(arguments: &mut Map<String, Value>, from: &str, to: &str) {
    *arguments = std::mem::take(arguments)
        .into_iter()
        .map(|(key, value)| if key == from { (to.to_owned(), value) } else { (key, value) })
        .collect();
}

fn same_name(written: &str, name: &str) -> bool {
    let written = squeezed(written);
    !written.is_empty() && written == squeezed(name)
}

fn is_alias(written: &str, name: &str) -> bool {
    ALIASES
        .iter()
        .any(|(canonical, aliases)| same_name(canonical, name) && aliases.iter().any(|alias| same_name(written, alias)))
}

/// `fileName`, `file-name` and `file_name` are one name.
fn squeezed(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn tool(parameters: Value) -> ToolDefinition {
        ToolDefinition::new("t", "").with_parameters(parameters)
    }

    fn write_file() -> ToolDefinition {
        tool(json!({
            "type": "object",
            "properties": { "filename": {"type": "string"}, "content": {"type": "string"} },
            "required": ["filename", "content"]
        }))
    }

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn each_listed_writing_of_filename_is_understood() {
        for written in ["path", "file_path", "file_name", "name", "filePath", "FileName", "file-name"] {
            let mut arguments = object(&json!({ written: "a.txt", "content": "x" }));
            let renamed = apply_aliases(&write_file(), &mut arguments);
            assert_eq!(renamed, [(written.to_owned(), "filename".to_owned())]);
            assert_eq!(Value::Object(arguments), json!({"filename": "a.txt", "content": "x"}));
        }
    }

    #[test]
    fn a_correct_key_is_never_overwritten() {
        let mut arguments = object(&json!({"path": "wrong.txt", "filename": "right.txt"}));
        assert_eq!(apply_aliases(&write_file(), &mut arguments), []);
        assert_eq!(Value::Object(arguments), json!({"path": "wrong.txt", "filename": "right.txt"}));
    }

    #[test]
    fn a_name_of_the_schema_is_never_an_alias() {
        let both = tool(json!({"type": "object", "properties": {"path": {}, "filename": {}}}));
        let mut arguments = object(&json!({"path": "a"}));
        assert_eq!(apply_aliases(&both, &mut arguments), []);
    }

    #[test]
    fn of_several_candidates_only_the_required_one_is_meant() {
        let properties = json!({"filename": {"type": "string"}, "directory": {"type": "string"}});
        let ambiguous = tool(json!({"type": "object", "properties": properties}));
        let mut arguments = object(&json!({"path": "a"}));
        assert_eq!(apply_aliases(&ambiguous, &mut arguments), []);
        let clear = tool(json!({"type": "object", "properties": properties, "required": ["directory"]}));
        assert_eq!(apply_aliases(&clear, &mut arguments), [("path".into(), "directory".into())]);
    }

    #[test]
    fn the_second_alias_of_one_argument_stays_for_validation() {
        let mut arguments = object(&json!({"path": "a", "file": "b"}));
        assert_eq!(apply_aliases(&write_file(), &mut arguments), [("path".into(), "filename".into())]);
        assert_eq!(Value::Object(arguments), json!({"filename": "a", "file": "b"}));
    }

    fn key() -> impl Strategy<Value = String> {
        let names: Vec<String> = ALIASES
            .iter()
            .flat_map(|(name, aliases)| std::iter::once(name).chain(aliases.iter()))
            .map(|name| (*name).to_owned())
            .collect();
        prop_oneof![proptest::sample::select(names), "[a-zA-Z_-]{0,8}"]
    }

    proptest! {
        #[test]
        fn correct_keys_and_all_values_survive(
            properties in proptest::collection::btree_set(key(), 0..6),
            given in proptest::collection::btree_map(key(), 0..1000i32, 0..6),
        ) {
            let schema: Map<String, Value> = properties.iter().map(|name| (name.clone(), json!({}))).collect();
            let tool = tool(json!({"type": "object", "properties": schema}));
            let before: Map<String, Value> = given.into_iter().map(|(key, value)| (key, json!(value))).collect();
            let mut after = before.clone();
            let renamed = apply_aliases(&tool, &mut after);
            // A key the schema knows keeps its value.
            for (key, value) in before.iter().filter(|(key, _)| properties.contains(*key)) {
                prop_assert_eq!(after.get(key), Some(value));
            }
            // Nothing is lost or invented, and the order stays.
            prop_assert_eq!(before.values().collect::<Vec<_>>(), after.values().collect::<Vec<_>>());
            for (written, meant) in &renamed {
                prop_assert!(!properties.contains(written) && properties.contains(meant));
                prop_assert!(!before.contains_key(meant));
            }
            // Applying it again changes nothing more.
            let mut again = after.clone();
            prop_assert_eq!(apply_aliases(&tool, &mut again), vec![]);
            prop_assert_eq!(again, after);
        }
    }
}
