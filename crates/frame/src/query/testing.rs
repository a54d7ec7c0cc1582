//! A store of runs and a journal for the tests, written as the program writes them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use tenpass_trace::journal::{Journal, JournalKey};
use tenpass_trace::{CallOutcome, ConfirmationAnswer, RetryReason, Tier, TraceEvent, TraceRecord, TurnEnd};

use super::Sources;

pub(crate) const FIRST: &str = "20261130-100000-aaaa";
pub(crate) const SECOND: &str = "20261130-110000-bbbb";
pub(crate) const OTHER: &str = "20261130-120000-cccc";

/// A folder with runs and a journal.
pub(crate) struct World {
    pub(crate) folder: TempDir,
}

impl World {
    /// Two runs of bench tools and one of rounds; three turns.
    pub(crate) fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(world.runs()).unwrap();
        fs::create_dir(world.agent()).unwrap();
        write_run(&world.runs(), FIRST, "tools", "2026-11-30T10:00:00.000Z", 10);
        write_run(&world.runs(), SECOND, "tools", "2026-11-30T11:00:00.000Z", 10);
        write_run(&world.runs(), OTHER, "rounds", "2026-11-30T12:00:00.000Z", 3);
        world.append(&turn("turn-1", TurnEnd::Natural));
        world.append(&turn("turn-2", TurnEnd::Stopped));
        world
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    pub(crate) fn agent(&self) -> PathBuf {
        self.folder.path().join("agent")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.agent().join("orchestrator-trace.jsonl")
    }

    pub(crate) fn sources(&self) -> Sources {
        let baselines = [("tools".to_owned(), FIRST.to_owned())].into();
        Sources { runs: self.runs(), journal: self.journal(), baselines }
    }

    pub(crate) fn append(&self, records: &[TraceRecord]) {
        let key = JournalKey::from_bytes(&[1; 32]);
        let (mut journal, _) = Journal::open(&self.journal(), &key, "orchestrator-trace").unwrap();
        for record in records {
            journal.append(record).unwrap();
        }
    }
}

fn lines(path: &Path, values: &[Value]) {
    let lines: Vec<String> = values.iter().map(ToString::to_string).collect();
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

/// Two configurations and three cases. `good` is always right, `bad` only every second time with the
/// second configuration and never with the first, and the first pass of `odd\u{1b}` is INVALID.
pub(crate) fn write_run(store: &Path, id: &str, bench: &str, started: &str, passes: u32) {
    let directory = store.join(id);
    fs::create_dir(&directory).unwrap();
    let configurations: Vec<Value> = ["small", "large, \"two\""].iter().map(|id| configuration(id)).collect();
    let manifest = json!({
        "format": "1.1", "id": id, "bench": bench, "seed": u64::MAX, "passes": passes, "timeout_ms": 60_000,
        "cases": 3, "digests": { "suite": "s", "cases": "c", "tools": "t", "prompts": "p" }, "grader": "1",
        "configurations": configurations,
        "sessions": [{
            "program": "0.1.0", "started": started, "finished": started.replace(":00.000Z", ":30.500Z"), "state": "complete",
            "host": { "os": "Linux", "architecture": "x86_64", "cores": 2 },
        }],
    });
    fs::write(directory.join("manifest.json"), manifest.to_string()).unwrap();
    let case = |id: &str| {
        json!({
            "id": id, "family": "delegation", "language": "en", "kind": "target",
            "messages": [{ "role": "system", "content": "s" }, { "role": "user", "content": format!("ask {id}") }],
            "tools": [{ "name": "read_file", "description": "d" }], "provenance": "seen", "source": "a.toml:1",
            "expect": { "no_call": true },
        })
    };
    let cases = ["good", "bad", "odd\u{1b}"];
    lines(&directory.join("cases.jsonl"), &cases.map(case));
    let mut answers = Vec::new();
    let mut outcomes = Vec::new();
    for (position, configuration) in ["small", "large, \"two\""].iter().enumerate() {
        for case in cases {
            for pass in 1..=passes {
                let success = match case {
                    "bad" => Some(position == 1 && pass % 2 == 0),
                    "good" => Some(true),
                    _ => (pass > 1).then_some(true),
                };
                let class = match success {
                    Some(true) => Value::Null,
                    Some(false) => json!("no_call"),
                    None => json!("INVALID_transport"),
                };
                answers.push(json!({
                    "case": case, "configuration": configuration, "pass": pass, "attempt": 1, "final": true, "end": "answered",
                    "cold": pass == 1, "seed": pass, "request": "r", "started": started,
                    "timings": { "first_token_ms": 1.5, "total_ms": f64::from(pass) }, "usage": { "prompt_tokens": 7 },
                    "text": format!("answer {}", pass % 2),
                }));
                outcomes.push(json!({
                    "case": case, "configuration": configuration, "pass": pass, "attempt": 1, "success": success, "class": class,
                }));
            }
        }
    }
    lines(&directory.join("passes.jsonl"), &answers);
    lines(&directory.join("outcomes.jsonl"), &outcomes);
}

fn configuration(id: &str) -> Value {
    json!({
        "id": id, "spec": "replay:x", "structure": "native", "selection": "all",
        "model": {
            "spec": "replay:x", "backend": "replay", "name": "x", "context": 2048,
            "capabilities": { "tools": true, "thinking": false, "structured_output": false },
        },
        "options": {
            "temperature": 0.3, "top_k": 40, "top_p": 0.95, "min_p": 0.05, "seed": 0, "max_tokens": 256, "context": null,
        },
        "stream": true, "jobs": 1,
    })
}

/// A turn with two rounds, a call that was confirmed, a retry and the other events.
pub(crate) fn turn(id: &str, end: TurnEnd) -> Vec<TraceRecord> {
    let events = vec![
        TraceEvent::Request { text: "é\nwhat?".into(), model: "m".into(), profile: "panel".into(), think: None },
        TraceEvent::Route {
            selection: "all".into(),
            structure: "native".into(),
            offered: vec!["a".into(), "b".into()],
            excluded: Vec::new(),
        },
        round(1, Some(10)),
        TraceEvent::Confirmation {
            call: 1,
            tool: "write_file".into(),
            tier: Tier::Confirm,
            answer: ConfirmationAnswer::Approved,
            ms: 900.0,
        },
        TraceEvent::Call {
            call: 1,
            tool: "write_file".into(),
            tier: Tier::Confirm,
            outcome: CallOutcome::Error,
            arguments: json!({ "path": "x" }),
            reason: Some("full".into()),
            result: "no room".into(),
            ms: 3.0,
            untrusted: true,
        },
        TraceEvent::Retry { reason: RetryReason::EmptyFinal },
        round(2, None),
        TraceEvent::Delegation {
            provider: "claude".into(),
            characters: 5,
            cost_usd: 0.25,
            deduplicated: false,
            outcome: CallOutcome::Ok,
        },
        TraceEvent::Compression { messages: 4, summarised: true },
        TraceEvent::Final { end, text: "done".into(), author: "m".into(), rounds: 2, calls: 1, ms: 1234.5 },
    ];
    let mut records: Vec<TraceRecord> =
        events.into_iter().map(|event| TraceRecord { thread: "thread-1".into(), turn: id.into(), event }).collect();
    for verdict in ["rejected", "corrected"] {
        let event = TraceEvent::Verdict { judged: id.into(), verdict: verdict.into() };
        records.push(TraceRecord { thread: "thread-1".into(), turn: String::new(), event });
    }
    records
}

fn round(number: u32, prompt_tokens: Option<u64>) -> TraceEvent {
    TraceEvent::Round {
        number,
        tools: 2,
        messages: 3,
        prompt_tokens,
        counted_tokens: Some(9),
        completion_tokens: Some(4),
        ms: 50.0,
        first_token_ms: None,
        calls: 1,
        class: None,
    }
}
