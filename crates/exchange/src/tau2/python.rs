//! Tool definitions from Python source: methods under `@is_tool(…)`, their annotations and their
//! docstrings. The source is only read.

use serde_json::{Map, Value, json};
use tenpass_trace::ToolDefinition;

/// Most methods that are read of one file.
const MOST_TOOLS: usize = 1000;

/// Every tool of the source, in its order. An annotation that is not understood becomes any type.
pub(super) fn tools(source: &str) -> Vec<ToolDefinition> {
    let lines: Vec<&str> = source.lines().collect();
    let mut tools = Vec::new();
    let mut place = 0;
    while place < lines.len() && tools.len() < MOST_TOOLS {
        if let Some(kind) = lines[place].trim().strip_prefix("@is_tool(") {
            let reads = kind.contains("READ") || kind.contains("GENERIC") || kind.contains("THINK");
            if let Some(tool) = method(&lines[place + 1..]) {
                tools.push(ToolDefinition { reads, ..tool });
            }
        }
        place += 1;
    }
    tools
}

/// The method that begins at or after the first line (further decorators may come first).
fn method(lines: &[&str]) -> Option<ToolDefinition> {
    let begin = lines.iter().take(8).position(|line| line.trim_start().starts_with("def "))?;
    let text = lines[begin..].join("\n");
    let after = text.trim_start().strip_prefix("def ")?;
    let (name, rest) = after.split_once('(')?;
    let (signature, rest) = closed(rest)?;
    let body = rest.split_once(':').map(|(_, body)| body)?;
    let documentation = docstring(body).unwrap_or_default();
    let (description, documented) = described(&documentation);
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in parts(signature) {
        let parameter = parameter.trim();
        let (declared, default) = match top_level(parameter, '=') {
            Some((declared, default)) => (declared.trim(), Some(default.trim())),
            None => (parameter, None),
        };
        let (name, annotation) =
            declared.split_once(':').map_or((declared, ""), |(name, kind)| (name.trim(), kind.trim()));
        if name.is_empty() || name == "self" || name.starts_with('*') || name == "/" {
            continue;
        }
        let (mut schema, optional) = schema(annotation);
        if let Some(text) = documented.iter().find(|(known, _)| known == name).map(|(_, text)| text)
            && let Some(fields) = schema.as_object_mut()
        {
            fields.insert("description".to_owned(), json!(text));
        }
        properties.insert(name.to_owned(), schema);
        if default.is_none() && !optional {
            required.push(json!(name));
        }
    }
    let parameters = json!({ "type": "object", "properties": properties, "required": required });
    Some(ToolDefinition::new(name.trim(), description).with_parameters(parameters))
}

/// The text up to the bracket that closes one opened before it, and the text after.
fn closed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..at], &text[at + 1..]));
        }
    }
    None
}

/// Parts between commas that are in no bracket.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((part, tail)) = top_level(rest, ',') {
        parts.push(part);
        rest = tail;
    }
    parts.push(rest);
    parts
}

/// The text before and after the first such letter that is in no bracket and no string.
fn top_level(text: &str, wanted: char) -> Option<(&str, &str)> {
    let mut depth = 0;
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) => quote = Some(open).filter(|open| *open != letter),
            (None, '"' | '\'') => quote = Some(letter),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, _) if letter == wanted && depth == 0 => return Some((&text[..at], &text[at + letter.len_utf8()..])),
            _ => {}
        }
    }
    None
}

/// The schema of an annotation, and whether it may be absent.
fn schema(annotation: &str) -> (Value, bool) {
    let annotation = annotation.trim().trim_matches(['"', '\'']);
    let inner = |name: &str| {
        let rest = annotation.strip_prefix(name)?.strip_prefix('[')?;
        rest.strip_suffix(']')
    };
    if let Some(inner) = inner("Optional") {
        return (schema(inner).0, true);
    }
    let alternatives: Vec<&str> = {
        let mut all = Vec::new();
        let mut rest = annotation;
        while let Some((one, tail)) = top_level(rest, '|') {
            all.push(one.trim());
            rest = tail;
        }
        all.push(rest.trim());
        all
    };
    if alternatives.len() > 1 {
        return union(&alternatives);
    }
    if let Some(inner) = inner("Union") {
        return union(&parts(inner).into_iter().map(str::trim).collect::<Vec<_>>());
    }
    if let Some(inner) = inner("List").or_else(|| inner("list")).or_else(|| inner("Sequence")) {
        return (json!({ "type": "array", "items": schema(inner).0 }), false);
    }
    if let Some(inner) = inner("Literal") {
        let values: Vec<Value> = parts(inner).into_iter().map(|value| literal(value.trim())).collect();
        return (json!({ "enum": values }), false);
    }
    if let Some(inner) = inner("Annotated") {
        return schema(parts(inner).first().copied().unwrap_or_default());
    }
    let kind = match annotation {
        "str" => "string",
        "int" => "integer",
        "float" => "number",
        "bool" => "boolean",
        "list" | "List" => "array",
        "" | "Any" => return (json!({}), false),
        // A dictionary, or a model of the domain.
        _ => "object",
    };
    (json!({ "type": kind }), false)
}

/// One of several types; `None` says that it may be absent.
fn union(alternatives: &[&str]) -> (Value, bool) {
    let optional = alternatives.contains(&"None");
    let mut schemas: Vec<Value> = alternatives.iter().filter(|one| **one != "None").map(|one| schema(one).0).collect();
    schemas.dedup();
    match schemas.len() {
        1 => (schemas.remove(0), optional),
        _ => (json!({ "anyOf": schemas }), optional),
    }
}

fn literal(text: &str) -> Value {
    match text {
        "True" => json!(true),
        "False" => json!(false),
        _ => match text.parse::<i64>() {
            Ok(number) => json!(number),
            Err(_) => json!(text.trim_matches(['"', '\''])),
        },
    }
}

/// The text between the first triple quotes.
fn docstring(body: &str) -> Option<String> {
    let body = body.trim_start();
    let body = body.strip_prefix(['r', 'f', 'R']).unwrap_or(body);
    let quote = ["\"\"\"", "'''"].into_iter().find(|quote| body.starts_with(quote))?;
    let (text, _) = body[3..].split_once(quote)?;
    Some(text.trim().to_owned())
}

/// The description, and the arguments that the section `Args:` describes.
fn described(documentation: &str) -> (String, Vec<(String, String)>) {
    const SECTIONS: [&str; 5] = ["Args:", "Returns:", "Raises:", "Note:", "Examples:"];
    let mut description = Vec::new();
    let mut arguments: Vec<(String, String)> = Vec::new();
    let mut section = "";
    let mut indent = None;
    for line in documentation.lines() {
        let bare = line.trim();
        if let Some(found) = SECTIONS.iter().find(|section| bare == **section) {
            section = found;
            continue;
        }
        match section {
            "" => description.push(bare),
            "Args:" if !bare.is_empty() => {
                let depth = line.len() - line.trim_start().len();
                let begins = *indent.get_or_insert(depth) >= depth;
                match bare.split_once(':').filter(|_| begins) {
                    Some((name, text)) => {
                        let name = name.split_once('(').map_or(name, |(name, _)| name).trim();
                        arguments.push((name.to_owned(), text.trim().to_owned()));
                    }
                    None => {
                        if let Some((_, text)) = arguments.last_mut() {
                            text.push(' ');
                            text.push_str(bare);
                        }
                    }
                }
            }
            _ => {}
        }
    }
    (description.join(" ").split_whitespace().collect::<Vec<_>>().join(" "), arguments)
}
