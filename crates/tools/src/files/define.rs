//! Definitions and arguments of tools, and the way results write numbers and times.

use std::time::SystemTime;

use jiff::Zoned;
use serde_json::{Map, Value, json};
use tenpass_trace::{ToolCategory, ToolDefinition};

/// Builds a [`ToolDefinition`] whose schema ends with the required `reason` (K17).
pub(crate) struct Definition {
    name: &'static str,
    description: &'static str,
    category: ToolCategory,
    keywords: &'static [&'static str],
    reads: bool,
    properties: Map<String, Value>,
    required: Vec<&'static str>,
}

impl Definition {
    pub(crate) fn new(name: &'static str, description: &'static str, category: ToolCategory) -> Self {
        Self { name, description, category, keywords: &[], reads: false, properties: Map::new(), required: Vec::new() }
    }

    /// It changes nothing.
    pub(crate) fn reads(mut self) -> Self {
        self.reads = true;
        self
    }

    pub(crate) fn keywords(mut self, keywords: &'static [&'static str]) -> Self {
        self.keywords = keywords;
        self
    }

    /// A required argument.
    pub(crate) fn required(mut self, name: &'static str, schema: Value) -> Self {
        self.required.push(name);
        self.optional(name, schema)
    }

    /// An optional argument.
    pub(crate) fn optional(mut self, name: &'static str, schema: Value) -> Self {
        self.properties.insert(name.to_owned(), schema);
        self
    }

    pub(crate) fn build(self) -> ToolDefinition {
        let Self { name, description, category, keywords, reads, properties, required } =
            self.required("reason", json!({ "type": "string", "description": "Why, in a few words." }));
        let parameters = json!({ "type": "object", "properties": properties, "required": required });
        ToolDefinition {
            category,
            reads,
            keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
            ..ToolDefinition::new(name, description).with_parameters(parameters)
        }
    }
}

/// A text argument; empty when absent.
pub(crate) fn string<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A whole number, also written as `5.0`.
pub(crate) fn integer(arguments: &Map<String, Value>, name: &str) -> Option<u64> {
    let value = arguments.get(name)?;
    value
        .as_u64()
        .or_else(|| value.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0).map(|number| number as u64))
}

/// A truth value; false when absent.
pub(crate) fn flag(arguments: &Map<String, Value>, name: &str) -> bool {
    arguments.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// `23,411`.
pub(crate) fn number_with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut written = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

/// `812 bytes`, `1.5 MB`.
pub(crate) fn shown_bytes(bytes: u64) -> String {
    let value = bytes as f64;
    match bytes {
        1 => "1 byte".to_owned(),
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", value / 1e6),
        _ => format!("{:.1} GB", value / 1e9),
    }
}

/// A file's time in the time zone of `now`, to the minute.
pub(crate) fn shown_time(time: Option<SystemTime>, now: &Zoned) -> String {
    time.and_then(|time| jiff::Timestamp::try_from(time).ok()).map_or_else(
        || "unknown time".to_owned(),
        |time| time.to_zoned(now.time_zone().clone()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [0, 999, 1000, 23_411, 1_234_567].map(number_with_commas),
            ["0", "999", "1,000", "23,411", "1,234,567"]
        );
        assert_eq!(
            [0, 1, 812, 1_500_000, 2_000_000_000].map(shown_bytes),
            ["0 bytes", "1 byte", "812 bytes", "1.5 MB", "2.0 GB"]
        );
    }
}
