//! Tool definitions in TOML: the shared `tools.toml` and the inline tools of a case.

use std::ops::Range;

use serde_json::Value;
use tenpass_agent::arguments::Validator;
use tenpass_trace::{ToolCategory, ToolDefinition};

use super::source::{Located, Source};

const CATEGORIES: [(&str, ToolCategory); 5] = [
    ("web", ToolCategory::Web),
    ("pc_read", ToolCategory::PcRead),
    ("pc_write", ToolCategory::PcWrite),
    ("pc_action", ToolCategory::PcAction),
    ("core", ToolCategory::Core),
];

/// The tools of a whole `tools.toml`.
pub(super) fn file(source: &Source<'_>) -> Vec<ToolDefinition> {
    let table = source.parse();
    let span = 0..0;
    let mut fields = super::source::Fields::new(source, table.get_ref(), span);
    let tools = fields.need("tool", "write each tool as [[tool]]").map(|value| list(source, value)).unwrap_or_default();
    fields.finish("a tools file");
    tools
}

/// A list of tool tables; duplicate names are reported.
pub(super) fn list<'i>(source: &Source<'i>, value: Located<'_, 'i>) -> Vec<ToolDefinition> {
    let mut tools: Vec<(ToolDefinition, usize)> = Vec::new();
    for item in source.list(value, "tool").unwrap_or_default() {
        let Some(tool) = definition(source, item) else { continue };
        let line = source.line(item.span().start);
        if let Some((_, first)) = tools.iter().find(|(other, _)| other.name == tool.name) {
            let message = format!("tool `{}` is defined twice, first on line {first}", tool.name);
            source.error(&item.span(), message, "rename or remove one of them");
        } else {
            tools.push((tool, line));
        }
    }
    tools.into_iter().map(|(tool, _)| tool).collect()
}

fn definition<'i>(source: &Source<'i>, value: Located<'_, 'i>) -> Option<ToolDefinition> {
    let before = source.error_count();
    let mut fields = source.table(value, "tool")?;
    let name = fields.need("name", "name the tool").and_then(|value| source.text(value, "name"));
    let description = fields
        .need("description", "say what the tool does and when it is right; the model reads it")
        .and_then(|value| source.text(value, "description"));
    let parameters = fields.get("parameters");
    let category = fields.choice("category", &CATEGORIES);
    let keywords = fields.texts("keywords").unwrap_or_default().into_iter().map(|(word, _)| word).collect();
    let always = fields.flag("always");
    let reads = fields.flag("reads");
    let span = fields.span();
    fields.finish("a tool");

    let (name, description) = (name?, description?);
    check_name(source, &name, &span);
    let mut tool = ToolDefinition::new(name, description);
    tool.category = category.unwrap_or(tool.category);
    tool.keywords = keywords;
    tool.always = always;
    tool.reads = reads;
    if let Some(value) = parameters {
        tool.parameters = source.json(value);
        check_schema(source, &tool, &value.span());
    }
    (source.error_count() == before).then_some(tool)
}

fn check_name(source: &Source<'_>, name: &str, span: &Range<usize>) {
    let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '.' | '-');
    if name.is_empty() || !name.chars().all(plain) {
        source.error(
            span,
            format!("tool name {name:?} is not of the form [A-Za-z0-9_.-]+"),
            "models and servers accept no other characters",
        );
    }
}

/// The schema must compile, describe an object, and require only what it defines.
fn check_schema(source: &Source<'_>, tool: &ToolDefinition, span: &Range<usize>) {
    let name = &tool.name;
    let hint = "parameters is the JSON Schema of an object: { type = \"object\", properties = { … } }";
    let Some(schema) = tool.parameters.as_object() else {
        source.error(span, format!("tool `{name}`: parameters is not a table"), hint);
        return;
    };
    match schema.get("type") {
        None => {}
        Some(kind) if kind == "object" => {}
        Some(kind) => {
            source.error(span, format!("tool `{name}`: parameters has the type {kind}, not object"), hint);
            return;
        }
    }
    if let Err(error) = Validator::new(tool) {
        source.error(span, format!("tool `{name}`: invalid schema: {}", error.reason), error.hint());
        return;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    for wanted in required.into_iter().flatten().filter_map(Value::as_str) {
        if !schema.contains_key("$ref") && properties.is_none_or(|properties| !properties.contains_key(wanted)) {
            let message = format!("tool `{name}`: required argument `{wanted}` is not among its properties");
            source.error(span, message, "add it to properties or take it out of required");
        }
    }
}
