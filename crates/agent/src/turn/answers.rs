//! An answer of the model: calls, a final text, or a reason to ask again (K1, K8, K13 to K15).

use tenpass_model::calls::{self, MarkerFilter, ParseInput, Parsed};
use tenpass_model::{FinishReason, ModelError};
use tenpass_trace::{CallOutcome, FailureClass, RetryReason, ToolCall, TraceEvent, TurnEnd};

use super::guard;
use super::machine::{Asked, Ended, Turn};
use super::wording;
use super::{Generation, Purpose};
use crate::interaction::AgentEvent;
use crate::narration;
use crate::run::AnswerDecoder;
use crate::structure::ANSWER;
use crate::untrusted;

/// The text of a constrained answer (`{"name":"answer",…}`) as far as it came; `None` for anything else.
fn partial_answer(raw: &str) -> Option<String> {
    let raw = raw.trim_start();
    let mut decoder = AnswerDecoder::default();
    let text = if raw.starts_with('{') { decoder.push(raw) } else { String::new() };
    (!text.trim().is_empty()).then_some(text)
}

/// True for a text that is nothing but (half) a call.
fn is_bare_call(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('{') || text.starts_with("<tool_call") || text.starts_with("```json")
}

/// Characters of a draft that the model is shown again.
const DRAFT_CHARS: usize = 2_000;

impl Turn {
    /// The model answered the request of [`super::Step::Generate`].
    pub fn generated(&mut self, generation: &Generation) {
        let Some(asked) = self.asked() else { return };
        match asked.purpose {
            Purpose::Loop | Purpose::FinalText => {
                let parsed = parse(&asked, generation);
                self.record_round(&asked, generation, &parsed);
                if let Some(overflow) = overflow(&asked, generation) {
                    self.failed(overflow, "");
                } else if asked.purpose == Purpose::Loop {
                    self.round(&asked, generation, parsed);
                } else {
                    self.final_text(generation, &parsed.text);
                }
            }
            Purpose::Compress | Purpose::CompressPlain => self.summarised(asked.purpose, generation),
        }
    }

    /// The model did not answer. `partial` is the text that was shown until then.
    pub fn generation_failed(&mut self, error: ModelError, partial: &str) {
        let Some(asked) = self.asked() else { return };
        match asked.purpose {
            Purpose::Loop => self.failed(error, partial),
            Purpose::FinalText => {
                self.record_fault(&error);
                self.show_last_result();
            }
            Purpose::Compress | Purpose::CompressPlain => {
                self.record_fault(&error);
                self.not_summarised();
            }
        }
    }

    fn round(&mut self, asked: &Asked, generation: &Generation, parsed: Parsed) {
        let (text, is_fabricated) = untrusted::strip_markers(&parsed.text);
        if !parsed.calls.is_empty() {
            // A result made up beside a call may be why the call was made.
            let is_void = is_fabricated && self.retry_is_due(RetryReason::FabricatedMarker);
            let fate = is_void.then_some(wording::CALL_BESIDE_FABRICATION);
            return self.begin_calls(&text, &generation.thinking, with_ids(parsed, generation), fate);
        }
        let cut = generation.finish == FinishReason::Length;
        // A constrained answer in words that the limit cut off is words, not an unreadable call.
        let partial = if cut { partial_answer(&generation.text) } else { None };
        let text = partial.as_deref().map_or(text, |partial| untrusted::strip_markers(partial).0);
        let correction = match partial {
            Some(_) => None,
            None => parsed.class.and_then(|class| wording::unreadable_call(class, &asked.offered)),
        };
        let is_unreadable = correction.is_some();
        self.unreadable_call |= is_unreadable;
        if let Some(correction) = correction
            && self.retry_is_due(RetryReason::CallAsText)
        {
            let written = if generation.text.trim().is_empty() { &text } else { &generation.text };
            return self.retry(&untrusted::strip_markers(written).0, &correction);
        }
        if is_unreadable && is_bare_call(&text) {
            // Asked once more and still no call that can be read: nobody wants to read half of one.
            return self.after_loop(Ended::Empty);
        }
        if is_fabricated && self.retry_is_due(RetryReason::FabricatedMarker) {
            return self.retry(&text, wording::FABRICATED);
        }
        if text.trim().is_empty() {
            return self.after_loop(Ended::Empty);
        }
        let nothing_was_tried = self.ledger.iter().all(|entry| !was_tried(entry.outcome));
        if nothing_was_tried
            && !asked.offered.is_empty()
            && narration::is_narrated(&text)
            && self.retry_is_due(RetryReason::NarratedAction)
        {
            return self.retry(&text, wording::NARRATED);
        }
        if cut {
            self.events.push(AgentEvent::Note("the answer was cut off at the length limit".to_owned()));
        }
        self.thinking.clone_from(&generation.thinking);
        let author = self.setup.info.spec.clone();
        self.finish(if cut { TurnEnd::CutOff } else { TurnEnd::Natural }, &text, &author);
    }

    /// Takes a retry for this reason, if there is one left, and records it.
    pub(super) fn retry_is_due(&mut self, reason: RetryReason) -> bool {
        let due = self.budget.relaunch(reason);
        if due {
            self.records.push(TraceEvent::Retry { reason });
            self.events.push(AgentEvent::Note(wording::retry_note(reason).to_owned()));
        }
        due
    }

    fn retry(&mut self, draft: &str, correction: &str) {
        let draft = guard::first_chars(draft.trim(), DRAFT_CHARS);
        self.conversation.retry(&draft, &wording::block("context", correction));
        self.ask_loop();
    }

    /// The text of the retry without tools (K11a).
    fn final_text(&mut self, generation: &Generation, text: &str) {
        let (text, _) = untrusted::strip_markers(text);
        if text.trim().is_empty() {
            return self.show_last_result();
        }
        self.thinking.clone_from(&generation.thinking);
        let end = match self.ended {
            Ended::RoundCap => TurnEnd::RoundCap,
            Ended::RepeatAbort => TurnEnd::RepeatAbort,
            _ if generation.finish == FinishReason::Length => TurnEnd::CutOff,
            Ended::Empty | Ended::TimedOut | Ended::Failed => TurnEnd::Natural,
        };
        let author = self.setup.info.spec.clone();
        self.finish(end, &text, &author);
    }

    fn record_round(&mut self, asked: &Asked, generation: &Generation, parsed: &Parsed) {
        self.records.push(TraceEvent::Round {
            number: self.budget.rounds(),
            tools: asked.offered.len(),
            messages: asked.messages,
            prompt_tokens: generation.usage.prompt_tokens,
            counted_tokens: Some(asked.weight.estimate),
            completion_tokens: generation.usage.completion_tokens,
            ms: generation.ms,
            first_token_ms: generation.first_token_ms,
            calls: parsed.calls.len(),
            class: parsed.class,
        });
    }

    pub(super) fn record_fault(&mut self, error: &ModelError) {
        self.records.push(TraceEvent::Fault { message: guard::mask(&error.to_string()), class: error.class() });
    }
}

/// Whether a call with this outcome ran or was put to the person.
fn was_tried(outcome: CallOutcome) -> bool {
    matches!(outcome, CallOutcome::Ok | CallOutcome::Error | CallOutcome::Refused | CallOutcome::Interrupted)
}

fn parse(asked: &Asked, generation: &Generation) -> Parsed {
    let parsed = calls::parse(&ParseInput {
        text: &generation.text,
        thinking: &generation.thinking,
        structured: &generation.calls,
        tools: &asked.offered,
        declared: asked.declared_shape.as_deref(),
        finish: generation.finish,
    });
    without_lone_markup(unwrapped(parsed))
}

/// An answer that is nothing but the markup of a call that the parser could not make a call of: a
/// tool that does not exist, in a shape that was not declared. It is never shown.
fn without_lone_markup(mut parsed: Parsed) -> Parsed {
    if parsed.calls.is_empty() && !parsed.text.trim().is_empty() {
        let mut filter = MarkerFilter::new();
        let visible = filter.push(&parsed.text);
        if visible.trim().is_empty() && filter.finish().trim().is_empty() {
            parsed.class.get_or_insert(FailureClass::UnknownTool);
            parsed.text.clear();
        }
    }
    parsed
}

/// A text that is the pseudo-tool's object although nothing constrained it: a history written that
/// way teaches it.
fn unwrapped(mut parsed: Parsed) -> Parsed {
    if parsed.calls.is_empty()
        && parsed.text.trim_start().starts_with('{')
        && let Ok(value) = serde_json::from_str::<serde_json::Value>(parsed.text.trim())
        && value.get("name").and_then(serde_json::Value::as_str) == Some(ANSWER)
        && let Some(text) = value.pointer("/arguments/text").and_then(serde_json::Value::as_str)
    {
        let text = text.trim().to_owned();
        parsed.text = text;
    }
    parsed
}

/// A prompt that arrived shorter than it can possibly be (K8): the server dropped part of it.
fn overflow(asked: &Asked, generation: &Generation) -> Option<ModelError> {
    let usage = generation.usage;
    let reported = usage.prompt_tokens?.saturating_add(usage.cached_tokens.unwrap_or(0));
    (reported < asked.weight.floor).then(|| asked.weight.truncated(reported))
}

/// The calls with the ids of the structured channel, where they came through it one to one.
fn with_ids(parsed: Parsed, generation: &Generation) -> Vec<ToolCall> {
    let ids: Vec<Option<String>> = if parsed.calls.len() == generation.calls.len() {
        generation.calls.iter().map(|call| call.id.clone()).collect()
    } else {
        vec![None; parsed.calls.len()]
    };
    let calls = parsed.calls.into_iter().zip(ids);
    calls.map(|(call, id)| ToolCall { id, name: call.name, arguments: call.arguments }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constrained_answer_that_was_cut_is_its_words() {
        let cut = "{\"name\":\"answer\",\"arguments\":{\"text\":\"The meeting is on Thurs";
        assert_eq!(partial_answer(cut).as_deref(), Some("The meeting is on Thurs"));
        assert_eq!(partial_answer("{\"name\":\"read_file\",\"arguments\":{\"filename\":\"a"), None);
        assert_eq!(partial_answer("Plain words that were cut"), None);
        assert!(is_bare_call(" {\"name\":\"read_file\"") && !is_bare_call("I read {it}"));
    }
}
