//! A tiny HTTP server that serves canned bytes in chosen pieces and remembers what it was asked.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: String,
    pub(crate) body: Value,
}

/// One piece of a response's body.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Sent and flushed at once, as a chunk of its own.
    Bytes(Vec<u8>),
    /// Waits until the client closes the connection.
    Hang,
    /// Closes the connection without ending the response.
    Abort,
}

/// A response.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) parts: Vec<Part>,
}

impl Reply {
    pub(crate) fn new(status: u16, content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, content_type, parts: vec![Part::Bytes(body.into())] }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub(crate) fn then(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }
}

type Handler = dyn Fn(&Asked) -> Reply + Send + Sync;

/// The running server; dropping it stops it.
pub(crate) struct Stub {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// Responses being sent at this moment.
    active: Arc<AtomicUsize>,
    /// How often a client closed the connection while a response hung.
    hung_up: watch::Receiver<usize>,
    task: JoinHandle<()>,
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Stub {
    pub(crate) async fn start(handler: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let active: Arc<AtomicUsize> = Arc::default();
        let (sender, hung_up) = watch::channel(0);
        let serving = Serving {
            handler: Arc::new(handler),
            asked: Arc::clone(&asked),
            active: Arc::clone(&active),
            sender: Arc::new(sender),
        };
        let task = tokio::spawn(async move {
            // Connections die with the server.
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                connections.spawn(async move {
                    let _ = serving.connection(stream).await;
                });
            }
        });
        Self { address, asked, active, hung_up, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The bodies sent to `path`.
    pub(crate) fn bodies(&self, path: &str) -> Vec<Value> {
        self.asked().into_iter().filter(|asked| asked.path == path).map(|asked| asked.body).collect()
    }

    pub(crate) fn active(&self) -> usize {
        self.active.load(Ordering::SeqCst)
    }

    /// Waits until `count` clients have hung up on a hanging response.
    pub(crate) async fn wait_for_hang_ups(&mut self, count: usize) {
        self.hung_up.wait_for(|seen| *seen >= count).await.unwrap();
    }

    /// Stops the server, connections included.
    pub(crate) async fn stop(mut self) -> SocketAddr {
        self.task.abort();
        let _ = (&mut self.task).await;
        self.address
    }
}

#[derive(Clone)]
struct Serving {
    handler: Arc<Handler>,
    asked: Arc<Mutex<Vec<Asked>>>,
    active: Arc<AtomicUsize>,
    sender: Arc<watch::Sender<usize>>,
}

/// Counts a response as active until it is dropped.
struct Active(Arc<AtomicUsize>);

impl Drop for Active {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Serving {
    async fn connection(&self, stream: TcpStream) -> std::io::Result<()> {
        // Without this, pieces wait for the acknowledgement of the ones before.
        stream.set_nodelay(true)?;
        let mut stream = BufReader::new(stream);
        while let Some(asked) = read_request(&mut stream).await? {
            self.asked.lock().unwrap().push(asked.clone());
            let reply = (self.handler)(&asked);
            self.active.fetch_add(1, Ordering::SeqCst);
            let _active = Active(Arc::clone(&self.active));
            let head = format!(
                "HTTP/1.1 {} Status\r\ncontent-type: {}\r\ntransfer-encoding: chunked\r\n\r\n",
                reply.status, reply.content_type
            );
            stream.write_all(head.as_bytes()).await?;
            for part in &reply.parts {
                match part {
                    Part::Bytes(bytes) if bytes.is_empty() => {}
                    Part::Bytes(bytes) => {
                        stream.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).await?;
                        stream.write_all(bytes).await?;
                        stream.write_all(b"\r\n").await?;
                        stream.flush().await?;
                    }
                    Part::Hang => {
                        let end = stream.read_u8().await;
                        assert!(end.is_err(), "the client sends nothing while it waits");
                        self.sender.send_modify(|count| *count += 1);
                        return Ok(());
                    }
                    Part::Abort => return stream.shutdown().await,
                }
            }
            stream.write_all(b"0\r\n\r\n").await?;
            stream.flush().await?;
        }
        Ok(())
    }
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Asked>> {
    let mut first = String::new();
    if stream.read_line(&mut first).await? == 0 {
        return Ok(None);
    }
    let mut words = first.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let mut headers = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        headers.push_str(&line);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
    Ok(Some(Asked { method, path, headers, body }))
}
