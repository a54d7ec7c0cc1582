//! The conversation of a pass: what was said, and the requests behind it as events.

use std::collections::HashMap;

use serde_json::{Value, json};
use tenpass_bench::rounds::{Played, PlayedCall, PlayedTurn, RawAnswer};
use tenpass_bench::run::pass_seed;
use tenpass_bench::store::{OutcomeRecord, PassRecord, RequestRecord};
use tenpass_model::{FinishReason, StructuredCall, Usage};
use tenpass_trace::{CallOutcome, Message, Role};

use super::ids::id;
use super::shape::{self, Members, call_notes, content, stop_reason, tool_calls};
use super::time::written;

/// A sample's `messages`, `output`, `events` and `events_data.messages`.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) messages: Vec<Value>,
    pub(crate) output: Value,
    pub(crate) events: Vec<Value>,
    pub(crate) pool: Vec<Value>,
    /// Answers of the model.
    pub(crate) turns: u64,
    /// Places in the pool by message id.
    places: HashMap<String, usize>,
}

/// What every part of a pass needs to know of it.
pub(crate) struct PassContext<'a> {
    /// The sample's uuid.
    pub(crate) uuid: &'a str,
    /// The model as Inspect names it.
    pub(crate) model: &'a str,
    pub(crate) pass: &'a PassRecord,
    pub(crate) outcome: Option<&'a OutcomeRecord>,
}

/// An answer, wherever it stands.
struct Answer<'a> {
    text: &'a str,
    thinking: &'a str,
    calls: &'a [StructuredCall],
    finish: Option<FinishReason>,
    usage: Usage,
    total_ms: f64,
    timings: Value,
    /// Milliseconds from the pass's beginning to the request.
    begun_ms: f64,
    seed: u64,
}

impl Conversation {
    /// The conversation of a pass; `requests` finds its requests.
    pub(crate) fn of<E>(
        context: &PassContext<'_>,
        mut requests: impl FnMut(&str) -> Result<Option<RequestRecord>, E>,
    ) -> Result<Self, E> {
        let mut conversation = Self::default();
        match &context.pass.played {
            Some(played) => conversation.play(context, played, &mut requests)?,
            None => conversation.single(context, requests(&context.pass.request)?.as_ref()),
        }
        Ok(conversation)
    }

    /// One request and its answer.
    fn single(&mut self, context: &PassContext<'_>, request: Option<&RequestRecord>) {
        let pass = context.pass;
        for (place, message) in request.iter().flat_map(|record| record.request.messages.iter().enumerate()) {
            self.messages.push(shape::message(message, place, Some("input").filter(|_| message.role == Role::User)));
        }
        let answer = Answer {
            text: &pass.text,
            thinking: &pass.thinking,
            calls: &pass.calls,
            finish: pass.finish,
            usage: pass.usage,
            total_ms: pass.timings.total_ms,
            timings: serde_json::to_value(pass.timings).unwrap_or_default(),
            begun_ms: 0.0,
            seed: pass.seed,
        };
        let said = self.answer(context, &answer);
        self.output = output(context, &answer, &said);
        // A fault before the first token leaves nothing to show.
        let is_silent = answer.text.is_empty() && answer.thinking.is_empty() && answer.calls.is_empty();
        if pass.fault.is_none() || !is_silent {
            self.messages.push(said);
        }
        if let Some(record) = request {
            self.model_event(context, record, &answer, self.output.clone());
        }
    }

    /// The assistant's message; what it called is what the parser found, where there is a grade.
    fn answer(&mut self, context: &PassContext<'_>, answer: &Answer<'_>) -> Value {
        let own = id(&["answer", context.uuid, &self.messages.len().to_string()]);
        let parsed = match (&context.pass.played, context.outcome) {
            (None, Some(outcome)) => outcome.calls.as_slice(),
            _ => &[],
        };
        let mut message = Members::default();
        message.put("id", own.as_str());
        message.put("content", content(answer.text, answer.thinking));
        message.put("source", "generate");
        message.maybe("metadata", call_notes(answer.calls, parsed));
        message.put("role", "assistant");
        let calls = tool_calls(&own, answer.calls, parsed);
        message.maybe("tool_calls", (!calls.is_empty()).then_some(calls));
        message.put("model", context.model);
        self.turns += 1;
        message.take()
    }

    /// A whole play, turn by turn.
    fn play<E>(
        &mut self,
        context: &PassContext<'_>,
        played: &Played,
        requests: &mut impl FnMut(&str) -> Result<Option<RequestRecord>, E>,
    ) -> Result<(), E> {
        let mut begun_ms = 0.0;
        let mut number = 0;
        self.output = json!({ "model": context.model, "choices": [], "completion": "" });
        for turn in &played.turns {
            let records = turn.answers.iter().map(|answer| requests(&answer.request)).collect::<Result<Vec<_>, E>>()?;
            if self.messages.is_empty()
                && let Some(first) = records.iter().flatten().next().and_then(|record| record.request.messages.first())
                && first.role == Role::System
            {
                self.messages.push(shape::message(first, 0, None));
            }
            self.turn(context, turn, &records, begun_ms, &mut number);
            begun_ms += turn.ms;
        }
        Ok(())
    }

    fn turn(
        &mut self,
        context: &PassContext<'_>,
        turn: &PlayedTurn,
        records: &[Option<RequestRecord>],
        begun_ms: f64,
        number: &mut u32,
    ) {
        self.messages.push(shape::message(&Message::user(turn.user.as_str()), self.messages.len(), Some("input")));
        let mut calls = turn.calls.iter();
        let mut shares = shares(turn, records).into_iter();
        let mut at_ms = begun_ms;
        for (raw, record) in turn.answers.iter().zip(records) {
            *number += 1;
            let answer = Answer {
                text: &raw.text,
                thinking: &raw.thinking,
                calls: &raw.calls,
                finish: raw.finish,
                usage: raw.usage,
                total_ms: raw.ms,
                timings: json!({ "first_token_ms": raw.first_token_ms, "total_ms": raw.ms }),
                begun_ms: at_ms,
                seed: pass_seed(context.pass.seed, &context.pass.case, *number),
            };
            at_ms += raw.ms;
            let mut said = self.answer(context, &answer);
            let own: Vec<&PlayedCall> = calls.by_ref().take(shares.next().unwrap_or(0)).collect();
            let ids = name_calls(&mut said, context, &own, raw);
            self.output = output(context, &answer, &said);
            self.messages.push(said);
            if let Some(record) = record {
                self.model_event(context, record, &answer, self.output.clone());
            }
            for (call, id) in own.into_iter().zip(ids) {
                self.call(context, call, &id, at_ms);
            }
        }
        self.shown(context, turn);
    }

    /// The result of a call, as message and event.
    fn call(&mut self, context: &PassContext<'_>, call: &PlayedCall, call_id: &str, at_ms: f64) {
        let own = id(&["result", context.uuid, &self.messages.len().to_string()]);
        let failed = failure(call);
        let details = json!({
            "tier": call.tier, "outcome": call.outcome, "confirmation": call.confirmation, "faulted": call.faulted,
        });
        let mut message = Members::default();
        message.put("id", own.as_str());
        message.put("content", call.result.as_str());
        message.put("metadata", details.clone());
        message.put("role", "tool");
        message.put("tool_call_id", call_id);
        message.put("function", call.tool.as_str());
        message.maybe("error", failed.clone());
        self.messages.push(message.take());
        let mut event = self.event(context, "tool", at_ms);
        event.put("metadata", details);
        event.put("type", "function");
        event.put("id", call_id);
        event.put("function", call.tool.as_str());
        event.put("arguments", call.arguments.clone());
        event.put("result", call.result.as_str());
        event.maybe("error", failed);
        event.put("events", Vec::<Value>::new());
        event.put("message_id", own);
        let event = event.take();
        self.events.push(event);
    }

    /// What the person saw, where that is not what the model said last.
    fn shown(&mut self, context: &PassContext<'_>, turn: &PlayedTurn) {
        let last = turn.answers.last().map_or("", |answer| answer.text.as_str());
        if turn.text.trim() == last.trim() || turn.text.is_empty() {
            return;
        }
        let own = id(&["shown", context.uuid, &self.messages.len().to_string()]);
        self.messages.push(json!({
            "id": own, "content": turn.text, "role": "assistant",
            "metadata": { "shown": true, "author": turn.author, "end": turn.end },
        }));
    }

    fn event(&self, context: &PassContext<'_>, kind: &str, at_ms: f64) -> Members {
        let mut event = Members::default();
        event.put("uuid", id(&["event", context.uuid, &self.events.len().to_string()]));
        // An event must have a moment; where the pass's own is damaged, that of no clock.
        let moment = written(&context.pass.started, at_ms);
        event.put("timestamp", moment.unwrap_or_else(|| "1970-01-01T00:00:00+00:00".to_owned()));
        event.put("working_start", at_ms / 1e3);
        event.put("event", kind);
        event
    }

    fn model_event(&mut self, context: &PassContext<'_>, record: &RequestRecord, answer: &Answer<'_>, output: Value) {
        let request = &record.request;
        let mut event = self.event(context, "model", answer.begun_ms);
        event.put("model", context.model);
        event.put("input", Vec::<Value>::new());
        event.put("input_refs", self.references(&request.messages));
        event.put("tools", request.tools.iter().map(shape::tool).collect::<Vec<_>>());
        event.put("tool_choice", "auto");
        event.put("config", shape::request_config(request, Some(answer.seed)));
        event.put("output", output);
        event.maybe("completed", written(&context.pass.started, answer.begun_ms + answer.total_ms));
        event.put("working_time", answer.total_ms / 1e3);
        event.maybe("error", context.pass.fault.as_ref().map(|fault| fault.message.as_str()));
        let event = event.take();
        self.events.push(event);
    }

    /// Ranges of the pool that hold these messages, adding those that it lacks.
    fn references(&mut self, messages: &[Message]) -> Vec<[usize; 2]> {
        let mut ranges: Vec<[usize; 2]> = Vec::new();
        for (place, message) in messages.iter().enumerate() {
            let message = shape::message(message, place, Some("input").filter(|_| message.role == Role::User));
            let id = message["id"].as_str().unwrap_or_default().to_owned();
            let place = *self.places.entry(id).or_insert_with(|| {
                self.pool.push(message);
                self.pool.len() - 1
            });
            match ranges.last_mut() {
                Some([_, end]) if *end == place => *end += 1,
                _ => ranges.push([place, place + 1]),
            }
        }
        ranges
    }

    /// Adds the grade to the events.
    pub(crate) fn scored(&mut self, context: &PassContext<'_>, score: &Value, target: &Value, scorer: &str) {
        let mut event = self.event(context, "score", context.pass.timings.total_ms);
        event.put("score", score.clone());
        event.put("target", target.clone());
        event.put("intermediate", false);
        event.put("scorer", scorer);
        let event = event.take();
        self.events.push(event);
    }
}

/// How a result begins that is told in words.
const RESULT: &str = "<tool_response>\n";

/// How many of a turn's calls came from each of its answers: the results that the next request shows are
/// those of the calls before it.
fn shares(turn: &PlayedTurn, records: &[Option<RequestRecord>]) -> Vec<usize> {
    // Where tools are described in words, so are their results, in messages of the user's role.
    let results = |record: &RequestRecord| {
        let count = |message: &Message| match message.role {
            Role::Tool => 1,
            Role::User if message.content.starts_with(RESULT) => message.content.matches(RESULT).count(),
            _ => 0,
        };
        record.request.messages.iter().map(count).sum::<usize>()
    };
    let before = records.iter().flatten().next().map_or(0, results);
    let mut given = 0;
    let mut shares = Vec::with_capacity(turn.answers.len());
    for number in 0..turn.answers.len() {
        let known = records.get(number + 1).and_then(Option::as_ref).map(|next| results(next).saturating_sub(before));
        let until = known.unwrap_or(turn.calls.len()).clamp(given, turn.calls.len());
        shares.push(until - given);
        given = until;
    }
    // Whatever the requests did not show was the last answer's.
    if let Some(last) = shares.last_mut() {
        *last += turn.calls.len() - given;
    }
    shares
}

/// Gives the calls that ran the names they have in the answer, adding those that the answer does not name.
fn name_calls(said: &mut Value, context: &PassContext<'_>, own: &[&PlayedCall], raw: &RawAnswer) -> Vec<String> {
    let Some(message) = said.as_object_mut() else { return Vec::new() };
    let message_id = message.get("id").and_then(Value::as_str).unwrap_or(context.uuid).to_owned();
    let mut listed: Vec<Value> = message.get("tool_calls").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut taken = vec![false; listed.len()];
    let mut ids = Vec::with_capacity(own.len());
    for (number, call) in own.iter().enumerate() {
        let matching =
            listed.iter().zip(&taken).position(|(value, taken)| !taken && value["function"] == call.tool.as_str());
        if let Some(place) = matching {
            taken[place] = true;
            ids.push(listed[place]["id"].as_str().unwrap_or_default().to_owned());
            continue;
        }
        let id = shape::call_id(&message_id, raw.calls.len() + number);
        listed.push(json!({ "id": id, "function": call.tool, "arguments": call.arguments, "type": "function" }));
        taken.push(true);
        ids.push(id);
    }
    if !listed.is_empty() {
        message.insert("tool_calls".to_owned(), Value::Array(listed));
    }
    ids
}

/// A call that did not do what it is for, as a `ToolCallError`.
fn failure(call: &PlayedCall) -> Option<Value> {
    let kind = match call.outcome {
        CallOutcome::Ok | CallOutcome::Repeated => return None,
        CallOutcome::Refused => "approval",
        CallOutcome::Rejected => "parsing",
        CallOutcome::Blocked => "limit",
        CallOutcome::Interrupted => "cancelled",
        CallOutcome::Error => "unknown",
    };
    Some(json!({ "type": kind, "message": format!("{}: {}", call.outcome.as_str(), call.result) }))
}

/// A `ModelOutput`.
fn output(context: &PassContext<'_>, answer: &Answer<'_>, message: &Value) -> Value {
    let mut output = Members::default();
    output.put("model", context.model);
    output.put("choices", json!([{ "message": message, "stop_reason": stop_reason(answer.finish) }]));
    output.put("completion", answer.text);
    output.maybe("usage", shape::usage(answer.usage));
    output.put("time", answer.total_ms / 1e3);
    output.put("metadata", json!({ "timings": answer.timings, "finish": answer.finish }));
    output.maybe("error", context.pass.fault.as_ref().map(|fault| fault.message.as_str()));
    output.take()
}
