//! Reading what a model answers to a memory request: the JSON object, wherever it stands in the text.

use serde_json::Value;

use super::Section;
use super::decision::Decision;

/// Longest answer that is looked at.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// Most opening braces that are tried.
const MAX_CANDIDATES: usize = 64;

/// An answer without the object that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer holds no {expected}: {start:?}")]
pub struct Unreadable {
    /// What was asked for.
    pub expected: &'static str,
    /// The start of the answer.
    pub start: String,
}

impl Unreadable {
    pub(super) fn new(expected: &'static str, answer: &str) -> Self {
        Self { expected, start: answer.trim().chars().take(80).collect() }
    }
}

/// The first JSON object in the text that `fits`.
fn find_object(text: &str, fits: impl Fn(&Value) -> bool) -> Option<Value> {
    if text.len() > MAX_ANSWER_BYTES {
        return None;
    }
    text.match_indices('{').take(MAX_CANDIDATES).find_map(|(start, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        values.next()?.ok().filter(|value| value.is_object() && fits(value))
    })
}

/// One decision.
pub(super) fn decision(text: &str) -> Result<Decision, Unreadable> {
    find_object(text, |value| value.get("should_write").is_some_and(Value::is_boolean))
        .and_then(|value| serde_json::from_value(value).ok())
        .ok_or_else(|| Unreadable::new("memory decision", text))
}

/// The decisions of a re-read, at most `limit` a section: `{"decisions":[{"entry":…}],…}`.
pub(super) fn items(text: &str, limit: usize) -> Result<Vec<Decision>, Unreadable> {
    let is_list = |value: &Value, section: &Section| value.get(section.as_str()).is_some_and(Value::is_array);
    let object = find_object(text, |value| Section::ALL.iter().any(|section| is_list(value, section)))
        .ok_or_else(|| Unreadable::new("lists of entries", text))?;
    let mut decisions = Vec::new();
    for section in Section::ALL {
        let listed = object.get(section.as_str()).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        decisions.extend(listed.iter().filter_map(|item| item_decision(*section, item)).take(limit));
    }
    Ok(decisions)
}

fn item_decision(section: Section, item: &Value) -> Option<Decision> {
    let entry = item.as_str().or_else(|| item.get("entry")?.as_str())?;
    let contradicts = item.get("contradicts").and_then(Value::as_str).map(str::to_owned);
    (!entry.trim().is_empty()).then(|| Decision { contradicts, ..Decision::write(section, entry) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_found_in_prose_and_fences() {
        let answer = "Sure {not json}! ```json\n{\"should_write\": true, \"section\": \"patterns\", \"entry\": \"a } b\", \"contradicts\": null}\n```";
        let decision = decision(answer).unwrap();
        assert_eq!(
            (decision.section.as_str(), decision.entry.as_str(), decision.contradicts),
            ("patterns", "a } b", None)
        );
    }

    #[test]
    fn a_cut_or_foreign_answer_is_unreadable() {
        for answer in ["", "no", "{\"should_write\": true, \"entry\": \"x", "{\"should_write\": \"yes\"}", "{\"a\":1}"]
        {
            assert!(decision(answer).is_err(), "{answer}");
        }
        let error = items("nothing", 3).unwrap_err();
        assert_eq!(error.to_string(), "the answer holds no lists of entries: \"nothing\"");
        assert!(decision(&"{".repeat(100_000)).is_err());
        assert!(decision(&"{\"a\":".repeat(10_000)).is_err());
    }

    #[test]
    fn k63_at_most_three_items_a_section() {
        let answer = r#"{"decisions":["a","b","c","d"],"patterns":[{"entry":"e","contradicts":"0f8f"},{"entry":" "},{"x":1}],"portrait":["p"]}"#;
        let decisions = items(answer, 3).unwrap();
        let entries: Vec<&str> = decisions.iter().map(|decision| decision.entry.as_str()).collect();
        assert_eq!(entries, ["a", "b", "c", "e"]);
        assert_eq!(decisions[3].contradicts.as_deref(), Some("0f8f"));
        assert!(decisions.iter().all(|decision| decision.should_write && decision.section != "portrait"));
    }
}
