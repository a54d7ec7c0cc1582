//! Calls between special tokens that are named alike: DeepSeek R1 and V3.1, Kimi.
//!
//! The tokens are written with full-width or ASCII bars, and with `▁`, `_` or blanks inside; they
//! are compared in one form.

use super::lines;
use super::markup;
use super::objects::{self, Meaning, Setting};
use super::piece::Piece;
use super::shape::Shape;
use super::source::Source;

/// A special token: its name in one form (`tool_call_begin`) and where it ends.
pub(super) fn special(text: &str, at: usize) -> Option<(String, usize)> {
    const LONGEST: usize = 64;
    let rest = text.get(at..)?;
    let inside = rest.strip_prefix("<｜").or_else(|| rest.strip_prefix("<|"))?;
    let window = &inside[..inside.floor_char_boundary(LONGEST)];
    let (end, closer) = ["｜>", "|>"].iter().filter_map(|closer| Some((window.find(closer)?, closer.len()))).min()?;
    let name = &window[..end];
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '▁' | ' ' | ':' | '/' | '-' | '\\');
    let opened = rest.len() - inside.len();
    (!name.is_empty() && name.chars().all(is_name)).then(|| (one_form(name), at + opened + end + closer))
}

/// `tool▁call▁begin`, `tool call begin` and `tool\_call\_begin` as `tool_call_begin`.
fn one_form(name: &str) -> String {
    name.replace(['▁', ' '], "_").replace('\\', "")
}

/// Where the next special token is, at or after `at`: its start, name and end.
fn next_special(source: &Source<'_>, at: usize) -> Option<(usize, String, usize)> {
    let mut from = at;
    loop {
        let full = source.find("<｜", from);
        let ascii = source.find("<|", from);
        let start = full.into_iter().chain(ascii).min().filter(|_| source.work.spend(32))?;
        if let Some((name, end)) = special(source.text, start) {
            return Some((start, name, end));
        }
        from = start + 2;
    }
}

fn is_special(source: &Source<'_>, at: usize, names: &[&str]) -> Option<usize> {
    special(source.text, at).filter(|(name, _)| names.contains(&name.as_str())).map(|(_, end)| end)
}

const OPEN_SECTION: [&str; 4] =
    ["tool_calls", "tool_calls_begin", "tool_calls_section_begin", "tool_call_section_begin"];
const CLOSE_SECTION: [&str; 3] = ["tool_calls_end", "tool_calls_section_end", "tool_call_section_end"];
const CLOSE_CALL: [&str; 1] = ["tool_call_end"];

/// The section of calls at `at`, or a single call without its section.
pub(super) fn call(source: &Source<'_>, at: usize) -> Option<Piece> {
    let section = is_special(source, at, &OPEN_SECTION);
    let mut at = section.map_or(at, |end| source.skip_blank(end));
    let mut all: Option<Piece> = None;
    while let Some(begin) = is_special(source, at, &["tool_call_begin"]) {
        let Some(piece) = one(source, begin) else { break };
        at = source.skip_blank(piece.end);
        match &mut all {
            None => all = Some(piece),
            Some(whole) => whole.append(piece),
        }
    }
    let mut all = all?;
    if let Some(end) = is_special(source, at, &CLOSE_SECTION) {
        all.end = end;
    }
    Some(all)
}

/// One call after its begin token.
fn one(source: &Source<'_>, at: usize) -> Option<Piece> {
    let Some((name_stop, token, after)) = next_special(source, at) else {
        return source.rest(at).len().le(&256).then(|| truncated("", source, Shape::DeepseekV3));
    };
    let first = source.text[at..name_stop].trim();
    let (written, start, shape) = match token.as_str() {
        "tool_call_argument_begin" => (first, after, Shape::Kimi),
        "tool_sep" if first == "function" && source.tools.get("function").is_none() => {
            let rest = source.rest(after);
            let line = rest.len() - rest.trim_start_matches(['\n', ' ']).len();
            let stop = rest[line..].find(['\n', '`', '{']).map_or(rest.len(), |offset| line + offset);
            (rest[line..stop].trim(), after + stop, Shape::DeepseekR1)
        }
        "tool_sep" => (first, after, Shape::DeepseekV3),
        _ => return None,
    };
    let Some(tool) = source.tools.get_qualified(written) else {
        let end = next_special(source, start).map_or(source.text.len(), |(_, _, end)| end);
        return Some(Piece::new(Meaning::Unknown(written.to_owned()), end, shape));
    };
    let (start, _) = lines::after_fence(source, source.skip_blank(start));
    let mut piece = if source.byte(start) == Some(b'{') {
        let limit = next_special(source, start).map(|(limit, ..)| limit);
        markup::json_arguments(source, tool, start, limit)
    } else if is_special(source, start, &CLOSE_CALL).is_some() {
        Piece::new(objects::call_of(tool, &serde_json::Value::Null, Setting::MARKED, false, source), start, shape)
    } else if start >= source.text.len() {
        return Some(truncated(&tool.name, source, shape));
    } else {
        let end = next_special(source, start).map_or(source.text.len(), |(_, _, end)| end);
        return Some(Piece::new(Meaning::Unparseable(tool.name.clone()), end, shape));
    };
    piece.shape = shape;
    let mut end = source.skip_blank(piece.end);
    if source.starts(end, "```") {
        piece.end = end + 3;
        end = source.skip_blank(piece.end);
    }
    match is_special(source, end, &CLOSE_CALL) {
        Some(end) => piece.end = end,
        None => piece.closed = piece.closed && end < source.text.len(),
    }
    Some(piece)
}

fn truncated(name: &str, source: &Source<'_>, shape: Shape) -> Piece {
    Piece::new(Meaning::Truncated(name.to_owned()), source.text.len(), shape)
}
