//! What a display sees, and what a report holds.

use std::time::Duration;

use tenpass_trace::{CallOutcome, ConfirmationAnswer, Role, TurnEnd};

use super::*;
use crate::interaction::{AgentEvent, RunState};
use crate::testing::{scripted_info, seeded_secret};
use crate::{Selection, Structure};

#[tokio::test]
async fn a_turn_with_a_tool_streams_its_answer_and_reports_everything() {
    let last = Said { thinking: "easy".into(), ..Said::text("It holds a hello for you.") };
    let stage = stage(ScriptedModel::saying(vec![read("a.txt"), last]), tools());
    let person = ScriptedPerson::silent();
    let report = stage.turn("read a.txt", &person).await;
    assert_eq!((report.end, report.text.as_str()), (TurnEnd::Natural, "It holds a hello for you."));
    assert_eq!((report.rounds, report.author.as_str(), report.thinking.as_str()), (2, "scripted:test", "easy"));
    assert_eq!(report.ledger[0].outcome, CallOutcome::Ok);
    assert_eq!(report.ledger[0].result, "content of \"a.txt\"");
    assert_eq!(person.display(), report.text);
    let pieces = person.events().iter().filter(|event| matches!(event, AgentEvent::Text(_))).count();
    assert!(pieces > 1, "it arrived in pieces");
    let states: Vec<RunState> = person
        .events()
        .iter()
        .filter_map(|event| if let AgentEvent::State(state) = event { Some(*state) } else { None })
        .collect();
    let expected = [RunState::Thinking, RunState::Acting, RunState::Thinking, RunState::Generating, RunState::Done];
    assert_eq!(states, expected);
    let first = report.first_request.unwrap();
    assert_eq!((first.messages.len(), first.tools.len()), (2, 2));
    let last = report.last_request.unwrap();
    assert_eq!(last.messages.last().unwrap().role, Role::Tool);
    assert_eq!(last, stage.model.requests()[1], "as the server saw it");
}

#[tokio::test]
async fn words_beside_a_call_are_withdrawn_and_the_answer_stands() {
    let beside = Said { pieces: vec!["Let me ".into(), "look.".into()], ..read("a") };
    let stage = stage(ScriptedModel::saying(vec![beside, Said::text("Looked.")]), tools());
    let person = ScriptedPerson::silent();
    let report = stage.turn("look", &person).await;
    assert_eq!(person.display(), "Looked.");
    assert_eq!(person.events().iter().filter(|event| **event == AgentEvent::Discard).count(), 1);
    assert_eq!(report.messages[0].content, "Let me look.");
    assert!(report.timings.first_text_ms.is_some());
}

#[tokio::test]
async fn a_call_in_the_text_is_never_shown() {
    let tagged = "One moment. <tool_call>{\"name\":\"read_file\",\"arguments\":{\"filename\":\"a\"}}</tool_call>";
    let stage = stage(ScriptedModel::saying(vec![Said::text(tagged), Said::text("Read.")]), tools());
    let person = ScriptedPerson::silent();
    stage.turn("read", &person).await;
    let shown: String = person
        .events()
        .iter()
        .filter_map(|event| if let AgentEvent::Text(piece) = event { Some(piece.as_str()) } else { None })
        .collect();
    assert!(!shown.contains("tool_call") && !shown.contains("read_file"), "{shown}");
    assert_eq!((person.display().as_str(), stage.tools.ran().len()), ("Read.", 1));
}

#[tokio::test]
async fn a_bare_object_that_was_shown_as_a_preview_is_withdrawn() {
    let bare = object(&json!({"name": "read_file", "arguments": {"filename": "a"}}));
    let stage = stage(ScriptedModel::saying(vec![Said::text(&bare), Said::text("Read.")]), tools());
    let person = ScriptedPerson::silent();
    stage.turn("read", &person).await;
    assert_eq!((person.display().as_str(), stage.tools.ran().len()), ("Read.", 1));
}

#[tokio::test]
async fn a_constrained_answer_streams_as_text() {
    let settings = AgentSettings { structure: Some(Structure::Grammar), ..AgentSettings::default() };
    let call = Said::text(&object(&json!({"name": "read_file", "arguments": {"filename": "a", "reason": "r"}})));
    let answer = Said::text(&object(&json!({"name": "answer", "arguments": {"text": "It says \"hé\".\nBye."}})));
    let stage = staged(ScriptedModel::saying(vec![call, answer]), tools(), MemoryRecorder::default(), settings);
    let person = ScriptedPerson::silent();
    let report = stage.turn("read", &person).await;
    assert_eq!(report.text, "It says \"hé\".\nBye.");
    assert_eq!(person.display(), report.text);
    assert!(!person.events().contains(&AgentEvent::Discard), "neither the call nor the braces were shown");
    assert!(stage.model.requests()[0].format.is_some());
}

#[tokio::test]
async fn z8_the_structure_follows_what_the_model_declares() {
    let mut info = scripted_info();
    info.capabilities.tools = false;
    let model = ScriptedModel::saying(vec![Said::text("Hi.")]).with_info(info);
    assert_eq!(stage(model, tools()).agent.structure(), Structure::Grammar);
}

#[tokio::test]
async fn k26_k27_the_selection_is_a_value_and_what_it_leaves_out_is_said() {
    let settings = AgentSettings { selection: Selection::Router, ..AgentSettings::default() };
    let mut media = definition("control_media", "action", false);
    media.category = tenpass_trace::ToolCategory::PcAction;
    let mut read_tool = definition("read_file", "filename", true);
    read_tool.category = tenpass_trace::ToolCategory::PcRead;
    let tools =
        ScriptedTools::default().with(read_tool, |_, _| ToolOutput::ok("x")).with(media, |_, _| ToolOutput::ok("x"));
    let stage = staged(ScriptedModel::saying(vec![Said::text("Ok.")]), tools, MemoryRecorder::default(), settings);
    stage.turn("pause the music", &ScriptedPerson::silent()).await;
    let request = &stage.model.requests()[0];
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["control_media"]);
    assert!(request.messages[0].content.contains("never claim that it is impossible"));
    // A caller that has selected for its prompt is taken at its word.
    let offered = Some(stage.agent.tools.definitions().to_vec());
    let given = TurnInput { offered, ..input("pause the music") };
    stage.agent.turn(given, &ScriptedPerson::silent(), CancellationToken::new()).await.unwrap();
    let request = &stage.model.requests()[1];
    assert_eq!((request.tools.len(), request.messages[0].content.as_str()), (2, "You help."));
}

#[tokio::test(start_paused = true)]
async fn k42_an_approval_in_time_runs_and_one_too_late_is_a_refusal() {
    for (delay, answer, ran) in [(59, ConfirmationAnswer::Approved, 1), (61, ConfirmationAnswer::Expired, 0)] {
        let stage = stage(ScriptedModel::saying(vec![write("a"), Said::text("So be it.")]), tools());
        let person = ScriptedPerson::approving().after(Duration::from_secs(delay));
        let report = stage.turn("write", &person).await;
        assert_eq!((report.confirmations.as_slice(), stage.tools.ran().len()), ([answer].as_slice(), ran));
        assert_eq!(report.timings.waited_ms as u64, 1_000 * delay.min(60));
        assert_eq!(report.end, TurnEnd::Natural);
    }
}

#[tokio::test]
async fn k42_an_approval_of_other_arguments_is_a_refusal() {
    let stage = stage(ScriptedModel::saying(vec![write("a"), Said::text("Not done.")]), tools());
    let person = ScriptedPerson::new(|_| Some(crate::interaction::Reply::Approve { digest: "another".into() }));
    let report = stage.turn("write", &person).await;
    assert_eq!(report.confirmations, [ConfirmationAnswer::Refused]);
    assert!(stage.tools.ran().is_empty());
}

#[tokio::test]
async fn secrets_are_masked_on_the_display_too() {
    let secret = seeded_secret();
    let said = Said::text(&format!("The key is {secret}, keep it."));
    let stage = stage(ScriptedModel::saying(vec![said]), tools());
    let person = ScriptedPerson::silent();
    let report = stage.turn("what is the key?", &person).await;
    assert!(report.text.starts_with("The key is [secret:"), "{}", report.text);
    assert_eq!(person.display(), report.text);
    let all = format!("{:?}{:?}", person.events(), stage.recorder.events());
    assert!(!all.contains(&secret), "{all}");
    assert!(!person.events().contains(&AgentEvent::Discard), "masked while it streamed");
}
