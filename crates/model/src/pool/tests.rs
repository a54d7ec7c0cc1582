//! Who gets a request, who rests, and what the caller sees: with models in this process and a clock
//! that the test moves.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tenpass_trace::Message;

use super::*;
use crate::{Capabilities, Collected, FinishReason, Timings, Usage, collect};
use std::sync::Mutex;

/// What a fake endpoint does with its next request; without an entry it answers.
#[derive(Clone)]
enum Next {
    Fails(ModelError),
    FailsInTheMiddle(ModelError),
    EndsWithoutAWord,
}

/// An endpoint under the test's control: it answers with its own name.
#[derive(Clone)]
struct Fake {
    info: Arc<Mutex<ModelInfo>>,
    next: Arc<Mutex<VecDeque<Next>>>,
    /// Refuses connections while it is set.
    down: Arc<Mutex<Option<ModelError>>>,
    started: Arc<AtomicUsize>,
    batches: Arc<Mutex<Vec<usize>>>,
}

fn info() -> ModelInfo {
    ModelInfo {
        spec: "fake:".into(),
        backend: "fake".into(),
        name: "tiny".into(),
        digest: None,
        template_digest: Some("sha256:t".into()),
        quantization: None,
        context: Some(4096),
        capabilities: Capabilities { tools: true, thinking: false, structured_output: true, declared_shape: None },
        runtime: None,
    }
}

fn refused() -> ModelError {
    ModelError::Connect { url: "http://127.0.0.1:1".into(), reason: "connection refused".into() }
}

fn busy(status: u16) -> ModelError {
    ModelError::Http { url: "http://127.0.0.1:1".into(), status, message: "no".into() }
}

impl Fake {
    fn new() -> Self {
        Self {
            info: Arc::new(Mutex::new(info())),
            next: Arc::default(),
            down: Arc::default(),
            started: Arc::default(),
            batches: Arc::default(),
        }
    }

    fn then(&self, next: Next) {
        self.next.lock().unwrap().push_back(next);
    }

    fn started(&self) -> usize {
        self.started.load(Ordering::SeqCst)
    }

    fn endpoint(&self, name: &str) -> PoolEndpoint {
        let (fake, own) = (self.clone(), name.to_owned());
        PoolEndpoint::new(name, move || {
            let (fake, name) = (fake.clone(), own.clone());
            Box::pin(async move {
                if let Some(error) = fake.down.lock().unwrap().clone() {
                    return Err(error);
                }
                let info = fake.info.lock().unwrap().clone();
                Ok(Arc::new(Connected { fake, info, name }) as Arc<dyn ChatModel>)
            })
        })
    }
}

struct Connected {
    fake: Fake,
    info: ModelInfo,
    name: String,
}

impl ChatModel for Connected {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn start(&self, _request: ChatRequest) -> ChatStream {
        self.fake.started.fetch_add(1, Ordering::SeqCst);
        let next = self.fake.next.lock().unwrap().pop_front();
        let name = self.name.clone();
        Box::pin(try_stream! {
            match &next {
                Some(Next::Fails(error)) => Err(error.clone())?,
                Some(Next::EndsWithoutAWord) => return,
                _ => {}
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
            yield ChatEvent::Text(name);
            if let Some(Next::FailsInTheMiddle(error)) = next {
                Err(error)?;
            }
            let usage = Usage::default();
            yield ChatEvent::Done(Completion { finish: FinishReason::Stop, usage, timings: Timings::default(), endpoint: None });
        })
    }

    fn start_many(&self, requests: Vec<ChatRequest>) -> Vec<ChatStream> {
        self.fake.batches.lock().unwrap().push(requests.len());
        requests.into_iter().map(|request| self.start(request)).collect()
    }

    fn render<'a>(&'a self, _request: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>> {
        Box::pin(async { Ok(RenderedPrompt { text: Some(self.name.clone()), tokens: None }) })
    }
}

async fn pool(fakes: &[&Fake]) -> Result<Pool, PoolError> {
    let endpoints = fakes.iter().zip(["a", "b", "c"]).map(|(fake, name)| fake.endpoint(name)).collect();
    Pool::connect(endpoints).await
}

fn request() -> ChatRequest {
    ChatRequest { messages: vec![Message::user("who?")], ..ChatRequest::default() }
}

async fn ask(pool: &Pool) -> Collected {
    collect(pool.start(request()), Instant::now()).await
}

fn endpoint(answer: &Collected) -> Option<&str> {
    answer.completion.as_ref().and_then(|completion| completion.endpoint.as_deref())
}

#[tokio::test(start_paused = true)]
async fn the_least_busy_endpoint_gets_the_next_request_and_signs_the_answer() {
    let (a, b) = (Fake::new(), Fake::new());
    let pool = pool(&[&a, &b]).await.unwrap();
    assert_eq!((pool.info().spec.as_str(), pool.info().name.as_str()), ("fake:a,b#tiny", "tiny"));
    let mut streams: Vec<_> = (0..5).map(|_| pool.start(request())).collect();
    let busy: Vec<usize> = pool.endpoints().iter().map(|endpoint| endpoint.in_flight).collect();
    assert_eq!(busy, [3, 2]);
    // Those that their caller drops make room.
    streams.truncate(2);
    drop(streams.remove(0));
    streams.push(pool.start(request()));
    assert_eq!(pool.endpoints()[0].in_flight, 1, "a had none left, b one");
    for stream in streams {
        let answer = collect(stream, Instant::now()).await;
        assert_eq!(endpoint(&answer), Some(answer.text.as_str()));
    }
    let after = pool.endpoints();
    assert!(after.iter().all(|endpoint| endpoint.in_flight == 0 && endpoint.fault.is_none()), "{after:?}");
    assert_eq!((after[0].completed, after[1].completed), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn requests_together_stay_together_at_each_endpoint() {
    let (a, b, c) = (Fake::new(), Fake::new(), Fake::new());
    let pool = pool(&[&a, &b, &c]).await.unwrap();
    let streams = pool.start_many(vec![request(); 10]);
    for fake in [&a, &b, &c] {
        let batches = fake.batches.lock().unwrap().clone();
        assert!(matches!(batches.as_slice(), [3 | 4]), "{batches:?}");
    }
    let answers = join_all(streams.into_iter().map(|stream| collect(stream, Instant::now()))).await;
    assert!(answers.iter().all(|answer| answer.error.is_none()));
}

#[tokio::test(start_paused = true)]
async fn a_failure_goes_elsewhere_and_its_endpoint_rests_longer_each_time() {
    let (a, b) = (Fake::new(), Fake::new());
    let pool = pool(&[&a, &b]).await.unwrap();
    for error in [refused(), busy(503), busy(404)] {
        a.then(Next::Fails(error));
    }
    let answer = ask(&pool).await;
    assert_eq!((answer.error.as_ref(), endpoint(&answer)), (None, Some("b")));
    assert_eq!(pool.endpoints()[0].fault, Some(refused()));
    // While it rests nobody asks it, however busy the other is.
    let busy_b: Vec<_> = (0..4).map(|_| pool.start(request())).collect();
    assert_eq!((a.started(), pool.endpoints()[1].in_flight), (1, 4));
    drop(busy_b);
    for (rest_ms, failures) in [(500, 2), (1000, 3)] {
        tokio::time::advance(Duration::from_millis(rest_ms - 50)).await;
        assert_eq!(endpoint(&ask(&pool).await), Some("b"));
        assert_eq!(a.started(), failures - 1, "it still rests");
        // Past the rest one request tries it, and only one. (An answer takes ten milliseconds.)
        tokio::time::advance(Duration::from_millis(50)).await;
        let answers = join_all((0..4).map(|_| ask(&pool))).await;
        assert!(answers.iter().all(|answer| endpoint(answer) == Some("b")));
        assert_eq!(a.started(), failures);
    }
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(endpoint(&ask(&pool).await), Some("a"), "it works again");
    assert_eq!(pool.endpoints()[0].fault, None);
    let answers = join_all((0..4).map(|_| ask(&pool))).await;
    assert_eq!(answers.iter().filter(|answer| endpoint(answer) == Some("a")).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn requests_that_fail_together_are_one_failure() {
    let (a, b) = (Fake::new(), Fake::new());
    let pool = pool(&[&a, &b]).await.unwrap();
    for _ in 0..6 {
        a.then(Next::Fails(refused()));
    }
    let answers = join_all(pool.start_many(vec![request(); 12]).into_iter().map(|s| collect(s, Instant::now()))).await;
    assert!(answers.iter().all(|answer| endpoint(answer) == Some("b")));
    tokio::time::advance(Duration::from_millis(501)).await;
    assert_eq!(endpoint(&ask(&pool).await), Some("a"), "half a second, as after one failure");
}

#[tokio::test(start_paused = true)]
async fn when_all_are_down_the_fault_that_may_pass_is_the_answer() {
    let (a, b) = (Fake::new(), Fake::new());
    let pool = pool(&[&a, &b]).await.unwrap();
    a.then(Next::Fails(refused()));
    b.then(Next::Fails(busy(404)));
    let answer = ask(&pool).await;
    assert_eq!((answer.error, answer.text.as_str()), (Some(refused()), ""));
    // Resting is no reason to lose a request: the next one asks both again.
    *a.down.lock().unwrap() = Some(refused());
    assert_eq!(endpoint(&ask(&pool).await), Some("b"));
}

#[tokio::test(start_paused = true)]
async fn what_was_seen_is_not_taken_back_and_silence_leaves_no_time() {
    let (a, b) = (Fake::new(), Fake::new());
    let pool = pool(&[&a, &b]).await.unwrap();
    let cut = ModelError::Truncated { url: "a".into() };
    a.then(Next::FailsInTheMiddle(cut.clone()));
    let answer = ask(&pool).await;
    assert_eq!((answer.text.as_str(), answer.error, b.started()), ("a", Some(cut), 0));
    assert_eq!(endpoint(&ask(&pool).await), Some("b"), "a rests");
    tokio::time::advance(Duration::from_secs(1)).await;
    let silent = ModelError::Silent { url: "a".into(), seconds: 9 };
    a.then(Next::Fails(silent.clone()));
    let before = b.started();
    let answer = ask(&pool).await;
    assert_eq!((answer.error, b.started()), (Some(silent), before));
    tokio::time::advance(Duration::from_mins(1)).await;
    a.then(Next::EndsWithoutAWord);
    assert_eq!(endpoint(&ask(&pool).await), Some("b"), "an answer that is none is a failure");
}

#[tokio::test(start_paused = true)]
async fn a_fault_of_the_request_is_nobodys_failure() {
    let (a, b) = (Fake::new(), Fake::new());
    let pool = pool(&[&a, &b]).await.unwrap();
    let overflow = ModelError::Overflow { prompt_tokens: 9, context: 8 };
    for error in [overflow, busy(400), ModelError::Schema { reason: "no".into() }] {
        a.then(Next::Fails(error.clone()));
        let other = b.started();
        let answer = ask(&pool).await;
        assert_eq!((answer.error, b.started()), (Some(error), other));
        assert_eq!(pool.endpoints()[0].fault, None);
        ask(&pool).await;
    }
}

#[tokio::test(start_paused = true)]
async fn endpoints_must_agree_as_far_as_they_tell() {
    let (a, b) = (Fake::new(), Fake::new());
    *b.info.lock().unwrap() = ModelInfo {
        template_digest: Some("sha256:u".into()),
        context: Some(2048),
        digest: Some("sha256:w".into()),
        ..info()
    };
    let error = pool(&[&a, &b]).await.err().unwrap();
    assert_eq!(
        error.to_string(),
        "a and b do not serve the same model: template: sha256:t there, sha256:u here; context: 4096 there, 2048 here"
    );
    assert!(error.hint().contains("same model"));
    *b.info.lock().unwrap() = ModelInfo { digest: Some("sha256:w".into()), template_digest: None, ..info() };
    let both = pool(&[&a, &b]).await.unwrap();
    assert_eq!(both.info().digest.as_deref(), Some("sha256:w"), "what one of them tells is known");
    assert_eq!(both.info().template_digest.as_deref(), Some("sha256:t"));
    let twice = Pool::connect(vec![a.endpoint("a"), a.endpoint("a")]).await.err().unwrap();
    assert_eq!(twice, PoolError::Twice("a".into()));
    assert!(matches!(Pool::connect(Vec::new()).await.err(), Some(PoolError::Model(_))));
}

#[tokio::test(start_paused = true)]
async fn one_that_is_down_at_first_joins_later_and_one_that_changed_never_again() {
    let (a, b) = (Fake::new(), Fake::new());
    *b.down.lock().unwrap() = Some(refused());
    let pool = pool(&[&a, &b]).await.unwrap();
    assert_eq!(pool.endpoints()[1].fault, Some(refused()));
    assert_eq!(endpoint(&ask(&pool).await), Some("a"));
    *b.down.lock().unwrap() = None;
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(endpoint(&ask(&pool).await), Some("b"));
    // It goes, and comes back with another context.
    b.then(Next::Fails(refused()));
    b.info.lock().unwrap().context = Some(512);
    let answers = join_all((0..2).map(|_| ask(&pool))).await;
    assert!(answers.iter().all(|answer| endpoint(answer) == Some("a")));
    for _ in 0..3 {
        tokio::time::advance(Duration::from_mins(1)).await;
        let answers = join_all((0..2).map(|_| ask(&pool))).await;
        assert!(answers.iter().all(|answer| endpoint(answer) == Some("a")), "{answers:?}");
    }
    let fault = pool.endpoints()[1].fault.clone().unwrap().to_string();
    assert_eq!(fault, "tiny stopped: b serves another model now: context: 4096 there, 512 here");
    // With the other one gone too, both reasons are told.
    a.then(Next::Fails(busy(503)));
    assert_eq!(ask(&pool).await.error, Some(busy(503)));
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_rendered_by_whoever_can() {
    let (a, b) = (Fake::new(), Fake::new());
    let pool = pool(&[&a, &b]).await.unwrap();
    a.then(Next::Fails(refused()));
    assert_eq!(endpoint(&ask(&pool).await), Some("b"));
    *a.down.lock().unwrap() = Some(refused());
    assert_eq!(pool.render(&request()).await.unwrap().text.as_deref(), Some("b"));
    let mut stream = pool.start(request());
    assert!(stream.next().await.unwrap().is_ok());
}
