//! Calls that have a line, or a few, to themselves.

use super::gemma;
use super::markup;
use super::objects::{self, Meaning, Setting};
use super::piece::{self, Piece};
use super::python;
use super::shape::Shape;
use super::source::{Source, name_end};
use super::wrappers::skip_mistral;

/// A call on its own lines; `led` when a lead such as `Action:` says that it is one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LineCall {
    pub(super) piece: Piece,
    pub(super) led: bool,
}

/// The call that starts at `at`, the first character of a line that is no blank.
pub(super) fn call(source: &Source<'_>, at: usize) -> Option<LineCall> {
    if let Some(piece) = react(source, at).or_else(|| using_tool(source, at)) {
        return Some(LineCall { piece, led: true });
    }
    let piece = match source.byte(at)? {
        b'[' => python::list(source, at),
        b'c' if source.starts(at, "call:") => gemma::call(source, at),
        _ => python::sequence_on_lines(source, at).or_else(|| named(source, at)),
    }?;
    let known = !matches!(piece.meaning, Meaning::Unknown(_) | Meaning::Data);
    (known && ends_line(source, piece.end)).then_some(LineCall { piece, led: false })
}

/// A list of calls, or Gemma's notation, behind a sentence and at the end of the text.
pub(super) fn at_end(source: &Source<'_>, at: usize) -> Option<Piece> {
    let piece = python::list(source, at).or_else(|| gemma::call(source, at))?;
    let known = !matches!(piece.meaning, Meaning::Unknown(_) | Meaning::Data);
    (known && source.rest(piece.end).trim().is_empty()).then_some(piece)
}

/// Nothing but punctuation up to the end of the line.
fn ends_line(source: &Source<'_>, at: usize) -> bool {
    let line = source.rest(at).lines().next().unwrap_or("");
    line.chars().all(|c| c.is_whitespace() || matches!(c, ';' | ',' | '.' | ']' | '}' | ')'))
}

/// `>>>lamp\n{…}`.
pub(super) fn functionary(source: &Source<'_>, at: usize) -> Option<Piece> {
    let start = at + source.rest(at).strip_prefix(">>>").map(|_| ">>>".len())?;
    let start = source.skip_blank(start);
    let stop = name_end(source.text, start);
    let body = source.skip_blank(stop);
    let tool = source.tools.get_qualified(&source.text[start..stop])?;
    if source.byte(body) != Some(b'{') {
        return objects::takes_nothing(tool).then(|| no_arguments(source, tool, stop, Shape::Functionary));
    }
    let mut piece = markup::json_arguments(source, tool, body, None);
    piece.shape = Shape::Functionary;
    Some(piece)
}

/// A name on a line of its own and the object of arguments on the next ones; the whole content.
pub(super) fn name_and_object(source: &Source<'_>, at: usize) -> Option<Piece> {
    let stop = name_end(source.text, at);
    let tool = source.tools.get(&source.text[at..stop])?;
    let body = source.skip_blank(stop);
    if !source.text[stop..body].contains('\n') || source.byte(body) != Some(b'{') {
        return None;
    }
    let mut piece = markup::json_arguments(source, tool, body, None);
    piece.shape = Shape::Functionary;
    Some(piece)
}

/// `lamp{…}`, `lamp[ARGS]{…}`: Mistral's notation without its first token; GLM's without its tag.
fn named(source: &Source<'_>, at: usize) -> Option<Piece> {
    let stop = name_end(source.text, at);
    if stop == at {
        return None;
    }
    let (body, _) = skip_mistral(source, stop);
    if source.starts(body, "<arg_key>") {
        let tool = source.tools.get(&source.text[at..stop])?;
        return Some(markup::glm_arguments(source, tool, body));
    }
    if source.byte(body) != Some(b'{') || source.text[stop..body].contains([' ', '\n']) {
        return None;
    }
    let tool = source.tools.get(&source.text[at..stop])?;
    let mut piece = markup::json_arguments(source, tool, body, None);
    piece.shape = Shape::MistralArgs;
    Some(piece)
}

fn no_arguments(source: &Source<'_>, tool: &tenpass_trace::ToolDefinition, end: usize, shape: Shape) -> Piece {
    let meaning = objects::call_of(tool, &serde_json::Value::Null, Setting::MARKED, false, source);
    Piece::new(meaning, end, shape)
}

/// Skips a lead such as `Action:`, in any case, `**` around it allowed. Gives the end of it.
fn lead(source: &Source<'_>, at: usize, words: &[&str]) -> Option<usize> {
    let rest = source.rest(at);
    let bare = rest.trim_start_matches('*');
    let word = words.iter().find(|word| bare.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)))?;
    let tail = bare[word.len()..].trim_start_matches(['*', ' ']);
    let tail = tail.strip_prefix([':', '：'])?;
    Some(source.text.len() - tail.trim_start_matches(['*', ' ', '\t']).len())
}

/// A name, with quotes, backticks or brackets around it; where it ends.
fn quoted_name<'a>(source: &Source<'a>, at: usize) -> Option<(&'a str, usize)> {
    let open = source.rest(at).chars().next().filter(|c| matches!(c, '`' | '"' | '\'' | '[' | '<'));
    let start = at + open.map_or(0, char::len_utf8);
    let stop = name_end(source.text, start);
    let closes =
        source.rest(stop).chars().next().filter(|c| open.is_some() && matches!(c, '`' | '"' | '\'' | ']' | '>'));
    let name = source.text[start..stop].trim_end_matches('.');
    (!name.is_empty()).then(|| (name, stop + closes.map_or(0, char::len_utf8)))
}

/// `Action: lamp\nAction Input: {…}`.
fn react(source: &Source<'_>, at: usize) -> Option<Piece> {
    let start = lead(source, at, &["action"])?;
    if let Some(mut piece) = python::call(source, start).filter(|piece| !matches!(piece.meaning, Meaning::Unknown(_))) {
        piece.shape = Shape::React;
        return Some(piece);
    }
    // Cohere's: a fence with a list of calls.
    if let (body, true) = after_fence(source, start) {
        let mut piece =
            piece::json(source, body, None, Setting::MARKED).filter(|piece| piece.meaning != Meaning::Data)?;
        let close = source.skip_blank(piece.end);
        piece.end = if source.starts(close, "```") { close + 3 } else { piece.end };
        piece.shape = Shape::CommandR;
        return Some(piece);
    }
    let (written, stop) = quoted_name(source, start)?;
    let tool = source.tools.get_qualified(written)?;
    if !ends_line(source, stop) {
        return None;
    }
    let next = source.skip_blank(stop);
    let input = lead(source, next, &["action input", "action_input", "input", "arguments", "args", "parameters"]);
    let Some(input) = input else {
        return objects::takes_nothing(tool).then(|| no_arguments(source, tool, stop, Shape::React));
    };
    let mut piece = match after_fence(source, source.skip_blank(input)) {
        (body, fenced) if source.byte(body) == Some(b'{') => {
            let mut piece = markup::json_arguments(source, tool, body, None);
            let close = source.skip_blank(piece.end);
            piece.end = if fenced && source.starts(close, "```") { close + 3 } else { piece.end };
            piece
        }
        _ => plain_input(source, tool, input),
    };
    piece.shape = Shape::React;
    Some(piece)
}

/// `Action Input: attic`: the value of the only parameter, or of the only required one.
fn plain_input(source: &Source<'_>, tool: &tenpass_trace::ToolDefinition, at: usize) -> Piece {
    let line = source.rest(at).lines().next().unwrap_or("");
    let end = at + line.len();
    let text = line.trim().trim_matches(['"', '`']);
    let empty = text.is_empty() || text.eq_ignore_ascii_case("none") || text.eq_ignore_ascii_case("n/a");
    if empty {
        return no_arguments(source, tool, end, Shape::React);
    }
    let names = objects::parameter_names(tool);
    let needed: Vec<&str> = objects::required(tool).collect();
    let (([only], _) | (_, [only])) = (names.as_slice(), needed.as_slice()) else {
        return Piece::new(Meaning::Unparseable(tool.name.clone()), end, Shape::React);
    };
    let value = super::arguments::from_text(tool, only, text, source.work);
    let arguments = serde_json::Value::Object([((*only).to_owned(), value)].into_iter().collect());
    let mut meaning = objects::call_of(tool, &arguments, Setting::MARKED, false, source);
    if let Meaning::Calls(calls) = &mut meaning {
        for call in calls {
            call.notes.push(format!("/{only}: was the plain input"));
        }
    }
    Piece::new(meaning, end, Shape::React)
}

/// `Using tool: lamp\n{…}`.
fn using_tool(source: &Source<'_>, at: usize) -> Option<Piece> {
    const LEADS: [&str; 11] = [
        "using tool",
        "using the tool",
        "use tool",
        "calling tool",
        "calling function",
        "call tool",
        "tool call",
        "invoking tool",
        "function call",
        "tool",
        "outil",
    ];
    let start = lead(source, at, &LEADS)?;
    let (written, stop) = quoted_name(source, start)?;
    let tool = source.tools.get_qualified(written)?;
    let mut body = source.skip_blank(stop);
    if let Some(with) = source.rest(body).strip_prefix("with") {
        body = source.text.len() - with.trim_start().len();
    }
    let labels = ["arguments", "args", "parameters", "params", "input", "tool input", "with arguments"];
    if let Some(after) = lead(source, body, &labels) {
        body = source.skip_blank(after);
    }
    let (body, fenced) = after_fence(source, body);
    if source.byte(body) != Some(b'{') {
        // `Tool: ping` may introduce a description; `Using tool: ping` does not.
        let said =
            !source.rest(at).trim_start_matches('*').get(..4).is_some_and(|word| word.eq_ignore_ascii_case("tool"));
        let alone = said && objects::takes_nothing(tool) && ends_line(source, stop);
        return alone.then(|| no_arguments(source, tool, stop, Shape::UsingTool));
    }
    let mut piece = markup::json_arguments(source, tool, body, None);
    piece.shape = Shape::UsingTool;
    let close = source.skip_blank(piece.end);
    piece.end = if fenced && source.starts(close, "```") { close + 3 } else { piece.end };
    Some(piece)
}

/// The position after an opening fence, and whether there was one.
pub(super) fn after_fence(source: &Source<'_>, at: usize) -> (usize, bool) {
    if !source.starts(at, "```") {
        return (at, false);
    }
    let info = source.rest(at + 3).bytes().take(16).take_while(u8::is_ascii_alphanumeric).count();
    (source.skip_blank(at + 3 + info), true)
}

/// ` functools[{…}]`.
pub(super) fn functools(source: &Source<'_>, at: usize) -> Option<Piece> {
    let list = source.rest(at).strip_prefix("functools").map(|_| source.skip_blank(at + "functools".len()))?;
    if source.byte(list) != Some(b'[') {
        return None;
    }
    let mut piece = piece::json(source, list, None, Setting::MARKED)?;
    piece.shape = Shape::Functools;
    (piece.meaning != Meaning::Data).then_some(piece)
}
