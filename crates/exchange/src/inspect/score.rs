//! Scores of any scorer as right, wrong or neither.

use serde_json::{Map, Value};

use super::log::{Header, Score};

/// Characters of an explanation that are kept.
const EXPLANATION: usize = 2000;

/// What the scores of a sample come to.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Judged {
    /// `None`: there is no score, or it says that there is none.
    pub(crate) success: Option<bool>,
    /// What the scorers wrote.
    pub(crate) reasons: Vec<String>,
    /// The score is a number other than 0 and 1: whether it is right was decided by the threshold.
    pub(crate) is_graded: bool,
}

/// The scorer that decides: the log's headline, or its first.
pub(crate) fn deciding(header: &Header) -> Option<&str> {
    let results = header.results.as_ref();
    let headline = results.and_then(|results| results.headline.as_ref()?.scorer.as_deref());
    let first = || results.and_then(|results| results.scores.as_ref()?.first()?.scorer.as_deref());
    let declared = || header.eval.scorers.as_ref().and_then(|scorers| Some(scorers.first()?.name.as_str()));
    headline.or_else(first).or_else(declared)
}

/// Judges a sample by the scorer `deciding`, or by its first score. A number is right from `right_from` on.
pub(crate) fn judge(scores: &Map<String, Value>, deciding: Option<&str>, right_from: f64) -> Result<Judged, String> {
    let name = deciding.filter(|name| scores.contains_key(*name)).or_else(|| scores.keys().next().map(String::as_str));
    let Some(name) = name else { return Ok(Judged::default()) };
    let read = |name: &str| {
        serde_json::from_value::<Score>(scores[name].clone()).map_err(|error| format!("scores.{name}: {error}"))
    };
    let score = read(name)?;
    let mut judged = Judged { success: truth(&score.value, right_from), ..Judged::default() };
    judged.is_graded = is_graded(&score.value);
    if judged.success != Some(true) || judged.is_graded {
        judged.reasons.push(format!("{name} = {}", shown(&score.value)));
    }
    judged.reasons.extend(score.explanation.as_deref().map(cut));
    for other in scores.keys().filter(|other| *other != name) {
        let score = read(other)?;
        judged.reasons.push(format!("{other} = {}", shown(&score.value)));
    }
    Ok(judged)
}

fn cut(text: &str) -> String {
    text.char_indices().nth(EXPLANATION).map_or_else(|| text.to_owned(), |(end, _)| format!("{}…", &text[..end]))
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| cut(&value.to_string()), cut)
}

/// Right or wrong, as Inspect's `value_to_float` reads values; all of several must be right.
fn truth(value: &Value, right_from: f64) -> Option<bool> {
    match value {
        // What a scorer could not score is NaN there.
        Value::Null => None,
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => number.as_f64().map(|number| number >= right_from),
        Value::String(text) => Some(text_truth(text, right_from)),
        Value::Array(all) => all_true(all.iter(), right_from),
        Value::Object(all) => all_true(all.values(), right_from),
    }
}

fn all_true<'a>(values: impl Iterator<Item = &'a Value>, right_from: f64) -> Option<bool> {
    // What one of several scorers left open does not count.
    let known: Vec<bool> = values.filter_map(|value| truth(value, right_from)).collect();
    (!known.is_empty()).then(|| known.iter().all(|right| *right))
}

/// `C` is right; `P` (partly), `I` and `N` (no answer) are not.
fn text_truth(text: &str, right_from: f64) -> bool {
    match text {
        "C" => true,
        "P" | "I" | "N" => false,
        other => match other.to_ascii_lowercase().as_str() {
            "yes" | "true" => true,
            other => other.trim().parse::<f64>().is_ok_and(|number| number >= right_from),
        },
    }
}

fn is_graded(value: &Value) -> bool {
    match value {
        // A number that is neither 0 nor 1.
        Value::Number(number) => {
            number.as_f64().is_some_and(|number| number.fract() != 0.0 || !(0.0..=1.0).contains(&number))
        }
        Value::Array(all) => all.iter().any(is_graded),
        Value::Object(all) => all.values().any(is_graded),
        Value::String(text) => text == "P",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_value() {
        for (value, want) in [
            (json!("C"), Some(true)),
            (json!("I"), Some(false)),
            (json!("P"), Some(false)),
            (json!("N"), Some(false)),
            (json!("yes"), Some(true)),
            (json!("No"), Some(false)),
            (json!("1.0"), Some(true)),
            (json!("c"), Some(false)),
            (json!(true), Some(true)),
            (json!(1), Some(true)),
            (json!(0.99), Some(false)),
            (json!(0), Some(false)),
            (Value::Null, None),
            (json!({ "a": 1, "b": "C" }), Some(true)),
            (json!({ "a": 1, "b": 0.5 }), Some(false)),
            (json!({ "a": 1, "b": null }), Some(true)),
            (json!({}), None),
            (json!([1, 1, 0]), Some(false)),
        ] {
            assert_eq!(truth(&value, 1.0), want, "{value}");
        }
        assert_eq!(truth(&json!(0.5), 0.5), Some(true));
    }

    #[test]
    fn the_deciding_scorer_decides_and_the_others_are_told() {
        let scores = json!({
            "second": { "value": "C" },
            "first": { "value": 0.4, "explanation": "nearly", "answer": null },
        });
        let judged = judge(scores.as_object().unwrap(), Some("first"), 1.0).unwrap();
        assert_eq!((judged.success, judged.is_graded), (Some(false), true));
        assert_eq!(judged.reasons, ["first = 0.4", "nearly", "second = C"]);
        let judged = judge(scores.as_object().unwrap(), Some("gone"), 1.0).unwrap();
        assert_eq!(judged.success, Some(true));
        let bad = json!({ "x": { "valeu": 1 } });
        let error = judge(bad.as_object().unwrap(), None, 1.0).unwrap_err();
        assert!(error.starts_with("scores.x: ") && error.contains("value"), "{error}");
        assert_eq!(judge(&Map::new(), None, 1.0).unwrap(), Judged::default());
    }
}
