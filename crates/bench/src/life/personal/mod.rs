//! Personal words of a turn replaced by stable placeholders, so that a case can be read by anybody.
//!
//! - A first name becomes another ordinary one of the same gender and the same beginning (vowel or not,
//!   for the elision before it), a family name a family name, a town a town; an e-mail address becomes
//!   `name@example.org`, a telephone number one that no subscriber has, an account number another right
//!   one; the user in a path and a street become others. Amounts, dates and names of files stay, save the
//!   personal words in them.
//! - One word has one placeholder, in a case and over the cases of a suite: see [`Placeholders`].
//! - What is personal: a list of first names, what stands behind "M." or "my wife", what is capitalised
//!   in the middle of a sentence, what the portrait and the memory name, what was replaced before, and
//!   what is named. A proper name that begins a sentence and is on no list is not found: `--hide` it.
//! - Secrets are masked before anything else ([`tenpass_trace::mask`]).

mod find;
mod keyed;
mod learn;
mod matchers;
mod names;
mod ordinary;
mod propose;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};
use tenpass_agent::fold;
use tenpass_trace::ToolDefinition;
use tenpass_trace::mask::mask;

pub use keyed::{PLACEHOLDERS_FILE, Placeholders};
pub use learn::Whose;

use find::{Form, Span, spans};
use keyed::Wanted;
use learn::{Learned, kind_of_named, learn, names_of_email};
use propose::{Kind, dressed};
use words::{Shape, Word, in_shape, words};

use super::LifeError;

/// Digits from which on a number is taken for somebody's and not for an amount.
const LONG_NUMBER: usize = 9;
/// Shortest word of a joined name: `mariedupont`.
const SHORTEST_PART: usize = 3;

/// One replacement, for the person to see. Never stored with a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replaced {
    /// `first name`, `e-mail address` …
    pub kind: &'static str,
    /// What stood there.
    pub was: String,
    /// What stands there now.
    pub is: String,
}

/// Learns what is personal in the texts of a case, then rewrites them.
#[derive(Debug)]
pub struct Disguise {
    placeholders: Placeholders,
    exempt: BTreeSet<String>,
    /// Personal words, found or named.
    personal: BTreeMap<String, Learned>,
    /// Words that somebody named: they go wherever they stand.
    named: BTreeSet<String>,
    /// Every word of the texts.
    seen: BTreeSet<String>,
    /// Things with a form in the texts.
    forms: BTreeSet<(Form, String)>,
    /// The replacements in force.
    in_force: BTreeMap<(&'static str, String), String>,
    shown: BTreeMap<(&'static str, String), Replaced>,
    masked: BTreeSet<String>,
}

impl Disguise {
    /// Begins with the placeholders given before. What the tools call things stays.
    pub fn new(placeholders: Placeholders, tools: &[ToolDefinition]) -> Self {
        let mut exempt = BTreeSet::new();
        for tool in tools {
            exempt.extend(words(&tool.name).into_iter().map(|word| word.folded));
            closed_values(&tool.parameters, &mut exempt);
        }
        Self {
            placeholders,
            exempt,
            personal: BTreeMap::new(),
            named: BTreeSet::new(),
            seen: BTreeSet::new(),
            forms: BTreeSet::new(),
            in_force: BTreeMap::new(),
            shown: BTreeMap::new(),
            masked: BTreeSet::new(),
        }
    }

    /// The words of `text` are personal wherever they stand.
    pub fn hide(&mut self, text: &str) {
        for word in words(&mask(text).text) {
            if word.folded.chars().count() > 1 || word.is_digits {
                self.named.insert(word.folded.clone());
                self.personal
                    .insert(word.folded.clone(), Learned { kind: kind_of_named(&word), is_also_a_word: false });
            }
        }
    }

    /// Learns from a text that is no part of the case: the portrait, the memory.
    pub fn know(&mut self, text: &str) {
        let text = mask(text).text;
        let learned = learn(&words(&text), Whose::Persons, |word| self.exempt.contains(word));
        self.take(learned);
        self.take_forms(&text, false);
    }

    /// The name of the machine's user is personal, unless it is one that machines come with.
    pub fn know_user(&mut self, name: &str) {
        let names_somebody =
            name.chars().count() > 2 && find::names_somebody(name) && !ordinary::is_ordinary(&fold(name));
        if names_somebody {
            self.know(&format!("/home/{name}/"));
        }
    }

    /// Learns from a text of the case.
    pub fn read(&mut self, text: &str, whose: Whose) {
        let text = mask(text).text;
        let words = words(&text);
        let learned = learn(&words, whose, |word| self.exempt.contains(word));
        self.take(learned);
        for word in &words {
            self.take_given(word);
            self.seen.insert(word.folded.clone());
        }
        self.take_forms(&text, true);
    }

    /// Learns from every text in a value.
    pub fn read_value(&mut self, value: &Value, whose: Whose) {
        match value {
            Value::String(text) => self.read(text, whose),
            Value::Array(items) => items.iter().for_each(|item| self.read_value(item, whose)),
            Value::Object(map) => {
                for (name, value) in map {
                    self.read(name, Whose::Outside);
                    self.read_value(value, whose);
                }
            }
            Value::Number(number) => self.read(&number.to_string(), whose),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn take(&mut self, learned: BTreeMap<String, Learned>) {
        for (word, learned) in learned {
            self.personal.entry(word).or_insert(learned);
        }
    }

    /// A capitalised word that was replaced in an earlier case is personal in this one too.
    fn take_given(&mut self, word: &Word) {
        let tells = word.shape != Shape::Lower && !self.exempt.contains(&word.folded);
        if !tells || self.personal.contains_key(&word.folded) || ordinary::is_ordinary(&word.folded) {
            return;
        }
        let wanted = Wanted { kind: Kind::Family(false), canonical: word.folded.clone() };
        if self.placeholders.find(&wanted).is_some() {
            let is_also_a_word = names::is_also_a_word(&word.folded);
            self.personal.insert(word.folded.clone(), Learned { kind: wanted.kind, is_also_a_word });
        }
    }

    fn take_forms(&mut self, text: &str, is_in_case: bool) {
        for span in spans(text) {
            let written = &text[span.range.clone()];
            if span.form == Form::Email {
                for (word, kind) in names_of_email(written) {
                    let is_also_a_word = names::is_also_a_word(&word);
                    self.personal.entry(word).or_insert(Learned { kind, is_also_a_word });
                }
            }
            if span.form == Form::User
                && span.canonical.chars().all(char::is_alphabetic)
                && !ordinary::is_ordinary(&span.canonical)
            {
                let learned = Learned { kind: Kind::Form(Form::User), is_also_a_word: false };
                self.personal.entry(span.canonical.clone()).or_insert(learned);
            }
            if is_in_case {
                self.forms.insert((span.form, span.canonical));
            }
        }
    }

    /// Gives everything that was found its placeholder. Before this, nothing is rewritten.
    pub fn settle(&mut self) -> Result<(), LifeError> {
        let mut wanted: BTreeSet<Wanted> = BTreeSet::new();
        for word in &self.seen {
            for part in self.parts(word) {
                if let Some(learned) = self.personal.get(part) {
                    wanted.insert(Wanted { kind: learned.kind, canonical: part.to_owned() });
                }
            }
        }
        wanted.extend(
            self.forms.iter().map(|(form, canonical)| Wanted { kind: Kind::Form(*form), canonical: canonical.clone() }),
        );
        let wanted: Vec<Wanted> = wanted.into_iter().collect();
        let assigned = self.placeholders.assign(&wanted, &self.seen)?;
        for (wanted, given) in wanted.into_iter().zip(assigned) {
            self.in_force.insert((wanted.kind.class(), wanted.canonical), given);
        }
        Ok(())
    }

    /// The personal words that a word consists of: itself, or all of its parts; none for any other.
    fn parts<'w>(&self, word: &'w str) -> Vec<&'w str> {
        if self.personal.contains_key(word) {
            return vec![word];
        }
        let mut parts = Vec::new();
        let mut rest = word;
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
            let long = |end: &usize| rest[..*end].chars().count() >= SHORTEST_PART;
            let Some(end) = ends.filter(long).find(|end| self.personal.contains_key(&rest[..*end])) else {
                return Vec::new();
            };
            let (part, tail) = rest.split_at(end);
            parts.push(part);
            rest = tail;
        }
        parts
    }

    /// The text without secrets and with placeholders.
    pub fn text(&mut self, text: &str) -> String {
        let masked = mask(text);
        let text = masked.text;
        self.masked.extend(secrets(&text));
        let spans = spans(&text);
        let mut pieces: Vec<(std::ops::Range<usize>, String)> = Vec::new();
        for span in &spans {
            let made = self.form(&text, span);
            pieces.push((span.range.clone(), made));
        }
        for word in words(&text) {
            let is_covered =
                spans.iter().any(|span| span.range.start < word.range.end && word.range.start < span.range.end);
            if !is_covered && let Some(made) = self.word(&text, &word) {
                pieces.push((word.range, made));
            }
        }
        pieces.sort_by_key(|(range, _)| range.start);
        let mut whole = String::with_capacity(text.len());
        let mut from = 0;
        for (range, made) in pieces {
            whole.push_str(&text[from..range.start]);
            whole.push_str(&made);
            from = range.end;
        }
        whole.push_str(&text[from..]);
        whole
    }

    /// The value with every text in it rewritten. Names of members stay when a tool has them.
    pub fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(item)).collect()),
            Value::Object(map) => Value::Object(self.map(map)),
            Value::Number(number) if number.to_string().trim_start_matches('-').len() >= LONG_NUMBER => {
                let written = number.to_string();
                let made = self.text(&written);
                made.parse().map_or_else(|_| Value::String(made), Value::Number)
            }
            other => other.clone(),
        }
    }

    /// The members rewritten.
    pub fn map(&mut self, map: &Map<String, Value>) -> Map<String, Value> {
        let mut made = Map::new();
        for (name, value) in map {
            let name = if self.exempt.contains(&fold(name)) { name.clone() } else { self.text(name) };
            made.insert(name, self.value(value));
        }
        made
    }

    fn form(&mut self, text: &str, span: &Span) -> String {
        let written = &text[span.range.clone()];
        let key = (Kind::Form(span.form).class(), span.canonical.clone());
        let wanted = Wanted { kind: Kind::Form(span.form), canonical: span.canonical.clone() };
        // What was never read has no place in the file: it is replaced all the same.
        let given = self.in_force.get(&key).cloned().unwrap_or_else(|| self.placeholders.unkept(&wanted));
        let made = dressed(span.form, written, &given);
        self.show(key, wanted.kind, written, &made);
        made
    }

    fn word(&mut self, text: &str, word: &Word) -> Option<String> {
        let parts = self.parts(&word.folded);
        let written = &text[word.range.clone()];
        let mut made = String::new();
        for part in &parts {
            let learned = *self.personal.get(*part)?;
            if word.shape == Shape::Lower && learned.is_also_a_word && parts.len() == 1 {
                return None;
            }
            let key = (learned.kind.class(), (*part).to_owned());
            let given = self.in_force.get(&key)?.clone();
            self.show(key, learned.kind, if parts.len() == 1 { written } else { part }, &given);
            made.push_str(&given);
        }
        (!parts.is_empty()).then(|| in_shape(written, word.shape, &made))
    }

    fn show(&mut self, key: (&'static str, String), kind: Kind, was: &str, is: &str) {
        let replaced = Replaced { kind: kind.name(), was: was.to_owned(), is: is.to_owned() };
        let is_capital = |word: &str| word.chars().any(char::is_uppercase);
        match self.shown.get_mut(&key) {
            // Shown as a name is written, where it was.
            Some(known) if is_capital(&known.was) || !is_capital(was) => {}
            _ => drop(self.shown.insert(key, replaced)),
        }
    }

    /// The kind of a personal word that stands in `text` as it was; `None` when there is none.
    pub fn leak(&self, text: &str) -> Option<&'static str> {
        let is_replacement = |folded: &str| self.in_force.values().any(|given| fold(given) == folded);
        let stays = |word: &Word| {
            let learned = self.personal.get(&word.folded)?;
            let counts = word.shape != Shape::Lower || !learned.is_also_a_word;
            (counts && !is_replacement(&word.folded)).then(|| learned.kind.name())
        };
        let form = spans(text).into_iter().find(|span| self.forms.contains(&(span.form, span.canonical.clone())));
        form.map(|span| Kind::Form(span.form).name()).or_else(|| words(text).iter().find_map(stays))
    }

    /// What was replaced in the texts so far, by kind.
    pub fn mapping(&self) -> Vec<Replaced> {
        let mut all: Vec<Replaced> = self.shown.values().cloned().collect();
        all.sort_by(|a, b| (a.kind, &a.was).cmp(&(b.kind, &b.was)));
        all
    }

    /// The rules of the secrets that were masked.
    pub fn masked(&self) -> Vec<&str> {
        self.masked.iter().map(String::as_str).collect()
    }
}

/// The rules whose mark stands in a text: the trace has masked most secrets already.
fn secrets(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split("[secret:").skip(1).filter_map(|behind| behind.split_once(']').map(|(rule, _)| rule.to_owned())).filter(
        |rule| {
            rule.len() <= 40
                && rule.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        },
    )
}

/// Names of members and values of closed lists in a schema.
fn closed_values(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            for (name, value) in map {
                if name == "properties" {
                    found.extend(value.as_object().into_iter().flat_map(Map::keys).map(|name| fold(name)));
                }
                if matches!(name.as_str(), "enum" | "const") {
                    strings(value, found);
                }
                closed_values(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| closed_values(item, found)),
        _ => {}
    }
}

fn strings(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => found.extend(words(text).into_iter().map(|word| word.folded)),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
