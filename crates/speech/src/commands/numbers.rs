//! Numbers from 0 to 9999 in words and digits, cardinal and ordinal, in English and French.

use super::language::Language;
use super::text::fold;

/// A number that was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// Its value.
    pub value: u32,
    /// `third`, not `three`.
    pub ordinal: bool,
    /// How many words it took.
    pub words: usize,
    /// Another word that sounds like it, such as `for`.
    pub homophone: bool,
}

/// The number that these words begin with, as many of them as belong to it.
pub fn number(words: &[String], language: Language) -> Option<Number> {
    let first = words.first()?;
    if first.starts_with(|c: char| c.is_ascii_digit()) {
        return digits(first, language);
    }
    let found = match language {
        Language::En => english(words),
        Language::Fr => french(words),
    };
    found.or_else(|| homophone(first, language))
}

/// `3`, `3rd`, `3e`, `1er`.
fn digits(word: &str, language: Language) -> Option<Number> {
    let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (number, suffix) = word.split_at(end);
    let value = number.parse().ok().filter(|value| *value <= 9_999)?;
    let suffix = fold(suffix);
    let ordinal = match (language, suffix.as_str()) {
        (_, "") => false,
        (Language::En, "st" | "nd" | "rd" | "th") => true,
        (Language::Fr, "e" | "er" | "ere" | "re" | "eme" | "ieme" | "nd" | "nde") => true,
        _ => return None,
    };
    Some(Number { value, ordinal, words: 1, homophone: false })
}

fn homophone(word: &str, language: Language) -> Option<Number> {
    let value = match (language, word) {
        (Language::En, "to" | "too") => 2,
        (Language::En, "for") => 4,
        (Language::En, "ate") => 8,
        (Language::Fr, "cet" | "set") => 7,
        _ => return None,
    };
    Some(Number { value, ordinal: false, words: 1, homophone: true })
}

const ENGLISH_UNITS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const ENGLISH_UNITS_TH: [&str; 20] = [
    "zeroth",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
];
const ENGLISH_TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const ENGLISH_TENS_TH: [&str; 8] =
    ["twentieth", "thirtieth", "fortieth", "fiftieth", "sixtieth", "seventieth", "eightieth", "ninetieth"];

fn place(list: &[&str], word: &str) -> Option<u32> {
    list.iter().position(|entry| *entry == word).and_then(|index| u32::try_from(index).ok())
}

fn english(words: &[String]) -> Option<Number> {
    let word = |index: usize| words.get(index).map_or("", String::as_str);
    let found = |value, ordinal, words| Some(Number { value, ordinal, words, homophone: false });
    if let Some(value) = place(&ENGLISH_UNITS, word(0)) {
        let hundred = (1..=9).contains(&value) && word(1) == "hundred";
        return if hundred { english_hundred(words, value) } else { found(value, false, 1) };
    }
    if let Some(value) = place(&ENGLISH_UNITS_TH, word(0)) {
        return found(value, true, 1);
    }
    if let Some(ten) = place(&ENGLISH_TENS_TH, word(0)) {
        return found(20 + 10 * ten, true, 1);
    }
    let tens = 20 + 10 * place(&ENGLISH_TENS, word(0))?;
    let unit = |list: &[&str]| place(list, word(1)).filter(|unit| (1..=9).contains(unit));
    if let Some(unit) = unit(&ENGLISH_UNITS) {
        return found(tens + unit, false, 2);
    }
    if let Some(unit) = unit(&ENGLISH_UNITS_TH) {
        return found(tens + unit, true, 2);
    }
    found(tens, false, 1)
}

/// `two hundred (and) five`.
fn english_hundred(words: &[String], hundreds: u32) -> Option<Number> {
    let and = usize::from(words.get(2).is_some_and(|word| word == "and"));
    let rest = words.get(2 + and..).and_then(english).filter(|rest| (1..=99).contains(&rest.value));
    let whole = Number { value: 100 * hundreds, ordinal: false, words: 2, homophone: false };
    Some(rest.map_or(whole, |rest| Number {
        value: whole.value + rest.value,
        words: 2 + and + rest.words,
        ordinal: rest.ordinal,
        homophone: false,
    }))
}

const FRENCH_UNITS: [&str; 17] = [
    "zero", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze", "treize",
    "quatorze", "quinze", "seize",
];
const FRENCH_UNITS_TH: [&str; 17] = [
    "",
    "unieme",
    "deuxieme",
    "troisieme",
    "quatrieme",
    "cinquieme",
    "sixieme",
    "septieme",
    "huitieme",
    "neuvieme",
    "dixieme",
    "onzieme",
    "douzieme",
    "treizieme",
    "quatorzieme",
    "quinzieme",
    "seizieme",
];
const FRENCH_TENS: [&str; 5] = ["vingt", "trente", "quarante", "cinquante", "soixante"];
const FRENCH_TENS_TH: [&str; 5] = ["vingtieme", "trentieme", "quarantieme", "cinquantieme", "soixantieme"];

fn french(words: &[String]) -> Option<Number> {
    let folded: Vec<String> = words.iter().take(6).map(|word| fold(word)).collect();
    let folded: Vec<&str> = folded.iter().map(String::as_str).collect();
    french_hundred(&folded).or_else(|| french_below_hundred(&folded))
}

fn french_hundred(words: &[&str]) -> Option<Number> {
    let (hundreds, used) = match words {
        ["cent" | "cents", ..] => (1, 1),
        [unit, "cent" | "cents", ..] => (place(&FRENCH_UNITS, unit).filter(|unit| (2..=9).contains(unit))?, 2),
        _ => return None,
    };
    let rest = words.get(used..).and_then(french_below_hundred).filter(|rest| rest.value > 0);
    let whole = Number { value: 100 * hundreds, ordinal: false, words: used, homophone: false };
    Some(rest.map_or(whole, |rest| Number {
        value: whole.value + rest.value,
        words: used + rest.words,
        ordinal: rest.ordinal,
        homophone: false,
    }))
}

fn french_below_hundred(words: &[&str]) -> Option<Number> {
    let first = *words.first()?;
    let found = |value, ordinal, words| Some(Number { value, ordinal, words, homophone: false });
    match first {
        "une" => return found(1, false, 1),
        "premier" | "premiere" => return found(1, true, 1),
        "second" | "seconde" => return found(2, true, 1),
        "septante" => return french_tens(70, &words[1..], 1),
        "octante" | "huitante" => return french_tens(80, &words[1..], 1),
        "nonante" => return french_tens(90, &words[1..], 1),
        _ => {}
    }
    if first == "quatre" {
        match words.get(1) {
            Some(&("vingt" | "vingts")) => return french_tens(80, &words[2..], 2),
            Some(&"vingtieme") => return found(80, true, 2),
            _ => {}
        }
    }
    if let Some(ten) = place(&FRENCH_TENS, first) {
        return french_tens(20 + 10 * ten, &words[1..], 1);
    }
    if let Some(ten) = place(&FRENCH_TENS_TH, first) {
        return found(20 + 10 * ten, true, 1);
    }
    french_unit(words)
}

/// Up to nineteen.
fn french_unit(words: &[&str]) -> Option<Number> {
    let first = *words.first()?;
    let found = |value, ordinal, words| Some(Number { value, ordinal, words, homophone: false });
    if first == "dix" {
        let unit =
            |list: &[&str]| words.get(1).and_then(|word| place(list, word)).filter(|unit| (7..=9).contains(unit));
        if let Some(unit) = unit(&FRENCH_UNITS) {
            return found(10 + unit, false, 2);
        }
        if let Some(unit) = unit(&FRENCH_UNITS_TH) {
            return found(10 + unit, true, 2);
        }
    }
    if first == "une" {
        return found(1, false, 1);
    }
    if let Some(value) = place(&FRENCH_UNITS, first) {
        return found(value, false, 1);
    }
    place(&FRENCH_UNITS_TH, first).filter(|value| *value > 0).and_then(|value| found(value, true, 1))
}

/// What follows `vingt`, `soixante`, `quatre-vingt`: `et un`, `dix-sept`.
fn french_tens(tens: u32, rest: &[&str], used: usize) -> Option<Number> {
    let and = usize::from(rest.first() == Some(&"et"));
    let most = if tens == 60 || tens == 80 { 19 } else { 9 };
    let unit = rest.get(and..).and_then(french_unit).filter(|unit| (1..=most).contains(&unit.value));
    // "et" belongs before one and eleven only: "vingt et deux" is two things.
    let unit = unit.filter(|unit| and == 0 || unit.value == 1 || unit.value == 11);
    let whole = Number { value: tens, ordinal: false, words: used, homophone: false };
    Some(unit.map_or(whole, |unit| Number {
        value: tens + unit.value,
        ordinal: unit.ordinal,
        words: used + and + unit.words,
        homophone: false,
    }))
}

/// A number from 1 to 99 as it is said; in digits above.
pub fn spoken(value: u32, ordinal: bool, language: Language) -> String {
    let index = |value: u32| value as usize;
    match (language, value) {
        (_, 0 | 100..) => value.to_string(),
        (Language::En, 1..=19) => (if ordinal { ENGLISH_UNITS_TH } else { ENGLISH_UNITS })[index(value)].to_owned(),
        (Language::En, _) => {
            let (ten, unit) = (index(value / 10 - 2), index(value % 10));
            match (unit, ordinal) {
                (0, false) => ENGLISH_TENS[ten].to_owned(),
                (0, true) => ENGLISH_TENS_TH[ten].to_owned(),
                (_, false) => format!("{}-{}", ENGLISH_TENS[ten], ENGLISH_UNITS[unit]),
                (_, true) => format!("{}-{}", ENGLISH_TENS[ten], ENGLISH_UNITS_TH[unit]),
            }
        }
        (Language::Fr, _) => spoken_french(value, ordinal),
    }
}

fn spoken_french(value: u32, ordinal: bool) -> String {
    if ordinal {
        return match value {
            1 => "premier".to_owned(),
            _ => french_ordinal(&spoken_french(value, false)),
        };
    }
    let unit = |value: u32| FRENCH_UNITS[value as usize].to_owned();
    match value {
        0..=16 => unit(value),
        17..=19 => format!("dix-{}", unit(value - 10)),
        80 => "quatre-vingts".to_owned(),
        81..=99 => format!("quatre-vingt-{}", spoken_french(value - 80, false)),
        _ => {
            let tens = if value >= 70 { 60 } else { value / 10 * 10 };
            let word = FRENCH_TENS[(tens / 10 - 2) as usize];
            match value - tens {
                0 => word.to_owned(),
                rest @ (1 | 11) => format!("{word} et {}", spoken_french(rest, false)),
                rest => format!("{word}-{}", spoken_french(rest, false)),
            }
        }
    }
}

fn french_ordinal(cardinal: &str) -> String {
    let stem = cardinal.strip_suffix('s').filter(|_| cardinal.ends_with("vingts")).unwrap_or(cardinal);
    let stem = match stem {
        stem if stem.ends_with("cinq") => format!("{stem}u"),
        stem if stem.ends_with("neuf") => format!("{}v", &stem[..stem.len() - 1]),
        stem => stem.strip_suffix('e').unwrap_or(stem).to_owned(),
    };
    format!("{stem}ième")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::text::words;
    use proptest::prelude::*;

    fn read(text: &str, language: Language) -> Option<(u32, bool, usize)> {
        number(&words(text, language), language).map(|found| (found.value, found.ordinal, found.words))
    }

    #[test]
    fn numbers_that_are_said_and_written() {
        assert_eq!(read("twenty-one", Language::En), Some((21, false, 2)));
        assert_eq!(read("twenty first", Language::En), Some((21, true, 2)));
        assert_eq!(read("3rd", Language::En), Some((3, true, 1)));
        assert_eq!(read("two hundred and five", Language::En), Some((205, false, 4)));
        assert_eq!(read("quatre-vingt-dix-neuf", Language::Fr), Some((99, false, 4)));
        assert_eq!(read("soixante et onze", Language::Fr), Some((71, false, 3)));
        assert_eq!(read("vingt et unième", Language::Fr), Some((21, true, 3)));
        assert_eq!(read("1er", Language::Fr), Some((1, true, 1)));
        assert_eq!(read("deux cent trois", Language::Fr), Some((203, false, 3)));
        assert_eq!(read("vingt et deux", Language::Fr), Some((20, false, 1)));
        assert_eq!(read("nonante-sept", Language::Fr), Some((97, false, 2)));
        assert_eq!(read("99999999999999999999", Language::En), None);
        assert_eq!(read("3d", Language::En), None);
        assert_eq!(read("hello", Language::En), None);
    }

    #[test]
    fn what_is_spoken_is_understood() {
        for language in Language::ALL {
            for value in 1..=99 {
                for ordinal in [false, true] {
                    let said = spoken(value, ordinal, language);
                    let words = words(&said, language);
                    assert_eq!(read(&said, language), Some((value, ordinal, words.len())), "{said}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_words_are_read_without_a_panic(text in "[a-zé0-9 -]{0,40}") {
            for language in Language::ALL {
                if let Some((value, _, used)) = read(&text, language) {
                    prop_assert!(value <= 9_999 && used >= 1 && used <= words(&text, language).len());
                }
            }
        }
    }
}
