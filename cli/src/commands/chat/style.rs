//! How pieces of a conversation look: colours where there are any, nothing that acts on a terminal
//! in what others wrote.

use serde_json::{Map, Value};
use tenpass_agent::untrusted;
use tenpass_trace::Tier;
use unicode_width::UnicodeWidthChar as _;

/// Longest value on the line of a call, in characters; the confirmation shows all of it.
const SHOWN_VALUE: usize = 60;

/// A colour or weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Dim,
    Red,
    Yellow,
    Green,
    Cyan,
}

/// Paints where colours are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    pub(super) fn ink(self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Dim => "2",
            Ink::Red => "1;31",
            Ink::Yellow => "33",
            Ink::Green => "32",
            Ink::Cyan => "36",
        };
        if self.0 && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// The tier's name in its colour.
    pub(super) fn tier(self, tier: Tier) -> String {
        let ink = match tier {
            Tier::Auto => Ink::Dim,
            Tier::Confirm => Ink::Yellow,
            Tier::Irreversible => Ink::Red,
        };
        self.ink(ink, tier.as_str())
    }
}

/// Text of a model for a terminal: line breaks and tabs stay, what else a terminal obeys is written
/// out. Bidirectional overrides too; joiners stay, scripts and emoji need them.
pub(super) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            '\r' => {}
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {
                shown.push_str(&format!("\\u{{{:X}}}", u32::from(character)));
            }
            character if character.is_control() => shown.push_str(&format!("\\u{{{:X}}}", u32::from(character))),
            character => shown.push(character),
        }
    }
    shown
}

/// Text of others on one line, at most this many characters.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    shortened(&untrusted::visible(line).replace('\t', " "), most)
}

/// The first characters, with an ellipsis when there are more.
pub(in crate::commands) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// `filename: "a.txt", limit: 5`, without the reason, each value shortened.
pub(super) fn arguments(arguments: &Map<String, Value>) -> String {
    let shown = arguments.iter().filter(|(name, _)| *name != "reason").map(|(name, value)| {
        // JSON has line breaks escaped already.
        let value = shortened(&untrusted::visible(&value.to_string()), SHOWN_VALUE);
        format!("{}: {value}", untrusted::visible(name))
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Columns of a text without line breaks.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(|character| if character == '\t' { 8 } else { character.width().unwrap_or(0) }).sum()
}

/// The lines of a text, broken so that none is wider than `width` columns. Nothing is left out.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let mut part = String::new();
        let mut used = 0;
        for character in line.chars() {
            let wide = if character == '\t' { 8 } else { character.width().unwrap_or(0) };
            if used + wide > width {
                lines.push(std::mem::take(&mut part));
                used = 0;
            }
            part.push(character);
            used += wide;
        }
        lines.push(part);
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_of_a_model_acts_on_the_terminal() {
        assert_eq!(printable("a\x1b[2J\x07b\r\n\tc"), "a\\u{1B}[2J\\u{7}b\n\tc");
        assert_eq!(printable("x\u{202E}y 👩‍🚀"), "x\\u{202E}y 👩‍🚀");
        assert_eq!(one_line("\n\n  a\x1bb\tc\nrest", 80), "a\\u{1B}b c");
        assert_eq!(one_line("abcdef", 4), "abc…");
    }

    #[test]
    fn arguments_stand_on_one_line() {
        let value = json!({ "filename": "a\nb.txt", "limit": 5, "reason": "because", "x": "é".repeat(100) });
        let shown = arguments(value.as_object().unwrap());
        assert!(shown.starts_with("filename: \"a\\nb.txt\", limit: 5, x: \"éé") && shown.ends_with('…'), "{shown}");
        assert!(!shown.contains('\n') && !shown.contains("because"));
    }

    #[test]
    fn wrapping_loses_nothing_and_counts_wide_characters() {
        let text = "日本語日本語 abc\nsecond";
        let lines = wrapped(text, 8);
        assert_eq!(lines, ["日本語日", "本語 abc", "second"]);
        assert!(lines.iter().all(|line| columns(line) <= 8));
    }
}
