//! Models around models: each adds one behaviour and is a [`ChatModel`](crate::ChatModel) itself.
//!
//! From the outside in, a careful stack is `Record(Limit(Retry(Timeout(backend))))`: what is
//! recorded is what the caller saw, waiting for a free place is not counted against the time
//! limit, and each attempt has its own.

mod limit;
mod record;
mod retry;
mod timeout;

pub use limit::Limit;
pub use record::Record;
pub use retry::{Retry, RetryPolicy};
pub use timeout::{Timeout, TimeoutLimits};

#[cfg(test)]
mod tests_support {
    //! A scripted model for the wrappers' tests.

    use std::collections::VecDeque;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use async_stream::try_stream;
    use tenpass_trace::Message;

    use crate::{
        BoxFuture, Capabilities, ChatEvent, ChatModel, ChatRequest, ChatStream, Completion, FinishReason, ModelError,
        ModelInfo, RenderedPrompt, StructuredCall, Timings, Usage,
    };

    pub(super) fn request() -> ChatRequest {
        ChatRequest { messages: vec![Message::user("say abcde")], ..ChatRequest::default() }
    }

    /// Says "abcde" in five pieces, after faults or before one.
    #[derive(Clone)]
    pub(super) struct Script {
        info: Arc<ModelInfo>,
        faults: Arc<Mutex<VecDeque<ModelError>>>,
        last: Option<ModelError>,
        pause: Duration,
        started: Arc<AtomicUsize>,
        running: Arc<AtomicUsize>,
    }

    struct Running(Arc<AtomicUsize>);

    impl Drop for Running {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    impl Script {
        pub(super) fn failing(faults: Vec<ModelError>) -> Self {
            let info = ModelInfo {
                spec: "script:".into(),
                backend: "script".into(),
                name: "script".into(),
                digest: None,
                template_digest: None,
                quantization: None,
                context: None,
                capabilities: Capabilities {
                    tools: true,
                    thinking: true,
                    structured_output: true,
                    declared_shape: None,
                },
                runtime: None,
            };
            Self {
                info: Arc::new(info),
                faults: Arc::new(Mutex::new(faults.into())),
                last: None,
                pause: Duration::ZERO,
                started: Arc::default(),
                running: Arc::default(),
            }
        }

        pub(super) fn slow(pause: Duration) -> Self {
            Self { pause, ..Self::failing(Vec::new()) }
        }

        pub(super) fn breaking_after_text(error: ModelError) -> Self {
            Self { last: Some(error), ..Self::failing(Vec::new()) }
        }

        pub(super) fn started(&self) -> usize {
            self.started.load(Ordering::SeqCst)
        }

        pub(super) fn running(&self) -> usize {
            self.running.load(Ordering::SeqCst)
        }
    }

    impl ChatModel for Script {
        fn info(&self) -> &ModelInfo {
            &self.info
        }

        fn start(&self, _request: ChatRequest) -> ChatStream {
            let script = self.clone();
            Box::pin(try_stream! {
                script.started.fetch_add(1, Ordering::SeqCst);
                script.running.fetch_add(1, Ordering::SeqCst);
                let _running = Running(Arc::clone(&script.running));
                let fault = script.faults.lock().unwrap().pop_front();
                if let Some(fault) = fault {
                    Err(fault)?;
                }
                for (index, piece) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
                    if index > 0 {
                        tokio::time::sleep(script.pause).await;
                    }
                    yield ChatEvent::Text(piece.into());
                }
                if let Some(error) = script.last {
                    Err(error)?;
                }
                let arguments = serde_json::json!({ "on": true });
                yield ChatEvent::ToolCall(StructuredCall { id: None, name: "lamp".into(), arguments, repaired: None });
                let usage = Usage { prompt_tokens: Some(3), cached_tokens: None, completion_tokens: Some(5) };
                let timings = Timings::default();
                yield ChatEvent::Done(Completion { finish: FinishReason::ToolCalls, usage, timings, endpoint: None });
            })
        }

        fn render<'a>(&'a self, _request: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>> {
            Box::pin(async { Ok(RenderedPrompt { text: None, tokens: None }) })
        }
    }
}
