//! Masking of text that arrives in pieces.
//!
//! The text is read character by character and cut into segments where no secret can go on: at
//! blanks and at brackets, commas and the like, unless a key, a quote or a header is open. Each
//! segment is masked by itself, so the result does not depend on how the text arrived.

use std::sync::LazyLock;

use regex::Regex;

use super::block::{self, Block};
use super::literal::{MAX_QUOTED, border_before, is_border, is_opener};
use super::number;
use super::rule::Rule;
use super::scan;

/// Longest segment, in bytes: the most that is held back.
const MAX_SEGMENT: usize = 4096;
/// How much of a segment that is too long stays for the next: more than the longest value.
const OVERLAP: usize = MAX_QUOTED + 256;
/// How much of the line is remembered, in bytes.
const MAX_BEFORE: usize = 96;
/// The most that is swallowed behind a secret that is too long, in bytes.
const MAX_TAIL: usize = 64 * 1024;

/// The header of a private key's block, at the end of a text.
static HEADER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----|(?:^|[^-])(?:---- BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY ----))$",
    )
    .ok()
});
/// What stands in front of the private part of a PuTTY key, and of the number of its lines.
const PUTTY: &str = "Private-Lines: ";

/// Where the reader is.
#[derive(Debug, Clone, Default)]
enum State {
    #[default]
    Text,
    Block(Block),
    /// Behind a secret that goes on: up to this text, or as long as it is one run.
    Tail {
        until: &'static str,
        seen: String,
        left: usize,
    },
}

/// [`super::mask`] for text that arrives in pieces.
///
/// Whatever the pieces are, what comes out is the same text. At most about 4,000 bytes are held
/// back: as a rule the last word, behind a telling key its value.
#[derive(Debug, Clone, Default)]
pub struct Masker {
    state: State,
    buffer: String,
    /// The end of the line in front of the buffer, as it came out.
    before: String,
    /// The last character that came out.
    last: Option<char>,
    /// Nothing is decided before this text, for a value that starts here.
    awaited: Option<(&'static str, usize)>,
    found: Vec<&'static str>,
}

impl Masker {
    /// A masker at the start of a text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece; gives what is certain, masked.
    pub fn push(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        for c in piece.chars() {
            self.step(c, &mut out);
        }
        out
    }

    /// The end of the text: what was held back, masked. The masker is new again.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        // A block that is over gives its last words back.
        for _ in 0..3 {
            if let State::Block(block) = std::mem::take(&mut self.state) {
                self.leave_block(block.finish(), &mut out);
            }
        }
        self.flush(self.buffer.len(), true, &mut out);
        let found = std::mem::take(&mut self.found);
        *self = Self { found, ..Self::default() };
        out
    }

    /// Names of the rules that matched so far, each once.
    pub fn found(&self) -> &[&'static str] {
        &self.found
    }

    /// Bytes that are held back.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.buffer.len()
    }

    fn step(&mut self, c: char, out: &mut String) {
        match &mut self.state {
            State::Text => self.text(c, out),
            State::Block(block) => match block.step(c) {
                block::Step::Inside => {}
                block::Step::Certain => self.hide_block(out),
                over @ block::Step::Over { .. } => {
                    self.state = State::Text;
                    self.leave_block(over, out);
                }
            },
            State::Tail { until, seen, left } => {
                let ends = if until.is_empty() {
                    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | ',' | ';' | ')' | ']' | '}' | '&')
                } else {
                    seen.push(c);
                    c == '\n' || seen.ends_with(*until)
                };
                *left = left.saturating_sub(c.len_utf8());
                if seen.len() > 64 {
                    let cut = seen.ceil_char_boundary(32);
                    seen.drain(..cut);
                }
                if ends || *left == 0 {
                    let rest = if until.is_empty() || c == '\n' { c.to_string() } else { (*until).to_owned() };
                    self.state = State::Text;
                    self.feed(&rest, out);
                }
            }
        }
    }

    fn feed(&mut self, text: &str, out: &mut String) {
        for c in text.chars() {
            self.step(c, out);
        }
    }

    fn leave_block(&mut self, step: block::Step, out: &mut String) {
        if let block::Step::Over { header, text, certain } = step {
            if certain {
                self.hide_block(out);
            }
            if let Some(header) = header {
                self.buffer.push_str(&header);
            }
            self.feed(&text, out);
        }
    }

    /// Puts a replacement where a block stands; the text around it goes on as if it had come so.
    fn hide_block(&mut self, out: &mut String) {
        const RULE: &str = "private-key";
        let state = std::mem::take(&mut self.state);
        self.feed(&Rule::replacement(RULE), out);
        self.state = state;
        self.add(RULE);
    }

    fn text(&mut self, c: char, out: &mut String) {
        // Brackets that open begin a segment, so that a replacement is one by itself.
        if is_opener(c) && self.awaited.is_none() {
            self.decide(out);
        }
        self.buffer.push(c);
        if c == ']' && super::replacement_end(&self.buffer) == Some(self.buffer.len()) {
            let replacement = std::mem::take(&mut self.buffer);
            out.push_str(&replacement);
            self.remember(&replacement);
            self.last = Some(c);
            return;
        }
        if c == '-' && self.buffer.ends_with("----") {
            self.enter_block();
        }
        let waits = self.awaited.is_some_and(|(until, from)| {
            c != '\n' && !self.buffer.ends_with(until) && self.buffer.len() < from + MAX_QUOTED + 128
        });
        if !waits && (is_border(c) || self.awaited.is_some()) {
            self.awaited = None;
            self.decide(out);
        }
        if self.buffer.len() >= MAX_SEGMENT {
            self.force(out);
        }
    }

    /// Lets go of the buffer as far as it is decided.
    fn decide(&mut self, out: &mut String) {
        if self.buffer.is_empty() {
            return;
        }
        match scan::open(&self.buffer, self.context(false)) {
            None => self.flush(self.buffer.len(), false, out),
            Some(open) => {
                let mut cut = border_before(&self.buffer, open.from);
                // The groups of a number stay together.
                if let Some(start) = number::open(&self.buffer[..cut]) {
                    cut = border_before(&self.buffer, start);
                }
                let hits = scan::hits(&self.buffer, self.context(false));
                // A value stays with what told of it.
                let cut = if hits.last().is_some_and(|hit| hit.range.end > cut) { 0 } else { cut };
                if cut > 0 {
                    self.flush(cut, false, out);
                    if !matches!(self.state, State::Text) {
                        return;
                    }
                }
                self.awaited = open.until.map(|until| (until, open.from - cut));
            }
        }
    }

    /// A segment that is too long: lets go of all but its end.
    fn force(&mut self, out: &mut String) {
        self.awaited = None;
        let cut = self.buffer.floor_char_boundary(self.buffer.len() - OVERLAP);
        self.flush(cut, true, out);
    }

    /// Masks and lets go of the first `cut` bytes of the buffer, more when a secret lies across.
    fn flush(&mut self, cut: usize, at_end: bool, out: &mut String) {
        let buffer = std::mem::take(&mut self.buffer);
        if buffer.is_empty() {
            return;
        }
        let number = buffer.trim_end();
        let is_putty = cut == buffer.len()
            && buffer.ends_with('\n')
            && self.before.ends_with(PUTTY)
            && number.bytes().all(|byte| byte.is_ascii_digit());
        let mut at = 0;
        let mut rest = cut;
        let mut tail = None;
        for hit in scan::hits(&buffer, self.context(at_end)) {
            if hit.range.start >= cut {
                break;
            }
            self.show(&buffer[at..hit.range.start], out);
            self.replace(hit.rule, out);
            at = hit.range.end;
            rest = rest.max(at);
            let forced = buffer.len() >= MAX_SEGMENT;
            let goes_on = |until: &&str| !until.is_empty() || forced || at < buffer.len();
            tail = hit.goes_on.filter(goes_on).map(|until| (at, until));
            if hit.rule == "private-key-body" {
                self.state = State::Block(Block::new(None));
                tail = None;
                break;
            }
            if tail.is_some() {
                break;
            }
        }
        if let Some((end, until)) = tail {
            self.state = State::Tail { until, seen: String::new(), left: MAX_TAIL };
            self.feed(&buffer[end..], out);
            return;
        }
        if matches!(self.state, State::Block(_)) {
            self.feed(&buffer[at..], out);
            return;
        }
        self.show(&buffer[at..rest], out);
        buffer[rest..].clone_into(&mut self.buffer);
        if is_putty {
            self.state = State::Block(Block::new(Some(String::new())));
        }
    }

    /// Begins a block when the buffer ends with the header of a private key.
    fn enter_block(&mut self) {
        let start = HEADER.as_ref().and_then(|header| header.find(&self.buffer)).map(|found| found.start());
        let Some(start) = start else { return };
        let header = self.buffer.split_off(start);
        self.state = State::Block(Block::new(Some(header)));
    }

    fn replace(&mut self, rule: &'static str, out: &mut String) {
        let replacement = Rule::replacement(rule);
        out.push_str(&replacement);
        self.remember(&replacement);
        self.last = Some(']');
        self.add(rule);
    }

    fn add(&mut self, rule: &'static str) {
        if !self.found.contains(&rule) {
            self.found.push(rule);
        }
    }

    fn context(&self, at_end: bool) -> scan::Context<'_> {
        scan::Context { before: &self.before, last: self.last, at_end }
    }

    /// Lets `text` out as it is.
    fn show(&mut self, text: &str, out: &mut String) {
        out.push_str(text);
        self.last = text.chars().next_back().or(self.last);
        self.remember(text);
    }

    /// Keeps the end of the line.
    fn remember(&mut self, text: &str) {
        let text = scan::without_replacements(text);
        match text.rfind('\n') {
            Some(at) => text[at + 1..].clone_into(&mut self.before),
            None => self.before.push_str(&text),
        }
        let cut = self.before.ceil_char_boundary(self.before.len().saturating_sub(MAX_BEFORE));
        self.before.drain(..cut);
    }
}
