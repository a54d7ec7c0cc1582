//! Calls in tags: `<function=lamp>`, `<invoke name="lamp">`, `<arg_key>`.
//!
//! A value ends at its own closing tag; where that is missing or is another tag, at the next
//! parameter or at what closes the call.

use serde_json::{Map, Value};
use tenpass_trace::ToolDefinition;

use super::arguments;
use super::objects::{Meaning, RawCall, Setting, takes_nothing};
use super::piece::{self, Piece};
use super::shape::Shape;
use super::source::{Source, name_end};

/// An opening tag that carries a name, longer than this, is none.
const MAX_TAG: usize = 200;

/// An opening tag: what it names, and where it ends.
struct Opening<'a> {
    name: &'a str,
    end: usize,
    shape: Shape,
}

/// `<function=lamp>`, `<function name="lamp">`, `<invoke name="lamp">` with any prefix.
fn opening<'a>(source: &Source<'a>, at: usize) -> Option<Opening<'a>> {
    let inside = source.rest(at).strip_prefix('<')?;
    if let Some(rest) = inside.strip_prefix("function=") {
        let quoted = rest.starts_with(['"', '\'']);
        let start = at + "<function=".len() + usize::from(quoted);
        let stop = name_end(source.text, start);
        let mut end = stop + usize::from(quoted);
        end += usize::from(source.byte(end) == Some(b'>'));
        return (stop > start).then(|| Opening { name: &source.text[start..stop], end, shape: Shape::Qwen3Coder });
    }
    let tag = tag_inside(inside)?;
    let (element, attributes) = tag.split_once(char::is_whitespace)?;
    let shape = match element {
        "function" => Shape::Qwen3Coder,
        _ if is_named(element, "invoke") => Shape::Invoke,
        _ => return None,
    };
    Some(Opening { name: attribute(attributes, "name")?, end: at + 1 + tag.len() + 1, shape })
}

/// The text of a tag up to its `>`.
fn tag_inside(inside: &str) -> Option<&str> {
    let bytes = inside.as_bytes();
    let end = bytes[..bytes.len().min(MAX_TAG)].iter().position(|byte| matches!(byte, b'>' | b'<' | b'\n'))?;
    (bytes[end] == b'>').then(|| &inside[..end])
}

/// `invoke`, or `anything:invoke`, or `｜anything｜invoke`.
fn is_named(element: &str, name: &str) -> bool {
    element.strip_suffix(name).is_some_and(|prefix| prefix.is_empty() || prefix.ends_with([':', '|', '｜']))
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = attributes.split_once(name)?;
    let value = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value[1..].split_once(quote).map(|(value, _)| value)
}

/// The call in tags at `at`.
pub(super) fn call(source: &Source<'_>, at: usize) -> Option<Piece> {
    let opening = opening(source, at)?;
    let closer = if opening.shape == Shape::Invoke { "invoke>" } else { "function>" };
    let body = source.skip_blank(opening.end);
    let Some(tool) = source.tools.get_qualified(opening.name) else {
        let end = closing_tag(source, closer, body).map_or(body, |(_, end)| end);
        return Some(Piece::new(Meaning::Unknown(opening.name.to_owned()), end, opening.shape));
    };
    let mut piece = if source.byte(body) == Some(b'{') {
        json_body(source, tool, body, closer)
    } else {
        parameters(source, tool, body, opening.shape)
    };
    // An opening tag and nothing else: cut off, or only mentioned.
    let nothing = piece.end == body && matches!(piece.meaning, Meaning::Calls(_));
    if nothing && !takes_nothing(tool) && closing_tag_at(source, closer, body).is_none() {
        let cut_off = body >= source.text.len();
        return cut_off.then(|| Piece::new(Meaning::Truncated(tool.name.clone()), body, opening.shape));
    }
    if piece.shape == Shape::JsonObject {
        piece.shape = if opening.shape == Shape::Invoke { Shape::Invoke } else { Shape::FunctionTag };
    }
    let close = source.skip_blank(piece.end);
    if let Some(end) = closing_tag_at(source, closer, close) {
        piece.end = end;
    } else if piece.closed {
        piece.closed = close < source.text.len();
    }
    Some(piece)
}

fn json_body(source: &Source<'_>, tool: &ToolDefinition, at: usize, closer: &'static str) -> Piece {
    let limit = closing_tag(source, closer, at).map(|(start, _)| start);
    json_arguments(source, tool, at, limit)
}

/// A bare object of arguments whose tool is already known.
pub(super) fn json_arguments(source: &Source<'_>, tool: &ToolDefinition, at: usize, limit: Option<usize>) -> Piece {
    let (reading, whole) = piece::read_arguments(source, at, limit);
    let meaning = match (whole, &reading.value) {
        (true, value) => super::objects::call_of(tool, value, Setting::MARKED, false, source),
        (false, _) if limit.is_none() && reading.state == super::lenient::State::Truncated => {
            Meaning::Truncated(tool.name.clone())
        }
        (false, _) => Meaning::Unparseable(tool.name.clone()),
    };
    let end = if whole { reading.end } else { limit.unwrap_or(source.text.len().min(reading.end.max(at + 1))) };
    let mut piece = Piece::new(meaning, end, Shape::JsonObject);
    if let Meaning::Calls(calls) = &mut piece.meaning {
        for call in calls {
            call.notes.extend(reading.repairs.iter().map(|repair| (*repair).to_owned()));
        }
    }
    piece
}

/// The parameters in tags from `at` up to something that is none.
fn parameters(source: &Source<'_>, tool: &ToolDefinition, at: usize, shape: Shape) -> Piece {
    let mut map = Map::new();
    let mut at = at;
    while let Some((name, start)) = parameter_opening(source, at) {
        let Some((value, end)) = parameter_value(source, start) else {
            return Piece::new(Meaning::Truncated(tool.name.clone()), source.text.len(), shape);
        };
        map.insert(name.to_owned(), arguments::from_text(tool, name, value, source.work));
        at = source.skip_blank(end);
    }
    // An opening tag that was cut off.
    if source.byte(at) == Some(b'<') && source.rest(at).len() < MAX_TAG && !source.rest(at).contains('>') {
        return Piece::new(Meaning::Truncated(tool.name.clone()), source.text.len(), shape);
    }
    Piece::new(one_call(source, tool, map), at, shape)
}

/// A call of arguments that came as the text of tags, whose types the schema gave.
fn one_call(source: &Source<'_>, tool: &ToolDefinition, mut map: Map<String, Value>) -> Meaning {
    let mut notes = Vec::new();
    arguments::fit(tool, &mut map, &mut notes, source.work);
    Meaning::Calls(vec![RawCall {
        name: tool.name.clone(),
        arguments: map,
        double_encoded: false,
        leaked: false,
        notes,
    }])
}

/// `<parameter=room>` or `<parameter name="room">` with any prefix: the name and the value's start.
fn parameter_opening<'a>(source: &Source<'a>, at: usize) -> Option<(&'a str, usize)> {
    let inside = source.rest(at).strip_prefix('<')?;
    let tag = tag_inside(inside)?;
    let end = at + 1 + tag.len() + 1;
    if let Some(name) = tag.strip_prefix("parameter=").or_else(|| tag.strip_prefix("param=")) {
        return Some((name.trim_matches(['"', '\'', ' ']), end));
    }
    let (element, attributes) = tag.split_once(char::is_whitespace)?;
    is_named(element, "parameter").then(|| attribute(attributes, "name")).flatten().map(|name| (name, end))
}

/// The text of a parameter and where to go on after it.
fn parameter_value<'a>(source: &Source<'a>, start: usize) -> Option<(&'a str, usize)> {
    let openers = ["<parameter=", "parameter name=", "<function=", "<tool_call>", "invoke name="];
    let enders = ["</function>", "invoke>", "</tool_call>", "</seed:tool_call>", "function_calls>"];
    let own = closing_tag(source, "parameter>", start);
    value_in_tags(source, start, own, &openers, &enders)
}

/// The value from `start` up to its own closing tag, or to what shows that it has none.
fn value_in_tags<'a>(
    source: &Source<'a>,
    start: usize,
    own: Option<(usize, usize)>,
    openers: &[&'static str],
    enders: &[&'static str],
) -> Option<(&'a str, usize)> {
    let tag_start = |at: usize| {
        let window = source.text.floor_char_boundary(at.saturating_sub(32)).max(start);
        let before = source.text[window..at].rfind('<').filter(|_| source.byte(at) != Some(b'<'));
        before.map_or(at, |open| window + open)
    };
    let first = |needles: &[&'static str]| needles.iter().filter_map(|needle| source.find(needle, start)).min();
    let opener = first(openers);
    if let Some((close, end)) = own
        && opener.is_none_or(|opener| close < opener)
    {
        return Some((tidy(&source.text[start..close]), end));
    }
    let stop = opener.into_iter().chain(first(enders)).min().map(tag_start)?;
    Some((tidy(without_wrong_closer(&source.text[start..stop])), stop))
}

/// `attic</room>`: closed by a tag that nothing in the value opened.
fn without_wrong_closer(value: &str) -> &str {
    let trimmed = value.trim_end();
    let Some(start) = trimmed.ends_with('>').then(|| trimmed.rfind("</")).flatten() else { return value };
    let name = &trimmed[start + 2..trimmed.len() - 1];
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'));
    let opened = trimmed[..start].contains(&format!("<{name}"));
    if is_name && !opened { &trimmed[..start] } else { value }
}

/// Without the line breaks that the template puts around a value; on one line without blanks.
fn tidy(value: &str) -> &str {
    let value = value.strip_prefix("\r\n").or_else(|| value.strip_prefix('\n')).unwrap_or(value);
    let value = value.strip_suffix("\r\n").or_else(|| value.strip_suffix('\n')).unwrap_or(value);
    if value.contains('\n') { value } else { value.trim() }
}

/// The first closing tag whose name ends with `suffix`: `</…suffix`.
fn closing_tag(source: &Source<'_>, suffix: &'static str, from: usize) -> Option<(usize, usize)> {
    let mut from = from;
    loop {
        let at = source.find(suffix, from).filter(|_| source.work.spend(32))?;
        let end = at + suffix.len();
        let window = source.text.floor_char_boundary(at.saturating_sub(32));
        if let Some(open) = source.text[window..at].rfind("</").map(|offset| window + offset)
            && open >= from
            && !source.text[open + 2..at].contains(['<', '>', ' '])
        {
            return Some((open, end));
        }
        from = end;
    }
}

/// The end of such a closing tag that stands at `at`.
fn closing_tag_at(source: &Source<'_>, suffix: &'static str, at: usize) -> Option<usize> {
    source
        .starts(at, "</")
        .then(|| closing_tag(source, suffix, at))
        .flatten()
        .filter(|tag| tag.0 == at)
        .map(|tag| tag.1)
}

/// GLM: the tags after a tool's name, from `at`.
pub(super) fn glm_arguments(source: &Source<'_>, tool: &ToolDefinition, at: usize) -> Piece {
    let mut map = Map::new();
    let mut at = source.skip_blank(at);
    let truncated = || Piece::new(Meaning::Truncated(tool.name.clone()), source.text.len(), Shape::Glm);
    while source.starts(at, "<arg_key>") {
        let key_start = at + "<arg_key>".len();
        let own = closing_tag(source, "arg_key>", key_start);
        let Some((key, end)) = value_in_tags(source, key_start, own, &["<arg_value>"], &["</tool_call>"]) else {
            return truncated();
        };
        let value_at = source.skip_blank(end);
        if !source.starts(value_at, "<arg_value>") {
            return if value_at >= source.text.len() {
                truncated()
            } else {
                Piece::new(Meaning::Unparseable(tool.name.clone()), value_at, Shape::Glm)
            };
        }
        let value_start = value_at + "<arg_value>".len();
        let own = closing_tag(source, "arg_value>", value_start);
        let Some((value, end)) =
            value_in_tags(source, value_start, own, &["<arg_key>", "<tool_call>"], &["</tool_call>"])
        else {
            return truncated();
        };
        map.insert(key.to_owned(), arguments::from_text(tool, key, value, source.work));
        at = source.skip_blank(end);
    }
    if at < source.text.len() && "<arg_key>".starts_with(source.rest(at)) {
        return truncated();
    }
    Piece::new(one_call(source, tool, map), at, Shape::Glm)
}
