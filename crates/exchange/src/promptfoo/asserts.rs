//! Assertions that say which tools must be called.

use serde_json::Value;
use tenpass_bench::cases::{Argument, Expect, ExpectedCall};
use tenpass_trace::ToolDefinition;

/// What a test's assertions come to.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) expect: Expect,
    /// What could not be read.
    pub(super) notes: Vec<String>,
}

/// Reads the assertions of one test.
pub(super) fn read(asserts: &[Value], tools: &[ToolDefinition]) -> Read {
    let mut read = Read::default();
    let mut calls: Vec<ExpectedCall> = Vec::new();
    let mut any_valid = false;
    for assert in asserts {
        let kind = assert.get("type").and_then(Value::as_str).unwrap_or_default();
        let value = assert.get("value").unwrap_or(&Value::Null);
        let (negated, kind) = kind.strip_prefix("not-").map_or((false, kind), |kind| (true, kind));
        let understood = match kind {
            "is-valid-openai-tools-call" | "is-valid-openai-function-call" | "is-valid-function-call" if !negated => {
                any_valid = true;
                Ok(())
            }
            "tool-call-f1" if !negated => called_exactly(assert, value, &mut calls),
            "trajectory:tool-used" => used(value, negated, tools, &mut calls, &mut read.expect),
            "trajectory:tool-sequence" if !negated => sequence(value, &mut calls, &mut read.expect),
            "trajectory:tool-args-match" if !negated => with_arguments(value, &mut calls),
            "assert-set" => Err("a set of assertions with a threshold has no form here".to_owned()),
            _ => Err("it does not say which tool is called".to_owned()),
        };
        if let Err(reason) = understood {
            let sign = if negated { "not-" } else { "" };
            read.notes.push(format!("`{sign}{kind}` was not read: {reason}"));
        }
    }
    if !calls.is_empty() {
        read.expect.alternatives = vec![calls];
    } else if any_valid {
        let one = |tool: &ToolDefinition| vec![call(&tool.name)];
        read.expect.alternatives = tools.iter().map(one).collect();
    }
    read
}

fn call(tool: &str) -> ExpectedCall {
    ExpectedCall { tool: tool.to_owned(), arguments: Vec::new(), only: false }
}

/// The call of this tool that is expected already, or a new one.
fn expected<'c>(calls: &'c mut Vec<ExpectedCall>, tool: &str) -> &'c mut ExpectedCall {
    let place = calls.iter().position(|known| known.tool == tool).unwrap_or_else(|| {
        calls.push(call(tool));
        calls.len() - 1
    });
    &mut calls[place]
}

/// Names in a list, or in a text with commas.
fn names(value: &Value) -> Option<Vec<String>> {
    let all = match value {
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()?,
        Value::String(text) => text.split(',').map(|name| name.trim().to_owned()).collect(),
        _ => return None,
    };
    Some(all.into_iter().filter(|name| !name.is_empty()).collect())
}

fn called_exactly(assert: &Value, value: &Value, calls: &mut Vec<ExpectedCall>) -> Result<(), String> {
    if assert.get("threshold").and_then(Value::as_f64).is_some_and(|threshold| threshold < 1.0) {
        return Err("a threshold below 1 accepts wrong calls".to_owned());
    }
    for name in names(value).ok_or("its value names no tools")? {
        expected(calls, &name);
    }
    Ok(())
}

fn used(
    value: &Value,
    negated: bool,
    tools: &[ToolDefinition],
    calls: &mut Vec<ExpectedCall>,
    expect: &mut Expect,
) -> Result<(), String> {
    let (wanted, most, least) = match value {
        Value::Object(fields) => {
            let count = |name: &str| fields.get(name).and_then(Value::as_u64);
            (vec![named(value, tools)?], count("max"), count("min").unwrap_or(1))
        }
        _ => (names(value).ok_or("its value names no tools")?, None, 1),
    };
    if negated || most == Some(0) {
        expect.forbid.extend(wanted);
        return Ok(());
    }
    if most.is_some() {
        return Err("a largest number of calls has no form here".to_owned());
    }
    for name in wanted {
        expected(calls, &name);
        let known = calls.iter().filter(|known| known.tool == name).count() as u64;
        for _ in known..least.min(64) {
            calls.push(call(&name));
        }
    }
    Ok(())
}

/// The one tool that an object with `name` or `pattern` means.
fn named(value: &Value, tools: &[ToolDefinition]) -> Result<String, String> {
    if let Some(name) = value.get("name").and_then(Value::as_str) {
        return Ok(name.to_owned());
    }
    let pattern = value.get("pattern").and_then(Value::as_str).ok_or("it names no tool")?;
    let fitting: Vec<&ToolDefinition> = tools.iter().filter(|tool| fits(pattern, &tool.name)).collect();
    match fitting.as_slice() {
        [one] => Ok(one.name.clone()),
        [] => Err(format!("no tool fits the pattern `{pattern}`")),
        _ => Err(format!("several tools fit the pattern `{pattern}`")),
    }
}

/// `*` stands for any text.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, rest)) => name.strip_prefix(head).is_some_and(|tail| {
            (0..=tail.len()).filter(|at| tail.is_char_boundary(*at)).any(|at| fits(rest, &tail[at..]))
        }),
    }
}

fn sequence(value: &Value, calls: &mut Vec<ExpectedCall>, expect: &mut Expect) -> Result<(), String> {
    let steps = value.get("steps").unwrap_or(value).as_array().ok_or("its value is no list of steps")?;
    let mut wanted = Vec::new();
    for step in steps {
        let name = step.as_str().or_else(|| step.get("name").and_then(Value::as_str));
        wanted.push(call(name.ok_or("a step names no tool")?));
    }
    if !calls.is_empty() {
        return Err("other assertions name calls too".to_owned());
    }
    expect.ordered = wanted.len() > 1;
    *calls = wanted;
    Ok(())
}

fn with_arguments(value: &Value, calls: &mut Vec<ExpectedCall>) -> Result<(), String> {
    let name = value.get("name").and_then(Value::as_str).ok_or("it names no tool")?;
    let arguments = value.get("args").or_else(|| value.get("arguments")).and_then(Value::as_object);
    let arguments = arguments.ok_or("it names no arguments")?;
    let wanted = expected(calls, name);
    for (name, value) in arguments {
        wanted.arguments.push((name.clone(), Argument::exact(value.clone())));
    }
    wanted.only = value.get("mode").and_then(Value::as_str) == Some("exact");
    Ok(())
}
