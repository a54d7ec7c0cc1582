//! One attempt at one pass: reads the model's stream, with a clock beside it.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tenpass_model::{ChatEvent, ChatStream, Completion, FinishReason, ModelError, StructuredCall, Usage};
use tokio_util::sync::CancellationToken;

use crate::rounds::{Play, Played};
use crate::store::{End, PassTimings, RequestRecord};

/// How an attempt ended, with everything that arrived until then.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) text: String,
    pub(super) thinking: String,
    pub(super) calls: Vec<StructuredCall>,
    pub(super) completion: Option<Completion>,
    pub(super) error: Option<ModelError>,
    pub(super) end: End,
    pub(super) timings: PassTimings,
    /// The play, when the case is a scenario.
    pub(super) played: Option<Box<Played>>,
    /// The distinct requests of the play.
    pub(super) requests: Vec<RequestRecord>,
}

/// Reads `stream` to its end, to the first error or until `timeout` has passed since `started`,
/// and drops it, which cancels the request. Returns nothing when cancelled. `on_first_token` is
/// called with the first text, thinking or call.
pub(super) async fn read(
    mut stream: ChatStream,
    model: &str,
    started: Instant,
    timeout: Duration,
    cancel: &CancellationToken,
    on_first_token: impl Fn(),
) -> Option<Attempt> {
    let elapsed = || started.elapsed().as_secs_f64() * 1e3;
    let deadline = tokio::time::sleep_until((started + timeout).into());
    tokio::pin!(deadline);
    let mut all = Attempt {
        text: String::new(),
        thinking: String::new(),
        calls: Vec::new(),
        completion: None,
        error: None,
        end: End::Fault,
        timings: PassTimings::default(),
        played: None,
        requests: Vec::new(),
    };
    loop {
        let event = tokio::select! {
            // What has arrived counts, even when the time is up in the same moment.
            biased;
            () = cancel.cancelled() => return None,
            event = stream.next() => event,
            () = &mut deadline => {
                all.end = End::Timeout;
                break;
            }
        };
        if matches!(event, Some(Ok(ChatEvent::Text(_) | ChatEvent::Thinking(_) | ChatEvent::ToolCall(_))))
            && all.timings.first_token_ms.is_none()
        {
            all.timings.first_token_ms = Some(elapsed());
            on_first_token();
        }
        match event {
            Some(Ok(ChatEvent::Text(piece))) => {
                all.text.push_str(&piece);
                all.timings.text_end_ms = Some(elapsed());
            }
            Some(Ok(ChatEvent::Thinking(piece))) => all.thinking.push_str(&piece),
            Some(Ok(ChatEvent::ToolCall(call))) => {
                all.timings.first_call_ms.get_or_insert_with(elapsed);
                all.calls.push(call);
            }
            Some(Ok(ChatEvent::Done(completion))) => {
                all.completion = Some(completion);
                all.end = End::Answered;
                break;
            }
            Some(Err(error)) => {
                all.error = Some(error);
                break;
            }
            None => {
                all.error = Some(ModelError::Truncated { url: model.to_owned() });
                break;
            }
        }
    }
    all.timings.total_ms = elapsed();
    if let Some(completion) = &all.completion {
        all.timings.load_ms = completion.timings.load_ms;
        all.timings.prompt_ms = completion.timings.prompt_ms;
        all.timings.decode_ms = completion.timings.decode_ms;
    }
    Some(all)
}

impl Attempt {
    /// An attempt at a scenario: everything that was shown is its text.
    pub(super) fn of(play: Play) -> Self {
        let texts: Vec<&str> = play.played.turns.iter().map(|turn| turn.text.as_str()).collect();
        let first = play.played.turns.iter().flat_map(|turn| &turn.answers).find_map(|answer| answer.first_token_ms);
        Self {
            text: texts.join("\n\n"),
            thinking: String::new(),
            calls: Vec::new(),
            completion: None,
            end: if play.error.is_some() { End::Fault } else { End::Answered },
            error: play.error,
            timings: PassTimings { first_token_ms: first, total_ms: play.total_ms, ..PassTimings::default() },
            played: Some(Box::new(play.played)),
            requests: play.requests,
        }
    }

    /// The first request of a play.
    pub(super) fn first_request(&self) -> Option<&str> {
        self.played.as_ref()?.turns.iter().flat_map(|turn| &turn.answers).next().map(|answer| answer.request.as_str())
    }

    /// Token counts: of the answer, or of a play the longest prompt and all answers.
    pub(super) fn usage(&self) -> Usage {
        let Some(played) = &self.played else {
            return self.completion.as_ref().map(|completion| completion.usage).unwrap_or_default();
        };
        let answers = || played.turns.iter().flat_map(|turn| &turn.answers).map(|answer| answer.usage);
        let sum = |of: fn(Usage) -> Option<u64>| {
            let counts: Vec<u64> = answers().filter_map(of).collect();
            (!counts.is_empty()).then(|| counts.iter().sum())
        };
        Usage {
            prompt_tokens: answers().filter_map(|usage| usage.prompt_tokens).max(),
            cached_tokens: None,
            completion_tokens: sum(|usage| usage.completion_tokens),
        }
    }

    /// Which of several endpoints answered.
    pub(super) fn endpoint(&self) -> Option<String> {
        self.completion.as_ref().and_then(|completion| completion.endpoint.clone())
    }

    pub(super) fn finish(&self) -> Option<FinishReason> {
        self.completion.as_ref().map(|completion| completion.finish)
    }
}
