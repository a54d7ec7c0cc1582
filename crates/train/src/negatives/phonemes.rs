//! Near misses from the word's own phonemes, as espeak-ng writes them.
//!
//! espeak-ng is run as a program: it writes the phonemes of a word, and speaks phonemes that stand in
//! `[[…]]`. One phoneme is put in place of another of its kind, left out, or added; and the common words whose
//! phonemes are nearest are taken as they are. The sounds of a language are those of its common words.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use super::words;
use crate::network::Random;

/// A word that is nearly the wake word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMiss {
    /// What is given to a voice: a word, or phonemes in `[[…]]` that only espeak-ng reads.
    pub text: String,
    /// Its phonemes, one after another.
    pub phonemes: Vec<String>,
    /// True for phonemes, false for a word.
    pub spelled: bool,
}

/// Why there are no phonemes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PhonemeError {
    /// The program is missing or failed.
    #[error("espeak-ng: {0}")]
    Program(String),
    /// The word has no sounds.
    #[error("`{0}` has no sounds in this language")]
    Silent(String),
}

/// Writes the phonemes of words.
#[derive(Debug, Clone)]
pub struct Phonemizer {
    language: String,
}

impl Phonemizer {
    /// For espeak-ng's voice of this language, such as `en` or `fr-fr`.
    pub fn new(language: &str) -> Self {
        let language = if language == "fr" { "fr-fr" } else { language };
        Self { language: language.to_owned() }
    }

    /// The phonemes of each word, without stress marks.
    pub fn of(&self, words: &[&str]) -> Result<Vec<Vec<String>>, PhonemeError> {
        let failed = |error: std::io::Error| PhonemeError::Program(error.to_string());
        let mut child = Command::new("espeak-ng")
            .args(["-q", "-x", "--sep=_", "-v", &self.language])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let input = child.stdin.take();
        // A line must end in a full stop: espeak-ng reads on to the next line where a sentence does not end.
        let lines: String = words.iter().map(|word| format!("{}.\n\n", word.replace(['\n', '[', ']'], " "))).collect();
        let mut output = String::new();
        std::thread::scope(|scope| -> std::io::Result<()> {
            let writing = scope.spawn(move || input.map_or(Ok(()), |mut input| input.write_all(lines.as_bytes())));
            if let Some(stdout) = child.stdout.as_mut() {
                stdout.read_to_string(&mut output)?;
            }
            writing.join().unwrap_or(Ok(()))
        })
        .map_err(failed)?;
        let status = child.wait().map_err(failed)?;
        let found: Vec<Vec<String>> =
            output.lines().map(str::trim).filter(|line| !line.is_empty()).map(tokens).collect();
        if !status.success() || found.len() != words.len() {
            let problem = format!("{status}: {} lines of phonemes for {} words", found.len(), words.len());
            return Err(PhonemeError::Program(problem));
        }
        Ok(found)
    }
}

/// `k_'o@_r_@` as `k`, `o@`, `r`, `@`.
fn tokens(line: &str) -> Vec<String> {
    let bare = |token: &str| token.trim_matches(|letter| "',%=|_!".contains(letter)).to_owned();
    line.split(['_', ' ']).map(bare).filter(|token| !token.is_empty()).collect()
}

/// Whether a phoneme of espeak-ng is a vowel: by its first letter, which its names have in common.
fn is_vowel(phoneme: &str) -> bool {
    phoneme.chars().next().is_some_and(|letter| "aAeEiIoO0uUVyY@39&W".contains(letter))
}

/// Nearer words are the word itself to most ears: `gora` and `kola` for `kora`, but not `zora`.
pub const LEAST_APART: f64 = 1.0;

/// Changes from one list of phonemes to the other (Levenshtein).
fn distance(left: &[String], right: &[String]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in right.iter().enumerate() {
            let changed = corner + usize::from(a != b);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

/// Kinds of sounds that are taken for each other in noise, by the first letter of their names: stops, fricatives,
/// nasals, liquids and glides; front, back and open vowels.
const KINDS: &[&str] = &["pbtdkgcq", "fvszSZTDhxCX", "mnNn", "lrRjwL", "iIeEyY", "oO0uUVQW", "aA@39&"];

/// How far two words are apart in sound: a sound that is put in place of one of its own kind counts half a change, any
/// other change counts one.
pub fn heard_apart(left: &[String], right: &[String]) -> f64 {
    let kind = |phoneme: &str| {
        let first = phoneme.chars().next()?;
        KINDS.iter().position(|kind| kind.contains(first))
    };
    let cost = |a: &String, b: &String| match (kind(a), kind(b)) {
        _ if a == b => 0.0,
        (Some(one), Some(other)) if one == other => 0.5,
        _ => 1.0,
    };
    let mut row: Vec<f64> = (0..=right.len()).map(|at| at as f64).collect();
    for (i, a) in left.iter().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], (i + 1) as f64);
        for (j, b) in right.iter().enumerate() {
            let changed = corner + cost(a, b);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1.0).min(row[j] + 1.0);
        }
    }
    row[right.len()]
}

/// Near misses of a word in a language: `changed` ones by phonemes, and the `real` common words that are
/// nearest, at most half of the word's length away. What is heard less than [`LEAST_APART`] apart is left out: who says
/// the word sloppily says that, and a head that has to tell them apart learns neither.
pub fn near_misses(
    phonemizer: &Phonemizer,
    word: &str,
    (changed, real): (usize, usize),
    seed: u64,
) -> Result<Vec<NearMiss>, PhonemeError> {
    let common = words(&phonemizer.language);
    let mut asked = vec![word];
    asked.extend(&common);
    let mut phonemes = phonemizer.of(&asked)?;
    let own = phonemes.remove(0);
    if own.is_empty() {
        return Err(PhonemeError::Silent(word.to_owned()));
    }
    let mut counted: BTreeMap<&String, usize> = BTreeMap::new();
    for phoneme in phonemes.iter().flatten() {
        *counted.entry(phoneme).or_default() += 1;
    }
    // A sound that hardly ever occurs is a name or a loan.
    let sounds: Vec<String> =
        counted.iter().filter(|(_, count)| **count >= 5).map(|(name, _)| (*name).clone()).collect();
    let mut found = spelled(&own, &sounds, changed, &mut Random::of(seed, &["near", &phonemizer.language, word]));
    let farthest = own.len().div_ceil(2).max(1);
    let mut near: Vec<(usize, &str, &Vec<String>)> = common
        .iter()
        .zip(&phonemes)
        .map(|(other, phonemes)| (distance(&own, phonemes), *other, phonemes))
        .filter(|(away, _, phonemes)| (1..=farthest).contains(away) && heard_apart(&own, phonemes) >= LEAST_APART)
        .collect();
    near.sort_unstable();
    found.extend((near.into_iter().take(real)).map(|(_, other, phonemes)| NearMiss {
        text: other.to_owned(),
        phonemes: phonemes.clone(),
        spelled: false,
    }));
    Ok(found)
}

/// Changes of one or two phonemes, spoken with stress on the first vowel.
fn spelled(own: &[String], sounds: &[String], count: usize, random: &mut Random) -> Vec<NearMiss> {
    let mut seen: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut found = Vec::new();
    let alike = |phoneme: &str| -> Vec<&String> {
        sounds.iter().filter(|sound| is_vowel(sound) == is_vowel(phoneme) && sound.as_str() != phoneme).collect()
    };
    // A short word has few neighbours: stop when nothing new has come for long.
    for _ in 0..count * 40 {
        if found.len() == count {
            break;
        }
        let mut other = own.to_vec();
        for _ in 0..=usize::from(random.chance(0.35)) {
            let at = random.below(other.len());
            match random.below(4) {
                0 if other.len() > 2 => {
                    other.remove(at);
                }
                1 if !sounds.is_empty() => {
                    let sound = sounds[random.below(sounds.len())].clone();
                    other.insert(random.below(other.len() + 1), sound);
                }
                _ => {
                    let choices = alike(&other[at]);
                    if let Some(sound) = choices.get(random.below(choices.len())) {
                        other[at] = (*sound).clone();
                    }
                }
            }
        }
        if heard_apart(own, &other) < LEAST_APART
            || !other.iter().any(|phoneme| is_vowel(phoneme))
            || !seen.insert(other.clone())
        {
            continue;
        }
        let stressed = other.iter().position(|phoneme| is_vowel(phoneme));
        let text: String = (other.iter().enumerate())
            .map(|(at, phoneme)| if Some(at) == stressed { format!("'{phoneme}") } else { phoneme.clone() })
            .collect();
        found.push(NearMiss { text: format!("[[{text}]]"), phonemes: other, spelled: true });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn phonemes_are_read_without_stress() {
        assert_eq!(tokens("k_'o@_r_@"), list("k o@ r @"));
        assert_eq!(tokens("k_w_'oU_t_@ h_'i@3"), list("k w oU t @ h i@3"));
    }

    #[test]
    fn distances_are_those_of_levenshtein() {
        assert_eq!(distance(&list("k o r a"), &list("k o r a")), 0);
        assert_eq!(distance(&list("k o r a"), &list("k o l a")), 1);
        assert_eq!(distance(&list("k o r a"), &list("o r a l")), 2);
        assert_eq!(distance(&list("k"), &list("a b c")), 3);
    }

    #[test]
    fn a_sound_of_the_same_kind_is_half_a_change() {
        let apart = |other: &str| heard_apart(&list("k o r a"), &list(other));
        let close = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-9, "{found} and not {wanted}");
        close(apart("k o r a"), 0.0);
        close(apart("g o r a"), 0.5);
        close(apart("g o l a"), 1.0);
        close(apart("z o r a"), 1.0);
        close(apart("o r a l"), 2.0);
    }

    #[test]
    fn changed_words_differ_from_the_word_and_from_each_other() {
        let own = list("k o@ r @");
        let sounds = list("k t p l r s o@ @ a I eI");
        let found = spelled(&own, &sounds, 60, &mut Random::new(4));
        assert!(found.len() > 40, "{}", found.len());
        let texts: BTreeSet<&str> = found.iter().map(|near| near.text.as_str()).collect();
        assert_eq!(texts.len(), found.len());
        for near in &found {
            assert!((1..=2).contains(&distance(&own, &near.phonemes)), "{near:?}");
            assert!(heard_apart(&own, &near.phonemes) >= LEAST_APART, "{near:?}");
            assert!(near.text.starts_with("[[") && near.text.ends_with("]]") && near.text.contains('\''));
        }
        assert_eq!(found, spelled(&own, &sounds, 60, &mut Random::new(4)));
    }
}
