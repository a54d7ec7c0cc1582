//! Limits on waiting.

use std::sync::Arc;
use std::time::Duration;

use async_stream::try_stream;
use futures_util::StreamExt;
use tokio::time::{Instant, timeout_at};

use crate::http::seconds;
use crate::{BoxFuture, ChatModel, ChatRequest, ChatStream, ModelError, ModelInfo, RenderedPrompt};

/// How long to wait; `None` waits for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeoutLimits {
    /// Up to the first event: loading the model and evaluating the prompt lie in it, and with
    /// `stream: false` the whole answer.
    pub first: Option<Duration>,
    /// Between two events.
    pub idle: Option<Duration>,
    /// For all of it.
    pub total: Option<Duration>,
}

/// Ends an answer that takes too long: with [`ModelError::Silent`] when nothing came, with
/// [`ModelError::Deadline`] when it came too slowly. The request is cancelled either way.
#[derive(Clone)]
pub struct Timeout {
    inner: Arc<dyn ChatModel>,
    limits: TimeoutLimits,
}

impl Timeout {
    /// `inner` under these limits.
    pub fn new(inner: Arc<dyn ChatModel>, limits: TimeoutLimits) -> Self {
        Self { inner, limits }
    }

    fn limited(&self, mut stream: ChatStream) -> ChatStream {
        let TimeoutLimits { first, idle, total } = self.limits;
        let info = self.inner.info();
        let (spec, model) = (info.spec.clone(), info.name.clone());
        Box::pin(try_stream! {
            let deadline = total.map(|limit| (Instant::now() + limit, limit));
            let mut wait = first;
            loop {
                let silence = wait.map(|limit| (Instant::now() + limit, limit));
                let is_silence = silence.is_some_and(|(at, _)| deadline.is_none_or(|(end, _)| at < end));
                let next = match if is_silence { silence } else { deadline } {
                    None => stream.next().await,
                    Some((at, limit)) => match timeout_at(at, stream.next()).await {
                        Ok(next) => next,
                        Err(_) if is_silence => Err(ModelError::Silent { url: spec.clone(), seconds: seconds(limit) })?,
                        Err(_) => Err(ModelError::Deadline { model: model.clone(), seconds: seconds(limit) })?,
                    },
                };
                let Some(event) = next else { break };
                yield event?;
                wait = idle;
            }
        })
    }
}

impl ChatModel for Timeout {
    fn info(&self) -> &ModelInfo {
        self.inner.info()
    }

    fn start(&self, request: ChatRequest) -> ChatStream {
        self.limited(self.inner.start(request))
    }

    fn start_many(&self, requests: Vec<ChatRequest>) -> Vec<ChatStream> {
        self.inner.start_many(requests).into_iter().map(|stream| self.limited(stream)).collect()
    }

    fn render<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>> {
        self.inner.render(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect;
    use crate::wrappers::tests_support::{Script, request};

    async fn error(limits: TimeoutLimits) -> (Option<ModelError>, String) {
        // A piece of text every 10 s, five of them.
        let script = Script::slow(Duration::from_secs(10));
        let model = Timeout::new(Arc::new(script.clone()), limits);
        let answer = collect(model.start(request()), std::time::Instant::now()).await;
        assert_eq!(script.running(), 0, "the answer is cancelled");
        (answer.error, answer.text)
    }

    #[tokio::test(start_paused = true)]
    async fn silence_and_slowness_are_told_apart() {
        let limit = |seconds| Some(Duration::from_secs(seconds));
        let none = TimeoutLimits::default();
        assert_eq!(error(none).await, (None, "abcde".into()));
        assert_eq!(
            error(TimeoutLimits { first: limit(1), idle: limit(11), total: limit(60) }).await,
            (None, "abcde".into())
        );
        let (silent, text) = error(TimeoutLimits { idle: limit(9), total: limit(60), ..none }).await;
        assert_eq!((silent, text.as_str()), (Some(ModelError::Silent { url: "script:".into(), seconds: 9 }), "a"));
        let (late, text) = error(TimeoutLimits { idle: limit(11), total: limit(25), ..none }).await;
        assert_eq!((late, text.as_str()), (Some(ModelError::Deadline { model: "script".into(), seconds: 25 }), "abc"));
    }
}
