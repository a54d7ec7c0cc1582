//! From tokens to events: text, reasoning, stop texts, the end.

use std::sync::Arc;
use std::time::Instant;

use tenpass_model::{ChatEvent, Completion, FinishReason, ModelError, Timings, Usage};
use tokio::sync::mpsc::UnboundedSender;

use crate::scheduler::Pass;
use crate::tokenizer::{Detokenizer, Tokenizer};

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Where the events of one pass go; closed when nobody listens any more.
#[derive(Debug, Clone)]
pub(crate) struct Sender(pub(crate) UnboundedSender<Result<ChatEvent, ModelError>>);

impl Sender {
    /// True when the receiving stream was dropped.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Ends the pass with an error.
    pub(crate) fn fail(&self, error: ModelError) {
        // A receiver that went away needs no error.
        let _ = self.0.send(Err(error));
    }

    fn send(&self, event: ChatEvent) {
        let _ = self.0.send(Ok(event));
    }
}

/// The text side of a group; cloned when the group parts.
#[derive(Clone)]
pub(crate) struct Output {
    detokenizer: Detokenizer,
    stop: Vec<String>,
    /// Text that may still turn out to be the start of a marker or of a stop text.
    held: String,
    thinking: bool,
    /// Only the very beginning of an answer may open a think block.
    at_start: bool,
    started: Instant,
    prompt_ended: Option<Instant>,
}

impl Output {
    pub(crate) fn new(tokenizer: Arc<Tokenizer>, stop: Vec<String>, thinking: bool) -> Self {
        Self {
            detokenizer: Detokenizer::new(tokenizer),
            stop: stop.into_iter().filter(|stop| !stop.is_empty()).collect(),
            held: String::new(),
            thinking,
            at_start: true,
            started: Instant::now(),
            prompt_ended: None,
        }
    }

    /// Marks the end of the prompt's evaluation.
    pub(crate) fn prompt_done(&mut self) {
        self.prompt_ended = Some(Instant::now());
    }

    /// Adds a token; true when a stop text ended the answer.
    pub(crate) fn push(&mut self, token: u32, passes: &[Pass]) -> bool {
        let piece = self.detokenizer.push(token);
        self.held.push_str(&piece);
        self.release(passes, false)
    }

    /// Sends what can no longer become a marker; everything when `last`.
    fn release(&mut self, passes: &[Pass], last: bool) -> bool {
        loop {
            if self.thinking {
                if let Some(at) = self.held.find(CLOSE) {
                    let rest = self.held.split_off(at);
                    self.send(passes);
                    rest[CLOSE.len()..].clone_into(&mut self.held);
                    self.thinking = false;
                    self.at_start = false;
                    continue;
                }
            } else if self.at_start {
                let text = self.held.trim_start();
                if let Some(rest) = text.strip_prefix(OPEN) {
                    self.held = rest.to_owned();
                    self.thinking = true;
                    self.at_start = false;
                    continue;
                }
                if !last && OPEN.starts_with(text) {
                    return false;
                }
                self.at_start = false;
            }
            break;
        }
        if let Some(at) = self.stop.iter().filter_map(|stop| self.held.find(stop.as_str())).min() {
            self.held.truncate(at);
            self.send(passes);
            return true;
        }
        let keep = if last { 0 } else { self.undecided() };
        let rest = self.held.split_off(self.held.len() - keep);
        self.send(passes);
        self.held = rest;
        false
    }

    /// Bytes at the end that may be the start of a marker.
    fn undecided(&self) -> usize {
        let close = self.thinking.then_some(CLOSE);
        let markers = self.stop.iter().map(String::as_str).chain(close);
        markers
            .map(|marker| {
                (1..marker.len())
                    .rev()
                    .find(|length| marker.is_char_boundary(*length) && self.held.ends_with(&marker[..*length]))
                    .unwrap_or(0)
            })
            .max()
            .unwrap_or(0)
    }

    fn send(&mut self, passes: &[Pass]) {
        let text = std::mem::take(&mut self.held);
        if text.is_empty() {
            return;
        }
        for pass in passes {
            pass.events.send(if self.thinking {
                ChatEvent::Thinking(text.clone())
            } else {
                ChatEvent::Text(text.clone())
            });
        }
    }

    /// Sends what is left and the end.
    pub(crate) fn finish(
        &mut self,
        finish: FinishReason,
        prompt: usize,
        cached: usize,
        generated: u32,
        passes: &[Pass],
    ) {
        let piece = self.detokenizer.finish();
        self.held.push_str(&piece);
        self.release(passes, true);
        let milliseconds = |from: Instant, to: Instant| to.duration_since(from).as_secs_f64() * 1e3;
        let now = Instant::now();
        let prompt_ended = self.prompt_ended.unwrap_or(now);
        let completion = Completion {
            finish,
            usage: Usage {
                prompt_tokens: Some(prompt as u64),
                cached_tokens: Some(cached as u64),
                completion_tokens: Some(u64::from(generated)),
            },
            timings: Timings {
                load_ms: None,
                prompt_ms: Some(milliseconds(self.started, prompt_ended)),
                decode_ms: Some(milliseconds(prompt_ended, now)),
            },
            endpoint: None,
        };
        for pass in passes {
            pass.events.send(ChatEvent::Done(completion.clone()));
        }
    }
}
