//! The way back: cases as BFCL files, as far as BFCL can say what they expect.
//!
//! BFCL knows questions, functions and lists of accepted values. It has no patterns, no order, no
//! forbidden tools and no calls that are free: a case that needs one of these is left out, and
//! the report says which and why, rather than being written as something weaker.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tenpass_trace::{Message, Role, ToolDefinition};

use super::category::Category;
use super::error::ImportError;
use crate::cases::{Argument, Case, ExpectedCall, Matcher};

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exported {
    /// The files, questions and answers.
    pub files: Vec<PathBuf>,
    /// Cases in them.
    pub written: usize,
    /// Cases that BFCL cannot say: `id: why`.
    pub left_out: Vec<String>,
}

/// The lines of a category's two files.
#[derive(Default)]
struct Lines {
    questions: String,
    answers: String,
}

/// Writes the cases as `BFCL_v4_<category>.json` files with their `possible_answer/` into `out`.
pub fn export(cases: &[Case], out: &Path) -> Result<Exported, ImportError> {
    let mut exported = Exported::default();
    let mut categories: BTreeMap<&'static str, Lines> = BTreeMap::new();
    for case in cases {
        match entry(case) {
            Ok((category, question, answer)) => {
                let lines = categories.entry(category.as_str()).or_default();
                lines.questions.push_str(&format!("{question}\n"));
                if let Some(answer) = answer {
                    lines.answers.push_str(&format!("{answer}\n"));
                }
                exported.written += 1;
            }
            Err(reason) => exported.left_out.push(format!("{}: {reason}", case.id)),
        }
    }
    let answers = out.join("possible_answer");
    std::fs::create_dir_all(&answers).map_err(|source| ImportError::Write { path: answers.clone(), source })?;
    for (category, lines) in categories {
        let name = format!("BFCL_v4_{category}.json");
        let both = [(out.join(&name), lines.questions), (answers.join(&name), lines.answers)];
        for (path, text) in both.into_iter().filter(|(_, text)| !text.is_empty()) {
            std::fs::write(&path, text).map_err(|source| ImportError::Write { path: path.clone(), source })?;
            exported.files.push(path);
        }
    }
    Ok(exported)
}

/// Category, question and accepted answer of a case, or why there are none.
fn entry(case: &Case) -> Result<(Category, Value, Option<Value>), String> {
    let expect = &case.expect;
    if case.scenario.is_some() {
        return Err("it is a scenario".to_owned());
    }
    if !expect.forbid.is_empty() && !expect.no_call {
        return Err("BFCL has no forbidden tools".to_owned());
    }
    let calls = match (expect.no_call, expect.alternatives.as_slice()) {
        (true, _) => &[] as &[ExpectedCall],
        (false, [calls]) => calls.as_slice(),
        (false, []) => return Err("it expects nothing".to_owned()),
        (false, _) => return Err("BFCL has one list of calls, this has alternatives".to_owned()),
    };
    if expect.ordered && calls.len() > 1 {
        return Err("BFCL's calls have no order".to_owned());
    }
    let category = category(case, calls.len());
    let id = id(case, category);
    let turns = case.messages.iter().map(turn).collect::<Result<Vec<Value>, String>>()?;
    let functions: Vec<Value> = case.tools.iter().map(function).collect();
    if functions.is_empty() {
        return Err("it offers no tool".to_owned());
    }
    let question = json!({ "id": id, "question": [turns], "function": functions });
    if expect.no_call {
        return Ok((category, question, None));
    }
    let truth = calls.iter().map(|call| accepted_call(call, &case.tools)).collect::<Result<Vec<Value>, String>>()?;
    Ok((category, question, Some(json!({ "id": id, "ground_truth": truth }))))
}

/// The one the case came from, or the one that fits its shape.
fn category(case: &Case, calls: usize) -> Category {
    let came_from = Category::ALL.iter().find(|category| category.family() == case.family);
    came_from.copied().unwrap_or(match (calls, case.tools.len()) {
        (0, _) => Category::Irrelevance,
        (1, 1) => Category::SimplePython,
        (1, _) => Category::Multiple,
        (_, 1) => Category::Parallel,
        _ => Category::ParallelMultiple,
    })
}

/// `simple_python_0` of `bfcl-simple-python-0`; BFCL reads the category off the id.
fn id(case: &Case, category: Category) -> String {
    let rest = case.id.strip_prefix(&format!("{}-", category.family())).unwrap_or(&case.id);
    format!("{category}_{rest}")
}

fn turn(message: &Message) -> Result<Value, String> {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant if message.tool_calls.is_empty() => "assistant",
        Role::Assistant | Role::Tool => {
            return Err("its history holds a call, which BFCL's questions cannot".to_owned());
        }
    };
    Ok(json!({ "role": role, "content": message.content }))
}

fn function(tool: &ToolDefinition) -> Value {
    json!({ "name": tool.name, "description": tool.description, "parameters": schema(&tool.parameters) })
}

/// A schema with JSON Schema's types as BFCL names them, at every level.
fn schema(json_schema: &Value) -> Value {
    let Some(node) = json_schema.as_object() else { return json_schema.clone() };
    let mapped = node.iter().map(|(keyword, value)| {
        let value = match (keyword.as_str(), value) {
            ("type", Value::String(name)) => match name.as_str() {
                "object" => json!("dict"),
                "number" => json!("float"),
                other => json!(other),
            },
            ("properties", Value::Object(properties)) => {
                let inner = properties.iter().map(|(name, inner)| {
                    let mut inner = schema(inner);
                    if let Some(fields) = inner.as_object_mut().filter(|fields| !fields.contains_key("type")) {
                        fields.insert("type".to_owned(), json!("any"));
                    }
                    (name.clone(), inner)
                });
                Value::Object(inner.collect())
            }
            ("items" | "additionalProperties", Value::Object(_)) => schema(value),
            _ => value.clone(),
        };
        (keyword.clone(), value)
    });
    Value::Object(mapped.collect())
}

fn accepted_call(call: &ExpectedCall, tools: &[ToolDefinition]) -> Result<Value, String> {
    let properties = tools
        .iter()
        .find(|tool| tool.name == call.tool)
        .and_then(|tool| tool.parameters.get("properties")?.as_object());
    let free = properties
        .into_iter()
        .flat_map(Map::keys)
        .find(|name| !call.arguments.iter().any(|(listed, _)| listed == *name));
    if let Some(free) = free.filter(|_| !call.only) {
        return Err(format!("`{free}` of `{}` is free, and BFCL lists every value that is right", call.tool));
    }
    let mut accepted = Map::new();
    for (name, argument) in &call.arguments {
        let values =
            values(argument).map_err(|what| format!("BFCL cannot say {what} (`{name}` of `{}`)", call.tool))?;
        accepted.insert(name.clone(), Value::Array(values));
    }
    let mut named = Map::new();
    named.insert(call.tool.clone(), Value::Object(accepted));
    Ok(Value::Object(named))
}

/// The values that are right; `""` stands for none.
fn values(argument: &Argument) -> Result<Vec<Value>, &'static str> {
    let mut values = match &argument.matcher {
        Matcher::Exact(value) => vec![value.clone()],
        Matcher::Loose(text) => vec![json!(text)],
        Matcher::Number { value, within } if *within == 0.0 => vec![Value::Number(value.clone())],
        Matcher::Number { .. } => return Err("a number give or take"),
        Matcher::AnyOf(options) => {
            let all = options.iter().map(values).collect::<Result<Vec<_>, _>>()?;
            all.into_iter().flatten().collect()
        }
        Matcher::Absent => vec![json!("")],
        Matcher::Items(elements) => vec![Value::Array(elements.iter().map(element).collect::<Result<_, _>>()?)],
        Matcher::Object { members, only: true } => {
            let members = members.iter().map(|(name, member)| Ok((name.clone(), Value::Array(values(member)?))));
            vec![Value::Object(members.collect::<Result<_, &'static str>>()?)]
        }
        Matcher::Object { .. } => return Err("an object with free members"),
        Matcher::Set(_) => return Err("a list in any order"),
        Matcher::Regex(_) => return Err("a pattern"),
        Matcher::Contains(_) => return Err("a text that contains another"),
        Matcher::Date(_) => return Err("a date in any writing"),
        Matcher::Any => return Err("any value"),
    };
    if argument.absent_ok == Some(true) && !values.contains(&json!("")) {
        values.push(json!(""));
    }
    Ok(values)
}

/// An element of a list has one value.
fn element(argument: &Argument) -> Result<Value, &'static str> {
    match values(argument)?.as_slice() {
        [one] => Ok(one.clone()),
        _ => Err("several values for one element of a list"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bfcl;

    const QUESTIONS: &str = r#"{"id": "multiple_7", "question": [[{"role": "user", "content": "Weigh 3 kg in pounds"}]], "function": [{"name": "units.convert", "description": "Converts.", "parameters": {"type": "dict", "properties": {"value": {"type": "float"}, "to": {"type": "string", "enum": ["lb", "kg"]}, "note": {"type": "string"}, "where": {"type": "dict", "properties": {"city": {"type": "string"}}}, "list": {"type": "array", "items": {"type": "string"}}, "other": {"type": "any"}}, "required": ["value", "to"]}}, {"name": "b", "description": "B.", "parameters": {"type": "dict", "properties": {}, "required": []}}]}
"#;
    const ANSWERS: &str = r#"{"id": "multiple_7", "ground_truth": [{"units.convert": {"value": [3, 3.5], "to": ["lb", "pound"], "note": ["a note", ""], "where": [{"city": ["Lyon", ""]}, ""], "list": [["x", "y"], ""], "other": [1, ""]}}]}
"#;

    fn folder(questions: &str, answers: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("possible_answer")).unwrap();
        std::fs::write(folder.path().join("BFCL_v4_multiple.json"), questions).unwrap();
        std::fs::write(folder.path().join("possible_answer/BFCL_v4_multiple.json"), answers).unwrap();
        folder
    }

    #[test]
    fn what_was_imported_goes_back_and_comes_again_equal() {
        let first = folder(QUESTIONS, ANSWERS);
        let cases = bfcl::import(first.path(), &[Category::Multiple]).unwrap().remove(0).cases;
        let out = tempfile::tempdir().unwrap();
        let exported = export(&cases, out.path()).unwrap();
        assert_eq!((exported.written, exported.left_out), (1, Vec::new()));
        let again = bfcl::import(out.path(), &[Category::Multiple]).unwrap().remove(0).cases;
        assert_eq!(again, cases);
        assert!(bfcl::self_check(out.path(), &[Category::Multiple]).unwrap().agrees());
    }

    #[test]
    fn what_bfcl_cannot_say_is_left_out_with_its_reason() {
        let first = folder(QUESTIONS, ANSWERS);
        let mut case = bfcl::import(first.path(), &[Category::Multiple]).unwrap().remove(0).cases.remove(0);
        let left =
            |case: &Case| export(std::slice::from_ref(case), tempfile::tempdir().unwrap().path()).unwrap().left_out;
        case.expect.alternatives[0][0].arguments[2].1 = Argument::new(Matcher::Contains("note".into()));
        assert_eq!(
            left(&case),
            ["bfcl-multiple-7: BFCL cannot say a text that contains another (`note` of `units.convert`)"]
        );
        case.expect.alternatives[0][0].arguments.remove(2);
        case.expect.alternatives[0][0].only = false;
        assert_eq!(
            left(&case),
            ["bfcl-multiple-7: `note` of `units.convert` is free, and BFCL lists every value that is right"]
        );
        case.expect.forbid.push("b".into());
        assert_eq!(left(&case), ["bfcl-multiple-7: BFCL has no forbidden tools"]);
    }
}
