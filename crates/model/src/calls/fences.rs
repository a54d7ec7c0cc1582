//! Code fences and inline code: when a call in them is meant, and when it is shown.

use std::ops::Range;

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    /// The whole block with its fences.
    pub(super) range: Range<usize>,
    /// The word after the opening fence, in lower case.
    pub(super) info: String,
    /// The lines between the fences.
    pub(super) inside: Range<usize>,
}

/// Words after the opening fence in whose blocks calls are looked for.
const CALL_INFO: &[&str] = &[
    "",
    "json",
    "jsonc",
    "json5",
    "tool_code",
    "tool_call",
    "tool_calls",
    "tool",
    "tools",
    "tool_use",
    "function",
    "function_call",
    "homeassistant",
    "xml",
    "text",
    "plaintext",
    "python",
    "py",
];

impl Fence {
    /// Program text, in which `print(lamp())` and `result = lamp()` are calls.
    pub(super) fn is_code(&self) -> bool {
        matches!(self.info.as_str(), "tool_code" | "python" | "py")
    }

    /// May this block make a call?
    ///
    /// Yes when it opens or ends the answer; no when prose stands before and after it (that is a
    /// documentation example), when the prose says that it is an example, or when the block is in
    /// another language. Python counts only when it is the whole answer.
    pub(super) fn is_live(&self, prose_before: bool, prose_after: bool, before: &str, after: &str) -> bool {
        let surrounded = prose_before && prose_after;
        let alone = !prose_before && !prose_after;
        let plain_python = matches!(self.info.as_str(), "python" | "py");
        let looked_at = CALL_INFO.contains(&self.info.as_str()) && (alone || !plain_python);
        let shown = introduces_example(before) || speaks_of_example(&after[..after.floor_char_boundary(400)]);
        looked_at && !surrounded && !shown
    }
}

/// The fence that opens at `at`, a line's first character that is no blank.
pub(super) fn fence_at(text: &str, at: usize) -> Option<Fence> {
    let rest = &text[at..];
    let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = rest.len() - rest.trim_start_matches(mark).len();
    if length < 3 {
        return None;
    }
    let head = at + length;
    let info_length =
        text[head..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len() - length);
    let info = text[head..head + info_length].to_ascii_lowercase();
    let close = &rest[..length];
    let line_end = text[head..].find('\n').map_or(text.len(), |offset| head + offset);
    let start = head + info_length;
    // All on one line: ```json {…}```
    if let Some(offset) = text[start..line_end].find(close) {
        let end = start + offset;
        return Some(Fence { range: at..end + length, info, inside: start..end });
    }
    let mut line = if text[start..line_end].trim().is_empty() { line_end } else { start };
    let inside_start = line;
    while line < text.len() {
        let from = line + usize::from(text.as_bytes()[line] == b'\n');
        let next = text[from..].find('\n').map_or(text.len(), |offset| from + offset);
        let content = text[line..next].trim_end();
        if let Some(before) = content.strip_suffix(close)
            && (before.trim().is_empty() || before.trim_end().ends_with(['}', ']', ')', '>']))
        {
            let inside = inside_start..line + before.len();
            return Some(Fence { range: at..line + content.len(), info, inside });
        }
        line = next;
    }
    Some(Fence { range: at..text.len(), info, inside: inside_start..text.len() })
}

/// Inline code that opens at `at`: its range with the backticks. It ends in the same paragraph.
pub(super) fn inline_code(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let length = rest.len() - rest.trim_start_matches('`').len();
    let window = &rest[length..rest.floor_char_boundary(length + 2048)];
    let window = window.split("\n\n").next().unwrap_or(window);
    let end = window.find(&rest[..length])?;
    Some(at..at + length + end + length)
}

/// Does the prose in front of something say that it is an example?
///
/// Only the last sentence counts, and only words that no announcement of an action has.
pub(super) fn introduces_example(before: &str) -> bool {
    let tail = &before[before.ceil_char_boundary(before.len().saturating_sub(160))..];
    let paragraph = tail.trim_end().rsplit("\n\n").next().unwrap_or(tail);
    let sentence = paragraph.trim_end_matches([':', ' ', '\n', '`', '"']).rsplit(['.', '!', '?']).next().unwrap_or("");
    speaks_of_example(sentence)
}

/// `… {…}?` and `… {…} - shall I?` only propose what stands there.
pub(super) fn is_asked(after: &str) -> bool {
    const ASKS: &[&str] = &[
        "shall i", "should i", "may i", "can i", "ok?", "okay?", "right?", "correct?", "dois-je", "je peux", "d'accord",
    ];
    let line = after.lines().next().unwrap_or("").trim_start_matches(['`', '"', ' ']);
    let sentence = &line[..line.floor_char_boundary(80)];
    let Some(end) = sentence.find(['.', '!', '?']).filter(|end| sentence[*end..].starts_with('?')) else {
        return false;
    };
    let asked = sentence[..=end].to_lowercase();
    end == 0 || ASKS.iter().any(|sign| asked.contains(sign))
}

fn speaks_of_example(text: &str) -> bool {
    const SIGNS: &[&str] = &[
        "for example",
        "an example",
        "example:",
        "example call",
        "example of",
        "for instance",
        "e.g.",
        "e.g",
        "syntax",
        "looks like",
        "would look",
        "format is",
        "format:",
        "format for",
        "you can call",
        "you could",
        "you would",
        "one would",
        "could be called",
        "would be called",
        "would call",
        "would write",
        "would send",
        "documentation",
        "don't run",
        "do not run",
        "don't call",
        "do not call",
        "par exemple",
        "un exemple",
        "exemple :",
        "exemple:",
        "exemple d",
        "syntaxe",
        "ressemble",
        "vous pouvez appeler",
        "tu peux appeler",
        "il faudrait",
        "format est",
    ];
    let lower = text.to_lowercase();
    SIGNS.iter().any(|sign| lower.contains(sign)) || lower.trim_end().ends_with("example")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_found_with_their_content() {
        for (text, info, inside) in [
            ("```json\n{}\n```", "json", "{}"),
            ("```json {}```", "json", "{}"),
            ("```\n{}", "", "{}"),
            ("~~~tool_code\nf()\n~~~\nrest", "tool_code", "f()"),
            ("```json\n{}```", "json", "{}"),
            ("````\n```\n````", "", "```"),
        ] {
            let fence = fence_at(text, 0).unwrap();
            assert_eq!((fence.info.as_str(), text[fence.inside].trim()), (info, inside), "{text}");
        }
        assert_eq!(fence_at("`x`", 0), None);
    }

    #[test]
    fn an_example_is_announced() {
        assert!(introduces_example("The call looks like this:"));
        assert!(introduces_example("Tu peux l'allumer. Par exemple :"));
        assert!(!introduces_example("For example this. I turn it on:"));
        assert!(!introduces_example("Fetching example.com:"));
        assert!(!introduces_example("Sure, turning the lamp on:"));
    }
}
