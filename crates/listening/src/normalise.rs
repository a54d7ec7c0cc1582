//! Transcripts made comparable, the same way for what was said and what was heard.
//!
//! Version 1: composed and lower case; words are runs of letters and digits; numbers in words become digits; a
//! few spellings that are one word; accents are taken away in English and kept everywhere else, where they tell
//! words apart. Scores of different versions are not compared.

use tenpass_speech::commands::{Language, fold, number, words};

/// Changes whenever a score could.
pub const NORMALISER: u32 = 1;

/// The words that are compared. `language` is a tag such as `fr`.
pub fn normalise(text: &str, language: &str) -> Vec<String> {
    let known = Language::parse(language);
    let all = words(text, known.unwrap_or(Language::En));
    let english = known == Some(Language::En);
    let all: Vec<String> = if english {
        // A word of accents only is none.
        all.iter().map(|word| fold(word)).filter(|word| !word.is_empty()).collect()
    } else {
        all
    };
    let Some(known) = known else { return all };
    let mut normal = Vec::with_capacity(all.len());
    let mut rest = all.as_slice();
    while let Some(first) = rest.first() {
        // "one" and "un" are articles and pronouns more often than numbers, alike on both sides.
        if let Some(found) = number(rest, known).filter(|found| !found.homophone) {
            normal.push(format!("{}{}", found.value, if found.ordinal { "." } else { "" }));
            rest = &rest[found.words..];
        } else {
            normal.push(spelling(first, known).to_owned());
            rest = &rest[1..];
        }
    }
    normal
}

/// One spelling of words that have several.
fn spelling(word: &str, language: Language) -> &str {
    match (language, word) {
        (Language::En, "okay") => "ok",
        (Language::En, "summarize") => "summarise",
        (Language::En, "maximize") => "maximise",
        (Language::En, "colour") => "color",
        (Language::En, "programme") => "program",
        (Language::En, "email" | "emails") => "mail",
        (Language::En, "mails") => "mail",
        (Language::Fr, "ok") => "okay",
        (_, word) => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(text: &str, language: &str) -> String {
        normalise(text, language).join(" ")
    }

    #[test]
    fn numbers_case_and_punctuation_make_no_difference() {
        assert_eq!(plain("Kora, read twenty-one!", "en"), plain("kora read 21", "en"));
        assert_eq!(plain("Lis le numéro quatre-vingt-trois.", "fr"), plain("lis le n° 83", "fr"));
        assert_ne!(plain("the third", "en"), plain("the 3", "en"));
    }

    #[test]
    fn accents_count_outside_of_english() {
        assert_ne!(plain("réglages", "fr"), plain("reglages", "fr"));
        assert_eq!(plain("café", "en"), plain("cafe", "en"));
        assert_ne!(plain("está", "es"), plain("esta", "es"));
    }

    proptest! {
        #[test]
        fn normal_text_stays_as_it_is(text in "\\PC{0,60}", language in "(en|fr|de)") {
            let once = plain(&text, &language);
            // The mark of an ordinal is no letter: it is compared, never normalised again.
            if !once.contains('.') {
                prop_assert_eq!(&plain(&once, &language), &once);
            }
        }
    }
}
