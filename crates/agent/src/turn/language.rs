//! The user's language, for the few sentences that the application says by itself.

use crate::words::fold;

/// A language the application speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// French.
    French,
}

const FRENCH: &[&str] = &[
    "le", "la", "les", "un", "une", "des", "du", "de", "et", "est", "ce", "cette", "mon", "ma", "mes", "je", "tu",
    "il", "elle", "nous", "vous", "ne", "pas", "que", "qui", "dans", "sur", "avec", "pour", "moi", "peux", "fais",
    "quel", "quelle", "au", "aux", "en", "merci", "bonjour", "ouvre", "cherche", "lis", "mets", "ecris", "dis",
    "montre", "oui", "non", "plait",
];
const ENGLISH: &[&str] = &[
    "the", "a", "an", "and", "is", "are", "this", "that", "my", "me", "you", "i", "it", "to", "of", "in", "on", "with",
    "for", "please", "what", "which", "how", "open", "read", "write", "find", "search", "can", "do", "not", "yes",
    "no", "hello", "thanks", "show", "list", "make",
];

impl Language {
    /// The language of a text: by its small words, then by its accents; English when neither says.
    pub fn detect(text: &str) -> Self {
        let folded = fold(text);
        let (mut french, mut english) = (0_usize, 0_usize);
        for word in folded.split(|character: char| !character.is_alphanumeric()).take(400) {
            french += usize::from(FRENCH.contains(&word));
            english += usize::from(ENGLISH.contains(&word));
        }
        let accented = text.chars().any(|character| "àâçéèêëîïôûùœ«»".contains(character));
        if french > english || (french == english && accented) { Self::French } else { Self::English }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_words_decide_and_english_is_the_default() {
        for text in ["Ouvre le dossier", "C'est où, l'été ?", "météo", "Lis-moi la note, s'il te plaît"] {
            assert_eq!(Language::detect(text), Language::French, "{text}");
        }
        for text in ["Open the folder", "Read me the note, please", "", "42", "résumé of the file, please"] {
            assert_eq!(Language::detect(text), Language::English, "{text}");
        }
    }
}
