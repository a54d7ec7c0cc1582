//! `tenpass serve` for other programs: OpenAI's own client, and the second computer.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failure is a panic")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tenpass_embed::{Api, Embedder, RemoteEmbedder, cosine};
use tenpass_tests::{Tenpass, asset, finished, python};

/// A server that is ended with the test, by its process id.
struct Server {
    child: Child,
    tenpass: Tenpass,
    address: String,
    told: BufReader<std::process::ChildStdout>,
}

impl Server {
    fn start(words: &[&str]) -> Self {
        let tenpass = Tenpass::new();
        let mut command = tenpass.command(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut told = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        told.read_line(&mut line).unwrap();
        let address = line.trim().split("/enter").next().unwrap().to_owned();
        assert!(address.starts_with("http://127.0.0."), "{line}");
        Self { child, tenpass, address, told }
    }

    fn agent_file(&self, name: &str) -> String {
        std::fs::read_to_string(self.tenpass.agent.path().join(name)).unwrap()
    }

    /// Ends it as a service manager does.
    fn terminate(mut self) -> i32 {
        finished(Command::new("kill").arg("-TERM").arg(self.child.id().to_string()), "kill");
        let status = self.child.wait().unwrap();
        let mut rest = String::new();
        self.told.read_to_string(&mut rest).unwrap();
        status.code().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn openais_own_client_is_served() {
    for name in ["smollm2-135m", "whisper-base", "whisper-base-tokenizer", "silero-vad", "onnxruntime", "minilm-l6-v2"]
    {
        asset(name);
    }
    let client = python("openai", &["openai==2.9.0"]);
    let server = Server::start(&["serve", "--port", "0"]);
    let running: Value = serde_json::from_str(&server.agent_file("serve.json")).unwrap();
    let token = running["token"].as_str().unwrap();
    wait_until_loaded(&server.address, token);
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/data/openai_client.py");
    let printed = finished(Command::new(client).arg(program).arg(&server.address).arg(token), "OpenAI's client");
    let found: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(found["kinds"], serde_json::json!(["chat", "embeddings", "speech", "transcription"]));
    assert_eq!(found["one"], true);
    let text = found["text"].as_str().unwrap();
    assert!(!text.trim().is_empty());
    // Greedy: the whole answer, two of them, and the stream are one text.
    assert_eq!(found["two"], serde_json::json!([text, text]));
    assert_eq!(found["streamed"], text);
    assert!(found["pieces"].as_u64().unwrap() > 3, "{found}");
    assert_eq!((found["finish"].as_str(), found["tokens"].as_u64()), (Some("length"), Some(12)));
    assert_eq!(found["streamed_tokens"], 12);
    let calls = found["calls"].as_array().unwrap();
    assert!(calls.iter().all(|call| call[0] == "get_weather" && call[1].is_object()), "{found}");
    assert_eq!(found["bad_model"], serde_json::json!([404, "model"]));
    assert_eq!(found["bad_temperature"], serde_json::json!([400, "temperature"]));
    assert!(found["cosine"].as_f64().unwrap() > 0.5);
    let heard = found["heard"].as_str().unwrap().to_lowercase();
    assert!(heard.contains("quick brown fox"), "{heard}");
    assert!(found["srt"].as_str().unwrap().starts_with("1\n00:00:0"));
    assert!(found["pcm"].as_u64().unwrap() > 10_000);
    assert_eq!(found["broken"], serde_json::json!([400, "file"]));
    assert_eq!(server.terminate(), 0);
}

/// Waits, without a fixed time, until model and engines answer.
fn wait_until_loaded(address: &str, token: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = models_of(address, token);
    runtime.block_on(async {
        for _ in 0..1_200 {
            if client().is_some_and(|models| models.matches("\"kind\"").count() >= 4) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("the server does not get ready");
    });
}

/// `GET /v1/models` by hand.
fn models_of(address: &str, token: &str) -> impl Fn() -> Option<String> {
    let host = address.trim_start_matches("http://").to_owned();
    let request = format!(
        "GET /v1/models HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    move || {
        use std::io::Write as _;
        let mut stream = std::net::TcpStream::connect(&host).ok()?;
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        answer.starts_with("HTTP/1.1 200").then_some(answer)
    }
}

#[test]
fn the_second_computer_embeds_and_the_first_refuses_itself() {
    asset("minilm-l6-v2");
    // Two addresses of one machine stand for two computers.
    let second = Server::start(&["serve", "--role", "embeddings", "--host", "127.0.0.2", "--port", "0"]);
    let token = second.agent_file("embeddings.token");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let connect = |token: &str| {
        runtime.block_on(RemoteEmbedder::connect(&second.address, Api::OpenAi, "minilm-l6-v2", Some(token.to_owned())))
    };
    let remote = connect(token.trim()).unwrap();
    assert_eq!(remote.info().dimensions, 384);
    let texts = ["A man is eating food.".to_owned(), "Somebody has a meal.".to_owned()];
    let vectors = runtime.block_on(remote.embed(&texts)).unwrap();
    assert!(cosine(&vectors[0], &vectors[1]) > 0.5);
    assert!(connect("wrong").unwrap_err().to_string().contains("401"));

    // The desktop's configuration names a loopback address: the model would take the memory that it was moved away for.
    let desktop = Tenpass::new();
    for address in [second.address.as_str(), "http://localhost:8441", "http://[::ffff:127.0.0.1]:8441"] {
        let mut command = desktop.command(&["serve", "--port", "0"]);
        let output = command.env("TENPASS_EMBEDDINGS", address).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{address}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("cannot be this one"), "{error}");
    }
    let refused = desktop.fails(2, &["serve", "--role", "embeddings", "--host", "0.0.0.0", "--port", "0"]);
    assert!(refused.contains("--public"), "{refused}");
    assert_eq!(second.terminate(), 0);
}
