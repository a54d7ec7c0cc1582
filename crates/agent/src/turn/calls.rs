//! One call after the other, through everything that stands before the world: record, repeats,
//! validation, policy, inspection, confirmation.

use tenpass_trace::{CallOutcome, ConfirmationAnswer, Tier, ToolCall, ToolDefinition, TraceEvent};

use super::LedgerEntry;
use super::guard;
use super::machine::{Due, Ended, Success, Turn};
use super::repeats::{Repeat, signature};
use super::wording;
use crate::arguments::{Fault, Validator, apply_aliases};
use crate::interaction::{AgentEvent, RecordError};
use crate::policy::{Decision, confirmation};
use crate::tool::{Inspection, SideEffect, ToolOutput};
use crate::untrusted;

/// Characters of a result in the events that a display gets.
const SUMMARY_CHARS: usize = 200;

/// A call between the model and the world.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    /// Its number in the turn, from 1.
    pub(super) number: u32,
    /// As the model made it.
    pub(super) emitted: ToolCall,
    /// With its arguments under their right names.
    pub(super) call: ToolCall,
    signature: String,
    tier: Tier,
    /// The digest of what a person approved.
    approved: Option<String>,
    /// Why it cannot run whatever it is.
    void: Option<String>,
    is_announced: bool,
}

/// How a call ended.
struct Settled<'a> {
    outcome: CallOutcome,
    /// The result in plain words, masked.
    plain: &'a str,
    /// The result as the model gets it; differs from `plain` by delimiters only.
    given: &'a str,
    reason: Option<String>,
    ms: f64,
    untrusted: bool,
}

impl<'a> Settled<'a> {
    /// A call that did not run.
    fn unrun(outcome: CallOutcome, text: &'a str, reason: Option<String>) -> Self {
        Self { outcome, plain: text, given: text, reason, ms: 0.0, untrusted: false }
    }
}

impl Turn {
    /// Takes the calls of an answer in: every one is put on disk before the first is looked at
    /// (K51). `fate` is why none of them may run.
    pub(super) fn begin_calls(&mut self, text: &str, thinking: &str, calls: Vec<ToolCall>, fate: Option<&str>) {
        self.conversation.calls(text, thinking, &calls);
        for (index, call) in calls.into_iter().enumerate() {
            self.calls_made += 1;
            let is_over = index >= self.setup.limits.calls_per_round;
            let void = fate.or(is_over.then_some(wording::TOO_MANY_CALLS)).map(str::to_owned);
            self.queue.push_back(Pending {
                number: self.calls_made,
                emitted: call.clone(),
                signature: String::new(),
                tier: self.base_tier(&call.name),
                call,
                approved: None,
                void,
                is_announced: false,
            });
        }
        self.due = Due::Intend(0);
    }

    /// The intention of [`super::Step::Intend`] is on disk, or could not be put there: then its call
    /// does not run.
    pub fn intended(&mut self, written: Result<(), RecordError>) {
        let Due::Intend(index) = self.due else { return };
        if let (Err(error), Some(pending)) = (written, self.queue.get_mut(index)) {
            pending.void = Some(wording::not_recorded(&error.to_string()));
        }
        if index + 1 < self.queue.len() {
            self.due = Due::Intend(index + 1);
        } else {
            self.next_call();
        }
    }

    /// Settles calls until one needs a look at the world.
    fn next_call(&mut self) {
        while let Some(pending) = self.queue.pop_front() {
            if self.is_going_in_circles() {
                self.settle(pending, Settled::unrun(CallOutcome::Blocked, wording::BLOCKED_BEFORE_IT, None));
            } else if let Some(pending) = self.judge(pending) {
                self.due = Due::Inspect(Box::new(pending));
                return;
            }
        }
        self.end_of_round();
    }

    fn is_going_in_circles(&self) -> bool {
        self.repeats.blocks_in_row() >= self.setup.limits.blocks_in_row
    }

    /// The caps are looked at after the round's calls ran (K5).
    fn end_of_round(&mut self) {
        if self.is_going_in_circles() {
            self.after_loop(Ended::RepeatAbort);
        } else if self.budget.is_spent() {
            self.after_loop(Ended::RoundCap);
        } else if !self.compress_if_due() {
            self.ask_loop();
        }
    }

    /// Everything that needs neither the world nor a person. Gives the call back when it stands.
    fn judge(&mut self, mut pending: Pending) -> Option<Pending> {
        let tool = self.setup.offered.iter().find(|tool| tool.name == pending.call.name).cloned();
        if let Some(tool) = &tool {
            apply_aliases(tool, &mut pending.call.arguments);
        }
        pending.signature = signature(&pending.call.name, &pending.call.arguments);
        let rejection = match (&pending.void, self.repeats.judge(&pending.signature, self.setup.limits.same_call)) {
            (Some(why), _) => why.clone(),
            (None, Repeat::Blocked(message)) => {
                self.settle(pending, Settled::unrun(CallOutcome::Blocked, &message, None));
                return None;
            }
            (None, Repeat::Answered(result)) => {
                self.settle(pending, Settled::unrun(CallOutcome::Repeated, &result, None));
                return None;
            }
            (None, Repeat::Fresh) => match tool {
                None => self.no_such_tool(&pending.call.name),
                Some(tool) => match self.faults(&tool, &pending.call) {
                    Some(faults) => wording::invalid_arguments(&tool, &faults),
                    None => match self.setup.policy.refusal(&tool.name, self.tainted) {
                        Some(refusal) => {
                            self.records.push(memory_record(0, None, Some(refusal.to_owned())));
                            refusal.to_owned()
                        }
                        None => return Some(pending),
                    },
                },
            },
        };
        self.reject(pending, &rejection);
        None
    }

    fn no_such_tool(&self, name: &str) -> String {
        if self.setup.all_tools.iter().any(|tool| tool.name == name) {
            wording::not_offered(name, &self.setup.offered)
        } else {
            wording::unknown_tool(name, &self.setup.offered)
        }
    }

    /// What is wrong with the arguments (K45); `None` when nothing is.
    fn faults(&mut self, tool: &ToolDefinition, call: &ToolCall) -> Option<Vec<Fault>> {
        if !self.validators.contains_key(&tool.name) {
            match Validator::new(tool) {
                Ok(validator) => {
                    self.validators.insert(tool.name.clone(), validator);
                }
                Err(error) => return Some(vec![Fault::InvalidSchema { reason: error.reason }]),
            }
        }
        let faults = self.validators.get(&tool.name)?.validate(&call.arguments);
        (!faults.is_empty()).then_some(faults)
    }

    fn base_tier(&self, tool: &str) -> Tier {
        self.tier(tool, &Inspection::default())
    }

    fn tier(&self, tool: &str, inspection: &Inspection) -> Tier {
        self.setup.policy.tier(tool, self.setup.user_tiers.get(tool).copied(), inspection)
    }

    /// The tool has looked at the call of [`super::Step::Inspect`]. After an approval it looks once
    /// more: what was shown must still be what would happen. So a preview must not change by itself,
    /// as an age in seconds would.
    pub fn inspected(&mut self, mut inspection: Inspection) {
        let Due::Inspect(pending) = &self.due else { return };
        let mut pending = (**pending).clone();
        self.sources.inspect(&pending.call, self.tainted, &mut inspection);
        if let Some(reason) = &inspection.reject {
            let text = format!("Nothing ran: {}", guard::mask(reason));
            return self.reject_and_go_on(pending, &text);
        }
        let tier = self.tier(&pending.call.name, &inspection);
        let limits = self.setup.limits;
        let question = confirmation(pending.number, &pending.call, tier, &inspection, limits.confirm_timeout);
        if let Some(approved) = &pending.approved {
            if *approved != question.digest || tier > pending.tier {
                return self.reject_and_go_on(pending, wording::CHANGED_SINCE_SHOWN);
            }
            self.due = Due::Execute(Box::new(pending));
            return;
        }
        pending.tier = tier;
        self.announce(&mut pending);
        let decision = self.setup.policy.decide(&pending.call.name, tier, &inspection, self.tainted);
        self.due = match decision {
            Decision::Run => Due::Execute(Box::new(pending)),
            Decision::Ask => Due::Confirm(Box::new(pending), Box::new(question)),
        };
    }

    /// The person answered the confirmation of [`super::Step::Confirm`], or nobody did. `Stopped`
    /// ends the turn.
    pub fn confirmed(&mut self, answer: ConfirmationAnswer, ms: f64) {
        let Due::Confirm(pending, question) = &self.due else { return };
        let (mut pending, digest) = ((**pending).clone(), question.digest.clone());
        self.confirmations.push(answer);
        self.records.push(TraceEvent::Confirmation {
            call: pending.number,
            tool: pending.call.name.clone(),
            tier: pending.tier,
            answer,
            ms,
        });
        match answer {
            ConfirmationAnswer::Approved => {
                pending.approved = Some(digest);
                self.due = Due::Inspect(Box::new(pending));
            }
            ConfirmationAnswer::Refused | ConfirmationAnswer::Expired => {
                let is_late = answer == ConfirmationAnswer::Expired;
                let text = wording::refused(is_late);
                let reason = is_late.then(|| "no answer in time".to_owned());
                self.settle(pending, Settled::unrun(CallOutcome::Refused, &text, reason));
                self.next_call();
            }
            ConfirmationAnswer::Stopped => {
                self.due = Due::Inspect(Box::new(pending));
                self.stopped("");
            }
        }
    }

    /// The call of [`super::Step::Execute`] returned.
    pub fn executed(&mut self, output: ToolOutput, ms: f64) {
        let Due::Execute(pending) = &self.due else { return };
        let pending = (**pending).clone();
        let outcome = if output.ok { CallOutcome::Ok } else { CallOutcome::Error };
        let masked = guard::capped(guard::mask(&output.text), self.setup.limits.result_chars);
        let plain = match (output.ok, masked.trim().is_empty()) {
            (true, true) => "Done.".to_owned(),
            (true, false) => masked,
            (false, _) => wording::failed(&masked),
        };
        let source = output.untrusted.as_deref().map(guard::mask);
        let given = source.as_ref().map_or_else(|| plain.clone(), |source| self.outside_text(source, &plain));
        self.tainted |= source.is_some();
        self.sources.observe_result(&pending.call.name, &plain);
        self.since_compression += 1;
        self.take_effects(output.effects, outcome);
        if output.ok {
            let tool = pending.call.name.clone();
            self.last_success = Some(Success { tool, text: plain.clone(), source: source.clone() });
        }
        self.settle(
            pending,
            Settled {
                outcome,
                plain: &plain,
                given: &given,
                reason: (!output.ok).then(|| guard::first_chars(&plain, SUMMARY_CHARS)),
                ms,
                untrusted: source.is_some(),
            },
        );
        self.next_call();
    }

    /// Text from outside, delimited; names of tools that stand in it like a call are defused, so that
    /// a model that repeats it calls nothing.
    fn outside_text(&self, source: &str, text: &str) -> String {
        let names = self.setup.offered.iter().map(|tool| tool.name.as_str());
        untrusted::delimit(source, &untrusted::defuse_calls(&untrusted::sanitise(text), names))
    }

    fn take_effects(&mut self, effects: Vec<SideEffect>, outcome: CallOutcome) {
        for effect in effects {
            match effect {
                SideEffect::MemoryWritten { section, text } => {
                    let text = guard::mask(&text);
                    self.records.push(memory_record(1, Some(section.clone()), None));
                    self.events.push(AgentEvent::MemoryWritten { section, text });
                }
                SideEffect::MemoryForgotten { text } => {
                    self.records.push(memory_record(0, None, None));
                    self.events.push(AgentEvent::Note(format!("forgotten: {}", guard::mask(&text))));
                }
                SideEffect::Delegated { provider, characters, cost_usd, deduplicated } => {
                    self.records.push(TraceEvent::Delegation { provider, characters, cost_usd, deduplicated, outcome });
                }
            }
        }
    }

    fn reject(&mut self, pending: Pending, why: &str) {
        self.settle(pending, Settled::unrun(CallOutcome::Rejected, why, Some(guard::first_chars(why, 400))));
    }

    fn reject_and_go_on(&mut self, pending: Pending, why: &str) {
        self.reject(pending, why);
        self.next_call();
    }

    /// Interrupts every call that was not settled: each has its result, so that none is orphaned.
    pub(super) fn interrupt_calls(&mut self) {
        let open = match &self.due {
            Due::Inspect(pending) | Due::Confirm(pending, _) | Due::Execute(pending) => Some((**pending).clone()),
            _ => None,
        };
        for pending in open.into_iter().chain(std::mem::take(&mut self.queue)) {
            self.settle(pending, Settled::unrun(CallOutcome::Interrupted, wording::INTERRUPTED, None));
        }
    }

    fn announce(&mut self, pending: &mut Pending) {
        if !std::mem::replace(&mut pending.is_announced, true) {
            self.events.push(AgentEvent::CallStarted {
                call: pending.number,
                tool: pending.call.name.clone(),
                tier: pending.tier,
                arguments: guard::masked_arguments(&pending.call.arguments),
            });
        }
    }

    /// The one place where a call ends: ledger, journal, display, memory of repeats, conversation.
    fn settle(&mut self, mut pending: Pending, settled: Settled<'_>) {
        self.announce(&mut pending);
        let Pending { number, call, emitted, tier, .. } = &pending;
        let arguments = guard::masked_arguments(&call.arguments);
        let raw = if settled.outcome == CallOutcome::Rejected { &emitted.arguments } else { &call.arguments };
        self.records.push(TraceEvent::Call {
            call: *number,
            tool: call.name.clone(),
            tier: *tier,
            outcome: settled.outcome,
            arguments: serde_json::Value::Object(guard::masked_arguments(raw)),
            reason: settled.reason,
            result: guard::first_chars(settled.plain, self.setup.limits.trace_result_chars),
            ms: settled.ms,
            untrusted: settled.untrusted,
        });
        self.events.push(AgentEvent::CallEnded {
            call: *number,
            tool: call.name.clone(),
            outcome: settled.outcome,
            summary: guard::first_chars(settled.plain, SUMMARY_CHARS),
        });
        let reads = self.setup.all_tools.iter().any(|tool| tool.name == call.name && tool.reads);
        if !pending.signature.is_empty() {
            self.repeats.note(&pending.signature, settled.outcome, settled.given, reads);
        }
        self.conversation.result(emitted, settled.given);
        self.ledger.push(LedgerEntry {
            call: *number,
            tool: call.name.clone(),
            arguments,
            outcome: settled.outcome,
            tier: *tier,
            confirmed: pending.approved.is_some(),
            result: settled.plain.to_owned(),
        });
    }
}

/// The policy's only refusals are those of memory writes.
fn memory_record(written: usize, section: Option<String>, refused: Option<String>) -> TraceEvent {
    TraceEvent::Memory { trigger: "tool".to_owned(), section, written, refused }
}
