//! A manifest in words, and the command that measures the same again.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use tenpass_bench::store::{ConfigurationRecord, Host, Manifest, Run, RunState, Session};
use tenpass_report::FactSheet;

use crate::page_pass::quoted;

/// What a run was made of.
pub(crate) fn sheet(run: &Run) -> FactSheet {
    let manifest = run.manifest();
    FactSheet {
        title: format!("run {}, bench {}, {}", manifest.id, manifest.bench, state(manifest.state())),
        rows: rows(manifest),
        command: command(manifest),
        documents: vec![("manifest.json".to_owned(), serde_json::to_string_pretty(manifest).unwrap_or_default())],
    }
}

fn state(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running or killed",
        RunState::Complete => "complete",
        RunState::Interrupted => "interrupted",
        RunState::Failed => "incomplete",
    }
}

fn rows(manifest: &Manifest) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| rows.push((name.to_owned(), value));
    add("cases", manifest.cases.to_string());
    add("passes a case", manifest.passes.to_string());
    add("seed", manifest.seed.to_string());
    add("time allowed an answer", format!("{} ms", manifest.timeout_ms));
    add("grader", manifest.grader.clone());
    if let Some(regraded) = &manifest.regraded {
        add("graded again", format!("{}, against cases {}", regraded.at, regraded.cases));
    }
    if let Some(parent) = &manifest.parent {
        add("follows", parent.clone());
    }
    if !manifest.parts.is_empty() {
        add("merged from", manifest.parts.join(", "));
    }
    if let Some(partition) = &manifest.partition {
        add("part of the cases", partition.to_string());
    }
    let digests = &manifest.digests;
    for (name, digest) in
        [("suite", &digests.suite), ("cases", &digests.cases), ("tools", &digests.tools), ("prompts", &digests.prompts)]
    {
        add(&format!("sha256 of the {name}"), digest.clone());
    }
    for configuration in &manifest.configurations {
        add(&format!("configuration {}", configuration.id), configuration_words(configuration));
    }
    for (number, session) in (1..).zip(&manifest.sessions) {
        add(&format!("session {number}"), session_words(session));
    }
    rows
}

fn configuration_words(record: &ConfigurationRecord) -> String {
    let model = &record.model;
    let mut words = vec![format!("{} {}", model.backend, model.name)];
    words.extend(model.quantization.clone());
    words.extend(model.digest.as_ref().map(|digest| format!("model {digest}")));
    words.extend(model.template_digest.as_ref().map(|digest| format!("template {digest}")));
    words.extend(model.runtime.clone());
    words.push(format!("structure {}", record.structure));
    words.push(format!("tools {}", record.selection));
    words.extend(
        record
            .arguments
            .defaulted
            .get("structure_reason")
            .and_then(Value::as_str)
            .map(|reason| format!("because {reason}")),
    );
    if let Some(origin) = &record.origin {
        words.push(format!("measured again from {}/{}", origin.run, origin.configuration));
    }
    if !record.unknown.is_empty() {
        words.push(format!("not told by its source: {}", record.unknown.join(", ")));
    }
    words.join(", ")
}

fn session_words(session: &Session) -> String {
    let finished = session.finished.as_deref().unwrap_or("not ended");
    let mut words = format!(
        "tenpass {}, {} to {finished}, {}; {}",
        session.program,
        session.started,
        state(session.state),
        host(&session.host)
    );
    if let Some(git) = &session.git {
        let _ = write!(words, "; revision {}{}", git.revision, if git.dirty { ", with changes" } else { "" });
    }
    for stopped in &session.stopped {
        let _ = write!(words, "; gave up {}: {}", stopped.configuration, stopped.error);
    }
    words
}

fn host(host: &Host) -> String {
    let mut words = vec![host.os.clone(), host.architecture.clone()];
    words.extend(host.cpu.clone());
    words.push(format!("{} cores", host.cores));
    words.extend(host.memory_bytes.map(|bytes| format!("{:.0} GiB", bytes as f64 / 1_073_741_824.0)));
    words.join(", ")
}

/// `tenpass bench …` with everything that was typed, and the seed.
fn command(manifest: &Manifest) -> String {
    let mut words = vec!["tenpass".to_owned(), "bench".to_owned(), manifest.bench.clone()];
    let mut option = |name: &str, value: &str| words.extend([format!("--{name}"), quoted(value)]);
    let mut specs: Vec<&str> = manifest.configurations.iter().map(|record| record.spec.as_str()).collect();
    specs.dedup();
    for spec in specs {
        option("model", spec);
    }
    for name in ["structure", "tools", "memory", "prompt"] {
        let values = typed(manifest, name);
        if name == "prompt" {
            for value in &values {
                option(name, value);
            }
        } else if !values.is_empty() {
            option(name, &values.join(","));
        }
    }
    for name in ["temperature", "top_k", "top_p", "min_p", "max_tokens", "ctx", "think", "jobs"] {
        if let [value] = typed(manifest, name).as_slice() {
            option(&name.replace('_', "-"), value);
        }
    }
    option("passes", &manifest.passes.to_string());
    option("seed", &manifest.seed.to_string());
    option("timeout", &format!("{}ms", manifest.timeout_ms));
    if let Some(partition) = &manifest.partition {
        option("partition", &partition.to_string());
    }
    if manifest.configurations.iter().any(|record| !record.stream) {
        words.push("--no-stream".to_owned());
    }
    words.join(" ")
}

/// The different values of an argument that was typed.
fn typed(manifest: &Manifest, name: &str) -> Vec<String> {
    let mut values = Vec::new();
    for record in &manifest.configurations {
        let passed: &Map<String, Value> = &record.arguments.passed;
        let value = match passed.get(name) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}
