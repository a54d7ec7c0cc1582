//! Expectations rewritten like the texts they are about.

use std::sync::LazyLock;

use regex::Regex;

use super::Disguise;
use super::words::words;
use crate::cases::{Argument, Expect, Matcher, Pattern};

/// `[Mm]`: one letter in both cases.
static BOTH_CASES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[(\p{L})(\p{L})\]").ok());
/// `\b` and the like: their letter is no part of a word.
static ESCAPE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\\[a-zA-Z]").ok());

impl Disguise {
    /// Learns from the texts of an expectation.
    pub fn read_expect(&mut self, expect: &Expect) {
        let texts: Vec<String> = expect
            .alternatives
            .iter()
            .flatten()
            .flat_map(|call| &call.arguments)
            .flat_map(|(_, argument)| texts(&argument.matcher))
            .collect();
        for text in texts {
            self.read(&text, super::Whose::Persons);
        }
    }

    /// The expectation with every text rewritten.
    pub fn expect(&mut self, expect: &Expect) -> Expect {
        let mut made = expect.clone();
        for call in made.alternatives.iter_mut().flatten() {
            for (_, argument) in &mut call.arguments {
                *argument = self.argument(argument);
            }
        }
        made
    }

    fn argument(&mut self, argument: &Argument) -> Argument {
        let matcher = match &argument.matcher {
            Matcher::Exact(value) => Matcher::Exact(self.value(value)),
            Matcher::Contains(text) => Matcher::Contains(self.text(text)),
            Matcher::Loose(text) => Matcher::Loose(self.text(text)),
            Matcher::Regex(pattern) => Matcher::Regex(self.pattern(pattern)),
            Matcher::Set(elements) => Matcher::Set(self.arguments(elements)),
            Matcher::Items(elements) => Matcher::Items(self.arguments(elements)),
            Matcher::AnyOf(options) => Matcher::AnyOf(self.arguments(options)),
            Matcher::Object { members, only } => Matcher::Object {
                members: members.iter().map(|(name, member)| (name.clone(), self.argument(member))).collect(),
                only: *only,
            },
            other @ (Matcher::Number { .. } | Matcher::Date(_) | Matcher::Any | Matcher::Absent) => other.clone(),
        };
        Argument { matcher, ..argument.clone() }
    }

    fn arguments(&mut self, arguments: &[Argument]) -> Vec<Argument> {
        arguments.iter().map(|argument| self.argument(argument)).collect()
    }

    fn pattern(&mut self, pattern: &Pattern) -> Pattern {
        let rewritten = self.pattern_text(pattern.as_str());
        Pattern::new(&rewritten).unwrap_or_else(|_| pattern.clone())
    }

    /// A pattern's words are rewritten, its escapes and classes are not.
    fn pattern_text(&mut self, pattern: &str) -> String {
        let collapsed = collapse(pattern);
        let has_more = |text: &str| words(text).iter().filter(|word| self.personal.contains_key(&word.folded)).count();
        let (flag, pattern) = match has_more(&collapsed) > has_more(pattern) {
            true if collapsed.starts_with("(?i)") => ("", collapsed.as_str()),
            true => ("(?i)", collapsed.as_str()),
            false => ("", pattern),
        };
        let Some(escape) = ESCAPE.as_ref() else { return pattern.to_owned() };
        let mut made = flag.to_owned();
        let mut from = 0;
        for hit in escape.find_iter(pattern) {
            made.push_str(&self.plain_pattern(&pattern[from..hit.start()]));
            made.push_str(hit.as_str());
            from = hit.end();
        }
        made.push_str(&self.plain_pattern(&pattern[from..]));
        made
    }

    /// A part without letter escapes. What has a form may have its dots escaped: `marie@acme\\.fr`.
    fn plain_pattern(&mut self, part: &str) -> String {
        let plain = part.replace('\\', "");
        let mut made = part.to_owned();
        for span in super::spans(&plain) {
            let written = &plain[span.range];
            let replaced = regex::escape(&self.text(written));
            made = made.replace(&regex::escape(written), &replaced).replace(written, &replaced);
        }
        self.text(&made)
    }
}

/// `[Mm]arie` as `Marie`.
fn collapse(pattern: &str) -> String {
    let Some(both) = BOTH_CASES.as_ref() else { return pattern.to_owned() };
    let one = |captures: &regex::Captures<'_>| {
        let (a, b) = (&captures[1], &captures[2]);
        if a.to_lowercase() == b.to_lowercase() { a.to_uppercase() } else { captures[0].to_owned() }
    };
    both.replace_all(pattern, one).into_owned()
}

/// Every text of a matcher; of a pattern, what it matches as far as it is plain.
fn texts(matcher: &Matcher) -> Vec<String> {
    match matcher {
        Matcher::Exact(value) => value_texts(value),
        Matcher::Contains(text) | Matcher::Loose(text) => vec![text.clone()],
        Matcher::Regex(pattern) => {
            let plain = collapse(pattern.as_str());
            let plain =
                ESCAPE.as_ref().map_or_else(|| plain.clone(), |escape| escape.replace_all(&plain, " ").into_owned());
            vec![plain.replace('\\', "")]
        }
        Matcher::Set(elements) | Matcher::Items(elements) | Matcher::AnyOf(elements) => {
            elements.iter().flat_map(|element| texts(&element.matcher)).collect()
        }
        Matcher::Object { members, .. } => members.iter().flat_map(|(_, member)| texts(&member.matcher)).collect(),
        Matcher::Number { .. } | Matcher::Date(_) | Matcher::Any | Matcher::Absent => Vec::new(),
    }
}

fn value_texts(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => vec![text.clone()],
        serde_json::Value::Array(items) => items.iter().flat_map(value_texts).collect(),
        serde_json::Value::Object(map) => map.values().flat_map(value_texts).collect(),
        _ => Vec::new(),
    }
}
