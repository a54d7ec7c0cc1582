//! Every edge of the design's list.

use super::*;

fn note(text: &str) -> Value {
    json!([["note", {"text":text}]])
}

#[test]
fn edge_close_tag_missing_at_the_end() {
    for text in [
        r#"<tool_call>{"name":"lamp","arguments":{"on":true}}"#,
        "<tool_call>\n{\"name\":\"lamp\",\"arguments\":{\"on\":true}}\n",
        r#"<tool_call>{"name":"lamp","arguments":{"on":true}}<|im_end|>"#,
        r#"<function=lamp>{"on":true}"#,
        "<|tool_call_start|>[lamp(on=True)]",
        "<|tool_call_start|>[lamp(on=True)",
        "[lamp(on=True)",
        "<|tool_call>call:lamp{on:true}",
        "<|tool_call_begin|>functions.lamp:0<|tool_call_argument_begin|>{\"on\":true}",
    ] {
        let parsed = plain(text);
        assert_eq!((calls(&parsed), parsed.text.as_str()), (on(), ""), "{text}\n{parsed:?}");
    }
    let declared =
        run("<tool_call>{\"name\":\"lamp\",\"arguments\":{\"on\":true}}", Some("hermes"), FinishReason::Stop);
    assert_eq!((calls(&declared), declared.class, declared.calls[0].recovered), (on(), None, false));
    let between = r#"<tool_call>{"name":"lamp","arguments":{"room":"attic"}}<tool_call>{"name":"lamp","arguments":{"room":"hall"}}</tool_call>"#;
    check(between, Shape::Hermes, &attic_and_hall());
}

#[test]
fn edge_close_tag_doubled() {
    for text in [
        r#"<tool_call>{"name":"lamp","arguments":{"on":true}}</tool_call></tool_call>"#,
        "<tool_call>{\"name\":\"lamp\",\"arguments\":{\"on\":true}}</tool_call>\n</tool_call>",
        "<function=lamp>{\"on\":true}</function></function>",
    ] {
        check_class(text, FailureClass::CallAsText, &on());
        assert_eq!(plain(text).text, "", "{text}");
    }
}

#[test]
fn edge_open_tag_doubled() {
    check(r#"<tool_call><tool_call>{"name":"lamp","arguments":{"on":true}}</tool_call>"#, Shape::Hermes, &on());
}

#[test]
fn edge_trailing_bracket() {
    for text in [
        r#"{"name":"lamp","arguments":{"on":true}}]"#,
        r#"{"name":"lamp","arguments":{"on":true}}}"#,
        r#"<tool_call>{"name":"lamp","arguments":{"on":true}}]</tool_call>"#,
        r#"<tool_call>{"name":"lamp","arguments":{"on":true}}}</tool_call>"#,
        r#"[{"name":"lamp","arguments":{"on":true}}]]"#,
        r#"{"name":"lamp","arguments":{"on":true]}}"#,
        r#"[TOOL_CALLS]lamp[ARGS]{"on":true}]"#,
    ] {
        let parsed = plain(text);
        assert_eq!((calls(&parsed), parsed.text.as_str()), (on(), ""), "{text}\n{parsed:?}");
    }
}

#[test]
fn edge_missing_bracket() {
    for text in [
        r#"<tool_call>{"name":"lamp","arguments":{"on":true}</tool_call>"#,
        r#"<tool_call>{"name":"lamp","arguments":{"on":true</tool_call>"#,
        r#"{"name":"lamp","arguments":{"on":true}"#,
        r#"[{"name":"lamp","arguments":{"on":true}}"#,
    ] {
        let parsed = plain(text);
        assert_eq!(calls(&parsed), on(), "{text}\n{parsed:?}");
        assert!(!parsed.calls[0].notes.is_empty());
    }
}

#[test]
fn edge_trailing_comma() {
    for text in [r#"{"name":"lamp","arguments":{"on":true,},}"#, r#"[{"name":"lamp","arguments":{"on":true}},]"#] {
        let parsed = plain(text);
        assert_eq!(calls(&parsed), on(), "{text}");
        assert!(!parsed.calls[0].notes.is_empty());
    }
}

#[test]
fn edge_braces_in_strings() {
    let text = r#"{"name":"note","arguments":{"text":"a } b { c ] d [ \" }}"}}"#;
    check(text, Shape::JsonObject, &note("a } b { c ] d [ \" }}"));
    let tagged = r#"<tool_call>{"name":"note","arguments":{"text":"close with </tool_call> or {"}}</tool_call>"#;
    check(tagged, Shape::Hermes, &note("close with </tool_call> or {"));
    let embedded =
        plain(r#"Noted: {"name":"note","arguments":{"text":"{\"name\":\"lamp\",\"arguments\":{}}"}} - fine."#);
    assert_eq!(calls(&embedded), note(r#"{"name":"lamp","arguments":{}}"#));
    assert_eq!(embedded.text, "Noted:  - fine.");
    check(r#"[note(text="a ) b ] c , d")]"#, Shape::Pythonic, &note("a ) b ] c , d"));
}

#[test]
fn edge_windows_path() {
    for path in [r"C:\Users\new", r"C:\temp\notes\bin.txt", r"C:\Program Files\new app\readme", r"D:\new"] {
        let expected = json!([["note", {"path":path,"text":"x"}]]);
        for text in [
            format!(r#"{{"name":"note","arguments":{{"path":"{path}","text":"x"}}}}"#),
            format!(r#"<tool_call>{{"name":"note","arguments":{{"path":"{path}","text":"x"}}}}</tool_call>"#),
            format!(r#"note(path="{path}", text="x")"#),
            format!(r#"note({{"path":"{path}","text":"x"}})"#),
            format!("<function=note><parameter=path>{path}</parameter><parameter=text>x</parameter></function>"),
            format!("<|tool_call>call:note{{path:<|\"|>{path}<|\"|>,text:<|\"|>x<|\"|>}}<tool_call|>"),
            format!("call:note{{path:{path},text:x}}"),
        ] {
            assert_eq!(calls(&plain(&text)), expected, "{text}");
        }
    }
    let escaped = r#"{"name":"note","arguments":{"path":"C:\\Users\\new","text":"x"}}"#;
    check(escaped, Shape::JsonObject, &json!([["note", {"path":"C:\\Users\\new","text":"x"}]]));
    let ends_in_backslash = r#"{"name":"note","arguments":{"text":"x","path":"C:\Users\"}}"#;
    assert_eq!(calls(&plain(ends_in_backslash)), json!([["note", {"text":"x","path":"C:\\Users\\"}]]));
    let newline = r#"{"name":"note","arguments":{"text":"one\ntwo\tthree"}}"#;
    check(newline, Shape::JsonObject, &note("one\ntwo\tthree"));
}

#[test]
fn edge_unescaped_inner_quotes() {
    for (written, meant) in [
        (r#"He said "hi" to me"#, r#"He said "hi" to me"#),
        (r#""quoted" first"#, r#""quoted" first"#),
        (r#"last "quoted""#, r#"last "quoted""#),
        (r#"a "b", and "c": d"#, r#"a "b", and "c": d"#),
    ] {
        let text = format!(r#"{{"name":"note","arguments":{{"text":"{written}","count":1}}}}"#);
        assert_eq!(calls(&plain(&text)), json!([["note", {"text":meant,"count":1}]]), "{text}");
    }
    let call = r#"note(text="He said "hi" to me", count=1)"#;
    assert_eq!(calls(&plain(call)), json!([["note", {"text":"He said \"hi\" to me","count":1}]]));
    let encoded = r#"{"name":"lamp","arguments":"{"room":"attic"}"}"#;
    check_class(encoded, FailureClass::ArgsDoubleEncoded, &attic());
}

#[test]
fn edge_python_literals() {
    let text = "{'name': 'note', 'arguments': {'text': \"it's\", 'meta': {'a': None, 'b': True, 'c': False}}}";
    let parsed = plain(text);
    assert_eq!(calls(&parsed), json!([["note", {"text":"it's","meta":{"a":null,"b":true,"c":false}}]]));
    let tagged = r#"<tool_call>{"name": "lamp", "arguments": {"on": True}}</tool_call>"#;
    check_class(tagged, FailureClass::CallAsText, &on());
    let declared = run(tagged, Some("hermes"), FinishReason::Stop);
    assert!(declared.calls[0].recovered, "a repaired call is not counted with the others");
    assert_eq!(declared.calls[0].notes, ["python literal"]);
}

#[test]
fn edge_arguments_missing_for_a_tool_without_parameters() {
    let ping = json!([["ping", {}]]);
    for text in [
        r#"{"name":"ping"}"#,
        r#"{"name":"ping","arguments":null}"#,
        r#"{"name":"ping","arguments":""}"#,
        r#"{"name":"ping","arguments":[]}"#,
        r#"{"tool":"ping"}"#,
        r#"<tool_call>{"name":"ping"}</tool_call>"#,
        "<function=ping></function>",
        "<invoke name=\"ping\"></invoke>",
        "[ping()]",
        "ping()",
        "[TOOL_CALLS]ping[ARGS]{}",
        "call:ping{}",
        "<|channel|>commentary to=functions.ping<|message|><|call|>",
    ] {
        assert_eq!(calls(&plain(text)), ping, "{text}");
    }
    assert_eq!(calls(&structured(&json!([{"name":"ping"}]))), ping);
}

#[test]
fn edge_strings_wrapped_in_lists() {
    let text = r#"{"name":"note","arguments":{"text":["v"],"path":["p"],"tags":["t"]}}"#;
    let parsed = plain(text);
    assert_eq!(calls(&parsed), json!([["note", {"text":"v","path":"p","tags":["t"]}]]));
    assert_eq!(parsed.calls[0].notes.len(), 2);
}

#[test]
fn edge_array_as_an_encoded_string() {
    let text = r#"{"name":"note","arguments":{"text":"x","tags":"[\"a\", \"b\"]"}}"#;
    assert_eq!(calls(&plain(text)), json!([["note", {"text":"x","tags":["a","b"]}]]));
    let in_text = r#"{"name":"note","arguments":{"text":"[\"a\"]"}}"#;
    check(in_text, Shape::JsonObject, &note(r#"["a"]"#));
}

#[test]
fn edge_integers_as_strings() {
    let parsed = structured(&json!([{"name":"note","arguments":{"text":"7","count":"3","ratio":"0.5"}}]));
    assert_eq!(calls(&parsed), json!([["note", {"text":"7","count":3,"ratio":0.5}]]));
    assert!(parsed.calls[0].recovered && parsed.calls[0].notes.len() == 2);
    let unclear = structured(&json!([{"name":"note","arguments":{"text":"x","count":"three"}}]));
    assert_eq!(calls(&unclear), json!([["note", {"text":"x","count":"three"}]]));
    assert!(!unclear.calls[0].recovered);
}

#[test]
fn edge_a_name_that_is_a_prefix_of_another() {
    let all = json!([["lamp_all", {"on":true}]]);
    for text in [
        r#"{"name":"lamp_all","arguments":{"on":true}}"#,
        "[lamp_all(on=True)]",
        "lamp_all(on=True)",
        r#"[TOOL_CALLS]lamp_all[ARGS]{"on":true}"#,
        r#"<function=lamp_all>{"on":true}</function>"#,
        "<|tool_call_begin|>functions.lamp_all:0<|tool_call_argument_begin|>{\"on\":true}<|tool_call_end|>",
        "call:lamp_all{on:true}",
        "Action: lamp_all\nAction Input: {\"on\":true}",
        "<tool_call>lamp_all\n<arg_key>on</arg_key><arg_value>true</arg_value></tool_call>",
    ] {
        assert_eq!(calls(&plain(text)), all, "{text}");
    }
    for text in [
        r#"{"name":"lam","arguments":{"on":true}}"#,
        r#"{"name":"lamp_","arguments":{"on":true}}"#,
        r#"{"name":"Lamp","arguments":{"on":true}}"#,
        "[lamps(on=True)]",
        "lamp_a(on=True)",
        r#"[TOOL_CALLS]lam[ARGS]{"on":true}"#,
        r#"<tool_call>{"name":"lampe","arguments":{"on":true}}</tool_call>"#,
        r#"<function=lampe>{"on":true}</function>"#,
    ] {
        check_text(text);
    }
}

#[test]
fn edge_several_bare_objects_separated_by_blanks() {
    let one = r#"{"name":"lamp","arguments":{"room":"attic"}}"#;
    let two = r#"{"name":"lamp","arguments":{"room":"hall"}}"#;
    for separator in ["", " ", "\n", "\n\n", ", ", ";\n", "   \t"] {
        check(&format!("{one}{separator}{two}"), Shape::JsonObject, &attic_and_hall());
    }
}

#[test]
fn edge_duplicates_stay_two() {
    let one = r#"<tool_call>{"name":"ping"}</tool_call>"#;
    assert_eq!(calls(&plain(&format!("{one}{one}"))), json!([["ping", {}], ["ping", {}]]));
}

#[test]
fn edge_length_never_runs_an_open_call() {
    for text in [
        r#"<tool_call>{"name":"lamp","arguments":{"on":true}}"#,
        r#"<tool_call>{"name":"lamp","arguments":{"on":tr"#,
        "<tool_call>",
        "[lamp(on=True)",
        "<|channel|>commentary to=functions.lamp<|message|>{\"on\":true}",
        "<tool_call><function=lamp><parameter=on>true</parameter>",
    ] {
        let parsed = run(text, None, FinishReason::Length);
        assert_eq!(
            (calls(&parsed), parsed.class),
            (json!([]), Some(FailureClass::ArgsTruncated)),
            "{text}\n{parsed:?}"
        );
    }
    let first_closed = r#"<tool_call>{"name":"ping"}</tool_call><tool_call>{"name":"lamp","arguments":{"on":tr"#;
    let parsed = run(first_closed, None, FinishReason::Length);
    assert_eq!((calls(&parsed), parsed.class), (json!([["ping", {}]]), Some(FailureClass::ArgsTruncated)));
    let closed = run(r#"<tool_call>{"name":"ping"}</tool_call> and"#, None, FinishReason::Length);
    assert_eq!((calls(&closed), closed.text.as_str()), (json!([["ping", {}]]), "and"));
}

#[test]
fn edge_cut_off_arguments_do_not_run() {
    for text in [
        r#"<tool_call>{"name":"lamp","arguments":{"room":"att"#,
        r#"{"name":"lamp","arguments":{"room":"attic""#,
        r#"{"name":"lamp","arguments":{"on":tr"#,
        r#"{"name":"lamp","arguments":"#,
        r#"{"name":"lamp","argum"#,
        r#"{"name":"lamp","#,
        r#"[TOOL_CALLS]lamp[ARGS]{"on":"#,
        r#"<function=lamp>{"on":tr"#,
        "<tool_call><function=lamp><parameter=room>att",
        "<tool_call>lamp\n<arg_key>room</arg_key><arg_value>att",
        "lamp(room=\"att",
        "[lamp(room=\"attic\"), lamp(room=",
        "<|tool_call>call:lamp{room:<|\"|>att",
        "<|tool_call_begin|>functions.lamp:0<|tool_call_argument_begin|>{\"on\":",
        "<|channel|>commentary to=functions.lamp<|message|>{\"on\":",
        "Action: lamp\nAction Input: {\"on\":",
        r#"[{"name":"lamp","arguments":{"on":"#,
    ] {
        let parsed = plain(text);
        assert_eq!(parsed.class, Some(FailureClass::ArgsTruncated), "{text}\n{parsed:?}");
        assert!(
            !parsed.calls.iter().any(|call| call.arguments.get("room") != Some(&json!("attic"))),
            "{text}\n{parsed:?}"
        );
    }
}

#[test]
fn edge_arguments_that_cannot_be_read() {
    for text in [
        r#"<tool_call>{"name":"lamp","arguments":{"on": @@@}}</tool_call>"#,
        r#"<tool_call>{"name":"lamp","arguments":"turn it on"}</tool_call>"#,
        r#"{"name":"lamp","arguments":"turn it on"}"#,
        r#"{"name":"lamp","arguments":{on yes}}"#,
        r#"{"name":"lamp","arguments":[1,2]}"#,
        r#"[TOOL_CALLS]lamp[ARGS]{"on": maybe}"#,
        r#"<function=lamp>{"on" true}</function>"#,
        r#"{"name":"note","arguments":{"text":"x = {"a": "b"} and "c"}}"#,
        "[lamp(room=attic)]",
        r#"<tool_call>{"name":"lamp",</tool_call>"#,
    ] {
        check_class(text, FailureClass::ArgsUnparseable, &json!([]));
    }
    let call = |arguments: &str| {
        [StructuredCall { id: None, name: "lamp".into(), arguments: json!(arguments), repaired: None }]
    };
    assert_eq!(judged(&call("{\"on\": @}"), FinishReason::ToolCalls).class, Some(FailureClass::ArgsUnparseable));
    assert_eq!(judged(&call("{\"on\": @}"), FinishReason::Length).class, Some(FailureClass::ArgsTruncated));
    assert_eq!(judged(&call("{\"on\": tr"), FinishReason::ToolCalls).class, Some(FailureClass::ArgsTruncated));
}

#[test]
fn edge_arguments_encoded_once_or_twice() {
    let once = r#"{"name":"lamp","arguments":"{\"on\":true}"}"#;
    check_class(once, FailureClass::ArgsDoubleEncoded, &on());
    check_class(&format!("<tool_call>{once}</tool_call>"), FailureClass::ArgsDoubleEncoded, &on());
    let wire = structured(&json!([{"function":{"name":"lamp","arguments":"{\"on\":true}"}}]));
    assert_eq!((calls(&wire), wire.class, wire.calls[0].recovered), (on(), None, false));
    let twice = json!(r#"{"on":true}"#).to_string();
    let parsed = structured(&json!([{"function":{"name":"lamp","arguments":twice}}]));
    assert_eq!((calls(&parsed), parsed.class), (on(), Some(FailureClass::ArgsDoubleEncoded)));
    assert!(parsed.calls[0].recovered);
}

#[test]
fn edge_structured_calls_come_first() {
    let tools = tools();
    let structured = super::super::parse_structured(&json!([{"name":"ping","arguments":{}}])).unwrap();
    let text = r#"Pinging. <tool_call>{"name":"lamp","arguments":{"on":true}}</tool_call>"#;
    let input = ParseInput {
        text,
        thinking: "",
        structured: &structured,
        tools: &tools,
        declared: Some("hermes"),
        finish: FinishReason::ToolCalls,
    };
    let parsed = parse(&input);
    assert_eq!((calls(&parsed), parsed.class, parsed.text.as_str()), (json!([["ping", {}]]), None, "Pinging."));
    assert_eq!((parsed.calls[0].recovered, parsed.calls[0].shape.as_str()), (false, "structured"));
}

#[test]
fn edge_structured_unknown_name() {
    let parsed = structured(&json!([{"name":"fridge","arguments":{"x":1}}]));
    assert_eq!((calls(&parsed), parsed.class), (json!([["fridge", {"x":1}]]), Some(FailureClass::UnknownTool)));
}

#[test]
fn edge_streams_that_ran_together() {
    let merged = |name: &str| {
        let arguments = json!(r#"{"on":true}{"on":false}"#);
        judged(&[StructuredCall { id: None, name: name.into(), arguments, repaired: None }], FinishReason::ToolCalls)
    };
    let same = merged("lamp");
    assert_eq!(calls(&same), json!([["lamp", {"on":true}], ["lamp", {"on":false}]]));
    assert_eq!(same.class, Some(FailureClass::StreamMerge));
    assert_eq!(calls(&merged("lamplamp_all")), json!([["lamp", {"on":true}], ["lamp_all", {"on":false}]]));
    let call = StructuredCall {
        id: None,
        name: "lamp".into(),
        arguments: json!({"on":true}),
        repaired: Some("index missing".into()),
    };
    let repaired = judged(&[call], FinishReason::ToolCalls);
    assert_eq!((calls(&repaired), repaired.class), (on(), Some(FailureClass::StreamMerge)));
    assert!(repaired.calls[0].recovered);
}

#[test]
fn edge_template_markers_leak() {
    let call = r#"{"name":"lamp","arguments":{"on":true}}"#;
    check_class(&format!("<|im_start|>assistant\n{call}<|im_end|>"), FailureClass::TemplateMarkerLeak, &on());
    let talk = plain("Good morning.<|im_end|>\n<|endoftext|>");
    assert_eq!((talk.class, talk.text.as_str()), (Some(FailureClass::TemplateMarkerLeak), "Good morning."));
    let orphan = plain("Good morning.\n</tool_call>");
    assert_eq!((orphan.class, orphan.text.as_str()), (Some(FailureClass::TemplateMarkerLeak), "Good morning."));
}

#[test]
fn edge_constrained_object() {
    let constrained = |text: &str, finish| run(text, Some("constrained"), finish);
    let call = constrained(r#"{"name":"lamp","arguments":{"on":true}}"#, FinishReason::Stop);
    assert_eq!((calls(&call), call.class, call.calls[0].recovered), (on(), None, false));
    assert_eq!(call.calls[0].shape, "constrained");
    let talk = constrained(r#"{"name":"answer","arguments":{"text":"Hello."}}"#, FinishReason::Stop);
    assert_eq!((calls(&talk), talk.class, talk.text.as_str()), (json!([]), None, "Hello."));
    let cut = constrained(r#"{"name":"lamp","arguments":{"on":tr"#, FinishReason::Length);
    assert_eq!((calls(&cut), cut.class), (json!([]), Some(FailureClass::ArgsTruncated)));
    let cut_answer = constrained(r#"{"name":"answer","arguments":{"text":"Hello wor"#, FinishReason::Length);
    assert_eq!((calls(&cut_answer), cut_answer.class, cut_answer.text.as_str()), (json!([]), None, "Hello wor"));
    let unknown = constrained(r#"{"name":"fridge","arguments":{}}"#, FinishReason::Stop);
    assert_eq!((calls(&unknown), unknown.class), (json!([]), Some(FailureClass::UnknownTool)));
    let prose = constrained("Hello there.", FinishReason::Stop);
    assert_eq!((calls(&prose), prose.class, prose.text.as_str()), (json!([]), None, "Hello there."));
}

#[test]
fn edge_declared_shape_with_another_notation_is_recovered() {
    let parsed = run(r#"{"name":"lamp","arguments":{"on":true}}"#, Some("hermes"), FinishReason::Stop);
    assert_eq!((calls(&parsed), parsed.class), (on(), Some(FailureClass::CallAsText)));
    assert!(parsed.calls[0].recovered);
    let unknown = run(r#"<tool_call>{"name":"fridge","arguments":{}}</tool_call>"#, Some("hermes"), FinishReason::Stop);
    assert_eq!((calls(&unknown), unknown.class), (json!([]), Some(FailureClass::UnknownTool)));
}

#[test]
fn edge_prose_around_embedded_calls() {
    let object = r#"{"name":"lamp","arguments":{"on":true}}"#;
    let parsed = plain(&format!("Sure! {object}\n\nThe lamp is on now."));
    assert_eq!((calls(&parsed), parsed.text.as_str()), (on(), "Sure!\n\nThe lamp is on now."));
    let asked = plain(&format!("{object} Anything else?"));
    assert_eq!((calls(&asked), asked.text.as_str()), (on(), "Anything else?"));
    let tagged = plain(&format!("Sure!\n<tool_call>{object}</tool_call>\nDone."));
    assert_eq!((calls(&tagged), tagged.text.as_str()), (on(), "Sure!\n\nDone."));
}

#[test]
fn edge_a_list_with_a_call_of_no_tool_keeps_the_others() {
    for text in [
        "[lamp(on=True), fridge(x={\"name\":\"ping\",\"arguments\":{}})]",
        "[fridge(x=1), lamp(on=True)]",
        r#"[{"name":"lamp","arguments":{"on":true}},{"name":"fridge","arguments":{"x":1}}]"#,
        r#"<tool_call>{"name":"fridge","arguments":{}}</tool_call><tool_call>{"name":"lamp","arguments":{"on":true}}</tool_call>"#,
    ] {
        assert_eq!(calls(&plain(text)), on(), "{text}");
    }
}

#[test]
fn edge_behind_a_sentence_at_the_end() {
    for text in [
        "Sure. [lamp(on=True)]",
        "Sure: call:lamp{on:true}",
        "Sure:```json\n{\"name\":\"lamp\",\"arguments\":{\"on\":true}}\n```",
    ] {
        let parsed = plain(text);
        assert_eq!((calls(&parsed), parsed.text.trim_end_matches([':', '.'])), (on(), "Sure"), "{text}");
    }
}

#[test]
fn edge_other_tags_around_an_object() {
    for tag in ["json", "function-call", "longcat_tool_call", "response"] {
        let text = format!("<{tag}>\n{{\"name\":\"lamp\",\"arguments\":{{\"on\":true}}}}\n</{tag}>");
        check_class(&text, FailureClass::CallAsText, &on());
        assert_eq!(plain(&text).text, "", "{tag}");
    }
}
