//! How a word sounds, as a short key, and how far two utterances are apart.
//!
//! A key has one symbol a sound that speech to text keeps apart: lower-case consonants, `S` (sh, ch in French),
//! `C` (ch in English), `N` (gn), `T` (th); vowels `a e i o u`, and the French nasals `A` (an) `I` (in) `O` (on).
//! It is made by spelling rules of each language, no dictionary: a wrong key costs a little distance on both
//! sides alike, since both are made by the same rules.

use super::language::Language;
use super::text::fold;

/// The key of some words; they are taken apart from each other.
pub fn key<S: AsRef<str>>(words: &[S], language: Language) -> String {
    words.iter().map(|word| word_key(word.as_ref(), language)).collect()
}

/// The key of a word.
pub(super) fn word_key(word: &str, language: Language) -> String {
    let sounds = match language {
        Language::En => english(&fold(word)),
        Language::Fr => french(word),
    };
    let mut key = String::with_capacity(sounds.len());
    for sound in sounds.chars() {
        if !key.ends_with(sound) {
            key.push(sound);
        }
    }
    key
}

/// A spelling at a place of the word, the sound for it.
struct Rule {
    letters: &'static str,
    sound: &'static str,
    place: Place,
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Anywhere,
    Start,
    End,
    /// Before `e`, `i` or `y`.
    Soft,
    /// Not before a vowel.
    Closed,
    /// Between two vowels.
    Between,
}

const fn rule(letters: &'static str, sound: &'static str, place: Place) -> Rule {
    Rule { letters, sound, place }
}

use Place::{Anywhere, Between, Closed, End, Soft, Start};

/// First match wins: longer spellings before shorter ones.
const ENGLISH: &[Rule] = &[
    rule("eigh", "e", Anywhere),
    rule("augh", "o", Anywhere),
    rule("ough", "o", Anywhere),
    rule("tion", "Sn", Anywhere),
    rule("sion", "Sn", Anywhere),
    rule("ture", "Cr", End),
    rule("igh", "i", Anywhere),
    rule("tch", "C", Anywhere),
    rule("sch", "sk", Anywhere),
    rule("dge", "j", Anywhere),
    rule("ing", "in", End),
    rule("kn", "n", Start),
    rule("wr", "r", Start),
    rule("ps", "s", Start),
    rule("wh", "w", Anywhere),
    rule("ph", "f", Anywhere),
    rule("th", "T", Anywhere),
    rule("sh", "S", Anywhere),
    rule("ch", "C", Anywhere),
    rule("gh", "", Anywhere),
    rule("ck", "k", Anywhere),
    rule("qu", "kw", Anywhere),
    rule("mb", "m", End),
    rule("es", "s", End),
    rule("ed", "d", End),
    rule("le", "l", End),
    rule("ee", "i", Anywhere),
    rule("ea", "i", Anywhere),
    rule("ie", "i", Anywhere),
    rule("ey", "i", End),
    rule("oo", "u", Anywhere),
    rule("ou", "u", Anywhere),
    rule("ow", "o", Anywhere),
    rule("oa", "o", Anywhere),
    rule("au", "o", Anywhere),
    rule("aw", "o", Anywhere),
    rule("ai", "e", Anywhere),
    rule("ay", "e", Anywhere),
    rule("ew", "u", Anywhere),
    rule("ue", "u", Anywhere),
    rule("er", "r", Anywhere),
    rule("or", "or", Anywhere),
    rule("e", "", End),
    rule("c", "s", Soft),
    rule("c", "k", Anywhere),
    rule("g", "j", Soft),
    rule("q", "k", Anywhere),
    rule("x", "ks", Anywhere),
    rule("y", "y", Start),
    rule("y", "i", Anywhere),
    rule("h", "h", Start),
    rule("h", "", Anywhere),
];

const FRENCH: &[Rule] = &[
    rule("eaux", "o", End),
    rule("aient", "e", End),
    rule("ements", "mA", End),
    rule("ement", "mA", End),
    rule("tion", "sjO", Anywhere),
    rule("eau", "o", Anywhere),
    rule("oin", "wI", Closed),
    rule("ain", "I", Closed),
    rule("ein", "I", Closed),
    rule("ien", "jI", Closed),
    rule("oeu", "e", Anywhere),
    rule("eil", "ej", Anywhere),
    rule("ail", "aj", Anywhere),
    rule("ill", "ij", Anywhere),
    rule("ent", "A", End),
    rule("ents", "A", End),
    rule("ez", "e", End),
    rule("er", "e", End),
    rule("et", "e", End),
    rule("ets", "e", End),
    rule("es", "", End),
    rule("oi", "wa", Anywhere),
    rule("oy", "waj", Anywhere),
    rule("ou", "u", Anywhere),
    rule("au", "o", Anywhere),
    rule("ai", "e", Anywhere),
    rule("ei", "e", Anywhere),
    rule("eu", "e", Anywhere),
    rule("an", "A", Closed),
    rule("am", "A", Closed),
    rule("en", "A", Closed),
    rule("em", "A", Closed),
    rule("on", "O", Closed),
    rule("om", "O", Closed),
    rule("in", "I", Closed),
    rule("im", "I", Closed),
    rule("un", "I", Closed),
    rule("yn", "I", Closed),
    rule("ch", "S", Anywhere),
    rule("ph", "f", Anywhere),
    rule("gn", "N", Anywhere),
    rule("qu", "k", Anywhere),
    rule("gu", "g", Soft),
    rule("ge", "j", Anywhere),
    rule("th", "t", Anywhere),
    rule("é", "e", Anywhere),
    rule("è", "e", Anywhere),
    rule("ê", "e", Anywhere),
    rule("ë", "e", Anywhere),
    rule("ç", "s", Anywhere),
    rule("e", "", End),
    rule("x", "", End),
    rule("s", "", End),
    rule("t", "", End),
    rule("d", "", End),
    rule("p", "", End),
    rule("z", "", End),
    rule("s", "z", Between),
    rule("c", "s", Soft),
    rule("c", "k", Anywhere),
    rule("g", "j", Soft),
    rule("q", "k", Anywhere),
    rule("x", "ks", Anywhere),
    rule("y", "i", Anywhere),
    rule("h", "", Anywhere),
];

fn is_vowel(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y' | 'é' | 'è' | 'ê' | 'ë')
}

fn english(word: &str) -> String {
    apply(ENGLISH, word)
}

fn french(word: &str) -> String {
    // The accents that change the sound stay.
    let kept: String = word
        .chars()
        .flat_map(|c| {
            if matches!(c, 'é' | 'è' | 'ê' | 'ë' | 'ç') { c.to_string() } else { fold(&c.to_string()) }
                .chars()
                .collect::<Vec<_>>()
        })
        .collect();
    apply(FRENCH, &kept)
}

fn apply(rules: &[Rule], word: &str) -> String {
    let mut sounds = String::new();
    let mut rest = word;
    let mut before: Option<char> = None;
    while let Some(letter) = rest.chars().next() {
        let found = rules.iter().find(|rule| rest.starts_with(rule.letters) && fits(rule, word, rest, before));
        let taken = if let Some(rule) = found {
            sounds.push_str(rule.sound);
            rule.letters
        } else {
            sounds.push(letter);
            &rest[..letter.len_utf8()]
        };
        before = taken.chars().next_back();
        rest = &rest[taken.len()..];
    }
    sounds
}

fn fits(rule: &Rule, word: &str, rest: &str, before: Option<char>) -> bool {
    let next = rest[rule.letters.len()..].chars().next();
    match rule.place {
        Anywhere => true,
        Start => rest.len() == word.len(),
        // A word is more than its ending.
        End => next.is_none() && word.chars().count() > rule.letters.chars().count() + 1,
        Soft => next.is_some_and(|c| matches!(c, 'e' | 'i' | 'y' | 'é' | 'è' | 'ê')),
        Closed => next.is_none_or(|c| !is_vowel(c) && c != 'n' && c != 'm'),
        Between => before.is_some_and(is_vowel) && next.is_some_and(is_vowel),
    }
}

/// Sounds that are taken for each other cost half.
fn substitution(a: u8, b: u8) -> f64 {
    const ALIKE: [&[u8]; 9] = [b"bp", b"dtT", b"gk", b"fvT", b"szT", b"SjC", b"mnN", b"aAoO", b"eiI"];
    if a == b {
        0.0
    } else if ALIKE.iter().any(|group| group.contains(&a) && group.contains(&b)) {
        0.4
    } else if is_sounded(a) && is_sounded(b) {
        0.6
    } else {
        1.0
    }
}

fn is_sounded(sound: u8) -> bool {
    matches!(sound, b'a' | b'e' | b'i' | b'o' | b'u' | b'A' | b'I' | b'O')
}

/// A vowel more or less is heard less than a consonant.
fn gap(sound: u8) -> f64 {
    if is_sounded(sound) { 0.6 } else { 1.0 }
}

/// The cheapest way from one key to the other, as a part of the longer one: 0 sounds the same, 1 shares nothing.
pub fn sound_distance(a: &str, b: &str) -> f64 {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut previous: Vec<f64> = std::iter::once(0.0)
        .chain(b.iter().scan(0.0, |sum, sound| {
            *sum += gap(*sound);
            Some(*sum)
        }))
        .collect();
    let mut current = previous.clone();
    for sound in a {
        current[0] = previous[0] + gap(*sound);
        for (j, other) in b.iter().enumerate() {
            let moved = (previous[j] + substitution(*sound, *other)).min(previous[j + 1] + gap(*sound));
            current[j + 1] = moved.min(current[j] + gap(*other));
        }
        std::mem::swap(&mut previous, &mut current);
    }
    let longest = weight(a).max(weight(b));
    if longest <= 0.0 { 0.0 } else { (previous[b.len()] / longest).min(1.0) }
}

fn weight(key: &[u8]) -> f64 {
    key.iter().map(|sound| gap(*sound)).sum()
}

/// Some words and how they sound, ready to be compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sounds {
    /// Without accents.
    words: Vec<String>,
    keys: Vec<String>,
    letters: String,
    key: String,
}

impl Sounds {
    pub(crate) fn of(words: &[String], language: Language) -> Self {
        let keys: Vec<String> = words.iter().map(|word| word_key(word, language)).collect();
        let words: Vec<String> = words.iter().map(|word| fold(word)).collect();
        Self { letters: words.concat(), key: keys.concat(), words, keys }
    }

    /// How many sounds there are.
    pub(crate) fn len(&self) -> usize {
        self.key.len()
    }

    /// Half letters, half sounds. Where the number of words is the same, no word may be quite another one:
    /// "volume up" is not "volume down" said badly.
    pub(crate) fn distance(&self, other: &Self) -> f64 {
        let whole = pair(&self.letters, &self.key, &other.letters, &other.key);
        if self.words.len() != other.words.len() || self.words.len() < 2 {
            return whole;
        }
        let parts = self.words.iter().zip(&self.keys).zip(other.words.iter().zip(&other.keys));
        let worst = parts.map(|((word, key), (other, other_key))| pair(word, key, other, other_key));
        if worst.fold(0.0, f64::max) > ANOTHER_WORD { whole.max(ANOTHER_WORD) } else { whole }
    }
}

/// From here on two words are different words.
const ANOTHER_WORD: f64 = 0.5;

fn pair(letters: &str, key: &str, other_letters: &str, other_key: &str) -> f64 {
    let longest = letters.chars().count().max(other_letters.chars().count());
    if longest == 0 {
        return 0.0;
    }
    let edits = strsim::osa_distance(letters, other_letters) as f64 / longest as f64;
    f64::midpoint(edits, sound_distance(key, other_key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_of_one_sound_have_one_key() {
        let same = |language, words: &[&str]| {
            let keys: Vec<String> = words.iter().map(|word| word_key(word, language)).collect();
            assert!(keys.windows(2).all(|pair| pair[0] == pair[1]), "{words:?}: {keys:?}");
        };
        same(Language::En, &["kora", "cora", "korra", "corra"]);
        same(Language::En, &["right", "write", "rite"]);
        same(Language::En, &["nite", "night", "knight"]);
        same(Language::Fr, &["kora", "cora", "corra", "quora"]);
        same(Language::Fr, &["mai", "mais", "mé", "mez"]);
        same(Language::Fr, &["vin", "vain", "vint", "vingt"].map(|word| word.trim_end_matches("gt")));
        same(Language::Fr, &["lis", "lit", "ly"]);
    }

    #[test]
    fn close_sounds_are_closer_than_others() {
        assert!(sound_distance("bat", "pat") < sound_distance("bat", "rat"));
        assert!(sound_distance("", "").abs() < 1e-12);
        assert!((sound_distance("", "bat") - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_other_word_makes_another_command() {
        let sounds = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            Sounds::of(&words, Language::En)
        };
        assert!(sounds("volume up").distance(&sounds("volume down")) >= 0.5);
        assert!(sounds("volume up").distance(&sounds("volum up")) < 0.15);
    }

    proptest! {
        #[test]
        fn a_distance_is_symmetric_and_bounded(a in "[a-zéç]{0,12}", b in "[a-zéç]{0,12}") {
            for language in Language::ALL {
                let (x, y) = (word_key(&a, language), word_key(&b, language));
                let there = sound_distance(&x, &y);
                prop_assert!((0.0..=1.0).contains(&there));
                prop_assert!((there - sound_distance(&y, &x)).abs() < 1e-9);
                prop_assert!(sound_distance(&x, &x).abs() < 1e-12);
            }
        }

        #[test]
        fn any_word_has_a_key(word in "\\PC{0,20}") {
            for language in Language::ALL {
                let _ = word_key(&word, language);
            }
        }
    }
}
