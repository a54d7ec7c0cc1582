//! An incremental filter for showing an answer while it streams.

use super::thinking;
use super::wrappers::WRAPPERS;

/// Where hidden text ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Right after the marker: only the marker itself is hidden.
    Now,
    /// At this marker.
    Close(&'static str),
    /// Never: calls without a closing marker end the answer.
    End,
}

/// Markers that the wrappers do not have: what they open, and until when it is hidden.
const MORE: &[(&str, Until)] = &[
    ("<function=", Until::Close("</function>")),
    ("<invoke name=", Until::Close("</invoke>")),
    ("<|tool_calls_section_begin|>", Until::Close("<|tool_calls_section_end|>")),
    ("<|tool_call_begin|>", Until::Close("<|tool_call_end|>")),
    ("<|tool_calls_begin|>", Until::Close("<|tool_calls_end|>")),
    ("<｜tool▁calls▁begin｜>", Until::Close("<｜tool▁calls▁end｜>")),
    ("<｜tool▁call▁begin｜>", Until::Close("<｜tool▁call▁end｜>")),
    ("<|channel|>analysis", Until::Close("<|end|>")),
    ("<|channel|>commentary to=", Until::Close("<|call|>")),
    ("<|channel|>final<|message|>", Until::Now),
    ("<|start|>assistant", Until::Now),
    ("<|return|>", Until::Now),
    ("<|im_start|>", Until::Now),
    ("<|im_end|>", Until::Now),
    ("<|eot_id|>", Until::Now),
    ("<|eom_id|>", Until::Now),
    ("<|end_of_text|>", Until::Now),
    ("<|endoftext|>", Until::Now),
    ("<end_of_turn>", Until::Now),
    ("<｜end▁of▁sentence｜>", Until::Now),
];

/// Every marker, in no order.
fn markers() -> impl Iterator<Item = (&'static str, Until)> {
    let wrappers = WRAPPERS
        .iter()
        .map(|wrapper| (wrapper.open, if wrapper.close.is_empty() { Until::End } else { Until::Close(wrapper.close) }));
    let thoughts = thinking::TAGS.iter().map(|(open, close)| (*open, Until::Close(close)));
    wrappers.chain(thoughts).chain(MORE.iter().copied())
}

/// Lets through what may be shown of a streamed answer.
///
/// Text that may be the start of a call marker (`<tool_call>`, `<|tool_call_start|>`, …) or of
/// reasoning is held back until it is certain; what is between markers is never shown. However the
/// answer is cut into pieces, the visible text is the same. It is a preview: the text that counts
/// is the one of [`super::parse`], which also knows bare objects and prose behind them.
#[derive(Debug, Clone, Default)]
pub struct MarkerFilter {
    held: String,
    hidden: Option<&'static str>,
    ended: bool,
}

impl MarkerFilter {
    /// A filter at the start of an answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece; gives what of it, and of what was held back, may be shown.
    pub fn push(&mut self, piece: &str) -> String {
        let mut shown = String::new();
        if self.ended {
            return shown;
        }
        self.held.push_str(piece);
        while self.step(&mut shown) {}
        shown
    }

    /// The end of the answer: what was held back in vain.
    pub fn finish(mut self) -> String {
        if self.ended || self.hidden.is_some() { String::new() } else { std::mem::take(&mut self.held) }
    }

    /// One marker further; false when more text is needed.
    fn step(&mut self, shown: &mut String) -> bool {
        if let Some(close) = self.hidden {
            let Some(at) = self.held.find(close) else {
                let kept = held_back(&self.held, std::iter::once(close));
                self.held.drain(..self.held.len() - kept);
                return false;
            };
            self.held.drain(..at + close.len());
            self.hidden = None;
            return true;
        }
        let first = markers().filter_map(|(marker, until)| Some((self.held.find(marker)?, marker, until)));
        if let Some((at, marker, until)) = first.min_by_key(|(at, ..)| *at) {
            shown.push_str(&self.held[..at]);
            self.held.drain(..at + marker.len());
            match until {
                Until::Now => {}
                Until::Close(close) => self.hidden = Some(close),
                Until::End => {
                    self.ended = true;
                    self.held.clear();
                    return false;
                }
            }
            return true;
        }
        let kept = held_back(&self.held, markers().map(|(marker, _)| marker));
        shown.extend(self.held.drain(..self.held.len() - kept));
        false
    }
}

/// How many bytes at the end of `text` may be the start of a marker.
fn held_back(text: &str, markers: impl Iterator<Item = &'static str>) -> usize {
    markers
        .map(|marker| {
            let ends = marker.char_indices().map(|(at, _)| at).skip(1);
            ends.filter(|length| text.ends_with(&marker[..*length])).max().unwrap_or(0)
        })
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn visible(pieces: &[&str]) -> String {
        let mut filter = MarkerFilter::new();
        let mut shown: String = pieces.iter().map(|piece| filter.push(piece)).collect();
        shown.push_str(&filter.finish());
        shown
    }

    #[test]
    fn no_marker_is_part_of_another() {
        let all: Vec<_> = markers().map(|(marker, _)| marker).collect();
        for (index, one) in all.iter().enumerate() {
            for (other_index, other) in all.iter().enumerate() {
                assert!(index == other_index || !other.contains(one), "'{one}' is part of '{other}'");
            }
        }
    }

    #[test]
    fn a_possible_marker_is_held_back_until_it_is_certain() {
        let mut filter = MarkerFilter::new();
        assert_eq!(filter.push("Hi <tool_"), "Hi ");
        assert_eq!(filter.push("box> and <tool_ca"), "<tool_box> and ");
        assert_eq!(filter.push("ll>{\"name\":\"lamp\"}</tool"), "");
        assert_eq!(filter.push("_call> done <"), " done ");
        assert_eq!(filter.finish(), "<");
    }

    #[test]
    fn what_is_between_markers_is_never_shown() {
        assert_eq!(visible(&["a<think>b</think>c<|im_end|>"]), "ac");
        assert_eq!(visible(&["a[TOOL_CALLS]lamp[ARGS]{}"]), "a");
        assert_eq!(visible(&["a<tool_call>{\"name\":"]), "a");
        assert_eq!(visible(&["1 < 2 <b>bold</b>"]), "1 < 2 <b>bold</b>");
    }

    proptest! {
        #[test]
        fn any_chunking_shows_the_same(
            parts in prop::collection::vec(
                prop_oneof![
                    "[a-z<|>é ]{0,6}",
                    prop::sample::select(markers().map(|(marker, _)| marker.to_owned()).collect::<Vec<_>>()),
                    prop::sample::select(vec!["</tool_call>".to_owned(), "</think>".to_owned(), "<tool_".to_owned()]),
                ],
                0..8,
            ),
            cuts in prop::collection::vec(0_usize..200, 0..12),
        ) {
            let text = parts.concat();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| text.floor_char_boundary(cut.min(text.len()))).collect();
            cuts.push(0);
            cuts.push(text.len());
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            prop_assert_eq!(visible(&pieces), visible(&[&text]));
            let each: Vec<String> = text.chars().map(String::from).collect();
            prop_assert_eq!(visible(&each.iter().map(String::as_str).collect::<Vec<_>>()), visible(&[&text]));
        }
    }
}
