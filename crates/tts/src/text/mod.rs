//! From what a model writes to what a voice can speak.
//!
//! [`spoken`] removes Markdown and puts words for numbers, dates, money, units, abbreviations and signs, in
//! English and French. [`chunks`] and [`Chunker`] cut the result into pieces that a voice speaks at once.

mod chunks;
mod markdown;
mod numbers;
mod rules;
mod tables;
mod words;

#[cfg(test)]
mod tests;

pub use chunks::{Chunker, LONGEST_CHUNK, SHORTEST_CHUNK, chunks};
use numbers::Language;

/// The text as it is to be spoken: no Markdown, no digits, no signs. `language` is `fr…` for French, all else
/// is English. Lines are blocks; each ends with a mark.
pub fn spoken(text: &str, language: &str) -> String {
    let language = Language::of(language);
    let plain = markdown::plain(text, language);
    let lines: Vec<String> = plain.lines().map(|line| line_spoken(line, language)).collect();
    lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn line_spoken(line: &str, language: Language) -> String {
    let text: String = line
        .chars()
        .filter(|character| !words::is_dropped(*character) || "→⇒".contains(*character))
        .map(|character| if matches!(character, '\u{2019}' | '\u{2018}') { '\'' } else { character })
        .collect();
    let text = rules::addresses(text, language);
    let text = rules::dates(text, language);
    let text = rules::phones(text, language);
    let text = rules::times(text, language);
    let text = words::abbreviations(&number_sign(&text, language), language);
    let text = words::romans(text, language);
    let text = rules::minus(text, language);
    let text = rules::money(text, language);
    let text = rules::units(text, language);
    let text = rules::forms(text, language);
    let text = rules::plain_numbers(text, language);
    // A rule may have taken the full stop at the end, and an emoji may have stood there.
    markdown::ended(tidy(&words::symbols(&text, language)))
}

/// `n° 5` and `#5`.
fn number_sign(text: &str, language: Language) -> String {
    ["n° ", "N° ", "nº ", "n°", "N°"]
        .iter()
        .fold(text.to_owned(), |text, sign| text.replace(sign, language.pick("number ", "numéro ")))
}

/// One space between words, none before a mark that English and French speech ignores anyway.
fn tidy(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::with_capacity(joined.len());
    for character in joined.chars() {
        if ",.;:!?…)".contains(character) && out.ends_with(' ') {
            out.pop();
        }
        // "word, ," and ". ." come from what was dropped between.
        if ",;:".contains(character) && out.ends_with([',', ';', ':', '.', '!', '?']) {
            continue;
        }
        out.push(character);
    }
    let kept = out.trim_start_matches([',', ';', ':', '.', ' ']);
    kept.to_owned()
}
