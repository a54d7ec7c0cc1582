//! Dates as people and models write them, in English and French, numeric or in words.
//!
//! A date is recognised by its parts, in any order that is in use; where day and month cannot be told
//! apart ("03/04/2026") both readings count. A time of day beside the date is not looked at.

/// Year, month, day.
pub(crate) type Date = (i32, u32, u32);

/// Reads `2026-12-01` and nothing else.
pub(crate) fn parse_iso(text: &str) -> Option<Date> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 || month.len() != 2 || day.len() != 2 {
        return None;
    }
    valid(number(year)?, number(month)?, number(day)?)
}

/// True when `text` writes the date `wanted`.
pub(crate) fn writes(text: &str, wanted: Date) -> bool {
    readings(text).contains(&wanted)
}

enum Token {
    Number { value: u32, digits: usize },
    Month(u32),
}

/// Every date that `text` can be read as; empty when it is not one date.
fn readings(text: &str) -> Vec<Date> {
    let Some(tokens) = tokens(text) else { return Vec::new() };
    let numbers: Vec<(u32, usize)> = tokens
        .iter()
        .filter_map(|token| if let Token::Number { value, digits } = token { Some((*value, *digits)) } else { None })
        .collect();
    let months: Vec<u32> =
        tokens.iter().filter_map(|token| if let Token::Month(month) = token { Some(*month) } else { None }).collect();
    let found = match (months.as_slice(), numbers.as_slice()) {
        // 20261201
        ([], [(value, 8)]) => vec![valid((value / 10_000) as i32, value / 100 % 100, value % 100)],
        ([], [first, second, third]) => numeric(*first, *second, *third),
        ([month], [(a, a_digits), (b, b_digits)]) => {
            let (day, year, digits) = if *a_digits > 2 { (*b, *a, *a_digits) } else { (*a, *b, *b_digits) };
            vec![full_year(year, digits).and_then(|year| valid(year, *month, day))]
        }
        _ => Vec::new(),
    };
    found.into_iter().flatten().collect()
}

/// Three numbers: the year first, or last with day and month in either order.
fn numeric(first: (u32, usize), second: (u32, usize), third: (u32, usize)) -> Vec<Option<Date>> {
    if first.1 == 4 {
        return vec![valid(first.0 as i32, second.0, third.0)];
    }
    let Some(year) = full_year(third.0, third.1) else { return Vec::new() };
    vec![valid(year, second.0, first.0), valid(year, first.0, second.0)]
}

fn full_year(value: u32, digits: usize) -> Option<i32> {
    match digits {
        4 => Some(value as i32),
        2 => Some(2000 + value as i32),
        _ => None,
    }
}

/// The numbers and month names of `text`, or `None` when it holds anything that is not part of a date.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let lower = text.trim().to_lowercase();
    let mut tokens = Vec::new();
    for word in without_time(&lower).split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let digits = word.chars().take_while(char::is_ascii_digit).count();
        let (head, tail) = word.split_at(digits);
        if digits > 0 && digits <= 8 && matches!(tail, "" | "st" | "nd" | "rd" | "th" | "er" | "e") {
            tokens.push(Token::Number { value: number(head)?, digits });
        } else if let Some(month) = month(word) {
            tokens.push(Token::Month(month));
        } else if !is_filler(word) {
            return None;
        }
    }
    Some(tokens)
}

/// The part before a time of day: "2026-12-01T08:00:00Z", "1 Dec 2026 at 8:30", "le 1er à 9h".
fn without_time(text: &str) -> &str {
    let bytes = text.as_bytes();
    for (index, char) in text.char_indices() {
        let after = &text[index + char.len_utf8()..];
        let clock = after.bytes().take_while(u8::is_ascii_digit).count();
        let is_clock = (1..=2).contains(&clock) && matches!(after.as_bytes().get(clock), Some(b':' | b'h'));
        let after_digit = index > 0 && bytes[index - 1].is_ascii_digit();
        if is_clock && (char == ' ' || (char == 't' && after_digit)) {
            return text[..index].trim_end_matches([' ', ',']).trim_end_matches(" at").trim_end_matches(" à");
        }
    }
    text
}

fn month(word: &str) -> Option<u32> {
    const MONTHS: [&[&str]; 12] = [
        &["january", "jan", "janvier", "janv"],
        &["february", "feb", "février", "fevrier", "févr", "fév"],
        &["march", "mar", "mars"],
        &["april", "apr", "avril", "avr"],
        &["may", "mai"],
        &["june", "jun", "juin"],
        &["july", "jul", "juillet", "juil"],
        &["august", "aug", "août", "aout"],
        &["september", "sept", "sep", "septembre"],
        &["october", "oct", "octobre"],
        &["november", "nov", "novembre"],
        &["december", "dec", "décembre", "decembre", "déc"],
    ];
    MONTHS.iter().position(|names| names.contains(&word)).map(|index| index as u32 + 1)
}

fn is_filler(word: &str) -> bool {
    const WORDS: [&str; 34] = [
        "the",
        "of",
        "on",
        "le",
        "du",
        "de",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "mon",
        "tue",
        "tues",
        "wed",
        "thu",
        "thur",
        "thurs",
        "fri",
        "sat",
        "sun",
        "lundi",
        "mardi",
        "mercredi",
        "jeudi",
        "vendredi",
        "samedi",
        "dimanche",
        "ce",
        "an",
        "year",
        "day",
    ];
    WORDS.contains(&word)
}

fn valid(year: i32, month: u32, day: u32) -> Option<Date> {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    ((1..=9999).contains(&year) && (1..=days).contains(&day)).then_some((year, month, day))
}

fn number<T: std::str::FromStr>(digits: &str) -> Option<T> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_writings_of_one_date() {
        for text in [
            "2026-12-01",
            "2026/12/01",
            "2026-12-1",
            "2026.12.01",
            "20261201",
            "01/12/2026",
            "12/01/2026",
            "1.12.2026",
            "1/12/26",
            "1 December 2026",
            "December 1, 2026",
            "December 1st, 2026",
            "Dec 1 2026",
            "1 Dec. 2026",
            "2026 December 1",
            "Tuesday, December 1, 2026",
            "the 1st of December 2026",
            "1er décembre 2026",
            "le mardi 1er décembre 2026",
            "1 déc. 2026",
            "2026-12-01T00:00:00Z",
            "2026-12-01 08:30",
            "1 December 2026 at 8:30",
            "le 1er décembre 2026 à 9h",
            " 2026-12-01 ",
        ] {
            assert!(writes(text, (2026, 12, 1)), "{text} reads as {:?}", readings(text));
        }
    }

    #[test]
    fn other_dates_and_other_texts_are_refused() {
        for text in [
            "2026-12-02",
            "2025-12-01",
            "1 December",
            "tomorrow",
            "demain",
            "",
            "2 December 2026",
            "1 November 2026",
            "13/13/2026",
            "2026-12-01 or 2026-12-02",
            "31/02/2026",
            "room 1 December 2026",
            "december",
            "2026",
            "é2026-12-01",
            "1é 12:00",
        ] {
            assert!(!writes(text, (2026, 12, 1)), "{text} reads as {:?}", readings(text));
        }
    }

    #[test]
    fn an_iso_date_is_exactly_that() {
        assert_eq!(parse_iso("2028-02-29"), Some((2028, 2, 29)));
        for text in ["2026-02-29", "2026-1-1", "26-01-01", "2026-01-01-01", "2026-+1-01", "x"] {
            assert_eq!(parse_iso(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,40}") {
            let _ = writes(&text, (2026, 12, 1));
        }

        #[test]
        fn iso_is_read_back(year in 1i32..=9999, month in 1u32..=12, day in 1u32..=28) {
            let text = format!("{year:04}-{month:02}-{day:02}");
            proptest::prop_assert_eq!(parse_iso(&text), Some((year, month, day)));
            proptest::prop_assert!(writes(&text, (year, month, day)));
        }
    }
}
