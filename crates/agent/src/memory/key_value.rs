//! Key/value-shaped entries (K64): a small model fills a form instead of writing a sentence. Such an
//! entry is sent back once with the reason; the second time, what the user wrote is kept instead.

use std::sync::LazyLock;

use regex::Regex;

use super::clean::{MAX_ENTRY_CHARACTERS, shortened, without_hidden};
use super::grounding::overlap;
use super::request::is_literal_request;
use crate::words::fold;

/// What to do with an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyValueVerdict {
    /// It is a sentence: go on with it.
    Sentence,
    /// First key/value entry: not written; this is the reason for the model.
    Rejected(String),
    /// Second one: the user's own sentence is written instead.
    OwnSentence(String),
}

/// The state of one turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyValueGuard {
    was_rejected: bool,
}

impl KeyValueGuard {
    /// Judges an entry that the model wrote in answer to `user_text`.
    pub fn judge(&mut self, entry: &str, user_text: &str) -> KeyValueVerdict {
        if !is_key_value(entry) {
            return KeyValueVerdict::Sentence;
        }
        if !self.was_rejected {
            self.was_rejected = true;
            let reason = "the entry is a key with a value; write one full sentence in the user's own words instead";
            return KeyValueVerdict::Rejected(reason.to_owned());
        }
        KeyValueVerdict::OwnSentence(own_sentence(user_text, entry))
    }
}

static SHAPES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        // name=X, favourite_color = blue, name := X
        r"^[\p{L}_][\p{L}\p{N}_.\-]{0,40}(?: [\p{L}\p{N}_.\-]{1,40}){0,2}\s*:?=\s*\S",
        // name -> X, name | X
        r"^[\p{L}_][\p{L}\p{N}_.\-]{0,40}\s*(?:->|=>|→|\|)\s*\S",
        // snake_case: X
        r"^[\p{L}\p{N}]+(?:_[\p{L}\p{N}]+)+\s*:",
        // <name>X</name>
        r"^<(\w+)>[^<]*</\w+>$",
        // "name": "X"
        r#"^["'`][^"'`]{1,40}["'`]\s*:"#,
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// Attributes of a person or a thing, folded: with a colon behind them they are a form's keys
/// whatever follows.
const ATTRIBUTES: &[&str] = &[
    "name",
    "nom",
    "prenom",
    "first name",
    "last name",
    "age",
    "email",
    "mail",
    "phone",
    "telephone",
    "tel",
    "city",
    "ville",
    "country",
    "pays",
    "address",
    "adresse",
    "birthday",
    "anniversaire",
    "date",
    "job",
    "metier",
    "profession",
    "language",
    "langue",
    "timezone",
    "fuseau horaire",
    "color",
    "colour",
    "couleur",
    "preference",
    "preferences",
    "likes",
    "dislikes",
    "allergy",
    "allergies",
    "allergie",
    "user",
    "utilisateur",
    "key",
    "value",
    "cle",
    "valeur",
    "status",
    "statut",
    "type",
    "topic",
    "sujet",
    "entry",
    "fact",
    "fait",
    "section",
];

/// A key has at most this many words.
const KEY_WORDS: usize = 3;
/// A value after a key that is no known attribute has at most this many words; more is a sentence.
const VALUE_WORDS: usize = 4;

/// True for `name: X`, `favourite_color=blue`, JSON and their like; false for a sentence, even one
/// with a colon, a time or an address in it.
pub fn is_key_value(text: &str) -> bool {
    let text = without_hidden(text);
    let text = text.trim().trim_start_matches(['-', '*', '+', ' ']).trim_end();
    text.starts_with('{')
        || (text.starts_with('[') && serde_json::from_str::<serde_json::Value>(text).is_ok())
        || SHAPES.iter().any(|shape| shape.is_match(text))
        || has_colon_key(text)
}

fn has_colon_key(text: &str) -> bool {
    let Some((key, value)) = split_at_colon(text) else { return false };
    let words = key.split_whitespace().count();
    if words == 0 || words > KEY_WORDS || !key.chars().any(char::is_alphabetic) {
        return false;
    }
    let folded = fold(key.trim());
    let is_attribute = ATTRIBUTES.contains(&folded.as_str())
        || folded.split_whitespace().any(|word| {
            matches!(
                word,
                "favourite" | "favorite" | "prefere" | "preferee" | "preferred" | "prefered" | "favori" | "favorie"
            )
        });
    is_attribute || value.split_whitespace().count() <= VALUE_WORDS
}

/// Splits at the first colon that is neither part of a time (10:30) nor of an address (https://).
fn split_at_colon(text: &str) -> Option<(&str, &str)> {
    let (position, _) = text.match_indices(':').find(|(position, _)| {
        let after = &text[position + 1..];
        let before_digit = text[..*position].ends_with(|character: char| character.is_ascii_digit());
        !(after.starts_with("//") || (before_digit && after.starts_with(|character: char| character.is_ascii_digit())))
    })?;
    Some((&text[..position], &text[position + 1..]))
}

/// The sentence of the user's message that is closest to `entry`, whole and as typed (cut at 180
/// characters). Of equal ones a request to remember wins, then the first.
pub fn own_sentence(user_text: &str, entry: &str) -> String {
    let shown = without_hidden(user_text);
    let sentences = sentences(&shown);
    let score = |sentence: &str| overlap(entry, sentence) + if is_literal_request(sentence) { 0.01 } else { 0.0 };
    let best = sentences.iter().rev().max_by(|left, right| score(left).total_cmp(&score(right)));
    let sentence = best.map_or("", |sentence| sentence.trim());
    shortened(&sentence.split_whitespace().collect::<Vec<_>>().join(" "), MAX_ENTRY_CHARACTERS)
}

/// Splits at line ends and after `.`, `!`, `?`, `…` before a space; a short capitalised word with a
/// full stop ("Dr.", "M.") is an abbreviation.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut previous: Option<(usize, char)> = None;
    for (index, character) in text.char_indices() {
        let ends = match previous {
            Some((at, '.')) => character.is_whitespace() && !is_abbreviation(&text[start..at]),
            Some((_, '!' | '?' | '…')) => character.is_whitespace(),
            _ => false,
        };
        if ends || character == '\n' {
            sentences.push(&text[start..index]);
            start = index + character.len_utf8();
        }
        previous = Some((index, character));
    }
    sentences.push(&text[start..]);
    sentences.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    sentences
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|character: char| character.is_whitespace()).next().unwrap_or_default();
    word.chars().count() <= 3 && word.starts_with(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k64_form_shapes_are_recognised() {
        for entry in [
            "name: Flo",
            "Name : Flo",
            "prénom: Zoé",
            "favourite_color=blue",
            "favourite color = blue",
            "color: blue",
            "{\"name\": \"Flo\"}",
            "{name: Flo}",
            "[\"tea\", \"coffee\"]",
            "user_name: Flo",
            "user -> Flo",
            "preference | tea",
            "<name>Flo</name>",
            "\"city\": \"Lyon\"",
            "- ville : Lyon",
            "Favourite drink: green tea from the hills of Japan in spring",
            "Dentist: Tuesday",
            "name: Flo, age: 30",
            "couleur préférée : bleu",
        ] {
            assert!(is_key_value(entry), "{entry}");
        }
    }

    #[test]
    fn k64_sentences_are_left_alone() {
        for entry in [
            "Prefers tea in the morning",
            "Le code du portail est 4512",
            "The stand-up is at 10:30 every day",
            "Le rendez-vous est à 10:30",
            "The docs are at https://example.org/a",
            "Decided: we ship the release on Friday morning",
            "Il reste une question : qui appelle le notaire lundi ?",
            "2 + 2 = 4 is the example the user likes",
            "Préfère qu'on lui réponde en français",
        ] {
            assert!(!is_key_value(entry), "{entry}");
        }
    }

    #[test]
    fn k64_rejected_once_then_the_users_own_sentence() {
        let mut guard = KeyValueGuard::default();
        let text = "Hello! Remember that my favourite colour is blue. And what is the weather?";
        assert_eq!(guard.judge("Likes the sea", text), KeyValueVerdict::Sentence);
        assert!(
            matches!(guard.judge("favourite_color=blue", text), KeyValueVerdict::Rejected(reason) if reason.contains("sentence"))
        );
        let own = "Remember that my favourite colour is blue.";
        assert_eq!(guard.judge("color: blue", text), KeyValueVerdict::OwnSentence(own.to_owned()));
        assert_eq!(guard.judge("Likes blue", text), KeyValueVerdict::Sentence);
        assert_eq!(guard.judge("a=b", text), KeyValueVerdict::OwnSentence(own.to_owned()));
    }

    #[test]
    fn the_own_sentence_is_the_closest_one() {
        let text = "Il fait beau. Mon médecin est le Dr. Martin, à Lyon. Merci !";
        assert_eq!(own_sentence(text, "médecin: Martin"), "Mon médecin est le Dr. Martin, à Lyon.");
        assert_eq!(own_sentence("", "x: y"), "");
        assert!(own_sentence(&"mot ".repeat(100), "x").chars().count() <= 180);
        assert_eq!(sentences("v1.2 is out. Yes").len(), 2);
    }
}
