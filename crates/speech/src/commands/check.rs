//! How safe a file of commands is: what sounds alike, and how often something else is taken for a command.
//!
//! Everything is heard as if the wake word had come before: the worst case. Thresholds are chosen on the development half and rates
//! reported on the other half, which had no say in them.

use super::check_altered::{Alteration, altered};
use super::dispatch::{Candidate, Commands, judge, sort};
use super::file::Matching;
use super::language::Language;
use super::other::Sentence;
use super::pattern::Utterance;
use super::text::words;

/// Of how many something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// How often.
    pub hits: u32,
    /// Of how many.
    pub of: u32,
}

impl Count {
    fn add(&mut self, hit: bool) {
        self.hits += u32::from(hit);
        self.of += 1;
    }
}

/// Two phrasings of different commands and how far they are apart.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosePair {
    /// Their language.
    pub language: Language,
    /// One command and its phrasing.
    pub first: (String, String),
    /// The other.
    pub second: (String, String),
    /// 0 for the same sounds.
    pub distance: f64,
}

/// Something that was taken for a command and is none, or another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FalseCommand {
    /// What was said.
    pub text: String,
    /// Its language.
    pub language: Language,
    /// What it was taken for.
    pub id: String,
    /// The kind of the sentence, `deleted` or `replaced`.
    pub kind: String,
}

/// Rates of one half under some thresholds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rates {
    /// Sentences that are no command and were taken for one, by kind.
    pub other: Vec<(String, Count)>,
    /// Commands with a word left out, taken for another command.
    pub deleted: Count,
    /// Commands with a word replaced, taken for another command.
    pub replaced: Count,
    /// Words of ordinary speech alone, taken for a command.
    pub lone: Count,
    /// Commands with misheard letters that were understood.
    pub misheard: Count,
    /// Commands with misheard letters that were taken for another command.
    pub confused: Count,
}

impl Rates {
    /// All sentences that are no command.
    pub fn sentences(&self) -> Count {
        self.other
            .iter()
            .fold(Count::default(), |sum, (_, count)| Count { hits: sum.hits + count.hits, of: sum.of + count.of })
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Thresholds of the file.
    pub in_force: Matching,
    /// What the development half would choose.
    pub chosen: Matching,
    /// Rates of the file's thresholds on the half that chose nothing.
    pub rates: Rates,
    /// Rates of the chosen thresholds on that half.
    pub rates_chosen: Rates,
    /// What was taken for a command on either half under the file's thresholds.
    pub false_commands: Vec<FalseCommand>,
    /// The closest phrasings of different commands, closest first.
    pub closest: Vec<ClosePair>,
    /// Commands that lack a phrasing in a language.
    pub unspoken: Vec<(String, Language)>,
    /// The same words meaning different commands in the two languages.
    pub across: Vec<(String, String, String)>,
}

/// A trial with the candidates that decide it.
struct Trial {
    kind: Kind,
    text: String,
    language: Language,
    development: bool,
    /// Command and value that are meant.
    truth: Option<(usize, Option<String>)>,
    /// The best candidate and the best one of something else.
    candidates: Vec<Candidate>,
}

enum Kind {
    Sentence(String),
    Altered(Alteration),
}

/// Most that the development half may let through: no sentence, and of each kind of altered command one in this many.
const ALTERED_ONE_IN: u32 = 200;

/// Checks commands against sentences that are none; `closest` pairs are told. Deterministic for a seed.
pub fn check(commands: &Commands, other: &[Sentence], closest: usize, seed: u64) -> Check {
    let trials = trials(commands, other, seed);
    let in_force = commands.matching();
    let chosen = choose(&trials);
    Check {
        in_force,
        chosen,
        rates: rates(&trials, &in_force, false),
        rates_chosen: rates(&trials, &chosen, false),
        false_commands: trials.iter().filter_map(|trial| false_command(commands, trial, &in_force)).collect(),
        closest: closest_pairs(commands, closest),
        unspoken: unspoken(commands),
        across: across(commands),
    }
}

/// How many of these sentences, which had no say in anything, are taken for a command, and which: heard as if the
/// wake word had come before.
pub fn taken(commands: &Commands, sentences: &[Sentence]) -> (Count, Vec<FalseCommand>) {
    let matching = commands.matching();
    let found: Vec<FalseCommand> = sentences
        .iter()
        .filter_map(|sentence| false_command(commands, &Trial::of(commands, sentence), &matching))
        .collect();
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    (Count { hits: count(found.len()), of: count(sentences.len()) }, found)
}

fn trials(commands: &Commands, other: &[Sentence], seed: u64) -> Vec<Trial> {
    let sentences = other.iter().map(|sentence| Trial::of(commands, sentence));
    let position = |id: &str| commands.list().iter().position(|command| command.id == id);
    let altered = altered(commands, other, seed).into_iter().filter_map(|altered| {
        let language = altered.language;
        let candidates = decisive(commands, &altered.text, language);
        // What is a command by its words is no alteration of one.
        if candidates.first().is_none_or(|best| best.distance <= 0.0) {
            return None;
        }
        let truth = altered
            .phrase
            .as_ref()
            .and_then(|phrase| Some((position(&phrase.id)?, phrase.slots.values().next().cloned())));
        Some(Trial {
            kind: Kind::Altered(altered.alteration),
            text: altered.text,
            language,
            development: altered.development,
            truth,
            candidates,
        })
    });
    sentences.chain(altered).collect()
}

/// The nearest candidate, and the nearest that means something else.
fn decisive(commands: &Commands, text: &str, language: Language) -> Vec<Candidate> {
    let heard = words(text, language);
    let rest = commands.strip_wake(&heard, language).unwrap_or(&heard);
    if rest.is_empty() {
        return Vec::new();
    }
    let mut candidates = commands.candidates(&Utterance::new(rest, language), language);
    sort(&mut candidates);
    let mut kept: Vec<Candidate> = Vec::new();
    for candidate in candidates {
        match kept.first() {
            None => kept.push(candidate),
            Some(best) if best.command != candidate.command || best.value != candidate.value => {
                kept.push(candidate);
                break;
            }
            Some(_) => {}
        }
    }
    kept
}

impl Trial {
    fn of(commands: &Commands, sentence: &Sentence) -> Self {
        Self {
            kind: Kind::Sentence(sentence.kind.clone()),
            text: sentence.text.clone(),
            language: sentence.language,
            development: sentence.development,
            truth: None,
            candidates: decisive(commands, &sentence.text, sentence.language),
        }
    }

    fn taken_for(&self, matching: &Matching) -> Option<&Candidate> {
        judge(&self.candidates, matching).ok()
    }

    fn is_meant(&self, found: &Candidate) -> bool {
        self.truth.as_ref().is_some_and(|(command, value)| *command == found.command && *value == found.value)
    }
}

fn rates(trials: &[Trial], matching: &Matching, development: bool) -> Rates {
    let mut rates = Rates::default();
    for trial in trials.iter().filter(|trial| trial.development == development) {
        let found = trial.taken_for(matching);
        let another = found.is_some_and(|found| !trial.is_meant(found));
        match &trial.kind {
            Kind::Sentence(kind) => {
                let place = rates.other.iter().position(|(known, _)| known == kind).unwrap_or_else(|| {
                    rates.other.push((kind.clone(), Count::default()));
                    rates.other.len() - 1
                });
                rates.other[place].1.add(another);
            }
            Kind::Altered(Alteration::Deleted) => rates.deleted.add(another),
            Kind::Altered(Alteration::Replaced) => rates.replaced.add(another),
            Kind::Altered(Alteration::Lone) => rates.lone.add(another),
            Kind::Altered(Alteration::Misheard) => {
                rates.misheard.add(found.is_some() && !another);
                rates.confused.add(another);
            }
        }
    }
    rates
}

fn false_command(commands: &Commands, trial: &Trial, matching: &Matching) -> Option<FalseCommand> {
    let found = trial.taken_for(matching).filter(|found| !trial.is_meant(found))?;
    let kind = match &trial.kind {
        Kind::Sentence(kind) => kind.clone(),
        Kind::Altered(Alteration::Deleted) => "deleted".to_owned(),
        Kind::Altered(Alteration::Replaced) => "replaced".to_owned(),
        Kind::Altered(Alteration::Lone) => "word".to_owned(),
        Kind::Altered(Alteration::Misheard) => "misheard".to_owned(),
    };
    let id = commands.list()[found.command].id.clone();
    Some(FalseCommand { text: trial.text.clone(), language: trial.language, id, kind })
}

/// The thresholds under which the development half lets next to nothing through and understands most; of equals
/// the strictest.
fn choose(trials: &[Trial]) -> Matching {
    let steps = |from: u32, to: u32| (from..=to).map(|step| f64::from(step) * 0.04);
    let mut best = (Matching { short: 0.0, medium: 0.0, long: 0.0, margin: 0.12 }, 0);
    for margin in [0.12, 0.08, 0.04] {
        for short in steps(0, 6) {
            for medium in steps(1, 9) {
                for long in steps(2, 10) {
                    // A short phrasing is never trusted more than a long one.
                    if short > medium || medium > long {
                        continue;
                    }
                    let tried = Matching { short, medium, long, margin };
                    let rates = rates(trials, &tried, true);
                    let altered = [rates.deleted, rates.replaced, rates.lone, rates.confused];
                    let safe = rates.sentences().hits == 0
                        && altered.iter().all(|count| count.hits <= count.of / ALTERED_ONE_IN);
                    if safe && rates.misheard.hits > best.1 {
                        best = (tried, rates.misheard.hits);
                    }
                }
            }
        }
    }
    best.0
}

fn closest_pairs(commands: &Commands, most: usize) -> Vec<ClosePair> {
    let patterns = commands.patterns();
    let mut pairs = Vec::new();
    for (index, first) in patterns.iter().enumerate() {
        for second in &patterns[index + 1..] {
            let same_kind = first.slot.map(super::pattern::Slot::key) == second.slot.map(super::pattern::Slot::key);
            if first.language == second.language && first.command != second.command && same_kind {
                pairs.push((first.sounds.distance(&second.sounds), first, second));
            }
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let told = |pattern: &super::pattern::Pattern| (commands.list()[pattern.command].id.clone(), pattern.text.clone());
    let mut seen = Vec::new();
    let fresh = pairs.into_iter().filter(|(_, first, second)| {
        let pair = (first.language, first.command, second.command);
        !seen.contains(&pair) && {
            seen.push(pair);
            true
        }
    });
    fresh
        .take(most)
        .map(|(distance, first, second)| ClosePair {
            language: first.language,
            first: told(first),
            second: told(second),
            distance,
        })
        .collect()
}

fn unspoken(commands: &Commands) -> Vec<(String, Language)> {
    let missing = |language: Language| {
        let silent = commands.list().iter().filter(move |command| command.phrasings(language).is_empty());
        silent.map(move |command| (command.id.clone(), language))
    };
    Language::ALL.into_iter().flat_map(missing).collect()
}

fn across(commands: &Commands) -> Vec<(String, String, String)> {
    let patterns = commands.patterns();
    let mut found = Vec::new();
    for first in patterns.iter().filter(|pattern| pattern.language == Language::En) {
        for second in patterns.iter().filter(|pattern| pattern.language == Language::Fr) {
            if first.command != second.command && first.identity() == second.identity() {
                let id = |command: usize| commands.list()[command].id.clone();
                found.push((first.text.clone(), id(first.command), id(second.command)));
            }
        }
    }
    found
}
