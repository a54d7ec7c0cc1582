//! What is not the wake word: other sentences, words by chance, and near misses made from its phonemes.

mod phonemes;

use crate::network::Random;

pub use phonemes::{LEAST_APART, NearMiss, PhonemeError, Phonemizer, heard_apart, near_misses};

/// Sentences and common words of a language that texts are made of.
struct Language {
    code: &'static str,
    sentences: &'static str,
    words: &'static str,
}

const LANGUAGES: [Language; 2] = [
    Language { code: "en", sentences: include_str!("sentences_en.txt"), words: include_str!("words_en.txt") },
    Language { code: "fr", sentences: include_str!("sentences_fr.txt"), words: include_str!("words_fr.txt") },
];

fn language(code: &str) -> &'static Language {
    let short = code.split(['-', '_']).next().unwrap_or(code);
    LANGUAGES.iter().find(|language| language.code == short).unwrap_or(&LANGUAGES[0])
}

/// The common words of a language; English where it is unknown.
pub fn words(code: &str) -> Vec<&'static str> {
    let mut words: Vec<&str> = language(code).words.split_whitespace().collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The sentences of a language; English where it is unknown.
pub fn sentences(code: &str) -> Vec<&'static str> {
    language(code).sentences.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// True when a text contains the word, whatever the case and the punctuation.
pub fn says(text: &str, word: &str) -> bool {
    let plain = |text: &str| -> Vec<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let (text, word) = (plain(text), plain(word));
    !word.is_empty() && text.windows(word.len()).any(|window| window == word)
}

/// Texts without the word: sentences, and words in a row by chance, which cover more sounds than sentences do.
/// `part` of `parts` chooses sentences and words of its own, so that what is tested was not trained on.
pub(crate) struct Texts {
    sentences: Vec<String>,
    words: Vec<&'static str>,
    random: Random,
    next: usize,
}

impl Texts {
    pub(crate) fn new(code: &str, word: &str, extra: &[String], seed: u64, (part, parts): (usize, usize)) -> Self {
        let mut random = Random::of(seed, &["texts", code]);
        let mut sentences: Vec<String> = sentences(code).into_iter().map(str::to_owned).collect();
        sentences.extend(extra.iter().cloned());
        sentences.retain(|text| !says(text, word));
        sentences.sort();
        sentences.dedup();
        random.shuffle(&mut sentences);
        let mut words: Vec<&str> = words(code).into_iter().filter(|other| !says(other, word)).collect();
        random.shuffle(&mut words);
        let own = |at: usize| at % parts.max(1) == part;
        let sentences = sentences.into_iter().enumerate().filter(|(at, _)| own(*at)).map(|(_, text)| text).collect();
        let words = words.into_iter().enumerate().filter(|(at, _)| own(*at)).map(|(_, word)| word).collect();
        let random = Random::of(seed, &["texts", code, &part.to_string()]);
        Self { sentences, words, random, next: 0 }
    }

    /// The next text: by turns a sentence and words by chance.
    pub(crate) fn next(&mut self) -> String {
        self.next += 1;
        if self.next.is_multiple_of(2) && !self.sentences.is_empty() {
            let at = self.random.below(self.sentences.len());
            return self.sentences[at].clone();
        }
        let count = 4 + self.random.below(5);
        let words: Vec<&str> = (0..count).map(|_| self.words[self.random.below(self.words.len())]).collect();
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_a_word_whatever_the_case() {
        assert!(says("Hey, Kora! Stop.", "kora") && says("well hey kora", "Hey Kora"));
        assert!(!says("korai", "kora") && !says("hey there kora", "hey kora") && !says("kora", ""));
    }

    #[test]
    fn parts_share_no_text_and_never_say_the_word() {
        let of = |part| {
            let mut texts = Texts::new("en", "apple", &["an apple a day".into()], 3, (part, 3));
            (0..400).map(|_| texts.next()).collect::<Vec<_>>()
        };
        let (first, second) = (of(0), of(1));
        assert!(first.iter().chain(&second).all(|text| !says(text, "apple")));
        assert!(first.iter().all(|text| !second.contains(text)));
        assert_eq!(of(0), first);
        assert!(words("fr-be").len() > 200 && words("en-us").len() > 400 && sentences("fr").len() > 40);
    }
}
