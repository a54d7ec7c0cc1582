//! Kokoro's symbols: from espeak-ng's IPA to the inventory the model was trained with, and to its token numbers.
//!
//! The numbers are the vocabulary of Kokoro-82M's published `config.json` (178 places, 115 of them used; 0
//! frames a text). The model was trained on phonemes that write a diphthong or an affricate as one letter.

/// Most tokens of one call.
pub(crate) const MOST_TOKENS: usize = 510;

/// The vocabulary: runs of symbols with consecutive numbers, by the first number.
const VOCABULARY: &[(i64, &str)] = &[
    (1, ";:,.!?"),
    (9, "—…\"()“” \u{303}ʣʥʦʨᵝꭧAI"),
    (31, "O"),
    (33, "Q"),
    (35, "ST"),
    (39, "W"),
    (41, "Yᵊabcdef"),
    (50, "hijklmnopqrstuvwxyzɑɐɒæ"),
    (75, "βɔɕç"),
    (80, "ɖðʤə"),
    (85, "ɚɛɜ"),
    (90, "ɟ"),
    (92, "ɡ"),
    (99, "ɥ"),
    (101, "ɨɪʝ"),
    (110, "ɯɰŋɳɲɴø"),
    (118, "ɸθœ"),
    (123, "ɹ"),
    (125, "ɾɻ"),
    (128, "ʁɽʂʃʈʧ"),
    (135, "ʊʋ"),
    (138, "ʌɣɤ"),
    (142, "χʎ"),
    (147, "ʒʔ"),
    (156, "ˈˌː"),
    (162, "ʰ"),
    (164, "ʲ"),
    (169, "↓"),
    (171, "→↗↘"),
    (177, "ᵻ"),
];

/// The number of a symbol.
fn token(symbol: char) -> Option<i64> {
    VOCABULARY.iter().find_map(|(first, run)| {
        let place = run.chars().position(|known| known == symbol)?;
        Some(first + i64::try_from(place).ok()?)
    })
}

/// The numbers of a text; unknown symbols are left out.
pub(crate) fn tokens(text: &str) -> Vec<i64> {
    text.chars().filter_map(token).collect()
}

/// Sounds that are one letter in every language, tied by `^` as espeak-ng prints them.
const TIED: &[(&str, &str)] = &[
    ("d^ʒ", "ʤ"),
    ("t^ʃ", "ʧ"),
    ("d^z", "ʣ"),
    ("t^s", "ʦ"),
    ("a^ɪ", "I"),
    ("a^ʊ", "W"),
    ("e^ɪ", "A"),
    ("ɔ^ɪ", "Y"),
    ("o^ʊ", "O"),
    ("ə^ʊ", "Q"),
];

/// Sounds that English has in another form. After [`TIED`].
const ENGLISH: &[(&str, &str)] = &[
    ("ʔˌn\u{329}", "tᵊn"),
    ("ʔn\u{329}", "tᵊn"),
    ("ʔn", "tᵊn"),
    ("ə^l", "ᵊl"),
    ("n\u{329}", "ᵊn"),
    ("l\u{329}", "ᵊl"),
    ("m\u{329}", "ᵊm"),
    ("\u{329}", ""),
    ("\u{303}", ""),
    ("ɚ", "əɹ"),
    ("r", "ɹ"),
    ("x", "k"),
    ("ç", "k"),
    ("ɐ", "ə"),
    ("ɬ", "l"),
    ("ʔ", "t"),
    ("ʲ", ""),
    ("ɾ", "T"),
];

/// American English writes no length and always the r.
const AMERICAN: &[(&str, &str)] = &[("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɪə", "iə"), ("ː", ""), ("e", "A"), ("o", "ɔ")];

/// British English.
const BRITISH: &[(&str, &str)] = &[("e^ə", "ɛː"), ("iə", "ɪə"), ("e", "A"), ("o", "ɔ")];

/// From espeak-ng's IPA with ties to Kokoro's symbols, for a language of espeak-ng.
pub(crate) fn symbols(ipa: &str, language: &str) -> String {
    let mut text = apply(ipa.to_owned(), TIED);
    if language.starts_with("en") {
        text = apply(text, ENGLISH);
        text = apply(text, if language == "en-us" { AMERICAN } else { BRITISH });
    }
    text.replace(['^', '-', '_'], "").replace('g', "ɡ")
}

fn apply(text: String, rules: &[(&str, &str)]) -> String {
    rules.iter().fold(text, |text, (from, to)| if text.contains(from) { text.replace(from, to) } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vocabulary_is_the_published_one() {
        let count: usize = VOCABULARY.iter().map(|(_, run)| run.chars().count()).sum();
        // The published table without the frame, which has no symbol here.
        assert_eq!(count, 114);
        for (symbol, number) in [
            (';', 1),
            ('?', 6),
            ('—', 9),
            (' ', 16),
            ('\u{303}', 17),
            ('I', 25),
            ('f', 48),
            ('z', 68),
            ('æ', 72),
            ('ç', 78),
            ('ə', 83),
            ('ɜ', 87),
            ('ɡ', 92),
            ('ʝ', 103),
            ('ø', 116),
            ('œ', 120),
            ('ɻ', 126),
            ('ʧ', 133),
            ('ɤ', 140),
            ('ʔ', 148),
            ('ː', 158),
            ('↘', 173),
            ('ᵻ', 177),
        ] {
            assert_eq!(token(symbol), Some(number), "{symbol}");
        }
        assert_eq!(tokens("g€"), [] as [i64; 0]);
        // Known from the published tokenizer: "hello, world!".
        assert_eq!(tokens("hello, world!"), [50, 47, 54, 54, 57, 3, 16, 65, 57, 60, 54, 46, 5]);
    }

    #[test]
    fn sounds_become_the_models_symbols() {
        for (ipa, language, expected) in [
            ("d^ʒˈʌmpɪŋ t^ʃˈa^ɪld", "en-us", "ʤˈʌmpɪŋ ʧˈIld"),
            ("vˈɔ^ɪs nˈa^ʊ ɡˌo^ʊɪŋ nˈe^ɪt^ʃɚ", "en-us", "vˈYs nˈW ɡˌOɪŋ nˈAʧəɹ"),
            ("bˈɑːɾə^l bˈʌʔn\u{329}", "en-us", "bˈɑTᵊl bˈʌtᵊn"),
            ("wˈɜːld fˈoːɹ", "en-us", "wˈɜɹld fˈɔɹ"),
            ("ɡˈə^ʊ ðˈe^ə", "en-gb", "ɡˈQ ðˈɛː"),
            ("bɔ\u{303}ʒˈuʁ ʒə- vudʁˈɛ", "fr-fr", "bɔ\u{303}ʒˈuʁ ʒə vudʁˈɛ"),
        ] {
            assert_eq!(symbols(ipa, language), expected, "{ipa}");
        }
    }
}
