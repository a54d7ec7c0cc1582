//! Shape 32: any of the others inside reasoning.

use super::*;

const CALL: &str = r#"<tool_call>{"name":"lamp","arguments":{"on":true}}</tool_call>"#;
const OTHER: &str = r#"<tool_call>{"name":"lamp","arguments":{"on":false}}</tool_call>"#;

#[test]
fn shape_32_a_draft_and_the_real_call_are_one() {
    let text = format!("<think>Should I do {OTHER}? No.</think>\n{CALL}");
    check_class(&text, FailureClass::CallAsText, &on());
    let declared = run(&text, Some("hermes"), FinishReason::Stop);
    assert_eq!((calls(&declared), declared.class, declared.calls[0].recovered), (on(), None, false));
    let without_opening = format!("I could {OTHER}.\n</think>\n\n{CALL}");
    assert_eq!(calls(&plain(&without_opening)), on());
}

#[test]
fn shape_32_the_only_call_in_an_open_block_is_recovered() {
    for declared in [None, Some("hermes")] {
        let parsed = run(&format!("<think>It is dark.\n{CALL}"), declared, FinishReason::Stop);
        assert_eq!((calls(&parsed), parsed.class), (on(), Some(FailureClass::CallInThinking)));
        assert!(parsed.calls[0].recovered);
        assert_eq!(parsed.text, "");
    }
}

#[test]
fn shape_32_every_notation_inside_an_open_block() {
    for call in [
        r#"{"name":"lamp","parameters":{"on":true}}"#,
        "<|python_tag|>lamp.call(on=True)",
        r#"[TOOL_CALLS]lamp[ARGS]{"on":true}"#,
        r#"<function=lamp>{"on":true}</function>"#,
        "<tool_call>lamp\n<arg_key>on</arg_key><arg_value>true</arg_value></tool_call>",
        "Action: lamp\nAction Input: {\"on\":true}",
        "```json\n{\"name\":\"lamp\",\"arguments\":{\"on\":true}}\n```",
        r#"lamp({"on":true})"#,
    ] {
        check_class(&format!("<think>\nIt is dark.\n{call}"), FailureClass::CallInThinking, &on());
    }
}

#[test]
fn shape_32_closed_reasoning_counts_only_without_an_answer() {
    check_class(&format!("<think>{CALL}</think>"), FailureClass::CallInThinking, &on());
    let answered = plain(&format!("<think>Maybe {CALL}</think>It is not dark."));
    assert_eq!((calls(&answered), answered.class, answered.text.as_str()), (json!([]), None, "It is not dark."));
}

#[test]
fn shape_32_reasoning_apart_counts_only_without_an_answer() {
    let tools = tools();
    let input = ParseInput {
        text: "",
        thinking: CALL,
        structured: &[],
        tools: &tools,
        declared: Some("hermes"),
        finish: FinishReason::Stop,
    };
    let parsed = parse(&input);
    assert_eq!((calls(&parsed), parsed.class), (on(), Some(FailureClass::CallInThinking)));
    let answered = parse(&ParseInput { text: "No.", ..input });
    assert_eq!((calls(&answered), answered.class), (json!([]), None));
}

#[test]
fn drafts_that_repeat_are_one_and_the_last_group_counts() {
    let parsed = plain(&format!("<think>Perhaps {OTHER}. No, rather:\n{CALL}\n{CALL}"));
    assert_eq!(calls(&parsed), on());
}

#[test]
fn cut_off_while_thinking_a_draft_does_not_run() {
    let parsed = run(&format!("<think>Perhaps {CALL} or"), None, FinishReason::Length);
    assert_eq!((calls(&parsed), parsed.class), (json!([]), Some(FailureClass::CallInThinking)));
}

#[test]
fn other_tags_of_reasoning() {
    for (open, close) in super::super::thinking::TAGS {
        let parsed = plain(&format!("{open}\n{OTHER}\n{close}\n{CALL}\nDone."));
        assert_eq!((calls(&parsed), parsed.text.as_str()), (on(), "Done."), "{open}");
    }
}

#[test]
fn a_tag_inside_an_argument_is_data() {
    let text = r#"<tool_call>{"name":"note","arguments":{"text":"<think> and </think> are tags"}}</tool_call>"#;
    check(text, Shape::Hermes, &json!([["note", {"text":"<think> and </think> are tags"}]]));
}
