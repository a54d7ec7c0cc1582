//! Finding the texts of special tokens.

use std::collections::HashSet;

use aho_corasick::{AhoCorasick, MatchKind};

/// A stretch of text between special tokens, or one such token.
pub(super) enum Piece<'a> {
    Text(&'a str),
    Token(u32),
}

/// A set of special tokens that are searched for together; the longest at a place wins.
pub(super) struct Markers {
    search: Option<AhoCorasick>,
    /// The texts in order, and the texts written backwards in order.
    sorted: Vec<String>,
    reversed: Vec<String>,
    /// Bytes of the longest text.
    longest: usize,
    ids: Vec<u32>,
    set: HashSet<u32>,
    /// Tokens that swallow the white space after them.
    strips: HashSet<u32>,
}

impl Markers {
    /// `tokens` are ids and texts; empty texts are left out.
    pub(super) fn new(tokens: Vec<(u32, String)>, strips: HashSet<u32>) -> Result<Self, String> {
        let (ids, texts): (Vec<u32>, Vec<String>) = tokens.into_iter().filter(|(_, text)| !text.is_empty()).unzip();
        let search = if texts.is_empty() {
            None
        } else {
            let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&texts);
            Some(search.map_err(|error| format!("special tokens: {error}"))?)
        };
        let longest = texts.iter().map(String::len).max().unwrap_or(0);
        let (mut sorted, mut reversed) = (texts.clone(), texts.iter().map(|text| reverse(text)).collect::<Vec<_>>());
        sorted.sort_unstable();
        reversed.sort_unstable();
        let set = ids.iter().copied().collect();
        Ok(Self { search, sorted, reversed, longest, ids, set, strips })
    }

    pub(super) fn contains(&self, id: u32) -> bool {
        self.set.contains(&id)
    }

    /// Hands out `text` in order, cut at special tokens. Empty stretches are not handed out.
    pub(super) fn split<'a>(&self, text: &'a str, mut take: impl FnMut(Piece<'a>)) {
        let mut rest = 0;
        for found in self.search.iter().flat_map(|search| search.find_iter(text)) {
            if found.start() < rest {
                continue; // inside white space that the token before swallowed
            }
            if rest < found.start() {
                take(Piece::Text(&text[rest..found.start()]));
            }
            let id = self.ids[found.pattern().as_usize()];
            take(Piece::Token(id));
            rest = found.end();
            if self.strips.contains(&id) {
                rest = text.len() - text[rest..].trim_start().len();
            }
        }
        if rest < text.len() {
            take(Piece::Text(&text[rest..]));
        }
    }

    /// See [`super::Tokenizer::guard`].
    pub(super) fn guard(&self, text: &str, guard: char, edges: bool) -> String {
        let mut cuts = Vec::new();
        if edges && self.touches_start(text) {
            cuts.push(0);
        }
        let mut from = 0;
        while let Some(found) = self.search.as_ref().and_then(|search| search.find(&text[from..])) {
            // One character in, so that overlapping markers are found and broken too.
            let start = from + found.start();
            from = start + text[start..].chars().next().map_or(1, char::len_utf8);
            cuts.push(from);
        }
        if edges && self.touches_end(text) && cuts.last() != Some(&text.len()) {
            cuts.push(text.len());
        }
        let mut guarded = String::with_capacity(text.len() + cuts.len() * guard.len_utf8());
        let mut rest = 0;
        for cut in cuts {
            guarded.push_str(&text[rest..cut]);
            guarded.push(guard);
            rest = cut;
        }
        guarded.push_str(&text[rest..]);
        guarded
    }

    /// True when `text` begins with the end of a marker, which text before it could complete.
    fn touches_start(&self, text: &str) -> bool {
        let heads = text.char_indices().map(|(start, character)| &text[..start + character.len_utf8()]);
        heads.take_while(|head| head.len() < self.longest).any(|head| begins_one(&self.reversed, &reverse(head)))
    }

    /// True when `text` ends with the beginning of a marker, which text after it could complete.
    fn touches_end(&self, text: &str) -> bool {
        let tails = text.char_indices().rev().map(|(start, _)| &text[start..]);
        tails.take_while(|tail| tail.len() < self.longest).any(|tail| begins_one(&self.sorted, tail))
    }
}

fn reverse(text: &str) -> String {
    text.chars().rev().collect()
}

/// True when one of the sorted texts begins with `part` and goes on. White space is left alone:
/// templates trim it, and it is no part of a marker that text could add.
fn begins_one(sorted: &[String], part: &str) -> bool {
    let first = sorted.partition_point(|text| text.as_str() <= part);
    !part.trim().is_empty() && sorted.get(first).is_some_and(|text| text.starts_with(part))
}
