//! Which language a sentence is in, by its small words.

use serde::{Deserialize, Serialize};

use super::tokens::{Kind, Token};

/// A language that claims are read in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Language {
    /// English.
    #[serde(rename = "en")]
    English,
    /// French.
    #[serde(rename = "fr")]
    French,
}

#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "the", "i", "to", "and", "it", "is", "was", "have", "has", "been", "you", "your", "not", "of", "in",
    "that", "for", "with", "would", "could", "will", "can", "did", "do", "my", "this", "are", "were",
    "successfully", "done", "me", "from", "no", "now", "all", "file", "saved", "deleted", "created", "sent",
    "opened", "shall", "should", "but", "an", "at", "or", "which", "what", "if", "just", "already", "because",
    "as", "unable", "failed", "reminder", "they", "we", "email", "completed", "added", "updated", "by",
    "couldn't", "please", "set", "yes", "ok", "sure", "them", "he", "found",
];

#[rustfmt::skip]
const FRENCH: &[&str] = &[
    "le", "la", "les", "l'", "je", "j'", "ai", "et", "est", "un", "une", "des", "du", "de", "d'", "vous",
    "votre", "ne", "n'", "pas", "que", "qu'", "dans", "pour", "avec", "c'", "il", "elle", "mais", "ou", "sur",
    "au", "aux", "ce", "cette", "suis", "peux", "puis", "fichier", "fait", "ete", "enregistre", "supprime",
    "cree", "envoye", "ouvert", "voulez", "souhaitez", "dois", "vais", "nous", "tu", "te", "ton", "ta", "mon",
    "ma", "s'", "si", "rappel", "termine", "echec", "impossible", "en", "bien", "mes", "vos", "tes", "ces",
    "non", "oui", "ajoute", "tout", "voila", "dossier", "rien", "aucun", "aucune", "note", "message", "qui",
    "sont", "a", "on", "ont",
];

/// The language of these tokens, when their small words tell.
pub(super) fn of(tokens: &[Token]) -> Option<Language> {
    let (mut english, mut french) = (0, 0);
    for token in tokens.iter().filter(|token| token.kind == Kind::Word) {
        let word = token.word();
        // Both languages have these.
        if matches!(word, "a" | "on" | "message" | "note" | "impossible" | "an" | "me" | "as" | "en") {
            continue;
        }
        english += usize::from(ENGLISH.contains(&word));
        french += usize::from(FRENCH.contains(&word) || !token.text.is_ascii());
    }
    match english.cmp(&french) {
        std::cmp::Ordering::Greater => Some(Language::English),
        std::cmp::Ordering::Less => Some(Language::French),
        std::cmp::Ordering::Equal => None,
    }
}
