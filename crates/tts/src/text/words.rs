//! Signs and short forms without digits: abbreviations, Roman numerals, symbols, emojis.

use std::sync::LazyLock;

use regex::Regex;

use super::numbers::{Language, cardinal, ordinal};
use super::rules::replace;
use super::tables::{ENGLISH_ABBREVIATIONS, ENGLISH_SHORT, FRENCH_ABBREVIATIONS, FRENCH_SHORT, RULERS};

/// Abbreviations in full. A full stop that also ends the sentence stays one.
pub(crate) fn abbreviations(text: &str, language: Language) -> String {
    let (dotted, short) = match language {
        Language::English => (ENGLISH_ABBREVIATIONS, ENGLISH_SHORT),
        Language::French => (FRENCH_ABBREVIATIONS, FRENCH_SHORT),
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(character) = rest.chars().next() {
        let starts_word = !before.is_alphanumeric() && before != '.' && before != '-';
        let found = starts_word.then(|| dotted.iter().find(|(form, _)| fits(rest, form))).flatten();
        if let Some((form, meaning)) = found {
            rest = &rest[form.len()..];
            out.push_str(meaning);
            // At the end of the text the full stop ended the sentence too.
            if rest.trim().is_empty() || next_sentence(rest, form) {
                out.push('.');
            }
            before = '.';
            continue;
        }
        let found = starts_word.then(|| short.iter().find(|(form, _)| is_word(rest, form))).flatten();
        if let Some((form, meaning)) = found {
            out.push_str(meaning);
            rest = &rest[form.len()..];
            before = 'x';
            continue;
        }
        out.push(character);
        before = character;
        rest = &rest[character.len_utf8()..];
    }
    out
}

/// Whether the text begins with this abbreviation, and not with a longer word. `No.`, `p.` and the like
/// need a digit behind them; titles need a name.
fn fits(text: &str, form: &str) -> bool {
    let Some(rest) = text.strip_prefix(form) else { return false };
    let mut after = rest.trim_start().chars();
    let next = after.next();
    match form {
        "No." | "p." | "pp." | "Vol." | "vol." | "Fig." | "fig." => next.is_some_and(|next| next.is_ascii_digit()),
        "M." | "MM." | "Mr." | "Mrs." | "Ms." | "Dr." | "Prof." | "Mme." => {
            rest.starts_with([' ', '\u{a0}']) && next.is_some_and(char::is_uppercase)
        }
        _ => true,
    }
}

fn is_word(text: &str, form: &str) -> bool {
    text.strip_prefix(form).is_some_and(|rest| {
        let is_title = form.chars().next().is_some_and(char::is_uppercase);
        let mut next = rest.chars();
        match next.next() {
            Some(' ' | '\u{a0}') => !is_title || next.next().is_some_and(char::is_uppercase),
            _ => false,
        }
    })
}

/// "etc. Then": what ends with an abbreviation that no name or number follows, and a capital letter does.
fn next_sentence(rest: &str, form: &str) -> bool {
    matches!(form, "etc." | "a.m." | "p.m." | "Inc." | "Ltd." | "av. J.-C.")
        && rest.starts_with(' ')
        && rest.trim_start().chars().next().is_some_and(char::is_uppercase)
}

static ROMAN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b([\p{L}-]+) ([IVX]+)(er|re|ère)?\b").ok());
static CENTURY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b([IVX]+)(er|e|ème|th|st|nd|rd)\b").ok());

/// Words that a Roman numeral counts.
const COUNTED: &[&str] = &[
    "chapter", "part", "volume", "book", "act", "scene", "section", "appendix", "type", "phase", "war", "chapitre",
    "partie", "tome", "livre", "acte", "scène", "annexe", "phase", "guerre", "titre", "article", "titan", "final",
    "rocky",
];

/// Roman numerals, where they can hardly be anything else: after a ruler's name, after a word that is
/// counted, with the ending of an ordinal.
pub(crate) fn romans(text: String, language: Language) -> String {
    let text = replace(&CENTURY, text, |found| {
        let value = roman(&found[1])?;
        Some(ordinal(value, language, false))
    });
    replace(&ROMAN, text, |found| {
        let (word, numeral) = (&found[1], &found[2]);
        let value = roman(numeral)?;
        let is_ruler = RULERS.contains(&word);
        if is_ruler {
            // "Paul I think": one alone is too often the pronoun.
            if value == 1 && language == Language::English {
                return None;
            }
            return Some(match language {
                Language::English => format!("{word} the {}", ordinal(value, language, false)),
                Language::French if value == 1 => format!("{word} premier"),
                Language::French => format!("{word} {}", cardinal(value, language)),
            });
        }
        let is_counted = COUNTED.contains(&word.to_lowercase().as_str());
        (is_counted && (numeral.len() > 1 || word != "I")).then(|| format!("{word} {}", cardinal(value, language)))
    })
}

/// The value of a numeral of I, V and X that is written as usual.
fn roman(numeral: &str) -> Option<u64> {
    let value = |digit: char| match digit {
        'I' => Some(1),
        'V' => Some(5),
        'X' => Some(10),
        _ => None,
    };
    let digits: Vec<u64> = numeral.chars().map(value).collect::<Option<_>>()?;
    // A smaller digit before a larger one is taken from it.
    let (mut total, mut last) = (0_u64, 0);
    for digit in digits.into_iter().rev() {
        total = if digit < last { total.checked_sub(digit)? } else { total + digit };
        last = digit;
    }
    (1..40).contains(&total).then_some(total).filter(|total| written(*total) == numeral)
}

fn written(mut value: u64) -> String {
    let mut out = String::new();
    for (size, digits) in [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")] {
        while value >= size {
            out.push_str(digits);
            value -= size;
        }
    }
    out
}

/// Symbols between words and numbers.
pub(crate) fn symbols(text: &str, language: Language) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let words = match character {
            '&' => language.pick(" and ", " et "),
            '+' => " plus ",
            '=' => language.pick(" equals ", " égale "),
            '×' => language.pick(" times ", " fois "),
            '÷' => language.pick(" divided by ", " divisé par "),
            '±' => language.pick(" plus or minus ", " plus ou moins "),
            '≈' => language.pick(" about ", " environ "),
            '≤' => language.pick(" at most ", " au plus "),
            '≥' => language.pick(" at least ", " au moins "),
            '<' => language.pick(" less than ", " inférieur à "),
            '>' => language.pick(" greater than ", " supérieur à "),
            '→' | '⇒' => ", ",
            '°' => language.pick(" degrees ", " degrés "),
            '%' => language.pick(" percent ", " pour cent "),
            '€' => " euros ",
            '£' => language.pick(" pounds ", " livres "),
            '$' => language.pick(" dollars ", " dollars "),
            '½' => language.pick(" one half ", " un demi "),
            '¼' => language.pick(" one quarter ", " un quart "),
            '¾' => language.pick(" three quarters ", " trois quarts "),
            '@' => language.pick(" at ", " arobase "),
            '#' => language.pick(" number ", " numéro "),
            '*' | '_' | '|' | '^' | '~' | '\\' | '`' | '{' | '}' | '[' | ']' | '©' | '®' | '™' => " ",
            '\u{a0}' | '\u{202f}' | '\u{2009}' => " ",
            '’' | '‘' => "'",
            other if is_dropped(other) => "",
            other => {
                out.push(other);
                continue;
            }
        };
        out.push_str(words);
    }
    out
}

/// Emojis, their joiners, and what cannot be seen.
pub(crate) fn is_dropped(character: char) -> bool {
    matches!(u32::from(character),
        0x1F000..=0x1FAFF | 0x2600..=0x27BF | 0x2B00..=0x2BFF | 0x2300..=0x23FF | 0x25A0..=0x25FF | 0x2190..=0x21FF
        | 0x20D0..=0x20FF | 0xFE00..=0xFE0F | 0xE0000..=0xE007F | 0x200B..=0x200F | 0x2060 | 0xFEFF | 0xE000..=0xF8FF)
        || (character.is_control() && !character.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals_are_read_when_written_as_usual() {
        for (numeral, value) in [
            ("II", Some(2)),
            ("IV", Some(4)),
            ("XIV", Some(14)),
            ("XIX", Some(19)),
            ("XXI", Some(21)),
            ("IIII", None),
            ("VX", None),
            ("IXX", None),
        ] {
            assert_eq!(roman(numeral), value, "{numeral}");
        }
    }

    #[test]
    fn abbreviations_keep_the_end_of_a_sentence() {
        for (text, expected) in [
            ("Mr. Smith, e.g. apples, etc.", "Mister Smith, for example apples, et cetera."),
            ("Ask Dr. Who. No. He left.", "Ask Doctor Who. No. He left."),
            ("No. 5, p. 3", "number 5, page 3"),
            ("apples etc. Then more", "apples et cetera. Then more"),
        ] {
            assert_eq!(abbreviations(text, Language::English), expected);
        }
        for (text, expected) in [
            ("M. Dupont et Mme Durand, p. ex.", "monsieur Dupont et madame Durand, par exemple."),
            ("le Dr Martin, c.-à-d. lui", "le docteur Martin, c'est-à-dire lui"),
            ("Me voici. Mme.", "Me voici. Mme."),
        ] {
            assert_eq!(abbreviations(text, Language::French), expected);
        }
    }
}
