//! Tests of the parser: every shape, every edge, what must not run, hostile input.

mod edges;
mod hostile;
mod negatives;
mod properties;
mod shapes;
mod thinking;

use serde_json::{Value, json};
use tenpass_trace::{FailureClass, ToolDefinition};

use super::{ParseInput, Parsed, Shape, parse};
use crate::{FinishReason, StructuredCall};

/// The tools of these tests; `lamp_all` starts like `lamp`, `ping` takes nothing.
fn tools() -> Vec<ToolDefinition> {
    let string = json!({"type":"string"});
    let object = |properties: Value| json!({"type":"object","properties":properties});
    let mut note = object(json!({"path":string,"text":string,"tags":{"type":"array","items":string},
        "count":{"type":"integer"},"ratio":{"type":"number"},"meta":{"type":"object"}}));
    note["required"] = json!(["text"]);
    vec![
        ToolDefinition::new("lamp", "").with_parameters(object(json!({"room":string,"on":{"type":"boolean"}}))),
        ToolDefinition::new("lamp_all", "").with_parameters(object(json!({"on":{"type":"boolean"}}))),
        ToolDefinition::new("note", "").with_parameters(note),
        ToolDefinition::new("ping", ""),
    ]
}

fn run(text: &str, declared: Option<&str>, finish: FinishReason) -> Parsed {
    parse(&ParseInput { text, thinking: "", structured: &[], tools: &tools(), declared, finish })
}

fn plain(text: &str) -> Parsed {
    run(text, None, FinishReason::Stop)
}

fn structured(calls: &Value) -> Parsed {
    let calls = super::parse_structured(calls).unwrap();
    judged(&calls, FinishReason::ToolCalls)
}

fn judged(calls: &[StructuredCall], finish: FinishReason) -> Parsed {
    parse(&ParseInput { text: "", thinking: "", structured: calls, tools: &tools(), declared: None, finish })
}

/// The calls as `[name, arguments]` pairs.
fn calls(parsed: &Parsed) -> Value {
    parsed.calls.iter().map(|call| json!([call.name, call.arguments])).collect()
}

/// Reads `text` without a declared shape: recovered calls of `shape`; then with the shape
/// declared: the same calls, not recovered, without a class.
#[track_caller]
fn check(text: &str, shape: Shape, expected: &Value) {
    let parsed = plain(text);
    assert_eq!(calls(&parsed), *expected, "{text}\n{parsed:?}");
    assert!(parsed.calls.iter().all(|call| call.recovered && call.shape == shape.as_str()), "{text}\n{parsed:?}");
    assert!(matches!(parsed.class, Some(FailureClass::CallAsText)), "{text}\n{parsed:?}");
    assert_eq!(parsed.text, "", "{text}");
    let declared = run(text, Some(shape.as_str()), FinishReason::Stop);
    assert_eq!(calls(&declared), *expected, "declared: {text}\n{declared:?}");
    assert!(declared.calls.iter().all(|call| !call.recovered), "declared: {text}\n{declared:?}");
    assert_eq!((declared.class, declared.text.as_str()), (None, ""), "declared: {text}");
}

#[track_caller]
fn check_class(text: &str, class: FailureClass, expected: &Value) {
    let parsed = plain(text);
    assert_eq!((calls(&parsed), parsed.class), (expected.clone(), Some(class)), "{text}\n{parsed:?}");
}

/// No call, no class, and the text as it was.
#[track_caller]
fn check_text(text: &str) {
    let parsed = plain(text);
    assert_eq!(calls(&parsed), json!([]), "{text}\n{parsed:?}");
    assert_eq!((parsed.class, parsed.text.as_str()), (None, text.trim()), "{text}\n{parsed:?}");
}

fn on() -> Value {
    json!([["lamp", {"on":true}]])
}

fn attic() -> Value {
    json!([["lamp", {"room":"attic"}]])
}

fn attic_and_hall() -> Value {
    json!([["lamp", {"room":"attic"}], ["lamp", {"room":"hall"}]])
}
