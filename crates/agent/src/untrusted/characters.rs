//! Characters that hide, reorder or carry something unseen.

use std::sync::LazyLock;

use regex::Regex;

/// Escape sequences of terminals: colours, titles, links. Their payload is not part of the text.
static TERMINAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\x1B(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1B\n]{0,4096}(?:\x07|\x1B\\)?|[ -/]*[0-Z\\-~])").ok()
});

/// True for a character that shows nothing, or changes how its neighbours are shown: zero-width
/// and bidirectional controls, tags, variation selectors, fillers, soft hyphens, annotations.
pub(super) fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{3164}' | '\u{FFA0}' | '\u{FEFF}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FFF0}'..='\u{FFFB}'
        | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
        || is_noncharacter(c)
}

/// Code points that Unicode never assigns.
fn is_noncharacter(c: char) -> bool {
    let code = u32::from(c);
    (0xFDD0..=0xFDEF).contains(&code) || code & 0xFFFE == 0xFFFE
}

/// Text with only what can be seen: line ends become `\n`, controls and unseen characters go.
pub(super) fn plain(text: &str) -> String {
    let text = match TERMINAL.as_ref() {
        Some(terminal) if text.contains('\u{1B}') => terminal.replace_all(text, ""),
        _ => text.into(),
    };
    let mut plain = String::with_capacity(text.len());
    let mut after_return = false;
    for c in text.chars() {
        match c {
            // Both characters of a Windows line end are one.
            '\n' if after_return => {}
            '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' | '\u{2029}' => plain.push('\n'),
            '\t' => plain.push('\t'),
            c if c.is_control() || is_unseen(c) => {}
            c => plain.push(c),
        }
        after_return = c == '\r';
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_seen_is_left() {
        assert_eq!(plain("a\r\nb\rc\u{2028}d\u{2029}e\u{85}f\tg"), "a\nb\nc\nd\ne\nf\tg");
        assert_eq!(plain("pay\u{202E}fdp.exe\u{202C} \u{200B}now\u{FEFF}\u{AD}\u{0}\u{7}"), "payfdp.exe now");
        assert_eq!(plain("x\u{E0041}\u{E007F}y\u{FE0F}\u{E0100}z"), "xyz");
        assert_eq!(
            plain("\u{1B}[31mred\u{1B}[0m \u{1B}]8;;http://a\u{7}link\u{1B}]8;;\u{7} \u{1B}(Bend"),
            "red link end"
        );
        assert_eq!(plain("é à 日本 😀 «\u{A0}oui\u{A0}»"), "é à 日本 😀 «\u{A0}oui\u{A0}»");
    }
}
