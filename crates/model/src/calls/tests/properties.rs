//! Properties over generated input.

use proptest::prelude::*;
use serde_json::Map;

use super::super::fuzz;
use super::super::lenient::{self, Dialect, State};
use super::super::source::Work;
use super::*;

fn json_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[ -~]{0,12}",
        "[\\\\\"'{}\\[\\],: a-zé\\n]{0,12}",
        Just("C:\\Users\\new".to_owned()),
        Just("</tool_call>".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e6_f64..1e6).prop_map(Value::from),
        text.prop_map(|text| Value::from(no_path(&text))),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z \"\\\\:]{0,6}", inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Without what JSON reads as a letter and a line break (`c:` before one), or as a backslash at the
/// start, and the lenient reader, on purpose, as a Windows path.
fn no_path(text: &str) -> String {
    let apart = text.replace(":\\", ": \\").replace(":\n", ": \n");
    if apart.starts_with('\\') { format!("x{apart}") } else { apart }
}

/// Fragments of every notation, so that random sequences of them meet the readers' edges.
fn fragments() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        "<tool_call>",
        "</tool_call>",
        "<|tool_call>",
        "<tool_call|>",
        "<function=lamp>",
        "</function>",
        "<parameter=room>",
        "</parameter>",
        "<invoke name=\"lamp\">",
        "<parameter name=\"room\">",
        "</invoke>",
        "[TOOL_CALLS]",
        "[ARGS]",
        "[CALL_ID]x",
        "lamp",
        "lamp_all",
        "ping",
        "lamp(",
        ")",
        "on=True",
        "{\"name\":\"lamp\",\"arguments\":{\"on\":true}}",
        "{\"name\":\"lamp\",\"arguments\":{\"room\":\"",
        "{\"on\":true}",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        "\\",
        ",",
        ":",
        "\n",
        "```json\n",
        "```",
        "`",
        "<think>",
        "</think>",
        "<|channel|>",
        "<|message|>",
        "commentary to=functions.lamp",
        "<|call|>",
        "<|start|>",
        "<|end|>",
        "call:lamp{",
        "room:<|\"|>attic<|\"|>",
        ">>>lamp\n",
        "functools[",
        "Action: lamp\n",
        "Action Input: ",
        "Using tool: lamp\n",
        "<｜tool▁call▁begin｜>",
        "<｜tool▁sep｜>",
        "<｜tool▁call▁end｜>",
        "<|tool_call_begin|>functions.lamp:0",
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|>",
        "<arg_key>room</arg_key>",
        "<arg_value>",
        "</arg_value>",
        "<|im_start|>assistant\n",
        "<|im_end|>",
        "<|im_start|>user",
        "é",
        "｜",
        "text ",
        "<",
        "true",
        "None",
        "C:\\Users\\new",
        "<|python_tag|>",
        "<seed:tool_call>",
        "<escape>",
        "to=functions.lamp json",
        "</s>",
        "<s>",
    ];
    prop::collection::vec(
        prop_oneof![8 => prop::sample::select(PARTS).prop_map(str::to_owned), 1 => "\\PC{0,4}"],
        0..24,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn the_lenient_reader_reads_json_as_json(value in json_value()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let strict: Value = serde_json::from_str(&text).unwrap();
            let reading = lenient::read(&text, 0, Dialect::Json, &Work::new(text.len()));
            prop_assert_eq!(reading.state, State::Complete, "{}", text);
            prop_assert_eq!(&reading.value, &strict, "{}", text);
            prop_assert_eq!(reading.end, text.len());
            prop_assert!(reading.repairs.is_empty(), "{}: {:?}", text, reading.repairs);
        }
    }

    #[test]
    fn a_call_of_any_arguments_is_read_back(arguments in prop::collection::vec(("[a-z]{1,8}", json_value()), 0..4)) {
        let arguments: Map<String, Value> = arguments.into_iter().collect();
        let tool = [ToolDefinition::new("any", "").with_parameters(json!({"type":"object"}))];
        let text = format!("<tool_call>\n{}\n</tool_call>", json!({"name":"any","arguments":arguments}));
        let input = ParseInput {
            text: &text, thinking: "", structured: &[], tools: &tool, declared: Some("hermes"), finish: FinishReason::Stop,
        };
        let parsed = parse(&input);
        prop_assert_eq!(parsed.calls.len(), 1, "{}", text);
        prop_assert_eq!(&parsed.calls[0].arguments, &arguments);
        prop_assert!(!parsed.calls[0].recovered);
        prop_assert_eq!(parsed.class, None);
    }

    #[test]
    fn any_bytes_keep_the_invariants(data in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz::one(&data);
    }

    #[test]
    fn any_fragments_keep_the_invariants(selector in any::<u8>(), text in fragments()) {
        let mut data = vec![selector];
        data.extend_from_slice(text.as_bytes());
        fuzz::one(&data);
    }

    #[test]
    fn a_cut_off_call_never_runs(cut in 1_usize..60) {
        let call = r#"<tool_call>{"name":"note","arguments":{"text":"one two","count":12}}"#;
        let text = &call[..cut.min(call.len())];
        let parsed = run(text, None, FinishReason::Length);
        prop_assert!(parsed.calls.is_empty(), "{}: {:?}", text, parsed);
    }
}
