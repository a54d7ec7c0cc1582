//! The reasoning in an answer: what is in it is not said, and as a rule not done.

use std::ops::Range;

use super::tokens::is_inside;

/// Opening and closing tags of reasoning.
pub(super) const TAGS: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("◁think▷", "◁/think▷"),
    ("<|channel>thought", "<channel|>"),
];

/// An answer with its reasoning apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Split {
    /// What is outside.
    pub(super) answer: String,
    /// What is inside, block by block.
    pub(super) thoughts: Vec<String>,
    /// True when the last block was never closed.
    pub(super) open: bool,
}

/// True when the text has a tag of reasoning at all.
pub(super) fn has_tags(text: &str) -> bool {
    TAGS.iter().any(|(open, close)| text.contains(open) || text.contains(close))
}

/// Splits `text`. Tags inside `islands` (data) and right behind a backtick (quoted) do not count.
///
/// A first closing tag without an opening one means that the template wrote the opening one.
pub(super) fn split(text: &str, islands: &[Range<usize>]) -> Split {
    let mut tags = tags_of(text, islands).into_iter().peekable();
    let mut split = Split::default();
    let mut copied = 0;
    let mut seen = false;
    while let Some(tag) = tags.next() {
        if tag.opens {
            push(&mut split.answer, &text[copied..tag.range.start]);
            let close = tags.find(|other| !other.opens);
            let (end, after) = close.map_or((text.len(), text.len()), |close| (close.range.start, close.range.end));
            split.open = after == text.len() && end == after;
            split.thoughts.push(text[tag.range.end..end].to_owned());
            copied = after;
        } else {
            let before = &text[copied..tag.range.start];
            if seen {
                push(&mut split.answer, before);
            } else {
                split.thoughts.push(before.to_owned());
            }
            copied = tag.range.end;
        }
        seen = true;
    }
    push(&mut split.answer, &text[copied..]);
    split
}

struct Tag {
    range: Range<usize>,
    opens: bool,
}

fn tags_of(text: &str, islands: &[Range<usize>]) -> Vec<Tag> {
    let mut tags: Vec<Tag> = TAGS
        .iter()
        .flat_map(|(open, close)| [(*open, true), (*close, false)])
        .flat_map(|(tag, opens)| text.match_indices(tag).map(move |(at, _)| Tag { range: at..at + tag.len(), opens }))
        .filter(|tag| !is_inside(islands, tag.range.start) && !text[..tag.range.start].ends_with('`'))
        .collect();
    tags.sort_by_key(|tag| tag.range.start);
    tags
}

fn push(answer: &mut String, part: &str) {
    let joins = !answer.trim_end().is_empty() && !part.trim_start().is_empty();
    if joins && !answer.ends_with(char::is_whitespace) && !part.starts_with(char::is_whitespace) {
        answer.push('\n');
    }
    answer.push_str(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, Vec<String>, bool) {
        let Split { answer, thoughts, open } = split(text, &[]);
        (answer.trim().to_owned(), thoughts, open)
    }

    #[test]
    fn blocks_are_split_off() {
        assert_eq!(parts("<think>a</think>Hi"), ("Hi".into(), vec!["a".into()], false));
        assert_eq!(parts("a</think>Hi"), ("Hi".into(), vec!["a".into()], false));
        assert_eq!(parts("Hi<think>a"), ("Hi".into(), vec!["a".into()], true));
        assert_eq!(parts("[THINK]a[/THINK]Hi</think>"), ("Hi".into(), vec!["a".into()], false));
        assert_eq!(parts("<think>a <think> b</think>Hi"), ("Hi".into(), vec!["a <think> b".into()], false));
        assert_eq!(parts("write `<think>` first"), ("write `<think>` first".into(), vec![], false));
    }
}
