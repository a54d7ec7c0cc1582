//! The Jinja environment that chat templates expect: what `transformers` offers, on minijinja.

use std::borrow::Cow;
use std::error::Error as _;

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior, Value};

use super::json::{Style, dumps};
use super::python;
use super::time::Moment;

/// An environment without templates.
pub(super) fn new(moment: Moment) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_formatter(|output, _, value| output.write_str(&python::to_str(value)).map_err(Error::from));
    environment.set_unknown_method_callback(method);
    environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_function("strftime_now", move |pattern: &str| moment.format(pattern));
    environment.add_filter("tojson", tojson);
    environment.add_filter("string", |value: &Value| python::to_str(value));
    environment.add_filter("indent", indent);
    environment.add_filter("length", length);
    environment.add_filter("count", length);
    environment
}

/// Rewrites what minijinja does not parse: the training-only `generation` blocks.
pub(super) fn adapt(source: &str) -> String {
    let mut adapted = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(start) = rest.find("{%") {
        let Some(length) = rest[start..].find("%}") else { break };
        let end = start + length + 2;
        let tag = &rest[start..end];
        let words = tag[2..tag.len() - 2].trim_matches(['-', '+']).trim();
        adapted.push_str(&rest[..start]);
        if matches!(words, "generation" | "endgeneration") {
            // An empty condition keeps the tag's white space control.
            let replacement = if words == "generation" { "if true" } else { "endif" };
            adapted.push_str(&tag.replacen(words, replacement, 1));
        } else {
            adapted.push_str(tag);
        }
        rest = &rest[end..];
    }
    adapted.push_str(rest);
    adapted
}

/// One line that says what went wrong and where.
pub(super) fn describe(error: &Error) -> String {
    let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    let line = error.line().map(|line| format!(" (line {line})")).unwrap_or_default();
    let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    format!("{detail}{line}{source}").replace('\n', " ")
}

fn method(state: &State<'_, '_>, value: &Value, name: &str, arguments: &[Value]) -> Result<Value, Error> {
    minijinja_contrib::pycompat::unknown_method_callback(state, value, name, arguments)
}

/// `indent(width=4, first=False, blank=False)`; unlike minijinja's it keeps a line end at the end.
#[allow(clippy::needless_pass_by_value)] // minijinja hands arguments over by value
fn indent(
    text: &str,
    width: Option<Value>,
    first: Option<bool>,
    blank: Option<bool>,
    options: Kwargs,
) -> Result<String, Error> {
    let width = width.or(options.get::<Option<Value>>("width")?);
    let first = first.or(options.get("first")?).unwrap_or(false);
    let blank = blank.or(options.get("blank")?).unwrap_or(false);
    options.assert_all_used()?;
    let indention = match width {
        Some(width) if width.kind() == ValueKind::Number => " ".repeat(usize::try_from(width)?),
        Some(width) => python::to_str(&width),
        None => "    ".to_owned(),
    };
    let mut indented = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            indented.push('\n');
        }
        if if index == 0 { first } else { blank || !line.is_empty() } {
            indented.push_str(&indention);
        }
        indented.push_str(line);
    }
    Ok(indented)
}

/// `length`, for which an undefined value is empty.
fn length(value: &Value) -> Result<usize, Error> {
    if value.is_undefined() {
        return Ok(0);
    }
    let refuse = || Error::new(ErrorKind::InvalidOperation, format!("{} has no length", value.kind()));
    value.len().ok_or_else(refuse)
}

/// `tojson(ensure_ascii=False, indent=None, separators=None, sort_keys=False)`.
#[allow(clippy::needless_pass_by_value)] // minijinja hands arguments over by value
fn tojson(value: &Value, indent: Option<Value>, options: Kwargs) -> Result<Value, Error> {
    let mut style = Style::default();
    let indent = match indent {
        Some(indent) => Some(indent),
        None => options.get::<Option<Value>>("indent")?,
    };
    style.indent = match indent {
        Some(indent) if indent.kind() == ValueKind::Number => Some(" ".repeat(usize::try_from(indent)?)),
        Some(indent) => indent.as_str().map(str::to_owned),
        None => None,
    };
    let separators = options.get::<Option<Vec<Cow<'_, str>>>>("separators")?;
    if let Some([item, key]) = separators.as_deref() {
        (style.item_separator, style.key_separator) = (item.to_string(), key.to_string());
    }
    style.sort_keys = options.get::<Option<bool>>("sort_keys")?.unwrap_or(false);
    style.ensure_ascii = options.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false);
    options.assert_all_used()?;
    let json = serde_json::to_value(value)
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, "cannot write as JSON").with_source(error))?;
    Ok(Value::from(dumps(&json, &style)))
}
