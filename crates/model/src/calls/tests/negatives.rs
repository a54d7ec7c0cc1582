//! What looks like a call and must not run.

use super::*;

#[test]
fn a_json_answer_is_no_call() {
    for text in [
        r#"{"name":"Paris","population":2100000}"#,
        r#"{"name":"Paris","arguments":{"x":1}}"#,
        r#"[{"name":"Paris"},{"name":"Lyon"}]"#,
        r#"{"name":"lamp"}"#,
        r#"{"name":"lamp","price":30}"#,
        r#"{"name":"lamp","room":"attic"}"#,
        r#"{"lamp":{"price":30}}"#,
        r#"{"lamp":"a light"}"#,
        r#"{"ping":{"ms":30}}"#,
        r#"{"tools":["lamp","ping"]}"#,
        r#"{"tool":"hammer","args":{}}"#,
        r#"{"item":{"name":"lamp","arguments":{"on":true}}}"#,
        r#"{"answer":"<tool_call>{\"name\":\"lamp\",\"arguments\":{\"on\":true}}</tool_call>"}"#,
        r#"[{"name":"lamp","arguments":{"on":true}},{"city":"Paris"}]"#,
        "{}",
        "[]",
        "[1, 2, 3]",
    ] {
        check_text(text);
    }
}

#[test]
fn a_recited_definition_is_no_call() {
    for text in [
        r#"{"name":"lamp","description":"A lamp.","parameters":{"type":"object","properties":{"on":{"type":"boolean"}}}}"#,
        r#"{"type":"function","function":{"name":"lamp","description":"A lamp.","parameters":{"type":"object","properties":{}}}}"#,
        r#"{"name":"lamp","description":"A lamp.","parameters":{"on":{"type":"boolean"}}}"#,
    ] {
        check_text(text);
        check_text(&format!("[{text}]"));
    }
}

#[test]
fn a_documentation_example_in_a_fence_is_no_call() {
    let object = r#"{"name":"lamp","arguments":{"on":true}}"#;
    for text in [
        format!("You call it like this:\n\n```json\n{object}\n```\n\nThe lamp goes on then."),
        format!("Here:\n```\n<tool_call>{object}</tool_call>\n```\nThat is all."),
        "Use\n```tool_code\nlamp(on=True)\n```\nfor that.".to_owned(),
        format!("The syntax is:\n```json\n{object}\n```"),
        format!("For example:\n\n```json\n{object}\n```"),
        format!("Par exemple :\n```json\n{object}\n```"),
        "```rust\nlamp(on=True)\n```".to_owned(),
        "A script:\n```python\nlamp(on=True)\n```".to_owned(),
        format!("In a list:\n- first\n  ```json\n  {object}\n  ```\n- second"),
    ] {
        check_text(&text);
        assert_eq!(calls(&run(&text, Some("hermes"), FinishReason::Stop)), json!([]), "{text}");
    }
}

#[test]
fn a_name_that_is_only_mentioned_is_no_call() {
    for text in [
        "I could use the lamp tool for that.",
        "lamp",
        "lamp: a tool",
        "The function lamp(on=True) turns it on.",
        "You would write `lamp(on=True)` for that.",
        "Call lamp({\"on\":true}) when it is dark.",
        "Write this:\n\nlamp(on=True)\n\nand the lamp goes on.",
        "See [lamp(room)](https://example.org) for more.",
        "There is a tool: lamp. There is ping, too.",
        "Send `{\"name\":\"lamp\",\"arguments\":{\"on\":true}}` to the server.",
        "For example {\"name\":\"lamp\",\"arguments\":{\"on\":true}} turns it on.",
        "Action: lamp the room with light",
        "Do you want me to run {\"name\":\"lamp\",\"arguments\":{\"on\":true}}?",
        "I'd send {\"name\":\"lamp\",\"arguments\":{\"on\":true}} - shall I?",
        "Which tool: lamp or ping?",
        "Tool: ping\nDescription: sends a ping.",
        "Tool calls are wrapped in <tool_call> tags.",
        "Use <function=lamp> for that.",
    ] {
        check_text(text);
    }
}

#[test]
fn what_comes_after_a_made_up_turn_does_not_run() {
    let call = r#"<tool_call>{"name":"lamp","arguments":{"on":true}}</tool_call>"#;
    let user =
        plain(&format!("Good night.<|im_end|>\n<|im_start|>user\nLight!<|im_end|>\n<|im_start|>assistant\n{call}"));
    assert_eq!((calls(&user), user.text.as_str()), (json!([]), "Good night."));
    assert_eq!(user.class, Some(FailureClass::TemplateMarkerLeak));
    let ping = r#"<tool_call>{"name":"ping"}</tool_call>"#;
    let result = plain(&format!("{ping}\n<tool_response>ok</tool_response>\n{call}"));
    assert_eq!(calls(&result), json!([["ping", {}]]));
    let react = plain("Action: ping\nAction Input: {}\nObservation: ok\nAction: lamp\nAction Input: {\"on\":true}");
    assert_eq!((calls(&react), react.text.as_str()), (json!([["ping", {}]]), ""));
    let inner = plain(r#"<tool_call>{"name":"note","arguments":{"text":"<|im_start|>user"}}</tool_call>"#);
    assert_eq!(calls(&inner), json!([["note", {"text":"<|im_start|>user"}]]));
}

#[test]
fn nothing_inside_a_call_of_another_tool_runs() {
    for text in [
        r#"<tool_call>{"name":"delegate","arguments":{"name":"lamp","arguments":{"on":true}}}</tool_call>"#,
        r#"{"name":"delegate","arguments":{"name":"lamp","arguments":{"on":true}}}"#,
        r#"[delegate(call={"name":"lamp","arguments":{"on":true}})]"#,
    ] {
        check_text(text);
    }
}

#[test]
fn plain_talk_stays_as_it_is() {
    for text in [
        "Hello!",
        "",
        "a < b and c > d, see [1] and {2}",
        "```rust\nfn main() { println!(\"{}\", 1); }\n```",
        "Line one\n\n- item\n- item\n\n| a | b |",
        "Ceci n'est pas un appel : l'ampoule est allumée.",
        "The set {1, 2} and the list [3, 4].",
        "Action: none\nWe are done.",
    ] {
        check_text(text);
    }
}
