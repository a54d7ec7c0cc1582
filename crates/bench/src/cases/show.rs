//! Views of cases for `cases list` and `cases show`, as text and as JSON. Nothing here prints.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::case::{Case, Expect, ExpectedCall, Suite};

/// One line a case: id, family, language, kind, tools offered, expectation; and the totals.
pub fn list_text(suite: &Suite) -> String {
    let rows: Vec<[String; 6]> = suite.cases.iter().map(row).collect();
    let head = ["case", "family", "language", "kind", "tools", "expects"].map(str::to_owned);
    let width =
        |column: usize| std::iter::once(&head).chain(&rows).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    let mut text = String::new();
    for row in std::iter::once(&head).chain(&rows) {
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(text, "{cell:<width$}  ");
        }
        let _ = writeln!(text, "{}", row[5]);
    }
    let mut families: Vec<&str> = suite.cases.iter().map(|case| case.family.as_str()).collect();
    families.sort_unstable();
    families.dedup();
    let _ = writeln!(
        text,
        "\n{}, {}, digest {}",
        count(suite.cases.len(), "case", "cases"),
        count(families.len(), "family", "families"),
        suite.digest.get(..12).unwrap_or(&suite.digest)
    );
    text
}

fn row(case: &Case) -> [String; 6] {
    [
        case.id.clone(),
        case.family.clone(),
        case.language.to_string(),
        case.kind.to_string(),
        case.tools.len().to_string(),
        summary(&case.expect),
    ]
}

fn count(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// The suite as JSON: `{"digest", "cases": [{"id", "family", "language", "kind", "tools", "expects", "source"}]}`.
pub fn list_json(suite: &Suite) -> Value {
    let cases: Vec<Value> = suite
        .cases
        .iter()
        .map(|case| {
            json!({
                "id": case.id,
                "family": case.family,
                "language": case.language,
                "kind": case.kind,
                "tools": case.tools.iter().map(|tool| &tool.name).collect::<Vec<_>>(),
                "expects": summary(&case.expect),
                "source": case.source,
            })
        })
        .collect();
    json!({ "digest": suite.digest, "cases": cases })
}

/// One case in full, for reading.
pub fn show_text(case: &Case) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{} ({}, {}, {})", case.id, case.family, case.language, case.kind);
    let _ = writeln!(text, "  from {}", case.source);
    let _ = writeln!(text, "  seen: {}", case.provenance);
    let _ = writeln!(text, "\nmessages");
    for message in &case.messages {
        let who = match &message.tool_name {
            Some(tool) => format!("{} {tool}", message.role.as_str()),
            None => message.role.as_str().to_owned(),
        };
        if !message.content.is_empty() {
            let _ = writeln!(text, "  {who}: {}", message.content.replace('\n', "\n    "));
        }
        for call in &message.tool_calls {
            let _ = writeln!(text, "  {who} calls {}({})", call.name, Value::Object(call.arguments.clone()));
        }
    }
    let _ = writeln!(text, "\ntools");
    for tool in &case.tools {
        let reads = if tool.reads { " (reads)" } else { "" };
        let _ = writeln!(text, "  {}{reads}: {}", tool.name, tool.description.lines().next().unwrap_or_default());
    }
    let _ = writeln!(text, "\nexpected");
    expectation(&mut text, &case.expect);
    text
}

/// One case in full, as it is stored in a run.
pub fn show_json(case: &Case) -> Value {
    // Plain data with string keys: this always serialises.
    serde_json::to_value(case).unwrap_or_default()
}

/// The expectation on one line.
pub fn summary(expect: &Expect) -> String {
    let mut parts = Vec::new();
    if expect.no_call {
        parts.push("no call".to_owned());
    }
    let alternatives: Vec<String> = expect
        .alternatives
        .iter()
        .map(|calls| {
            let names: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
            names.join(if expect.ordered { ", then " } else { " + " })
        })
        .collect();
    if !alternatives.is_empty() {
        parts.push(alternatives.join(" or "));
    }
    if !expect.forbid.is_empty() {
        parts.push(format!("not {}", expect.forbid.join(", ")));
    }
    parts.join("; ")
}

/// The expectation in full, argument by argument.
pub fn expected_text(expect: &Expect) -> String {
    let mut text = String::new();
    expectation(&mut text, expect);
    text
}

fn expectation(text: &mut String, expect: &Expect) {
    if expect.no_call {
        let _ = writeln!(text, "  no call");
    }
    for (index, calls) in expect.alternatives.iter().enumerate() {
        if index > 0 {
            let _ = writeln!(text, "  or");
        }
        for call in calls {
            expected_call(text, call);
        }
    }
    if expect.ordered {
        let _ = writeln!(text, "  in this order");
    }
    if !expect.forbid.is_empty() {
        let _ = writeln!(text, "  never {}", expect.forbid.join(", "));
    }
}

fn expected_call(text: &mut String, call: &ExpectedCall) {
    let only = if call.only { ", no other arguments" } else { "" };
    let _ = writeln!(text, "  {}{only}", call.tool);
    for (name, argument) in &call.arguments {
        let absent = match argument.absent_ok {
            Some(true) => ", or absent",
            Some(false) => ", never absent",
            None => "",
        };
        let _ = writeln!(text, "    {name}: {argument}{absent}");
    }
}
