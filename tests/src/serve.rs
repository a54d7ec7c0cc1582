//! A real `tenpass serve` on loopback, and a client of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::http::HeaderValue;
use tungstenite::{Message, WebSocket};

use crate::Tenpass;

/// How long anything may take before a test fails: never a part of what is tested.
const PATIENCE: Duration = Duration::from_mins(1);

/// The server; stopped by its process id when dropped.
pub struct Served {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
    /// The address with its one-time token, as it was printed.
    pub entrance: String,
    /// The bearer token, from the token file.
    pub token: String,
}

/// An answer over HTTP.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The head, as it came.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Answer {
    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Served {
    /// Starts it on the agent's folder of `tenpass` and waits until it answers.
    pub fn start(tenpass: &Tenpass, spec: &str, extra: &[&str]) -> Self {
        let mut words = vec!["serve", "--port", "0"];
        if !spec.is_empty() {
            words.extend(["--model", spec]);
        }
        words.extend(extra);
        let mut command = tenpass.command(&words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("the server prints");
        let entrance = line.trim().to_owned();
        let Some(rest) = entrance.strip_prefix("http://") else {
            let mut error = String::new();
            let _ = child.stderr.take().expect("a pipe").read_to_string(&mut error);
            panic!("serve did not start: {line}{error}");
        };
        // What it says further is read away, so that it never waits for a reader.
        let mut said = child.stderr.take().expect("a pipe");
        std::thread::spawn(move || drop(std::io::copy(&mut said, &mut std::io::sink())));
        let address = rest.split('/').next().and_then(|address| address.parse().ok()).expect("an address");
        let file = std::fs::read_to_string(tenpass.agent.path().join("serve.json")).expect("the token file");
        let running: Value = serde_json::from_str(&file).expect("JSON");
        let token = running["token"].as_str().expect("a token").to_owned();
        Self { child, address, entrance, token }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends exactly these bytes and gives what comes back until the end.
    pub fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        // A server that refuses early closes before everything was sent.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// A request with these headers besides Host; HTTP/1.0, so that no body comes in chunks.
    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.0\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers.iter().filter(|(_, value)| *value != "-") {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        self.raw(request.as_bytes())
    }

    /// `Authorization` of the bearer token.
    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// GET with the token, as JSON.
    pub fn get(&self, path: &str) -> Value {
        let answer = self.request("GET", path, &[("Authorization", &self.bearer())], "");
        assert_eq!(answer.status, 200, "GET {path}: {}\n{}", answer.head, answer.body);
        answer.json()
    }

    /// A write with the token.
    pub fn write(&self, method: &str, path: &str, body: &Value) -> Answer {
        let headers = [("Authorization", self.bearer()), ("Content-Type", "application/json".to_owned())];
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.request(method, path, &headers, &body.to_string())
    }

    /// A client on the socket, with the token.
    pub fn client(&self) -> Client {
        self.client_with(&[("Authorization", &self.bearer())]).expect("the socket opens")
    }

    /// A client with these headers, or the status of the refusal.
    pub fn client_with(&self, headers: &[(&str, &str)]) -> Result<Client, u16> {
        let url = format!("ws://{}/api/socket", self.address);
        let mut request = url.into_client_request().expect("a request");
        for (name, value) in headers {
            let name = tungstenite::http::HeaderName::from_bytes(name.as_bytes()).expect("a header name");
            request.headers_mut().insert(name, HeaderValue::from_str(value).expect("a header value"));
        }
        let stream = TcpStream::connect(self.address).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Client { socket, seen: Vec::new() }),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
                Err(response.status().as_u16())
            }
            Err(other) => panic!("no handshake: {other}"),
        }
    }

    /// Waits for the model.
    pub fn ready(&self) {
        let mut client = self.client();
        client.wait(|message| {
            assert_ne!(message["state"], "failed", "{message}");
            message["type"] == "model" && message["state"] == "ready"
        });
    }

    /// Sends a signal by its number.
    #[cfg(unix)]
    pub fn signal(&self, name: &str) {
        let killed = std::process::Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status();
        assert!(killed.expect("kill starts").success());
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child has a state") {
                return status;
            }
            assert!(Instant::now() < deadline, "the server does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Kills it as a crash would, and waits until it is gone.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A client on the socket.
pub struct Client {
    socket: WebSocket<TcpStream>,
    /// Every JSON message so far.
    pub seen: Vec<Value>,
}

impl Client {
    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        self.text(&message.to_string());
    }

    /// Sends a text frame.
    pub fn text(&mut self, frame: &str) {
        self.socket.send(Message::text(frame)).expect("the server reads");
    }

    /// Sends a frame; false when the connection is gone.
    pub fn try_send(&mut self, message: Message) -> bool {
        self.socket.send(message).is_ok()
    }

    /// The next JSON message; `None` at the end of the connection.
    #[allow(clippy::should_implement_trait, reason = "an iterator without an end invites collecting it")]
    pub fn next(&mut self) -> Option<Value> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    let value: Value = serde_json::from_str(&text).expect("the server sends JSON");
                    self.seen.push(value.clone());
                    return Some(value);
                }
                Ok(Message::Close(frame)) => {
                    self.seen.push(json!({ "type": "close", "code": frame.map(|frame| u16::from(frame.code)) }));
                    return None;
                }
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    panic!("nothing came for {} s; so far: {:#?}", PATIENCE.as_secs(), self.seen)
                }
                Err(_) => return None,
            }
        }
    }

    /// The first message from now on for which this holds.
    pub fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.next() {
                Some(message) if wanted(&message) => return message,
                Some(_) => {}
                None => panic!("the connection ended; so far: {:#?}", self.seen),
            }
        }
    }

    /// The first message of this type from now on.
    pub fn wait_for(&mut self, kind: &str) -> Value {
        self.wait(|message| message["type"] == kind)
    }

    /// The first message at all of this type that holds this text.
    pub fn find(&mut self, kind: &str, part: &str) -> Value {
        let fits = |message: &Value| message["type"] == kind && message.to_string().contains(part);
        if let Some(found) = self.seen.iter().find(|message| fits(message)) {
            return found.clone();
        }
        self.wait(fits)
    }

    /// Opens a thread, or the latest; the snapshot.
    pub fn open(&mut self, thread: Option<&str>) -> Value {
        self.send(&json!({ "type": "open", "thread": thread }));
        self.wait(|message| message["type"] == "thread" && thread.is_none_or(|thread| message["thread"] == thread))
    }

    /// Says something.
    pub fn say(&mut self, thread: &str, text: &str, id: &str) {
        self.send(&json!({ "type": "say", "thread": thread, "text": text, "id": id }));
    }
}
