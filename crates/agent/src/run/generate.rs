//! One request to the model, read as it arrives. Stop and timeout drop the stream at once (K6),
//! which ends the HTTP request or the decode loop behind it.

use futures_util::StreamExt;
use tenpass_model::{ChatEvent, ChatStream, Completion, FinishReason, ModelError, Timings, Usage};
use tokio::time::Instant;

use super::display::{Clean, Display};
use super::driver::Driver;
use crate::interaction::{AgentEvent, RunState};
use crate::turn::{Ask, Generation, Purpose};

/// Bytes of text and reasoning, and structured calls, after which an answer is cut off: a backend
/// that ignores its token limit must not fill the memory.
const MAX_ANSWER_BYTES: usize = 4 << 20;
const MAX_ANSWER_CALLS: usize = 1_000;

/// How a stream ended.
enum Ended {
    Answered(Completion),
    Failed(ModelError),
    Stopped,
    TimedOut,
}

/// What arrived so far.
struct Arrived {
    generation: Generation,
    display: Display,
    thoughts: Clean,
}

impl Arrived {
    fn is_too_long(&self) -> bool {
        let Generation { text, thinking, calls, .. } = &self.generation;
        text.len() + thinking.len() > MAX_ANSWER_BYTES || calls.len() > MAX_ANSWER_CALLS
    }
}

impl Driver<'_> {
    /// Carries out [`crate::turn::Step::Generate`].
    pub(super) async fn generate(&mut self, ask: Ask) {
        if Instant::now() >= self.deadline {
            return self.turn.timed_out("");
        }
        self.show_state(RunState::Thinking);
        let purpose = ask.purpose;
        if purpose.is_shown() {
            self.first_request.get_or_insert_with(|| ask.request.clone());
            self.last_request = Some(ask.request.clone());
        }
        let mut arrived = Arrived {
            generation: Generation::default(),
            display: Display::new(self.agent.structure()),
            thoughts: Clean::default(),
        };
        let began = Instant::now();
        let stream = self.agent.model.start(ask.request);
        let ended = self.read(stream, purpose, began, &mut arrived).await;
        if purpose.is_shown() {
            let rest = arrived.display.finish();
            self.show_text(rest);
            let thought = arrived.thoughts.finish("");
            self.show_thought(thought);
        }
        let partial = arrived.display.shown().to_owned();
        match ended {
            Ended::Answered(completion) => {
                let mut generation = arrived.generation;
                generation.finish = completion.finish;
                generation.usage = completion.usage;
                generation.ms = began.elapsed().as_secs_f64() * 1e3;
                self.turn.generated(&generation);
            }
            Ended::Failed(error) => self.turn.generation_failed(error, &partial),
            Ended::Stopped => self.turn.stopped(&partial),
            Ended::TimedOut => self.turn.timed_out(&partial),
        }
        if !self.turn.is_finished() {
            self.discard();
        }
    }

    /// Reads the stream to its end, or drops it.
    async fn read(&mut self, mut stream: ChatStream, purpose: Purpose, began: Instant, arrived: &mut Arrived) -> Ended {
        loop {
            let event = tokio::select! {
                biased;
                () = self.stop.cancelled() => return Ended::Stopped,
                () = tokio::time::sleep_until(self.deadline) => return Ended::TimedOut,
                event = stream.next() => event,
            };
            if !matches!(event, Some(Ok(ChatEvent::Done(_)) | Err(_)) | None) {
                let elapsed = || began.elapsed().as_secs_f64() * 1e3;
                arrived.generation.first_token_ms.get_or_insert_with(elapsed);
            }
            if arrived.is_too_long() {
                let (usage, timings) = (Usage::default(), Timings::default());
                return Ended::Answered(Completion { finish: FinishReason::Length, usage, timings, endpoint: None });
            }
            match event {
                Some(Ok(ChatEvent::Text(piece))) => {
                    arrived.generation.text.push_str(&piece);
                    if purpose.is_shown() {
                        let shown = arrived.display.push(&piece);
                        self.show_text(shown);
                    }
                }
                Some(Ok(ChatEvent::Thinking(piece))) => {
                    arrived.generation.thinking.push_str(&piece);
                    if purpose.is_shown() {
                        let shown = arrived.thoughts.push(&piece);
                        self.show_thought(shown);
                    }
                }
                Some(Ok(ChatEvent::ToolCall(call))) => arrived.generation.calls.push(call),
                Some(Ok(ChatEvent::Done(completion))) => return Ended::Answered(completion),
                Some(Err(error)) => return Ended::Failed(error),
                None => {
                    let url = self.agent.model.info().spec.clone();
                    return Ended::Failed(ModelError::Truncated { url });
                }
            }
        }
    }

    fn show_thought(&mut self, piece: String) {
        if !piece.is_empty() {
            self.interaction.event(AgentEvent::Thinking(piece));
        }
    }
}
