//! From what was heard to a command, or to none: no model is in the loop.
//!
//! Wake word first, then the same words (with accents, then without), then a phrase learned from the user,
//! then what sounds near enough. Two commands that are nearly as near are none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::error::CommandsError;
use super::file::{self, Command, Loaded, Matching};
use super::language::Language;
use super::learned::Learned;
use super::pattern::{Pattern, Slot, Utterance, said};
use super::text::{LONGEST, words};

/// The closed commands of a file, with what the user taught.
#[derive(Debug, Clone)]
pub struct Commands {
    path: PathBuf,
    loaded: Loaded,
    learned: Learned,
}

/// What a slot holds: `number` in digits, `name` as the file spells it.
pub type Slots = BTreeMap<String, String>;

/// What an utterance is taken for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Dispatch {
    /// A command.
    Command {
        /// Its id.
        id: String,
        /// What its slot holds.
        slots: Slots,
        /// 0 for the same words, up to the threshold for near ones.
        distance: f64,
        /// How it was recognised.
        how: How,
        /// The phrasing.
        phrasing: String,
    },
    /// None of them.
    None {
        /// Why.
        why: Why,
        /// The nearest ones, at most three.
        nearest: Vec<Near>,
    },
}

impl Dispatch {
    /// The command's id, when it is one.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Command { id, .. } => Some(id),
            Self::None { .. } => None,
        }
    }

    /// Whether both are the same command with the same slots.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Command { id, slots, .. }, Self::Command { id: other, slots: others, .. }) => {
                id == other && slots == others
            }
            _ => false,
        }
    }
}

/// How a command was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// The same words.
    Exact,
    /// The same words but for accents.
    Folded,
    /// A phrase that the user taught.
    Learned,
    /// It sounds near enough.
    Near,
}

/// Why an utterance is no command.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Why {
    /// Nothing was said.
    Empty,
    /// It does not begin with the wake word.
    NoWakeWord,
    /// Nothing follows the wake word.
    OnlyWakeWord,
    /// No command has so many words.
    TooLong,
    /// Nothing is near enough.
    Far,
    /// Two commands are nearly as near.
    Ambiguous {
        /// The nearest.
        first: String,
        /// The other one.
        second: String,
    },
}

impl std::fmt::Display for Why {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => formatter.write_str("nothing was said"),
            Self::NoWakeWord => formatter.write_str("it does not begin with the wake word"),
            Self::OnlyWakeWord => formatter.write_str("nothing follows the wake word"),
            Self::TooLong => formatter.write_str("it is longer than any command"),
            Self::Far => formatter.write_str("no command is near enough"),
            Self::Ambiguous { first, second } => write!(formatter, "{first} and {second} are nearly as near"),
        }
    }
}

/// A command near an utterance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Near {
    /// Its id.
    pub id: String,
    /// The phrasing.
    pub phrasing: String,
    /// What its slot would hold.
    pub slots: Slots,
    /// 0 for the same words, 1 for nothing in common.
    pub distance: f64,
    /// The distance it may have at most.
    pub threshold: f64,
}

/// A phrasing as it is said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phrase {
    /// The command.
    pub id: String,
    /// Its language.
    pub language: Language,
    /// Without the wake word, its slot filled with words.
    pub text: String,
    /// What its slot holds.
    pub slots: Slots,
    /// Whether this is the usual way to say it.
    pub usual: bool,
}

/// One way to understand an utterance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) pattern: usize,
    pub(crate) command: usize,
    pub(crate) value: Option<String>,
    pub(crate) distance: f64,
    pub(crate) exact: bool,
    pub(crate) length: usize,
}

/// How many near commands are told.
const NEAREST: usize = 3;

impl Commands {
    /// Reads and validates a file.
    pub fn load(path: &Path) -> Result<Self, CommandsError> {
        Self::parse(path, &file::read(path)?)
    }

    /// Validates the text of a file.
    pub fn parse(path: &Path, text: &str) -> Result<Self, CommandsError> {
        Ok(Self { path: path.to_owned(), loaded: file::load(path, text)?, learned: Learned::default() })
    }

    /// With the phrases that the user taught.
    pub fn with_learned(self, learned: Learned) -> Self {
        Self { learned, ..self }
    }

    /// The same with other thresholds.
    pub fn with_matching(mut self, matching: Matching) -> Self {
        self.loaded.matching = matching;
        self
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The commands, in the order of the file.
    pub fn list(&self) -> &[Command] {
        &self.loaded.commands
    }

    /// A command by its id.
    pub fn get(&self, id: &str) -> Option<&Command> {
        self.loaded.commands.iter().find(|command| command.id == id)
    }

    /// The thresholds in force.
    pub fn matching(&self) -> Matching {
        self.loaded.matching
    }

    /// The wake word as it is written.
    pub fn wake_word(&self) -> &str {
        self.loaded.wake.word()
    }

    /// What the user taught.
    pub fn learned(&self) -> &Learned {
        &self.learned
    }

    /// What an utterance that must begin with the wake word is taken for. `language` is a tag such as `fr`;
    /// with another one, or none, the commands of every language are possible.
    pub fn dispatch(&self, text: &str, language: &str) -> Dispatch {
        self.decide(text, language, false)
    }

    /// The same when the wake word was heard before: it may be repeated, and need not be.
    pub fn dispatch_heard(&self, text: &str, language: &str) -> Dispatch {
        self.decide(text, language, true)
    }

    /// Every phrasing as it is said, without the wake word, slots filled with values that differ from phrasing
    /// to phrasing.
    pub fn phrases(&self) -> Vec<Phrase> {
        let mut seen = BTreeSet::new();
        let phrase = |(index, pattern): (usize, &Pattern)| {
            let command = &self.loaded.commands[pattern.command];
            let usual = seen.insert((pattern.command, pattern.language));
            let (value, text) = self.example(index, pattern);
            let slots = slots(pattern, value.as_deref());
            Phrase { id: command.id.clone(), language: pattern.language, text, slots, usual }
        };
        self.loaded.patterns.iter().enumerate().map(phrase).collect()
    }

    /// A phrase as it is said in full: the wake word first.
    pub fn spoken(&self, phrase: &Phrase) -> String {
        format!("{}, {}", self.wake_word(), phrase.text)
    }

    /// A value for the slot and the text with it.
    fn example(&self, index: usize, pattern: &Pattern) -> (Option<String>, String) {
        let Some(slot) = pattern.slot else { return (None, pattern.text.clone()) };
        if slot == Slot::Name {
            let names: Vec<&str> = self.names(pattern.language).collect();
            let name = names.get(index % names.len().max(1)).copied().unwrap_or_default();
            return (Some(name.to_owned()), pattern.filled(name));
        }
        // 7 is prime to 20: the values go round.
        let value = 1 + u32::try_from(index * 7 % 20).unwrap_or_default();
        (Some(value.to_string()), pattern.filled(&said(slot, value, pattern.language)))
    }

    fn names(&self, language: Language) -> impl Iterator<Item = &str> {
        self.loaded.names.iter().filter(move |name| name.language == language).map(|name| name.value.as_str())
    }

    fn decide(&self, text: &str, language: &str, heard: bool) -> Dispatch {
        let none = |why| Dispatch::None { why, nearest: Vec::new() };
        if text.len() > LONGEST {
            return none(Why::TooLong);
        }
        let mut found = Found::default();
        for language in Language::parse(language).map_or(Language::ALL.to_vec(), |language| vec![language]) {
            let all = words(text, language);
            let stripped = self.loaded.wake.strip(&all, language);
            found.said |= !all.is_empty();
            found.woken |= stripped.is_some();
            let rest = match stripped {
                Some(rest) => rest,
                None if heard => &all,
                None => continue,
            };
            if rest.is_empty() {
                continue;
            }
            let utterance = Utterance::new(rest, language);
            if let Some(learned) = self.learned.find(&utterance.words.join(" "), language) {
                found.learned = found.learned.or(Some(learned));
            }
            found.candidates.extend(self.candidates(&utterance, language));
        }
        if !found.said {
            return none(Why::Empty);
        }
        if !found.woken && !heard {
            return none(Why::NoWakeWord);
        }
        if found.candidates.is_empty() && found.learned.is_none() {
            return none(if found.woken { Why::OnlyWakeWord } else { Why::Far });
        }
        self.choose(found)
    }

    fn choose(&self, mut found: Found<'_>) -> Dispatch {
        sort(&mut found.candidates);
        let same = found.candidates.first().is_some_and(|best| best.distance <= 0.0);
        if let (false, Some(learned)) = (same, found.learned)
            && self.get(&learned.id).is_some()
        {
            return Dispatch::Command {
                id: learned.id.clone(),
                slots: learned.slots.clone(),
                distance: 0.0,
                how: How::Learned,
                phrasing: learned.heard.clone(),
            };
        }
        match judge(&found.candidates, &self.loaded.matching) {
            Ok(best) => {
                let near = self.near(best);
                let how = match (best.distance <= 0.0, best.exact) {
                    (true, true) => How::Exact,
                    (true, false) => How::Folded,
                    (false, _) => How::Near,
                };
                Dispatch::Command {
                    id: near.id,
                    slots: near.slots,
                    distance: near.distance,
                    how,
                    phrasing: near.phrasing,
                }
            }
            Err(rival) => {
                let nearest: Vec<Near> = distinct(&found.candidates).take(NEAREST).map(|c| self.near(c)).collect();
                let why = match (rival, nearest.first()) {
                    (Some(rival), Some(first)) => {
                        let told = |near: &Near| near.phrasing.clone();
                        Why::Ambiguous { first: told(first), second: told(&self.near(rival)) }
                    }
                    _ => Why::Far,
                };
                Dispatch::None { why, nearest }
            }
        }
    }

    fn near(&self, candidate: &Candidate) -> Near {
        let pattern = &self.loaded.patterns[candidate.pattern];
        Near {
            id: self.loaded.commands[candidate.command].id.clone(),
            phrasing: pattern.filled(candidate.value.as_deref().unwrap_or_default()),
            slots: slots(pattern, candidate.value.as_deref()),
            distance: candidate.distance,
            threshold: self.loaded.matching.threshold(candidate.length),
        }
    }

    /// Every phrasing of a language that an utterance without wake word can be compared with.
    pub(crate) fn candidates(&self, utterance: &Utterance, language: Language) -> Vec<Candidate> {
        let of_language = |(_, pattern): &(usize, &Pattern)| pattern.language == language;
        let compared = |(index, pattern): (usize, &Pattern)| {
            let found = pattern.compare(utterance, &self.loaded.names)?;
            Some(Candidate {
                pattern: index,
                command: pattern.command,
                value: found.value,
                distance: found.distance,
                exact: found.exact,
                length: found.length,
            })
        };
        self.loaded.patterns.iter().enumerate().filter(of_language).filter_map(compared).collect()
    }

    /// What comes after the wake word.
    pub(crate) fn strip_wake<'a>(&self, words: &'a [String], language: Language) -> Option<&'a [String]> {
        self.loaded.wake.strip(words, language)
    }

    pub(crate) fn patterns(&self) -> &[Pattern] {
        &self.loaded.patterns
    }
}

#[derive(Default)]
struct Found<'a> {
    said: bool,
    woken: bool,
    learned: Option<&'a super::learned::LearnedPhrase>,
    candidates: Vec<Candidate>,
}

fn slots(pattern: &Pattern, value: Option<&str>) -> Slots {
    pattern.slot.zip(value).map(|(slot, value)| (slot.key().to_owned(), value.to_owned())).into_iter().collect()
}

/// Nearest first; of equals the exact one, then the order of the file.
pub(crate) fn sort(candidates: &mut [Candidate]) {
    candidates
        .sort_by(|a, b| a.distance.total_cmp(&b.distance).then(b.exact.cmp(&a.exact)).then(a.pattern.cmp(&b.pattern)));
}

/// The best way to understand each command and value, nearest first.
fn distinct(sorted: &[Candidate]) -> impl Iterator<Item = &Candidate> {
    let first = |(index, candidate): &(usize, &Candidate)| {
        !sorted[..*index].iter().any(|before| before.command == candidate.command && before.value == candidate.value)
    };
    sorted.iter().enumerate().filter(first).map(|(_, candidate)| candidate)
}

/// The command, or none; then the one that is nearly as near, where that is why.
pub(crate) fn judge<'a>(sorted: &'a [Candidate], matching: &Matching) -> Result<&'a Candidate, Option<&'a Candidate>> {
    let best = sorted.first().ok_or(None)?;
    if best.distance <= 0.0 {
        return Ok(best);
    }
    // A long phrasing may be allowed a distance that a shorter and slightly nearer one is not.
    if best.distance > matching.threshold(best.length) {
        return Err(None);
    }
    let other = |candidate: &&Candidate| candidate.command != best.command || candidate.value != best.value;
    match sorted.iter().find(other).filter(|rival| rival.distance - best.distance < matching.margin) {
        Some(rival) => Err(Some(rival)),
        None => Ok(best),
    }
}
