//! Numbers as words, in English and French.

/// The largest number that is read as one; above it the digits are read one by one.
const LARGEST: u64 = 999_999_999_999_999;

const EN_SMALL: [&str; 20] = [
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
const EN_TENS: [&str; 10] = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const FR_SMALL: [&str; 17] = [
    "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze", "treize",
    "quatorze", "quinze", "seize",
];
const FR_TENS: [&str; 7] = ["", "dix", "vingt", "trente", "quarante", "cinquante", "soixante"];

/// The languages that texts are made speakable in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    French,
}

impl Language {
    /// Of `fr`, `fr-fr`, `FR_be`, …; everything else is read as English.
    pub(crate) fn of(name: &str) -> Self {
        if name.to_lowercase().starts_with("fr") { Self::French } else { Self::English }
    }

    /// The word for English, or the one for French.
    pub(crate) fn pick(self, english: &'static str, french: &'static str) -> &'static str {
        if self == Self::French { french } else { english }
    }
}

/// A whole number.
pub(crate) fn cardinal(number: u64, language: Language) -> String {
    if number > LARGEST {
        return digits(&number.to_string(), language);
    }
    match language {
        Language::English => english(number),
        Language::French => french(number, true),
    }
}

/// A whole number before a feminine noun: `une`, `vingt et une`.
pub(crate) fn feminine(number: u64) -> String {
    let words = cardinal(number, Language::French);
    match words.strip_suffix("un") {
        // "un million" ends otherwise; "quatre-vingt-un" and "cent un" end so.
        Some(start) if start.is_empty() || start.ends_with([' ', '-']) => format!("{start}une"),
        _ => words,
    }
}

fn english(number: u64) -> String {
    match number {
        0..20 => EN_SMALL[number as usize].to_owned(),
        20..100 => joined(EN_TENS[(number / 10) as usize].to_owned(), number % 10, "-", english),
        100..1_000 => joined(format!("{} hundred", english(number / 100)), number % 100, " ", english),
        _ => {
            let (size, name) = [
                (1_000_000_000_000, "trillion"),
                (1_000_000_000, "billion"),
                (1_000_000, "million"),
                (1_000, "thousand"),
            ]
            .into_iter()
            .find(|(size, _)| number >= *size)
            .unwrap_or((1_000, "thousand"));
            joined(format!("{} {name}", english(number / size)), number % size, " ", english)
        }
    }
}

fn joined(start: String, rest: u64, between: &str, words: impl Fn(u64) -> String) -> String {
    if rest == 0 { start } else { format!("{start}{between}{}", words(rest)) }
}

/// French; `last` is true where nothing of the number follows, so that `cents` and `vingts` take their s.
fn french(number: u64, last: bool) -> String {
    match number {
        0..17 => FR_SMALL[number as usize].to_owned(),
        17..20 => format!("dix-{}", FR_SMALL[(number - 10) as usize]),
        20..70 => match number % 10 {
            0 => FR_TENS[(number / 10) as usize].to_owned(),
            1 => format!("{} et un", FR_TENS[(number / 10) as usize]),
            unit => format!("{}-{}", FR_TENS[(number / 10) as usize], FR_SMALL[unit as usize]),
        },
        71 => "soixante et onze".to_owned(),
        70..80 => format!("soixante-{}", french(number - 60, last)),
        80 if last => "quatre-vingts".to_owned(),
        80 => "quatre-vingt".to_owned(),
        81..100 => format!("quatre-vingt-{}", french(number - 80, last)),
        100..200 => joined("cent".to_owned(), number - 100, " ", |rest| french(rest, last)),
        200..1_000 => match number % 100 {
            0 if last => format!("{} cents", french(number / 100, false)),
            0 => format!("{} cent", french(number / 100, false)),
            rest => format!("{} cent {}", french(number / 100, false), french(rest, last)),
        },
        1_000..2_000 => joined("mille".to_owned(), number - 1_000, " ", |rest| french(rest, last)),
        // No s before mille.
        2_000..1_000_000 => {
            joined(format!("{} mille", french(number / 1_000, false)), number % 1_000, " ", |rest| french(rest, last))
        }
        _ => {
            let (size, name) = [(1_000_000_000_000, "billion"), (1_000_000_000, "milliard"), (1_000_000, "million")]
                .into_iter()
                .find(|(size, _)| number >= *size)
                .unwrap_or((1_000_000, "million"));
            let plural = if number / size > 1 { "s" } else { "" };
            let start = format!("{} {name}{plural}", french(number / size, true));
            joined(start, number % size, " ", |rest| french(rest, last))
        }
    }
}

/// An ordinal: `twenty-first`, `vingt et unième`; French `first` is `premier`, or `première` when feminine.
pub(crate) fn ordinal(number: u64, language: Language, is_feminine: bool) -> String {
    match language {
        Language::English => english_ordinal(number),
        Language::French if number == 1 => if is_feminine { "première" } else { "premier" }.to_owned(),
        Language::French => french_ordinal(number),
    }
}

fn english_ordinal(number: u64) -> String {
    let words = cardinal(number, Language::English);
    let at = words.rfind([' ', '-']).map_or(0, |at| at + 1);
    let (start, last) = words.split_at(at);
    let last = match last {
        "one" => "first".to_owned(),
        "two" => "second".to_owned(),
        "three" => "third".to_owned(),
        "five" => "fifth".to_owned(),
        "eight" => "eighth".to_owned(),
        "nine" => "ninth".to_owned(),
        "twelve" => "twelfth".to_owned(),
        other => match other.strip_suffix('y') {
            Some(stem) => format!("{stem}ieth"),
            None => format!("{other}th"),
        },
    };
    format!("{start}{last}")
}

fn french_ordinal(number: u64) -> String {
    let words = french(number.min(LARGEST), false);
    let stem = words.strip_suffix('e').unwrap_or(&words);
    match words.as_str() {
        text if text.ends_with("neuf") => format!("{}vième", text.trim_end_matches('f')),
        text if text.ends_with("cinq") => format!("{text}uième"),
        text if text.ends_with("millions") || text.ends_with("milliards") => {
            format!("{}ième", text.trim_end_matches('s'))
        }
        _ => format!("{stem}ième"),
    }
}

/// Digits one by one.
pub(crate) fn digits(text: &str, language: Language) -> String {
    let small: &[&str] = if language == Language::French { &FR_SMALL } else { &EN_SMALL };
    let words: Vec<&str> =
        text.chars().filter_map(|digit| digit.to_digit(10)).map(|digit| small[digit as usize]).collect();
    words.join(" ")
}

/// A number as it is written: `0042` and endless ones digit by digit, others as a whole.
pub(crate) fn whole(text: &str, language: Language) -> String {
    match text.parse::<u64>() {
        Ok(number) if number <= LARGEST && (text.len() == 1 || !text.starts_with('0')) => cardinal(number, language),
        _ => digits(text, language),
    }
}

/// A number with decimals: `three point one four`, `trois virgule quatorze`.
pub(crate) fn decimal(whole_part: &str, decimals: &str, language: Language) -> String {
    let start = whole(whole_part, language);
    match language {
        Language::English => format!("{start} point {}", digits(decimals, language)),
        Language::French if decimals.len() > 3 => format!("{start} virgule {}", digits(decimals, language)),
        Language::French => {
            let zeros = decimals.len() - decimals.trim_start_matches('0').len();
            let rest = &decimals[zeros..];
            let mut words = vec![start, "virgule".to_owned()];
            words.extend(std::iter::repeat_n("zéro".to_owned(), zeros));
            if !rest.is_empty() {
                words.push(whole(rest, language));
            }
            words.join(" ")
        }
    }
}

/// An English year: `nineteen eighty-four`, `nineteen oh five`, `two thousand one`.
pub(crate) fn english_year(year: u64) -> String {
    let (century, rest) = (year / 100, year % 100);
    match (century, rest) {
        _ if !(1_100..2_100).contains(&year) => english(year.min(LARGEST)),
        (20, 0..10) => english(year),
        (_, 0) => format!("{} hundred", english(century)),
        (_, 1..10) => format!("{} oh {}", english(century), english(rest)),
        _ => format!("{} {}", english(century), english(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_numbers() {
        for (number, words) in [
            (0, "zero"),
            (13, "thirteen"),
            (21, "twenty-one"),
            (100, "one hundred"),
            (342, "three hundred forty-two"),
            (1_001, "one thousand one"),
            (1_000_000, "one million"),
            (2_500_000_017, "two billion five hundred million seventeen"),
            (1_000_000_000_000_000, "one zero zero zero zero zero zero zero zero zero zero zero zero zero zero zero"),
        ] {
            assert_eq!(cardinal(number, Language::English), words);
        }
        for (number, words) in [
            (1, "first"),
            (2, "second"),
            (12, "twelfth"),
            (20, "twentieth"),
            (21, "twenty-first"),
            (103, "one hundred third"),
            (1_000, "one thousandth"),
        ] {
            assert_eq!(ordinal(number, Language::English, false), words);
        }
        for (year, words) in [
            (1984, "nineteen eighty-four"),
            (1900, "nineteen hundred"),
            (1905, "nineteen oh five"),
            (2000, "two thousand"),
            (2007, "two thousand seven"),
            (2024, "twenty twenty-four"),
            (1066, "one thousand sixty-six"),
        ] {
            assert_eq!(english_year(year), words);
        }
    }

    #[test]
    fn french_numbers() {
        for (number, words) in [
            (0, "zéro"),
            (1, "un"),
            (17, "dix-sept"),
            (21, "vingt et un"),
            (22, "vingt-deux"),
            (61, "soixante et un"),
            (70, "soixante-dix"),
            (71, "soixante et onze"),
            (77, "soixante-dix-sept"),
            (80, "quatre-vingts"),
            (81, "quatre-vingt-un"),
            (90, "quatre-vingt-dix"),
            (91, "quatre-vingt-onze"),
            (99, "quatre-vingt-dix-neuf"),
            (100, "cent"),
            (101, "cent un"),
            (200, "deux cents"),
            (201, "deux cent un"),
            (280, "deux cent quatre-vingts"),
            (1_000, "mille"),
            (1_984, "mille neuf cent quatre-vingt-quatre"),
            (80_000, "quatre-vingt mille"),
            (200_000, "deux cent mille"),
            (1_000_000, "un million"),
            (200_000_000, "deux cents millions"),
            (2_000_000_080, "deux milliards quatre-vingts"),
        ] {
            assert_eq!(cardinal(number, Language::French), words);
        }
        for (number, words) in [(1, "une"), (21, "vingt et une"), (81, "quatre-vingt-une"), (11, "onze"), (2, "deux")] {
            assert_eq!(feminine(number), words);
        }
        for (number, words) in [
            (1, "premier"),
            (2, "deuxième"),
            (4, "quatrième"),
            (5, "cinquième"),
            (9, "neuvième"),
            (19, "dix-neuvième"),
            (21, "vingt et unième"),
            (80, "quatre-vingtième"),
            (100, "centième"),
            (1_000, "millième"),
        ] {
            assert_eq!(ordinal(number, Language::French, false), words);
        }
        assert_eq!(ordinal(1, Language::French, true), "première");
    }

    #[test]
    fn decimals_and_digits() {
        assert_eq!(decimal("3", "14", Language::English), "three point one four");
        assert_eq!(decimal("3", "14", Language::French), "trois virgule quatorze");
        assert_eq!(decimal("3", "05", Language::French), "trois virgule zéro cinq");
        assert_eq!(decimal("0", "001", Language::French), "zéro virgule zéro zéro un");
        assert_eq!(decimal("2", "0", Language::French), "deux virgule zéro");
        assert_eq!(decimal("3", "14159", Language::French), "trois virgule un quatre un cinq neuf");
        assert_eq!(whole("007", Language::English), "zero zero seven");
        assert_eq!(whole("18446744073709551616000", Language::French).split(' ').count(), 23);
    }
}
