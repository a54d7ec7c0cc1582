//! A TOML file with positions: every key is accounted for, every fault knows its line, and reading
//! goes on after a fault so that all of them are reported.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::error::CaseError;

/// One file and the faults found in it so far.
pub(super) struct Source<'i> {
    name: &'i str,
    text: &'i str,
    /// Offset of each line's first byte.
    lines: Vec<usize>,
    errors: RefCell<Vec<CaseError>>,
}

/// A value and where it stands.
pub(super) type Located<'a, 'i> = &'a Spanned<DeValue<'i>>;

impl<'i> Source<'i> {
    pub(super) fn new(name: &'i str, text: &'i str) -> Self {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(offset, _)| offset + 1);
        let lines = std::iter::once(0).chain(after).collect();
        Self { name, text, lines, errors: RefCell::default() }
    }

    /// The file's name as it appears in positions.
    pub(super) fn name(&self) -> &'i str {
        self.name
    }

    /// Parses the file; syntax errors are reported and what could be read is returned.
    pub(super) fn parse(&self) -> Spanned<DeTable<'i>> {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        for error in errors {
            let line = error.span().map_or(0, |span| self.line(span.start));
            let message = error.message().trim().replace('\n', ", ");
            self.push(line, format!("not valid TOML: {message}"), None);
        }
        table
    }

    /// True when the syntax is broken or anything else was wrong.
    pub(super) fn has_errors(&self) -> bool {
        !self.errors.borrow().is_empty()
    }

    /// How many faults were found so far.
    pub(super) fn error_count(&self) -> usize {
        self.errors.borrow().len()
    }

    pub(super) fn into_errors(self) -> Vec<CaseError> {
        let mut errors = self.errors.into_inner();
        errors.sort_by_key(|error| error.line);
        errors.dedup();
        errors
    }

    /// The line, from 1, of a byte offset.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset)
    }

    /// Reports a fault at a span.
    pub(super) fn error(&self, span: &Range<usize>, message: impl Into<String>, hint: impl Into<String>) {
        let hint = hint.into();
        self.push(self.line(span.start), message.into(), (!hint.is_empty()).then_some(hint));
    }

    pub(super) fn push(&self, line: usize, message: String, hint: Option<String>) {
        self.errors.borrow_mut().push(CaseError { file: self.name.to_owned(), line, message, hint });
    }

    /// `value` as a table, or a fault.
    pub(super) fn table<'a>(&'a self, value: Located<'a, 'i>, what: &str) -> Option<Fields<'a, 'i>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(Fields::new(self, table, value.span())),
            other => {
                self.error(&value.span(), format!("{what} is {}, not a table", article(other)), "");
                None
            }
        }
    }

    /// `value` as a list, or a fault.
    pub(super) fn list<'a>(&self, value: Located<'a, 'i>, what: &str) -> Option<Vec<Located<'a, 'i>>> {
        if let DeValue::Array(items) = value.get_ref() {
            return Some(items.iter().collect());
        }
        self.error(
            &value.span(),
            format!("{what} is {}, not a list", article(value.get_ref())),
            format!("write {what} = [ … ]"),
        );
        None
    }

    /// `value` as a string, or a fault.
    pub(super) fn text(&self, value: Located<'_, 'i>, what: &str) -> Option<String> {
        if let Some(text) = value.get_ref().as_str() {
            return Some(text.to_owned());
        }
        self.error(
            &value.span(),
            format!("{what} is {}, not a string", article(value.get_ref())),
            "put it in quotation marks",
        );
        None
    }

    /// `value` as true or false, or a fault.
    pub(super) fn flag(&self, value: Located<'_, 'i>, what: &str) -> Option<bool> {
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            self.error(
                &value.span(),
                format!("{what} is {}, not true or false", article(value.get_ref())),
                "write it without quotation marks",
            );
        }
        flag
    }

    /// `value` as a number, or a fault.
    pub(super) fn number(&self, value: Located<'_, 'i>, what: &str) -> Option<Number> {
        match self.json(value) {
            Value::Number(number) => Some(number),
            Value::Null => None,
            _ => {
                self.error(&value.span(), format!("{what} is {}, not a number", article(value.get_ref())), "");
                None
            }
        }
    }

    /// The value as JSON, in the order of the file. A number that JSON cannot hold is a fault.
    pub(super) fn json(&self, value: Located<'_, 'i>) -> Value {
        match value.get_ref() {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(flag) => Value::Bool(*flag),
            DeValue::Integer(integer) => integer_of(integer).map_or_else(|| self.no_json(value), Value::Number),
            DeValue::Float(float) => float
                .as_str()
                .parse()
                .ok()
                .and_then(Number::from_f64)
                .map_or_else(|| self.no_json(value), Value::Number),
            DeValue::Datetime(datetime) => Value::String(datetime.to_string()),
            DeValue::Array(items) => Value::Array(items.iter().map(|item| self.json(item)).collect()),
            DeValue::Table(table) => {
                let map: Map<String, Value> = in_order(table)
                    .into_iter()
                    .map(|(key, value)| (key.get_ref().to_string(), self.json(value)))
                    .collect();
                Value::Object(map)
            }
        }
    }

    fn no_json(&self, value: Located<'_, 'i>) -> Value {
        let written = self.text.get(value.span()).unwrap_or_default();
        self.error(&value.span(), format!("the number {written} does not exist in JSON"), "");
        Value::Null
    }
}

fn integer_of(integer: &DeInteger<'_>) -> Option<Number> {
    let (text, radix) = (integer.as_str(), integer.radix());
    i64::from_str_radix(text, radix)
        .map(Number::from)
        .or_else(|_| u64::from_str_radix(text, radix).map(Number::from))
        .ok()
}

/// A table's entries in the order of the file (the parser's own order is alphabetical).
fn in_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<(&'a Spanned<std::borrow::Cow<'i, str>>, Located<'a, 'i>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// "a string", "an integer", "a table".
fn article(value: &DeValue<'_>) -> String {
    let kind = value.type_str();
    let article = if kind.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {kind}")
}

/// A table whose keys are asked for one by one; [`Fields::finish`] reports those nobody asked for.
pub(super) struct Fields<'a, 'i> {
    source: &'a Source<'i>,
    table: &'a DeTable<'i>,
    span: Range<usize>,
    asked: BTreeSet<&'static str>,
}

impl<'a, 'i> Fields<'a, 'i> {
    pub(super) fn new(source: &'a Source<'i>, table: &'a DeTable<'i>, span: Range<usize>) -> Self {
        Self { source, table, span, asked: BTreeSet::new() }
    }

    /// Where the table stands.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The value of a key, if it is there.
    pub(super) fn get(&mut self, key: &'static str) -> Option<Located<'a, 'i>> {
        self.asked.insert(key);
        self.table.get(key)
    }

    /// The value of a key; its absence is a fault.
    pub(super) fn need(&mut self, key: &'static str, hint: &str) -> Option<Located<'a, 'i>> {
        let value = self.get(key);
        if value.is_none() {
            self.source.error(&self.span, format!("`{key}` is missing"), hint);
        }
        value
    }

    pub(super) fn text(&mut self, key: &'static str) -> Option<String> {
        self.get(key).and_then(|value| self.source.text(value, key))
    }

    pub(super) fn flag(&mut self, key: &'static str) -> bool {
        self.get(key).and_then(|value| self.source.flag(value, key)).unwrap_or(false)
    }

    /// A list of strings with their positions.
    pub(super) fn texts(&mut self, key: &'static str) -> Option<Vec<(String, Range<usize>)>> {
        let items = self.get(key).and_then(|value| self.source.list(value, key))?;
        let what = format!("an element of {key}");
        Some(items.into_iter().filter_map(|item| Some((self.source.text(item, &what)?, item.span()))).collect())
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(&mut self, key: &'static str, choices: &[(&str, T)]) -> Option<T> {
        let value = self.get(key)?;
        let text = self.source.text(value, key)?;
        let found = choices.iter().find(|(name, _)| *name == text).map(|(_, choice)| *choice);
        if found.is_none() {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.source.error(&value.span(), format!("{key} is {text:?}"), suggestion(&text, &names));
        }
        found
    }

    /// Every entry, in the order of the file (for tables whose keys are names, not a fixed set).
    pub(super) fn entries(&self) -> Vec<(String, Range<usize>, Located<'a, 'i>)> {
        in_order(self.table).into_iter().map(|(key, value)| (key.get_ref().to_string(), key.span(), value)).collect()
    }

    /// Reports every key that was not asked for.
    pub(super) fn finish(self, what: &str) {
        let known: Vec<&str> = self.asked.iter().copied().collect();
        for (key, _) in in_order(self.table) {
            if !self.asked.contains(key.get_ref().as_ref()) {
                let name = key.get_ref();
                self.source.error(&key.span(), format!("unknown key `{name}` in {what}"), suggestion(name, &known));
            }
        }
    }
}

/// "did you mean `x`?", or the list of what there is.
pub(super) fn suggestion(written: &str, known: &[&str]) -> String {
    match nearest(written, known) {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => String::new(),
        None => format!("known here: {}", known.join(", ")),
    }
}

/// The name that is closest to what was written, when it is close enough to be meant.
fn nearest<'k>(written: &str, known: &[&'k str]) -> Option<&'k str> {
    let (distance, name) =
        known.iter().map(|name| (distance(written, name), *name)).min_by_key(|(distance, _)| *distance)?;
    let limit = (written.chars().count().max(3) / 3).max(1);
    (distance <= limit).then_some(name)
}

/// Edits (insert, delete, replace, swap of neighbours) from one word to the other.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.to_lowercase().chars().collect();
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=right.len()).collect()];
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let replace = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_gets_the_word_that_was_meant() {
        let known = ["prompt", "provenance", "no_call", "language"];
        for (written, meant) in
            [("promt", "prompt"), ("provenence", "provenance"), ("no-call", "no_call"), ("langauge", "language")]
        {
            assert_eq!(suggestion(written, &known), format!("did you mean `{meant}`?"), "{written}");
        }
        assert_eq!(suggestion("zebra", &known), "known here: prompt, provenance, no_call, language");
    }

    #[test]
    fn distances_are_those_of_damerau() {
        for (left, right, edits) in [("", "abc", 3), ("abc", "abc", 0), ("abdc", "abcd", 1), ("kitten", "sitting", 3)] {
            assert_eq!(distance(left, right), edits, "{left} {right}");
        }
    }

    #[test]
    fn values_keep_the_order_and_the_kind_they_were_written_in() {
        let source = Source::new(
            "x.toml",
            "z = 1\na = [2.0, 0x10, -3, true, 2026-12-01]\nm = { b = 'x', a = 18446744073709551615 }",
        );
        let table = source.parse();
        let root = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
        let json = source.json(&root).to_string();
        assert_eq!(json, r#"{"z":1,"a":[2.0,16,-3,true,"2026-12-01"],"m":{"b":"x","a":18446744073709551615}}"#);
        assert!(!source.has_errors());
    }

    #[test]
    fn a_number_outside_json_is_a_fault_with_its_line() {
        let source = Source::new("x.toml", "\na = inf");
        let table = source.parse();
        source.json(table.get_ref().get("a").unwrap());
        assert_eq!(source.into_errors()[0].to_string(), "x.toml:2: the number inf does not exist in JSON");
    }
}
