//! The state of a turn, its first step, and its last.

use std::collections::{HashMap, VecDeque};

use tenpass_model::{Capabilities, ChatRequest, ModelError, Weight};
use tenpass_trace::{CallOutcome, ConfirmationAnswer, Intention, ToolCall, ToolDefinition, TraceEvent, TurnEnd};

use super::budget::Budget;
use super::calls::Pending;
use super::conversation::{Conversation, Middle};
use super::guard;
use super::repeats::Repeats;
use super::{Ask, EscalationRequest, LedgerEntry, Purpose, Step, TurnOutcome, TurnSetup};
use crate::arguments::Validator;
use crate::interaction::{AgentEvent, Confirmation};
use crate::policy::{Sources, call_digest};
use crate::structure;
use crate::untrusted;

/// One turn: a state machine without I/O.
///
/// [`Turn::next`] says what has to happen; exactly one method answers it, and the next step is due.
/// An answer that was not asked for is ignored. [`Turn::stopped`] and [`Turn::timed_out`] may come
/// at any time. [`Turn::drain_records`] and [`Turn::drain_events`] give what has to be recorded and
/// shown before the next step is taken.
#[derive(Debug)]
pub struct Turn {
    pub(super) setup: TurnSetup,
    pub(super) conversation: Conversation,
    pub(super) budget: Budget,
    pub(super) repeats: Repeats,
    pub(super) sources: Sources,
    pub(super) due: Due,
    /// Calls of the last answer that were not settled yet.
    pub(super) queue: VecDeque<Pending>,
    pub(super) calls_made: u32,
    pub(super) ledger: Vec<LedgerEntry>,
    pub(super) confirmations: Vec<ConfirmationAnswer>,
    pub(super) validators: HashMap<String, Validator>,
    /// Calls that ran since the last compression.
    pub(super) since_compression: u32,
    pub(super) middle: Option<Middle>,
    pub(super) tainted: bool,
    pub(super) last_success: Option<Success>,
    /// A call stood in the text and could not be read.
    pub(super) unreadable_call: bool,
    /// Why the loop ended, while the retry without tools or an escalation runs.
    pub(super) ended: Ended,
    pub(super) thinking: String,
    pub(super) fault: Option<ModelError>,
    pub(super) records: Vec<TraceEvent>,
    pub(super) events: Vec<AgentEvent>,
}

/// What is waited for.
#[derive(Debug, Clone)]
pub(super) enum Due {
    Ask(Box<Ask>),
    /// The intention of this call of the queue.
    Intend(usize),
    Inspect(Box<Pending>),
    Confirm(Box<Pending>, Box<Confirmation>),
    Execute(Box<Pending>),
    Escalate,
    Finish(Box<TurnOutcome>),
}

/// Why the loop ended without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Empty,
    RoundCap,
    RepeatAbort,
    TimedOut,
    Failed,
}

/// The last result that may be shown as it is (K11a).
#[derive(Debug, Clone)]
pub(super) struct Success {
    pub(super) tool: String,
    /// Masked, without delimiters.
    pub(super) text: String,
    /// Where it came from, when from outside.
    pub(super) source: Option<String>,
}

/// What is remembered of a request when its answer comes.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) offered: Vec<ToolDefinition>,
    pub(super) declared_shape: Option<String>,
    pub(super) purpose: Purpose,
    pub(super) messages: usize,
    pub(super) weight: Weight,
}

impl Asked {
    fn of(ask: &Ask, capabilities: &Capabilities) -> Self {
        Self {
            offered: ask.offered.clone(),
            declared_shape: ask.declared_shape.clone(),
            purpose: ask.purpose,
            messages: ask.request.messages.len(),
            weight: Weight::of(&ask.request, capabilities),
        }
    }
}

impl Turn {
    /// A turn before its first request.
    pub fn new(mut setup: TurnSetup) -> Self {
        let limit = setup.limits.message_chars;
        let mut messages = std::mem::take(&mut setup.messages);
        for message in &mut messages {
            message.content = guard::capped(std::mem::take(&mut message.content), limit);
        }
        if let Some(held) = setup.info.context {
            // Asking for more than the model holds is an error with some backends.
            setup.options.context = setup.options.context.map(|asked| asked.min(held));
        }
        let conversation = Conversation::new(messages, &setup.user_text);
        let mut sources = Sources::default();
        sources.observe_messages(conversation.shown());
        sources.observe(&setup.user_text);
        let mut turn = Self {
            conversation,
            budget: Budget::new(setup.limits),
            repeats: Repeats::default(),
            sources,
            due: Due::Intend(0),
            queue: VecDeque::new(),
            calls_made: 0,
            ledger: Vec::new(),
            confirmations: Vec::new(),
            validators: HashMap::new(),
            since_compression: 0,
            middle: None,
            tainted: setup.tainted,
            last_success: None,
            unreadable_call: false,
            ended: Ended::Empty,
            thinking: String::new(),
            fault: None,
            records: Vec::new(),
            events: Vec::new(),
            setup,
        };
        turn.record_start();
        turn.ask_loop();
        turn
    }

    /// What has to happen next.
    pub fn next(&self) -> Step {
        match &self.due {
            Due::Ask(ask) => Step::Generate(ask.clone()),
            Due::Intend(index) => Step::Intend(self.intention(*index)),
            Due::Inspect(pending) => Step::Inspect(pending.call.clone()),
            Due::Confirm(_, confirmation) => Step::Confirm((**confirmation).clone()),
            Due::Execute(pending) => Step::Execute(pending.call.clone()),
            Due::Escalate => Step::Escalate(self.escalation_request()),
            Due::Finish(outcome) => Step::Finish(outcome.clone()),
        }
    }

    /// Records that were made since the last time, in order.
    pub fn drain_records(&mut self) -> Vec<TraceEvent> {
        std::mem::take(&mut self.records)
    }

    /// Events that were made since the last time, in order.
    pub fn drain_events(&mut self) -> Vec<AgentEvent> {
        std::mem::take(&mut self.events)
    }

    /// Something from outside was read in this turn.
    pub fn is_tainted(&self) -> bool {
        self.tainted
    }

    /// True when the last step is due.
    pub fn is_finished(&self) -> bool {
        matches!(self.due, Due::Finish(_))
    }

    fn record_start(&mut self) {
        let setup = &self.setup;
        self.records.push(TraceEvent::Request {
            text: guard::mask(&setup.user_text),
            model: setup.info.spec.clone(),
            profile: setup.policy.profile.as_str().to_owned(),
            think: setup.think.map(|level| level.as_str().to_owned()),
        });
        let mut excluded: Vec<String> = setup
            .all_tools
            .iter()
            .filter(|tool| !setup.offered.iter().any(|offered| offered.category == tool.category))
            .filter_map(|tool| serde_json::to_value(tool.category).ok()?.as_str().map(str::to_owned))
            .collect();
        excluded.sort_unstable();
        excluded.dedup();
        self.records.push(TraceEvent::Route {
            selection: setup.selection.as_str().to_owned(),
            structure: setup.structure.as_str().to_owned(),
            offered: setup.offered.iter().map(|tool| tool.name.clone()).collect(),
            excluded,
        });
    }

    /// The next round of the loop.
    pub(super) fn ask_loop(&mut self) {
        let messages = self.conversation.shown().to_vec();
        let tools = self.setup.offered.clone();
        self.ask(ChatRequest { messages, tools, ..self.bare_request() }, Purpose::Loop);
    }

    /// Makes a request of the loop due, with its tools where the strategy wants them (K7: the one
    /// builder of requests is behind it).
    pub(super) fn ask(&mut self, request: ChatRequest, purpose: Purpose) {
        self.budget.spend();
        let offered = request.tools.clone();
        let prepared = structure::prepare(self.setup.structure, &self.setup.info, request);
        self.due = Due::Ask(Box::new(Ask {
            request: prepared.request,
            offered,
            declared_shape: prepared.declared_shape,
            purpose,
        }));
    }

    /// Sampling and thinking of the loop, nothing else.
    pub(super) fn bare_request(&self) -> ChatRequest {
        ChatRequest { think: self.setup.think, options: self.setup.options.clone(), ..ChatRequest::default() }
    }

    pub(super) fn asked(&self) -> Option<Asked> {
        match &self.due {
            Due::Ask(ask) => Some(Asked::of(ask, &self.setup.info.capabilities)),
            _ => None,
        }
    }

    fn intention(&self, index: usize) -> Intention {
        let (call, number) = self.queue.get(index).map_or_else(
            || (ToolCall { id: None, name: String::new(), arguments: serde_json::Map::new() }, 0),
            |pending| (pending.emitted.clone(), pending.number),
        );
        Intention {
            thread: self.setup.thread.clone(),
            turn: self.setup.turn.clone(),
            call: number,
            digest: call_digest(&call.name, &call.arguments),
            arguments: guard::masked_arguments(&call.arguments),
            tool: call.name,
        }
    }

    fn escalation_request(&self) -> EscalationRequest {
        EscalationRequest {
            provider: self.setup.escalation.clone().unwrap_or_default(),
            messages: self.conversation.shown().iter().map(guard::masked_message).collect(),
            user_text: guard::mask(&self.setup.user_text),
        }
    }

    /// True when a call ended this way.
    pub(super) fn has(&self, outcome: CallOutcome) -> bool {
        self.ledger.iter().any(|entry| entry.outcome == outcome)
    }

    /// Ends the turn with a text of the model or a provider.
    pub(super) fn finish(&mut self, end: TurnEnd, text: &str, author: &str) {
        let (text, _) = untrusted::strip_markers(text);
        let text = guard::capped(guard::mask(text.trim()), self.setup.limits.message_chars);
        self.close(end, &text, &text, author);
    }

    /// Ends the turn: `shown` is for the person, `kept` for the history.
    pub(super) fn close(&mut self, end: TurnEnd, shown: &str, kept: &str, author: &str) {
        let thinking = guard::mask(&std::mem::take(&mut self.thinking));
        if !kept.trim().is_empty() {
            self.conversation.answer(kept, &thinking);
        }
        self.events.push(AgentEvent::Finished { end, text: shown.to_owned() });
        self.due = Due::Finish(Box::new(TurnOutcome {
            end,
            text: shown.to_owned(),
            author: author.to_owned(),
            thinking,
            messages: self.conversation.take_kept(),
            ledger: std::mem::take(&mut self.ledger),
            confirmations: std::mem::take(&mut self.confirmations),
            rounds: self.budget.rounds(),
            tainted: self.tainted,
            fault: self.fault.take(),
        }));
    }
}
