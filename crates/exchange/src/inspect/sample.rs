//! One pass as an `EvalSample`, and its summary.

use serde_json::{Map, Value, json};
use tenpass_bench::cases::{Case, Expect, ExpectedCall};
use tenpass_bench::store::{ConfigurationRecord, End, OutcomeRecord, PassDetail, PassRecord, RequestRecord};
use tenpass_trace::Role;

use super::conversation::{Conversation, PassContext};
use super::ids::id;
use super::shape::{self, Members};
use super::thin;
use super::time::written;
use super::{OWN, SCORER};

/// What all samples of a log share.
pub(crate) struct LogContext<'a> {
    /// The run's id.
    pub(crate) run: &'a str,
    pub(crate) configuration: &'a ConfigurationRecord,
    /// The model as Inspect names it.
    pub(crate) model: String,
    pub(crate) timeout_ms: u64,
}

/// A sample with its summary.
pub(crate) struct Written {
    pub(crate) sample: Value,
    pub(crate) summary: Value,
}

/// Writes a pass as a sample. `earlier` are attempts that failed before it.
pub(crate) fn sample<E>(
    log: &LogContext<'_>,
    case: &Case,
    detail: &PassDetail,
    earlier: &[PassRecord],
    requests: impl FnMut(&str) -> Result<Option<RequestRecord>, E>,
) -> Result<Written, E> {
    let PassDetail { pass, outcome } = detail;
    let number = pass.pass.to_string();
    let uuid = id(&["sample", log.run, &pass.configuration, &pass.case, &number]);
    let context = PassContext { uuid: &uuid, model: &log.model, pass, outcome: outcome.as_ref() };
    let mut conversation = Conversation::of(&context, requests)?;
    let target = target(case);
    let score = outcome.as_ref().and_then(score);
    if let Some(score) = &score {
        conversation.scored(&context, score, &target, SCORER);
    }
    let mut sample = Members::default();
    sample.put("id", pass.case.as_str());
    sample.put("epoch", pass.pass);
    sample.put("input", input(case));
    sample.put("target", target);
    let messages = conversation.messages.len();
    sample.put("messages", std::mem::take(&mut conversation.messages));
    sample.put("output", std::mem::take(&mut conversation.output));
    let mut scores = Map::new();
    scores.extend(score.map(|score| (SCORER.to_owned(), score)));
    sample.put("scores", scores);
    sample.put("metadata", metadata(log, case, pass));
    sample.put("store", json!({ OWN: own(detail, earlier) }));
    sample.put("events", std::mem::take(&mut conversation.events));
    let mut usage = Map::new();
    usage.extend(shape::usage(pass.usage).map(|usage| (log.model.clone(), usage)));
    sample.put("model_usage", usage);
    sample.put("role_usage", Map::new());
    sample.maybe("started_at", written(&pass.started, 0.0));
    sample.maybe("completed_at", written(&pass.started, pass.timings.total_ms));
    sample.put("total_time", pass.timings.total_ms / 1e3);
    sample.put("working_time", pass.timings.total_ms / 1e3);
    sample.put("uuid", uuid.as_str());
    sample.maybe("error", error(detail));
    let retries = earlier.iter().filter_map(|attempt| attempt.fault.as_ref());
    let retries = retries.map(|fault| trouble(&fault.message, &fault_text(fault)));
    sample.put("error_retries", retries.collect::<Vec<_>>());
    sample.put("attachments", Map::new());
    sample.put("events_data", json!({ "messages": conversation.pool, "calls": [] }));
    sample.maybe("limit", limit(log, pass));
    sample.put("turn_count", conversation.turns);
    let sample = sample.take();
    let summary = thin::summary(&sample, messages, earlier.len());
    Ok(Written { sample, summary })
}

/// What the case asks; a single question is a text.
fn input(case: &Case) -> Value {
    match case.messages.as_slice() {
        [only] if only.role == Role::User => Value::from(only.content.as_str()),
        several => {
            let source = |role| Some("input").filter(|_| role == Role::User);
            several.iter().enumerate().map(|(place, one)| shape::message(one, place, source(one.role))).collect()
        }
    }
}

/// What must happen: one text, or one for each alternative.
fn target(case: &Case) -> Value {
    if let Some(scenario) = &case.scenario {
        return Value::from(scenario.holds.join("\n"));
    }
    let texts = expectations(&case.expect);
    match <[String; 1]>::try_from(texts) {
        Ok([only]) => Value::from(only),
        Err(several) => Value::from(several),
    }
}

fn expectations(expect: &Expect) -> Vec<String> {
    let mut beside = Vec::new();
    if expect.no_call {
        beside.push("no call".to_owned());
    }
    if !expect.forbid.is_empty() {
        beside.push(format!("not {}", expect.forbid.join(", ")));
    }
    let joint = if expect.ordered { ", then " } else { " and " };
    let all = |calls: &Vec<ExpectedCall>| {
        let calls = calls.iter().map(expected_call).collect::<Vec<_>>().join(joint);
        std::iter::once(calls).chain(beside.clone()).collect::<Vec<_>>().join("; ")
    };
    if expect.alternatives.is_empty() {
        return vec![beside.join("; ")];
    }
    expect.alternatives.iter().map(all).collect()
}

fn expected_call(call: &ExpectedCall) -> String {
    let arguments = call.arguments.iter().map(|(name, argument)| format!("{name}={}", argument.to_notation()));
    format!("{}({})", call.tool, arguments.collect::<Vec<_>>().join(", "))
}

/// A judged answer as a `Score`.
fn score(outcome: &OutcomeRecord) -> Option<Value> {
    let success = outcome.success?;
    let mut score = Members::default();
    score.put("value", if success { "C" } else { "I" });
    let calls = outcome.calls.iter().map(|call| format!("{}({})", call.name, Value::Object(call.arguments.clone())));
    score.maybe("answer", (!outcome.calls.is_empty()).then(|| calls.collect::<Vec<_>>().join("\n")));
    score.maybe("explanation", (!outcome.reasons.is_empty()).then(|| outcome.reasons.join("\n")));
    score.maybe("reason", outcome.class.map(tenpass_trace::FailureClass::as_str));
    let mut metadata = serde_json::to_value(outcome).unwrap_or_default();
    if let Some(members) = metadata.as_object_mut() {
        // What the sample says already.
        for name in ["case", "configuration", "pass", "success"] {
            members.shift_remove(name);
        }
    }
    score.put("metadata", metadata);
    score.put("history", Vec::<Value>::new());
    Some(score.take())
}

/// Why there is no score: the fault, or the grader's own failure.
fn error(detail: &PassDetail) -> Option<Value> {
    if let Some(fault) = &detail.pass.fault {
        return Some(trouble(&fault.message, &fault_text(fault)));
    }
    let outcome = detail.outcome.as_ref().filter(|outcome| outcome.success.is_none())?;
    let class = outcome.class.map_or("INVALID", tenpass_trace::FailureClass::as_str);
    let reasons = outcome.reasons.join("\n");
    Some(trouble(if reasons.is_empty() { class } else { &reasons }, class))
}

fn fault_text(fault: &tenpass_bench::store::Fault) -> String {
    format!("{}: {}\n{}\n", fault.class, fault.message, fault.hint)
}

fn trouble(message: &str, text: &str) -> Value {
    json!({ "message": message, "traceback": text, "traceback_ansi": text })
}

/// The time limit, where it ended the answer.
fn limit(log: &LogContext<'_>, pass: &PassRecord) -> Option<Value> {
    let reason = || format!("not finished after {:.1} s", pass.timings.total_ms / 1e3);
    (pass.end == End::Timeout)
        .then(|| json!({ "type": "time", "limit": log.timeout_ms as f64 / 1e3, "reason": reason() }))
}

/// What a table of samples is filtered and grouped by.
fn metadata(log: &LogContext<'_>, case: &Case, pass: &PassRecord) -> Value {
    let mut members = Members::default();
    members.put("family", case.family.as_str());
    members.put("language", case.language.as_str());
    members.put("kind", case.kind.as_str());
    members.put("source", case.source.as_str());
    members.put("provenance", case.provenance.as_str());
    members.put("configuration", log.configuration.id.as_str());
    members.put("structure", log.configuration.structure.to_string());
    members.put("selection", log.configuration.selection.to_string());
    members.put("seed", pass.seed);
    members.put("attempt", pass.attempt);
    members.put("cold", pass.cold);
    members.put("tools", case.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>());
    let timings = &pass.timings;
    members.put("total_ms", timings.total_ms);
    members.maybe("first_token_ms", timings.first_token_ms);
    members.maybe("first_call_ms", timings.first_call_ms);
    members.maybe("text_end_ms", timings.text_end_ms);
    members.maybe("load_ms", timings.load_ms);
    members.maybe("prompt_ms", timings.prompt_ms);
    members.maybe("decode_ms", timings.decode_ms);
    members.take()
}

/// What only this program has words for: the pass without what stands in the answer, the grade where there
/// is no score, and failed attempts.
fn own(detail: &PassDetail, earlier: &[PassRecord]) -> Value {
    let mut pass = serde_json::to_value(&detail.pass).unwrap_or_default();
    if let Some(members) = pass.as_object_mut() {
        members.shift_remove("case");
        members.shift_remove("pass");
        // A play shows what the person saw; a single answer stands in `output`.
        if detail.pass.played.is_none() {
            members.shift_remove("text");
            members.shift_remove("thinking");
        }
    }
    let mut own = Members::default();
    own.put("pass", pass);
    let unscored = detail.outcome.as_ref().filter(|outcome| outcome.success.is_none());
    own.maybe("outcome", unscored.and_then(|outcome| serde_json::to_value(outcome).ok()));
    own.put("graded", detail.outcome.is_some());
    own.maybe("earlier", (!earlier.is_empty()).then(|| serde_json::to_value(earlier).unwrap_or_default()));
    own.take()
}
