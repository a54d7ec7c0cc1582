//! Markers around one or more calls, and everything that models put between them.

use super::gemma;
use super::lines;
use super::markup;
use super::objects::{Meaning, Setting, takes_nothing};
use super::piece::{self, Piece};
use super::python;
use super::shape::Shape;
use super::source::{Source, name_end};

/// An opening marker, its closing one (empty: none), and the shape of a JSON body in it.
pub(super) struct Wrapper {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    pub(super) shape: Shape,
}

const fn wrapper(open: &'static str, close: &'static str, shape: Shape) -> Wrapper {
    Wrapper { open, close, shape }
}

/// Every marker that announces calls. Those of DeepSeek, Kimi and Harmony have their own readers.
pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper("<tool_call>", "</tool_call>", Shape::Hermes),
    wrapper("<tool_calls>", "</tool_calls>", Shape::Hermes),
    wrapper("<toolcall>", "</toolcall>", Shape::Hermes),
    wrapper("<tools>", "</tools>", Shape::Hermes),
    wrapper("<tool>", "</tool>", Shape::Hermes),
    wrapper("<tool_use>", "</tool_use>", Shape::Hermes),
    wrapper("<function_call>", "</function_call>", Shape::Hermes),
    wrapper("<functioncall>", "</functioncall>", Shape::Hermes),
    wrapper("<|tool_call|>", "<|/tool_call|>", Shape::Granite),
    wrapper("<TOOLCALL>", "</TOOLCALL>", Shape::Nemotron),
    wrapper("<|tool_call_start|>", "<|tool_call_end|>", Shape::Lfm2),
    wrapper("<seed:tool_call>", "</seed:tool_call>", Shape::Seed),
    wrapper("<|START_ACTION|>", "<|END_ACTION|>", Shape::CommandR),
    wrapper("<|tool_call>", "<tool_call|>", Shape::Gemma4),
    wrapper("<start_function_call>", "<end_function_call>", Shape::FunctionGemma),
    wrapper("[TOOL_CALLS]", "", Shape::MistralList),
    wrapper("<|python_tag|>", "", Shape::PythonTag),
    wrapper("<|python_start|>", "<|python_end|>", Shape::Pythonic),
    wrapper("<function_calls>", "</function_calls>", Shape::Olmo),
    wrapper("<minimax:tool_call>", "</minimax:tool_call>", Shape::Invoke),
];
/// `<anything:function_calls>`, `<｜anything｜function_calls>`.
const ANY_FUNCTION_CALLS: Wrapper = wrapper("", "function_calls>", Shape::Olmo);

/// The wrapper whose opening marker stands at `at`, and where that marker ends.
fn opening(source: &Source<'_>, at: usize) -> Option<(&'static Wrapper, usize)> {
    let rest = source.rest(at);
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| rest.starts_with(wrapper.open)) {
        return Some((wrapper, at + wrapper.open.len()));
    }
    let bytes = rest.as_bytes();
    let end = bytes[..bytes.len().min(48)].iter().position(|byte| *byte == b'>')?;
    let is_opening = bytes.starts_with(b"<") && !bytes.starts_with(b"</") && rest[..end].ends_with("function_calls");
    is_opening.then_some((&ANY_FUNCTION_CALLS, at + end + 1))
}

/// The calls between the markers that open at `at`.
pub(super) fn call(source: &Source<'_>, at: usize) -> Option<Piece> {
    let (wrapper, mut at) = opening(source, at)?;
    // Doubled, not repeated without end.
    if !wrapper.open.is_empty() && source.starts(source.skip_blank(at), wrapper.open) {
        at = source.skip_blank(at) + wrapper.open.len();
    }
    let mut all: Option<Piece> = None;
    loop {
        at = skip_between(source, at);
        if let Some(end) = closing(source, wrapper, at) {
            // An empty pair of markers says nothing.
            let mut all = all?;
            all.end = end;
            all.closed = true;
            return Some(all);
        }
        let Some(piece) = body(source, at, wrapper) else { break };
        let failed = !matches!(piece.meaning, Meaning::Calls(_) | Meaning::Unknown(_)) || piece.trouble.is_some();
        at = piece.end.max(at);
        match &mut all {
            None => all = Some(piece),
            Some(whole) => whole.append(piece),
        }
        if failed {
            break;
        }
    }
    let mut all = all?;
    all.end = all.end.max(at.min(source.text.len()));
    if let Some(end) = closing(source, wrapper, source.skip_blank(all.end)) {
        all.end = end;
    } else if matches!(all.meaning, Meaning::Calls(_)) && all.trouble.is_none() {
        let ended = source.rest(all.end).trim().is_empty();
        all.closed = !ended || wrapper.close.is_empty();
    }
    Some(all)
}

/// Blanks and separators between calls; closing brackets too many.
fn skip_between(source: &Source<'_>, at: usize) -> usize {
    let rest = source.rest(at);
    at + (rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ']' | '}')).len())
}

/// The end of the closing marker at `at`, doubled ones and another wrapper's included.
fn closing(source: &Source<'_>, wrapper: &Wrapper, at: usize) -> Option<usize> {
    closing_marker(source, wrapper.close, at)
}

/// The end of closing tags of calls that stay behind a call whose opening tag is missing.
pub(super) fn skip_orphans(source: &Source<'_>, at: usize) -> usize {
    closing_marker(source, "", source.skip_blank(at)).unwrap_or(at)
}

fn closing_marker(source: &Source<'_>, close: &str, at: usize) -> Option<usize> {
    let one = |at: usize| {
        let rest = source.rest(at);
        if !close.is_empty() && rest.starts_with(close) {
            return Some(at + close.len());
        }
        // Its last character is missing, at the end of the line.
        let clipped = close.strip_suffix('>').filter(|clipped| clipped.starts_with("</") && rest.starts_with(clipped));
        if let Some(clipped) = clipped
            && rest[clipped.len()..].trim_start_matches(' ').chars().next().is_none_or(|next| next == '\n')
        {
            return Some(at + clipped.len());
        }
        let bytes = rest.as_bytes();
        let end = bytes[..bytes.len().min(48)].iter().position(|byte| *byte == b'>')?;
        let tag = rest[..end].strip_prefix("</")?;
        let of_a_call = ["tool", "function", "call"].iter().any(|word| tag.to_ascii_lowercase().contains(word));
        (of_a_call && !tag.contains(['<', ' ', '\n'])).then_some(at + end + 1)
    };
    let mut end = one(at)?;
    while let Some(next) = one(source.skip_blank(end)) {
        end = next;
    }
    Some(end)
}

/// One call, or one list of calls, as it stands inside the markers.
fn body(source: &Source<'_>, at: usize, wrapper: &'static Wrapper) -> Option<Piece> {
    if source.starts(at, "```") {
        return fenced(source, at, wrapper);
    }
    let limit = if wrapper.close.is_empty() { None } else { source.find(wrapper.close, at) };
    // A closing marker behind the next opening one belongs to that.
    let next = if wrapper.open.is_empty() { None } else { source.find(wrapper.open, at) };
    let limit = limit.filter(|limit| next.is_none_or(|next| *limit < next)).map(|limit| tag_start(source, limit));
    let (mut piece, own) = match source.byte(at)? {
        b'{' => (piece::json(source, at, limit, Setting::MARKED)?, false),
        b'[' if source.rest(at)[1..].trim_start().starts_with(['{', ']']) => {
            (piece::json(source, at, limit, Setting::MARKED)?, false)
        }
        b'[' => (python::list(source, at)?, false),
        b'<' => (markup::call(source, at)?, wrapper.shape != Shape::Seed),
        _ => named(source, at, limit, wrapper)?,
    };
    if piece.meaning == Meaning::Data {
        return None;
    }
    if !own {
        piece.shape = wrapper.shape;
    }
    Some(piece)
}

/// A closing marker that was found by its end only (`…function_calls>`) starts at its `</`.
fn tag_start(source: &Source<'_>, at: usize) -> usize {
    if source.byte(at) == Some(b'<') {
        return at;
    }
    let window = source.text.floor_char_boundary(at.saturating_sub(40));
    source.text[window..at].rfind('<').map_or(at, |open| window + open)
}

/// A fence inside the markers.
fn fenced(source: &Source<'_>, at: usize, wrapper: &'static Wrapper) -> Option<Piece> {
    let (inside, _) = lines::after_fence(source, at);
    let mut piece = if source.starts(inside, "```") { None } else { body(source, inside, wrapper) }?;
    let close = source.skip_blank(piece.end);
    piece.end = if source.starts(close, "```") { close + 3 } else { piece.end };
    Some(piece)
}

/// A body that starts with a name; true when it has a shape of its own.
fn named(source: &Source<'_>, at: usize, limit: Option<usize>, wrapper: &Wrapper) -> Option<(Piece, bool)> {
    if source.starts(at, "call:") {
        return gemma::call(source, at).map(|piece| (piece, false));
    }
    let stop = name_end(source.text, at);
    if stop == at {
        return None;
    }
    if source.byte(stop) == Some(b'(') {
        return python::sequence(source, at, wrapper.shape == Shape::PythonTag).map(|piece| (piece, false));
    }
    let written = &source.text[at..stop];
    let after = source.skip_blank(stop);
    let (after, mistral) = skip_mistral(source, after);
    let (after, fenced) = lines::after_fence(source, after);
    let shape = if mistral || wrapper.shape == Shape::MistralList { Shape::MistralArgs } else { wrapper.shape };
    let tags = source.starts(after, "<arg_key>");
    let ended = after >= source.text.len() || closing(source, wrapper, after).is_some();
    let opens = source.byte(after) == Some(b'{');
    let Some(tool) = source.tools.get_qualified(written) else {
        let end = if opens { piece::json(source, after, limit, Setting::BARE)?.end } else { limit.unwrap_or(after) };
        return (opens || tags || ended).then(|| (Piece::new(Meaning::Unknown(written.to_owned()), end, shape), true));
    };
    let mut piece = if tags {
        return Some((markup::glm_arguments(source, tool, after), true));
    } else if opens {
        markup::json_arguments(source, tool, after, limit)
    } else if mistral && after >= source.text.len() {
        Piece::new(Meaning::Truncated(tool.name.clone()), after, shape)
    } else if ended {
        let whole = takes_nothing(tool) || after < source.text.len();
        let meaning = if whole {
            super::objects::call_of(tool, &serde_json::Value::Null, Setting::MARKED, false, source)
        } else {
            Meaning::Truncated(tool.name.clone())
        };
        Piece::new(meaning, after, if wrapper.shape == Shape::Hermes { Shape::Glm } else { shape })
    } else {
        return None;
    };
    if opens {
        piece.shape = shape;
    }
    let close = source.skip_blank(piece.end);
    piece.end = if fenced && source.starts(close, "```") { close + 3 } else { piece.end };
    Some((piece, true))
}

/// `[CALL_ID]abc[ARGS]` between name and arguments; true when there was any.
pub(super) fn skip_mistral(source: &Source<'_>, at: usize) -> (usize, bool) {
    let mut end = at;
    if source.starts(end, "[CALL_ID]") {
        end += "[CALL_ID]".len();
        end = name_end(source.text, source.skip_blank(end));
        end = source.skip_blank(end);
    }
    if source.starts(end, "[ARGS]") {
        end += "[ARGS]".len();
    }
    (source.skip_blank(end), end > at)
}
