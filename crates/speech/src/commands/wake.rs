//! The wake word at the beginning of what was heard.

use super::language::Language;
use super::phonetic::word_key;
use super::text::{fold, words};

/// Said before a name without meaning anything.
const GREETINGS: [&str; 10] = ["hey", "hé", "ok", "okay", "oh", "eh", "ah", "dis", "hello", "hi"];

/// The wake word and how speech to text writes it.
#[derive(Debug, Clone)]
pub(crate) struct Wake {
    word: String,
    spellings: Vec<String>,
    /// How the word itself sounds in each language.
    keys: Vec<(Language, String)>,
}

impl Wake {
    /// The word itself first.
    pub(crate) fn new(spellings: &[String]) -> Self {
        // A name of several words is compared as one.
        let joined = |text: &String| words(text, Language::En).iter().map(|word| fold(word)).collect::<String>();
        let word = spellings.first().cloned().unwrap_or_default();
        let keys = Language::ALL.map(|language| (language, word_key(&joined(&word), language)));
        Self { spellings: spellings.iter().map(joined).collect(), keys: keys.to_vec(), word }
    }

    /// As it is written.
    pub(crate) fn word(&self) -> &str {
        &self.word
    }

    /// What comes after the wake word; `None` when the utterance does not begin with it.
    pub(crate) fn strip<'a>(&self, utterance: &'a [String], language: Language) -> Option<&'a [String]> {
        let greeted = utterance.first().is_some_and(|word| GREETINGS.contains(&word.as_str()));
        let starts: &[usize] = if greeted { &[0, 1] } else { &[0] };
        for start in starts {
            // "co ra" is two words for one.
            for count in 1..=3_usize {
                let Some(part) = utterance.get(*start..start + count) else { break };
                if self.is(&part.iter().map(|word| fold(word)).collect::<String>(), count, language) {
                    return utterance.get(start + count..);
                }
            }
        }
        None
    }

    fn is(&self, heard: &str, words: usize, language: Language) -> bool {
        if self.spellings.iter().any(|spelling| spelling == heard) {
            return true;
        }
        let Some((_, key)) = self.keys.iter().find(|(of, _)| *of == language) else { return false };
        let sounds = word_key(heard, language);
        if sounds == *key {
            return true;
        }
        // One letter off, of one word that begins alike: "korah", not "Nora".
        let near = self.spellings.first().is_some_and(|word| {
            word.chars().count() >= 4 && strsim::osa_distance(word, heard) <= 1 && heard.chars().count() >= 4
        });
        words == 1 && near && sounds.chars().next() == key.chars().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wake_word_is_found_in_its_spellings_and_only_first() {
        let wake = Wake::new(&["Kora".to_owned(), "Coral".to_owned()]);
        let rest = |text: &str| wake.strip(&words(text, Language::En), Language::En).map(<[String]>::to_vec);
        for text in ["Kora, read 3", "Cora read 3", "Hey Kora, read 3", "coral read 3", "Korah, read 3", "Ko ra read 3"]
        {
            assert_eq!(rest(text), Some(vec!["read".to_owned(), "3".to_owned()]), "{text}");
        }
        assert_eq!(rest("Kora"), Some(Vec::new()));
        for text in ["read 3 Kora", "Nora, read 3", "quoi read 3", "", "hey"] {
            assert_eq!(rest(text), None, "{text}");
        }
    }
}
