//! One attempt at one pass: reads the model's stream, with a clock beside it.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tenpass_model::{ChatEvent, ChatStream, Completion, FinishReason, ModelError, StructuredCall};
use tokio_util::sync::CancellationToken;

use crate::store::{End, PassTimings};

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
    pub(super) fn finish(&self) -> Option<FinishReason> {
        self.completion.as_ref().map(|completion| completion.finish)
    }
}
