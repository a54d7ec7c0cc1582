//! Stored runs made up for the tests: no model took part.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tenpass_bench::store::{Run, open_run};

/// Cases of a made-up run.
pub(crate) const CASES: usize = 20;
/// Passes of each.
pub(crate) const PASSES: u64 = 10;

/// A run before it is written: its manifest and cases as JSON, and who passes.
pub(crate) struct Draft {
    pub(crate) manifest: Value,
    pub(crate) cases: Vec<Value>,
    /// Successes of each case under each configuration, both by position.
    pub(crate) succeed: Box<dyn Fn(usize, usize) -> u64>,
    /// Passes that were written of each case.
    pub(crate) written: u64,
}

impl Draft {
    /// A complete run of one configuration whose cases all succeed in so many of ten passes.
    pub(crate) fn new(succeed: u64) -> Self {
        Self {
            manifest: manifest(),
            cases: (0..CASES).map(case).collect(),
            succeed: Box::new(move |_, _| succeed),
            written: PASSES,
        }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The first configuration of its manifest.
    pub(crate) fn configuration(&mut self) -> &mut Value {
        &mut self.manifest["configurations"][0]
    }

    /// Writes it into the store and opens it.
    pub(crate) fn write(mut self, store: &Path, id: &str) -> Run {
        self.manifest["id"] = id.into();
        self.manifest["cases"] = self.cases.len().into();
        let folder = store.join(id);
        fs::create_dir_all(&folder).unwrap();
        let lines = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";
        fs::write(folder.join("manifest.json"), self.manifest.to_string()).unwrap();
        fs::write(folder.join("cases.jsonl"), lines(&self.cases)).unwrap();
        fs::write(folder.join("requests.jsonl"), "").unwrap();
        let (mut passes, mut outcomes) = (String::new(), String::new());
        for (place, configuration) in self.manifest["configurations"].as_array().unwrap().iter().enumerate() {
            for (i, case) in self.cases.iter().enumerate() {
                for number in 1..=self.written {
                    let success = number <= (self.succeed)(i, place);
                    let [pass, outcome] = pass(&case["id"], &configuration["id"], number, success);
                    writeln!(passes, "{pass}").unwrap();
                    writeln!(outcomes, "{outcome}").unwrap();
                }
            }
        }
        fs::write(folder.join("passes.jsonl"), passes).unwrap();
        fs::write(folder.join("outcomes.jsonl"), outcomes).unwrap();
        open_run(store, id).unwrap()
    }
}

fn manifest() -> Value {
    json!({
        "format": "1.0", "id": "", "bench": "tools", "seed": 7, "passes": PASSES, "timeout_ms": 120_000, "cases": 0,
        "digests": { "suite": "s", "cases": "c", "tools": "t", "prompts": "p" },
        "grader": "3",
        "configurations": [configuration("smollm2")],
        "sessions": [{
            "program": "0.1.0", "started": "2026-11-30T22:00:12.345Z", "finished": "2026-11-30T22:04:00.000Z",
            "state": "complete",
            "host": { "os": "Linux 6", "architecture": "x86_64", "cpu": "Some CPU", "cores": 2 },
            "git": { "revision": "0123456789abcdef0123456789abcdef01234567", "dirty": false },
        }],
    })
}

pub(crate) fn configuration(id: &str) -> Value {
    json!({
        "id": id, "spec": "embedded:smollm2-135m",
        "model": {
            "spec": "embedded:smollm2-135m", "backend": "embedded", "name": "smollm2-135m",
            "digest": "sha256:aaaaaaaaaaaaaaaaaaaa", "context": 2048, "runtime": "tenpass-engine 0.1.0",
            "capabilities": { "tools": true, "thinking": false, "structured_output": true },
        },
        "structure": "native", "selection": "all",
        "options": {
            "temperature": 0.3, "top_k": 40, "top_p": 0.95, "min_p": 0.05, "seed": 0, "max_tokens": 512, "context": null,
        },
        "stream": true, "jobs": 1,
        "arguments": { "passed": {}, "defaulted": { "structure": "native" } },
    })
}

fn case(i: usize) -> Value {
    let family = ["lamps", "doors", "letters", "questions"][i % 4];
    json!({
        "id": format!("lamp-{i:02}"), "family": family, "language": "en",
        "kind": if i % 5 == 4 { "guard" } else { "target" },
        "messages": [
            { "role": "system", "content": "You are a helpful assistant. You may use tools." },
            { "role": "user", "content": format!("Switch on lamp {i}.") },
        ],
        "tools": [{
            "name": "lamp", "description": "Switches a lamp on or off.",
            "parameters": { "type": "object", "properties": { "on": { "type": "boolean" } } },
        }],
        "provenance": "made up", "expect": { "alternatives": [[{ "tool": "lamp" }]] }, "source": "lamps.toml:3",
    })
}

fn pass(case: &Value, configuration: &Value, number: u64, success: bool) -> [Value; 2] {
    let class = if success { Value::Null } else { "no_call".into() };
    [
        json!({
            "case": case, "configuration": configuration, "pass": number, "attempt": 1, "final": true,
            "end": "answered", "seed": number, "request": "r", "started": "2026-11-30T22:01:00.000Z",
            "timings": { "first_token_ms": 40.0 + number as f64, "total_ms": 400.0 + number as f64 },
            "usage": { "prompt_tokens": 100, "completion_tokens": 10 + number },
            "text": format!("answer {number} {success}"),
        }),
        json!({
            "case": case, "configuration": configuration, "pass": number, "attempt": 1, "success": success,
            "class": class,
        }),
    ]
}
