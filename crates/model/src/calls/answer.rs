//! From a raw answer to calls, class and prose.

use std::ops::Range;

use serde_json::Value;
use tenpass_trace::FailureClass;

use super::harmony;
use super::layers::{self, Layered};
use super::objects::{Meaning, RawCall};
use super::piece::Piece;
use super::shape::Shape;
use super::source::{Source, Tools, Work};
use super::structured;
use super::thinking;
use super::tokens;
use super::wrappers::WRAPPERS;
use super::{ParseInput, Parsed, ParsedCall};
use crate::FinishReason;

/// Gravest first: the one that is reported.
const BY_GRAVITY: [FailureClass; 9] = [
    FailureClass::ArgsTruncated,
    FailureClass::ArgsUnparseable,
    FailureClass::UnknownTool,
    FailureClass::StreamMerge,
    FailureClass::CallInThinking,
    FailureClass::CallInFence,
    FailureClass::ArgsDoubleEncoded,
    FailureClass::TemplateMarkerLeak,
    FailureClass::CallAsText,
];

/// Calls and what was wrong, while they are collected.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) calls: Vec<ParsedCall>,
    classes: Vec<FailureClass>,
}

impl Verdict {
    pub(super) fn add_class(&mut self, class: FailureClass) {
        self.classes.push(class);
    }

    fn class(&self) -> Option<FailureClass> {
        BY_GRAVITY.into_iter().find(|class| self.classes.contains(class))
    }

    fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.classes.is_empty()
    }

    /// Adds what one stretch of text says.
    fn add_piece(&mut self, piece: &Piece, how: How, finish: FinishReason) {
        // The token limit inside an open call: whatever can be read of it is not what was meant.
        let cut_off = finish == FinishReason::Length && !piece.closed;
        match &piece.meaning {
            Meaning::Calls(calls) => {
                let whole = if cut_off && piece.trouble.is_none() { &calls[..calls.len() - 1] } else { &calls[..] };
                for call in whole {
                    self.add_call(call, piece.shape, how);
                }
                if cut_off {
                    self.add_class(FailureClass::ArgsTruncated);
                }
            }
            trouble => self.add_trouble(trouble, cut_off),
        }
        if let Some(trouble) = &piece.trouble {
            self.add_trouble(trouble, cut_off);
        }
    }

    fn add_trouble(&mut self, trouble: &Meaning, cut_off: bool) {
        match trouble {
            Meaning::Truncated(_) => self.add_class(FailureClass::ArgsTruncated),
            Meaning::Unparseable(_) if cut_off => self.add_class(FailureClass::ArgsTruncated),
            Meaning::Unparseable(_) => self.add_class(FailureClass::ArgsUnparseable),
            Meaning::Calls(_) | Meaning::Unknown(_) | Meaning::Data => {}
        }
    }

    fn add_call(&mut self, call: &RawCall, shape: Shape, how: How) {
        if !how.declared {
            self.add_class(how.class);
        }
        if call.double_encoded {
            self.add_class(FailureClass::ArgsDoubleEncoded);
        }
        if call.leaked {
            self.add_class(FailureClass::TemplateMarkerLeak);
        }
        self.calls.push(ParsedCall {
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            recovered: !how.declared || call.double_encoded || call.leaked || !call.notes.is_empty(),
            shape: shape.to_string(),
            notes: call.notes.clone(),
        });
    }
}

/// How a stretch came to be looked at.
#[derive(Debug, Clone, Copy)]
struct How {
    declared: bool,
    /// The class of a call that was not declared.
    class: FailureClass,
}

/// Parses a raw answer. Never fails: what is no call is text.
pub fn parse(input: &ParseInput<'_>) -> Parsed {
    parse_within(input, &Work::new(input.text.len() + input.thinking.len()))
}

/// Parses with this budget.
pub(super) fn parse_within(input: &ParseInput<'_>, work: &Work) -> Parsed {
    let tools = Tools::new(input.tools);
    let declared = input.declared.and_then(|name| name.parse::<Shape>().ok());
    if input.structured.is_empty()
        && declared == Some(Shape::Constrained)
        && let Some(parsed) = constrained(input, &tools, work)
    {
        return parsed;
    }
    let mut answer = Answer::read(input, &tools, work);
    let mut verdict = Verdict::default();
    if input.structured.is_empty() {
        answer.judge(declared, input.finish, &mut verdict);
        if verdict.is_empty() {
            answer.judge_thoughts(declared, input.finish, &tools, work, &mut verdict);
        }
    } else {
        structured::judge(input, &tools, work, &mut verdict);
    }
    if answer.leaked {
        verdict.add_class(FailureClass::TemplateMarkerLeak);
    }
    let class = verdict.class();
    Parsed { calls: verdict.calls, class, text: answer.text }
}

/// An answer taken apart: reasoning, calls of Harmony, the rest with its layers.
struct Answer {
    harmony: Vec<Piece>,
    layered: Layered,
    thoughts: Vec<String>,
    /// The last block of reasoning was never closed.
    open_thought: bool,
    /// A call marker at the very end, with nothing behind it.
    dangling: bool,
    leaked: bool,
    text: String,
}

impl Answer {
    fn read(input: &ParseInput<'_>, tools: &Tools<'_>, work: &Work) -> Self {
        let source = Source::new(input.text, tools, work);
        let harmony = harmony::split(&source).unwrap_or_default();
        let is_harmony = harmony != harmony::Harmony::default();
        let mut text = if is_harmony { harmony.answer } else { input.text.to_owned() };
        let mut islands = Vec::new();
        let mut leaked = false;
        if text.contains(['<', '[', '◁']) {
            islands = tokens::json_islands(&text);
        }
        if let Some(end) = tokens::strange_turn(&text, &islands) {
            text.truncate(end);
            islands.retain(|island| island.end <= end);
            leaked = true;
        }
        let mut split = thinking::Split { answer: text, ..thinking::Split::default() };
        if thinking::has_tags(&split.answer) {
            split = thinking::split(&split.answer, &islands);
            islands = tokens::json_islands(&split.answer);
        }
        let (plain, stripped) = tokens::strip_turns(&split.answer, &islands);
        let dangling = WRAPPERS.iter().any(|wrapper| plain.trim_end().ends_with(wrapper.open));
        let source = Source::new(&plain, tools, work);
        let declared = input.declared.and_then(|name| name.parse::<Shape>().ok());
        let layered = layers::run(&source, declared);
        let (text, orphans) = prose(&plain, &layered);
        let mut thoughts = harmony.thoughts;
        thoughts.extend(split.thoughts);
        if !input.thinking.trim().is_empty() {
            thoughts.push(input.thinking.to_owned());
        }
        Self {
            harmony: harmony.pieces,
            layered,
            thoughts,
            open_thought: split.open,
            dangling,
            leaked: leaked || stripped || orphans,
            text,
        }
    }

    /// Calls outside the reasoning.
    fn judge(&mut self, declared: Option<Shape>, finish: FinishReason, verdict: &mut Verdict) {
        for piece in &self.harmony {
            let how = How { declared: declared == Some(Shape::Harmony), class: FailureClass::CallAsText };
            verdict.add_piece(piece, how, finish);
            if how.declared && matches!(piece.meaning, Meaning::Unknown(_)) {
                verdict.add_class(FailureClass::UnknownTool);
            }
        }
        let class = if self.layered.fenced { FailureClass::CallInFence } else { FailureClass::CallAsText };
        let how = How { declared: self.layered.declared, class };
        for found in &self.layered.found {
            verdict.add_piece(&found.piece, how, finish);
        }
        if self.layered.unknown.is_some() && verdict.calls.is_empty() {
            verdict.add_class(FailureClass::UnknownTool);
        }
        if self.dangling && finish == FinishReason::Length {
            verdict.add_class(FailureClass::ArgsTruncated);
        }
    }

    /// A call in the reasoning, when there is nothing else.
    fn judge_thoughts(
        &self,
        declared: Option<Shape>,
        finish: FinishReason,
        tools: &Tools<'_>,
        work: &Work,
        verdict: &mut Verdict,
    ) {
        if !self.text.is_empty() && !self.open_thought {
            return;
        }
        let Some(thought) = self.thoughts.last() else { return };
        let (plain, _) = tokens::strip_turns(thought, &[]);
        let source = Source::new(&plain, tools, work);
        let found = layers::run(&source, declared).found;
        let found = last_group(&plain, &found.iter().map(|found| found.range.clone()).collect::<Vec<_>>(), found);
        // Cut off while still thinking: a draft.
        let draft = finish == FinishReason::Length;
        let how = How { declared: false, class: FailureClass::CallInThinking };
        let mut inner = Verdict::default();
        for found in &found {
            inner.add_piece(&found.piece, how, FinishReason::Stop);
        }
        let mut kept: Vec<ParsedCall> = Vec::new();
        for call in inner.calls {
            if !kept.iter().any(|other| other.name == call.name && other.arguments == call.arguments) {
                kept.push(call);
            }
        }
        if !kept.is_empty() {
            verdict.add_class(FailureClass::CallInThinking);
            verdict.calls = if draft { Vec::new() } else { kept };
        } else if self.open_thought {
            // Broken drafts in closed reasoning are nobody's business.
            verdict.classes.extend(inner.classes);
        }
    }
}

/// The stretches after the last prose between two of them.
fn last_group(text: &str, ranges: &[Range<usize>], found: Vec<super::scan::Found>) -> Vec<super::scan::Found> {
    let prose_before = |index: usize| {
        index > 0 && !text.get(ranges[index - 1].end..ranges[index].start).unwrap_or("").trim().is_empty()
    };
    let first = (0..found.len()).rev().find(|index| prose_before(*index)).unwrap_or(0);
    found.into_iter().skip(first).collect()
}

/// The prose: without the stretches that count, and without what is left of markers.
fn prose(plain: &str, layered: &Layered) -> (String, bool) {
    let mut text = String::with_capacity(plain.len());
    let mut kept = Vec::new();
    let mut at = 0;
    let mut copy = |from: usize, to: usize, text: &mut String| {
        let inside = layered.kept.iter().filter(|range| range.start >= from && range.end <= to);
        kept.extend(inside.map(|range| text.len() + range.start - from..text.len() + range.end - from));
        // Separators between calls, and brackets too many after them, are no prose.
        let is_junk = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ']' | '}' | '-' | '*');
        let beside_a_call = from > 0 || to < plain.len();
        if !(beside_a_call && plain[from..to].chars().all(is_junk)) {
            text.push_str(&plain[from..to]);
        }
    };
    for hole in &layered.removed {
        if hole.start >= at {
            copy(at, hole.start, &mut text);
        }
        at = at.max(hole.end.min(plain.len()));
    }
    copy(at, plain.len(), &mut text);
    let (text, orphans) = tokens::strip_markers(&text, &kept);
    let spoken = text.trim_start().strip_prefix("all\n").filter(|_| is_functionary(layered));
    let text = spoken.map_or(text.as_str(), |spoken| spoken).to_owned();
    // The word that a fence would have had.
    let text = if !layered.removed.is_empty() && text.trim() == "json" { String::new() } else { text };
    if layered.removed.is_empty() && !orphans {
        return (text.trim().to_owned(), false);
    }
    (without_gaps(&text), orphans)
}

/// Functionary's answers name their recipient first: `all` is the person.
fn is_functionary(layered: &Layered) -> bool {
    layered.found.iter().any(|found| found.piece.shape == Shape::Functionary)
}

/// Trimmed, with at most one empty line in a row.
fn without_gaps(text: &str) -> String {
    let mut left = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.trim().lines() {
        empty = if line.trim().is_empty() { empty + 1 } else { 0 };
        if empty <= 1 {
            left.push_str(line.trim_end());
            left.push('\n');
        }
    }
    left.truncate(left.trim_end().len());
    left
}

/// The object that a constrained decoder enforces: a call, or `answer` with the text.
fn constrained(input: &ParseInput<'_>, tools: &Tools<'_>, work: &Work) -> Option<Parsed> {
    let text = input.text.trim();
    let reading = super::lenient::read(text, 0, super::lenient::Dialect::Json, work);
    let Value::Object(map) = &reading.value else { return None };
    let complete = reading.state == super::lenient::State::Complete && text[reading.end..].trim().is_empty();
    let name = map.get("name").and_then(Value::as_str);
    let argument = |key| map.get("arguments").and_then(|arguments| arguments.get(key)).and_then(Value::as_str);
    let mut verdict = Verdict::default();
    let mut said = String::new();
    match (name, tools.get(name.unwrap_or(""))) {
        (Some("answer"), None) => argument("text").unwrap_or_default().trim().clone_into(&mut said),
        (Some(_), Some(_)) if !complete => verdict.add_class(FailureClass::ArgsTruncated),
        (None, _) if !complete && input.finish == FinishReason::Length => {
            verdict.add_class(FailureClass::ArgsTruncated);
        }
        (Some(_), Some(tool)) => {
            let source = Source::new(text, tools, work);
            let arguments = map.get("arguments").unwrap_or(&Value::Null);
            let setting = super::objects::Setting::MARKED;
            let meaning = super::objects::call_of(tool, arguments, setting, false, &source);
            let piece = Piece::new(meaning, reading.end, Shape::Constrained);
            verdict.add_piece(&piece, How { declared: true, class: FailureClass::CallAsText }, input.finish);
        }
        (Some(_), None) if complete && map.contains_key("arguments") => verdict.add_class(FailureClass::UnknownTool),
        _ => return None,
    }
    let class = verdict.class();
    Some(Parsed { calls: verdict.calls, class, text: said })
}
