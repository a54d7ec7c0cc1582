//! What a confirmation shows: every character can be seen, and nothing is left out.

use std::sync::LazyLock;

use regex::Regex;

use super::characters::is_unseen;

/// More combining marks in a row than this cover their neighbours.
const MAX_MARKS: usize = 3;

/// Format, private, unassigned characters and separators of lines, by Unicode's tables.
static ODD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]").ok());
static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\p{M}").ok());

/// `text` with every character that cannot be seen, or that changes how others are seen, written
/// as `\u{202E}`: controls, bidirectional and zero-width characters, tags, private and unassigned
/// code points, odd blanks, and piled-up combining marks.
///
/// `\n` and tabs stay, `\r` does not, nothing is shortened. A backslash in front of `u{` is
/// written as `\u{5C}`, so that two different texts never look the same for it.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut marks = 0;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        let is_escape = c == '\\' && rest.as_str().starts_with("u{");
        if is_escape || marks > MAX_MARKS || is_hidden(c) {
            shown.push_str(&format!("\\u{{{:X}}}", u32::from(c)));
        } else {
            shown.push(c);
        }
    }
    shown
}

fn is_mark(c: char) -> bool {
    !c.is_ascii() && matches(&MARK, c)
}

fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        c if c.is_ascii() => c.is_ascii_control(),
        c if c.is_alphanumeric() && !is_unseen(c) => false,
        // Blanks of unusual width, and signs that show nothing. No-break spaces are French.
        '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{205F}' | '\u{2800}' => true,
        c => c.is_control() || is_unseen(c) || matches(&ODD, c),
    }
}

fn matches(class: &LazyLock<Option<Regex>>, c: char) -> bool {
    class.as_ref().is_none_or(|class| class.is_match(c.encode_utf8(&mut [0; 4])))
}

/// The script of a letter, as far as look-alikes need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    /// Armenian, Cherokee, Coptic, Lisu: alphabets with letters that look Latin.
    LookAlike,
}

fn script(c: char) -> Option<Script> {
    match c {
        'A'..='Z' | 'a'..='z' | 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}' => {
            Some(Script::Latin)
        }
        // Not µ, which is a unit; letters only.
        '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}' if c.is_alphabetic() => Some(Script::Greek),
        '\u{400}'..='\u{52F}' | '\u{1C80}'..='\u{1C8F}' | '\u{2DE0}'..='\u{2DFF}' | '\u{A640}'..='\u{A69F}' => {
            Some(Script::Cyrillic)
        }
        '\u{531}'..='\u{587}' | '\u{13A0}'..='\u{13FF}' | '\u{2C80}'..='\u{2CFF}' | '\u{A4D0}'..='\u{A4FF}' => {
            Some(Script::LookAlike)
        }
        _ => None,
    }
}

/// True when one word mixes alphabets whose letters look alike (`раypal` with Cyrillic `ра`), or
/// has mathematical or full-width letters in it: for file names, addresses and names of tools.
pub fn mixed_scripts(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let mut scripts = word.chars().filter_map(script);
        let first = scripts.next();
        let mixed = scripts.any(|script| Some(script) != first);
        let styled =
            |c: char| matches!(c, '\u{1D400}'..='\u{1D7FF}' | '\u{FF21}'..='\u{FF3A}' | '\u{FF41}'..='\u{FF5A}');
        mixed || word.chars().any(styled)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_hides_is_written_out() {
        assert_eq!(visible("report\u{202E}fdp.exe"), "report\\u{202E}fdp.exe");
        assert_eq!(visible("a\u{200B}b\u{FEFF}c\u{AD}d"), "a\\u{200B}b\\u{FEFF}c\\u{AD}d");
        assert_eq!(visible("x\u{E0041}\u{FE0F}\u{378}\u{E000}"), "x\\u{E0041}\\u{FE0F}\\u{378}\\u{E000}");
        assert_eq!(visible("a\rb\u{1B}[2Kc\u{9B}d\u{2028}e\0"), "a\\u{D}b\\u{1B}[2Kc\\u{9B}d\\u{2028}e\\u{0}");
        assert_eq!(visible("z\u{300}\u{301}\u{302}\u{303}"), "z\u{300}\u{301}\u{302}\\u{303}");
        assert_eq!(visible("a\u{2003}b\u{2800}"), "a\\u{2003}b\\u{2800}");
    }

    #[test]
    fn what_can_be_seen_stays() {
        let text = "Été « à\u{A0}5\u{202F}€ » — 日本語 עברית 😀\n\tC:\\Users\\new \\n {x}";
        assert_eq!(visible(text), text);
        let long = "é".repeat(10_000);
        assert_eq!(visible(&long), long);
    }

    #[test]
    fn a_written_escape_is_no_character() {
        assert_eq!(visible("\\u{202E}"), "\\u{5C}u{202E}");
        assert_ne!(visible("\\u{202E}"), visible("\u{202E}"));
    }

    #[test]
    fn look_alikes_in_a_word_are_seen() {
        for text in ["p\u{430}ypal.com", "раypal", "Αpple", "https://gооgle.com/a", "ｐassword", "\u{1D41A}dmin"]
        {
            assert!(mixed_scripts(text), "{text}");
        }
        for text in ["paypal.com", "привет мир", "Ελλάδα in Greece", "Été à Noël", "5 µm", "日本語abc", "Москва-city"]
        {
            assert!(!mixed_scripts(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn different_texts_look_different(a in "[\\\\u{}0-9A-F\u{202E}\u{200B}x]{0,8}", b in "[\\\\u{}0-9A-F\u{202E}\u{200B}x]{0,8}") {
            prop_assert_eq!(a == b, visible(&a) == visible(&b), "{:?} {:?}", a, b);
        }

        #[test]
        fn nothing_hidden_is_left(text in any::<String>()) {
            let shown = visible(&text);
            let hides = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || is_unseen(c);
            prop_assert!(!shown.chars().any(hides), "{:?}", shown);
            prop_assert!(shown.chars().count() >= text.chars().count());
        }
    }
}
