//! What the calculator answers, and how numbers are written in it.

use serde_json::{Map, Value, json};
use tenpass_stats::Interval;

use crate::commands::table::table;

/// An answer: sentences for people, fields for programs.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    fields: Map<String, Value>,
    sentences: Vec<String>,
    /// Header, rows, and the columns that are aligned to the right.
    table: Option<(Vec<&'static str>, Vec<Vec<String>>)>,
}

impl Answer {
    /// An answer by this method to these inputs.
    pub(super) fn new(method: &str, inputs: Value) -> Self {
        let mut fields = Map::new();
        fields.insert("method".to_owned(), json!(method));
        fields.insert("inputs".to_owned(), inputs);
        Self { fields, sentences: Vec::new(), table: None }
    }

    /// One more field.
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// The ends of an interval.
    pub(super) fn between(self, interval: Interval) -> Self {
        self.with("low", interval.low).with("high", interval.high)
    }

    /// One more sentence.
    pub(super) fn say(mut self, sentence: impl Into<String>) -> Self {
        self.sentences.push(sentence.into());
        self
    }

    /// A table after the sentences.
    pub(super) fn rows(mut self, header: &[&'static str], rows: Vec<Vec<String>>) -> Self {
        self.table = Some((header.to_vec(), rows));
        self
    }

    /// For programs.
    pub(super) fn value(&self) -> Value {
        let mut fields = self.fields.clone();
        fields.insert("text".to_owned(), json!(self.sentences.join(" ")));
        Value::Object(fields)
    }

    /// For people: the answer on the first line, what it means on the others.
    pub(super) fn text(&self) -> String {
        let mut text = self.sentences.join("\n");
        if let Some((header, rows)) = &self.table {
            let right: Vec<usize> = (1..header.len()).collect();
            text.push_str(&format!("\n\n{}", table(header, rows, &right)));
        }
        text
    }
}

/// A fraction as `70 %` or `39.7 %`. Only exactly 1 is written 100 %, only exactly 0 is written 0 %.
pub(super) fn percent(fraction: f64) -> String {
    format!("{} %", bare_percent(fraction))
}

fn bare_percent(fraction: f64) -> String {
    let mut value = fraction * 100.0;
    if fraction < 1.0 {
        value = value.min(99.9);
    }
    if fraction > 0.0 {
        value = value.max(0.1);
    }
    short(value, 1)
}

/// `39.7 % to 89.2 %`.
pub(super) fn range(interval: Interval) -> String {
    format!("{} % to {} %", bare_percent(interval.low), bare_percent(interval.high))
}

/// A difference of rates in points, with its sign.
pub(super) fn points(difference: f64) -> String {
    let bare = bare_points(difference);
    let unit = if bare.trim_start_matches(['+', '−']) == "1" { "point" } else { "points" };
    format!("{bare} {unit}")
}

/// An interval of differences.
pub(super) fn points_range(interval: Interval) -> String {
    format!("{} to {} points", bare_points(interval.low), bare_points(interval.high))
}

fn bare_points(difference: f64) -> String {
    let value = difference * 100.0;
    match short(value.abs(), 1).as_str() {
        "0" => "0".to_owned(),
        text => format!("{}{text}", if value > 0.0 { '+' } else { '−' }),
    }
}

/// With at most so many decimals, and none that say nothing.
pub(super) fn short(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Three significant digits, whatever the size.
pub(super) fn significant(value: f64) -> String {
    if value.is_infinite() || value.abs() < 1e-300 {
        return short(value, 0);
    }
    let size = value.abs().log10().floor();
    if (-5.0..9.0).contains(&size) { short(value, (2.0 - size).max(0.0) as usize) } else { format!("{value:.2e}") }
}

/// `p = 0.116`, and never `p = 0`.
pub(super) fn p_value(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {}", bare_p(p)) }
}

/// A p-value in a column.
pub(super) fn bare_p(p: f64) -> String {
    match p {
        p if p < 0.0001 => "<0.0001".to_owned(),
        p if p < 0.001 => format!("{p:.4}"),
        // 0.0496 must not read as 0.050.
        p if (0.045..0.0505).contains(&p) => format!("{p:.4}"),
        p => format!("{p:.3}"),
    }
}

/// `1 pass`, `2 passes`.
pub(super) fn plural(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_without_false_certainty() {
        assert_eq!([percent(1.0), percent(0.999_9), percent(0.0), percent(1e-6)], ["100 %", "99.9 %", "0 %", "0.1 %"]);
        assert_eq!(
            [points(0.01), points(-0.01), points(0.0), points(-0.123)],
            ["+1 point", "−1 point", "0 points", "−12.3 points"]
        );
        assert_eq!(points_range(Interval { low: -0.05, high: 0.1 }), "−5 to +10 points");
        assert_eq!([p_value(0.0), p_value(0.049_6), p_value(0.116)], ["p < 0.0001", "p = 0.0496", "p = 0.116"]);
        let sizes = [0.066_66, 2.0, 1234.6, 0.0, 1e12, f64::INFINITY].map(significant);
        assert_eq!(sizes, ["0.0667", "2", "1235", "0", "1.00e12", "inf"]);
    }
}
