//! Folded words: what routing and similarity compare, equal for French and English.

/// Lower-case, without accents or ligatures, typographic apostrophes made plain.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for character in text.chars().flat_map(char::to_lowercase) {
        match character {
            'à' | 'â' | 'ä' | 'á' | 'ã' | 'å' => folded.push('a'),
            'ç' => folded.push('c'),
            'é' | 'è' | 'ê' | 'ë' => folded.push('e'),
            'î' | 'ï' | 'í' | 'ì' => folded.push('i'),
            'ñ' => folded.push('n'),
            'ô' | 'ö' | 'ó' | 'ò' | 'õ' => folded.push('o'),
            'û' | 'ü' | 'ù' | 'ú' => folded.push('u'),
            'ÿ' | 'ý' => folded.push('y'),
            'œ' => folded.push_str("oe"),
            'æ' => folded.push_str("ae"),
            '’' | '‘' => folded.push('\''),
            // A letter typed as base + combining mark (macOS file names) folds like the composed one.
            '\u{300}'..='\u{36f}' => {}
            other => folded.push(other),
        }
    }
    folded
}

/// The folded, stemmed content words of a text, in order, with repeats.
pub fn content_words(text: &str) -> Vec<String> {
    fold(text)
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| word.chars().count() > 1 && !STOP_WORDS.contains(word))
        .map(stem)
        .collect()
}

/// Drops one common ending, so that "fichiers" meets "fichier" and "reading" meets "read".
fn stem(word: &str) -> String {
    const ENDINGS: [&str; 14] =
        ["ations", "ation", "ments", "ment", "ings", "ing", "ees", "ers", "ez", "er", "ed", "es", "s", "e"];
    for ending in ENDINGS {
        if let Some(root) = word.strip_suffix(ending)
            && root.chars().count() >= 3
        {
            return root.to_owned();
        }
    }
    word.to_owned()
}

/// Words that say nothing about the subject, folded. French "son" is missing on purpose: it is also
/// the word for sound.
const STOP_WORDS: &[&str] = &[
    "the", "an", "of", "to", "in", "on", "at", "for", "and", "or", "is", "are", "was", "be", "it", "its", "this",
    "that", "these", "those", "my", "me", "you", "your", "we", "our", "with", "from", "by", "as", "do", "does", "did",
    "can", "could", "would", "will", "please", "what", "which", "who", "how", "when", "where", "why", "not", "no",
    "if", "then", "than", "there", "here", "have", "has", "had", "just", "so", "but", "about", "into", "up", "out",
    "le", "la", "les", "un", "une", "des", "du", "de", "au", "aux", "et", "ou", "est", "sont", "ce", "cet", "cette",
    "ces", "mon", "ma", "mes", "ton", "ta", "tes", "sa", "ses", "je", "tu", "il", "elle", "on", "nous", "vous", "moi",
    "toi", "lui", "se", "ne", "pas", "plus", "que", "qui", "quoi", "quel", "quelle", "dans", "sur", "avec", "pour",
    "par", "en", "sans", "plait", "peux", "peut", "veux", "fait", "fais", "as", "ai", "ont", "si", "mais", "donc",
    "alors",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_meets_composed_decomposed_and_upper_case() {
        assert_eq!(fold("Où est l’Été ?"), "ou est l'ete ?");
        assert_eq!(fold("e\u{301}te\u{301}"), "ete");
        assert_eq!(fold("CŒUR"), "coeur");
    }

    #[test]
    fn endings_and_stop_words_fall_away() {
        assert_eq!(content_words("Lis les fichiers du dossier"), content_words("lis fichier dossiers"));
        assert_eq!(content_words("What is the"), Vec::<String>::new());
        assert_eq!(content_words("reading"), content_words("read"));
    }
}
