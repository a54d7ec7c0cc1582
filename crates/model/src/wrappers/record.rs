//! Writes what a model answered into a replay file.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_stream::stream;
use futures_util::StreamExt;

use crate::replay::{Answer, Match, request_digest};
use crate::{BoxFuture, ChatEvent, ChatModel, ChatRequest, ChatStream, ModelError, ModelInfo, RenderedPrompt};

/// Passes every answer on and appends it, when it has ended, to a replay file. An answer that the
/// caller cancels is not recorded. Each line matches by the digest and the seed of its request.
#[derive(Clone)]
pub struct Record {
    inner: Arc<dyn ChatModel>,
    sink: Arc<Sink>,
}

struct Sink {
    file: Mutex<File>,
    path: String,
}

impl Record {
    /// Creates the file at `path`, or empties it, and writes what `inner` is.
    pub fn create(inner: Arc<dyn ChatModel>, path: &Path) -> Result<Self, ModelError> {
        let shown = path.display().to_string();
        let file =
            File::create(path).map_err(|error| ModelError::Load { path: shown.clone(), reason: error.to_string() })?;
        let sink = Sink { file: Mutex::new(file), path: shown };
        sink.append(&serde_json::json!({ "model": inner.info() }))?;
        Ok(Self { inner, sink: Arc::new(sink) })
    }

    fn recording(&self, mut stream: ChatStream, request: &ChatRequest) -> ChatStream {
        let sink = Arc::clone(&self.sink);
        let mut answer = Answer {
            matches: Some(Match {
                request: Some(request_digest(request)),
                seed: Some(request.options.seed),
                case: request.label.clone(),
                contains: None,
            }),
            ..Answer::default()
        };
        Box::pin(stream! {
            while let Some(event) = stream.next().await {
                let is_last = matches!(event, Ok(ChatEvent::Done(_)) | Err(_));
                answer.take(&event);
                if is_last && let Err(error) = sink.append(&answer) {
                    yield Err(error);
                    return;
                }
                yield event;
            }
        })
    }
}

impl Sink {
    fn append(&self, line: &impl serde::Serialize) -> Result<(), ModelError> {
        let failed = |reason: String| ModelError::Load { path: self.path.clone(), reason };
        let mut text = serde_json::to_string(line).map_err(|error| failed(error.to_string()))?;
        text.push('\n');
        // One write a line: lines of answers that end together do not mix.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(text.as_bytes()).map_err(|error| failed(format!("cannot record: {error}")))
    }
}

impl ChatModel for Record {
    fn info(&self) -> &ModelInfo {
        self.inner.info()
    }

    fn start(&self, request: ChatRequest) -> ChatStream {
        let stream = self.inner.start(request.clone());
        self.recording(stream, &request)
    }

    fn start_many(&self, requests: Vec<ChatRequest>) -> Vec<ChatStream> {
        let streams = self.inner.start_many(requests.clone());
        streams.into_iter().zip(&requests).map(|(stream, request)| self.recording(stream, request)).collect()
    }

    fn render<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>> {
        self.inner.render(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrappers::tests_support::{Script, request};
    use crate::{ReplayModel, collect};
    use std::time::Instant;

    #[tokio::test]
    async fn what_was_recorded_replays_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers.jsonl");
        let fault = ModelError::Http { url: "u".into(), status: 503, message: "busy".into() };
        let script = Script::failing(vec![fault.clone()]);
        let recorder = Record::create(Arc::new(script), &path).unwrap();
        let failed = collect(recorder.start(request()), Instant::now()).await;
        assert_eq!(failed.error, Some(fault));
        let mut second = request();
        second.options.seed = 2;
        let whole = collect(recorder.start(second.clone()), Instant::now()).await;
        drop(recorder.start(request()));

        let replay = ReplayModel::open(&path).unwrap();
        assert_eq!((replay.info().name.as_str(), replay.info().backend.as_str()), ("script", "replay"));
        let same = |a: &crate::Collected, b: &crate::Collected| {
            assert_eq!((&a.text, &a.thinking, &a.calls, &a.error), (&b.text, &b.thinking, &b.calls, &b.error));
            assert_eq!(a.completion, b.completion);
        };
        same(&collect(replay.start(request()), Instant::now()).await, &failed);
        same(&collect(replay.start(second), Instant::now()).await, &whole);
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 3, "model, fault, answer");
    }
}
