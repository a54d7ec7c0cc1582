//! Which words of a text are personal: names of people by a list, by what stands before them, or by
//! being capitalised in the middle of a sentence; towns; what is joined to a name.

use std::collections::BTreeMap;

use super::names::{first_name, is_also_a_word, is_town};
use super::ordinary::{is_ordinary, is_particle, is_title, relation};
use super::propose::Kind;
use super::words::{Gap, Shape, Word};

/// Whose text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The person's: what they typed, their files, their memory. A capital in the middle of a sentence
    /// is a name.
    Persons,
    /// Somebody's on the web: only names of people count.
    Outside,
}

/// A personal word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Learned {
    pub(super) kind: Kind,
    /// Written small it is an ordinary word.
    pub(super) is_also_a_word: bool,
}

/// The personal words of a text, by their folded writing. `exempt` are words that the tools need.
pub(super) fn learn(words: &[Word], whose: Whose, exempt: impl Fn(&str) -> bool) -> BTreeMap<String, Learned> {
    let mut learned = BTreeMap::new();
    for (place, word) in words.iter().enumerate() {
        if word.is_digits || exempt(&word.folded) {
            continue;
        }
        let Some(kind) = kind_of(words, place, whose, &learned) else { continue };
        let is_also_a_word = is_also_a_word(&word.folded);
        learned
            .entry(word.folded.clone())
            .and_modify(|known: &mut Learned| {
                if matches!(kind, Kind::First(..)) {
                    known.kind = kind;
                }
            })
            .or_insert(Learned { kind, is_also_a_word });
    }
    learned
}

/// Whether a vowel stands first, for the article or preposition before it.
pub(super) fn has_vowel(word: &Word) -> bool {
    word.elided || word.folded.starts_with(['a', 'e', 'i', 'o', 'u'])
}

fn kind_of(words: &[Word], place: usize, whose: Whose, learned: &BTreeMap<String, Learned>) -> Option<Kind> {
    let word = &words[place];
    let before = place.checked_sub(1).map(|place| &words[place]);
    let vowel = has_vowel(word);
    let is_capital = word.shape != Shape::Lower;
    if let Some(gender) = first_name(&word.folded)
        && is_first_name(words, place)
    {
        return Some(Kind::First(gender, vowel));
    }
    if is_town(&word.folded) && is_capital && !word.in_name && whose == Whose::Persons {
        return Some(Kind::Town(vowel));
    }
    if !is_capital || is_ordinary(&word.folded) || word.folded.chars().count() < 2 {
        return follows_name_in_file(words, place, learned).then_some(Kind::Family(vowel));
    }
    if let Some(before) = before {
        if is_title(&before.folded) && word.gap != Gap::Far {
            return Some(Kind::Family(vowel));
        }
        if let Some(gender) = relation(&before.folded)
            && word.gap == Gap::Close
            && word.shape == Shape::Capital
        {
            return Some(Kind::First(gender, vowel));
        }
    }
    if belongs_to_name(words, place, learned) {
        return Some(Kind::Family(vowel));
    }
    let tells = !word.begins && !word.in_title && !word.in_name && word.shape == Shape::Capital;
    if tells && whose == Whose::Persons {
        let is_place = before.is_some_and(|before| ["in", "near"].contains(&before.folded.as_str()));
        return Some(if is_place { Kind::Town(vowel) } else { Kind::Family(vowel) });
    }
    None
}

/// A word of the list is a first name when it is capitalised where that means something, or when it is no
/// word otherwise.
fn is_first_name(words: &[Word], place: usize) -> bool {
    let word = &words[place];
    if is_ordinary(&word.folded) {
        return false;
    }
    let is_word = is_also_a_word(&word.folded);
    match word.shape {
        Shape::Lower => !is_word && word.folded.chars().count() > 3,
        _ if !is_word => true,
        // "Pierre Martin est là" begins with a name, "Will it rain" does not.
        _ if word.begins => {
            let next = words.get(place + 1);
            next.is_some_and(|next| {
                next.shape == Shape::Capital && next.gap == Gap::Close && !is_ordinary(&next.folded)
            })
        }
        _ => true,
    }
}

/// True for a capitalised word behind a first name, with or without small words between, or before one in
/// capitals: "Marie Dupont", "Jean de La Tour", "DUPONT Marie".
fn belongs_to_name(words: &[Word], place: usize, learned: &BTreeMap<String, Learned>) -> bool {
    let is_first = |word: &Word| {
        let known = learned.get(&word.folded).is_some_and(|known| matches!(known.kind, Kind::First(..)));
        known || (first_name(&word.folded).is_some() && word.shape != Shape::Lower && !is_ordinary(&word.folded))
    };
    let is_name = |word: &Word| word.shape != Shape::Lower && (is_first(word) || learned.contains_key(&word.folded));
    let mut gap = words[place].gap;
    for before in words[..place].iter().rev().take(4) {
        if gap == Gap::Far {
            break;
        }
        if is_name(before) {
            return true;
        }
        if !is_particle(&before.folded) {
            break;
        }
        gap = before.gap;
    }
    let next = words.get(place + 1);
    words[place].shape == Shape::Upper && next.is_some_and(|next| next.gap == Gap::Close && is_first(next))
}

/// In a file name, what is joined to a first name is taken for the family's: `cv-marie-dupont.pdf`.
fn follows_name_in_file(words: &[Word], place: usize, learned: &BTreeMap<String, Learned>) -> bool {
    let word = &words[place];
    let Some(before) = place.checked_sub(1).map(|place| &words[place]) else { return false };
    let is_last = words.get(place + 1).is_none_or(|next| !next.in_name || next.gap != Gap::Close);
    let is_first = first_name(&before.folded).is_some_and(|_| !is_also_a_word(&before.folded))
        || learned.get(&before.folded).is_some_and(|known| matches!(known.kind, Kind::First(..)));
    let is_short = word.folded.chars().count() < 3;
    word.in_name
        && before.in_name
        && word.gap == Gap::Close
        && is_first
        && !is_short
        && !is_last
        && !is_ordinary(&word.folded)
}

/// Names that an e-mail address spells out: the parts of `marie.dupont` before the `@`.
pub(super) fn names_of_email(address: &str) -> Vec<(String, Kind)> {
    const ROLES: &[&str] = &[
        "info",
        "contact",
        "hello",
        "admin",
        "support",
        "noreply",
        "no",
        "reply",
        "mail",
        "sales",
        "team",
        "office",
        "service",
        "help",
        "webmaster",
        "postmaster",
        "newsletter",
        "news",
        "billing",
        "accueil",
        "direction",
        "compta",
    ];
    let local = address.split('@').next().unwrap_or_default();
    let parts = local.split(|c: char| !c.is_alphabetic()).map(tenpass_agent::fold);
    let telling =
        parts.filter(|part| part.chars().count() > 2 && !ROLES.contains(&part.as_str()) && !is_ordinary(part));
    telling
        .map(|part| {
            let vowel = part.starts_with(['a', 'e', 'i', 'o', 'u']);
            let kind = first_name(&part).map_or(Kind::Family(vowel), |gender| Kind::First(gender, vowel));
            (part, kind)
        })
        .collect()
}

/// The kind of a word that somebody named: a name of the list, a town, or a name.
pub(super) fn kind_of_named(word: &Word) -> Kind {
    let vowel = has_vowel(word);
    if word.is_digits {
        Kind::Digits
    } else if let Some(gender) = first_name(&word.folded) {
        Kind::First(gender, vowel)
    } else if is_town(&word.folded) {
        Kind::Town(vowel)
    } else {
        Kind::Family(vowel)
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;

    fn learned(text: &str, whose: Whose) -> Vec<String> {
        learn(&words(text), whose, |word| word == "jardin").into_keys().collect()
    }

    #[test]
    fn names_are_found_by_list_and_by_place() {
        for (text, wanted) in [
            ("Écris à Marie Dupont demain.", vec!["dupont", "marie"]),
            ("Envoie le fichier à M. Kowalczyk", vec!["kowalczyk"]),
            ("Remind me to call my wife Zofia", vec!["zofia"]),
            ("write to sophie about the invoice", vec!["sophie"]),
            ("Il habite à Lyon, près de la gare.", vec!["lyon"]),
            ("DUPONT Marie, 3 mai", vec!["dupont", "marie"]),
            ("Charles de Gaulle", vec!["charles", "gaulle"]),
            ("ouvre cv-sophie-durand.pdf", vec!["durand", "sophie"]),
            ("Ask Bartholdy whether it fits", vec!["bartholdy"]),
            ("Pierre Martin est là", vec!["martin", "pierre"]),
        ] {
            assert_eq!(learned(text, Whose::Persons), wanted, "{text}");
        }
    }

    #[test]
    fn ordinary_words_stay() {
        for text in [
            "Open the file on Monday and send it in English.",
            "Ferme la pierre rose, et marie les deux listes.",
            "Will it rain in March? Mark the page.",
            "Demande à Claude de traduire en Français.",
            "Lis README.md et Budget-2026.xlsx dans Documents.",
            "Meeting Notes For The Whole Team",
            "Ouvre le Jardin.",
        ] {
            assert_eq!(learned(text, Whose::Persons), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn of_a_page_only_people_count() {
        assert_eq!(
            learned("The Senate met in Warsaw. Nathalie Sarraute spoke.", Whose::Outside),
            ["nathalie", "sarraute"]
        );
    }

    #[test]
    fn an_address_spells_names() {
        let names: Vec<String> =
            names_of_email("marie-anne.kowalski2@x.fr").into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["marie", "anne", "kowalski"]);
        assert!(names_of_email("contact@x.fr").is_empty());
    }
}
