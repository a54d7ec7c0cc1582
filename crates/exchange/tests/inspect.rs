//! Logs of Inspect: ours go there and come back as they were, foreign ones arrive with what they know, and
//! damaged ones are refused by name.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use serde_json::{Map, Value, json};
use tenpass_bench::cases::{Case, CaseKind, Expect, ExpectedCall, Language};
use tenpass_bench::rounds::{Played, PlayedCall, PlayedTurn, RawAnswer, WorldEnd};
use tenpass_bench::store::{
    End, Fault, Importer, Manifest, OutcomeRecord, PassDetail, PassFilter, PassRecord, PassTimings, RequestRecord, Run,
};
use tenpass_exchange::inspect::{ImportOptions, export, import};
use tenpass_model::calls::ParsedCall;
use tenpass_model::{ChatRequest, FinishReason, StructuredCall, Usage};
use tenpass_trace::{CallOutcome, FailureClass, Message, Tier, ToolCall, ToolDefinition, TurnEnd};

const CONFIGURATIONS: [&str; 2] = ["embedded:tiny", "embedded:tiny text"];
const PASSES: u32 = 3;

fn manifest(configurations: &[&str]) -> Manifest {
    let record = |id: &str| {
        json!({
            "id": id, "spec": "embedded:tiny", "structure": "native", "selection": "all", "stream": true, "jobs": 2,
            "model": { "spec": "embedded:tiny", "backend": "embedded", "name": "tiny", "digest": "sha256:1",
                "capabilities": { "tools": true, "thinking": false, "structured_output": true } },
            "options": { "temperature": 0.3, "top_k": 40, "top_p": 0.95, "min_p": 0.05, "seed": 0, "max_tokens": 64,
                "context": null },
            "arguments": { "passed": { "model": "embedded:tiny" }, "defaulted": { "passes": 3 } },
        })
    };
    let manifest = json!({
        "format": "1.1", "id": "20261130-142233-abcd", "bench": "tools", "seed": 7, "passes": PASSES,
        "timeout_ms": 60_000, "cases": 2, "grader": "1",
        "digests": { "suite": "s", "cases": "c", "tools": "t", "prompts": "p" },
        "configurations": configurations.iter().map(|id| record(id)).collect::<Vec<_>>(),
        "sessions": [{ "program": "0.1.0", "started": "2026-11-30T14:22:33.125Z",
            "finished": "2026-11-30T14:30:00.000Z", "state": "complete",
            "host": { "os": "os", "architecture": "x86_64", "cores": 2 },
            "git": { "revision": "0123456789abcdef0123456789abcdef01234567", "dirty": true } }],
    });
    serde_json::from_value(manifest).unwrap()
}

fn case(id: &str) -> Case {
    let schema = json!({ "type": "object", "properties": { "x": { "type": "string" } }, "required": ["x"] });
    Case {
        id: id.to_owned(),
        family: "family".to_owned(),
        language: Language::French,
        kind: CaseKind::Guard,
        messages: vec![Message::system("Be brief."), Message::user("É?\n\"x\"")],
        tools: vec![ToolDefinition::new("act", "Acts.").with_parameters(schema)],
        provenance: "a test".to_owned(),
        expect: Expect {
            alternatives: vec![vec![ExpectedCall { tool: "act".to_owned(), arguments: Vec::new(), only: false }]],
            ..Expect::default()
        },
        source: "family.toml:3".to_owned(),
        scenario: None,
    }
}

fn request(number: u32) -> RequestRecord {
    let mut messages = case("x").messages;
    for step in 0..number {
        let call = ToolCall { id: None, name: "act".to_owned(), arguments: Map::new() };
        messages.push(Message { tool_calls: vec![call], ..Message::assistant("") });
        messages.push(Message::tool("act", format!("done {step}")));
    }
    let request = ChatRequest { messages, tools: case("x").tools, ..ChatRequest::default() };
    RequestRecord { sha256: format!("{number:064x}"), offered: vec!["act".to_owned()], request }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "\\PC{0,40}",
        any::<String>(),
        Just("attachment://1234".to_owned()),
        Just("NaN \"Infinity\" \u{0} \u{feff} ]]> <b>".to_owned()),
    ]
}

fn some<T: std::fmt::Debug + Clone>(strategy: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    proptest::option::of(strategy)
}

fn ms() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..1e6_f64, Just(0.1 + 0.2), Just(1e-9), Just(123_456.789_012_345)]
}

fn usage() -> impl Strategy<Value = Usage> {
    (some(0_u64..9000), some(0_u64..9000), some(0_u64..9000)).prop_map(|(prompt, cached, completion)| Usage {
        prompt_tokens: prompt,
        cached_tokens: cached,
        completion_tokens: completion,
    })
}

fn structured() -> impl Strategy<Value = StructuredCall> {
    let arguments = prop_oneof![Just(json!({ "x": "é", "n": 1.5 })), Just(json!("{\"x\":")), Just(json!([1]))];
    (some(text()), text(), arguments, some(text())).prop_map(|(id, name, arguments, repaired)| StructuredCall {
        id,
        name,
        arguments,
        repaired,
    })
}

fn parsed() -> impl Strategy<Value = ParsedCall> {
    (text(), any::<bool>(), proptest::collection::vec(text(), 0..2)).prop_map(|(name, recovered, notes)| ParsedCall {
        name,
        arguments: json!({ "x": 1 }).as_object().unwrap().clone(),
        recovered,
        shape: "hermes".to_owned(),
        notes,
    })
}

fn timings() -> impl Strategy<Value = PassTimings> {
    (some(ms()), some(ms()), ms(), some(ms())).prop_map(|(first, call, total, decode)| PassTimings {
        first_token_ms: first,
        first_call_ms: call,
        text_end_ms: first,
        total_ms: total,
        load_ms: None,
        prompt_ms: decode,
        decode_ms: decode,
    })
}

fn played() -> impl Strategy<Value = Played> {
    let call = (text(), any::<bool>()).prop_map(|(result, faulted)| PlayedCall {
        tool: "act".to_owned(),
        arguments: Map::new(),
        tier: Tier::Confirm,
        outcome: if faulted { CallOutcome::Refused } else { CallOutcome::Ok },
        confirmation: None,
        result,
        faulted,
    });
    let answer = (0_u32..4, text(), text(), proptest::collection::vec(structured(), 0..3), usage(), ms());
    let answer = answer.prop_map(|(number, text, thinking, calls, usage, ms)| RawAnswer {
        request: request(number).sha256,
        text,
        thinking,
        calls,
        finish: Some(FinishReason::Stop),
        usage,
        first_token_ms: None,
        ms,
    });
    let answers = proptest::collection::vec(answer, 0..4);
    let turn = (text(), answers, proptest::collection::vec(call, 0..4), text(), ms());
    let turn = turn.prop_map(|(user, answers, calls, text, ms)| PlayedTurn {
        user,
        answers,
        calls,
        retries: Vec::new(),
        transport: Vec::new(),
        timed_out: false,
        end: TurnEnd::Natural,
        author: "application".to_owned(),
        text,
        ms,
    });
    proptest::collection::vec(turn, 0..3).prop_map(|turns| Played { turns, world: WorldEnd::default() })
}

/// A pass without its place.
fn pass() -> impl Strategy<Value = PassRecord> {
    let ends = select(vec![End::Answered, End::Timeout, End::Fault]);
    let finishes = some(select(vec![FinishReason::Stop, FinishReason::Length, FinishReason::ToolCalls]));
    let raw = (text(), text(), proptest::collection::vec(structured(), 0..3), some(played()));
    (ends, 0_u32..3, any::<u64>(), timings(), usage(), finishes, raw, text()).prop_map(
        |(end, number, seed, timings, usage, finish, (text, thinking, calls, played), message)| PassRecord {
            case: String::new(),
            configuration: String::new(),
            pass: 0,
            attempt: 1,
            is_final: true,
            end,
            fault: (end == End::Fault).then(|| Fault {
                class: FailureClass::InvalidRestart,
                message,
                hint: "wait".to_owned(),
                transient: true,
            }),
            cold: seed % 2 == 0,
            seed,
            request: request(number).sha256,
            started: "2026-11-30T14:22:40.001Z".to_owned(),
            timings,
            usage,
            finish,
            declared_shape: Some("hermes".to_owned()).filter(|_| seed % 3 == 0),
            text,
            thinking,
            calls,
            played: played.map(Box::new),
            endpoint: Some("http://127.0.0.1:1".to_owned()).filter(|_| seed % 5 == 0),
        },
    )
}

/// A grade without its place; none for a pass that was never graded.
fn outcome() -> impl Strategy<Value = Option<OutcomeRecord>> {
    let classes = proptest::collection::vec(select(FailureClass::ALL.to_vec()), 1..3);
    let texts = proptest::collection::vec(text(), 0..3);
    let calls = proptest::collection::vec(parsed(), 0..3);
    let grade = (some(any::<bool>()), classes, texts, calls, some(ms()));
    some(grade.prop_map(|(success, classes, reasons, calls, first_call_ms)| OutcomeRecord {
        case: String::new(),
        configuration: String::new(),
        pass: 0,
        attempt: 1,
        success,
        class: classes.first().copied().filter(|_| success != Some(true)),
        classes,
        reasons,
        recovered: !calls.is_empty(),
        calls,
        first_call_ms,
    }))
}

/// The passes of a run, by case, configuration and number; an earlier attempt before some of them.
fn measured() -> impl Strategy<Value = Vec<(Vec<PassRecord>, Option<OutcomeRecord>)>> {
    let one = (pass(), some(pass()), outcome(), any::<bool>());
    proptest::collection::vec(one, 2 * 2 * PASSES as usize).prop_map(|all| {
        let place = |number: usize| (number % 2, (number / 2) % 2, (number / 4) as u32 + 1);
        let placed = |mut pass: PassRecord, number: usize| {
            let (case, configuration, number) = place(number);
            pass.case = format!("case-{case}");
            CONFIGURATIONS[configuration].clone_into(&mut pass.configuration);
            pass.pass = number;
            pass
        };
        let mut measured = Vec::new();
        for (number, (pass, earlier, outcome, is_made)) in all.into_iter().enumerate() {
            // A pass that is not there at all; the first of each log always is.
            if !is_made && number > 3 {
                continue;
            }
            let mut attempts = Vec::new();
            attempts.extend(earlier.map(|attempt| PassRecord { is_final: false, ..placed(attempt, number) }));
            attempts.push(placed(pass, number));
            (1..).zip(&mut attempts).for_each(|(attempt, pass)| pass.attempt = attempt);
            let last = attempts.last().unwrap();
            let outcome = outcome.map(|outcome| OutcomeRecord {
                case: last.case.clone(),
                configuration: last.configuration.clone(),
                pass: last.pass,
                attempt: last.attempt,
                ..outcome
            });
            measured.push((attempts, outcome));
        }
        measured
    })
}

fn store_run(store: &Path, measured: &[(Vec<PassRecord>, Option<OutcomeRecord>)]) -> Run {
    let requests: Vec<RequestRecord> = (0..4).map(request).collect();
    let passes: Vec<PassRecord> = measured.iter().flat_map(|(attempts, _)| attempts.clone()).collect();
    let outcomes: Vec<OutcomeRecord> = measured.iter().filter_map(|(_, outcome)| outcome.clone()).collect();
    let cases = [case("case-0"), case("case-1")];
    tenpass_bench::store::import(store, manifest(&CONFIGURATIONS), &cases, &requests, &passes, &outcomes).unwrap()
}

fn details(run: &Run) -> Vec<PassDetail> {
    run.passes(&PassFilter::default()).unwrap().map(Result::unwrap).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_run_comes_back_as_it_was(measured in measured()) {
        let folder = tempfile::tempdir().unwrap();
        let before = store_run(&folder.path().join("before"), &measured);
        let logs = folder.path().join("logs");
        let files = export(&before, None, &logs).unwrap();
        prop_assert_eq!(files.len(), 2);
        let imported = import(&folder.path().join("after"), &logs, ImportOptions::default()).unwrap();
        let after = imported.run;
        prop_assert_eq!(imported.passes as usize, details(&before).len());
        prop_assert_eq!(after.manifest(), before.manifest());
        prop_assert_eq!(after.cases().unwrap(), before.cases().unwrap());
        let (had, has) = (details(&before), details(&after));
        prop_assert_eq!(had.len(), has.len());
        for (had, has) in had.iter().zip(&has) {
            prop_assert_eq!(had, has);
            prop_assert_eq!(before.earlier_attempts(&had.pass).unwrap(), after.earlier_attempts(&has.pass).unwrap());
            let request = before.request(&had.pass.request).unwrap();
            prop_assert_eq!(request, after.request(&has.pass.request).unwrap());
        }
        // The same run is written as the same log, but for the clock of its files.
        let again = folder.path().join("again");
        let files_again = export(&after, None, &again).unwrap();
        for (file, other) in files.iter().zip(&files_again) {
            prop_assert_eq!(file.file_name(), other.file_name());
            prop_assert_eq!(entries(file), entries(other));
        }
    }
}

#[test]
fn cases_that_one_configuration_meets_otherwise_come_back_too() {
    let folder = tempfile::tempdir().unwrap();
    let shared = vec![case("case-0"), case("case-1")];
    // A baseline with the tools it had.
    let mut older = shared.clone();
    older[0].tools.clear();
    let store = folder.path().join("before");
    let moment = std::time::SystemTime::UNIX_EPOCH;
    let mut importer = Importer::begin(&store, Some("20261130-142233-abcd"), moment).unwrap();
    importer.request(&request(0)).unwrap();
    for configuration in CONFIGURATIONS {
        importer.pass(&small_pass(0, configuration, 1)).unwrap();
    }
    let before = importer.finish(manifest(&CONFIGURATIONS), shared.clone(), vec![Some(older.clone()), None]).unwrap();
    assert_eq!(before.cases_of(CONFIGURATIONS[0]).unwrap(), older);
    let logs = folder.path().join("logs");
    export(&before, None, &logs).unwrap();
    let after = import(&folder.path().join("after"), &logs, ImportOptions::default()).unwrap().run;
    assert_eq!(after.manifest(), before.manifest());
    assert_eq!(after.cases().unwrap(), shared);
    assert_eq!(after.cases_of(CONFIGURATIONS[0]).unwrap(), older);
}

/// The entries of an archive, by name.
fn entries(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
    let names: Vec<String> = archive.file_names().map(str::to_owned).collect();
    let read = |name: String| {
        let mut bytes = Vec::new();
        archive.by_name(&name).unwrap().read_to_end(&mut bytes).unwrap();
        (name, bytes)
    };
    names.into_iter().map(read).collect()
}

fn write_archive(path: &Path, entries: &BTreeMap<String, Vec<u8>>) {
    let mut archive = zip::ZipWriter::new(File::create(path).unwrap());
    for (name, bytes) in entries {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap();
}

fn small_pass(case: usize, configuration: &str, number: u32) -> PassRecord {
    PassRecord {
        case: format!("case-{case}"),
        configuration: configuration.to_owned(),
        pass: number,
        attempt: 1,
        is_final: true,
        end: End::Answered,
        fault: None,
        cold: false,
        seed: 5,
        request: request(0).sha256,
        started: "2026-11-30T14:22:40.001Z".to_owned(),
        timings: PassTimings { total_ms: 12.5, ..PassTimings::default() },
        usage: Usage { prompt_tokens: Some(30), cached_tokens: Some(10), completion_tokens: Some(4) },
        finish: Some(FinishReason::Stop),
        declared_shape: None,
        text: "said".to_owned(),
        thinking: "thought".to_owned(),
        calls: Vec::new(),
        played: None,
        endpoint: None,
    }
}

/// A small run of one configuration, exported.
fn exported(folder: &Path) -> PathBuf {
    let outcome = |pass: &PassRecord| OutcomeRecord {
        case: pass.case.clone(),
        configuration: pass.configuration.clone(),
        pass: pass.pass,
        attempt: 1,
        success: Some(pass.pass > 1),
        class: (pass.pass == 1).then_some(FailureClass::NoCall),
        classes: Vec::new(),
        reasons: vec!["because".to_owned()],
        recovered: false,
        calls: Vec::new(),
        first_call_ms: None,
    };
    let passes: Vec<PassRecord> =
        (0..2).flat_map(|case| (1..=PASSES).map(move |number| small_pass(case, CONFIGURATIONS[0], number))).collect();
    let outcomes: Vec<OutcomeRecord> = passes.iter().map(outcome).collect();
    let store = folder.join("before");
    let cases = [case("case-0"), case("case-1")];
    let run =
        tenpass_bench::store::import(&store, manifest(&CONFIGURATIONS[..1]), &cases, &[request(0)], &passes, &outcomes);
    export(&run.unwrap(), None, &folder.join("logs")).unwrap().remove(0)
}

fn sample(entries: &BTreeMap<String, Vec<u8>>, name: &str) -> Value {
    serde_json::from_slice(&entries[name]).unwrap()
}

#[test]
fn a_log_says_what_inspect_has_fields_for() {
    let folder = tempfile::tempdir().unwrap();
    let entries = entries(&exported(folder.path()));
    let header = sample(&entries, "header.json");
    assert_eq!((&header["version"], &header["status"]), (&json!(2), &json!("success")));
    assert_eq!(header["eval"]["config"]["epochs"], 3);
    assert_eq!(header["eval"]["dataset"]["sample_ids"], json!(["case-0", "case-1"]));
    assert_eq!(header["eval"]["revision"]["commit"], "0123456789abcdef0123456789abcdef01234567");
    assert_eq!(header["plan"]["config"]["temperature"], 0.3);
    let metrics = &header["results"]["scores"][0]["metrics"];
    assert_eq!(
        (metrics["accuracy"]["value"].as_f64(), metrics["stderr"]["value"].as_f64()),
        (Some(2.0 / 3.0), Some(0.0))
    );
    assert_eq!(header["stats"]["model_usage"]["embedded/tiny"]["input_tokens"], 120);
    let first = sample(&entries, "samples/case-0_epoch_1.json");
    assert_eq!(first["scores"]["tenpass"]["value"], "I");
    assert_eq!(first["scores"]["tenpass"]["explanation"], "because");
    assert_eq!(first["messages"].as_array().unwrap().len(), 3);
    assert_eq!(first["messages"][2]["content"][0], json!({ "type": "reasoning", "reasoning": "thought" }));
    assert_eq!(first["output"]["usage"]["input_tokens_cache_read"], 10);
    assert_eq!(first["target"], "act()");
    let reductions = sample(&entries, "reductions.json");
    assert_eq!(reductions[0]["samples"][1]["sample_id"], "case-1");
    let summaries = sample(&entries, "summaries.json");
    assert_eq!(summaries.as_array().unwrap().len(), 6);
    assert_eq!(sample(&entries, "_journal/summaries/1.json"), summaries);
}

#[test]
fn what_a_person_changed_in_inspect_arrives() {
    let folder = tempfile::tempdir().unwrap();
    let log = exported(folder.path());
    let mut entries = entries(&log);
    let name = "samples/case-0_epoch_1.json";
    let mut edited = sample(&entries, name);
    edited["scores"]["tenpass"]["value"] = json!("C");
    edited["scores"]["tenpass"]["explanation"] = json!("a person looked at it");
    entries.insert(name.to_owned(), edited.to_string().into_bytes());
    let other = "samples/case-0_epoch_2.json";
    let mut taken_back = sample(&entries, other);
    taken_back["invalidation"] = json!({ "author": "someone", "timestamp": "2026-11-30T15:00:00Z" });
    entries.insert(other.to_owned(), taken_back.to_string().into_bytes());
    // Inspect drops what it does not know when it writes a log anew.
    entries.retain(|name, _| !name.starts_with("tenpass/"));
    write_archive(&log, &entries);
    let imported = import(&folder.path().join("after"), &log, ImportOptions::default()).unwrap();
    assert!(imported.notes.iter().any(|note| note.contains("gone")), "{:?}", imported.notes);
    let details = details(&imported.run);
    let first = details[0].outcome.as_ref().unwrap();
    assert_eq!((first.success, first.class), (Some(true), None));
    assert_eq!(first.reasons, ["a person looked at it"]);
    let second = details[1].outcome.as_ref().unwrap();
    assert_eq!((second.success, second.class), (None, Some(FailureClass::InvalidGrader)));
    assert_eq!(imported.invalid, 1);
    // Cases and requests were made of what the samples show.
    assert_eq!(imported.run.cases().unwrap()[0].messages, case("x").messages);
    let asked = imported.run.request(&details[0].pass.request).unwrap().unwrap();
    assert_eq!(asked.request.messages, request(0).request.messages);
    assert_eq!(asked.offered, ["act"]);
}

fn foreign() -> Value {
    let model = json!({ "event": "model", "config": { "temperature": 0.5, "seed": 7 }, "tools": [
        { "name": "add", "description": "Adds.", "parameters": { "type": "object", "properties": {} } },
    ] });
    let call = json!({ "id": "c1", "function": "add", "arguments": { "x": 1 }, "type": "function" });
    json!({
        "version": 2, "status": "success",
        "eval": {
            "task": "sums", "created": "2025-03-01T10:00:00+00:00", "model": "mockllm/model",
            "dataset": { "samples": 2, "sample_ids": ["a/b", 2] }, "config": { "epochs": 2, "time_limit": 30 },
            "model_generate_config": { "max_tokens": 64 }, "packages": { "inspect_ai": "0.3.285" },
            "scorers": [{ "name": "includes" }, { "name": "grade" }],
        },
        "plan": { "config": { "temperature": 0.5, "seed": 7 } },
        "results": { "scores": [{ "name": "includes", "scorer": "includes", "metrics": {} }] },
        "stats": { "started_at": "2025-03-01T10:00:01+00:00", "completed_at": "2025-03-01T10:01:00+00:00" },
        "samples": [
            {
                "id": "a/b", "epoch": 1, "input": "What is 1+2?", "target": ["3", "three"],
                "messages": [
                    { "role": "system", "content": "Be brief." },
                    { "role": "user", "content": "What is 1+2?", "source": "input" },
                    { "role": "assistant", "content": "", "source": "generate", "tool_calls": [call] },
                    { "role": "tool", "content": "3", "function": "add", "tool_call_id": "c1" },
                    { "role": "assistant", "content": "attachment://aa", "source": "generate" },
                ],
                "output": { "choices": [{ "stop_reason": "stop",
                    "message": { "role": "assistant", "content": "attachment://aa" } }], "time": 0.5 },
                "scores": { "includes": { "value": "C" }, "grade": { "value": 0.25, "explanation": "meh" } },
                "events": [{ "event": "span_begin" }, model, { "event": "model", "tools": [] }],
                "model_usage": { "mockllm/model": { "input_tokens": 30, "output_tokens": 12,
                    "input_tokens_cache_read": 3 } },
                "started_at": "2025-03-01T10:00:02.123456+00:00", "total_time": 2.5, "working_time": 1.25,
                "attachments": { "aa": "the long answer" },
            },
            {
                "id": 2, "epoch": 1, "input": [{ "role": "user", "content": [
                    { "type": "text", "text": "look" }, { "type": "image", "image": "data:…" }] }],
                "messages": [{ "role": "user", "content": "look" }], "output": { "choices": [] },
                "error": { "message": "no connection", "traceback": "…", "traceback_ansi": "…" },
            },
            {
                "id": "a/b", "epoch": 2, "input": "What is 1+2?",
                "messages": [{ "role": "user", "content": "What is 1+2?" },
                    { "role": "assistant", "content": [{ "type": "reasoning", "reasoning": "hm" },
                        { "type": "text", "text": "4" }] }],
                "output": { "choices": [{ "stop_reason": "max_tokens",
                    "message": { "role": "assistant", "content": "4" } }] },
                "scores": { "includes": { "value": null } }, "limit": { "type": "time", "limit": 30 },
            },
        ],
    })
}

#[test]
fn a_foreign_log_brings_what_it_knows_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.json");
    // As Python writes it: NaN is no JSON.
    fs::write(&file, foreign().to_string().replace("\"value\":null", "\"value\":NaN")).unwrap();
    let imported = import(&folder.path().join("runs"), &file, ImportOptions::default()).unwrap();
    let run = &imported.run;
    let manifest = run.manifest();
    assert!(run.id().starts_with("20250301-100000-"), "{}", run.id());
    assert_eq!(
        (manifest.bench.as_str(), manifest.passes, manifest.timeout_ms, manifest.seed),
        ("inspect/sums", 2, 30_000, 7)
    );
    assert_eq!(manifest.grader, "inspect/includes");
    let configuration = &manifest.configurations[0];
    assert_eq!((configuration.id.as_str(), configuration.options.max_tokens), ("mockllm/model", 64));
    assert!(
        configuration.unknown.contains(&"top_p".to_owned()) && configuration.unknown.contains(&"total_ms".to_owned())
    );
    assert!(!configuration.unknown.contains(&"temperature".to_owned()));
    let cases = run.cases().unwrap();
    let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["a-b", "2"]);
    assert_eq!((cases[0].language, cases[0].tools[0].name.as_str()), (Language::Undetermined, "add"));
    assert!(cases[0].provenance.contains("a/b") && cases[0].provenance.contains("3 | three"));
    assert_eq!(cases[1].messages[0].content, "look\n(image)");

    let details = details(run);
    let (pass, outcome) = (&details[0].pass, details[0].outcome.as_ref().unwrap());
    assert_eq!((pass.text.as_str(), pass.seed, pass.timings.total_ms), ("the long answer", 7, 1250.0));
    assert_eq!(pass.started, "2025-03-01T10:00:02.123Z");
    assert_eq!(pass.usage, Usage { prompt_tokens: Some(33), cached_tokens: Some(3), completion_tokens: Some(12) });
    assert_eq!((outcome.success, outcome.calls[0].name.as_str()), (Some(true), "add"));
    assert_eq!(outcome.reasons, ["grade = 0.25"]);
    let asked = run.request(&pass.request).unwrap().unwrap();
    assert_eq!(asked.request.messages.len(), 4, "all but the last answer");
    assert_eq!(asked.request.messages[3].tool_call_id.as_deref(), Some("c1"));
    // No score, a time limit: not judged.
    let (pass, outcome) = (&details[1].pass, details[1].outcome.as_ref().unwrap());
    assert_eq!((pass.pass, pass.end, pass.thinking.as_str()), (2, End::Timeout, "hm"));
    assert_eq!((outcome.success, outcome.class), (None, Some(FailureClass::InvalidGrader)));
    let (pass, outcome) = (&details[2].pass, details[2].outcome.as_ref().unwrap());
    assert_eq!((pass.end, outcome.success, outcome.class), (End::Fault, None, Some(FailureClass::InvalidTransport)));
    assert_eq!(pass.fault.as_ref().unwrap().message, "no connection");
    assert_eq!((imported.passes, imported.invalid), (3, 2));
    // Its own verdicts survive a re-grade, for which there are no rules here.
    let report = tenpass_bench::store::regrade(run, None).unwrap();
    assert_eq!((report.graded, report.kept, report.changed), (0, 3, 0));
}

/// The error of a log in which one value is another.
fn refusal(place: &str, value: &Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.json");
    let mut log = foreign();
    *log.pointer_mut(place).unwrap() = value.clone();
    fs::write(&file, log.to_string()).unwrap();
    let error = import(&folder.path().join("runs"), &file, ImportOptions::default()).unwrap_err();
    let left = fs::read_dir(folder.path().join("runs")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "a refused log leaves something behind");
    assert!(!error.hint().is_empty());
    error.to_string()
}

#[test]
fn what_is_wrong_is_named() {
    let error = refusal("/samples/0/messages/2/tool_calls/0/function", &json!(7));
    assert!(error.contains("log.json, samples[0]: messages[2].tool_calls[0].function: "), "{error}");
    let error = refusal("/samples/1/epoch", &json!("one"));
    assert!(error.contains("samples[1]: epoch: "), "{error}");
    let error = refusal("/samples/1/epoch", &json!(0));
    assert!(error.contains("samples[1]: epoch: "), "{error}");
    let error = refusal("/samples/0/scores/includes", &json!({}));
    assert!(error.contains("samples[0]: scores.includes: ") && error.contains("value"), "{error}");
    let error = refusal("/samples/2/epoch", &json!(1));
    assert!(error.contains("twice"), "{error}");
    let error = refusal("/eval/model", &json!(null));
    assert!(error.contains("eval.model: "), "{error}");
    let error = refusal("/version", &json!(3));
    assert!(error.contains("format 3"), "{error}");
    let error = refusal("/samples", &json!([]));
    assert!(error.contains("no samples"), "{error}");
    let error = refusal("/samples", &json!({}));
    assert!(error.contains("list of samples"), "{error}");

    let folder = tempfile::tempdir().unwrap();
    let log = exported(folder.path());
    let whole = entries(&log);
    let with = |name: &str, bytes: &[u8]| {
        let mut entries = whole.clone();
        entries.insert(name.to_owned(), bytes.to_vec());
        write_archive(&log, &entries);
        import(&folder.path().join("after"), &log, ImportOptions::default()).unwrap_err().to_string()
    };
    let error = with("samples/case-1_epoch_2.json", b"{\"id\":\"case-1\",\"epoch\":");
    assert!(error.contains("samples/case-1_epoch_2.json: ") && error.contains("EOF"), "{error}");
    let error = with("tenpass/cases.jsonl", b"{}\n{}");
    assert!(error.contains("tenpass/cases.jsonl:1: ") && error.contains("id"), "{error}");
    let mut value = sample(&whole, "samples/case-1_epoch_2.json");
    value["store"]["tenpass"]["pass"]["timings"]["total_ms"] = json!("long");
    let error = with("samples/case-1_epoch_2.json", value.to_string().as_bytes());
    assert!(error.contains("samples/case-1_epoch_2.json: store.tenpass.pass.timings.total_ms: "), "{error}");
    let mut value = sample(&whole, "header.json");
    value["eval"]["metadata"]["tenpass"]["manifest"]["passes"] = json!(-1);
    let error = with("header.json", value.to_string().as_bytes());
    assert!(error.contains("eval.metadata.tenpass.manifest.passes: "), "{error}");
    assert_eq!(fs::read_dir(folder.path().join("after")).map_or(0, Iterator::count), 0);

    let nothing = folder.path().join("nothing.eval");
    fs::write(&nothing, b"PK\x03\x04 and then?").unwrap();
    let error = import(&folder.path().join("after"), &nothing, ImportOptions::default()).unwrap_err();
    assert!(error.to_string().contains("nothing.eval is not an Inspect log"), "{error}");
}

/// Puts another value into a place of a document that a number chooses.
fn disturb(value: &mut Value, mut place: usize, other: &Value) {
    let count = |value: &Value| match value {
        Value::Array(all) => all.len(),
        Value::Object(all) => all.len(),
        _ => 0,
    };
    let members = count(value);
    if members == 0 || place.is_multiple_of(members + 1) {
        *value = other.clone();
        return;
    }
    place /= members + 1;
    let chosen = place % members;
    match value {
        Value::Array(all) => disturb(&mut all[chosen], place / members, other),
        Value::Object(all) => {
            let key = all.keys().nth(chosen).unwrap().clone();
            disturb(&mut all[&key], place / members, other);
        }
        _ => {}
    }
}

fn other() -> impl Strategy<Value = Value> {
    select(vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(1e308),
        json!(u64::MAX),
        json!(""),
        json!("attachment://aa"),
        json!("\u{0}"),
        json!([]),
        json!([[]]),
        json!({}),
        json!({ "role": "tool", "content": [] }),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn no_document_is_a_panic(place: usize, other in other()) {
        let folder = tempfile::tempdir().unwrap();
        let mut log = foreign();
        disturb(&mut log, place, &other);
        let file = folder.path().join("log.json");
        fs::write(&file, log.to_string()).unwrap();
        let _ = import(&folder.path().join("runs"), &file, ImportOptions::default());
    }

    #[test]
    fn no_bytes_are_a_panic(place: usize, byte: u8, cut: bool) {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = foreign().to_string().into_bytes();
        let place = place % bytes.len();
        bytes[place] = byte;
        if cut {
            bytes.truncate(place);
        }
        let file = folder.path().join("log.json");
        fs::write(&file, bytes).unwrap();
        let _ = import(&folder.path().join("runs"), &file, ImportOptions::default());
    }
}

#[test]
fn no_archive_is_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let log = exported(folder.path());
    let whole = fs::read(&log).unwrap();
    // Every place near the heads and the directory, and some between.
    let places = (0..whole.len()).filter(|place| *place < 100 || whole.len() - place < 250 || place % 211 == 0);
    for place in places {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x41;
        let file = folder.path().join("x.eval");
        fs::write(&file, &bytes).unwrap();
        let _ = import(&folder.path().join("runs"), &file, ImportOptions::default());
    }
}

#[test]
fn an_own_document_that_was_disturbed_is_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let log = exported(folder.path());
    let whole = entries(&log);
    let names = ["header.json", "samples/case-0_epoch_1.json"];
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = (any::<usize>(), other(), select(names.to_vec()));
    for _ in 0..300 {
        let (place, other, name) = strategy.new_tree(&mut runner).unwrap().current();
        let mut entries = whole.clone();
        let mut value = sample(&whole, name);
        disturb(&mut value, place, &other);
        entries.insert(name.to_owned(), value.to_string().into_bytes());
        write_archive(&log, &entries);
        let _ = import(&folder.path().join("runs"), &log, ImportOptions::default());
    }
}
