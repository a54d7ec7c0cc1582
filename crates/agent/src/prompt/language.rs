//! English or French: which fixed sentences are used.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::StrategyError;
use crate::words::fold;

/// A language that this application speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Language {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// French.
    #[serde(rename = "fr")]
    French,
}

/// Words that occur in one of the two languages only, folded. "on", "me", "son", "tout", "a", "or",
/// "main", "six" and the like are words of both and stand in neither list.
const ENGLISH: &[&str] = &[
    "the",
    "an",
    "of",
    "to",
    "in",
    "at",
    "for",
    "and",
    "is",
    "are",
    "was",
    "were",
    "be",
    "it",
    "its",
    "this",
    "that",
    "these",
    "my",
    "you",
    "your",
    "we",
    "our",
    "with",
    "from",
    "do",
    "does",
    "did",
    "can",
    "could",
    "would",
    "will",
    "please",
    "what",
    "which",
    "who",
    "how",
    "when",
    "where",
    "why",
    "not",
    "if",
    "there",
    "here",
    "have",
    "has",
    "open",
    "read",
    "write",
    "show",
    "find",
    "make",
    "tell",
    "give",
    "yes",
    "hello",
    "thanks",
    "all",
    "everything",
    "stop",
    "remember",
    "file",
    "folder",
    "week",
    "today",
    "tomorrow",
];
const FRENCH: &[&str] = &[
    "le", "la", "les", "un", "une", "des", "du", "de", "au", "aux", "et", "est", "sont", "ce", "cet", "cette", "ces",
    "mon", "ma", "mes", "ton", "tes", "sa", "ses", "je", "tu", "il", "elle", "nous", "vous", "moi", "toi", "lui", "ne",
    "pas", "que", "qui", "quoi", "quel", "quelle", "dans", "sur", "avec", "pour", "par", "en", "sans", "peux", "peut",
    "veux", "fait", "fais", "ou", "oui", "merci", "bonjour", "salut", "ouvre", "lis", "ecris", "montre", "cherche",
    "donne", "mets", "arrete", "rappelle", "fichier", "dossier", "semaine", "demain", "quelles", "quels", "combien",
];

impl Language {
    /// Both, in the order of the tables.
    pub const ALL: &'static [Self] = &[Self::English, Self::French];

    /// The stored and typed name: `en` or `fr`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::French => "fr",
        }
    }

    /// One of two texts.
    pub fn pick<T>(self, english: T, french: T) -> T {
        match self {
            Self::English => english,
            Self::French => french,
        }
    }

    /// The language of a text, English when nothing tells.
    pub fn of(text: &str) -> Self {
        Self::detect(text).unwrap_or_default()
    }

    /// The language of a text by its function words, elisions and accents; `None` when they do not
    /// tell. Looks at the first 2,000 characters.
    pub fn detect(text: &str) -> Option<Self> {
        let start: String = text.chars().take(2_000).collect();
        let accents = start.to_lowercase().chars().filter(|character| "éèêàçùœ".contains(*character)).count();
        let folded = fold(&start);
        let (mut english, mut french) = (0_usize, accents.min(2));
        for word in folded.split(|character: char| !character.is_alphanumeric() && character != '\'') {
            let (head, tail) = word.split_once('\'').unwrap_or(("", word));
            let elided = matches!(head, "l" | "d" | "j" | "qu" | "c" | "n" | "s" | "m" | "t") && tail.len() > 1;
            let contracted = !elided && matches!(tail, "s" | "t" | "re" | "ll" | "ve" | "m" | "d") && !head.is_empty();
            let word = if contracted { head } else { tail };
            english += usize::from(contracted) + usize::from(ENGLISH.contains(&word));
            french += usize::from(elided) + usize::from(FRENCH.contains(&word));
        }
        match english.cmp(&french) {
            std::cmp::Ordering::Greater => Some(Self::English),
            std::cmp::Ordering::Less => Some(Self::French),
            std::cmp::Ordering::Equal => None,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for Language {
    type Err = StrategyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|language| language.as_str() == text)
            .ok_or_else(|| StrategyError::unknown("language", text, Self::ALL.iter().map(|language| language.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_words_elisions_and_accents_tell() {
        for text in [
            "What is the weather?",
            "open my notes",
            "Don't do that",
            "I'm sure it's fine",
            "stop everything",
            "Read résumé.pdf and tell me what is in it",
        ] {
            assert_eq!(Language::detect(text), Some(Language::English), "{text}");
        }
        for text in [
            "Quel temps fait-il ?",
            "ouvre mes notes",
            "l'article d'hier",
            "Qu’est-ce que c’est",
            "arrête tout",
            "Lis open-data.csv dans mon dossier",
        ] {
            assert_eq!(Language::detect(text), Some(Language::French), "{text}");
        }
        for text in ["", "42", "OK", "pizza"] {
            assert_eq!((Language::detect(text), Language::of(text)), (None, Language::English), "{text}");
        }
    }

    #[test]
    fn no_word_counts_for_both() {
        assert!(ENGLISH.iter().all(|word| !FRENCH.contains(word)));
    }

    #[test]
    fn names_are_stored_as_typed() {
        for language in Language::ALL {
            assert_eq!(serde_json::to_string(language).unwrap(), format!("\"{language}\""));
            assert_eq!(language.to_string().parse::<Language>(), Ok(*language));
        }
        assert_eq!("de".parse::<Language>().unwrap_err().hint(), "use one of: en, fr");
    }
}
