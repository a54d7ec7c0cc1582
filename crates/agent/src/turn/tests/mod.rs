//! The machine, stepped without I/O by scripts.

mod after;
mod caps;
mod compression;
mod gates;
mod properties;
mod retries;
mod stops;
mod texts;

use std::collections::{HashMap, VecDeque};

use serde_json::{Value, json};
use tenpass_model::{ModelError, StructuredCall};
use tenpass_trace::{CallOutcome, ConfirmationAnswer, Intention, Message, Tier, ToolCall, ToolDefinition, TraceEvent};

use super::*;
use crate::interaction::{AgentEvent, Confirmation, RecordError};
use crate::policy::{Policy, Profile};
use crate::testing::scripted_info;
use crate::tool::{Inspection, ToolOutput};
use crate::{Selection, Structure};

type Say = dyn FnMut(&Ask) -> Result<Generation, ModelError>;
type Run = dyn FnMut(&ToolCall) -> ToolOutput;
type Inspect = dyn FnMut(&ToolCall) -> Inspection;
type Answer = dyn FnMut(&Confirmation) -> ConfirmationAnswer;
type Escalate = dyn FnMut(&EscalationRequest) -> Result<Escalated, String>;

/// Plays a turn with scripts, and remembers everything.
struct Play {
    setup: TurnSetup,
    say: Box<Say>,
    run: Box<Run>,
    inspect: Box<Inspect>,
    answer: Box<Answer>,
    escalate: Box<Escalate>,
    /// The intention of this call cannot be written.
    failing_intention: Option<u32>,
}

/// What happened in a played turn.
struct Played {
    outcome: TurnOutcome,
    asks: Vec<Ask>,
    ran: Vec<ToolCall>,
    shown: Vec<Confirmation>,
    intentions: Vec<Intention>,
    records: Vec<TraceEvent>,
    events: Vec<AgentEvent>,
    /// The names of the steps, in order.
    steps: Vec<&'static str>,
}

fn tool(name: &str, parameters: Value, reads: bool) -> ToolDefinition {
    ToolDefinition { reads, ..ToolDefinition::new(name, name).with_parameters(parameters) }
}

fn one_text(name: &str) -> Value {
    json!({
        "type": "object",
        "properties": {name: {"type": "string"}, "reason": {"type": "string"}},
        "required": [name, "reason"]
    })
}

/// A read, a search, a write, a reversible action, memory, and one tool that nobody classified.
fn tools() -> Vec<ToolDefinition> {
    let mut write = one_text("filename");
    write["properties"]["content"] = json!({"type": "string"});
    write["required"] = json!(["filename", "content", "reason"]);
    vec![
        tool("read_file", one_text("filename"), true),
        tool("read_url", one_text("url"), true),
        tool("list_directory", one_text("directory"), true),
        tool("write_file", write, false),
        tool("open_url", one_text("url"), false),
        tool("control_media", one_text("action"), false),
        tool("write_memory", one_text("entry"), false),
        tool("mystery", one_text("x"), false),
    ]
}

fn setup(user_text: &str) -> TurnSetup {
    TurnSetup {
        thread: "thread".into(),
        turn: "turn".into(),
        limits: Limits::default(),
        policy: Policy::new(Profile::Panel),
        selection: Selection::All,
        structure: Structure::Native,
        offered: tools(),
        all_tools: tools(),
        user_tiers: HashMap::new(),
        messages: vec![Message::system("You help."), Message::user(user_text)],
        user_text: user_text.into(),
        options: loop_options(),
        think: None,
        info: scripted_info(),
        escalation: None,
        language: Language::English,
        tainted: false,
    }
}

fn text(text: &str) -> Generation {
    Generation { text: text.into(), ..Generation::default() }
}

fn call(name: &str, arguments: Value) -> Generation {
    calls(vec![(name, arguments)])
}

fn calls(calls: Vec<(&str, Value)>) -> Generation {
    let calls = calls
        .into_iter()
        .map(|(name, arguments)| StructuredCall { id: None, name: name.into(), arguments, repaired: None })
        .collect();
    Generation { calls, finish: tenpass_model::FinishReason::ToolCalls, ..Generation::default() }
}

fn read(number: u32) -> Generation {
    call("read_file", json!({"filename": format!("{number}.txt")}))
}

fn broken() -> ModelError {
    ModelError::Server { url: "http://127.0.0.1:1".into(), message: "broken".into() }
}

impl Play {
    /// A turn whose model gives these answers one after the other, and nothing after the last.
    fn new(answers: Vec<Generation>) -> Self {
        let mut answers: VecDeque<Generation> = answers.into();
        Self::by(move |_| Ok(answers.pop_front().unwrap_or_default()))
    }

    /// A turn whose model answers by a closure.
    fn by(say: impl FnMut(&Ask) -> Result<Generation, ModelError> + 'static) -> Self {
        Self {
            setup: setup("please do it"),
            say: Box::new(say),
            run: Box::new(|call| ToolOutput::ok(format!("result of {}", call.name))),
            inspect: Box::new(|_| Inspection::default()),
            answer: Box::new(|_| ConfirmationAnswer::Approved),
            escalate: Box::new(|_| Err("no answer".into())),
            failing_intention: None,
        }
    }

    fn with(mut self, change: impl FnOnce(&mut TurnSetup)) -> Self {
        change(&mut self.setup);
        self
    }

    fn running(mut self, run: impl FnMut(&ToolCall) -> ToolOutput + 'static) -> Self {
        self.run = Box::new(run);
        self
    }

    fn inspecting(mut self, inspect: impl FnMut(&ToolCall) -> Inspection + 'static) -> Self {
        self.inspect = Box::new(inspect);
        self
    }

    fn answering(mut self, answer: impl FnMut(&Confirmation) -> ConfirmationAnswer + 'static) -> Self {
        self.answer = Box::new(answer);
        self
    }

    fn escalating(mut self, text: &'static str) -> Self {
        self.setup.escalation = Some("claude".into());
        self.escalate = Box::new(move |_| match text {
            "" => Err("over budget".into()),
            text => Ok(Escalated { text: text.into(), provider: "claude".into() }),
        });
        self
    }

    /// Plays the turn to its end.
    fn play(mut self) -> Played {
        let mut turn = Turn::new(self.setup.clone());
        let mut asks = Vec::new();
        let mut ran = Vec::new();
        let mut shown = Vec::new();
        let mut intentions = Vec::new();
        let mut records = Vec::new();
        let mut events = Vec::new();
        let mut steps = Vec::new();
        for _ in 0..500 {
            records.extend(turn.drain_records());
            events.extend(turn.drain_events());
            match turn.next() {
                Step::Generate(ask) => {
                    steps.push("generate");
                    match (self.say)(&ask) {
                        Ok(generation) => turn.generated(&generation),
                        Err(error) => turn.generation_failed(error, ""),
                    }
                    asks.push(*ask);
                }
                Step::Intend(intention) => {
                    steps.push("intend");
                    let fails = self.failing_intention == Some(intention.call);
                    let error = || RecordError { what: "intentions.jsonl".into(), reason: "no space".into() };
                    turn.intended(if fails { Err(error()) } else { Ok(()) });
                    intentions.push(intention);
                }
                Step::Inspect(call) => {
                    steps.push("inspect");
                    turn.inspected((self.inspect)(&call));
                }
                Step::Confirm(confirmation) => {
                    steps.push("confirm");
                    turn.confirmed((self.answer)(&confirmation), 5.0);
                    shown.push(confirmation);
                }
                Step::Execute(call) => {
                    steps.push("execute");
                    turn.executed((self.run)(&call), 3.0);
                    ran.push(call);
                }
                Step::Escalate(request) => {
                    steps.push("escalate");
                    turn.escalated((self.escalate)(&request));
                }
                Step::Finish(outcome) => {
                    return Played { outcome: *outcome, asks, ran, shown, intentions, records, events, steps };
                }
            }
        }
        panic!("the turn does not end");
    }
}

impl Played {
    fn outcomes(&self) -> Vec<CallOutcome> {
        self.outcome.ledger.iter().map(|entry| entry.outcome).collect()
    }

    fn tiers(&self) -> Vec<Tier> {
        self.outcome.ledger.iter().map(|entry| entry.tier).collect()
    }

    fn retries(&self) -> Vec<tenpass_trace::RetryReason> {
        let retry = |event: &TraceEvent| match event {
            TraceEvent::Retry { reason } => Some(*reason),
            _ => None,
        };
        self.records.iter().filter_map(retry).collect()
    }

    /// Requests of the loop, compressions left out.
    fn rounds(&self) -> usize {
        self.asks.iter().filter(|ask| ask.purpose.is_shown()).count()
    }

    /// The last message of the nth request.
    fn last_message(&self, ask: usize) -> &str {
        &self.asks[ask].request.messages.last().unwrap().content
    }

    /// Every tool message follows an assistant message with calls, and each call has its result.
    fn assert_no_orphans(&self) {
        let requests = self.asks.iter().map(|ask| &ask.request.messages);
        for messages in requests.chain([&self.outcome.messages]) {
            let mut open = 0;
            for message in messages {
                match message.role {
                    tenpass_trace::Role::Assistant => {
                        assert_eq!(open, 0, "a call without its result");
                        open = message.tool_calls.len();
                    }
                    tenpass_trace::Role::Tool => {
                        assert!(open > 0, "a result without its call");
                        open -= 1;
                    }
                    _ => assert_eq!(open, 0, "a call without its result"),
                }
            }
            assert_eq!(open, 0);
        }
    }
}
