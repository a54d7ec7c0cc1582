//! Special tokens of chat templates in the answer: what leaked, and where a made-up turn begins.

use std::ops::Range;

use super::lenient::{self, Dialect, State};
use super::sections::special;
use super::source::Work;
use super::wrappers::WRAPPERS;

/// Names of the tokens that open and close turns (`<|name|>`).
const TURN_NAMES: &[&str] = &[
    "im_start",
    "im_end",
    "im_sep",
    "im_middle",
    "eot_id",
    "eom_id",
    "end_of_text",
    "begin_of_text",
    "startoftext",
    "endoftext",
    "start_header_id",
    "end_header_id",
    "start_of_role",
    "end_of_role",
    "end",
    "start",
    "return",
    "user",
    "system",
    "assistant",
    "User",
    "Assistant",
    "begin_of_sentence",
    "end_of_sentence",
    "end_of_turn",
    "START_OF_TURN_TOKEN",
    "END_OF_TURN_TOKEN",
    "CHATBOT_TOKEN",
    "USER_TOKEN",
    "START_RESPONSE",
    "END_RESPONSE",
];
/// Turn tokens that are written otherwise.
const TURN_MARKS: &[&str] =
    &["<start_of_turn>", "<end_of_turn>", "<|turn>", "<turn|>", "<bos>", "<eos>", "<pad>", "[/INST]", "[e~["];
/// Tokens after which a role is named.
const ROLE_HEADS: &[&str] = &["<|im_start|>", "<|start_header_id|>", "<start_of_turn>", "<|turn>", "<|start_of_role|>"];
/// Where a turn that is not the model's begins.
const STRANGE_TURNS: &[&str] = &[
    "<|user|>",
    "<|observation|>",
    "<｜User｜>",
    "<|system|>",
    "[INST]",
    "<tool_response>",
    "<|tool_response>",
    "<start_function_response>",
    "<｜tool▁outputs▁begin｜>",
    "[TOOL_RESULTS]",
    "<|START_TOOL_RESULT|>",
];
/// Parts of call notations that stay behind when a call was malformed.
const ORPHANS: &[&str] = &[
    "</function>",
    "</parameter>",
    "</invoke>",
    "[ARGS]",
    "[CALL_ID]",
    ">>>all\n",
    "<tool_response>",
    "</tool_response>",
    "</think>",
    "</thinking>",
    "<channel|>",
];

/// Objects of strict JSON in `text`: whatever looks like a tag or token inside is data.
pub(super) fn json_islands(text: &str) -> Vec<Range<usize>> {
    let work = Work::for_a_look(text.len());
    let mut islands = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find('{') {
        let start = at + offset;
        let reading = lenient::read(text, start, Dialect::Json, &work);
        let strict = reading.state == State::Complete && reading.repairs.is_empty();
        at = if strict { reading.end } else { start + 1 };
        if strict {
            islands.push(start..reading.end);
        }
        if work.is_exhausted() {
            break;
        }
    }
    islands
}

/// True when `at` is inside one of the sorted ranges.
pub(super) fn is_inside(ranges: &[Range<usize>], at: usize) -> bool {
    let index = ranges.partition_point(|range| range.end <= at);
    ranges.get(index).is_some_and(|range| range.start <= at)
}

/// Where the model starts to write somebody else's turn, or a tool's result. What follows was
/// made up: nothing in it may run, and nothing in it is the answer.
pub(super) fn strange_turn(text: &str, islands: &[Range<usize>]) -> Option<usize> {
    let outside = |at: &usize| !is_inside(islands, *at);
    let heads = ROLE_HEADS.iter().flat_map(|head| text.match_indices(head)).filter_map(|(at, head)| {
        let role = text[at + head.len()..].trim_start();
        let own = ["assistant", "model"].iter().any(|name| role.starts_with(name));
        let named = ["user", "system", "tool", "ipython", "developer"].iter().any(|name| role.starts_with(name));
        (named && !own).then_some(at)
    });
    let marks = STRANGE_TURNS.iter().flat_map(|mark| text.match_indices(mark)).map(|(at, _)| at);
    heads.chain(marks).filter(outside).min()
}

/// The turn token at `at`, a role after it included: where it ends.
fn turn_token(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let end = match special(text, at) {
        Some((name, end)) if TURN_NAMES.contains(&name.as_str()) => end,
        _ => at + TURN_MARKS.iter().find(|mark| rest.starts_with(**mark))?.len(),
    };
    if ROLE_HEADS.iter().any(|head| rest.starts_with(head)) {
        let role = ["assistant", "model"].iter().find(|name| text[end..].starts_with(**name));
        return Some(end + role.map_or(0, |name| name.len()));
    }
    Some(end)
}

/// The text without its turn tokens, and whether there were any. `islands` stay as they are.
pub(super) fn strip_turns(text: &str, islands: &[Range<usize>]) -> (String, bool) {
    let (mut plain, mut leaked) = strip(text, islands, turn_token);
    // `<s>` and `</s>` are also HTML: only at the ends.
    for end in ["</s>", "<|endoftext|>"] {
        while let Some(cut) = plain.trim_end().strip_suffix(end) {
            plain = cut.to_owned();
            leaked = true;
        }
    }
    if let Some(cut) = plain.trim_start().strip_prefix("<s>")
        && !cut.contains("</s>")
    {
        plain = cut.to_owned();
        leaked = true;
    }
    (plain, leaked)
}

/// The prose without what is left of call markers, and whether there was any.
pub(super) fn strip_markers(text: &str, kept: &[Range<usize>]) -> (String, bool) {
    strip(text, kept, |text, at| {
        let rest = &text[at..];
        let marker = || {
            let opens = WRAPPERS.iter().map(|wrapper| wrapper.open);
            let closes = WRAPPERS.iter().map(|wrapper| wrapper.close).filter(|close| !close.is_empty());
            opens.chain(closes).chain(ORPHANS.iter().copied()).find(|marker| rest.starts_with(marker))
        };
        turn_token(text, at)
            .or_else(|| marker().map(|marker| at + marker.len()))
            .or_else(|| special(text, at).map(|(_, end)| end))
    })
}

fn strip(text: &str, kept: &[Range<usize>], token: impl Fn(&str, usize) -> Option<usize>) -> (String, bool) {
    let mut plain = String::with_capacity(text.len());
    let mut copied = 0;
    let mut at = 0;
    let mut leaked = false;
    while let Some(offset) = text[at..].find(['<', '[', '>']) {
        let start = at + offset;
        at = start + 1;
        if is_inside(kept, start) {
            continue;
        }
        if let Some(end) = token(text, start) {
            plain.push_str(&text[copied..start]);
            copied = end;
            at = end;
            leaked = true;
        }
    }
    plain.push_str(&text[copied..]);
    (plain, leaked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turn_tokens_go_and_html_stays() {
        let (text, leaked) = strip_turns("<|im_start|>assistant\nHi <s>old</s> there<|im_end|>", &[]);
        assert_eq!((text.as_str(), leaked), ("\nHi <s>old</s> there", true));
        assert_eq!(strip_turns("x</s>", &[]), ("x".to_owned(), true));
        assert_eq!(strip_turns("a <b> [link](c) <|", &[]), ("a <b> [link](c) <|".to_owned(), false));
    }

    #[test]
    fn a_made_up_turn_is_found_outside_data_only() {
        let text = r#"{"text":"<|im_start|>user"} ok<|im_end|><|im_start|>user"#;
        let islands = json_islands(text);
        assert_eq!(strange_turn(text, &islands), Some(text.rfind("<|im_start|>").unwrap()));
        assert_eq!(strange_turn("<|im_start|>assistant\nhello", &[]), None);
    }
}
