//! Calls in function syntax: `lamp(room="attic")`, `lamp({"on": true})`, `[lamp(…), lamp(…)]`.

use serde_json::{Map, Value};
use tenpass_trace::ToolDefinition;

use super::arguments;
use super::lenient::{self, State};
use super::objects::{self, Meaning, RawCall, Setting, has_property};
use super::piece::Piece;
use super::shape::Shape;
use super::source::{Source, Tools, name_end};

/// The tool that a dotted name in front of a bracket means: `lamp`, `functions.lamp`, `lamp.call`.
fn resolve<'a>(written: &str, tools: &Tools<'a>) -> Option<&'a ToolDefinition> {
    tools.get_qualified(written).or_else(|| tools.get_qualified(written.strip_suffix(".call")?))
}

/// The call at `at`, if a name and an opening bracket stand there.
///
/// A name that is no tool gives [`Meaning::Unknown`] with the end of the name only.
pub(super) fn call(source: &Source<'_>, at: usize) -> Option<Piece> {
    let name_stop = name_end(source.text, at);
    let written = &source.text[at..name_stop];
    let starts_well = written.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts_well || source.byte(name_stop) != Some(b'(') {
        return None;
    }
    let Some(tool) = resolve(written, source.tools) else {
        return Some(Piece::new(Meaning::Unknown(written.to_owned()), name_stop, Shape::Line));
    };
    Some(Arguments::read(source, tool, name_stop + 1))
}

/// Where the arguments of a call of no tool end, if they can be read: `at` is its bracket.
fn end_of_unknown(source: &Source<'_>, at: usize, name: &str) -> Option<usize> {
    let nobody = ToolDefinition::new(name, "");
    let mut arguments = Arguments::new(source, &nobody, at + 1);
    (arguments.list() == State::Complete).then_some(arguments.at)
}

/// The argument list of one call while it is read.
struct Arguments<'s, 'a> {
    source: &'s Source<'a>,
    tool: &'s ToolDefinition,
    at: usize,
    named: Map<String, Value>,
    positional: Vec<Value>,
    notes: Vec<String>,
}

impl<'s, 'a> Arguments<'s, 'a> {
    fn new(source: &'s Source<'a>, tool: &'s ToolDefinition, at: usize) -> Self {
        Self { source, tool, at, named: Map::new(), positional: Vec::new(), notes: Vec::new() }
    }

    fn read(source: &'s Source<'a>, tool: &'s ToolDefinition, at: usize) -> Piece {
        let mut arguments = Self::new(source, tool, at);
        let state = arguments.list();
        let shape = if arguments.is_object_call() { Shape::FunctionCall } else { Shape::Line };
        let end = arguments.at;
        let meaning = match state {
            State::Complete => arguments.bind(),
            State::Truncated => Meaning::Truncated(tool.name.clone()),
            State::Invalid => Meaning::Unparseable(tool.name.clone()),
        };
        Piece::new(meaning, end, shape)
    }

    /// Reads up to and including the closing bracket.
    fn list(&mut self) -> State {
        loop {
            self.at = self.source.skip_blank(self.at);
            while self.source.byte(self.at) == Some(b',') {
                self.at = self.source.skip_blank(self.at + 1);
            }
            match self.source.byte(self.at) {
                None => return State::Truncated,
                Some(b')') => {
                    self.at += 1;
                    return State::Complete;
                }
                Some(_) => match self.one() {
                    State::Complete => {}
                    other => return other,
                },
            }
        }
    }

    fn one(&mut self) -> State {
        let unpacked = self.source.starts(self.at, "**");
        if unpacked {
            self.at += 2;
        }
        let key = if unpacked { None } else { self.key() };
        let reading = lenient::read_argument(self.source.text, self.at, key.as_deref(), self.source.work);
        self.at = reading.end;
        if reading.state != State::Complete {
            return reading.state;
        }
        self.notes.extend(reading.repairs.iter().map(|repair| (*repair).to_owned()));
        match key {
            Some(key) => {
                self.named.insert(key, reading.value);
            }
            None => self.positional.push(reading.value),
        }
        self.at = self.source.skip_blank(self.at);
        match self.source.byte(self.at) {
            None => State::Truncated,
            Some(b',' | b')') => State::Complete,
            Some(_) => State::Invalid,
        }
    }

    /// `name=` or `name:`; leaves the position at the value.
    fn key(&mut self) -> Option<String> {
        let rest = self.source.rest(self.at);
        let length = rest.bytes().take(128).take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let after = self.source.skip_blank(self.at + length);
        let assigns = matches!(self.source.byte(after), Some(b'=' | b':')) && self.source.byte(after + 1) != Some(b'=');
        if length == 0 || !assigns {
            return None;
        }
        self.at = after + 1;
        Some(rest[..length].to_owned())
    }

    /// `lamp({…})`: one object, and nothing else.
    fn is_object_call(&self) -> bool {
        self.named.is_empty() && matches!(self.positional.as_slice(), [Value::Object(_)])
    }

    /// Gives every positional argument its name.
    fn bind(mut self) -> Meaning {
        if self.named.is_empty()
            && let [only] = self.positional.as_slice()
            && let Some(meaning) = self.as_arguments(only)
        {
            return meaning;
        }
        let names = objects::parameter_names(self.tool);
        if self.positional.len() > names.len() {
            return Meaning::Unparseable(self.tool.name.clone());
        }
        for (name, value) in names.iter().zip(std::mem::take(&mut self.positional)) {
            if self.named.contains_key(*name) {
                return Meaning::Unparseable(self.tool.name.clone());
            }
            self.notes.push(format!("/{name}: was positional"));
            self.named.insert((*name).to_owned(), value);
        }
        let mut notes = self.notes;
        arguments::fit(self.tool, &mut self.named, &mut notes, self.source.work);
        Meaning::Calls(vec![RawCall {
            name: self.tool.name.clone(),
            arguments: self.named,
            double_encoded: false,
            leaked: false,
            notes,
        }])
    }

    /// The one positional argument as the whole object of arguments, if it is that.
    fn as_arguments(&self, only: &Value) -> Option<Meaning> {
        let decoded = match only {
            Value::Object(_) => only.clone(),
            Value::String(text) if text.trim_start().starts_with('{') => serde_json::from_str(text).ok()?,
            _ => return None,
        };
        let keys = decoded.as_object()?;
        let known = objects::lists_properties(self.tool);
        if known && !keys.is_empty() && !keys.keys().any(|key| has_property(self.tool, key)) && self.takes_object() {
            return None;
        }
        let mut meaning = objects::call_of(self.tool, only, Setting::BARE, false, self.source);
        if let Meaning::Calls(calls) = &mut meaning {
            for call in calls {
                call.notes.extend(self.notes.iter().cloned());
            }
        }
        Some(meaning)
    }

    /// Is the first parameter itself an object, or a string that could hold this text?
    fn takes_object(&self) -> bool {
        let first = objects::parameter_names(self.tool).first().copied();
        let kind = first.and_then(|name| self.tool.parameters["properties"][name]["type"].as_str());
        matches!(kind, Some("object" | "string"))
    }
}

/// Several calls one after another: separated by commas, semicolons, blanks or lines.
///
/// `print(lamp(…))` and `result = lamp(…)` count in program text.
pub(super) fn sequence(source: &Source<'_>, at: usize, code: bool) -> Option<Piece> {
    let around = if code { Around::Code } else { Around::Text };
    sequence_in(source, at, around)
}

/// What calls stand in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Text,
    Code,
    /// A list: a call of no tool in it is skipped.
    List,
}

fn sequence_in(source: &Source<'_>, at: usize, around: Around) -> Option<Piece> {
    let mut all: Option<Piece> = None;
    let mut at = at;
    loop {
        let start = skip_separators(source, at);
        let (inner, wrapped) = if around == Around::Code { skip_code(source, start) } else { (start, false) };
        let Some(mut piece) = call(source, inner) else { break };
        let is_call = matches!(piece.meaning, Meaning::Calls(_));
        if wrapped && is_call {
            let close = source.skip_blank(piece.end);
            piece.end = if source.byte(close) == Some(b')') { close + 1 } else { piece.end };
        }
        at = piece.end;
        let unknown = matches!(piece.meaning, Meaning::Unknown(_));
        if let Meaning::Unknown(name) = &piece.meaning
            && around == Around::List
            && let Some(end) = end_of_unknown(source, at, name)
        {
            piece.end = end;
            at = end;
            match &mut all {
                None => all = Some(piece),
                Some(whole) => whole.append(piece),
            }
            continue;
        }
        match &mut all {
            None => all = Some(piece),
            // A word with a bracket after the calls is where prose or other code begins.
            Some(_) if unknown => break,
            Some(whole) => whole.append(piece),
        }
        if !is_call {
            break;
        }
    }
    all
}

/// Calls from `at`, as long as each ends its line; stops in front of a line that is none.
pub(super) fn sequence_on_lines(source: &Source<'_>, at: usize) -> Option<Piece> {
    let piece = sequence(source, at, false)?;
    (!matches!(piece.meaning, Meaning::Unknown(_))).then_some(piece)
}

fn skip_separators(source: &Source<'_>, at: usize) -> usize {
    let rest = source.rest(at);
    at + (rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';')).len())
}

/// Skips `print(` and `result = `; true when a bracket was opened.
fn skip_code(source: &Source<'_>, at: usize) -> (usize, bool) {
    if source.starts(at, "print(") {
        return (source.skip_blank(at + "print(".len()), true);
    }
    let name = name_end(source.text, at);
    let sign = source.skip_blank(name);
    let assigns = name > at && source.byte(sign) == Some(b'=') && source.byte(sign + 1) != Some(b'=');
    if assigns { (source.skip_blank(sign + 1), false) } else { (at, false) }
}

/// `[lamp(room="attic"), lamp(room="hall")]`; also without the closing bracket at the end.
pub(super) fn list(source: &Source<'_>, at: usize) -> Option<Piece> {
    let first = (source.byte(at) == Some(b'[')).then(|| source.skip_blank(at + 1))?;
    let mut found = sequence_in(source, first, Around::List)?;
    found.shape = Shape::Pythonic;
    let whole = found.trouble.as_ref().is_none_or(|trouble| matches!(trouble, Meaning::Unknown(_)));
    if !matches!(found.meaning, Meaning::Calls(_) | Meaning::Unknown(_)) || !whole {
        return Some(found);
    }
    let close = source.skip_blank(found.end);
    match source.byte(close) {
        Some(b']') => {
            found.end = close + 1;
            Some(found)
        }
        None => {
            found.end = close;
            found.closed = false;
            Some(found)
        }
        // A list of calls and something else is no list of calls.
        Some(_) => None,
    }
}
