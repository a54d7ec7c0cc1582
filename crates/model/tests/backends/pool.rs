//! Several servers behind one model, over real sockets: the conformance suite, a server that dies in
//! the middle of the work, and servers that do not agree.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;
use tenpass_model::conformance::{Subject, failures, run};
use tenpass_model::{
    BoxFuture, ChatModel, Collected, HttpOptions, ModelError, ModelSpec, Pool, PoolEndpoint, PoolError, collect,
};

use super::conformance::{asking, suite};
use super::fake;
use super::stub::{Asked, Part, Reply, Stub};

/// A pool and its servers.
struct Servers {
    stubs: Vec<Stub>,
    pool: Pool,
    missing: fn(&str) -> PoolEndpoint,
}

impl Subject for Servers {
    fn model(&self) -> Arc<dyn ChatModel> {
        Arc::new(self.pool.clone())
    }

    fn missing(&self) -> BoxFuture<'_, Result<Arc<dyn ChatModel>, ModelError>> {
        Box::pin(async {
            let endpoints = self.stubs.iter().map(|stub| (self.missing)(&stub.url())).collect();
            match Pool::connect(endpoints).await {
                Ok(pool) => Ok(Arc::new(pool) as Arc<dyn ChatModel>),
                Err(PoolError::Model(error)) => Err(error),
                Err(other) => panic!("{other}"),
            }
        })
    }

    fn active(&self) -> BoxFuture<'_, usize> {
        Box::pin(async { self.stubs.iter().map(Stub::active).sum() })
    }
}

async fn servers(
    handler: fn(&Asked) -> Reply,
    there: fn(&str) -> PoolEndpoint,
    missing: fn(&str) -> PoolEndpoint,
) -> Servers {
    let stubs = vec![Stub::start(handler).await, Stub::start(handler).await, Stub::start(handler).await];
    let pool = Pool::connect(stubs.iter().map(|stub| there(&stub.url())).collect()).await.unwrap();
    Servers { stubs, pool, missing }
}

fn openai(url: &str) -> PoolEndpoint {
    PoolEndpoint::openai(&format!("{url}/v1"), "tiny", &HttpOptions::default())
}

fn ollama(url: &str) -> PoolEndpoint {
    PoolEndpoint::ollama(url, "tiny", &HttpOptions::default())
}

#[tokio::test]
async fn a_pool_of_openai_servers_conforms() {
    let missing = |url: &str| PoolEndpoint::openai(url, "absent", &HttpOptions::default());
    let servers = servers(fake::openai, openai, missing).await;
    let spec = servers.pool.info().spec.clone();
    let parsed: ModelSpec = spec.parse().unwrap();
    assert_eq!((parsed.endpoints(), parsed.to_string()), (3, spec));
    let checks = run(&servers, &suite()).await;
    assert_eq!((failures(&checks).as_str(), checks.len()), ("", 9));
    assert!(servers.stubs.iter().all(|stub| !stub.bodies("/v1/chat/completions").is_empty()), "all were asked");
}

#[tokio::test]
async fn a_pool_of_ollama_servers_conforms() {
    let missing = |url: &str| PoolEndpoint::ollama(url, "absent", &HttpOptions::default());
    let servers = servers(fake::ollama, ollama, missing).await;
    assert!(servers.pool.info().spec.parse::<ModelSpec>().is_ok_and(|spec| spec.endpoints() == 3));
    let checks = run(&servers, &suite()).await;
    assert_eq!((failures(&checks).as_str(), checks.len()), ("", 9));
}

/// Asks `count` times, at most `jobs` at once, and again after a fault in the middle, as a bench does.
async fn work(pool: &Pool, count: usize, jobs: usize) -> Vec<Collected> {
    let places = Arc::new(tokio::sync::Semaphore::new(jobs));
    let answers = (0..count).map(|number| {
        let places = Arc::clone(&places);
        async move {
            let _place = places.acquire().await.unwrap();
            let mut answer = collect(pool.start(asking(&format!("word{number}"))), Instant::now()).await;
            if answer.error.as_ref().is_some_and(ModelError::is_transient) {
                answer = collect(pool.start(asking(&format!("word{number}"))), Instant::now()).await;
            }
            answer
        }
    });
    join_all(answers).await
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_loses_nothing() {
    let broken = Arc::new(AtomicBool::new(false));
    let breaks = Arc::clone(&broken);
    let dying = Stub::start(move |asked: &Asked| {
        let reply = fake::openai(asked);
        if breaks.load(Ordering::SeqCst) && asked.path.ends_with("completions") {
            // Half an answer, and then the connection is gone.
            return Reply { parts: reply.parts.into_iter().take(1).chain([Part::Abort]).collect(), ..reply };
        }
        reply
    })
    .await;
    let healthy = Stub::start(fake::openai).await;
    let pool = Pool::connect(vec![openai(&dying.url()), openai(&healthy.url())]).await.unwrap();
    let whole = |answers: &[Collected], first: usize| {
        for (number, answer) in answers.iter().enumerate() {
            assert_eq!(answer.error, None);
            let asked = format!("You said: word{}…", number + first);
            assert_eq!(answer.text, asked);
        }
    };
    let before = work(&pool, 20, 6).await;
    whole(&before, 0);
    let share = dying.bodies("/v1/chat/completions").len();
    assert!((5..=15).contains(&share), "{share} of 20");
    // It breaks in the middle of answers, and is then gone altogether.
    broken.store(true, Ordering::SeqCst);
    whole(&work(&pool, 20, 6).await, 0);
    let address = dying.stop().await;
    whole(&work(&pool, 20, 6).await, 0);
    let states = pool.endpoints();
    assert!(states[0].fault.is_some() && states[1].fault.is_none(), "{states:?}");
    // Both gone: the fault, and no answer.
    healthy.stop().await;
    let last = collect(pool.start(asking("word")), Instant::now()).await;
    assert!(matches!(&last.error, Some(ModelError::Connect { .. })), "{:?} at {address}", last.error);
}

#[tokio::test]
async fn servers_of_different_models_are_refused_with_the_difference() {
    let with_context = |context: u32| {
        move |asked: &Asked| match asked.path.as_str() {
            "/v1/models" => {
                Reply::json(200, &json!({"data": [{"id": "tiny", "object": "model", "max_model_len": context}]}))
            }
            _ => fake::openai(asked),
        }
    };
    let (small, large) = (Stub::start(with_context(2048)).await, Stub::start(with_context(8192)).await);
    let error = Pool::connect(vec![openai(&small.url()), openai(&large.url())]).await.err().unwrap();
    let text = error.to_string();
    assert!(text.contains("context: 2048 there, 8192 here") && text.contains(&large.url()), "{text}");
    let password = PoolEndpoint::openai("http://user:hunter2@127.0.0.1:1/v1", "tiny", &HttpOptions::default());
    assert!(!format!("{password:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_server_that_hangs_keeps_its_place_until_the_caller_lets_go() {
    let mut stubs = vec![Stub::start(fake::openai).await, Stub::start(fake::openai).await];
    let pool = Pool::connect(stubs.iter().map(|stub| openai(&stub.url())).collect()).await.unwrap();
    let mut long: Vec<_> = (0..2).map(|_| pool.start(asking("long"))).collect();
    for stream in &mut long {
        assert!(futures_util::StreamExt::next(stream).await.unwrap().is_ok());
    }
    let counts: Vec<usize> = pool.endpoints().iter().map(|endpoint| endpoint.in_flight).collect();
    assert_eq!(counts, [1, 1]);
    long.clear();
    for stub in &mut stubs {
        tokio::time::timeout(Duration::from_secs(10), stub.wait_for_hang_ups(1)).await.unwrap();
    }
    assert!(pool.endpoints().iter().all(|endpoint| endpoint.in_flight == 0 && endpoint.fault.is_none()));
}
