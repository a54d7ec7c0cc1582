//! Another attempt after a fault that may pass.

use std::sync::Arc;
use std::time::Duration;

use async_stream::try_stream;
use futures_util::StreamExt;

use crate::{BoxFuture, ChatModel, ChatRequest, ChatStream, ModelError, ModelInfo, RenderedPrompt};

/// When and how often to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all; 1 never repeats.
    pub attempts: u32,
    /// Wait before the second attempt; it doubles with each further one.
    pub first_delay: Duration,
    /// The longest wait.
    pub longest_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 3, first_delay: Duration::from_millis(250), longest_delay: Duration::from_secs(10) }
    }
}

impl RetryPolicy {
    /// The wait after `failed` failed attempts. Up to a quarter is taken off by `seed`, so that
    /// requests that failed together do not come back together.
    fn delay(self, failed: u32, seed: u64) -> Duration {
        let doubled = self.first_delay.saturating_mul(1 << failed.saturating_sub(1).min(20));
        let whole = doubled.min(self.longest_delay);
        let scattered = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
        whole.mul_f64(1.0 - 0.25 * scattered as f64 / 255.0)
    }
}

/// Repeats a request that failed with a transient fault before its first event. Afterwards the
/// caller has seen part of an answer, and a second one would not continue it.
#[derive(Clone)]
pub struct Retry {
    inner: Arc<dyn ChatModel>,
    policy: RetryPolicy,
}

impl Retry {
    /// `inner` under this policy.
    pub fn new(inner: Arc<dyn ChatModel>, policy: RetryPolicy) -> Self {
        Self { inner, policy }
    }

    fn retrying(&self, mut stream: ChatStream, request: ChatRequest) -> ChatStream {
        let (inner, policy) = (Arc::clone(&self.inner), self.policy);
        Box::pin(try_stream! {
            let mut attempt = 1;
            let mut first = true;
            while let Some(event) = stream.next().await {
                match event {
                    Err(error) if first && attempt < policy.attempts && error.is_transient() => {
                        tokio::time::sleep(policy.delay(attempt, request.options.seed)).await;
                        attempt += 1;
                        stream = inner.start(request.clone());
                    }
                    event => {
                        first = false;
                        yield event?;
                    }
                }
            }
        })
    }
}

impl ChatModel for Retry {
    fn info(&self) -> &ModelInfo {
        self.inner.info()
    }

    fn start(&self, request: ChatRequest) -> ChatStream {
        self.retrying(self.inner.start(request.clone()), request)
    }

    fn start_many(&self, requests: Vec<ChatRequest>) -> Vec<ChatStream> {
        let streams = self.inner.start_many(requests.clone());
        streams.into_iter().zip(requests).map(|(stream, request)| self.retrying(stream, request)).collect()
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

    fn refused() -> ModelError {
        ModelError::Connect { url: "u".into(), reason: "refused".into() }
    }

    async fn run(script: &Script) -> crate::Collected {
        let model = Retry::new(Arc::new(script.clone()), RetryPolicy::default());
        collect(model.start(request()), std::time::Instant::now()).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_passing_fault_is_survived_and_a_lasting_one_reported() {
        let passing = Script::failing(vec![refused(), refused()]);
        let started = tokio::time::Instant::now();
        let answer = run(&passing).await;
        assert_eq!((answer.text.as_str(), answer.error, passing.started()), ("abcde", None, 3));
        assert!(started.elapsed() >= Duration::from_millis(560), "250 ms and 500 ms, less a quarter at most");
        let lasting = Script::failing(vec![refused(); 9]);
        assert_eq!(run(&lasting).await.error, Some(refused()));
        assert_eq!(lasting.started(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn neither_lasting_faults_nor_half_answers_are_repeated() {
        let missing = Script::failing(vec![ModelError::NotFound { model: "m".into(), reason: "r".into() }]);
        assert!(run(&missing).await.error.is_some());
        assert_eq!(missing.started(), 1);
        let half = Script::breaking_after_text(refused());
        let answer = run(&half).await;
        assert_eq!((answer.text.as_str(), answer.error, half.started()), ("abcde", Some(refused()), 1));
    }

    #[test]
    fn delays_double_up_to_the_longest() {
        let policy =
            RetryPolicy { attempts: 9, first_delay: Duration::from_secs(1), longest_delay: Duration::from_secs(5) };
        let delays: Vec<u64> = (1..5).map(|failed| policy.delay(failed, 0).as_secs()).collect();
        assert_eq!(delays, [1, 2, 4, 5]);
        assert!((0..100).all(|seed| (0.75..=1.0).contains(&policy.delay(1, seed).as_secs_f64())));
    }
}
