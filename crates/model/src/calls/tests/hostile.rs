//! Input that is meant to keep the parser busy. Work is counted, never timed.

use super::super::answer::parse_within;
use super::super::source::Work;
use super::*;

/// Parses and gives the bytes of reading per byte of input.
fn work_factor(text: &str) -> usize {
    let tools = tools();
    let work = Work::new(text.len());
    let input =
        ParseInput { text, thinking: "", structured: &[], tools: &tools, declared: None, finish: FinishReason::Stop };
    let parsed = parse_within(&input, &work);
    assert!(parsed.calls.len() <= text.len() / 8);
    work.spent() / text.len()
}

#[test]
fn hostile_repetitions_cost_a_bounded_amount_of_reading() {
    const SIZE: usize = 1 << 17;
    // The budget stops readers at 64; one reading that was under way may overshoot it.
    const LIMIT: usize = 66;
    for unit in [
        "{",
        "[",
        "[{",
        "{\"a\":",
        "{\"a",
        "{\"a\":\"{",
        "{\"name\":\"lamp\",\"arguments\":{",
        "{\"name\":\"lamp\",\"arguments\":{\"room\":\"",
        "<tool_call>",
        "<tool_call>{",
        "<tool_call>{\"name\":\"lamp\",\"arguments\":\"",
        "</tool_call>",
        "<function=lamp>",
        "<function=lamp><parameter=room>",
        "<parameter=room>x parameter>",
        "<function=lamp>parameter>function>",
        "<invoke name=\"lamp\">",
        "<tool_call>lamp<arg_key>",
        "[TOOL_CALLS]",
        "[TOOL_CALLS]lamp[ARGS]{",
        "<|tool_call_begin|>",
        "<|tool_call_begin|>lamp<|tool_sep|>{",
        "<|channel|>",
        "<|channel|>commentary to=functions.lamp<|message|>{",
        "<|message|>",
        "lamp(",
        "lamp(room=\"",
        "lamp(lamp(\n",
        "[lamp(",
        "call:lamp{",
        "<|tool_call>call:lamp{room:<|\"|>",
        "```json\n{",
        "```\n",
        "`",
        "` ``",
        "<think>",
        "</think>",
        "<think>{\"",
        "Action: lamp\n",
        "Action: lamp\nAction Input: {\n",
        "\\\"",
        "\"",
        "<|",
        "<｜",
        "<",
        ">>>lamp\n{",
        "\n\n\n",
        "- ",
        "é",
    ] {
        let text = unit.repeat(SIZE / unit.len());
        let factor = work_factor(&text);
        assert!(factor <= LIMIT, "'{}': {factor} bytes read per byte", unit.escape_debug());
    }
}

#[test]
fn hostile_megabytes_cost_a_bounded_amount_of_reading() {
    for unit in ["{", "<tool_call>"] {
        let factor = work_factor(&unit.repeat((1 << 20) / unit.len()));
        assert!(factor <= 66, "'{unit}': {factor} bytes read per byte");
    }
}

#[test]
fn hostile_depth_is_text() {
    let deep = |open: &str, close: &str| {
        let nested = format!("{}1{}", open.repeat(5000), close.repeat(5000));
        format!(r#"{{"name":"note","arguments":{{"text":"x","meta":{nested}}}}}"#)
    };
    for text in [deep("{\"a\":", "}"), deep("[", "]")] {
        let parsed = plain(&text);
        assert_eq!((calls(&parsed), parsed.class), (json!([]), Some(FailureClass::ArgsUnparseable)));
    }
    let fine = format!(r#"{{"name":"note","arguments":{{"text":"x","tags":{}{}}}}}"#, "[".repeat(20), "]".repeat(20));
    assert_eq!(plain(&fine).calls.len(), 1);
}

#[test]
fn a_call_before_the_hostile_part_is_found() {
    let text = format!("<tool_call>{{\"name\":\"ping\"}}</tool_call>{}", "{\"a".repeat(100_000));
    assert_eq!(calls(&plain(&text)), json!([["ping", {}]]));
}

#[test]
fn a_long_argument_is_read() {
    let long = "word \"quoted\" {brace} C:\\\\x ".repeat(10_000);
    let text = json!({"name":"note","arguments":{"text":long}}).to_string();
    assert_eq!(calls(&plain(&text)), json!([["note", {"text":long}]]));
}
