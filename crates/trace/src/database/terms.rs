//! Any text as a safe full-text query (FTS5).
//!
//! Words of the text become quoted strings joined by `OR`; nothing of the query syntax can survive
//! in them. bm25 then ranks what holds more of the words, and rarer ones, first. Function words
//! of English and French are left out unless there is nothing else, and each word is also looked
//! for without, or with, its plural ending.

use std::collections::BTreeSet;

/// Words of a query beyond this one are ignored.
const WORDS: usize = 24;
/// Characters of a word beyond this one are ignored.
const WORD_CHARACTERS: usize = 64;

/// Words that stand in nearly every sentence.
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "an", "and", "are", "as", "at", "au", "aux", "avec", "be", "by", "c", "ce", "ces", "cette", "d",
    "dans", "de", "des", "did", "do", "does", "du", "elle", "en", "est", "et", "for", "from", "had", "has", "have",
    "how", "i", "il", "ils", "in", "is", "it", "its", "j", "je", "l", "la", "le", "les", "leur", "m", "ma", "mais",
    "me", "mes", "mon", "my", "n", "ne", "nos", "notre", "nous", "of", "on", "or", "ou", "où", "our", "par", "pas",
    "pour", "qu", "que", "quel", "quelle", "qui", "s", "sa", "se", "ses", "son", "sont", "sur", "t", "ta", "te", "tes",
    "that", "the", "their", "this", "to", "ton", "tu", "un", "une", "vos", "votre", "vous", "was", "we", "were",
    "what", "when", "where", "which", "who", "with", "y", "you", "your",
];

/// The query, or `None` when the text has no word in it.
pub(super) fn match_expression(text: &str) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(|c: char| !is_word(c)).filter(|word| word.chars().any(char::is_alphanumeric)) {
        let word: String = word.chars().take(WORD_CHARACTERS).collect::<String>().to_lowercase();
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let telling = |word: &String| !FUNCTION_WORDS.contains(&word.as_str());
    if words.iter().any(telling) {
        words.retain(telling);
    }
    words.truncate(WORDS);
    let forms: BTreeSet<String> = words.iter().flat_map(|word| forms(word)).collect();
    (!forms.is_empty()).then(|| forms.iter().map(|form| format!("\"{form}\"")).collect::<Vec<_>>().join(" OR "))
}

/// Letters, digits, and the combining accents of decomposed text.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c)
}

/// The word, and its singular or plural.
fn forms(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_owned()];
    if word.chars().count() > 3 && word.chars().all(char::is_alphabetic) {
        match word.strip_suffix(['s', 'x']) {
            Some(singular) => forms.push(singular.to_owned()),
            None => forms.push(format!("{word}s")),
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_quoted_alternatives() {
        let query = match_expression("Où est la facture d'EDF ?").unwrap();
        assert_eq!(query, "\"edf\" OR \"facture\" OR \"factures\"");
        assert_eq!(match_expression("the").unwrap(), "\"the\"");
        assert_eq!(match_expression(" *\"()^- "), None);
        assert_eq!(match_expression("NEAR(a b) AND col:x* \"-").unwrap().matches('"').count() % 2, 0);
    }

    #[test]
    fn a_long_query_is_cut() {
        let text = (0..500).map(|number| format!("w{number}")).collect::<Vec<_>>().join(" ");
        assert_eq!(match_expression(&text).unwrap().matches(" OR ").count(), WORDS - 1);
        assert!(match_expression(&"x".repeat(100_000)).unwrap().len() < 200);
    }
}
