//! Tests of the OpenAI decoder on traffic in the shape that real servers send.

use serde_json::json;

use super::super::tests_support::{any_cut, run};
use super::*;

/// Recorded from llama-server (ids shortened, text replaced), CRLF and comments added.
const STREAM: &str = concat!(
    ": ping\r\n\r\n",
    "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null}}],\"object\":\"chat.completion.chunk\"}\n\n",
    "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"reasoning_content\":\"Où? \"}}]}\n\n",
    "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":\"Très \"}}]}\r\n\r\n",
    "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\ndata: \"delta\":{\"content\":\"bien 😀\"}}]}\n\n",
    "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"lamp\",\"arguments\":\"{\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"on\\\":true}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"finish_reason\":\"tool_calls\",\"index\":0,\"delta\":{}}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"completion_tokens\":3,\"prompt_tokens\":37,\"total_tokens\":40,\"prompt_tokens_details\":{\"cached_tokens\":36}},\"timings\":{\"cache_n\":36,\"prompt_n\":1,\"prompt_ms\":161.0,\"predicted_n\":3,\"predicted_ms\":14.5}}\n\n",
    "data: [DONE]\n\n",
);

const DOCUMENT: &str = r#"{"choices":[{"finish_reason":"tool_calls","index":0,"message":{"role":"assistant","reasoning_content":"Où? ","content":"Très bien 😀","tool_calls":[{"id":"c1","type":"function","function":{"name":"lamp","arguments":"{\"on\":true}"}}]}}],"usage":{"completion_tokens":3,"prompt_tokens":37,"total_tokens":40,"prompt_tokens_details":{"cached_tokens":36}},"timings":{"prompt_ms":161.0,"predicted_ms":14.5}}"#;

#[test]
fn any_chunk_boundary_gives_the_same_events_and_blocking_gives_them_too() {
    let events = any_cut(OpenAiDecoder::default, STREAM.as_bytes());
    let [ChatEvent::Thinking(thinking), ChatEvent::Text(text), ChatEvent::ToolCall(lamp), ChatEvent::Done(done)] =
        events.as_slice()
    else {
        panic!("{events:?}")
    };
    assert_eq!((thinking.as_str(), text.as_str()), ("Où? ", "Très bien 😀"));
    assert_eq!((lamp.id.as_deref(), &lamp.arguments, &lamp.repaired), (Some("c1"), &json!({"on": true}), &None));
    assert_eq!(done.finish, FinishReason::ToolCalls);
    assert_eq!(done.usage, Usage { prompt_tokens: Some(37), cached_tokens: Some(36), completion_tokens: Some(3) });
    assert_eq!((done.timings.prompt_ms, done.timings.decode_ms), (Some(161.0), Some(14.5)));
    assert_eq!(any_cut(OpenAiDecoder::default, DOCUMENT.as_bytes()), events);
}

fn chunk(delta: &str, finish: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n")
}

fn read(text: &str) -> Result<Vec<ChatEvent>, (Vec<ChatEvent>, Fault)> {
    run(OpenAiDecoder::default(), &[text.as_bytes()])
}

#[test]
fn usage_on_the_finish_chunk_or_only_in_timings_counts() {
    let on_finish = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n";
    let timings = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}],\"usage\":null,\"timings\":{\"cache_n\":4,\"prompt_n\":1,\"predicted_n\":1}}\n\n";
    for (text, cached) in [(on_finish, None), (timings, Some(4))] {
        let events = read(text).unwrap();
        let Some(ChatEvent::Done(done)) = events.last() else { panic!("{events:?}") };
        assert_eq!(done.usage, Usage { prompt_tokens: Some(5), cached_tokens: cached, completion_tokens: Some(1) });
    }
}

#[test]
fn reasons_are_mapped_and_calls_turn_stop_into_tool_calls() {
    let call =
        chunk(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"lamp","arguments":"{\"on\""}}]}"#, "null");
    for (prefix, reason, finish) in [
        ("", "stop", FinishReason::Stop),
        ("", "length", FinishReason::Length),
        ("", "content_filter", FinishReason::Other),
        (call.as_str(), "stop", FinishReason::ToolCalls),
        (call.as_str(), "length", FinishReason::Length),
    ] {
        let events = read(&format!("{prefix}{}data: [DONE]\n\n", chunk("{}", &format!("\"{reason}\"")))).unwrap();
        let Some(ChatEvent::Done(done)) = events.last() else { panic!("{events:?}") };
        assert_eq!(done.finish, finish, "{reason}");
    }
}

#[test]
fn progress_is_visible_while_a_call_arrives() {
    let mut events = Vec::new();
    let fragment = chunk(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"lamp","arguments":"{"}}]}"#, "null");
    OpenAiDecoder::default().feed(fragment.as_bytes(), &mut events).unwrap();
    assert_eq!(events, [ChatEvent::Text(String::new())]);
}

#[test]
fn faults_are_told_apart_and_keep_what_came_before() {
    let first = chunk(r#"{"content":"He"}"#, "null");
    for (tail, expected) in [
        (String::new(), Fault::Truncated),
        ("data: {\"choices\":[{\"delta\":{\"con".into(), Fault::Truncated),
        ("data: {\"cho\n\ndata: [DONE]\n\n".into(), Fault::Protocol("text that is not JSON: `{\"cho`".into())),
        ("<html>\n".into(), Fault::Protocol("an HTML page instead of an event stream".into())),
        ("data: {\"x\":1}\n\n".into(), Fault::Protocol("a JSON document that is no chat completion".into())),
    ] {
        let (events, fault) = read(&format!("{first}{tail}")).unwrap_err();
        assert_eq!(events, [ChatEvent::Text("He".into())], "{tail}");
        assert_eq!(fault, expected, "{tail}");
    }
    for tail in [
        "data: {\"error\":{\"code\":500,\"message\":\"boom\"}}\n\n",
        "error: {\"code\":500,\"message\":\"boom\"}\n\n",
        "{\"error\":\"boom\"}\n",
    ] {
        let (_, fault) = read(&format!("{first}{tail}")).unwrap_err();
        assert!(matches!(&fault, Fault::Server { message, .. } if message == "boom"), "{tail}: {fault:?}");
    }
    assert!(matches!(read("<!doctype html><p>").unwrap_err().1, Fault::Protocol(what) if what.contains("HTML")));
    assert_eq!(read("  ").unwrap_err().1, Fault::Protocol("an empty response".into()));
    assert_eq!(read("{\"choices\":[{\"mess").unwrap_err().1, Fault::Truncated);
}

#[test]
fn an_answer_that_llama_cpp_cannot_parse_is_still_the_models_answer() {
    let error = "data: {\"error\":{\"code\":500,\"message\":\"Failed to parse input at pos 12: <tool_call>{bad\",\"type\":\"server_error\"}}\n\n";
    let events = read(&format!("{}{error}", chunk(r#"{"content":"Hello "}"#, "null"))).unwrap();
    assert_eq!(events[0], ChatEvent::Text("Hello <tool_call>{bad".into()));
    assert!(matches!(&events[1], ChatEvent::Done(done) if done.finish == FinishReason::Other));
    assert_eq!(unparsed_output("Failed to parse tool call arguments as JSON"), None);
}

#[test]
fn content_in_parts_and_a_stream_without_done_are_read() {
    let events =
        read(&chunk(r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#, "\"stop\"")).unwrap();
    assert_eq!(events[0], ChatEvent::Text("ab".into()));
    assert_eq!(events.len(), 2);
}
