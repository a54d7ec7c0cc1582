//! The whole tool-choice bench on the embedded engine, against the same bench through llama-server.
//!
//! Same cases, passes, GGUF file, sampling and schema constraint; the server gets prompt caching
//! and ten slots, or one slot for sequential requests. Loading a model is not counted on either side.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::measure::Subject;
use crate::shell::Workspace;

const CASES: usize = 30;
/// Cases that are also measured each by itself.
const SINGLE: usize = 5;
/// Tokens of context for each slot: the longest prompt of the suite and its answer.
const SLOT: usize = 4096;

/// A llama-server, stopped when dropped.
struct Server {
    child: Child,
    spec: String,
}

impl Server {
    fn start(program: &PathBuf, model: &str, slots: usize) -> anyhow::Result<Self> {
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let folder = program.parent().context("the server lies in a folder")?;
        let child = Command::new(program)
            .env("LD_LIBRARY_PATH", folder)
            .args(["-m", model, "--host", "127.0.0.1", "--port", &port.to_string(), "--jinja"])
            .args(["-c", &(SLOT * slots).to_string(), "--parallel", &slots.to_string()])
            .args(["-t", &std::thread::available_parallelism()?.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("llama-server does not start")?;
        let mut server = Self { child, spec: format!("openai:http://127.0.0.1:{port}/v1") };
        let deadline = Instant::now() + Duration::from_mins(2);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() || !healthy(port) {
            if server.child.try_wait()?.is_some() || Instant::now() > deadline {
                bail!("llama-server did not come up");
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(server)
    }
}

fn healthy(port: u16) -> bool {
    use std::io::{Read, Write};
    let ask = || -> std::io::Result<String> {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port))?;
        stream.write_all(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Seconds for one case in a process of its own.
fn alone(subject: &Subject, spec: &str, id: &str, passes: usize) -> anyhow::Result<f64> {
    let passes = passes.to_string();
    let words = ["--structure", "grammar", "--seed", "7", "--model", spec, "--filter", id, "--passes", &passes];
    Ok(subject.bench(&words)?.0)
}

/// Measures and prints. `--passes N` and `--cases N` make it shorter.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> anyhow::Result<Value> {
    let option = |name: &str, default: usize| {
        let value = arguments.iter().position(|word| word == name).and_then(|at| arguments.get(at + 1));
        value.and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let (count, passes) = (option("--cases", CASES), option("--passes", 10));
    let subject = Subject::new(workspace, "engine-runs")?;
    let path =
        |name: &str| -> anyhow::Result<String> { Ok(subject.run(&["models", "path", name])?.stdout.trim().to_owned()) };
    let (model, program) = (path("smollm2-135m")?, PathBuf::from(path("llama-server")?));
    let listed: Value = serde_json::from_str(&subject.run(&["cases", "list", "--format", "json"])?.stdout)?;
    let listed =
        listed.as_array().cloned().or_else(|| listed["cases"].as_array().cloned()).context("no list of cases")?;
    // Spread over the suite, so that every family and both languages take part.
    let ids: Vec<String> = (0..count.min(listed.len()))
        .filter_map(|index| listed[index * listed.len() / count.min(listed.len())]["id"].as_str().map(str::to_owned))
        .collect();
    let mut words: Vec<&str> = vec!["--structure", "grammar", "--seed", "7", "--timeout", "30m"];
    for id in &ids {
        words.extend(["--filter", id.as_str()]);
    }
    let bench = |spec: &str, passes: usize, jobs: Option<usize>| -> anyhow::Result<f64> {
        let (passes, jobs) = (passes.to_string(), jobs.map(|jobs| jobs.to_string()));
        let mut all = words.clone();
        all.extend(["--model", spec, "--passes", &passes]);
        if let Some(jobs) = &jobs {
            all.extend(["--jobs", jobs.as_str()]);
        }
        let (seconds, report, _) = subject.bench(&all)?;
        let configuration = &report["configurations"][0];
        let passed = configuration["rate"]["passed"].as_u64().unwrap_or(0);
        let total = configuration["rate"]["total"].as_u64().unwrap_or(0);
        println!("  {spec}: {total} passes in {seconds:.1} s ({passed} right)");
        Ok(seconds)
    };
    let embedded = format!("embedded:{model}");
    println!("{} cases, schema-constrained, SmolLM2-135M", ids.len());
    println!("embedded, one pass a case:");
    let one = bench(&embedded, 1, None)?;
    println!("embedded, {passes} passes a case:");
    let ten = bench(&embedded, passes, None)?;
    println!("embedded, single cases, one pass and {passes}:");
    let (mut single_one, mut single_all) = (0.0, 0.0);
    for id in ids.iter().take(SINGLE) {
        single_one += alone(&subject, &embedded, id, 1)?;
        single_all += alone(&subject, &embedded, id, passes)?;
    }
    println!("  {SINGLE} cases, each by itself: {single_one:.1} s with one pass, {single_all:.1} s with {passes}");
    println!("llama-server, prompt caching, 10 slots, {passes} passes a case:");
    let server = Server::start(&program, &model, 10)?;
    let slots = bench(&server.spec, passes, Some(10))?;
    drop(server);
    println!("llama-server, prompt caching, sequential, {passes} passes a case:");
    let server = Server::start(&program, &model, 1)?;
    let sequential = bench(&server.spec, passes, Some(1))?;
    drop(server);
    println!("embedded, {passes} passes a case, again:");
    let again = bench(&embedded, passes, None)?;
    let engine = ten.min(again);
    println!("\n{:>5.1}× the speed of 10 slots (wanted: 3)", slots / engine);
    println!("{:>5.1}× the speed of sequential requests (wanted: 10)", sequential / engine);
    println!("{:>5.2}× the cost of one pass for {passes}, a case by itself (wanted: below 2)", single_all / single_one);
    println!("{:>5.2}× the cost of one pass for {passes}, all cases in one batch", engine / one);
    Ok(json!({
        "cases": ids.len(), "passes": passes, "embedded_one_pass_s": one, "embedded_s": [ten, again],
        "llama_server_10_slots_s": slots, "llama_server_sequential_s": sequential,
        "speed_against_10_slots": slots / engine, "speed_against_sequential": sequential / engine,
        "cost_of_all_passes_against_one": engine / one,
        "cost_of_all_passes_against_one_single_case": single_all / single_one,
    }))
}
