//! The one request builder: a [`ChatRequest`] as the body that each protocol wants.
//!
//! Pure functions, used by the streaming and the blocking path alike (K7), so that no field can
//! arrive on one and be forgotten on the other. The model's reasoning is never sent back (K25).

pub mod ollama;
pub mod openai;

use serde_json::{Number, Value};
use tenpass_trace::{Message, Role, ToolCall};

use crate::ChatRequest;

/// A message with the ids and names that tie results to calls.
pub(crate) struct Linked<'a> {
    pub(crate) message: &'a Message,
    /// Calls of an assistant message, each with an id.
    pub(crate) calls: Vec<(String, &'a ToolCall)>,
    /// For a tool message: the call it answers.
    pub(crate) answers: Option<Answered>,
}

/// The call that a tool message answers.
#[derive(Clone)]
pub(crate) struct Answered {
    pub(crate) id: String,
    pub(crate) name: String,
}

/// Ties every tool message to its call: by id, else by name, else by order. Calls without an id
/// get one; nine letters and digits, because Mistral's templates refuse any other length.
pub(crate) fn link(messages: &[Message]) -> Vec<Linked<'_>> {
    let mut open: Vec<Answered> = Vec::new();
    let mut linked = Vec::with_capacity(messages.len());
    for (position, message) in messages.iter().enumerate() {
        let mut calls = Vec::new();
        let mut answers = None;
        if message.role == Role::Assistant && !message.tool_calls.is_empty() {
            open.clear();
            for (index, call) in message.tool_calls.iter().enumerate() {
                let id = call.id.clone().unwrap_or_else(|| generated_id(position, index));
                open.push(Answered { id: id.clone(), name: call.name.clone() });
                calls.push((id, call));
            }
        } else if message.role == Role::Tool {
            answers = Some(answered(message, position, &mut open));
        }
        linked.push(Linked { message, calls, answers });
    }
    linked
}

fn generated_id(message: usize, index: usize) -> String {
    format!("c{:05}{:03}", message % 100_000, index % 1_000)
}

fn answered(message: &Message, position: usize, open: &mut Vec<Answered>) -> Answered {
    let by_id = message.tool_call_id.as_ref().and_then(|id| open.iter().position(|call| call.id == *id));
    let by_name = message.tool_name.as_ref().and_then(|name| open.iter().position(|call| call.name == *name));
    let unnamed = message.tool_call_id.is_none() && message.tool_name.is_none() && !open.is_empty();
    let found = by_id.or(by_name).or(unnamed.then_some(0)).map(|found| open.remove(found));
    let id = message.tool_call_id.clone().or_else(|| found.as_ref().map(|call| call.id.clone()));
    let name = message.tool_name.clone().or_else(|| found.map(|call| call.name));
    Answered { id: id.unwrap_or_else(|| generated_id(position, 0)), name: name.unwrap_or_default() }
}

/// An `f32` as people write it: 0.3, not 0.30000001192092896.
pub(crate) fn decimal(value: f32) -> Value {
    let number = value.to_string().parse::<f64>().ok().and_then(Number::from_f64);
    number.map_or(Value::Null, Value::Number)
}

/// A seed that every server accepts: 31 bits (llama.cpp reads `u32` with all ones as "random",
/// Ollama a signed integer). Small seeds stay what they are.
pub(crate) fn seed(seed: u64) -> u64 {
    (seed ^ (seed >> 32) ^ (seed >> 31 & 1)) & 0x7fff_ffff
}

/// The tools of a request as every server wants them.
pub(crate) fn tools(request: &ChatRequest) -> Vec<Value> {
    request.tools.iter().map(tenpass_trace::ToolDefinition::to_wire).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_find_their_calls_by_id_by_name_and_by_order() {
        let mut assistant = Message::assistant("");
        for (id, name) in [(None, "lamp"), (Some("x1"), "door"), (None, "lamp")] {
            assistant.tool_calls.push(ToolCall {
                id: id.map(str::to_owned),
                name: name.into(),
                arguments: serde_json::Map::default(),
            });
        }
        let mut by_id = Message::tool("", "shut");
        by_id.tool_name = None;
        by_id.tool_call_id = Some("x1".into());
        let mut by_order = Message::tool("", "on");
        by_order.tool_name = None;
        let messages = [Message::user("go"), assistant, by_id, Message::tool("lamp", "on"), by_order];
        let linked = link(&messages);
        let answers: Vec<_> =
            linked.iter().filter_map(|l| l.answers.as_ref()).map(|a| (a.id.as_str(), a.name.as_str())).collect();
        assert_eq!(answers, [("x1", "door"), ("c00001000", "lamp"), ("c00001002", "lamp")]);
        assert_eq!(linked[1].calls[0].0.len(), 9);
    }

    #[test]
    fn an_orphaned_result_still_has_an_id() {
        let messages = [Message::tool("lamp", "on")];
        let linked = link(&messages);
        let answers = linked[0].answers.as_ref().unwrap();
        assert_eq!((answers.id.as_str(), answers.name.as_str()), ("c00000000", "lamp"));
    }

    #[test]
    fn numbers_are_sent_as_written() {
        assert_eq!(decimal(0.3).to_string(), "0.3");
        assert_eq!(decimal(1.0).to_string(), "1.0");
        assert_eq!(seed(7), 7);
        assert!(seed(u64::MAX) < 1 << 31);
        assert_ne!(seed(1 << 40), seed(1 << 41));
    }
}

#[cfg(test)]
pub(crate) mod tests_support {
    //! The conversation that both builders are tested with.

    use serde_json::json;
    use tenpass_trace::{Message, ToolCall, ToolDefinition};

    use crate::{Capabilities, ChatRequest, SamplingOptions};

    pub(crate) fn capabilities(thinking: bool) -> Capabilities {
        Capabilities { tools: true, thinking, structured_output: true, declared_shape: None }
    }

    pub(crate) fn conversation() -> ChatRequest {
        let mut assistant = Message::assistant("");
        assistant.thinking = Some("a secret thought".into());
        let arguments = json!({ "on": true }).as_object().cloned().unwrap();
        assistant.tool_calls.push(ToolCall { id: None, name: "lamp".into(), arguments });
        ChatRequest {
            messages: vec![
                Message::system("Be short."),
                Message::user("Light!"),
                assistant,
                Message::tool("lamp", "on"),
            ],
            tools: vec![ToolDefinition::new("lamp", "Switches a lamp.")],
            format: Some(json!({ "type": "object" })),
            options: SamplingOptions {
                seed: 9,
                context: Some(32768),
                stop: vec!["END".into()],
                ..SamplingOptions::default()
            },
            ..ChatRequest::default()
        }
    }
}
