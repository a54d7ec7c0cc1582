//! The request that the model got at a moment of a turn, put together again.
//!
//! The system prompt, the window of earlier exchanges and the time are made by the assistant's own
//! assembly ([`tenpass_agent::prompt`]), at the time of the turn. What is left out on purpose: the
//! portrait, the memory and stored answers of providers. They are the most personal texts on the
//! machine, they change from day to day, and a request that is only answered wrongly because of them is
//! shown by the check not to fail without them. The zone of the time is written as its distance from
//! UTC, which names no place.
//!
//! Of earlier rounds the store has the results in full; where it lost them the trace's first 800
//! characters stand in. A summary that the loop made of a long turn cannot be made again: the messages
//! it stood for are there instead.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use tenpass_agent::prompt::{Input, Language, Sections, assemble, join_turns};
use tenpass_agent::session::{Exchange, SessionState};
use tenpass_agent::untrusted::{delimit, sanitise};
use tenpass_trace::{Message, Role, ToolCall, ToolCategory, ToolDefinition, TurnEnd};

use super::LifeError;
use super::moment::Moment;
use super::personal::Whose;
use super::turns::{Life, LivedCall, LivedTurn};

/// Characters of one message of a case.
const MESSAGE_CHARACTERS: usize = 8_000;
/// Characters of all earlier exchanges of a case; the oldest are left out first.
const PAST_CHARACTERS: usize = 32_000;
/// Members and elements of a call's arguments, over all levels.
const MOST_VALUES: usize = 2_000;

/// A message, and whose words are in it.
pub(super) type Part = (Message, Whose);

/// The conversation up to the moment, the system prompt first.
pub(super) fn up_to(
    life: &Life,
    turn: &LivedTurn,
    moment: &Moment,
    all: &[ToolDefinition],
    offered: &[ToolDefinition],
    zone: &TimeZone,
) -> Result<Vec<Part>, LifeError> {
    let past = past(life, turn);
    let first = past.iter().find(|message| message.role == Role::User);
    let language = Language::of(first.map_or(turn.request.as_str(), |message| message.content.as_str()));
    let now = turn.at.to_zoned(fixed(zone, turn.at));
    let request = cut(&turn.request, MESSAGE_CHARACTERS);
    let assembled = assemble(&Input {
        language,
        all,
        offered,
        past: &past,
        sections: Sections { portrait: false, memory: false, provider_answers: false, ..Sections::default() },
        ..Input::new(&request, &now)
    });
    let mut parts: Vec<Part> =
        join_turns(assembled.messages).into_iter().map(|message| (message, Whose::Persons)).collect();
    parts.extend(rounds_before(life, turn, moment, all)?);
    Ok(parts)
}

/// The same clock without the name of a place.
fn fixed(zone: &TimeZone, at: Timestamp) -> TimeZone {
    TimeZone::fixed(zone.to_offset(at))
}

/// What was said before in the conversation, without what was taken back.
fn past(life: &Life, turn: &LivedTurn) -> Vec<Message> {
    let exchanges = life.before(turn).map(|before| Exchange {
        turn: before.turn.clone(),
        user: cut(&before.request, MESSAGE_CHARACTERS),
        assistant: cut(&before.answer, MESSAGE_CHARACTERS),
        end: before.end.unwrap_or(TurnEnd::Stopped),
        memory: Vec::new(),
        undone: before.is_undone,
    });
    let past = SessionState::resume(turn.thread.as_str(), exchanges).past();
    let mut characters = 0;
    let mut kept = 0;
    for message in past.iter().rev() {
        characters += message.content.chars().count();
        if characters > PAST_CHARACTERS {
            break;
        }
        kept += 1;
    }
    past[past.len() - kept..].to_vec()
}

/// Calls and results of the rounds before the moment.
fn rounds_before(
    life: &Life,
    turn: &LivedTurn,
    moment: &Moment,
    tools: &[ToolDefinition],
) -> Result<Vec<Part>, LifeError> {
    if moment.calls_before == 0 {
        return Ok(Vec::new());
    }
    let stored = match life.database() {
        Some(database) => database.messages(&turn.thread)?,
        None => Vec::new(),
    };
    let own = stored.into_iter().filter(|stored| stored.turn == turn.turn).map(|stored| stored.message);
    let mut parts: Vec<Part> = Vec::new();
    let (mut made, mut answered) = (0, 0);
    for message in own.filter(|message| message.role != Role::User) {
        let calls = message.tool_calls.len();
        if message.role == Role::Assistant {
            if calls == 0 || made + calls > moment.calls_before {
                break;
            }
            made += calls;
            parts.push((bounded(message), Whose::Persons));
        } else {
            answered += 1;
            let whose = whose(message.tool_name.as_deref().unwrap_or_default(), tools);
            parts.push((bounded(message), whose));
        }
    }
    if made == moment.calls_before && answered == made {
        return Ok(parts);
    }
    let before: Vec<&LivedCall> = turn.calls.iter().take(moment.calls_before).collect();
    Ok(before.chunk_by(|a, b| a.round == b.round).flat_map(|round| round_of_trace(round, tools)).collect())
}

/// Whose words a tool returns: a file or a conversation is the person's own, a page is not.
fn whose(tool: &str, tools: &[ToolDefinition]) -> Whose {
    let is_web = tools.iter().any(|known| known.name == tool && known.category == ToolCategory::Web);
    if is_web { Whose::Outside } else { Whose::Persons }
}

/// One round as the trace has it.
fn round_of_trace(calls: &[&LivedCall], tools: &[ToolDefinition]) -> Vec<Part> {
    let id = |call: &LivedCall| Some(format!("call{}", call.number));
    let made = calls.iter().map(|call| ToolCall {
        id: id(call),
        name: call.tool.clone(),
        arguments: call.arguments.as_object().cloned().unwrap_or_default(),
    });
    let asked = bounded(Message { tool_calls: made.collect(), ..Message::assistant("") });
    let results = calls.iter().map(|call| {
        let text = if call.untrusted { delimit(&call.tool, &sanitise(&call.result)) } else { call.result.clone() };
        let whose = whose(&call.tool, tools);
        (bounded(Message { tool_call_id: id(call), ..Message::tool(&call.tool, text) }), whose)
    });
    std::iter::once((asked, Whose::Persons)).chain(results).collect()
}

/// A message of a size that a case can hold, and that TOML can write.
fn bounded(message: Message) -> Message {
    let calls = message.tool_calls.into_iter().map(|call| ToolCall { arguments: writable(call.arguments), ..call });
    Message {
        content: cut(&message.content, MESSAGE_CHARACTERS),
        tool_calls: calls.collect(),
        thinking: None,
        ..message
    }
}

/// Arguments without null, which TOML cannot write, and with an end.
pub(super) fn writable(arguments: Map<String, Value>) -> Map<String, Value> {
    let mut left = MOST_VALUES;
    members(arguments, &mut left)
}

fn members(map: Map<String, Value>, left: &mut usize) -> Map<String, Value> {
    let mut made = Map::new();
    for (name, value) in map {
        if *left == 0 {
            break;
        }
        *left -= 1;
        if let Some(value) = without_null(value, left) {
            made.insert(cut(&name, 200), value);
        }
    }
    made
}

fn without_null(value: Value, left: &mut usize) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(Value::String(cut(&text, MESSAGE_CHARACTERS))),
        Value::Array(items) => {
            let room = (*left).min(items.len());
            *left -= room;
            Some(Value::Array(items.into_iter().take(room).filter_map(|item| without_null(item, left)).collect()))
        }
        Value::Object(map) => Some(Value::Object(members(map, left))),
        other => Some(other),
    }
}

/// The first characters, with a word that it was cut.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}\n[cut: the first {most} of {} characters]", &text[..end], text.chars().count()),
    }
}
