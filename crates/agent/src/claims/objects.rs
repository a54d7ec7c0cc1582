//! What the words around a verb name: things, names, people, numbers.

use super::concept::Concept;
use super::names::is_address;
use super::nouns::class::{ALL, APP, FILE, FOLDER, IDIOM, PERSON, PROVIDER};
use super::nouns::{action_of, classes_of};
use super::tokens::{Kind, Token};

/// What the words around a verb name.
#[derive(Debug, Clone, Default)]
pub(super) struct Objects {
    /// Bits of [`class`].
    pub(super) classes: u64,
    /// A pronoun stands for the thing.
    pub(super) pronoun: bool,
    /// A capitalised word that is no known noun.
    pub(super) proper: Vec<String>,
    /// Those of them that stand behind "to": who it was for.
    pub(super) recipients: Vec<String>,
    /// Names of files, addresses and the like, folded.
    pub(super) names: Vec<String>,
    /// A quotation stands among them.
    pub(super) quote: bool,
    /// "your", "votre": the user's thing.
    pub(super) possessed: bool,
    /// The user is the one it is done for or sent to.
    pub(super) to_user: bool,
    /// A content word of no known class.
    pub(super) unknown: bool,
    /// An article, a demonstrative or a possessive: a definite thing, not a kind of things.
    pub(super) definite: bool,
    /// "no", "nothing", "aucun": there is no such thing.
    pub(super) none: bool,
    /// A number of things.
    pub(super) count: Option<u64>,
    /// The acts that nouns stand for, in order.
    pub(super) actions: Vec<Concept>,
    /// Every folded word, for phrases.
    pub(super) words: Vec<String>,
}

impl Objects {
    /// True when one of these classes is named.
    pub(super) fn any(&self, classes: u64) -> bool {
        self.classes & classes != 0
    }

    /// True when one of these folded words is there.
    pub(super) fn says(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| words.contains(&word.as_str()))
    }

    /// A file, by noun or by name.
    pub(super) fn file(&self) -> bool {
        self.any(FILE | FOLDER) || self.files().next().is_some()
    }

    /// Names that are no addresses.
    pub(super) fn files(&self) -> impl Iterator<Item = &String> {
        self.names.iter().filter(|name| !is_address(name) && !name.contains('@'))
    }

    /// A page's address.
    pub(super) fn address(&self) -> bool {
        self.names.iter().any(|name| is_address(name))
    }
}

/// Words that stand for a thing named before.
#[rustfmt::skip]
const PRONOUNS: &[&str] = &[
    "it", "them", "this", "that", "these", "those", "they", "l'", "ca", "cela", "ceci", "il", "elle", "ils",
    "elles", "c'", "ce", "one", "ones", "celui-ci", "ceux-ci", "tous", "toutes", "all", "both", "everything",
    "tout",
];

const DEFINITE: &[&str] = &[
    "the", "your", "my", "this", "that", "these", "those", "le", "la", "les", "l'", "votre", "vos", "ton", "ta", "tes",
    "mon", "ma", "mes", "ce", "cet", "cette", "ces", "it", "them", "du", "au", "its", "their",
];

/// Words after which a name is what was not done, or only where something came from.
const INSTEAD: [&str; 6] = ["instead", "rather", "lieu", "plutot", "except", "sauf"];

/// What these tokens name.
pub(super) fn named_in(tokens: &[Token]) -> Objects {
    let mut found = Objects::default();
    let mut named = true;
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Name => {
                if named {
                    found.names.push(token.folded.clone());
                }
                found.definite = true;
                found.words.push(token.folded.clone());
            }
            Kind::Quote => found.quote = true,
            Kind::Number => {
                if let Ok(count) = token.folded.parse::<u64>() {
                    found.count.get_or_insert(count);
                }
            }
            Kind::Mark(_) => {}
            Kind::Word => {
                named &= !INSTEAD.contains(&token.word()) && !excludes(tokens, index);
                word(&mut found, tokens, index);
            }
        }
    }
    found
}

/// "a.md, but not b.md", "a.md, mais pas b.md": what follows is left out of what was done.
fn excludes(tokens: &[Token], index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|before| tokens.get(before));
    let joined = before
        .is_some_and(|before| before.is_mark(',') || matches!(before.word(), "but" | "and" | "though" | "mais" | "et"));
    joined && matches!(tokens[index].word(), "not" | "pas" | "non")
}

fn word(found: &mut Objects, tokens: &[Token], index: usize) {
    let token = &tokens[index];
    let word = token.word();
    found.words.push(word.to_owned());
    let next = tokens.get(index + 1);
    let before = index.checked_sub(1).and_then(|before| tokens.get(before)).map_or("", Token::word);
    let last = next.is_none_or(|next| matches!(next.kind, Kind::Mark(_)) || PREPOSITIONS.contains(&next.word()));
    match word {
        "your" | "yours" | "votre" | "vos" | "ton" | "ta" | "tes" => found.possessed = true,
        // "le son" is the sound; "son" before a noun is a possessive.
        "son" if !last => return,
        "you" | "te" | "t'" | "vous" => found.to_user = true,
        "no" | "nothing" | "none" | "aucun" | "aucune" | "rien" | "neither" => found.none = true,
        _ => {}
    }
    if DEFINITE.contains(&word) {
        found.definite = true;
    }
    if let Some(count) = numeral(word) {
        found.count.get_or_insert(count);
    }
    let alone = last || matches!(before, "" | "of");
    if PRONOUNS.contains(&word) && (alone || matches!(word, "it" | "them" | "l'" | "ca" | "cela")) {
        found.pronoun = true;
    }
    let classes = classes_of(word);
    found.classes |= classes;
    if let Some(action) = action_of(word) {
        found.actions.push(action);
    }
    let known = found.proper.len();
    if classes & !(ALL | IDIOM) == 0 && token.text.chars().count() > 2 && !FUNCTION.contains(&word) {
        if token.capital {
            found.proper.push(word.to_owned());
        } else {
            found.unknown = true;
        }
    } else if token.capital && classes & PERSON != 0 || classes & (APP | PROVIDER) != 0 && !KINDS.contains(&word) {
        found.proper.push(word.to_owned());
    }
    if found.proper.len() > known && matches!(before, "to" | "a") {
        found.recipients.push(word.to_owned());
    }
}

/// Nouns for kinds of applications, not for one of them.
#[rustfmt::skip]
const KINDS: &[&str] = &[
    "app", "apps", "application", "applications", "program", "programs", "browser", "navigateur", "logiciel",
    "logiciels", "programme", "programmes", "calculator", "calculatrice", "terminal", "editor", "editeur",
    "window", "windows", "fenetre", "fenetres", "word",
];

/// A number in words, English and French.
fn numeral(word: &str) -> Option<u64> {
    let position = [
        &["zero", "zero"][..],
        &["one"],
        &["two", "deux"],
        &["three", "trois"],
        &["four", "quatre"],
        &["five", "cinq"],
        &["six"],
        &["seven", "sept"],
        &["eight", "huit"],
        &["nine", "neuf"],
        &["ten", "dix"],
    ]
    .iter()
    .position(|words| words.contains(&word))?;
    Some(position as u64)
}

#[rustfmt::skip]
const PREPOSITIONS: &[&str] = &[
    "to", "in", "into", "on", "at", "for", "from", "of", "with", "by", "as", "and", "or", "but", "a", "dans",
    "sur", "pour", "de", "du", "avec", "par", "en", "et", "ou", "mais", "sous", "vers", "chez", "under", "now",
    "successfully", "yet", "again", "already", "using", "before", "after",
];

/// Words that name nothing.
#[rustfmt::skip]
const FUNCTION: &[&str] = &[
    "the", "and", "for", "with", "from", "into", "onto", "your", "you", "this", "that", "these", "those",
    "they", "them", "there", "here", "now", "just", "successfully", "already", "also", "then", "too", "all",
    "any", "some", "new", "called", "named", "under", "again", "yet", "using", "via", "per", "our", "its",
    "their", "his", "her", "him", "she", "has", "have", "had", "was", "were", "been", "are", "not", "but",
    "out", "off", "back", "away", "down", "over", "les", "des", "une", "dans", "sur", "pour", "avec", "par",
    "vers", "chez", "sous", "votre", "vos", "ton", "tes", "mon", "mes", "ses", "leur", "leurs", "cet", "cette",
    "ces", "qui", "que", "dont", "bien", "deja", "aussi", "maintenant", "ensuite", "puis", "tous", "tout",
    "toutes", "toute", "nouveau", "nouvelle", "nomme", "intitule", "appele", "ici", "pas", "plus", "jamais",
    "est", "ont", "ete", "avez", "comme", "afin", "correctement", "who", "which", "what", "when", "where",
    "please", "today", "tomorrow", "demain", "until", "about", "more", "other", "only", "quickly", "carefully",
    "safely", "possible", "vous", "nous", "elle", "elles", "ils", "succes", "instead", "rather", "aucun",
    "aucune", "nothing", "rien", "none", "directly", "directement", "automatiquement", "automatically",
    "asked", "demande",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::nouns::class::SOUND;
    use crate::claims::tokens::sentences;

    fn of(text: &str) -> Objects {
        named_in(&sentences(text)[0].tokens)
    }

    #[test]
    fn classes_and_names() {
        assert!(of("your reports").file());
        assert_eq!(of("`a.txt` instead of b.txt").names, ["a.txt"]);
        assert!(of("https://example.org/x").address());
        assert!(of("Il monte le son").any(SOUND) && !of("son fichier").any(SOUND));
        assert_eq!(of("trois fichiers").count, Some(3));
        assert!(of("la suppression").actions.contains(&Concept::Delete));
    }
}
