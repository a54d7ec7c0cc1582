//! Does a value satisfy a matcher, and if not, why not.

use serde_json::{Map, Value};

use super::{date, text};
use crate::cases::{Argument, Matcher};

/// Why a value, or its absence, is not what the case asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// Where, as `argument.member[index]`.
    pub(crate) path: String,
    /// What is wrong.
    pub(crate) kind: MismatchKind,
    /// A sentence fragment for the reasons.
    pub(crate) reason: String,
}

/// The two ways in which an argument can miss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MismatchKind {
    /// Not the value, or absent.
    Value,
    /// Should not be there.
    Unexpected,
}

/// JSON equality in which 5 equals 5.0 and outer white space of strings does not count.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right
                || matches!((left.as_f64(), right.as_f64()), (Some(a), Some(b)) if same_number(left, right, a, b))
        }
        (Value::String(left), Value::String(right)) => left.trim() == right.trim(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => left == right,
    }
}

/// Two integers of 64 bits are compared as such: as f64 two of them could look equal.
#[allow(clippy::float_cmp)] // equality of numbers is what is asked for
fn same_number(left: &serde_json::Number, right: &serde_json::Number, a: f64, b: f64) -> bool {
    let both_integers = !left.is_f64() && !right.is_f64();
    !both_integers && a == b
}

/// Compares all arguments of a call with what is expected of them. `schema` is the tool's argument
/// schema: its defaults equal absence.
pub(crate) fn arguments(
    expected: &[(String, Argument)],
    only: bool,
    actual: &Map<String, Value>,
    schema: &Value,
) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    members(expected, only, actual, schema, "", &mut mismatches);
    mismatches
}

fn members(
    expected: &[(String, Argument)],
    only: bool,
    actual: &Map<String, Value>,
    schema: &Value,
    prefix: &str,
    mismatches: &mut Vec<Mismatch>,
) {
    for (name, argument) in expected {
        let path = join(prefix, name);
        let default = default_of(schema, name);
        match actual.get(name) {
            Some(value) => present(argument, value, default, &path, mismatches),
            None if absence_is_right(argument, default) => {}
            None => mismatches.push(Mismatch {
                reason: format!("`{path}` is missing, expected {argument}"),
                kind: MismatchKind::Value,
                path,
            }),
        }
    }
    if only {
        for (name, value) in actual {
            let listed = expected.iter().any(|(expected, _)| expected == name);
            let is_default = default_of(schema, name).is_some_and(|default| equal(default, value));
            if !listed && !is_default {
                let path = join(prefix, name);
                mismatches.push(Mismatch {
                    reason: format!("`{path}` is {value}, but was not asked for"),
                    kind: MismatchKind::Unexpected,
                    path,
                });
            }
        }
    }
}

fn present(argument: &Argument, value: &Value, default: Option<&Value>, path: &str, mismatches: &mut Vec<Mismatch>) {
    match &argument.matcher {
        Matcher::Absent if default.is_some_and(|default| equal(default, value)) => {}
        Matcher::Absent => mismatches.push(Mismatch {
            path: path.to_owned(),
            kind: MismatchKind::Unexpected,
            reason: format!("`{path}` is {value}, expected no value"),
        }),
        // A default that is written out says the same as leaving it away.
        _ if argument.absent_ok == Some(true) && default.is_some_and(|default| equal(default, value)) => {}
        Matcher::Object { members: expected, only } if value.is_object() => {
            let empty = Map::new();
            members(expected, *only, value.as_object().unwrap_or(&empty), &Value::Null, path, mismatches);
        }
        _ if accepts(argument, value) => {}
        _ => mismatches.push(Mismatch {
            path: path.to_owned(),
            kind: MismatchKind::Value,
            reason: format!("`{path}` is {value}, expected {argument}"),
        }),
    }
}

/// True when leaving the argument away is right: stated, asked for, or equal to its default.
pub(crate) fn absence_is_right(argument: &Argument, default: Option<&Value>) -> bool {
    match argument.absent_ok {
        Some(stated) => stated,
        None => match &argument.matcher {
            Matcher::Absent => true,
            Matcher::AnyOf(options) if options.iter().any(|option| absence_is_right(option, None)) => true,
            _ => default.is_some_and(|default| accepts(argument, default)),
        },
    }
}

/// True when `value` is what `argument` asks for.
pub(crate) fn accepts(argument: &Argument, value: &Value) -> bool {
    match &argument.matcher {
        Matcher::Exact(wanted) => equal(wanted, value),
        Matcher::Number { value: wanted, within } => is_number(value, wanted, *within),
        Matcher::Set(elements) => value.as_array().is_some_and(|values| same_set(elements, values)),
        Matcher::Regex(pattern) => value.as_str().is_some_and(|text| pattern.is_match(text)),
        Matcher::Date(wanted) => {
            value.as_str().is_some_and(|text| date::parse_iso(wanted).is_some_and(|wanted| date::writes(text, wanted)))
        }
        Matcher::Contains(part) => value.as_str().is_some_and(|text| text::contains(text, part)),
        Matcher::Loose(wanted) => value.as_str().is_some_and(|text| text::loose(text) == text::loose(wanted)),
        Matcher::AnyOf(options) => options.iter().any(|option| accepts(option, value)),
        Matcher::Any => true,
        Matcher::Absent => false,
        Matcher::Object { members: expected, only } => value.as_object().is_some_and(|object| {
            let mut mismatches = Vec::new();
            members(expected, *only, object, &Value::Null, "", &mut mismatches);
            mismatches.is_empty()
        }),
        Matcher::Items(elements) => value.as_array().is_some_and(|values| {
            values.len() == elements.len()
                && elements.iter().zip(values).all(|(element, value)| accepts(element, value))
        }),
    }
}

/// A number, or a string that writes one: that it should not be a string is the schema's to say.
fn is_number(value: &Value, wanted: &serde_json::Number, within: f64) -> bool {
    let parsed = match value {
        Value::Number(number) => number.clone(),
        Value::String(text) => match serde_json::from_str::<serde_json::Number>(text.trim()) {
            Ok(number) => number,
            Err(_) => return false,
        },
        _ => return false,
    };
    if within == 0.0 {
        return equal(&Value::Number(parsed), &Value::Number(wanted.clone()));
    }
    matches!((parsed.as_f64(), wanted.as_f64()), (Some(a), Some(b)) if (a - b).abs() <= within * (1.0 + 1e-9))
}

/// One-to-one in any order. Augmenting paths, since several matchers may accept one value.
fn same_set(elements: &[Argument], values: &[Value]) -> bool {
    fn place(element: usize, accepted: &[Vec<bool>], visited: &mut [bool], owner: &mut [Option<usize>]) -> bool {
        for value in 0..visited.len() {
            if accepted[element][value] && !visited[value] {
                visited[value] = true;
                if owner[value].is_none_or(|other| place(other, accepted, visited, owner)) {
                    owner[value] = Some(element);
                    return true;
                }
            }
        }
        false
    }
    if elements.len() != values.len() {
        return false;
    }
    let accepted: Vec<Vec<bool>> =
        elements.iter().map(|element| values.iter().map(|value| accepts(element, value)).collect()).collect();
    let mut owner = vec![None; values.len()];
    (0..elements.len()).all(|element| place(element, &accepted, &mut vec![false; values.len()], &mut owner))
}

/// The default of a property, when its schema states one.
pub(crate) fn default_of<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)?.get("default")
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}
