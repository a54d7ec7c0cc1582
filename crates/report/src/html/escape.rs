//! Text that may have come from a model, made safe for a page.

use std::borrow::Cow;
use std::fmt::Write as _;

/// For an element's content and for a quoted attribute. Characters that cannot be seen, or that
/// reorder what is around them, are written as their escapes: `\u{202E}`.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|character| is_special(character) || is_hidden(character)) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            hidden if is_hidden(hidden) => {
                let _ = write!(safe, "\\u{{{:X}}}", u32::from(hidden));
            }
            plain => safe.push(plain),
        }
    }
    Cow::Owned(safe)
}

/// The same, with what stands in backticks as code.
pub(crate) fn spans(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + 16);
    // A backtick without its partner is a backtick.
    let paired = text.matches('`').count() / 2 * 2;
    for (i, piece) in text.splitn(paired + 1, '`').enumerate() {
        if i % 2 == 1 {
            let _ = write!(html, "<code>{}</code>", escape(piece));
        } else {
            html.push_str(&escape(piece));
        }
    }
    html
}

/// The same without the escapes of markup: for text that a script sets as text.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hidden(character) {
            let _ = write!(shown, "\\u{{{:X}}}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

fn is_special(character: char) -> bool {
    matches!(character, '&' | '<' | '>' | '"' | '\'')
}

/// Control characters but the line break and the tab, directions, joiners, blanks without width,
/// tags, variation selectors, and what stands for nothing. No-break spaces are ours and French.
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        character if character.is_ascii() => character.is_ascii_control(),
        character => {
            character.is_control()
                || matches!(character,
                    '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                    | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
                    | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
                    | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_text() {
        assert_eq!(escape("<b a=\"'\">&"), "&lt;b a=&quot;&#39;&quot;&gt;&amp;");
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(escape("a\u{202e}b\u{0}c\r\u{1b}[2J"), "a\\u{202E}b\\u{0}c\\u{D}\\u{1B}[2J");
        assert_eq!(escape("\u{e0041}\u{feff}"), "\\u{E0041}\\u{FEFF}");
    }

    #[test]
    fn backticks_are_code_in_pairs() {
        assert_eq!(spans("use `a <b>` or `c`"), "use <code>a &lt;b&gt;</code> or <code>c</code>");
        assert_eq!(spans("a ` b"), "a ` b");
        assert_eq!(spans("`a` ` b"), "<code>a</code> ` b");
    }

    #[test]
    fn ordinary_text_stays() {
        for text in ["déjà vu", "日本語", "12\u{202f}345 %", "a\u{a0}b", "one\ntwo\t3", "− × · –"] {
            assert!(matches!(escape(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
