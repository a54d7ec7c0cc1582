//! One pass over a text: every stretch that is written like a call, and the code around.

use std::ops::Range;

use super::fences::{self, Fence};
use super::harmony;
use super::lines::{self, LineCall};
use super::markup;
use super::objects::{Meaning, Setting};
use super::piece::{self, Piece};
use super::sections;
use super::source::Source;
use super::wrappers;

/// What led to a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead {
    /// A marker of a template.
    Marker,
    /// A JSON object or list in the text.
    Object,
    /// A line with a lead such as `Action:`.
    Line,
    /// A line that is nothing but calls.
    BareLine,
}

/// A stretch that is written like a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) range: Range<usize>,
    pub(super) lead: Lead,
    pub(super) piece: Piece,
}

impl Found {
    /// Does it make a call, or was it meant to?
    pub(super) fn counts(&self) -> bool {
        !matches!(self.piece.meaning, Meaning::Unknown(_) | Meaning::Data)
    }
}

/// Everything of one text, in order.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) found: Vec<Found>,
    pub(super) fences: Vec<Fence>,
    /// Inline code.
    pub(super) code: Vec<Range<usize>>,
}

/// Which readers take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Readers {
    /// Those of whole lines.
    pub(super) lines: bool,
    /// Those of code fences: off inside one.
    pub(super) fences: bool,
}

/// Reads `source` from start to end. What is no call of a known tool is kept apart as well, so
/// that nothing inside it is taken for one.
pub(super) fn scan(source: &Source<'_>, readers: Readers) -> Scan {
    let bytes = source.text.as_bytes();
    let mut scan = Scan::default();
    let mut at = 0;
    let mut line_start = true;
    while at < bytes.len() {
        let byte = bytes[at];
        // Also in the middle of a line, where models open one after a colon.
        if readers.fences
            && (byte == b'`' || (line_start && byte == b'~'))
            && let Some(fence) = fences::fence_at(source.text, at)
        {
            at = fence.range.end;
            scan.fences.push(fence);
            line_start = false;
            continue;
        }
        if readers.fences && byte == b'`' {
            if let Some(range) = fences::inline_code(source.text, at) {
                at = range.end;
                scan.code.push(range);
            } else {
                at += source.rest(at).bytes().take_while(|next| *next == b'`').count();
            }
            line_start = false;
            continue;
        }
        if let Some(found) = recognise(source, at, line_start, readers) {
            at = found.range.end.max(at + 1);
            line_start = at > 0 && bytes.get(at - 1) == Some(&b'\n');
            scan.found.push(found);
            continue;
        }
        line_start = byte == b'\n' || (line_start && matches!(byte, b' ' | b'\t' | b'\r' | b'-' | b'*' | b'>'));
        at += 1;
        while !source.text.is_char_boundary(at) {
            at += 1;
        }
    }
    scan
}

fn recognise(source: &Source<'_>, at: usize, line_start: bool, readers: Readers) -> Option<Found> {
    if source.work.is_exhausted() {
        return None;
    }
    let found = |lead, piece: Piece| Found { range: at..piece.end, lead, piece };
    if source.starts(at, ">>>") {
        return lines::functionary(source, at).map(|piece| found(Lead::Marker, piece));
    }
    let starts_line = line_start && !source.byte(at).is_some_and(|byte| byte.is_ascii_whitespace());
    if starts_line
        && readers.lines
        && let Some(LineCall { piece, led }) = lines::call(source, at)
    {
        return Some(found(if led { Lead::Line } else { Lead::BareLine }, piece));
    }
    let marker = |piece| found(Lead::Marker, piece);
    match source.byte(at)? {
        b'<' => wrappers::call(source, at)
            .or_else(|| sections::call(source, at))
            .or_else(|| markup::call(source, at).map(|piece| without_orphans(source, piece)))
            .map(marker),
        b'[' if source.starts(at, "[TOOL_CALLS]") => wrappers::call(source, at).map(marker),
        b'[' if source.rest(at)[1..].trim_start().starts_with('{') => object(source, at),
        b'{' => object(source, at),
        b'f' if starts_word(source, at) => lines::functools(source, at).map(marker),
        b't' => harmony::bare_recipient(source, at).map(|piece| Found {
            range: harmony::head_words_before(source.text, at)..piece.end,
            lead: Lead::Marker,
            piece,
        }),
        b'[' | b'c' if readers.lines && follows_sentence(source, at) => {
            lines::at_end(source, at).map(|piece| found(Lead::BareLine, piece))
        }
        _ => None,
    }
}

/// A call in tags without a wrapper takes the wrapper's closing tag with it.
fn without_orphans(source: &Source<'_>, mut piece: Piece) -> Piece {
    piece.end = wrappers::skip_orphans(source, piece.end);
    piece
}

/// Behind the end of a sentence, or a colon, on the same line.
fn follows_sentence(source: &Source<'_>, at: usize) -> bool {
    let before = source.text[..at].trim_end_matches(' ');
    before.len() < at && before.ends_with(['.', '!', '?', ':', '…'])
}

fn starts_word(source: &Source<'_>, at: usize) -> bool {
    at == 0 || source.text.as_bytes()[at - 1].is_ascii_whitespace()
}

/// A JSON object in the text. Data is kept apart only when it is whole: then nothing inside it is
/// a call.
fn object(source: &Source<'_>, at: usize) -> Option<Found> {
    let mut piece = piece::json(source, at, None, Setting::BARE)?;
    let data_end = piece.end;
    if is_nested(&source.text[..at]) {
        piece.meaning = Meaning::Data;
        piece.trouble = None;
    }
    if piece.meaning == Meaning::Data && (!piece.closed || data_end <= at + 1 || !is_whole(source, at, data_end)) {
        return None;
    }
    let counts = !matches!(piece.meaning, Meaning::Data | Meaning::Unknown(_));
    let range = if counts { with_tags(source.text, at..data_end) } else { at..data_end };
    Some(Found { range, lead: Lead::Object, piece })
}

/// The range with a pair of tags right around it, whatever their name: `<json>…</json>`.
fn with_tags(text: &str, range: Range<usize>) -> Range<usize> {
    let before = text[..range.start].trim_end();
    let window = before.floor_char_boundary(before.len().saturating_sub(40));
    let tag = before[window..].strip_suffix('>').and_then(|rest| rest.rsplit_once('<')).map(|(_, tag)| tag);
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let Some(tag) = tag.filter(|tag| !tag.is_empty() && tag.chars().all(is_name)) else { return range };
    let after = text[range.end..].trim_start();
    let close =
        after.strip_prefix("</").and_then(|rest| rest.strip_prefix(tag)).and_then(|rest| rest.strip_prefix('>'));
    match close {
        Some(rest) => before.len() - tag.len() - 2..text.len() - rest.len(),
        None => range,
    }
}

/// Does what stands before an object say that it belongs to something else: an argument of an
/// unknown function, or the value of a key in an object that could not be read?
fn is_nested(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\n', '[']);
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    before.strip_suffix('(').is_some_and(|name| name.ends_with(is_part))
        || before.strip_suffix('=').is_some_and(|name| name.ends_with(is_part))
        || before.strip_suffix(':').is_some_and(|key| key.trim_end().ends_with(['"', '\'']))
}

fn is_whole(source: &Source<'_>, at: usize, end: usize) -> bool {
    let close = source.text.as_bytes()[end - 1];
    matches!((source.byte(at), close), (Some(b'{'), b'}') | (Some(b'['), b']'))
}
