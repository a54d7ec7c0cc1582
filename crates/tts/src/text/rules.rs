//! Everything with digits and signs, rule after rule. A rule leaves words behind, so that no later one sees
//! what an earlier one has read; the order matters.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::numbers::{Language, cardinal, decimal, digits, english_year, feminine, ordinal, whole};
use super::tables::{CURRENCIES, Currency, FEMININE_NOUNS, MONTHS, UNITS, month, month_named};

/// A regular expression that is compiled once.
macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($text).ok());
    };
}

/// Replaces every match; a match for which the rule has no words stays.
pub(crate) fn replace(
    pattern: &LazyLock<Option<Regex>>,
    text: String,
    words: impl Fn(&Captures<'_>) -> Option<String>,
) -> String {
    let Some(pattern) = pattern.as_ref() else { return text };
    if !pattern.is_match(&text) {
        return text;
    }
    pattern.replace_all(&text, |found: &Captures<'_>| words(found).unwrap_or_else(|| found[0].to_owned())).into_owned()
}

fn number(found: &Captures<'_>, group: usize) -> Option<u64> {
    found.get(group)?.as_str().parse().ok()
}

fn at<'a>(found: &'a Captures<'_>, group: usize) -> &'a str {
    found.get(group).map_or("", |group| group.as_str())
}

pattern!(EMAIL, r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b");
pattern!(ADDRESS, r#"\b(?:https?|ftp)://[^\s<>")\]]+|\bwww\.[^\s<>")\]]+"#);

/// E-mail addresses and web addresses; of the latter the host.
pub(crate) fn addresses(text: String, language: Language) -> String {
    let dot = language.pick(" dot ", " point ");
    let text = replace(&EMAIL, text, |found| {
        let said = found[0].replace('.', dot).replace('@', language.pick(" at ", " arobase "));
        Some(
            said.replace('-', language.pick(" dash ", " tiret "))
                .replace('_', language.pick(" underscore ", " tiret bas ")),
        )
    });
    replace(&ADDRESS, text, |found| {
        let address = found[0].trim_end_matches(['.', ',', ';', ':', '!', '?']);
        let rest = &found[0][address.len()..];
        let host = address.split_once("://").map_or(address, |(_, host)| host);
        let host = host.split(['/', '?', '#', ':']).next().unwrap_or(host);
        let host = host.rsplit('@').next().unwrap_or(host).trim_start_matches("www.");
        Some(format!("{}{rest}", host.replace('.', dot)))
    })
}

pattern!(ISO_DATE, r"\b(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?Z?)?\b");
pattern!(SLASH_DATE, r"\b(\d{1,2})[/.](\d{1,2})[/.](\d{4})\b");
pattern!(MONTH_DAY, r"\b([A-Z][a-z]{2,8})\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?\b");
pattern!(DAY_MONTH, r"(?i)\b(the )?(\d{1,2})(?:st|nd|rd|th|er)?(?: of)? ([a-zéû]{3,9})\b(\.)?(?: (\d{4})\b)?");

/// Dates.
pub(crate) fn dates(text: String, language: Language) -> String {
    let text = replace(&ISO_DATE, text, |found| {
        let said = date(number(found, 3)?, month(number(found, 2)?, language)?, number(found, 1), language)?;
        Some(match (number(found, 4), number(found, 5)) {
            (Some(hour), Some(minute)) => {
                format!("{said}{}{}", language.pick(" at ", " à "), clock(hour, minute, None, language)?)
            }
            _ => said,
        })
    });
    let text = replace(&SLASH_DATE, text, |found| {
        let (first, second, year) = (number(found, 1)?, number(found, 2)?, number(found, 3));
        // English has both orders; where only one is a date, it is that one.
        let (day, named) = if language == Language::French || first > 12 { (first, second) } else { (second, first) };
        date(day, month(named, language)?, year, language)
    });
    let text = match language {
        Language::English => replace(&MONTH_DAY, text, |found| {
            date(number(found, 2)?, month_named(at(found, 1), language)?, number(found, 3), language)
        }),
        Language::French => text,
    };
    replace(&DAY_MONTH, text, |found| {
        let named = month_named(at(found, 3), language)?;
        let (day, year) = (number(found, 2)?, number(found, 5));
        if !(1..=31).contains(&day) {
            return None;
        }
        // After a whole name the full stop ends a sentence.
        let is_whole = at(found, 3).chars().count() == named.chars().count();
        let stop = if found.get(4).is_some() && is_whole { "." } else { "" };
        if !stop.is_empty() && year.is_some() {
            return None;
        }
        if language == Language::French {
            return date(day, named, year, language).map(|said| said + stop);
        }
        // "may" is seldom the month when it is written small.
        if at(found, 3) == "may" {
            return None;
        }
        let year = year.map_or(String::new(), |year| format!(" {}", english_year(year)));
        Some(format!("the {} of {named}{year}{stop}", ordinal(day, language, false)))
    })
}

fn date(day: u64, month: &str, year: Option<u64>, language: Language) -> Option<String> {
    if !(1..=31).contains(&day) {
        return None;
    }
    Some(match language {
        Language::English => {
            let year = year.map_or(String::new(), |year| format!(", {}", english_year(year)));
            format!("{month} {}{year}", ordinal(day, language, false))
        }
        Language::French => {
            let day = if day == 1 { "premier".to_owned() } else { cardinal(day, language) };
            let year = year.map_or(String::new(), |year| format!(" {}", cardinal(year, language)));
            format!("{day} {month}{year}")
        }
    })
}

pattern!(CLOCK, r"(?i)\b(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s?(?:([ap])m\b|([ap])\.m\.))?");
pattern!(HOUR_ONLY, r"(?i)\b(\d{1,2})\s?(?:([ap])m\b|([ap])\.m\.)");
pattern!(FRENCH_CLOCK, r"\b(\d{1,2})\s?h(?:\s?(\d{2}))?\b");

/// Times of day.
pub(crate) fn times(text: String, language: Language) -> String {
    let text = replace(&CLOCK, text, |found| {
        let half = found.get(4).or_else(|| found.get(5)).map(|half| half.as_str().to_lowercase());
        let said = clock(number(found, 1)?, number(found, 2)?, half.as_deref(), language)?;
        let Some(seconds) = number(found, 3) else { return Some(said) };
        let words = if language == Language::French { feminine(seconds) } else { cardinal(seconds, language) };
        let plural = if seconds > 1 || (seconds == 0 && language == Language::English) { "s" } else { "" };
        Some(format!("{said} {} {words} {}{plural}", language.pick("and", "et"), language.pick("second", "seconde")))
    });
    match language {
        Language::French => replace(&FRENCH_CLOCK, text, |found| {
            let minute = match found.get(2) {
                Some(_) => number(found, 2)?,
                None => 0,
            };
            clock(number(found, 1)?, minute, None, language)
        }),
        Language::English => replace(&HOUR_ONLY, text, |found| {
            let hour = number(found, 1).filter(|hour| (1..=12).contains(hour))?;
            let half = if found.get(2).is_some() { at(found, 2) } else { at(found, 3) };
            Some(format!("{} {} m", cardinal(hour, language), half.to_lowercase()))
        }),
    }
}

/// A sign before a number.
pub(crate) fn minus(text: String, language: Language) -> String {
    replace(&MINUS, text, |found| Some(format!("{}{} {}", at(found, 1), language.pick("minus", "moins"), at(found, 2))))
}

fn clock(hour: u64, minute: u64, half: Option<&str>, language: Language) -> Option<String> {
    if hour > 24 || minute > 59 {
        return None;
    }
    if language == Language::French {
        let plural = if hour > 1 { "s" } else { "" };
        let hours = format!("{} heure{plural}", feminine(hour));
        return Some(if minute == 0 { hours } else { format!("{hours} {}", feminine_minutes(minute)) });
    }
    let hours = cardinal(hour, language);
    Some(match (minute, half) {
        (0, Some(half)) => format!("{hours} {half} m"),
        (0, None) if (1..=12).contains(&hour) => format!("{hours} o'clock"),
        (0, None) if hour == 0 => "midnight".to_owned(),
        (0, None) => format!("{hours} hundred hours"),
        (minute, half) => {
            let oh = if minute < 10 { "oh " } else { "" };
            let half = half.map_or(String::new(), |half| format!(" {half} m"));
            format!("{hours} {oh}{}{half}", cardinal(minute, language))
        }
    })
}

/// Minutes after the hour: `trente`, `zéro cinq`, `vingt et une`.
fn feminine_minutes(minute: u64) -> String {
    if minute < 10 { format!("zéro {}", feminine(minute)) } else { feminine(minute) }
}

/// A number as it is written in either language: digits with separators of thousands, and decimals.
const NUMBER: &str = r"\d{1,3}(?:[ \u{a0}\u{202f}]\d{3})+(?:[.,]\d+)?|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?";

/// Whole part and decimals of a written number.
fn parts(written: &str, language: Language) -> (String, Option<String>) {
    let written: String = written.chars().filter(|character| !character.is_whitespace()).collect();
    // Groups of three behind commas are thousands in English, a comma is the decimal mark in French.
    let groups = written.split(',').skip(1).all(|group| group.split('.').next().is_some_and(|group| group.len() == 3));
    let is_thousands = written.contains(',')
        && groups
        && (language == Language::English || written.matches(',').count() > 1 || written.contains('.'));
    let written = if is_thousands { written.replace(',', "") } else { written.replace(',', ".") };
    match written.split_once('.') {
        Some((start, rest)) => (start.to_owned(), Some(rest.to_owned())),
        None => (written, None),
    }
}

/// A written number in words.
fn spoken_number(written: &str, language: Language) -> String {
    match parts(written, language) {
        (start, Some(rest)) => decimal(&start, &rest, language),
        (start, None) => whole(&start, language),
    }
}

/// Whether a written number takes the plural: in French from two on, in English everything but one.
fn is_plural(written: &str, language: Language) -> bool {
    let (start, rest) = parts(written, language);
    let start = start.trim_start_matches('0');
    match language {
        Language::French => !matches!(start, "" | "1"),
        Language::English => start != "1" || rest.is_some(),
    }
}

static MONEY_BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r"(US\$|[$€£¥])\s?({NUMBER})(?:\s?(k|K|M|m|bn|B|thousand|million|billion|trillion|mille|millions?|milliards?)\b)?")).ok()
});
static MONEY_AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r"\b({NUMBER})(?:[ \x{{a0}}\x{{202f}}]?(k|M|Md|thousand|million|billion|trillion|millions?|milliards?))?[ \x{{a0}}\x{{202f}}]?(€|\$|£|¥|(?:EUR|USD|GBP|JPY|CHF)\b)")).ok()
});

/// Money.
pub(crate) fn money(text: String, language: Language) -> String {
    let text = replace(&MONEY_BEFORE, text, |found| amount(at(found, 2), at(found, 3), at(found, 1), language));
    replace(&MONEY_AFTER, text, |found| amount(at(found, 1), at(found, 2), at(found, 3), language))
}

fn amount(written: &str, scale: &str, sign: &str, language: Language) -> Option<String> {
    let currency = CURRENCIES.iter().find(|currency| currency.signs.contains(&sign))?;
    let [one, many, ..] = currency.words(language);
    if !scale.is_empty() {
        return scaled(written, scale, many, language);
    }
    let (start, rest) = parts(written, language);
    let cents = rest.as_deref().filter(|rest| rest.len() <= 2).map(|rest| format!("{rest:0<2}"));
    let whole_units: u64 = start.parse().ok()?;
    let (Some(cents), true) = (
        cents.as_deref().map_or(Some(0), |cents| cents.parse::<u64>().ok()),
        rest.as_ref().is_none_or(|rest| rest.len() <= 2),
    ) else {
        return Some(format!("{} {many}", spoken_number(written, language)));
    };
    Some(coins(whole_units, cents, currency, one, many, language))
}

fn coins(units: u64, cents: u64, currency: &Currency, one: &str, many: &str, language: Language) -> String {
    let [.., cent, hundredths] = currency.words(language);
    let hundredth = if cents == 1 { cent } else { hundredths };
    if language == Language::English {
        let name = if units == 1 { one } else { many };
        return match (units, cents) {
            (_, 0) => format!("{} {name}", cardinal(units, language)),
            (0, _) => format!("{} {hundredth}", cardinal(cents, language)),
            _ => format!("{} {name} and {} {hundredth}", cardinal(units, language), cardinal(cents, language)),
        };
    }
    let words = if currency.is_feminine { feminine(units) } else { cardinal(units, language) };
    let name = if units > 1 { many } else { one };
    let of = if units >= 1_000_000 && units.is_multiple_of(1_000_000) { of(name) } else { format!(" {name}") };
    match (units, cents) {
        (_, 0) => format!("{words}{of}"),
        (0, _) => format!("{} {hundredth}", cardinal(cents, language)),
        _ => format!("{words} {name} {}", cardinal(cents, language)),
    }
}

/// French `de` before a noun, shortened before a vowel.
fn of(noun: &str) -> String {
    let vowel = noun.starts_with(['a', 'e', 'é', 'i', 'o', 'u', 'y', 'h']) && !noun.starts_with("yen");
    if vowel { format!(" d'{noun}") } else { format!(" de {noun}") }
}

fn scaled(written: &str, scale: &str, many: &str, language: Language) -> Option<String> {
    let number = spoken_number(written, language);
    if language == Language::English {
        let scale = match scale {
            "k" | "K" | "mille" => "thousand",
            "M" | "m" | "millions" => "million",
            "bn" | "B" | "Md" | "milliard" | "milliards" => "billion",
            other => other,
        };
        return Some(format!("{number} {scale} {many}"));
    }
    let plural = if is_plural(written, language) { "s" } else { "" };
    let scale = match scale {
        "k" | "K" | "thousand" | "mille" => return Some(format!("{number} mille {many}")),
        "M" | "m" | "million" | "millions" => "million",
        "Md" | "bn" | "B" | "billion" | "milliard" | "milliards" => "milliard",
        _ => return None,
    };
    Some(format!("{number} {scale}{plural}{}", of(many)))
}

static PERCENT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"\b({NUMBER})[ \x{{a0}}\x{{202f}}]?(%|‰)")).ok());
static WITH_UNIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let symbols: Vec<String> = UNITS.iter().map(|unit| regex::escape(unit.symbol)).collect();
    Regex::new(&format!(r"(\b|^|[^\w.,])({NUMBER})([ \x{{a0}}\x{{202f}}]?)({})(\W|$)", symbols.join("|"))).ok()
});

/// Percentages and units.
pub(crate) fn units(text: String, language: Language) -> String {
    let text = replace(&PERCENT, text, |found| {
        let sign = if at(found, 2) == "%" {
            language.pick("percent", "pour cent")
        } else {
            language.pick("per mille", "pour mille")
        };
        Some(format!("{} {sign}", spoken_number(at(found, 1), language)))
    });
    // A match takes the character behind it, which may be the one before the next.
    let once = |text| {
        replace(&WITH_UNIT, text, |found| {
            let (written, gap, symbol) = (at(found, 2), at(found, 3), at(found, 4));
            // "1980s" and "5 l'un" are no seconds and no litres.
            let is_other = (symbol == "s" && gap.is_empty() && written.len() >= 2) || at(found, 5) == "'";
            if is_other {
                return None;
            }
            let unit = UNITS.iter().find(|unit| unit.symbol == symbol)?;
            let words = if language == Language::French && unit.is_feminine && parts(written, language).1.is_none() {
                feminine(parts(written, language).0.parse().ok()?)
            } else {
                spoken_number(written, language)
            };
            let word = unit.word(is_plural(written, language), language);
            Some(format!("{}{words} {word}{}", at(found, 1), at(found, 5)))
        })
    };
    once(once(text))
}

pattern!(FRENCH_PHONE, r"(\+33|\b0)[ .\u{a0}-]?(\d(?:[ .\u{a0}-]?\d{2}){4})\b");
pattern!(ENGLISH_PHONE, r"(?:\+(\d{1,3})[ .-]?)?(?:\((\d{3})\)|\b(\d{3}))[ .-]?(\d{3})[-. ](\d{4})\b");
pattern!(LONG_PHONE, r"\+(\d{1,3}(?:[ .-]\d{2,4}){2,5})\b");

/// What looks like a telephone number.
pub(crate) fn phones(text: String, language: Language) -> String {
    let by_digit = |group: &str| digits(group, language);
    let text = match language {
        Language::French => replace(&FRENCH_PHONE, text, |found| {
            let rest: String = at(found, 2).chars().filter(char::is_ascii_digit).collect();
            let first = if at(found, 1) == "0" { "zéro".to_owned() } else { "plus trente-trois,".to_owned() };
            let mut groups = vec![format!("{first} {}", by_digit(&rest[..1]))];
            for pair in rest.as_bytes()[1..].chunks(2) {
                groups.push(whole(std::str::from_utf8(pair).ok()?, language));
            }
            Some(groups.join(", "))
        }),
        Language::English => replace(&ENGLISH_PHONE, text, |found| {
            let country = found.get(1).map(|country| format!("plus {}", by_digit(country.as_str())));
            let area = found.get(2).or_else(|| found.get(3))?.as_str();
            let groups = [by_digit(area), by_digit(at(found, 4)), by_digit(at(found, 5))];
            Some(country.into_iter().chain(groups).collect::<Vec<_>>().join(", "))
        }),
    };
    replace(&LONG_PHONE, text, |found| {
        let groups: Vec<String> = at(found, 1).split([' ', '.', '-']).map(by_digit).collect();
        Some(format!("plus {}", groups.join(", ")))
    })
}

pattern!(ENGLISH_ORDINAL, r"\b(\d+)(?:st|nd|rd|th)\b");
pattern!(FRENCH_ORDINAL, r"\b(\d+)(ers?|res?|ères?|ère|nde?|èmes?|emes?|es?)\b");
pattern!(DECADE, r"(?:\b(\d{2})(\d0)|'?\b(\d0))s\b");
pattern!(
    YEAR,
    r"(?i)\b(in|since|from|by|until|till|before|after|around|year|summer|winter|spring|autumn|of|©) ((?:1[1-9]|20)\d{2})\b"
);
pattern!(FRACTION, r"\b(\d{1,2})/(\d{1,3})\b");
pattern!(RANGE, r"\b(\d+(?:[.,]\d+)?)\s?[-–]\s?(\d+(?:[.,]\d+)?)\b");
pattern!(MINUS, r"(^|[\s(=])[-−](\d)");
pattern!(VERSION, r"\bv?(\d+(?:\.\d+){2,})\b");

/// Ordinals, years, decades, fractions, ranges, versions.
pub(crate) fn forms(text: String, language: Language) -> String {
    let text = replace(&VERSION, text, |found| {
        let groups: Vec<String> = at(found, 1).split('.').map(|group| whole(group, language)).collect();
        Some(groups.join(language.pick(" point ", " point ")))
    });
    let text = replace(&FRACTION, text, |found| fraction(number(found, 1)?, number(found, 2)?, language));
    let text =
        replace(&RANGE, text, |found| Some(format!("{} {} {}", at(found, 1), language.pick("to", "à"), at(found, 2))));
    match language {
        Language::French => replace(&FRENCH_ORDINAL, text, |found| {
            let suffix = at(found, 2);
            let is_feminine =
                suffix.starts_with('r') || suffix.starts_with('è') && suffix.contains('r') || suffix == "nde";
            Some(ordinal(number(found, 1)?, language, is_feminine))
        }),
        Language::English => {
            let text = replace(&ENGLISH_ORDINAL, text, |found| Some(ordinal(number(found, 1)?, language, false)));
            let text = replace(&DECADE, text, |found| {
                let tens = number(found, 2).or_else(|| number(found, 3))?;
                let word = cardinal(tens, language).strip_suffix('y').map(|stem| format!("{stem}ies"))?;
                Some(number(found, 1).map_or(word.clone(), |century| format!("{} {word}", cardinal(century, language))))
            });
            replace(&YEAR, text, |found| Some(format!("{} {}", at(found, 1), english_year(number(found, 2)?))))
        }
    }
}

fn fraction(above: u64, below: u64, language: Language) -> Option<String> {
    if above == 24 && below == 7 {
        return Some(format!("{} {}", cardinal(24, language), language.pick("seven", "sur sept")));
    }
    let top = cardinal(above, language);
    if below == 0 || above == 0 || above >= below || below > 10 {
        return Some(format!("{top} {} {}", language.pick("over", "sur"), cardinal(below, language)));
    }
    let plural = if above > 1 { "s" } else { "" };
    let part = match (language, below) {
        (Language::English, 2) => "half".to_owned(),
        (Language::English, 4) => "quarter".to_owned(),
        (Language::French, 2) => "demi".to_owned(),
        (Language::French, 3) => "tiers".to_owned(),
        (Language::French, 4) => "quart".to_owned(),
        _ => ordinal(below, language, false),
    };
    let plural = if part.ends_with('s') { "" } else { plural };
    Some(format!("{top} {part}{plural}"))
}

static NUMBERS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(NUMBER).ok());
static BEFORE_NOUN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let nouns = FEMININE_NOUNS.join("|");
    Regex::new(&format!(r"(^|[^\w.,])(\d+)\s+((?:{nouns})s?)\b")).ok()
});
pattern!(LETTER_DIGIT, r"(\p{L})(\d)");
pattern!(DIGIT_LETTER, r"(\d)(\p{L})");

/// Whatever numbers are left.
pub(crate) fn plain_numbers(text: String, language: Language) -> String {
    let text = match language {
        Language::French => replace(&BEFORE_NOUN, text, |found| {
            Some(format!("{}{} {}", at(found, 1), feminine(number(found, 2)?), at(found, 3)))
        }),
        Language::English => text,
    };
    let text = replace(&LETTER_DIGIT, text, |found| Some(format!("{} {}", at(found, 1), at(found, 2))));
    let text = replace(&DIGIT_LETTER, text, |found| Some(format!("{} {}", at(found, 1), at(found, 2))));
    replace(&NUMBERS, text, |found| {
        let written = &found[0];
        // In English "3,5" is two numbers.
        if language == Language::English
            && written.contains(',')
            && parts(written, language).1.is_some()
            && !written.contains('.')
        {
            let both: Vec<String> = written.split(',').map(|part| whole(part, language)).collect();
            return Some(both.join(", "));
        }
        Some(spoken_number(written, language))
    })
}

/// Whether a word is a month's name or short form, for the chunker.
pub(crate) fn is_month(word: &str) -> bool {
    let word = word.trim_end_matches('.');
    MONTHS.iter().any(|(_, english, _, french)| word.eq_ignore_ascii_case(english) || word.eq_ignore_ascii_case(french))
}
