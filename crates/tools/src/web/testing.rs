//! A scripted HTTP server on loopback for the tests of this crate. It ends when it is dropped.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// One request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// One step of an answer. After the last the connection is closed.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Write(Vec<u8>),
    /// Says nothing until the client closes the connection.
    Hang,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    abandoned: watch::Receiver<usize>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Answers the n-th request (from 0) with what `script` says.
    pub(crate) async fn start(script: impl Fn(&Request, usize) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (left, abandoned) = watch::channel(0);
        let (script, seen) = (Arc::new(script), Arc::clone(&requests));
        let task = tokio::spawn(async move {
            // Dropping the set with this task ends every connection.
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (script, seen, left) = (Arc::clone(&script), Arc::clone(&seen), left.clone());
                connections.spawn(async move {
                    let mut stream = stream;
                    let Some(request) = read(&mut stream).await else { return };
                    let steps = {
                        let mut seen = seen.lock().unwrap();
                        seen.push(request.clone());
                        script(&request, seen.len() - 1)
                    };
                    for step in steps {
                        match step {
                            Step::Write(bytes) => {
                                if stream.write_all(&bytes).await.is_err() {
                                    return;
                                }
                            }
                            Step::Hang => {
                                let mut rest = [0; 64];
                                while !matches!(stream.read(&mut rest).await, Ok(0) | Err(_)) {}
                                left.send_modify(|count| *count += 1);
                                return;
                            }
                        }
                    }
                    let _ = stream.shutdown().await;
                });
            }
        });
        Self { address, requests, abandoned, task }
    }

    /// Always the same answer.
    pub(crate) async fn always(answer: Vec<u8>) -> Self {
        Self::start(move |_, _| vec![Step::Write(answer.clone())]).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until a client has closed a hanging connection.
    pub(crate) async fn abandoned(&self) {
        self.abandoned.clone().wait_for(|count| *count > 0).await.unwrap();
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).ok()?;
    let mut lines = text.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut request = Request { method, path, headers, body: bytes[head + 4..].to_vec() };
    let length: usize = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while request.body.len() < length {
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => request.body.extend_from_slice(&chunk[..count]),
        }
    }
    Some(request)
}

/// A whole response with its length.
pub(crate) fn response(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes = head(status, headers, Some(body.len()));
    bytes.extend_from_slice(body);
    bytes
}

/// Status line and headers; without a length the body ends with the connection.
pub(crate) fn head(status: u16, headers: &[(&str, &str)], length: Option<usize>) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} X\r\nConnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if let Some(length) = length {
        text.push_str(&format!("Content-Length: {length}\r\n"));
    }
    text.push_str("\r\n");
    text.into_bytes()
}

/// What a call knows, at noon of a fixed day.
pub(crate) fn context() -> tenpass_agent::tool::CallContext {
    tenpass_agent::tool::CallContext {
        thread: "t".into(),
        turn: "1".into(),
        user_text: "Ask somebody.".into(),
        recent: Vec::new(),
        tainted: false,
        now: "2026-03-01T12:00:00+00:00[UTC]".parse().unwrap(),
        cancel: tokio_util::sync::CancellationToken::new(),
    }
}

/// Arguments from a JSON object.
pub(crate) fn arguments(value: Value) -> serde_json::Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}
