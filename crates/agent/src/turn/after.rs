//! After the loop, in this order (K11): the last result, an escalation, a fixed honest sentence.
//! The memory of repeats outlives the loop, so that neither a retry nor a relaunch acts twice.

use tenpass_model::{ChatRequest, ModelError};
use tenpass_trace::{CallOutcome, FailureClass, RetryReason, TraceEvent, TurnEnd};

use super::guard;
use super::machine::{Due, Ended, Success, Turn};
use super::wording;
use super::{Escalated, Purpose};
use crate::interaction::RecordError;
use crate::untrusted;

/// Author of the sentences in `wording`.
const APPLICATION: &str = "application";
/// Results that are put back into the request of the retry, and characters of each.
const RESULTS_AGAIN: usize = 6;
const RESULT_AGAIN_CHARS: usize = 2_000;

impl Turn {
    /// The loop ended without an answer.
    pub(super) fn after_loop(&mut self, ended: Ended) {
        self.ended = ended;
        if self.last_success.is_some() {
            if self.retry_is_due(RetryReason::EmptyFinal) {
                self.ask_for_final_text();
            } else {
                self.show_last_result();
            }
        } else if self.may_escalate() {
            self.due = Due::Escalate;
        } else {
            self.say_that_nothing_came();
        }
    }

    /// One more request, without tools, with the results in it (K11a).
    fn ask_for_final_text(&mut self) {
        let done: Vec<_> = self.ledger.iter().filter(|entry| entry.outcome == CallOutcome::Ok).collect();
        let recent = &done[done.len().saturating_sub(RESULTS_AGAIN)..];
        let blocks: Vec<String> = recent
            .iter()
            .map(|entry| {
                let result = guard::first_chars(&entry.result, RESULT_AGAIN_CHARS);
                // Delimited whatever it came from: this is a user message.
                format!("{}:\n{}", entry.tool, untrusted::delimit(&entry.tool, &result))
            })
            .collect();
        let results = wording::answer_from_results(&wording::block("result", &blocks.join("\n")));
        let messages = self.conversation.with_results(&results);
        self.ask(ChatRequest { messages, ..self.bare_request() }, Purpose::FinalText);
    }

    /// The last result of a tool, as it is (K11a). What came from outside is kept delimited, so that
    /// it never becomes the assistant's own words in a later turn.
    pub(super) fn show_last_result(&mut self) {
        let Some(Success { tool, text, source }) = self.last_success.clone() else {
            return self.say_that_nothing_came();
        };
        let kept = source.as_ref().map_or_else(|| text.clone(), |source| untrusted::delimit(source, &text));
        let shown = if source.is_some() { untrusted::sanitise(&text) } else { text };
        let end = match self.ended {
            Ended::RoundCap => TurnEnd::RoundCap,
            Ended::RepeatAbort => TurnEnd::RepeatAbort,
            Ended::Empty | Ended::TimedOut | Ended::Failed => TurnEnd::LastResult,
        };
        self.close(end, &shown, &kept, &format!("tool:{tool}"));
    }

    /// Whether a provider may answer instead (K11b): never when no tool succeeded and a call was
    /// rejected or refused. A rejected call is ours to mend, a refusal is the person's decision.
    fn may_escalate(&self) -> bool {
        let was_denied = self.unreadable_call || self.has(CallOutcome::Rejected) || self.has(CallOutcome::Refused);
        self.setup.escalation.is_some() && (self.last_success.is_some() || !was_denied)
    }

    fn say_that_nothing_came(&mut self) {
        let language = self.setup.language;
        let (end, sentence) = match self.ended {
            Ended::RepeatAbort => (TurnEnd::RepeatAbort, wording::went_in_circles(language)),
            Ended::RoundCap => (TurnEnd::RoundCap, wording::out_of_rounds(language)),
            Ended::TimedOut => (TurnEnd::TimedOut, wording::out_of_time(language)),
            Ended::Failed | Ended::Empty if self.unreadable_call || self.has(CallOutcome::Rejected) => {
                (TurnEnd::FixedSentence, wording::call_rejected(language))
            }
            Ended::Failed | Ended::Empty if self.has(CallOutcome::Refused) => {
                (TurnEnd::FixedSentence, wording::call_refused(language))
            }
            Ended::Failed | Ended::Empty => (TurnEnd::FixedSentence, wording::produced_nothing(language)),
        };
        let end = if self.ended == Ended::Failed { TurnEnd::Failed } else { end };
        let text = match (&self.fault, self.ended) {
            (Some(error), Ended::Failed) => wording::model_failed(language, error),
            _ => sentence.to_owned(),
        };
        let text = format!("{text}{}", self.what_was_done());
        self.finish(end, &text, APPLICATION);
    }

    /// What the person has to know about a turn that broke off.
    fn what_was_done(&self) -> String {
        let language = self.setup.language;
        let mut done: Vec<&str> = Vec::new();
        for entry in self.ledger.iter().filter(|entry| entry.outcome == CallOutcome::Ok) {
            if !done.contains(&entry.tool.as_str()) {
                done.push(&entry.tool);
            }
        }
        let ran = |outcome| matches!(outcome, CallOutcome::Ok | CallOutcome::Error | CallOutcome::Interrupted);
        if self.ledger.iter().any(|entry| ran(entry.outcome)) {
            wording::done_before(language, &done)
        } else {
            wording::nothing_done(language).to_owned()
        }
    }

    /// The provider of [`super::Step::Escalate`] answered, or did not.
    pub fn escalated(&mut self, answer: Result<Escalated, String>) {
        if !matches!(self.due, Due::Escalate) {
            return;
        }
        let named = self.setup.escalation.take().unwrap_or_default();
        match answer {
            Ok(Escalated { text, provider }) if !text.trim().is_empty() => {
                self.records.push(TraceEvent::Escalation { provider: provider.clone(), answered: true });
                self.finish(TurnEnd::Escalated, &text, &provider);
            }
            Ok(_) | Err(_) => {
                self.records.push(TraceEvent::Escalation { provider: named, answered: false });
                self.say_that_nothing_came();
            }
        }
    }

    /// The person stopped the turn. `partial` is the text that was shown until then: it is kept,
    /// and nothing is retried or escalated (K6).
    pub fn stopped(&mut self, partial: &str) {
        if self.is_finished() {
            return;
        }
        self.interrupt("stop");
        let author = self.setup.info.spec.clone();
        self.finish(TurnEnd::Stopped, partial, &author);
    }

    /// The turn's time ran out (K4). With text that was shown the turn ends there; without any, a
    /// provider may be asked (K11b).
    pub fn timed_out(&mut self, partial: &str) {
        if self.is_finished() {
            return;
        }
        let was_escalating = matches!(self.due, Due::Escalate);
        self.interrupt("timeout");
        self.ended = Ended::TimedOut;
        if !partial.trim().is_empty() {
            let author = self.setup.info.spec.clone();
            self.finish(TurnEnd::TimedOut, partial, &author);
        } else if !was_escalating && self.may_escalate() {
            self.due = Due::Escalate;
        } else {
            self.say_that_nothing_came();
        }
    }

    fn interrupt(&mut self, by: &str) {
        self.interrupt_calls();
        if by == "timeout" {
            let message = format!("the turn had {} s", self.setup.limits.time(self.setup.think).as_secs());
            self.records.push(TraceEvent::Fault { message, class: FailureClass::Timeout });
        }
        self.records.push(TraceEvent::Cancellation { by: by.to_owned() });
    }

    /// The backend failed. A prompt that does not fit is the person's to know (K8): it is never
    /// papered over by a provider.
    pub(super) fn failed(&mut self, error: ModelError, partial: &str) {
        self.record_fault(&error);
        let is_overflow = matches!(error, ModelError::Overflow { .. });
        self.fault = Some(error);
        self.ended = Ended::Failed;
        if !partial.trim().is_empty() {
            let author = self.setup.info.spec.clone();
            self.finish(TurnEnd::Failed, partial, &author);
        } else if !is_overflow && self.may_escalate() {
            self.due = Due::Escalate;
        } else {
            self.say_that_nothing_came();
        }
    }

    /// The trace cannot be written: nothing further happens in this turn.
    pub fn unrecordable(&mut self, _error: &RecordError) {
        if self.is_finished() {
            return;
        }
        self.interrupt_calls();
        let text = format!("{}{}", wording::not_recordable(self.setup.language), self.what_was_done());
        self.finish(TurnEnd::Failed, &text, APPLICATION);
    }
}
