//! Payment card numbers.
//!
//! An account number (IBAN) is not masked: it stands on every invoice, a user has reason to ask for
//! it, and nobody can take money with it alone. A card number is enough to pay with.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// 13 to 19 digits in one run, or in groups of four (the last of any length), or 4-6-5.
static CARD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let group = "[0-9]{4}";
    let sixteen = format!("{group} {group} {group} [0-9]{{1,4}}|{group}-{group}-{group}-[0-9]{{1,4}}");
    let fifteen = "3[47][0-9]{2} [0-9]{6} [0-9]{5}|3[47][0-9]{2}-[0-9]{6}-[0-9]{5}";
    Regex::new(&format!(r"(?:^|\\[nrt]|[^A-Za-z0-9.,/_-])({sixteen}|{fifteen}|[0-9]{{13,19}})(?:$|[^A-Za-z0-9_/-])"))
        .ok()
});

/// Where card numbers stand in `text`.
pub(super) fn cards(text: &str) -> Vec<Range<usize>> {
    if text.len() < 13 || text.bytes().filter(u8::is_ascii_digit).count() < 13 {
        return Vec::new();
    }
    let Some(card) = CARD.as_ref() else { return Vec::new() };
    let found = card.captures_iter(text).filter_map(|found| found.get(1));
    found.filter(|number| is_card(number.as_str())).map(|number| number.range()).collect()
}

/// Where a card number may have begun that goes on behind `text`: at the last three groups of
/// digits in front of a blank at its end.
pub(super) fn open(text: &str) -> Option<usize> {
    let before = text.strip_suffix(' ')?;
    let mut start = None;
    let mut end = before.len();
    for group in before.rsplit(' ').take(3) {
        let digits = group.len() - group.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        if !(4..=6).contains(&digits) {
            break;
        }
        start = Some(end - digits);
        // The first group may have other signs in front of it.
        if digits < group.len() {
            break;
        }
        end -= (group.len() + 1).min(end);
    }
    start
}

fn is_card(written: &str) -> bool {
    let digits: String = written.chars().filter(char::is_ascii_digit).collect();
    let in_range = |length: usize, from: u32, to: u32| {
        digits.get(..length).and_then(|head| head.parse().ok()).is_some_and(|head: u32| (from..=to).contains(&head))
    };
    let issued = match digits.len() {
        13 | 19 => in_range(1, 4, 4),
        14 => in_range(2, 36, 36) || in_range(3, 300, 305) || in_range(2, 38, 39),
        15 => in_range(2, 34, 34) || in_range(2, 37, 37),
        16 => {
            in_range(1, 4, 4)
                || in_range(2, 51, 55)
                || in_range(4, 2221, 2720)
                || in_range(4, 6011, 6011)
                || in_range(2, 65, 65)
                || in_range(3, 644, 649)
                || in_range(4, 3528, 3589)
                || in_range(2, 62, 62)
        }
        _ => false,
    };
    let same = digits.bytes().all(|byte| Some(&byte) == digits.as_bytes().first());
    issued && !same && has_check_digit(&digits)
}

/// Luhn's check (ISO/IEC 7812-1).
pub(super) fn has_check_digit(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, byte)| {
            let digit = u32::from(byte.wrapping_sub(b'0'));
            let doubled = if index % 2 == 1 { digit * 2 } else { digit };
            if doubled > 9 { doubled - 9 } else { doubled }
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_a_right_check_digit_are_cards() {
        for number in ["4111 1111 1111 1111", "5555-5555-5555-4444", "378282246310005", "3782 822463 10005"] {
            assert_eq!(cards(&format!("pay {number} now")).len(), 1, "{number}");
        }
        for number in
            ["4111 1111 1111 1112", "1234 5678 9012 3456", "0000000000000000", "06 12 34 56 78", "4111.1111.1111.1111"]
        {
            assert!(cards(number).is_empty(), "{number}");
        }
    }

    #[test]
    fn groups_wait_for_the_next() {
        for (text, at) in
            [("4111 ", 0), ("card: 4111 1111 ", 6), ("1 3782 822463 ", 2), ("(4111 1111 1111 ", 1), ("a7x<4111 ", 4)]
        {
            assert_eq!(open(text), Some(at), "{text}");
        }
        assert_eq!(open("4111 1111 1111 1111 "), Some(5));
        for text in ["word ", "4111", "12 ", "1234567 "] {
            assert_eq!(open(text), None, "{text}");
        }
    }
}
