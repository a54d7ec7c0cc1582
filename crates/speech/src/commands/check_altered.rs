//! Utterances that are almost a command: a word left out, a word replaced, and letters misheard.

use super::dispatch::{Commands, Phrase};
use super::language::Language;
use super::other::Sentence;
use super::text::words;

/// What was done to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alteration {
    /// One word is missing.
    Deleted,
    /// One word is another one.
    Replaced,
    /// A letter or two are misheard: still the command.
    Misheard,
    /// A word of ordinary speech alone: no command.
    Lone,
}

/// An altered command.
#[derive(Debug, Clone)]
pub(crate) struct Altered {
    pub(crate) alteration: Alteration,
    /// What it was made from; `None` for a word alone.
    pub(crate) phrase: Option<Phrase>,
    pub(crate) language: Language,
    pub(crate) text: String,
    pub(crate) development: bool,
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        ((u128::from(word) * end.max(1) as u128) >> 64) as usize
    }
}

/// Replacements a word, and mishearings a phrasing.
const REPLACEMENTS: usize = 2;
const MISHEARINGS: usize = 3;

/// All alterations of all phrasings, the same for the same seed. Words come from the sentences that are no command.
pub(crate) fn altered(commands: &Commands, other: &[Sentence], seed: u64) -> Vec<Altered> {
    let mut random = Random(seed);
    let mut all = Vec::new();
    for language in Language::ALL {
        let mut vocabulary: Vec<String> = other
            .iter()
            .filter(|sentence| sentence.language == language)
            .flat_map(|sentence| words(&sentence.text, language))
            .collect();
        vocabulary.sort();
        vocabulary.dedup();
        all.extend(vocabulary.iter().enumerate().map(|(index, word)| Altered {
            alteration: Alteration::Lone,
            phrase: None,
            language,
            text: word.clone(),
            development: index % 2 == 0,
        }));
        let phrases = commands.phrases().into_iter().filter(|phrase| phrase.language == language);
        for (index, phrase) in phrases.enumerate() {
            let mut add = |alteration, text: String| {
                let development = index % 2 == 0;
                all.push(Altered { alteration, phrase: Some(phrase.clone()), language, text, development });
            };
            let spoken = words(&phrase.text, language);
            for place in 0..spoken.len() {
                if spoken.len() > 1 {
                    let rest = spoken.iter().enumerate().filter(|(at, _)| *at != place);
                    add(Alteration::Deleted, join(rest.map(|(_, word)| word.as_str())));
                }
                for _ in 0..REPLACEMENTS.min(vocabulary.len()) {
                    let other = vocabulary[random.below(vocabulary.len())].as_str();
                    let replaced = spoken.iter().enumerate().map(|(at, word)| if at == place { other } else { word });
                    add(Alteration::Replaced, join(replaced));
                }
            }
            for _ in 0..MISHEARINGS {
                if let Some(text) = misheard(&spoken, &mut random) {
                    add(Alteration::Misheard, text);
                }
            }
        }
    }
    all
}

fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

/// One letter of a word of four or more changed, two where the phrasing is long; `None` without such a word.
fn misheard(spoken: &[String], random: &mut Random) -> Option<String> {
    let long: Vec<usize> = (0..spoken.len()).filter(|at| spoken[*at].chars().count() >= 4).collect();
    if long.is_empty() {
        return None;
    }
    let mut spoken = spoken.to_vec();
    let letters: usize = spoken.iter().map(|word| word.chars().count()).sum();
    for _ in 0..=usize::from(letters >= 9) {
        let at = long[random.below(long.len())];
        let mut word: Vec<char> = spoken[at].chars().collect();
        let place = random.below(word.len());
        match (random.below(4), alike(word[place])) {
            (0, _) if place > 0 && word.len() > 3 => {
                word.remove(place);
            }
            (1, _) => word.push('s'),
            (_, Some(other)) => word[place] = other,
            (_, None) => word.insert(place, word[place]),
        }
        spoken[at] = word.into_iter().collect();
    }
    Some(spoken.join(" "))
}

/// The letter that it is taken for most.
fn alike(letter: char) -> Option<char> {
    const PAIRS: [(char, char); 9] =
        [('b', 'p'), ('d', 't'), ('g', 'k'), ('v', 'f'), ('z', 's'), ('m', 'n'), ('e', 'i'), ('o', 'a'), ('l', 'r')];
    PAIRS.iter().find_map(|(a, b)| match letter {
        letter if letter == *a => Some(*b),
        letter if letter == *b => Some(*a),
        _ => None,
    })
}
