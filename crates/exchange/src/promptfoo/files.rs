//! Files of a configuration, and the files it refers to.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::ExchangeError;

/// Largest file that is read, in bytes.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// The text of a file.
pub(super) fn text(path: &Path) -> Result<String, ExchangeError> {
    let bytes = std::fs::metadata(path).map_err(|error| ExchangeError::read(path, error))?.len();
    if bytes > MOST_BYTES {
        return Err(ExchangeError::TooLarge {
            path: path.to_owned(),
            entry: "the file".into(),
            limit: MOST_BYTES,
            unit: "bytes",
        });
    }
    std::fs::read_to_string(path).map_err(|error| ExchangeError::read(path, error))
}

/// A YAML or JSON file.
pub(super) fn tree(path: &Path) -> Result<Value, ExchangeError> {
    let text = text(path)?;
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return serde_json::from_str(&text)
            .map_err(|error| ExchangeError::line(path, error.line() as u64, without_place(&error.to_string())));
    }
    serde_saphyr::from_str(&text).map_err(|error| {
        let line = error.location().map_or(1, |location| location.line());
        let reason = error.to_string();
        ExchangeError::line(path, line, reason.lines().next().unwrap_or("it is not YAML"))
    })
}

fn without_place(reason: &str) -> &str {
    reason.split(" at line ").next().unwrap_or(reason)
}

/// The file that `file://…` names, beside the configuration.
pub(super) fn referred(folder: &Path, text: &str) -> Option<PathBuf> {
    let name = text.strip_prefix("file://")?;
    // `file://x.js:function` names a program, which is not run.
    Some(folder.join(name))
}

/// A value, or the content of the file that it refers to.
pub(super) fn resolved(folder: &Path, value: &Value) -> Result<Value, ExchangeError> {
    let Some(path) = value.as_str().and_then(|text| referred(folder, text)) else { return Ok(value.clone()) };
    let kind = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_ascii_lowercase();
    match kind.as_str() {
        "yaml" | "yml" | "json" => tree(&path),
        "csv" => table(&path),
        "txt" | "md" => Ok(Value::String(text(&path)?)),
        _ => Err(ExchangeError::Format {
            path,
            format: "a file that can be read without running it",
            reason: "YAML, JSON, CSV and text are".to_owned(),
        }),
    }
}

/// Tests as a spreadsheet: a column a variable, `__expected` the assertion.
fn table(path: &Path) -> Result<Value, ExchangeError> {
    let text = text(path)?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let line = |error: &csv::Error| error.position().map_or(1, csv::Position::line);
    let heads = reader.headers().map_err(|error| ExchangeError::line(path, line(&error), &error))?.clone();
    let mut tests = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| ExchangeError::line(path, line(&error), &error))?;
        let mut vars = serde_json::Map::new();
        let mut asserts = Vec::new();
        for (head, cell) in heads.iter().zip(&record) {
            if head.starts_with("__expected") {
                let (kind, value) = cell.split_once(':').unwrap_or(("equals", cell));
                asserts.push(serde_json::json!({ "type": kind.trim(), "value": value.trim() }));
            } else {
                vars.insert(head.to_owned(), Value::String(cell.to_owned()));
            }
        }
        tests.push(serde_json::json!({ "vars": vars, "assert": asserts }));
    }
    Ok(Value::Array(tests))
}
