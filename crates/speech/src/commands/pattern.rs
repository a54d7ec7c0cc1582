//! A phrasing, compiled: fixed words, and at most one slot at the end.

use super::language::Language;
use super::numbers::{self, number};
use super::phonetic::Sounds;
use super::text::{canonical, fold, words};

/// What stands at the end of a phrasing and differs from time to time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// `{number}`: 1 to 99, in words or digits.
    Number,
    /// `{ordinal}`: first to thirty-first.
    Ordinal,
    /// `{name}`: one of the file's names.
    Name,
}

impl Slot {
    const ALL: [Self; 3] = [Self::Number, Self::Ordinal, Self::Name];

    /// Its name in braces.
    pub(crate) fn marker(self) -> &'static str {
        match self {
            Self::Number => "{number}",
            Self::Ordinal => "{ordinal}",
            Self::Name => "{name}",
        }
    }

    /// Under which name its value is given: an ordinal is a number too.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Number | Self::Ordinal => "number",
            Self::Name => "name",
        }
    }

    fn most(self) -> u32 {
        if self == Self::Ordinal { 31 } else { 99 }
    }
}

/// A phrasing of a command in one language.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    /// The command's place in the list.
    pub(crate) command: usize,
    pub(crate) language: Language,
    /// As the file has it.
    pub(crate) text: String,
    pub(crate) slot: Option<Slot>,
    /// The fixed words as they are.
    plain: Vec<String>,
    /// The fixed words without fillers and articles.
    words: Vec<String>,
    folded: Vec<String>,
    pub(crate) sounds: Sounds,
}

/// How the fixed words and the slot of a pattern compare with an utterance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Compared {
    pub(crate) distance: f64,
    /// What stands in the slot.
    pub(crate) value: Option<String>,
    /// The same words, with the same accents.
    pub(crate) exact: bool,
    /// The length that thresholds go by, in sounds.
    pub(crate) length: usize,
}

/// A number in its place is evidence too: it counts as so many sounds that fit.
const SLOT_SOUNDS: usize = 3;
/// A number in another word's spelling is a little doubtful.
const HOMOPHONE: f64 = 0.05;

impl Pattern {
    /// Compiles a phrasing; the error is a fragment that says what is wrong with it.
    pub(crate) fn new(command: usize, language: Language, text: &str) -> Result<Self, String> {
        let (fixed, slot) = split(text)?;
        let plain = words(fixed, language);
        if plain.is_empty() {
            return Err(format!("\"{text}\" has no word of its own"));
        }
        let bare = canonical(&plain, language);
        let folded = bare.iter().map(|word| fold(word)).collect();
        let sounds = Sounds::of(&bare, language);
        if sounds.len() == 0 {
            return Err(format!("\"{text}\" has no sound"));
        }
        Ok(Self { command, language, text: text.to_owned(), slot, plain, words: bare, folded, sounds })
    }

    /// The text with its slot filled.
    pub(crate) fn filled(&self, value: &str) -> String {
        self.slot.map_or_else(|| self.text.clone(), |slot| self.text.replace(slot.marker(), value))
    }

    /// What cannot be told apart in one language: the fixed words without accents, and the kind of the slot.
    pub(crate) fn identity(&self) -> (String, Option<&'static str>) {
        (self.folded.join(" "), self.slot.map(Slot::key))
    }

    /// The way an utterance fits best; `None` where the slot is not filled.
    pub(crate) fn compare(&self, utterance: &Utterance, names: &[Name]) -> Option<Compared> {
        match self.slot {
            None => Some(self.fixed(utterance, utterance.words.len(), utterance.plain == self.plain)),
            Some(Slot::Name) => self.named(utterance, names),
            Some(slot) => {
                let (at, value, homophone) = utterance.number(slot)?;
                let mut found = self.fixed(utterance, at, true);
                found.value = Some(value.to_string());
                found.length += SLOT_SOUNDS;
                if homophone {
                    found.distance = (found.distance + HOMOPHONE).min(1.0);
                    found.exact = false;
                }
                Some(found)
            }
        }
    }

    /// The fixed words against the first `end` words.
    fn fixed(&self, utterance: &Utterance, end: usize, plain: bool) -> Compared {
        let (words, folded) = (&utterance.words[..end], &utterance.folded[..end]);
        let same = folded == self.folded.as_slice();
        let distance = if same { 0.0 } else { self.sounds.distance(&utterance.heads[end]) };
        let exact = same && (words == self.words.as_slice() || plain && self.slot.is_none());
        Compared { distance, value: None, exact, length: self.sounds.len() }
    }

    fn named(&self, utterance: &Utterance, names: &[Name]) -> Option<Compared> {
        let splits = 1..utterance.words.len();
        let found = splits.flat_map(|at| {
            let before = self.fixed(utterance, at, true);
            let rest = &utterance.tails[at];
            names.iter().filter(|name| name.language == self.language).map(move |name| {
                let same = utterance.folded[at..].concat() == name.folded;
                let distance = if same { 0.0 } else { name.sounds.distance(rest) };
                Compared {
                    distance: before.distance.max(distance),
                    value: Some(name.value.clone()),
                    exact: before.exact && same,
                    length: before.length + name.sounds.len().min(SLOT_SOUNDS),
                }
            })
        });
        found.min_by(|a, b| a.distance.total_cmp(&b.distance))
    }
}

fn split(text: &str) -> Result<(&str, Option<Slot>), String> {
    let (Some(open), count) = (text.find('{'), text.matches('{').count()) else {
        return if text.contains('}') { Err(format!("\"{text}\" has a brace too many")) } else { Ok((text, None)) };
    };
    if count > 1 {
        return Err(format!("\"{text}\" has {count} slots; one is the most"));
    }
    let marker = text[open..].trim_end();
    let slot = Slot::ALL.into_iter().find(|slot| slot.marker() == marker);
    let Some(slot) = slot else {
        return Err(format!("\"{text}\": a slot is {{number}}, {{ordinal}} or {{name}}, and stands at the end"));
    };
    Ok((&text[..open], Some(slot)))
}

/// A name that a slot can hold, as one language hears it.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) value: String,
    pub(crate) language: Language,
    folded: String,
    sounds: Sounds,
}

impl Name {
    pub(crate) fn new(value: &str, language: Language) -> Self {
        let heard = words(value, language);
        let folded = heard.iter().map(|word| fold(word)).collect();
        Self { value: value.to_owned(), language, folded, sounds: Sounds::of(&heard, language) }
    }
}

/// An utterance without the wake word, made ready once for all patterns of a language.
#[derive(Debug, Clone)]
pub(crate) struct Utterance {
    language: Language,
    plain: Vec<String>,
    pub(crate) words: Vec<String>,
    folded: Vec<String>,
    /// The sounds of the first 0, 1, 2 … words.
    heads: Vec<Sounds>,
    /// The sounds of the words from 0, 1, 2 … on.
    tails: Vec<Sounds>,
}

impl Utterance {
    pub(crate) fn new(plain: &[String], language: Language) -> Self {
        let words = canonical(plain, language);
        let ends = 0..=words.len();
        Self {
            language,
            plain: plain.to_vec(),
            folded: words.iter().map(|word| fold(word)).collect(),
            heads: ends.clone().map(|end| Sounds::of(&words[..end], language)).collect(),
            tails: ends.map(|at| Sounds::of(&words[at..], language)).collect(),
            words,
        }
    }

    /// Where the number begins that the utterance ends with, and its value.
    fn number(&self, slot: Slot) -> Option<(usize, u32, bool)> {
        (1..self.words.len()).find_map(|at| {
            let found = number(&self.words[at..], self.language)?;
            let whole = at + found.words == self.words.len();
            let kind = found.ordinal == (slot == Slot::Ordinal);
            let inside = (1..=slot.most()).contains(&found.value);
            (whole && kind && inside).then_some((at, found.value, found.homophone))
        })
    }
}

/// A value of a slot as it is said.
pub(crate) fn said(slot: Slot, value: u32, language: Language) -> String {
    numbers::spoken(value, slot == Slot::Ordinal, language)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(pattern: &str, text: &str, language: Language) -> Option<Compared> {
        let names: Vec<Name> = ["Bruno", "Hugo"].iter().map(|name| Name::new(name, language)).collect();
        let pattern = Pattern::new(0, language, pattern).unwrap();
        pattern.compare(&Utterance::new(&words(text, language), language), &names)
    }

    #[test]
    fn a_slot_takes_words_digits_and_ordinals() {
        let value = |pattern, text, language| compare(pattern, text, language).and_then(|found| found.value);
        assert_eq!(value("read {number}", "Read number twenty-one.", Language::En).as_deref(), Some("21"));
        assert_eq!(value("lis {number}", "lis le 3", Language::Fr).as_deref(), Some("3"));
        assert_eq!(value("lis le {ordinal}", "Lis le 3e !", Language::Fr).as_deref(), Some("3"));
        assert_eq!(value("read {number}", "read", Language::En), None);
        assert_eq!(value("read {number}", "read 3 more", Language::En), None);
        assert_eq!(value("read {number}", "read 100", Language::En), None);
        assert_eq!(value("call {name}", "call brunot", Language::En).as_deref(), Some("Bruno"));
    }

    #[test]
    fn a_homophone_is_possible_and_not_exact() {
        let found = compare("read {number}", "read to", Language::En).unwrap();
        assert!(!found.exact && found.distance > 0.0 && found.value.as_deref() == Some("2"));
    }

    #[test]
    fn a_phrasing_with_a_mistake_is_refused_by_name() {
        for (text, part) in [
            ("{number}", "no word"),
            ("read {line}", "{number}, {ordinal} or {name}"),
            ("{number} read", "at the end"),
            ("read {number} {name}", "2 slots"),
            ("read }", "brace"),
            ("…", "no word"),
        ] {
            let error = Pattern::new(0, Language::En, text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
