//! What something is replaced by: another thing of the same kind and shape, chosen by a keyed hash, so
//! that it is always the same and says nothing about what stood there.

use super::find::{Form, remainder};
use super::names::{Gender, STREETS, USERS, family_names, first_names, towns};

/// What is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A first name; with a vowel first or not.
    First(Gender, bool),
    /// A family name, or a name that is neither a person's first one nor a town's.
    Family(bool),
    /// A town.
    Town(bool),
    /// A run of digits that was named with `--hide`.
    Digits,
    /// Something with a form of its own.
    Form(Form),
}

impl Kind {
    /// What people call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::First(..) => "first name",
            Self::Family(_) => "name",
            Self::Town(_) => "town",
            Self::Digits | Self::Form(Form::Number) => "number",
            Self::Form(Form::Email) => "e-mail address",
            Self::Form(Form::Phone) => "telephone number",
            Self::Form(Form::Iban) => "account number",
            Self::Form(Form::User) => "user",
            Self::Form(Form::Street { .. }) => "street",
            Self::Form(Form::Postcode) => "postcode",
            Self::Form(Form::Machine) => "network address",
        }
    }

    /// Under which name a replacement is kept: one word has one, whatever it was taken for first.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::First(..) | Self::Family(_) | Self::Town(_) => "word",
            Self::Digits => "digits",
            Self::Form(Form::Email) => "email",
            Self::Form(Form::Phone) => "phone",
            Self::Form(Form::Iban) => "iban",
            Self::Form(Form::User) => "user",
            Self::Form(Form::Street { french: true }) => "rue",
            Self::Form(Form::Street { french: false }) => "street",
            Self::Form(Form::Postcode) => "postcode",
            Self::Form(Form::Number) => "number",
            Self::Form(Form::Machine) => "machine",
        }
    }

    /// The replacement that this hash chooses; another one for each further `attempt`.
    pub(super) fn propose(self, hash: &[u8; 32], attempt: u32, canonical: &str) -> String {
        let mut stream = Stream { hash, at: attempt as usize * 7, drawn: 0 };
        match self {
            Self::First(gender, vowel) => word(first_names(gender, vowel), second_names(gender), &stream, attempt),
            Self::Family(vowel) => word(family_names(vowel), family_names(false), &stream, attempt),
            Self::Town(vowel) => word(towns(vowel), family_names(false), &stream, attempt),
            Self::Form(Form::Email) => format!("{}@example.org", user(&stream, attempt)),
            Self::Form(Form::User) => user(&stream, attempt),
            Self::Form(Form::Street { french }) => street(french, &mut stream, attempt),
            Self::Form(Form::Phone) => phone(canonical, &mut stream),
            Self::Form(Form::Iban) => iban(canonical, &mut stream),
            Self::Form(Form::Machine) => format!("203.0.113.{}", 1 + stream.below(254)),
            Self::Digits | Self::Form(Form::Number | Form::Postcode) => same_shape(canonical, &mut stream),
        }
    }
}

/// Numbers drawn from a hash.
struct Stream<'h> {
    hash: &'h [u8; 32],
    at: usize,
    drawn: usize,
}

impl Stream<'_> {
    fn first(&self) -> usize {
        usize::from(u16::from_be_bytes([self.hash[0], self.hash[1]]))
    }

    fn below(&mut self, bound: usize) -> usize {
        let byte = |offset: usize| usize::from(self.hash[(self.at + self.drawn + offset) % 32]);
        let value = byte(0) << 8 ^ byte(5) ^ self.at.wrapping_mul(97) ^ self.drawn.wrapping_mul(31);
        self.drawn += 1;
        value % bound.max(1)
    }

    fn digit(&mut self) -> char {
        char::from(b'0' + self.below(10) as u8)
    }
}

/// A name of the list; when all were tried, one with a second name behind it.
fn word(list: &[&str], second: &[&str], stream: &Stream<'_>, attempt: u32) -> String {
    let attempt = attempt as usize;
    let place = stream.first() + attempt;
    let name = list[place % list.len()];
    match attempt / list.len() {
        0 => name.to_owned(),
        round => format!("{name}-{}", second[(stream.first() / 7 + round) % second.len()]),
    }
}

/// Second names behind a first one: many, whatever the gender of the first.
fn second_names(gender: Gender) -> &'static [&'static str] {
    first_names(if gender == Gender::Masculine { Gender::Masculine } else { Gender::Feminine }, false)
}

fn user(stream: &Stream<'_>, attempt: u32) -> String {
    let attempt = attempt as usize;
    let name = USERS[(stream.first() + attempt) % USERS.len()];
    match attempt / USERS.len() {
        0 => name.to_owned(),
        round => format!("{name}{}", round + 1),
    }
}

fn street(french: bool, stream: &mut Stream<'_>, attempt: u32) -> String {
    let (behind_rue, before_street) = STREETS[(stream.first() + attempt as usize) % STREETS.len()];
    let number = 1 + stream.below(98);
    if french { format!("{number} rue {behind_rue}") } else { format!("{number} {before_street} Street") }
}

/// Digits in the places that the numbers of no subscriber have: the regulators keep them for films.
fn phone(canonical: &str, stream: &mut Stream<'_>) -> String {
    let many = |stream: &mut Stream<'_>, count: usize| -> String { (0..count).map(|_| stream.digit()).collect() };
    match canonical.as_bytes() {
        [b'0', b'6' | b'7', ..] if canonical.len() == 10 => format!("063998{}", many(stream, 4)),
        [b'0', area, ..] if canonical.len() == 10 => {
            let head = match area {
                b'2' => "026191",
                b'3' => "035301",
                b'4' => "046571",
                b'5' => "053649",
                _ => "019900",
            };
            format!("{head}{}", many(stream, 4))
        }
        _ if canonical.len() == 10 => format!("{}55501{}", &canonical[..3], many(stream, 2)),
        _ => {
            let kept = canonical.len().saturating_sub(8).min(3);
            format!("{}{}", &canonical[..kept], many(stream, canonical.len() - kept))
        }
    }
}

/// The same country and length, other digits, a right check number.
fn iban(canonical: &str, stream: &mut Stream<'_>) -> String {
    let country = &canonical[..2];
    let account = same_shape(&canonical[4..], stream);
    let bare = format!("{country}00{account}");
    let check = 98 - remainder(&bare).unwrap_or(0);
    format!("{country}{check:02}{account}")
}

/// Digits for digits and letters for letters.
fn same_shape(canonical: &str, stream: &mut Stream<'_>) -> String {
    let mut is_first = true;
    let replaced = canonical.chars().map(|c| {
        let starts = std::mem::take(&mut is_first);
        match c {
            '0'..='9' if starts && c != '0' => char::from(b'1' + stream.below(9) as u8),
            '0'..='9' => stream.digit(),
            c if c.is_ascii_uppercase() => char::from(b'A' + stream.below(26) as u8),
            c if c.is_ascii_lowercase() => char::from(b'a' + stream.below(26) as u8),
            c => c,
        }
    });
    replaced.collect()
}

/// Writes a replacement the way the original was written: its blanks, its country code.
pub(super) fn dressed(form: Form, written: &str, replacement: &str) -> String {
    match form {
        Form::Phone => phone_like(written, replacement),
        Form::Iban | Form::Number | Form::Postcode => poured(written, replacement),
        Form::Street { .. } if !written.starts_with(|c: char| c.is_ascii_digit()) => {
            replacement.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().to_owned()
        }
        _ => replacement.to_owned(),
    }
}

/// The characters of `replacement` in the places of letters and digits of `written`.
fn poured(written: &str, replacement: &str) -> String {
    let mut rest = replacement.chars();
    let lower = written.chars().any(char::is_lowercase) && !written.chars().any(char::is_uppercase);
    let text: String =
        written.chars().map(|c| if c.is_alphanumeric() { rest.next().unwrap_or('0') } else { c }).collect();
    if lower { text.to_lowercase() } else { text }
}

fn phone_like(written: &str, replacement: &str) -> String {
    let is_french = replacement.len() == 10 && replacement.starts_with('0');
    let plain = written.replace("(0)", "");
    let international = if plain.starts_with("+33") {
        Some("33")
    } else if plain.starts_with("0033") {
        Some("0033")
    } else {
        None
    };
    match international {
        Some(code) if is_french => poured(&plain, &format!("{code}{}", &replacement[1..])),
        _ if plain.starts_with("00") && !is_french => poured(&plain, &format!("00{replacement}")),
        _ => poured(&plain, replacement),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::find::spans;
    use super::*;

    fn hash(seed: u8) -> [u8; 32] {
        std::array::from_fn(|place| seed.wrapping_mul(31).wrapping_add((place as u8).wrapping_mul(17)))
    }

    #[test]
    fn shapes_are_kept() {
        for (written, form) in [
            ("06 12 34 56 78", "06 39 98 "),
            ("+33 6 12 34 56 78", "+33 6 39 98 "),
            ("01.42.68.53.00", "01.99.00."),
            ("(415) 555-2671", "(415) 555-01"),
        ] {
            let span = spans(written).remove(0);
            let replacement = Kind::Form(span.form).propose(&hash(3), 0, &span.canonical);
            let shown = dressed(span.form, written, &replacement);
            assert!(shown.starts_with(form) && shown.chars().count() == written.chars().count(), "{written} {shown}");
        }
    }

    #[test]
    fn an_account_number_stays_a_right_one() {
        for seed in 0..40 {
            let written = "FR76 3000 6000 0112 3456 7890 189";
            let span = spans(written).remove(0);
            let replacement = Kind::Form(span.form).propose(&hash(seed), 0, &span.canonical);
            assert_eq!(remainder(&replacement), Some(1), "{replacement}");
            assert_eq!(dressed(span.form, written, &replacement).len(), written.len());
        }
    }

    #[test]
    fn names_do_not_run_out() {
        let kinds = [Kind::First(Gender::Any, true), Kind::Family(false), Kind::Town(true), Kind::Form(Form::Email)];
        for kind in kinds {
            let all: BTreeSet<String> = (0..200).map(|attempt| kind.propose(&hash(9), attempt, "x")).collect();
            assert!(all.len() >= 200, "{kind:?}: {}", all.len());
        }
    }

    proptest! {
        #[test]
        fn no_kind_panics(seed in any::<u8>(), attempt in 0_u32..3000, text in "[A-Z0-9]{4,40}") {
            for form in [Form::Email, Form::Phone, Form::Iban, Form::User, Form::Postcode, Form::Number, Form::Machine] {
                let made = Kind::Form(form).propose(&hash(seed), attempt, &text);
                prop_assert!(!dressed(form, &text, &made).is_empty());
            }
            prop_assert_eq!(Kind::Digits.propose(&hash(seed), attempt, &text).len(), text.len());
        }
    }
}
