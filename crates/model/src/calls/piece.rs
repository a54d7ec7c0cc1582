//! What a recogniser gives back: what it read, how far, and in which shape.

use serde_json::Value;

use super::lenient::{self, Dialect, Reading, State};
use super::objects::{self, Meaning, Setting};
use super::shape::Shape;
use super::source::Source;

/// A stretch of text that is written like one or more calls.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) meaning: Meaning,
    /// What went wrong after the calls of `meaning`, in the same stretch.
    pub(super) trouble: Option<Meaning>,
    /// Where it ends (exclusive).
    pub(super) end: usize,
    pub(super) shape: Shape,
    /// False when the text ended before what closes this shape.
    pub(super) closed: bool,
}

impl Piece {
    pub(super) fn new(meaning: Meaning, end: usize, shape: Shape) -> Self {
        let closed = !matches!(meaning, Meaning::Truncated(_));
        Self { meaning, trouble: None, end, shape, closed }
    }

    /// Adds what follows it directly.
    pub(super) fn append(&mut self, next: Self) {
        self.end = next.end;
        self.closed = next.closed;
        match (&mut self.meaning, next.meaning) {
            (Meaning::Calls(calls), Meaning::Calls(more)) => calls.extend(more),
            (Meaning::Calls(_), Meaning::Data) => {}
            (Meaning::Calls(_), trouble) => self.trouble = Some(trouble),
            (mine, calls @ Meaning::Calls(_)) => self.trouble = Some(std::mem::replace(mine, calls)),
            _ => {}
        }
        self.trouble = self.trouble.take().or(next.trouble);
    }
}

/// The JSON value at `at` as calls. `limit` is where a closing marker stands, if one does.
pub(super) fn json(source: &Source<'_>, at: usize, limit: Option<usize>, setting: Setting) -> Option<Piece> {
    if !matches!(source.byte(at), Some(b'{' | b'[')) || source.work.is_exhausted() {
        return None;
    }
    let reading = read_within(source, at, limit);
    let piece = match reading.state {
        State::Complete => complete(&reading, setting, source),
        _ if is_only_unclosed(&reading, limit) => {
            let mut piece = complete(&reading, setting, source);
            if let Meaning::Calls(calls) = &piece.meaning
                && let Some(bare) = calls.iter().find(|call| lost_arguments(call, &reading.value, source))
            {
                return Some(Piece::new(Meaning::Unparseable(bare.name.clone()), piece.end, piece.shape));
            }
            if let Meaning::Calls(calls) = &mut piece.meaning {
                for call in calls {
                    call.notes.push("missing bracket".to_owned());
                }
                piece.closed = limit.is_some();
            }
            piece
        }
        state => broken(&reading, state, at, limit, setting, source),
    };
    Some(piece)
}

/// Reads the object of arguments at `at`; true when it is whole, or lacks only closing brackets in
/// front of its closing marker.
pub(super) fn read_arguments(source: &Source<'_>, at: usize, limit: Option<usize>) -> (Reading, bool) {
    let mut reading = read_within(source, at, limit);
    let unclosed = reading.state == State::Truncated && reading.at_boundary && limit.is_some();
    if unclosed {
        reading.repairs.push("missing bracket");
    }
    let whole = reading.state == State::Complete || unclosed;
    (reading, whole)
}

/// Reads up to the closing marker first, so that a broken string cannot run into the next call;
/// then past it, for a string that holds the marker itself.
fn read_within(source: &Source<'_>, at: usize, limit: Option<usize>) -> Reading {
    let Some(limit) = limit else {
        return lenient::read(source.text, at, Dialect::Json, source.work);
    };
    let within = lenient::read(&source.text[..limit], at, Dialect::Json, source.work);
    if within.state == State::Complete {
        return within;
    }
    let beyond = lenient::read(source.text, at, Dialect::Json, source.work);
    if beyond.state == State::Complete && beyond.repairs.is_empty() { beyond } else { within }
}

/// Everything is there but closing brackets: in front of a closing marker any number of them, at
/// the end of the text only the outermost one, since more than that is a cut-off.
fn is_only_unclosed(reading: &Reading, limit: Option<usize>) -> bool {
    let whole_arguments = || match &reading.value {
        Value::Object(map) => map.values().any(Value::is_object),
        Value::Array(items) => items.iter().all(Value::is_object),
        _ => false,
    };
    let allowed = limit.is_some() || (reading.open == 1 && whole_arguments());
    reading.state == State::Truncated && reading.at_boundary && allowed
}

/// A call of a tool with parameters, in an object that breaks off before its arguments.
fn lost_arguments(call: &objects::RawCall, value: &Value, source: &Source<'_>) -> bool {
    let takes = source.tools.get(&call.name).is_some_and(|tool| !objects::takes_nothing(tool));
    let has_none = value.as_object().is_some_and(|map| map.values().all(Value::is_string));
    takes && call.arguments.is_empty() && has_none
}

fn complete(reading: &Reading, setting: Setting, source: &Source<'_>) -> Piece {
    let (mut meaning, shape) = objects::interpret(&reading.value, setting, source);
    if let Meaning::Calls(calls) = &mut meaning {
        for call in calls {
            call.notes.extend(reading.repairs.iter().map(|repair| (*repair).to_owned()));
        }
    }
    Piece::new(meaning, reading.end, shape)
}

/// A value that is wrong or cut off: a call of a known tool all the same?
fn broken(
    reading: &Reading,
    state: State,
    at: usize,
    limit: Option<usize>,
    setting: Setting,
    source: &Source<'_>,
) -> Piece {
    // A string that never ends before brackets that close everything has broken quotes instead.
    let ended = !reading.at_boundary && ends_closed(source.rest(at));
    let truncated = state == State::Truncated && limit.is_none() && !ended;
    let end = limit.unwrap_or_else(|| if truncated { source.text.len() } else { bracket_end(source, at) });
    let problem = |name: String| if truncated { Meaning::Truncated(name) } else { Meaning::Unparseable(name) };
    // Complete calls in front of the broken one in the same list stand.
    if let Value::Array(items) = &reading.value
        && items.len() > 1
    {
        let whole = Value::Array(items[..items.len() - 1].to_vec());
        if let (Meaning::Calls(calls), shape) = objects::interpret(&whole, setting, source) {
            let name = written_name(&source.text[at..end], source).unwrap_or_default();
            let mut piece = Piece::new(Meaning::Calls(calls), end, shape);
            piece.trouble = Some(problem(name));
            piece.closed = !truncated;
            return piece;
        }
    }
    let meaning = match written_name(&source.text[at..end.max(at)], source) {
        Some(name) => problem(name),
        None if setting.explicit && truncated => Meaning::Truncated(String::new()),
        None => Meaning::Data,
    };
    Piece::new(meaning, end, Shape::JsonObject)
}

/// The text ends with a quote and the brackets behind it.
fn ends_closed(text: &str) -> bool {
    let inside = text.trim_end().trim_end_matches(['}', ']', ' ', '\n']);
    inside.len() < text.trim_end().len() && inside.ends_with('"')
}

/// The known tool that a broken object names: `"name": "lamp"` beside a key for arguments.
fn written_name(raw: &str, source: &Source<'_>) -> Option<String> {
    const SPAN: usize = 4096;
    let head = &raw[..raw.floor_char_boundary(SPAN)];
    let has_arguments = ["argument", "parameters", "args", "params", "input"].iter().any(|key| head.contains(key));
    for (at, _) in head.match_indices(':').take(32) {
        let key = head[..at].trim_end().trim_end_matches(['"', '\'']);
        let is_name = ["name", "tool", "function", "action"].iter().any(|name| key.ends_with(name));
        let value = head[at + 1..].trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        if let (true, Some(quote)) = (is_name, quote)
            && let Some((name, after)) = value[1..].split_once(quote)
        {
            if !has_arguments && !is_cut_before_arguments(after) {
                return None;
            }
            return source.tools.get(name).map(|tool| tool.name.clone());
        }
    }
    None
}

/// `, "argum` and the end: the key of the arguments was being written.
fn is_cut_before_arguments(after: &str) -> bool {
    let Some(key) = after.trim_start().strip_prefix(',') else { return false };
    let key = key.trim_start();
    let key = key.strip_prefix(['"', '\'']).unwrap_or(key);
    objects::ARGUMENT_KEYS[..2].iter().any(|whole| whole.starts_with(key))
}

/// Where the brackets that open at `at` are closed, strings ignored; at most to the end of the
/// paragraph.
fn bracket_end(source: &Source<'_>, at: usize) -> usize {
    let rest = source.rest(at);
    let paragraph = rest.find("\n\n").unwrap_or(rest.len());
    source.work.spend(paragraph / 8);
    let mut depth = 0_usize;
    for (offset, byte) in rest.bytes().enumerate().take(paragraph) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at + offset + 1;
        }
    }
    at + paragraph
}
