//! What was heard, as words that can be compared.
//!
//! [`words`] lowers, composes and splits; accents stay, since they tell French words apart. [`canonical`]
//! leaves out what carries nothing in a command: politeness and hesitation at the edges, articles, and the word
//! "number" before one. [`fold`] takes the accents away, for the second try.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::language::Language;

/// Longer utterances are no commands, and need not be compared with any.
pub(crate) const LONGEST: usize = 400;

/// Lower-case words without punctuation; elisions and hyphens part words, signs for "number" become the word.
pub fn words(text: &str, language: Language) -> Vec<String> {
    let number = match language {
        Language::En => " number ",
        Language::Fr => " numéro ",
    };
    let mut text = text.replace(['#', '№'], number);
    for sign in ["n°", "N°", "nº", "Nº"] {
        text = text.replace(sign, number);
    }
    let lower: String = text.nfc().flat_map(char::to_lowercase).collect();
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Without accents and ligatures.
pub fn fold(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    for c in word.nfd().filter(|c| !is_combining_mark(*c)) {
        match c {
            'œ' => folded.push_str("oe"),
            'æ' => folded.push_str("ae"),
            'ß' => folded.push_str("ss"),
            c => folded.push(c),
        }
    }
    folded
}

/// Said around a command without meaning anything; longest first.
fn edges(language: Language) -> &'static [&'static [&'static str]] {
    match language {
        Language::En => &[
            &["if", "you", "please"],
            &["thank", "you"],
            &["you", "know"],
            &["please"],
            &["thanks"],
            &["now"],
            &["okay"],
            &["ok"],
            &["well"],
            &["um"],
            &["uh"],
            &["er"],
            &["erm"],
            &["hm"],
            &["hmm"],
        ],
        Language::Fr => &[
            &["s", "il", "te", "plaît"],
            &["s", "il", "vous", "plaît"],
            &["s", "il", "te", "plait"],
            &["s", "il", "vous", "plait"],
            &["maintenant"],
            &["merci"],
            &["alors"],
            &["donc"],
            &["bon"],
            &["ben"],
            &["euh"],
            &["heu"],
            &["hum"],
            &["hm"],
            &["okay"],
            &["ok"],
        ],
    }
}

/// Words that a command means the same without.
fn is_small(word: &str, language: Language) -> bool {
    match language {
        Language::En => matches!(word, "the" | "number"),
        Language::Fr => matches!(word, "le" | "la" | "les" | "l" | "numéro" | "numero"),
    }
}

/// Without fillers at the edges, and without small words; never empty unless it was.
pub(crate) fn canonical(words: &[String], language: Language) -> Vec<String> {
    let mut rest = words;
    loop {
        let starts = edges(language).iter().find(|edge| begins(rest, edge) && edge.len() < rest.len());
        let ends = edges(language).iter().find(|edge| finishes(rest, edge) && edge.len() < rest.len());
        match (starts, ends) {
            (Some(edge), _) => rest = &rest[edge.len()..],
            (None, Some(edge)) => rest = &rest[..rest.len() - edge.len()],
            (None, None) => break,
        }
    }
    let kept: Vec<String> = rest.iter().filter(|word| !is_small(word, language)).cloned().collect();
    if kept.is_empty() { rest.to_vec() } else { kept }
}

fn begins(words: &[String], edge: &[&str]) -> bool {
    words.len() >= edge.len() && words.iter().zip(edge).all(|(word, expected)| word == expected)
}

fn finishes(words: &[String], edge: &[&str]) -> bool {
    words.len() >= edge.len() && begins(&words[words.len() - edge.len()..], edge)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str, language: Language) -> String {
        canonical(&words(text, language), language).join(" ")
    }

    #[test]
    fn punctuation_case_and_elision() {
        assert_eq!(words("L’Agenda, s’il te plaît !", Language::Fr).join("|"), "l|agenda|s|il|te|plaît");
        assert_eq!(words("Read #3.", Language::En).join("|"), "read|number|3");
        assert_eq!(words("Lis n°3", Language::Fr).join("|"), "lis|numéro|3");
        // Composed and decomposed letters are the same.
        assert_eq!(words("me\u{301}te\u{301}o", Language::Fr), words("météo", Language::Fr));
        assert!(words(" …?! ", Language::En).is_empty());
    }

    #[test]
    fn fillers_leave_and_the_last_word_stays() {
        assert_eq!(plain("Um, please read the number 3 now, thanks", Language::En), "read 3");
        assert_eq!(plain("euh bon l'agenda s'il te plaît", Language::Fr), "agenda");
        assert_eq!(plain("please", Language::En), "please");
        assert_eq!(plain("the number", Language::En), "the number");
    }

    #[test]
    fn folding_takes_accents_only() {
        assert_eq!(fold("épingle"), "epingle");
        assert_eq!(fold("cœur"), "coeur");
        assert_eq!(fold("ça"), "ca");
        assert_eq!(fold("read"), "read");
    }
}
