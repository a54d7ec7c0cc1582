//! The same call again (K12, Z4, Z5), over the whole turn: a retry of the loop forgets nothing.

use std::collections::HashMap;

use serde_json::{Map, Value};
use tenpass_trace::CallOutcome;

use crate::policy::canonical_json;

/// What is done about a call before it is judged in any other way.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Repeat {
    /// New, or made before without an answer that could be given again.
    Fresh,
    /// It was answered before in this turn: here is its result.
    Answered(String),
    /// Made too often; the text quotes the last attempts.
    Blocked(String),
}

#[derive(Debug, Clone, PartialEq)]
struct Attempt {
    outcome: CallOutcome,
    result: String,
}

#[derive(Debug, Clone, Default)]
struct Seen {
    attempts: Vec<Attempt>,
    /// The result to give again: of a success, or of a refusal.
    answer: Option<(CallOutcome, String)>,
    /// Made by a tool that changes nothing: what it returned can go out of date.
    reads: bool,
}

/// What was called in this turn.
#[derive(Debug, Clone, Default)]
pub(super) struct Repeats {
    seen: HashMap<String, Seen>,
    blocks_in_row: u32,
}

/// Attempts that a block message quotes, and characters of each.
const QUOTED_ATTEMPTS: usize = 3;
const QUOTED_CHARS: usize = 160;

/// Name and sorted arguments. The `reason` is left out: the same call with another excuse is the
/// same call.
pub(super) fn signature(tool: &str, arguments: &Map<String, Value>) -> String {
    let bare: Map<String, Value> = arguments
        .iter()
        .filter(|(name, _)| *name != "reason")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    format!("{tool} {}", canonical_json(&Value::Object(bare)))
}

impl Repeats {
    /// Judges a call that is about to be made, allowing it `limit` times.
    pub(super) fn judge(&self, signature: &str, limit: u32) -> Repeat {
        let Some(seen) = self.seen.get(signature) else { return Repeat::Fresh };
        if seen.attempts.len() as u32 >= limit {
            return Repeat::Blocked(block_message(&seen.attempts));
        }
        seen.answer.as_ref().map_or(Repeat::Fresh, |(_, result)| Repeat::Answered(result.clone()))
    }

    /// Notes how a call ended and the result the model got. `reads` is whether the tool changes
    /// nothing.
    pub(super) fn note(&mut self, signature: &str, outcome: CallOutcome, result: &str, reads: bool) {
        if outcome == CallOutcome::Blocked {
            self.blocks_in_row += 1;
            return;
        }
        self.blocks_in_row = 0;
        if !reads && matches!(outcome, CallOutcome::Ok | CallOutcome::Error) {
            self.forget_what_was_read();
        }
        let seen = self.seen.entry(signature.to_owned()).or_default();
        seen.reads = reads;
        seen.attempts.push(Attempt { outcome, result: result.to_owned() });
        if matches!(outcome, CallOutcome::Ok | CallOutcome::Refused) {
            seen.answer = Some((outcome, result.to_owned()));
        }
    }

    /// Blocked calls since the last one that was not.
    pub(super) fn blocks_in_row(&self) -> u32 {
        self.blocks_in_row
    }

    /// Something changed the world, so that a read of it is worth making again. What was written or
    /// refused stays answered, and every attempt stays counted.
    fn forget_what_was_read(&mut self) {
        for seen in self.seen.values_mut() {
            if seen.reads && matches!(seen.answer, Some((CallOutcome::Ok, _))) {
                seen.answer = None;
            }
        }
    }
}

fn block_message(attempts: &[Attempt]) -> String {
    let first = attempts.len().saturating_sub(QUOTED_ATTEMPTS);
    let quoted: Vec<String> = attempts
        .iter()
        .enumerate()
        .skip(first)
        .map(|(index, attempt)| {
            let result: String = attempt.result.split_whitespace().collect::<Vec<_>>().join(" ");
            let short: String = result.chars().take(QUOTED_CHARS).collect();
            let dots = if short.len() < result.len() { "…" } else { "" };
            format!("{}. {}: {short}{dots}", index + 1, attempt.outcome.as_str())
        })
        .collect();
    format!(
        "Blocked: this exact call was made {} times in this turn already, and it did not run again. What it gave:\n{}\n\
         Do something else with that, or answer the user.",
        attempts.len(),
        quoted.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn the_order_of_the_arguments_and_the_reason_do_not_matter() {
        let one = signature("t", &object(&json!({"a": 1, "b": {"x": 1, "y": 2}, "reason": "because"})));
        let other = signature("t", &object(&json!({"b": {"y": 2, "x": 1}, "a": 1, "reason": "why not"})));
        assert_eq!(one, other);
        assert_ne!(one, signature("t", &object(&json!({"a": 2, "b": {"x": 1, "y": 2}}))));
        assert_ne!(one, signature("u", &object(&json!({"a": 1, "b": {"x": 1, "y": 2}}))));
    }

    #[test]
    fn a_success_and_a_refusal_are_answered_and_an_error_is_not() {
        let mut repeats = Repeats::default();
        for (name, outcome, expected) in [
            ("ok", CallOutcome::Ok, Repeat::Answered("r".into())),
            ("no", CallOutcome::Refused, Repeat::Answered("r".into())),
            ("bad", CallOutcome::Error, Repeat::Fresh),
            ("invalid", CallOutcome::Rejected, Repeat::Fresh),
        ] {
            repeats.note(name, outcome, "r", true);
            assert_eq!(repeats.judge(name, 3), expected, "{name}");
        }
        assert_eq!(repeats.judge("new", 3), Repeat::Fresh);
    }

    #[test]
    fn the_fourth_of_a_kind_is_blocked_and_blocks_in_a_row_are_counted() {
        let mut repeats = Repeats::default();
        for attempt in 1..=3 {
            assert_eq!(repeats.judge("a", 3), Repeat::Fresh, "{attempt}");
            repeats.note("a", CallOutcome::Error, &format!("disk {attempt} is full"), false);
        }
        let Repeat::Blocked(message) = repeats.judge("a", 3) else { panic!("not blocked") };
        assert!(message.contains("made 3 times") && message.contains("1. error: disk 1 is full"), "{message}");
        assert!(message.contains("3. error: disk 3 is full"), "{message}");
        for row in 1..=3 {
            repeats.note("a", CallOutcome::Blocked, &message, false);
            assert_eq!(repeats.blocks_in_row(), row);
        }
        repeats.note("b", CallOutcome::Ok, "fine", true);
        assert_eq!(repeats.blocks_in_row(), 0);
    }

    #[test]
    fn a_change_makes_reads_fresh_but_not_writes_or_refusals() {
        let mut repeats = Repeats::default();
        repeats.note("list", CallOutcome::Ok, "empty", true);
        repeats.note("write", CallOutcome::Ok, "written", false);
        repeats.note("open", CallOutcome::Refused, "no", false);
        assert_eq!(repeats.judge("list", 3), Repeat::Fresh);
        assert_eq!(repeats.judge("write", 3), Repeat::Answered("written".into()));
        repeats.note("other", CallOutcome::Ok, "done", false);
        assert_eq!(repeats.judge("write", 3), Repeat::Answered("written".into()));
        assert_eq!(repeats.judge("open", 3), Repeat::Answered("no".into()));
    }
}
