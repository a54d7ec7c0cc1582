//! What passes into messages, records and events: K15, K22, K25, K46, K52, R9.

use tenpass_trace::TurnEnd;

use super::*;
use crate::testing::seeded_secret;
use crate::tool::SideEffect;

#[test]
fn k46_secrets_reach_neither_model_nor_page_nor_journal() {
    let secret = seeded_secret();
    let write = Generation {
        text: format!("saving {secret}"),
        thinking: format!("it is {secret}"),
        ..call("write_file", json!({"filename": "a", "content": secret}))
    };
    let last = Generation { thinking: format!("hm {secret}"), ..text(&format!("It is {secret} .")) };
    let (expected, told) = (secret.clone(), format!("wrote {secret}"));
    let user_text = format!("keep {secret}");
    let played = Play::new(vec![write, last])
        .with(move |setup| setup.user_text = user_text)
        .running(move |call| {
            assert_eq!(call.arguments["content"], expected, "the tool gets the real argument");
            ToolOutput::ok(told.clone())
        })
        .play();
    assert!(played.outcome.text.starts_with("It is [secret:"), "{}", played.outcome.text);
    assert!(played.asks[1].request.messages.last().unwrap().content.starts_with("wrote [secret:"));
    assert_eq!(played.shown[0].arguments["content"], secret, "the person approves what will be written");
    for text in [
        format!("{:?}", played.records),
        format!("{:?}", played.events),
        format!("{:?}", played.intentions),
        format!("{:?}", played.outcome),
    ] {
        assert!(!text.contains(&secret), "{text}");
        assert!(text.contains("[secret:"));
    }
}

#[test]
fn k25_k52_thinking_is_kept_per_message_and_never_sent_or_traced() {
    let thought = |thinking: &str, generation: Generation| Generation { thinking: thinking.into(), ..generation };
    let played = Play::new(vec![thought("first thought", read(1)), thought("second thought", text("Hello."))])
        .with(|setup| {
            let old = Message { thinking: Some("old thought".into()), ..Message::assistant("before") };
            setup.messages.insert(1, Message::user("earlier"));
            setup.messages.insert(2, old);
        })
        .play();
    let sent = serde_json::to_string(&played.asks.iter().map(|ask| &ask.request).collect::<Vec<_>>()).unwrap();
    assert!(!sent.contains("thought"), "{sent}");
    assert!(!serde_json::to_string(&played.records).unwrap().contains("thought"));
    assert_eq!(played.outcome.messages[0].thinking.as_deref(), Some("first thought"));
    assert_eq!(played.outcome.messages[2].thinking.as_deref(), Some("second thought"));
    assert_eq!(played.outcome.thinking, "second thought");
}

#[test]
fn r9_results_are_cut_at_8000_with_the_cut_stated_and_at_800_in_the_trace() {
    let played = Play::new(vec![read(1), text("Long.")]).running(|_| ToolOutput::ok("x".repeat(20_000))).play();
    let result = played.last_message(1);
    assert!(result.ends_with("[cut: the first 8000 of 20000 characters]"));
    assert!(result.chars().count() < 8_100);
    let traced = played.records.iter().find_map(|event| match event {
        TraceEvent::Call { result, .. } => Some(result.chars().count()),
        _ => None,
    });
    assert_eq!(traced, Some(800));
    let long = Play::new(vec![text("ok")]).with(|setup| setup.messages[1].content = "y".repeat(60_000)).play();
    assert!(long.asks[0].request.messages[1].content.ends_with("[cut: the first 50000 of 60000 characters]"));
}

#[test]
fn an_empty_success_and_a_failure_are_told_apart() {
    let both = calls(vec![("read_file", json!({"filename": "a"})), ("list_directory", json!({"directory": "b"}))]);
    let played = Play::new(vec![both, text("Hm.")])
        .running(|call| if call.name == "read_file" { ToolOutput::ok("") } else { ToolOutput::error("gone") })
        .play();
    let messages = &played.asks[1].request.messages;
    assert_eq!((messages[3].content.as_str(), messages[4].content.as_str()), ("Done.", "Error: gone"));
    assert_eq!(played.outcomes(), [CallOutcome::Ok, CallOutcome::Error]);
}

#[test]
fn k65_effects_become_signals_and_records() {
    let played = Play::new(vec![call("write_memory", json!({"entry": "likes tea"})), text("Noted.")])
        .running(|_| ToolOutput {
            effects: vec![
                SideEffect::MemoryWritten { section: "decisions".into(), text: "likes tea".into() },
                SideEffect::Delegated {
                    provider: "claude".into(),
                    characters: 40,
                    cost_usd: 0.01,
                    deduplicated: false,
                },
            ],
            ..ToolOutput::ok("written")
        })
        .play();
    let signal = AgentEvent::MemoryWritten { section: "decisions".into(), text: "likes tea".into() };
    assert_eq!(played.events.iter().filter(|event| **event == signal).count(), 1);
    assert!(played.records.iter().any(|event| matches!(event, TraceEvent::Memory { written: 1, .. })));
    assert!(played.records.iter().any(|event| matches!(event, TraceEvent::Delegation { characters: 40, .. })));
}

#[test]
fn k50_the_trace_tells_the_turn_in_order() {
    let played = Play::new(vec![read(1), text("Read.")]).play();
    let names: Vec<String> = played
        .records
        .iter()
        .map(|event| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["request", "route", "round", "call", "round"]);
    let TraceEvent::Final { calls, rounds, ms, .. } = played.outcome.final_record(12.5) else { panic!("not final") };
    assert_eq!((calls, rounds, ms), (1, 2, 12.5));
}

#[test]
fn k27_categories_that_are_left_out_are_recorded() {
    let played = Play::new(vec![text("Hi.")])
        .with(|setup| {
            for tool in &mut setup.all_tools {
                if tool.name.starts_with("open") {
                    tool.category = tenpass_trace::ToolCategory::PcAction;
                }
            }
            setup.offered.retain(|tool| !tool.name.starts_with("open"));
        })
        .play();
    assert!(
        played
            .records
            .iter()
            .any(|event| matches!(event, TraceEvent::Route { excluded, .. } if *excluded == ["pc_action"]))
    );
}

#[test]
fn z2_every_structure_carries_the_same_turn() {
    let object = |name: &str, arguments: Value| text(&json!({"name": name, "arguments": arguments}).to_string());
    let tagged = text("<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"filename\": \"a\"}}\n</tool_call>");
    for (structure, first, last) in [
        (Structure::Native, read(1), text("Read.")),
        (Structure::Text, tagged, text("Read.")),
        (
            Structure::Grammar,
            object("read_file", json!({"filename": "a", "reason": "r"})),
            object("answer", json!({"text": "Read."})),
        ),
    ] {
        let played = Play::new(vec![first, last]).with(|setup| setup.structure = structure).play();
        assert_eq!(played.outcomes(), [CallOutcome::Ok], "{structure}");
        assert_eq!((played.outcome.text.as_str(), played.outcome.end), ("Read.", TurnEnd::Natural), "{structure}");
        assert_eq!(played.asks[0].request.format.is_some(), structure == Structure::Grammar);
        let class = played.records.iter().find_map(|event| match event {
            TraceEvent::Round { class, .. } => Some(*class),
            _ => None,
        });
        assert_eq!(class, Some(None), "{structure}: nothing had to be repaired");
    }
}

#[test]
fn an_answer_object_without_a_constraint_is_still_an_answer() {
    let played = Play::new(vec![read(1), text(""), text("{\"name\":\"answer\",\"arguments\":{\"text\":\"Read.\"}}")])
        .with(|setup| setup.structure = Structure::Grammar)
        .play();
    // Under the grammar the first "answer" is a structured call of the scripted model.
    assert_eq!(played.outcome.text, "Read.");
}
