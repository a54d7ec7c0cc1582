//! At most so many answers at a time.

use std::sync::Arc;

use async_stream::try_stream;
use futures_util::StreamExt;
use tokio::sync::Semaphore;

use crate::{BoxFuture, ChatModel, ChatRequest, ChatStream, ModelError, ModelInfo, RenderedPrompt};

/// Lets at most a fixed number of answers run at a time; the others wait in order. A place is
/// free again when its stream ends or is dropped.
#[derive(Clone)]
pub struct Limit {
    inner: Arc<dyn ChatModel>,
    places: Arc<Semaphore>,
}

impl Limit {
    /// `most` is at least 1.
    pub fn new(inner: Arc<dyn ChatModel>, most: usize) -> Self {
        Self { inner, places: Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS))) }
    }
}

impl ChatModel for Limit {
    fn info(&self) -> &ModelInfo {
        self.inner.info()
    }

    fn start(&self, request: ChatRequest) -> ChatStream {
        let (inner, places) = (Arc::clone(&self.inner), Arc::clone(&self.places));
        Box::pin(try_stream! {
            // The semaphore is never closed, so the error cannot come.
            let _place = places.acquire_owned().await.ok();
            let mut stream = inner.start(request);
            while let Some(event) = stream.next().await {
                yield event?;
            }
        })
    }

    fn render<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>> {
        self.inner.render(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrappers::tests_support::{Script, request};
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn only_so_many_run_and_a_dropped_one_frees_its_place() {
        let script = Script::slow(Duration::from_hours(1));
        let limit = Limit::new(Arc::new(script.clone()), 2);
        let mut streams: Vec<_> = (0..3).map(|_| limit.start(request())).collect();
        let mut third = streams.pop().unwrap();
        for stream in &mut streams {
            assert!(stream.next().await.unwrap().is_ok());
        }
        assert_eq!(script.started(), 2);
        assert!(tokio::time::timeout(Duration::from_mins(1), third.next()).await.is_err(), "no place is free");
        streams.pop();
        assert!(third.next().await.unwrap().is_ok());
        assert_eq!(script.started(), 3);
    }
}
