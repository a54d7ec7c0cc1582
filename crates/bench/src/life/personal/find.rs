//! What has a form of its own: e-mail addresses, telephone and account numbers, users in paths, street
//! addresses, network addresses, numbers of people.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// What a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Form {
    /// `name@host`.
    Email,
    /// A telephone number.
    Phone,
    /// An account number with a right check number.
    Iban,
    /// The user's part of a path.
    User,
    /// A number and a street, in French or English.
    Street {
        /// French word order.
        french: bool,
    },
    /// A code of digits before a town.
    Postcode,
    /// A number of a person, a customer or a card: it keeps its shape.
    Number,
    /// An address of a machine.
    Machine,
}

/// A span with a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) range: Range<usize>,
    pub(super) form: Form,
    /// Equal for two writings of one thing.
    pub(super) canonical: String,
}

/// Longest text that is looked through; what is longer has been cut before.
const LONGEST: usize = 4 * 1024 * 1024;

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

static EMAIL: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"[\p{L}\p{M}0-9._%+\-]+@(?:[\p{L}0-9\-]+\.)+\p{L}{2,24}"));
static IBAN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"(?i)[A-Z]{2}[0-9]{2}(?:[ \u{A0}\u{202F}]?[A-Z0-9]{4}){2,7}(?:[ \u{A0}\u{202F}]?[A-Z0-9]{1,3})?")
});
static USER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r#"(?i)(?:/home/|/users/|/var/mail/|\b[a-z]:[\\/]+users[\\/]+)([^/\\\s"'<>|:*?,;)\]}]{1,64})"#)
});
static FRENCH_STREET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?x)(?:[0-9]{1,4}(?:\s?(?:bis|ter|quater|[A-D]))?,?\s+)?
          (?:[Rr]ue|[Aa]venue|[Aa]v\.|[Bb]oulevard|[Bb]d|[Cc]hemin|[Aa]llée|[Aa]llee|[Ii]mpasse|[Qq]uai|[Pp]lace|[Rr]oute|[Ff]aubourg|[Pp]assage|[Cc]ours)
          \s+(?:(?:de|du|des|la|le|les)\s+|l['’]|d['’])*
          \p{Lu}[\p{L}\p{M}'’\-]*(?:\s+(?:(?:de|du|des|la|le|les|et)\s+|d['’]|l['’])*\p{Lu}[\p{L}\p{M}'’\-]*){0,3}",
    )
});
static ENGLISH_STREET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"[0-9]{1,5}[A-Za-z]?\s+(?:\p{Lu}[\p{L}\p{M}'’\-]*\s+){1,4}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Court|Ct|Boulevard|Blvd|Way|Terrace|Close|Crescent|Square|Place|Gardens)\b",
    )
});
static PHONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?x)(?:\+|00)[1-9][0-9]{0,2}[\ .\-\u{A0}\u{202F}]?(?:\(0\)[\ ]?)?\(?[0-9]{1,4}\)?(?:[\ .\-\u{A0}\u{202F}]?[0-9]{2,4}){2,5}
          | 0[1-9](?:[\ .\-\u{A0}\u{202F}]?[0-9]{2}){4}
          | 0[1-9][0-9]{2,3}[\ \-][0-9]{3}[\ \-]?[0-9]{3,4}
          | \(?[2-9][0-9]{2}\)?[\ .\-][0-9]{3}[.\-][0-9]{4}
          | \([2-9][0-9]{2}\)\ ?[0-9]{3}-[0-9]{4}",
    )
});
static POSTCODE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"([0-9]{5})\s+(\p{Lu}[\p{L}\p{M}'’\-]+)"));
static BRITISH_POSTCODE: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"[A-Z]{1,2}[0-9][A-Z0-9]?\s[0-9][A-Z]{2}"));
static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?x)[12]\s?[0-9]{2}\s?(?:0[1-9]|1[0-2])\s?[0-9AB]{2}\s?[0-9]{3}\s?[0-9]{3}(?:\s?[0-9]{2})?
          | [0-9]{3}-[0-9]{2}-[0-9]{4}
          | [A-Z]{2}-[0-9]{3}-[A-Z]{2}
          | [0-9]{9,40}",
    )
});
static MACHINE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}"));

/// Every span with a form, in order, none over another.
pub(super) fn spans(text: &str) -> Vec<Span> {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let mut found: Vec<Span> = Vec::new();
    let forms: [(&LazyLock<Option<Regex>>, Read); 10] = [
        (&EMAIL, email),
        (&IBAN, iban),
        (&USER, user),
        (&FRENCH_STREET, |text, range| street(text, range, true)),
        (&ENGLISH_STREET, |text, range| street(text, range, false)),
        (&PHONE, phone),
        (&NUMBER, number),
        (&POSTCODE, postcode),
        (&BRITISH_POSTCODE, british_postcode),
        (&MACHINE, machine),
    ];
    for (regex, read) in forms {
        let Some(regex) = regex.as_ref() else { continue };
        let mut from = 0;
        while let Some(hit) = regex.captures_at(text, from) {
            let Some(whole) = hit.get(0) else { break };
            // A form that is narrower than its pattern is the first group.
            let range = hit.get(1).map_or(whole.range(), |group| group.range());
            let span = read(text, range.clone());
            // What was no number may begin in the middle of what looked like one.
            let next = span.as_ref().map_or(range.start, |span| span.range.end);
            from = ceil(text, next.max(whole.start() + 1));
            found.extend(span.filter(|span| found.iter().all(|other| apart(other, span))));
        }
    }
    found.sort_by_key(|span| span.range.start);
    found
}

type Read = fn(&str, Range<usize>) -> Option<Span>;

fn ceil(text: &str, at: usize) -> usize {
    text.ceil_char_boundary(at.min(text.len()))
}

fn apart(one: &Span, other: &Span) -> bool {
    one.range.end <= other.range.start || other.range.end <= one.range.start
}

/// True when neither a letter nor a digit touches the span: it is not a piece of something longer.
fn stands_alone(text: &str, range: &Range<usize>) -> bool {
    let touches = |c: char| c.is_alphanumeric();
    !text[..range.start].chars().next_back().is_some_and(touches)
        && !text[range.end..].chars().next().is_some_and(touches)
}

/// True for a piece of a longer run of digits with separators: a date, a version, an amount.
fn is_inside_number(text: &str, range: &Range<usize>) -> bool {
    let mut before = text[..range.start].chars().rev();
    let mut after = text[range.end..].chars();
    let joins = |first: Option<char>, second: Option<char>| {
        first.is_some_and(|c| matches!(c, '.' | '-' | '/' | ',' | ':' | '_'))
            && second.is_some_and(|c| c.is_ascii_digit())
    };
    joins(before.next(), before.next()) || joins(after.next(), after.next())
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

fn email(text: &str, range: Range<usize>) -> Option<Span> {
    let written = text[range.clone()].trim_start_matches(['.', '-']);
    let range = range.end - written.len()..range.end;
    (!written.starts_with('@')).then(|| Span { canonical: tenpass_agent::fold(written), range, form: Form::Email })
}

fn iban(text: &str, range: Range<usize>) -> Option<Span> {
    // The last group may be the beginning of the next word: the check number says where it ends.
    let written = &text[range.clone()];
    let mut ends: Vec<usize> = written.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
    ends.reverse();
    ends.into_iter().find_map(|end| {
        let range = range.start..range.start + end;
        let plain: String =
            text[range.clone()].chars().filter(|c| !c.is_whitespace()).collect::<String>().to_uppercase();
        let ends_well = text[range.clone()].ends_with(|c: char| c.is_alphanumeric()) && stands_alone(text, &range);
        (ends_well && (15..=34).contains(&plain.len()) && remainder(&plain) == Some(1)).then_some(Span {
            range,
            form: Form::Iban,
            canonical: plain,
        })
    })
}

/// The remainder by 97 of an account number with its first four characters moved to the end.
pub(super) fn remainder(iban: &str) -> Option<u32> {
    let (head, tail) = (iban.get(..4)?, iban.get(4..)?);
    tail.chars().chain(head.chars()).try_fold(0_u32, |rest, c| {
        let value = c.to_digit(36)?;
        Some(if value < 10 { (rest * 10 + value) % 97 } else { (rest * 100 + value) % 97 })
    })
}

/// False for the users that machines come with.
pub(super) fn names_somebody(user: &str) -> bool {
    const EVERYONES: &[&str] = &[
        "shared",
        "public",
        "default",
        "user",
        "username",
        "root",
        "runner",
        "ubuntu",
        "debian",
        "admin",
        "administrator",
        "pi",
        "guest",
        "vagrant",
        "ec2-user",
        "home",
        "me",
        "you",
        "name",
    ];
    user.chars().any(char::is_alphabetic) && !EVERYONES.contains(&tenpass_agent::fold(user).as_str())
}

fn user(text: &str, range: Range<usize>) -> Option<Span> {
    let written = text[range.clone()].trim_end_matches(['.', ',']);
    let range = range.start..range.start + written.len();
    names_somebody(written).then(|| Span { canonical: tenpass_agent::fold(written), range, form: Form::User })
}

fn street(text: &str, range: Range<usize>, french: bool) -> Option<Span> {
    let words: Vec<&str> = text[range.clone()].split_whitespace().collect();
    let canonical = tenpass_agent::fold(&words.join(" "));
    let is_piece = text[..range.start].chars().next_back().is_some_and(char::is_alphanumeric);
    // "the place To Be": of these words a number or a particle makes a street.
    let is_vague = ["place", "cours", "passage", "route", "quai"].iter().any(|word| canonical.starts_with(word));
    let has_particle = [" de ", " du ", " des ", " d'", " l'"].iter().any(|particle| canonical.contains(particle));
    let is_street = !french || !is_vague || has_particle;
    (!is_piece && is_street).then_some(Span { range, form: Form::Street { french }, canonical })
}

fn phone(text: &str, range: Range<usize>) -> Option<Span> {
    let written = &text[range.clone()];
    let plain = digits(&written.replace("(0)", ""));
    if !(9..=15).contains(&plain.len()) || !stands_alone(text, &range) || is_inside_number(text, &range) {
        return None;
    }
    // +33 6 12 34 56 78 and 06 12 34 56 78 are one number.
    let national = plain.strip_prefix("00").unwrap_or(&plain);
    let canonical = match national.strip_prefix("33") {
        Some(rest) if written.starts_with(['+', '0']) && rest.len() == 9 => format!("0{rest}"),
        _ => national.to_owned(),
    };
    Some(Span { range, form: Form::Phone, canonical })
}

fn number(text: &str, range: Range<usize>) -> Option<Span> {
    let alone = stands_alone(text, &range) && !is_inside_number(text, &range);
    let canonical: String = text[range.clone()].chars().filter(|c| c.is_alphanumeric()).collect();
    alone.then_some(Span { range, form: Form::Number, canonical })
}

fn postcode(text: &str, range: Range<usize>) -> Option<Span> {
    let rest = text[range.end..].trim_start();
    let word: String = rest.chars().take_while(|c| c.is_alphabetic()).collect();
    let is_amount = super::ordinary::is_ordinary(&tenpass_agent::fold(&word));
    let alone = stands_alone(text, &range) && !is_inside_number(text, &range);
    (alone && !is_amount).then(|| Span { canonical: digits(&text[range.clone()]), range, form: Form::Postcode })
}

fn british_postcode(text: &str, range: Range<usize>) -> Option<Span> {
    let canonical = text[range.clone()].split_whitespace().collect::<String>();
    stands_alone(text, &range).then_some(Span { range, form: Form::Postcode, canonical })
}

fn machine(text: &str, range: Range<usize>) -> Option<Span> {
    let parts: Vec<u8> = text[range.clone()].split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [a, b, ..] = parts[..] else { return None };
    let is_everyones = a == 127 || a == 0 || a == 255 || (a == 203 && b == 0) || (a < 10 && b < 10);
    let alone = stands_alone(text, &range) && !is_inside_number(text, &range);
    (alone && !is_everyones).then(|| Span { canonical: text[range.clone()].to_owned(), range, form: Form::Machine })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<(Form, &str)> {
        spans(text).into_iter().map(|span| (span.form, &text[span.range])).collect()
    }

    #[test]
    fn every_pattern_is_one() {
        let all = [
            &EMAIL,
            &IBAN,
            &USER,
            &FRENCH_STREET,
            &ENGLISH_STREET,
            &PHONE,
            &POSTCODE,
            &BRITISH_POSTCODE,
            &NUMBER,
            &MACHINE,
        ];
        assert!(all.iter().all(|pattern| pattern.is_some()));
    }

    #[test]
    fn forms_are_found_as_they_are_written() {
        let french = Form::Street { french: true };
        for (text, wanted) in [
            ("écris à marie.dupont+x@acme.co.uk.", vec![(Form::Email, "marie.dupont+x@acme.co.uk")]),
            (
                "au 06 12 34 56 78, ou +33 6 12 34 56 78.",
                vec![(Form::Phone, "06 12 34 56 78"), (Form::Phone, "+33 6 12 34 56 78")],
            ),
            (
                "call (415) 555-2671 or 415-555-2671",
                vec![(Form::Phone, "(415) 555-2671"), (Form::Phone, "415-555-2671")],
            ),
            ("0612345678", vec![(Form::Phone, "0612345678")]),
            ("IBAN FR76 3000 6000 0112 3456 7890 189 merci", vec![(Form::Iban, "FR76 3000 6000 0112 3456 7890 189")]),
            ("GB82WEST12345698765432.", vec![(Form::Iban, "GB82WEST12345698765432")]),
            ("/home/mdupont/notes.md et C:\\Users\\Marie\\a", vec![(Form::User, "mdupont"), (Form::User, "Marie")]),
            (
                "au 12 bis rue de la Paix, 75002 Paris",
                vec![(french, "12 bis rue de la Paix"), (Form::Postcode, "75002")],
            ),
            (
                "at 221B Baker Street, NW1 6XE",
                vec![(Form::Street { french: false }, "221B Baker Street"), (Form::Postcode, "NW1 6XE")],
            ),
            (
                "client 123456789012, née 2 85 05 78 006 084 36",
                vec![(Form::Number, "123456789012"), (Form::Number, "2 85 05 78 006 084 36")],
            ),
            ("ping 82.64.12.9", vec![(Form::Machine, "82.64.12.9")]),
        ] {
            assert_eq!(found(text), wanted, "{text}");
        }
    }

    #[test]
    fn dates_amounts_and_versions_stay() {
        for text in [
            "2026-11-30T14:05",
            "le 30/11/2026",
            "12 500,00 €",
            "1,234,567.89",
            "v1.2.3.4",
            "10000 Euros",
            "127.0.0.1",
            "from 10 to 12",
            "page 404",
            "/usr/share/doc",
            "sha 3f2a91bc",
            "rue de la",
            "the place To Be",
            "a@b",
        ] {
            assert_eq!(found(text), vec![], "{text}");
        }
    }

    #[test]
    fn two_writings_of_one_number_are_one() {
        let canonical = |text: &str| spans(text).remove(0).canonical;
        assert_eq!(canonical("06 12 34 56 78"), canonical("+33 6 12 34 56 78"));
        assert_eq!(canonical("0033612345678"), canonical("06.12.34.56.78"));
        assert_eq!(canonical("FR76 3000 6000 0112 3456 7890 189"), canonical("fr7630006000011234567890189"));
        assert_eq!(remainder("GB82WEST12345698765432"), Some(1));
    }

    proptest! {
        #[test]
        fn any_text_gives_spans_in_order_and_apart(text in "(\\PC|[0-9 +.@/-]|rue de la |/home/|\n){0,60}") {
            let spans = spans(&text);
            for pair in spans.windows(2) {
                prop_assert!(pair[0].range.end <= pair[1].range.start);
            }
            for span in &spans {
                prop_assert!(text.get(span.range.clone()).is_some_and(|written| !written.is_empty()));
            }
        }
    }
}
