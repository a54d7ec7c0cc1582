//! Every textual shape, in the order of the design's list.

use super::*;

#[test]
fn shape_01_hermes() {
    check(r#"<tool_call>{"name":"lamp","arguments":{"on":true}}</tool_call>"#, Shape::Hermes, &on());
    check("<tool_call>\n{\"name\": \"lamp\", \"arguments\": {\"on\": true}}\n</tool_call>", Shape::Hermes, &on());
    let two = "<tool_call>\n{\"name\":\"lamp\",\"arguments\":{\"room\":\"attic\"}}\n</tool_call>\n\
               <tool_call>\n{\"name\":\"lamp\",\"arguments\":{\"room\":\"hall\"}}\n</tool_call>";
    check(two, Shape::Hermes, &attic_and_hall());
    check(
        "<tool_call>{\"name\":\"lamp\",\"arguments\":{\"room\":\"attic\"}}\n{\"name\":\"lamp\",\"arguments\":{\"room\":\"hall\"}}</tool_call>",
        Shape::Hermes,
        &attic_and_hall(),
    );
    check("<tool_call>lamp\n```json\n{\"on\":true}\n```\n</tool_call>", Shape::Hermes, &on());
    check(r#"<tools>{"name":"lamp","arguments":{"on":true}}</tools>"#, Shape::Hermes, &on());
}

#[test]
fn shape_02_json_object() {
    check(r#"{"name":"lamp","parameters":{"on":true}}"#, Shape::JsonObject, &on());
    check(r#"{"name":"lamp","arguments":{"on":true}}"#, Shape::JsonObject, &on());
    check(r#"[{"name":"lamp","arguments":{"on":true}}]"#, Shape::JsonObject, &on());
    check(r#"{"type":"function","name":"lamp","parameters":{"on":true}}"#, Shape::JsonObject, &on());
    check(
        r#"{"name":"lamp","parameters":{"room":"attic"}}; {"name":"lamp","parameters":{"room":"hall"}}"#,
        Shape::JsonObject,
        &attic_and_hall(),
    );
}

#[test]
fn shape_03_python_tag() {
    check("<|python_tag|>lamp.call(on=True)", Shape::PythonTag, &on());
    check("<|python_tag|>lamp(on=True)", Shape::PythonTag, &on());
    check(r#"<|python_tag|>{"name":"lamp","parameters":{"on":true}}"#, Shape::PythonTag, &on());
    check(r#"<|python_tag|>lamp.call(room="attic"); lamp.call(room='hall')"#, Shape::PythonTag, &attic_and_hall());
}

#[test]
fn shape_04_mistral_list() {
    check(r#"[TOOL_CALLS][{"name":"lamp","arguments":{"on":true}}]"#, Shape::MistralList, &on());
    check(r#"[TOOL_CALLS] [{"name": "lamp", "arguments": {"on": true}, "id": "x1"}]"#, Shape::MistralList, &on());
    check(
        r#"[TOOL_CALLS][{"name":"lamp","arguments":{"room":"attic"}},{"name":"lamp","arguments":{"room":"hall"}}]"#,
        Shape::MistralList,
        &attic_and_hall(),
    );
}

#[test]
fn shape_05_mistral_args() {
    check(r#"[TOOL_CALLS]lamp[ARGS]{"on":true}"#, Shape::MistralArgs, &on());
    check(r#"[TOOL_CALLS]lamp[CALL_ID]a1b2c3d4e[ARGS]{"on":true}"#, Shape::MistralArgs, &on());
    check(r#"[TOOL_CALLS]lamp{"on":true}"#, Shape::MistralArgs, &on());
    check(
        r#"[TOOL_CALLS]lamp[ARGS]{"room":"attic"}[TOOL_CALLS]lamp[ARGS]{"room":"hall"}"#,
        Shape::MistralArgs,
        &attic_and_hall(),
    );
}

#[test]
fn shape_06_function_tag() {
    check(r#"<function=lamp>{"on":true}</function>"#, Shape::FunctionTag, &on());
    check("<function=lamp>\n{\"on\": true}\n</function>", Shape::FunctionTag, &on());
    check(
        r#"<function=lamp>{"room":"attic"}</function><function=lamp>{"room":"hall"}</function>"#,
        Shape::FunctionTag,
        &attic_and_hall(),
    );
}

#[test]
fn shape_07_functionary() {
    check(">>>lamp\n{\"on\":true}", Shape::Functionary, &on());
    check(">>>lamp\n{\"room\":\"attic\"}>>>lamp\n{\"room\":\"hall\"}", Shape::Functionary, &attic_and_hall());
    let with_text = plain("Turning it on.>>>lamp\n{\"on\":true}");
    assert_eq!((calls(&with_text), with_text.text.as_str()), (on(), "Turning it on."));
    let all = plain(">>>all\nTurning it on.>>>lamp\n{\"on\":true}");
    assert_eq!((calls(&all), all.text.as_str()), (on(), "Turning it on."));
}

#[test]
fn shape_08_functools() {
    check(r#" functools[{"name":"lamp","arguments":{"on":true}}]"#, Shape::Functools, &on());
    check(
        r#"functools[{"name":"lamp","arguments":{"room":"attic"}}, {"name":"lamp","arguments":{"room":"hall"}}]"#,
        Shape::Functools,
        &attic_and_hall(),
    );
}

#[test]
fn shape_09_deepseek_r1() {
    let full = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>lamp\n```json\n{\"on\":true}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>";
    check(full, Shape::DeepseekR1, &on());
    let ascii = full.replace('｜', "|").replace('▁', "_");
    check(&ascii, Shape::DeepseekR1, &on());
    check(&full.replace('｜', "|"), Shape::DeepseekR1, &on());
    check(&full.replace('▁', " "), Shape::DeepseekR1, &on());
    check(&full.replace('▁', "\\_"), Shape::DeepseekR1, &on());
    check(&full.replace("calls▁begin", "calls"), Shape::DeepseekR1, &on());
    let two = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>lamp\n```json\n{\"room\":\"attic\"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>lamp\n```json\n{\"room\":\"hall\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>";
    check(two, Shape::DeepseekR1, &attic_and_hall());
}

#[test]
fn shape_10_deepseek_v3() {
    let full = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>lamp<｜tool▁sep｜>{\"on\":true}<｜tool▁call▁end｜><｜tool▁calls▁end｜>";
    check(full, Shape::DeepseekV3, &on());
    check(&full.replace('｜', "|").replace('▁', "_"), Shape::DeepseekV3, &on());
    check("<｜tool▁call▁begin｜>lamp<｜tool▁sep｜>{\"on\":true}<｜tool▁call▁end｜>", Shape::DeepseekV3, &on());
}

#[test]
fn shape_11_gemma4() {
    let expected = json!([["lamp", {"room":"attic","on":true}]]);
    check("<|tool_call>call:lamp{room:<|\"|>attic<|\"|>,on:true}<tool_call|>", Shape::Gemma4, &expected);
    check("call:lamp{room:attic}", Shape::Gemma4, &attic());
    check("call:lamp{room:attic,on:true}", Shape::Gemma4, &expected);
    check("<|tool_call>call:ping{}<tool_call|>", Shape::Gemma4, &json!([["ping", {}]]));
    check(
        "<|tool_call>call:lamp{room:<|\"|>attic<|\"|>}<tool_call|><|tool_call>call:lamp{room:<|\"|>hall<|\"|>}<tool_call|>",
        Shape::Gemma4,
        &attic_and_hall(),
    );
    let nested = "<|tool_call>call:note{text:<|\"|>a, \"b\": {c}<|\"|>,tags:[<|\"|>x<|\"|>,<|\"|>y<|\"|>],count:3,meta:{k:<|\"|>v<|\"|>}}<tool_call|>";
    let expected = json!([["note", {"text":"a, \"b\": {c}","tags":["x","y"],"count":3,"meta":{"k":"v"}}]]);
    check(nested, Shape::Gemma4, &expected);
    check(
        "call:note{text:Hello, you there,count:2}",
        Shape::Gemma4,
        &json!([["note", {"text":"Hello, you there","count":2}]]),
    );
}

#[test]
fn shape_12_function_gemma() {
    check(
        "<start_function_call>call:lamp{room:<escape>attic<escape>}<end_function_call>",
        Shape::FunctionGemma,
        &attic(),
    );
    check(
        "<start_function_call>call:lamp{room:<escape>attic<escape>,on:true}<end_function_call>",
        Shape::FunctionGemma,
        &json!([["lamp", {"room":"attic","on":true}]]),
    );
}

#[test]
fn shape_13_qwen3_coder() {
    let full = "<tool_call><function=lamp><parameter=room>attic</parameter></function></tool_call>";
    for text in [
        full,
        "<tool_call>\n<function=lamp>\n<parameter=room>\nattic\n</parameter>\n</function>\n</tool_call>",
        "<function=lamp><parameter=room>attic</parameter></function>",
        "<function=lamp><parameter=room>attic</parameter></function></tool_call>",
        "<tool_call><function=lamp><parameter=room>attic</parameter></function>",
        "<tool_call><function=lamp><parameter=room>attic</parameter>",
        "<tool_call><function=lamp><parameter=room>attic</parameter></tool_call>",
        "<tool_call><function=lamp><parameter=room>attic</function></tool_call>",
        "<tool_call><function=lamp><parameter=room>attic</room></function></tool_call>",
        "<tool_call><function=lamp><parameter=room>attic</param></function></tool_call>",
        "<tool_call><function=lamp><parameter=room>attic</tool_call>",
    ] {
        check(text, Shape::Qwen3Coder, &attic());
    }
    let typed = "<tool_call><function=note><parameter=text>if a < b:\n  <b>x</b>\n</parameter><parameter=count>3</parameter>\
                 <parameter=tags>[\"a\", \"b\"]</parameter><parameter=ratio>0.5</parameter></function></tool_call>";
    let expected = json!([["note", {"text":"if a < b:\n  <b>x</b>","count":3,"tags":["a","b"],"ratio":0.5}]]);
    check(typed, Shape::Qwen3Coder, &expected);
    let wrong = "<function=note><parameter=text>one</count><parameter=count>3</text></function>";
    check(wrong, Shape::Qwen3Coder, &json!([["note", {"text":"one","count":3}]]));
    check("<tool_call><function=ping></function></tool_call>", Shape::Qwen3Coder, &json!([["ping", {}]]));
    let two = format!("{full}\n{}", full.replace("attic", "hall"));
    check(&two, Shape::Qwen3Coder, &attic_and_hall());
}

#[test]
fn shape_14_glm() {
    let full = "<tool_call>lamp\n<arg_key>room</arg_key><arg_value>attic</arg_value></tool_call>";
    check(full, Shape::Glm, &attic());
    check("<tool_call>lamp<arg_key>room</arg_key>\n<arg_value>attic</arg_value>\n</tool_call>", Shape::Glm, &attic());
    check(
        "<tool_call>lamp\n<arg_key>room</arg_key>\n<arg_value>attic</arg_value>\n<arg_key>on</arg_key>\n<arg_value>true</arg_value>\n</tool_call>",
        Shape::Glm,
        &json!([["lamp", {"room":"attic","on":true}]]),
    );
    check("<tool_call>ping\n</tool_call>", Shape::Glm, &json!([["ping", {}]]));
    check(&format!("{full}{}", full.replace("attic", "hall")), Shape::Glm, &attic_and_hall());
}

#[test]
fn shape_15_invoke() {
    let inner = r#"<invoke name="lamp"><parameter name="room">attic</parameter></invoke>"#;
    check(inner, Shape::Invoke, &attic());
    for wrapper in ["function_calls", "ns:function_calls", "｜DSML｜function_calls"] {
        check(&format!("<{wrapper}>\n{inner}\n</{wrapper}>"), Shape::Invoke, &attic());
    }
    check(&format!("<minimax:tool_call>\n{inner}\n</minimax:tool_call>"), Shape::Invoke, &attic());
    let prefixed = "<｜DSML｜function_calls><｜DSML｜invoke name=\"lamp\"><｜DSML｜parameter name=\"room\" string=\"true\">attic\
                    </｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>";
    check(prefixed, Shape::Invoke, &attic());
    let two = format!("<function_calls>\n{inner}\n{}\n</function_calls>", inner.replace("attic", "hall"));
    check(&two, Shape::Invoke, &attic_and_hall());
}

#[test]
fn shape_16_seed() {
    let full = "<seed:tool_call><function=lamp><parameter=room>attic</parameter></function></seed:tool_call>";
    check(full, Shape::Seed, &attic());
    check(
        "<seed:tool_call>\n<function=lamp>\n<parameter=room>attic</parameter>\n</function>\n</seed:tool_call>",
        Shape::Seed,
        &attic(),
    );
}

#[test]
fn shape_17_kimi() {
    let call = "<|tool_call_begin|>functions.lamp:0<|tool_call_argument_begin|>{\"on\":true}<|tool_call_end|>";
    check(call, Shape::Kimi, &on());
    check(&format!("<|tool_calls_section_begin|>{call}<|tool_calls_section_end|>"), Shape::Kimi, &on());
    let two = "<|tool_calls_section_begin|><|tool_call_begin|>functions.lamp:0<|tool_call_argument_begin|>{\"room\":\"attic\"}<|tool_call_end|><|tool_call_begin|>functions.lamp:1<|tool_call_argument_begin|>{\"room\":\"hall\"}<|tool_call_end|><|tool_calls_section_end|>";
    check(two, Shape::Kimi, &attic_and_hall());
}

#[test]
fn shape_18_harmony() {
    for text in [
        "<|channel|>commentary to=functions.lamp <|constrain|>json<|message|>{\"on\":true}<|call|>",
        "<|start|>assistant<|channel|>commentary to=functions.lamp <|constrain|>json<|message|>{\"on\":true}<|call|>",
        "<|start|>assistant to=functions.lamp<|channel|>commentary json<|message|>{\"on\":true}<|call|>",
        "assistant to=functions.lamp<|channel|>commentary<|constrain|>json<|message|>{\"on\":true}<|call|>",
        "<|channel|>analysis to=functions.lamp code<|message|>{\"on\":true}<|call|>",
        "<|channel|>commentary to=functions.lamp<|channel|>commentary <|constrain|>json<|message|>{\"on\":true}<|call|>",
        "lamp<|channel|>commentary json<|message|>{\"on\":true}<|call|>",
        "<|channel|>commentary to=functions.lamp <|constrain|>json<|message|>{\"on\":true}",
    ] {
        check(text, Shape::Harmony, &on());
    }
    let stripped = plain("assistantcommentary to=functions.lamp json{\"on\":true}");
    assert_eq!((calls(&stripped), stripped.text.as_str()), (on(), ""));
    let whole = "<|channel|>analysis<|message|>Maybe {\"name\":\"ping\",\"arguments\":{}}.<|end|><|start|>assistant<|channel|>commentary<|message|>Turning it on.<|end|><|start|>assistant<|channel|>commentary to=functions.lamp <|constrain|>json<|message|>{\"on\":true}<|call|>";
    let parsed = run(whole, Some("harmony"), FinishReason::Stop);
    assert_eq!((calls(&parsed), parsed.class, parsed.text.as_str()), (on(), None, "Turning it on."));
    let answer = run(
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hello!<|return|>",
        Some("harmony"),
        FinishReason::Stop,
    );
    assert_eq!((calls(&answer), answer.class, answer.text.as_str()), (json!([]), None, "Hello!"));
}

#[test]
fn shape_18_harmony_marker_in_a_name() {
    let parsed = structured(&json!([{"name":"lamp<|channel|>commentary","arguments":{"on":true}}]));
    assert_eq!((calls(&parsed), parsed.class), (on(), Some(FailureClass::TemplateMarkerLeak)));
    assert!(parsed.calls[0].recovered);
    let text = r#"{"name":"lamp<|channel|>commentary","arguments":{"on":true}}"#;
    check_class(text, FailureClass::TemplateMarkerLeak, &on());
}

#[test]
fn shape_19_command_r() {
    check(
        r#"<|START_ACTION|>[{"tool_call_id":"0","tool_name":"lamp","parameters":{"on":true}}]<|END_ACTION|>"#,
        Shape::CommandR,
        &on(),
    );
    let older = "Action: ```json\n[{\"tool_name\":\"lamp\",\"parameters\":{\"on\":true}}]\n```";
    check(older, Shape::CommandR, &on());
}

#[test]
fn shape_20_lfm2() {
    check(r#"<|tool_call_start|>[lamp(room="attic")]<|tool_call_end|>"#, Shape::Lfm2, &attic());
    check(
        r#"<|tool_call_start|>[lamp(room="attic"), lamp(room="hall")]<|tool_call_end|>"#,
        Shape::Lfm2,
        &attic_and_hall(),
    );
}

#[test]
fn shape_21_olmo() {
    check("<function_calls>lamp(room=\"attic\")\nlamp(room=\"hall\")</function_calls>", Shape::Olmo, &attic_and_hall());
}

#[test]
fn shape_22_pythonic() {
    check(r#"[lamp(room="attic"), lamp(room="hall")]"#, Shape::Pythonic, &attic_and_hall());
    check(
        "<|python_start|>[lamp(room=\"attic\"), lamp(room=\"hall\")]<|python_end|>",
        Shape::Pythonic,
        &attic_and_hall(),
    );
    check("[ping()]", Shape::Pythonic, &json!([["ping", {}]]));
    let nested = r#"[note(text="a, (b) [c]", tags=["x", 'y'], meta={"k": None, "ok": False}, count=-3)]"#;
    let expected = json!([["note", {"text":"a, (b) [c]","tags":["x","y"],"meta":{"k":null,"ok":false},"count":-3}]]);
    check(nested, Shape::Pythonic, &expected);
}

#[test]
fn shape_23_granite() {
    check(r#"<|tool_call|>[{"arguments":{"on":true},"name":"lamp"}]"#, Shape::Granite, &on());
    check(r#"<|tool_call|>[{"name":"lamp","arguments":{"on":true}}]<|/tool_call|>"#, Shape::Granite, &on());
}

#[test]
fn shape_24_nemotron() {
    check(r#"<TOOLCALL>[{"name":"lamp","arguments":{"on":true}}]</TOOLCALL>"#, Shape::Nemotron, &on());
    check(r#"<TOOLCALL>[lamp(room="attic"), lamp(room="hall")]</TOOLCALL>"#, Shape::Nemotron, &attic_and_hall());
}

#[test]
fn shape_25_fence() {
    let object = r#"{"name":"lamp","arguments":{"on":true}}"#;
    for text in [
        format!("```json\n{object}\n```"),
        format!("```\n{object}\n```"),
        format!("```json {object}```"),
        format!("```json\n[{object}]\n```"),
        format!("```json\n{object}"),
        "```tool_code\nlamp(on=True)\n```".to_owned(),
        "```tool_code\nprint(lamp(on=True))\n```".to_owned(),
        "```tool_code\nresult = default_api.lamp(on=True)\n```".to_owned(),
        "```homeassistant\n{\"service\":\"lamp\",\"on\":true}\n```".to_owned(),
        format!("```homeassistant\n{object}\n```"),
        format!("```xml\n<tool_call>{object}</tool_call>\n```"),
    ] {
        check_class(&text, FailureClass::CallInFence, &on());
        assert_eq!(plain(&text).text, "");
    }
    let led = plain(&format!("I turn it on.\n```json\n{object}\n```"));
    assert_eq!((calls(&led), led.text.as_str()), (on(), "I turn it on."));
    let followed = plain(&format!("```json\n{object}\n```\nThe lamp is on."));
    assert_eq!((calls(&followed), followed.text.as_str()), (on(), "The lamp is on."));
}

#[test]
fn shape_26_one_call_a_line() {
    check("lamp(room=\"attic\")\nlamp(room=\"hall\")", Shape::Line, &attic_and_hall());
    let led = plain("Both, then.\nlamp(room=\"attic\")\nlamp(room=\"hall\")");
    assert_eq!((calls(&led), led.text.as_str()), (attic_and_hall(), "Both, then."));
    let objects =
        "{\"name\":\"lamp\",\"arguments\":{\"room\":\"attic\"}}\n{\"name\":\"lamp\",\"arguments\":{\"room\":\"hall\"}}";
    check(objects, Shape::JsonObject, &attic_and_hall());
    let bullets = plain("- lamp(room=\"attic\")\n- lamp(room=\"hall\")");
    assert_eq!(calls(&bullets), attic_and_hall());
}

#[test]
fn shape_27_tool_object() {
    check(r#"{"tool":"lamp","args":{}}"#, Shape::ToolObject, &json!([["lamp", {}]]));
    check(r#"{"tool":"lamp","args":{"on":true}}"#, Shape::ToolObject, &on());
    check(r#"{"function":{"name":"lamp"}}"#, Shape::ToolObject, &json!([["lamp", {}]]));
    check(r#"{"function":{"name":"lamp","arguments":{"on":true}}}"#, Shape::ToolObject, &on());
    check(r#"{"function":"lamp","arguments":{"on":true}}"#, Shape::ToolObject, &on());
    check(r#"{"lamp":{"on":true}}"#, Shape::ToolObject, &on());
    check(r#"{"action":"lamp","action_input":{"on":true}}"#, Shape::ToolObject, &on());
    check(r#"{"tool_name":"lamp","tool_input":{"on":true}}"#, Shape::ToolObject, &on());
    check(r#"{"type":"tool_use","id":"t1","name":"lamp","input":{"on":true}}"#, Shape::JsonObject, &on());
    check(r#"{"tool":"lamp","on":true}"#, Shape::ToolObject, &on());
}

#[test]
fn shape_28_openai_echo() {
    let once = r#"{"tool_calls":[{"function":{"name":"lamp","arguments":"{\"on\":true}"}}]}"#;
    check(once, Shape::OpenaiEcho, &on());
    check(
        r#"{"tool_calls":[{"id":"c1","type":"function","function":{"name":"lamp","arguments":{"on":true}}}]}"#,
        Shape::OpenaiEcho,
        &on(),
    );
    check(
        r#"{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"lamp","arguments":"{\"on\":true}"}}]}"#,
        Shape::OpenaiEcho,
        &on(),
    );
    let twice = json!({"tool_calls":[{"function":{"name":"lamp","arguments":json!(r#"{"on":true}"#).to_string()}}]});
    check_class(&twice.to_string(), FailureClass::ArgsDoubleEncoded, &on());
}

#[test]
fn shape_29_react() {
    check("Action: lamp\nAction Input: {\"on\":true}", Shape::React, &on());
    check("Action: lamp\nAction Input:\n```json\n{\"on\": true}\n```", Shape::React, &on());
    check("**Action:** lamp\n**Action Input:** {\"on\": true}", Shape::React, &on());
    check("Action: lamp({\"on\": true})", Shape::React, &on());
    check("Action: ping\nAction Input: {}", Shape::React, &json!([["ping", {}]]));
    check(
        "Action: lamp\nAction Input: {\"room\":\"attic\"}\nAction: lamp\nAction Input: {\"room\":\"hall\"}",
        Shape::React,
        &attic_and_hall(),
    );
    let thought = plain("Thought: it is dark.\nAction: lamp\nAction Input: {\"on\":true}");
    assert_eq!((calls(&thought), thought.text.as_str()), (on(), "Thought: it is dark."));
    let plain_value = plain("Action: lamp_all\nAction Input: true");
    assert_eq!(calls(&plain_value), json!([["lamp_all", {"on":true}]]));
}

#[test]
fn shape_30_using_tool() {
    check("Using tool: lamp\n{\"on\":true}", Shape::UsingTool, &on());
    check("Tool: lamp\nArguments: {\"on\":true}", Shape::UsingTool, &on());
    check("Calling tool: `lamp` with {\"on\":true}", Shape::UsingTool, &on());
    check("Using tool: ping", Shape::UsingTool, &json!([["ping", {}]]));
}

#[test]
fn shape_31_function_call() {
    check(r#"lamp({"on":true})"#, Shape::FunctionCall, &on());
    check(r#"lamp({"on": true});"#, Shape::FunctionCall, &on());
    let led = plain("Sure.\n\nlamp({\"on\":true})");
    assert_eq!((calls(&led), led.text.as_str()), (on(), "Sure."));
}
