//! What the end-to-end tests share: the real binary, the assets, a llama-server on loopback.
//!
//! Nothing here skips: a test that was selected and lacks its binary or model fails with the
//! command that provides it. Every server started here is stopped by its process id.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "this crate exists for tests: a failure is a panic"
)]

pub mod script;
pub mod serve;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tenpass_engine::{EmbeddedModel, LoadOptions};

/// The repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests lie in the repository").to_owned()
}

/// The binary built with these tests.
pub fn binary() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let folder = test
        .ancestors()
        .find(|folder| folder.ends_with("deps"))
        .and_then(Path::parent)
        .expect("tests run from target/…/deps");
    let binary = folder.join(format!("tenpass{}", std::env::consts::EXE_SUFFIX));
    assert!(
        binary.is_file(),
        "{} is not built; run the tests with `cargo dev test` or `cargo test --workspace`",
        binary.display()
    );
    binary
}

/// The binary with a clean environment, its own runs folder and its own agent.
pub struct Tenpass {
    /// Where its runs go.
    pub runs: tempfile::TempDir,
    /// The agent's folder: journals, conversations, memory, and `files`, which it may write to.
    pub agent: tempfile::TempDir,
}

impl Default for Tenpass {
    fn default() -> Self {
        Self::new()
    }
}

impl Tenpass {
    /// With an empty runs folder.
    pub fn new() -> Self {
        let folder = || tempfile::tempdir().expect("a temporary folder");
        Self { runs: folder(), agent: folder() }
    }

    /// A call with these words, in the repository, without colours and network.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(words).current_dir(repository()).stdin(Stdio::null());
        command.env("TENPASS_RUNS_DIR", self.runs.path()).env("NO_COLOR", "1").env("TENPASS_OFFLINE", "1");
        command.env("TENPASS_AGENT_DIR", self.agent.path());
        command
            .env_remove("TENPASS_FILES_DIR")
            .env_remove("TENPASS_MEMORY_FILE")
            .env_remove("TENPASS_CONFIRM")
            .env_remove("TENPASS_CONFIG")
            .env_remove("COLUMNS")
            .env_remove("TENPASS_MODEL")
            .env_remove("TENPASS_PASSES")
            .env_remove("OLLAMA_HOST");
        command
    }

    /// Runs it to its end.
    pub fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the binary starts")
    }

    /// Runs it, expecting success, and returns stdout.
    pub fn ok(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tenpass {} ended with {}:\n{error}", words.join(" "), output.status);
        String::from_utf8(output.stdout).expect("output is UTF-8")
    }

    /// Runs it, expecting success, and reads stdout as JSON.
    pub fn json(&self, words: &[&str]) -> serde_json::Value {
        let text = self.ok(words);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("tenpass {}: {error}: {text}", words.join(" ")))
    }

    /// Runs it, expecting this exit code, and returns stderr, which must be short and say `error:`.
    pub fn fails(&self, code: i32, words: &[&str]) -> String {
        let output = self.run(words);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "tenpass {}:\n{error}", words.join(" "));
        assert!(error.contains("error: "), "no error line: {error}");
        assert!(!error.contains("panicked"), "a panic: {error}");
        error
    }
}

/// Where an asset of the catalogue is on this machine.
pub fn asset(name: &str) -> PathBuf {
    let output = Command::new(binary()).args(["models", "path", name]).output().expect("the binary starts");
    assert!(
        output.status.success(),
        "this test needs {name}; get it with `cargo dev test` or `tenpass models pull {name}`"
    );
    PathBuf::from(String::from_utf8(output.stdout).expect("a path in UTF-8").trim())
}

/// The embedded engine on an asset of the catalogue; `context` as in [`LoadOptions`].
pub fn embedded(name: &str, context: Option<u32>) -> EmbeddedModel {
    let options = LoadOptions {
        path: asset(name),
        spec: format!("embedded:{name}"),
        name: name.to_owned(),
        sha256: None,
        context,
        threads: None,
    };
    EmbeddedModel::load(&options).expect("the model loads")
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port()
}

/// A real llama-server on loopback; stopped when dropped.
pub struct LlamaServer {
    child: Child,
    /// Its port.
    pub port: u16,
}

impl LlamaServer {
    /// Starts it on a model and waits until it answers.
    pub fn start(model: &Path, extra: &[&str]) -> Self {
        let program = asset("llama-server");
        let folder = program.parent().expect("a program lies in a folder");
        let port = free_port();
        let child = Command::new(&program)
            .env("LD_LIBRARY_PATH", folder)
            .arg("-m")
            .arg(model)
            .args(["--host", "127.0.0.1", "--port", &port.to_string(), "-t", "2", "--jinja"])
            .args(extra)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("llama-server starts");
        let mut server = Self { child, port };
        let deadline = Instant::now() + Duration::from_mins(2);
        while !server.healthy() {
            if let Some(status) = server.child.try_wait().expect("a child has a state") {
                panic!("llama-server ended with {status}");
            }
            assert!(Instant::now() < deadline, "llama-server did not answer within 120 s");
            std::thread::sleep(Duration::from_millis(100));
        }
        server
    }

    fn get(&self, path: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    fn healthy(&self) -> bool {
        self.get("/health").is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
    }

    /// The greedy continuation of a prompt given as tokens.
    pub fn complete(&self, prompt: &[u32], tokens: u32) -> String {
        let body =
            serde_json::json!({ "prompt": prompt, "n_predict": tokens, "temperature": 0, "cache_prompt": false })
                .to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens");
        let head = format!(
            "POST /completion HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).expect("the server reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the server answers");
        let json = answer
            .find("\r\n\r\n")
            .map(|end| &answer[end..])
            .and_then(|rest| Some(&rest[rest.find('{')?..=rest.rfind('}')?]));
        let value: serde_json::Value = serde_json::from_str(json.expect("a JSON body")).expect("JSON");
        value["content"].as_str().expect("a text").to_owned()
    }

    /// How many of its slots compute an answer; the server was started with `--slots`.
    pub fn busy_slots(&self) -> usize {
        let answer = self.get("/slots").expect("the server answers");
        answer.matches("\"is_processing\":true").count()
    }

    /// The SPEC of its model.
    pub fn spec(&self) -> String {
        format!("openai:http://127.0.0.1:{}/v1", self.port)
    }
}

impl Drop for LlamaServer {
    fn drop(&mut self) {
        // By its process id; it may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The interpreter of a virtual environment with these packages from PyPI, under the target folder. Made on
/// first use; panics when it cannot be had.
pub fn python(name: &str, packages: &[&str]) -> PathBuf {
    let folder = binary().parent().expect("the binary lies in a folder").join(format!("{name}-venv"));
    std::fs::create_dir_all(&folder).expect("a folder for the environment");
    // Tests of other processes want the same environment.
    let lock = std::fs::File::create(folder.join("lock")).expect("a lock file");
    lock.lock().expect("the lock of the environment");
    let python = folder.join(if cfg!(windows) { "venv/Scripts/python.exe" } else { "venv/bin/python" });
    let (installed, wanted) = (folder.join("installed"), packages.join("\n"));
    if std::fs::read_to_string(&installed).is_ok_and(|found| found == wanted) && python.is_file() {
        return python;
    }
    let venv = folder.join("venv");
    if venv.exists() {
        std::fs::remove_dir_all(&venv).expect("an older environment can be removed");
    }
    finished(Command::new("python3").args(["-m", "venv"]).arg(&venv), "python3 -m venv");
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
    finished(&mut pip, "pip install");
    std::fs::write(&installed, wanted).expect("a note of what is installed");
    python
}

/// Runs it to its end and gives what it printed; panics with all of its output when it fails.
pub fn finished(command: &mut Command, what: &str) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{what} does not start: {error}"));
    let Output { status, stdout, stderr } = &output;
    let (stdout, stderr) = (String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr));
    assert!(status.success(), "{what} ended with {status}:\n{stdout}\n{stderr}");
    stdout.into_owned()
}
