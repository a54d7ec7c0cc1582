//! The ledger: what was called, and how each call ended.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use tenpass_trace::{CallOutcome, Tier, ToolDefinition};

use super::act::{Act, Acts};
use super::names::is_address;
use super::nouns::classes_of;
use super::objects::Objects;
use super::tools;
use crate::words::fold;

/// How a call of the ledger ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LedgerOutcome {
    /// It ran and did what it is for.
    Ok,
    /// It ran and failed, or was rejected, blocked, interrupted: nothing was done.
    Error,
    /// The person said no.
    Refused,
    /// Answered with the result of the same call before it, which stands in the ledger itself: no
    /// evidence of its own.
    Repeated,
}

impl<'de> Deserialize<'de> for LedgerOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(match name.as_str() {
            "ok" => Self::Ok,
            "refused" => Self::Refused,
            "repeated" => Self::Repeated,
            "error" | "rejected" | "blocked" | "interrupted" => Self::Error,
            other => {
                const KNOWN: &[&str] = &["ok", "error", "refused", "rejected", "repeated", "blocked", "interrupted"];
                return Err(serde::de::Error::unknown_variant(other, KNOWN));
            }
        })
    }
}

impl From<CallOutcome> for LedgerOutcome {
    fn from(outcome: CallOutcome) -> Self {
        match outcome {
            CallOutcome::Ok => Self::Ok,
            CallOutcome::Refused => Self::Refused,
            CallOutcome::Repeated => Self::Repeated,
            CallOutcome::Error | CallOutcome::Rejected | CallOutcome::Blocked | CallOutcome::Interrupted => Self::Error,
        }
    }
}

/// One call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// The tool's name.
    pub tool: String,
    /// The arguments it was called with.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// How it ended.
    pub outcome: LedgerOutcome,
    /// Whether a person approved it; `None` when that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<bool>,
    /// Its tier after escalation, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
}

/// A call as the judge sees it.
#[derive(Debug)]
pub(super) struct Evidence<'a> {
    pub(super) entry: &'a LedgerEntry,
    pub(super) acts: Acts,
    pub(super) ok: bool,
    pub(super) effect: bool,
    /// Every string among the arguments, folded, with the key it stands under.
    values: Vec<(String, String)>,
    words: Vec<String>,
}

/// How many argument strings of a call are looked at, and how much of each.
const VALUES: usize = 200;
const VALUE_CHARACTERS: usize = 2_000;

/// Arguments that hold text to be written, not the name of anything.
#[rustfmt::skip]
const TEXTS: [&str; 12] = [
    "content", "text", "body", "reason", "new_text", "old_text", "task", "entry", "message", "description",
    "query", "summary",
];

impl<'a> Evidence<'a> {
    pub(super) fn new(entry: &'a LedgerEntry, definition: Option<&ToolDefinition>) -> Self {
        let mut values = Vec::new();
        for (key, value) in &entry.arguments {
            strings(key, value, 0, &mut values);
        }
        Self {
            entry,
            acts: tools::call_acts(&entry.tool, &entry.arguments, definition),
            ok: entry.outcome == LedgerOutcome::Ok,
            effect: !tools::only_reads(&entry.tool, definition),
            values,
            words: tools::name_words(&entry.tool),
        }
    }

    /// The arguments name something that could be a file or an address.
    pub(super) fn names_something(&self) -> bool {
        self.values.iter().any(|(key, value)| !TEXTS.contains(&key.as_str()) && named(value))
    }

    /// The arguments name this file or address.
    pub(super) fn mentions(&self, name: &str) -> bool {
        let wanted = tail(name);
        !wanted.is_empty()
            && self.values.iter().any(|(key, value)| {
                let found = tail(value);
                if TEXTS.contains(&key.as_str()) {
                    false
                } else {
                    found == wanted || value.contains(wanted) || (found.len() > 3 && wanted.contains(found))
                }
            })
    }

    /// The arguments that say who or what it is for: an application, a person, a provider.
    pub(super) fn targets(&self) -> impl Iterator<Item = &str> {
        #[rustfmt::skip]
        const KEYS: [&str; 12] = [
            "app", "application", "program", "provider", "to", "recipient", "contact", "destinataire", "name",
            "person", "model", "target",
        ];
        self.values.iter().filter(|(key, _)| KEYS.contains(&key.as_str())).map(|(_, value)| value.as_str())
    }

    /// It was sent to addresses none of which can be one of these people: no part of one begins with
    /// the letter that a name begins with ("p.durand@…" can be Paul, "marie@…" cannot).
    pub(super) fn addressed_to_others(&self, names: &[String]) -> bool {
        const SHARED: [&str; 10] =
            ["contact", "info", "hello", "support", "admin", "team", "office", "sales", "me", "mail"];
        let mut addresses = self.targets().filter_map(|target| target.split_once('@')).peekable();
        let initials: Vec<char> = names.iter().filter_map(|name| name.chars().next()).collect();
        if initials.is_empty() || addresses.peek().is_none() {
            return false;
        }
        addresses.all(|(user, _)| {
            let mut parts = user.split(|c: char| !c.is_alphabetic()).filter(|part| !part.is_empty()).peekable();
            parts.peek().is_some()
                && parts.all(|part| !SHARED.contains(&part) && !part.starts_with(initials.as_slice()))
        })
    }

    /// The same thing by another call: one name or target in common, or no names at all.
    pub(super) fn same_thing(&self, other: &Self) -> bool {
        let names = |evidence: &Self| -> Vec<String> {
            evidence
                .values
                .iter()
                .filter(|(key, _)| !TEXTS.contains(&key.as_str()))
                .map(|(_, value)| value.clone())
                .collect()
        };
        let (mine, theirs) = (names(self), names(other));
        if mine.is_empty() || theirs.is_empty() {
            return true;
        }
        mine.iter().any(|value| theirs.contains(value))
    }

    /// A success of a tool that may do what its name does not say: one of no known act, unless its
    /// name is about other things, or a command line.
    pub(super) fn could_have_done(&self, objects: &Objects) -> bool {
        let about = self.words.iter().fold(0, |classes, word| classes | classes_of(word));
        let unexplained = self.acts.is_empty() && self.effect && (about == 0 || objects.any(about));
        self.ok && (unexplained || self.acts.meets(Acts::of(&[Act::Run, Act::Terminal])))
    }

    /// The tool has this name, or this word in its name.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.words.iter().any(|word| word == name) || fold(&self.entry.tool) == name
    }

    /// Some argument contains this.
    pub(super) fn contains(&self, text: &str) -> bool {
        self.values.iter().any(|(_, value)| value.contains(text))
    }
}

fn strings(key: &str, value: &Value, depth: usize, found: &mut Vec<(String, String)>) {
    if depth > 6 || found.len() >= VALUES {
        return;
    }
    match value {
        Value::String(text) => {
            let start: String = text.chars().take(VALUE_CHARACTERS).collect();
            found.push((key.to_lowercase(), fold(&start)));
        }
        Value::Array(items) => items.iter().for_each(|item| strings(key, item, depth + 1, found)),
        Value::Object(members) => members.iter().for_each(|(key, member)| strings(key, member, depth + 1, found)),
        _ => {}
    }
}

/// A value that reads like a file or an address.
fn named(value: &str) -> bool {
    let short = value.len() < 300 && !value.trim().contains(['\n', '\t']);
    short
        && (is_address(value)
            || value.contains('@')
            || value.rsplit_once('.').is_some_and(|(stem, end)| {
                !stem.is_empty() && (1..=8).contains(&end.len()) && end.chars().all(char::is_alphanumeric)
            }))
}

/// What a name comes down to: a path's last part, an address without its scheme.
fn tail(name: &str) -> &str {
    let name = name.trim().trim_end_matches('/');
    if is_address(name) {
        let rest = name.split("://").last().unwrap_or(name);
        return rest.strip_prefix("www.").unwrap_or(rest);
    }
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_of_every_spelling() {
        let outcome = |name: &str| serde_json::from_value::<LedgerOutcome>(Value::String(name.to_owned())).ok();
        assert_eq!(outcome("ok"), Some(LedgerOutcome::Ok));
        assert_eq!(outcome("rejected"), Some(LedgerOutcome::Error));
        assert_eq!(outcome("refused"), Some(LedgerOutcome::Refused));
        assert_eq!(outcome("fine"), None);
    }

    #[test]
    fn names_in_arguments() {
        let entry: LedgerEntry = serde_json::from_value(serde_json::json!({
            "tool": "write_file", "arguments": { "filename": "/home/me/Report.md", "content": "see notes.txt" }, "outcome": "ok"
        }))
        .unwrap();
        let evidence = Evidence::new(&entry, None);
        assert!(evidence.mentions("report.md") && !evidence.mentions("notes.txt") && evidence.names_something());
    }
}
