//! K7: what arrives at a server when the agent streams, for both protocols, over a real socket.

use std::sync::Mutex;

use tenpass_model::{ChatModel, HttpOptions, OllamaModel, OpenAiModel, ThinkLevel};
use tenpass_trace::TurnEnd;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::*;
use crate::Structure;

type Bodies = Arc<Mutex<Vec<(String, Value)>>>;

/// A server that answers every path by a closure and keeps the bodies.
struct Stub {
    url: String,
    bodies: Bodies,
    task: JoinHandle<()>,
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Stub {
    async fn start(answer: fn(&str, &Value) -> (&'static str, String)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let bodies = Bodies::default();
        let kept = Arc::clone(&bodies);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = serve(stream, &kept, answer).await;
            }
        });
        Self { url, bodies, task }
    }

    fn chats(&self, path: &str) -> Vec<Value> {
        self.bodies.lock().unwrap().iter().filter(|(asked, _)| asked == path).map(|(_, body)| body.clone()).collect()
    }
}

async fn serve(
    stream: TcpStream,
    kept: &Bodies,
    answer: fn(&str, &Value) -> (&'static str, String),
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let path = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).await?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (kind, text) = answer(&path, &body);
    kept.lock().unwrap().push((path, body));
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}

/// Ollama with one model that calls `read_file` first and answers when it has a result.
fn ollama(path: &str, body: &Value) -> (&'static str, String) {
    let nothing = json!({"role": "assistant", "content": ""});
    let end =
        json!({"done": true, "done_reason": "stop", "prompt_eval_count": 900, "eval_count": 5, "message": nothing});
    let has_result =
        body["messages"].as_array().is_some_and(|messages| messages.iter().any(|message| message["role"] == "tool"));
    match path {
        "/api/show" => (
            "application/json",
            json!({
                "capabilities": ["completion", "tools", "thinking"],
                "template": "{{ .Prompt }}",
                "model_info": {"tiny.context_length": 40_960}
            })
            .to_string(),
        ),
        "/api/chat" if body.get("format").is_some() => {
            let text = json!({"name": "answer", "arguments": {"text": "Constrained."}}).to_string();
            let piece = json!({"done": false, "message": {"role": "assistant", "content": text}});
            ("application/x-ndjson", format!("{piece}\n{end}\n"))
        }
        "/api/chat" => {
            let message = if has_result {
                json!({"role": "assistant", "content": "It says hello."})
            } else {
                let call = json!({"function": {"name": "read_file", "arguments": {"filename": "a.txt"}}});
                json!({"role": "assistant", "content": "", "tool_calls": [call]})
            };
            ("application/x-ndjson", format!("{}\n{end}\n", json!({"done": false, "message": message})))
        }
        _ => ("application/json", json!({"version": "0.12.3", "models": []}).to_string()),
    }
}

/// An OpenAI-compatible server with the same model.
fn openai(path: &str, body: &Value) -> (&'static str, String) {
    if path != "/v1/chat/completions" {
        return (
            "application/json",
            json!({"object": "list", "data": [{"id": "tiny", "object": "model"}]}).to_string(),
        );
    }
    let has_result =
        body["messages"].as_array().is_some_and(|messages| messages.iter().any(|message| message["role"] == "tool"));
    let (delta, reason) = if has_result {
        (json!({"content": "It says hello."}), "stop")
    } else {
        let function = json!({"name": "read_file", "arguments": "{\"filename\":\"a.txt\"}"});
        (json!({"tool_calls": [{"index": 0, "id": "c1", "function": function}]}), "tool_calls")
    };
    let chunk = |delta: &Value, reason: Value| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}))
    };
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 5}});
    let stream =
        format!("{}{}data: {usage}\n\ndata: [DONE]\n\n", chunk(&delta, Value::Null), chunk(&json!({}), json!(reason)));
    ("text/event-stream", stream)
}

async fn turn(model: impl ChatModel + 'static, structure: Option<Structure>) -> TurnReport {
    let agent = Agent::new(
        Arc::new(model),
        Arc::new(tools()),
        Arc::new(MemoryRecorder::default()),
        Arc::new(FixedClock::default()),
        AgentSettings { structure, ..AgentSettings::default() },
    );
    let given = TurnInput { think: Some(ThinkLevel::Medium), ..input("what does a.txt say?") };
    agent.turn(given, &ScriptedPerson::silent(), CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn k7_tools_think_format_temperature_and_num_ctx_arrive_at_ollama() {
    let stub = Stub::start(ollama).await;
    let options = HttpOptions::default();
    let connect = || OllamaModel::connect(&stub.url, "tiny", None, &options);
    let report = turn(connect().await.unwrap(), None).await;
    assert_eq!((report.end, report.text.as_str()), (TurnEnd::Natural, "It says hello."));
    let constrained = turn(connect().await.unwrap(), Some(Structure::Grammar)).await;
    assert_eq!(constrained.text, "Constrained.");
    let chats = stub.chats("/api/chat");
    assert_eq!(chats.len(), 3);
    for body in &chats {
        assert_eq!(body["stream"], true);
        assert_eq!(body["think"], "medium", "a string (K9)");
        assert_eq!(body["options"]["temperature"], json!(0.3));
        assert_eq!(body["options"]["num_ctx"], 32_768);
        assert_eq!(body["truncate"], false, "an overflow is an error (K8)");
    }
    for body in &chats[..2] {
        assert_eq!(body["tools"][0]["function"]["name"], "read_file");
        assert_eq!(body["tools"].as_array().unwrap().len(), 2);
        assert!(body.get("format").is_none());
    }
    assert_eq!(chats[1]["messages"][3]["role"], "tool");
    assert_eq!(chats[1]["messages"][3]["tool_name"], "read_file");
    assert!(chats[2].get("tools").is_none());
    assert!(chats[2]["format"]["anyOf"].is_array());
}

#[tokio::test]
async fn k7_the_same_arrives_in_the_openai_protocol() {
    let stub = Stub::start(openai).await;
    let url = format!("{}/v1", stub.url);
    let options = HttpOptions::default();
    let connect = || OpenAiModel::connect(&url, "tiny", &options);
    let report = turn(connect().await.unwrap(), None).await;
    assert_eq!((report.end, report.text.as_str()), (TurnEnd::Natural, "It says hello."));
    turn(connect().await.unwrap(), Some(Structure::Grammar)).await;
    let chats = stub.chats("/v1/chat/completions");
    for body in &chats {
        assert_eq!(body["stream"], true);
        assert_eq!(body["reasoning_effort"], "medium");
        assert_eq!(body["temperature"], json!(0.3));
        assert_eq!(body["stream_options"]["include_usage"], true);
    }
    assert_eq!(chats[0]["tools"][0]["function"]["name"], "read_file");
    assert_eq!(chats[1]["messages"][3]["tool_call_id"], chats[1]["messages"][2]["tool_calls"][0]["id"]);
    assert_eq!(chats[2]["response_format"]["type"], "json_schema");
    assert!(chats[2].get("tools").is_none());
}

/// Cancels the turn with the first text it is shown, and remembers when.
struct Impatient {
    stop: CancellationToken,
    stopped_at: Mutex<Option<std::time::Instant>>,
}

impl crate::interaction::Interaction for Impatient {
    fn event(&self, event: crate::interaction::AgentEvent) {
        if matches!(event, crate::interaction::AgentEvent::Text(_)) {
            self.stopped_at.lock().unwrap().get_or_insert_with(std::time::Instant::now);
            self.stop.cancel();
        }
    }

    fn confirm<'a>(
        &'a self,
        _confirmation: &'a crate::interaction::Confirmation,
    ) -> tenpass_model::BoxFuture<'a, crate::interaction::Reply> {
        Box::pin(std::future::pending())
    }
}

/// Sends the beginning of an answer, then waits until the client hangs up.
async fn hang(stream: TcpStream) -> std::io::Result<std::time::Instant> {
    let mut stream = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).await?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    stream.read_exact(&mut vec![0; length]).await?;
    let piece =
        format!("{}\n", json!({"done": false, "message": {"role": "assistant", "content": "Once upon a time "}}));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(format!("{head}{:x}\r\n{piece}\r\n", piece.len()).as_bytes()).await?;
    stream.flush().await?;
    assert!(stream.read_u8().await.is_err(), "the client sends nothing more");
    Ok(std::time::Instant::now())
}

#[tokio::test]
async fn k6_a_stop_closes_the_http_connection_within_200_ms() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let kept = Bodies::default();
        // What the client asks about the model first: show, tags, version.
        for _ in 0..3 {
            serve(listener.accept().await.unwrap().0, &kept, ollama).await.unwrap();
        }
        hang(listener.accept().await.unwrap().0).await.unwrap()
    });
    let model = OllamaModel::connect(&url, "tiny", None, &HttpOptions::default()).await.unwrap();
    let recorder = Arc::new(MemoryRecorder::default());
    let agent = Agent::new(
        Arc::new(model),
        Arc::new(tools()),
        recorder,
        Arc::new(FixedClock::default()),
        AgentSettings::default(),
    );
    let stop = CancellationToken::new();
    let person = Impatient { stop: stop.clone(), stopped_at: Mutex::default() };
    let report = agent.turn(input("tell"), &person, stop).await.unwrap();
    let hung_up = server.await.unwrap();
    let stopped_at = person.stopped_at.lock().unwrap().unwrap();
    assert_eq!((report.end, report.text.as_str()), (TurnEnd::Stopped, "Once upon a time"));
    assert!(hung_up.saturating_duration_since(stopped_at).as_millis() < 200);
}
