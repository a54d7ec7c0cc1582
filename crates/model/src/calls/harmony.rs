//! Harmony: messages with a channel and a recipient.
//!
//! `<|channel|>analysis` is reasoning, `final` is the answer, and a message to a tool
//! (`to=functions.lamp`, in the role's part or the channel's) is a call on any channel.

use super::markup;
use super::objects::{self, Meaning, Setting};
use super::piece::Piece;
use super::shape::Shape;
use super::source::{Source, name_end};

/// An answer in Harmony, taken apart.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Harmony {
    /// Calls, and what was meant as one.
    pub(super) pieces: Vec<Piece>,
    /// The analysis channel.
    pub(super) thoughts: Vec<String>,
    /// What is said: the final channel, preambles, and anything outside messages.
    pub(super) answer: String,
}

const ENDS: [&str; 5] = ["<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>"];

/// Takes an answer apart, if it has Harmony's messages.
pub(super) fn split(source: &Source<'_>) -> Option<Harmony> {
    source.find("<|message|>", 0)?;
    let mut harmony = Harmony::default();
    let mut at = 0;
    while let Some(message) = source.find("<|message|>", at) {
        let head_start = head_start(source, at, message);
        say(&mut harmony.answer, &source.text[at..head_start]);
        let head = Head::read(&source.text[head_start..message], source);
        let start = message + "<|message|>".len();
        at = read_message(source, &head, start, &mut harmony);
    }
    say(&mut harmony.answer, source.rest(at));
    Some(harmony)
}

/// Where the head of the message at `message` begins; what is before it is plain text.
fn head_start(source: &Source<'_>, from: usize, message: usize) -> usize {
    let part = &source.text[from..message];
    if let Some(start) = part.find("<|start|>") {
        return from + start;
    }
    let mut start = part.find("<|channel|>").unwrap_or(part.len());
    // Words of a head whose first token is missing: `assistant`, a recipient, a tool's name.
    loop {
        let before = part[..start].trim_end();
        let word_start = before.char_indices().rfind(|(_, c)| c.is_whitespace()).map_or(0, |(at, c)| at + c.len_utf8());
        let word = &before[word_start..];
        let of_head = matches!(word, "assistant" | "commentary" | "json" | "code")
            || word.starts_with("to=")
            || source.tools.get_qualified(word).is_some();
        if word.is_empty() || !of_head {
            return from + start;
        }
        start = word_start;
    }
}

struct Head<'a> {
    channel: &'a str,
    recipient: Option<&'a str>,
}

impl<'a> Head<'a> {
    fn read(head: &'a str, source: &Source<'_>) -> Self {
        let channel = head.rsplit_once("<|channel|>").map_or("", |(_, rest)| rest);
        let channel = &channel[..name_end(channel, 0)];
        let addressed = head.split_once("to=").map(|(_, rest)| rest);
        let addressed = addressed.map(|rest| rest.split(|c: char| c.is_whitespace() || c == '<').next().unwrap_or(""));
        // `lamp<|channel|>commentary`: the tool where the role belongs.
        let role = head.strip_prefix("<|start|>").unwrap_or(head);
        let role = role.split("<|").next().unwrap_or("").trim();
        let as_role = source.tools.get_qualified(role).map(|_| role);
        Self { channel, recipient: addressed.or(as_role) }
    }
}

/// Reads the body from `start`; gives where the next message may begin.
fn read_message(source: &Source<'_>, head: &Head<'_>, start: usize, harmony: &mut Harmony) -> usize {
    let end = ENDS.iter().filter_map(|token| source.find(token, start)).min();
    let stop = end.unwrap_or(source.text.len());
    let after = |stop: usize| {
        ENDS[..3].iter().find(|token| source.starts(stop, token)).map_or(stop, |token| stop + token.len())
    };
    let Some(recipient) = head.recipient else {
        let text = &source.text[start..stop];
        if head.channel == "analysis" {
            harmony.thoughts.push(text.to_owned());
        } else {
            say(&mut harmony.answer, text);
        }
        return after(stop);
    };
    // A tool's result that the model made up.
    if recipient.starts_with("assistant") {
        return after(stop);
    }
    let Some(tool) = source.tools.get_qualified(recipient) else {
        harmony.pieces.push(Piece::new(Meaning::Unknown(recipient.to_owned()), stop, Shape::Harmony));
        say(&mut harmony.answer, &source.text[start..stop]);
        return after(stop);
    };
    let body = source.skip_blank(start);
    let mut piece = if source.byte(body) == Some(b'{') {
        markup::json_arguments(source, tool, body, end)
    } else if source.text[start..stop].trim().is_empty() && end.is_some() {
        let meaning = objects::call_of(tool, &serde_json::Value::Null, Setting::MARKED, false, source);
        Piece::new(meaning, stop, Shape::Harmony)
    } else if end.is_none() && source.text[start..stop].trim().is_empty() {
        Piece::new(Meaning::Truncated(tool.name.clone()), stop, Shape::Harmony)
    } else {
        Piece::new(Meaning::Unparseable(tool.name.clone()), stop, Shape::Harmony)
    };
    piece.shape = Shape::Harmony;
    let close = source.skip_blank(piece.end);
    let closed = ENDS.iter().any(|token| source.starts(close, token));
    piece.closed = piece.closed && (closed || close < source.text.len());
    let next = if closed { after(close) } else { piece.end.max(stop.min(source.text.len())) };
    harmony.pieces.push(piece);
    next
}

fn say(answer: &mut String, text: &str) {
    let text = text.trim();
    if !text.is_empty() {
        if !answer.is_empty() {
            answer.push('\n');
        }
        answer.push_str(text);
    }
}

/// Where the words of a head that stand in front of a bare recipient begin.
pub(super) fn head_words_before(text: &str, at: usize) -> usize {
    let mut start = at;
    loop {
        let before = text[..start].trim_end();
        let word = ["assistant", "commentary", "analysis"].iter().find(|word| before.ends_with(**word));
        match word {
            Some(word) => start = before.len() - word.len(),
            None => return start,
        }
    }
}

/// `to=functions.lamp json{…}`: a message whose special tokens were stripped.
pub(super) fn bare_recipient(source: &Source<'_>, at: usize) -> Option<Piece> {
    let start = at + source.rest(at).strip_prefix("to=functions.").map(|_| "to=functions.".len())?;
    let stop = name_end(source.text, start);
    let tool = source.tools.get(&source.text[start..stop])?;
    let mut body = source.skip_blank(stop);
    for word in ["commentary", "analysis", "json", "code", "<|constrain|>json"] {
        if source.starts(body, word) {
            body = source.skip_blank(body + word.len());
        }
    }
    if source.byte(body) != Some(b'{') {
        return None;
    }
    let mut piece = markup::json_arguments(source, tool, body, None);
    piece.shape = Shape::Harmony;
    Some(piece)
}
