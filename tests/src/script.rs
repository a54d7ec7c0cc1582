//! A model server that answers from a script, on loopback: for the mechanisms around a model, never
//! for claims about one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

/// What a script answers.
#[derive(Debug, Clone, Default)]
pub struct Scripted {
    /// The text, sent in pieces of a few characters.
    pub text: String,
    /// Calls of the structured channel: name and arguments.
    pub calls: Vec<(String, Value)>,
    /// Pause before each piece.
    pub pause: Duration,
    /// Pieces to send before the connection is closed in the middle; `None` sends everything.
    pub cut_after: Option<usize>,
}

impl Scripted {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A call.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self { calls: vec![(name.to_owned(), arguments)], ..Self::default() }
    }
}

type Script = dyn Fn(&Value) -> Scripted + Send + Sync;

/// The server; it stops when it is dropped.
pub struct ScriptServer {
    port: u16,
    requests: Arc<Mutex<Vec<(String, Value)>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ScriptServer {
    /// Starts it. The script gets the body of each request; it answers OpenAI's `/chat/completions`
    /// and Anthropic's `/v1/messages`, streamed.
    pub fn start(script: impl Fn(&Value) -> Scripted + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let script: Arc<Script> = Arc::new(script);
        let (kept, stopped) = (Arc::clone(&requests), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let (kept, script) = (Arc::clone(&kept), Arc::clone(&script));
                // A client that goes away ends its connection with an error, which is no failure here.
                std::thread::spawn(move || drop(serve(stream, &kept, &*script)));
            }
        });
        Self { port, requests, stop, thread: Some(thread) }
    }

    /// Its root address.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The SPEC of its model.
    pub fn spec(&self) -> String {
        format!("openai:http://127.0.0.1:{}/v1#scripted", self.port)
    }

    /// Path and body of every request so far.
    pub fn requests(&self) -> Vec<(String, Value)> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ScriptServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the listener.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn serve(mut stream: TcpStream, kept: &Mutex<Vec<(String, Value)>>, script: &Script) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let path = first.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    if path.ends_with("/models") {
        let models = json!({ "object": "list", "data": [{ "id": "scripted", "object": "model" }] }).to_string();
        return whole(&mut stream, 200, &models);
    }
    if !path.ends_with("/chat/completions") && !path.ends_with("/messages") {
        return whole(&mut stream, 404, "{\"error\":{\"message\":\"no such path\"}}");
    }
    kept.lock().unwrap_or_else(PoisonError::into_inner).push((path.clone(), body.clone()));
    let answer = script(&body);
    let events = if path.ends_with("/messages") { anthropic(&answer) } else { openai(&answer) };
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
    for (number, event) in events.iter().enumerate() {
        if answer.cut_after.is_some_and(|most| number >= most) {
            return Ok(());
        }
        std::thread::sleep(answer.pause);
        stream.write_all(event.as_bytes())?;
        stream.flush()?;
    }
    Ok(())
}

fn whole(stream: &mut TcpStream, status: u16, body: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(6).map(|piece| piece.iter().collect()).collect()
}

fn openai(answer: &Scripted) -> Vec<String> {
    let event = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        format!("data: {}\n\n", json!({ "id": "1", "object": "chat.completion.chunk", "choices": [choice] }))
    };
    let mut events: Vec<String> = vec![event(json!({ "role": "assistant", "content": "" }), Value::Null)];
    events.extend(pieces(&answer.text).into_iter().map(|piece| event(json!({ "content": piece }), Value::Null)));
    for (index, (name, arguments)) in answer.calls.iter().enumerate() {
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        let call = json!({ "index": index, "id": format!("call_{index}"), "type": "function", "function": function });
        events.push(event(json!({ "tool_calls": [call] }), Value::Null));
    }
    let finish = if answer.calls.is_empty() { "stop" } else { "tool_calls" };
    events.push(event(json!({}), json!(finish)));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn anthropic(answer: &Scripted) -> Vec<String> {
    let event = |name: &str, data: Value| format!("event: {name}\ndata: {data}\n\n");
    let mut events = vec![
        event(
            "message_start",
            json!({ "type": "message_start", "message": { "id": "m", "type": "message", "role": "assistant", "content": [], "model": "scripted", "usage": { "input_tokens": 200, "output_tokens": 1 } } }),
        ),
        event(
            "content_block_start",
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        ),
    ];
    events.extend(pieces(&answer.text).into_iter().map(|piece| {
        event(
            "content_block_delta",
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": piece } }),
        )
    }));
    events.push(event("content_block_stop", json!({ "type": "content_block_stop", "index": 0 })));
    events.push(event(
        "message_delta",
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 60 } }),
    ));
    events.push(event("message_stop", json!({ "type": "message_stop" })));
    events
}
