//! Asking again: K13, K14, K15, and what is never retried.

use tenpass_model::FinishReason;
use tenpass_trace::{FailureClass, RetryReason, TurnEnd};

use super::*;

fn class(played: &Played, round: u32) -> Option<FailureClass> {
    played.records.iter().find_map(|event| match event {
        TraceEvent::Round { number, class, .. } if *number == round => Some(*class),
        _ => None,
    })?
}

#[test]
fn k13_a_narrated_action_is_retried_exactly_once() {
    for (narrated, answer) in [("I'll open it for you.", "en"), ("Je vais l'ouvrir.", "fr")] {
        let played = Play::new(vec![text(narrated), text(narrated), text("never asked")]).play();
        assert_eq!(played.retries(), [RetryReason::NarratedAction], "{answer}");
        assert_eq!((played.outcome.rounds, played.outcome.text.as_str()), (2, narrated));
        let retry = &played.asks[1].request.messages;
        assert_eq!(retry[2].content, narrated, "the model sees what it said");
        assert!(retry[3].content.contains("no tool was called"));
        assert_eq!(played.outcome.messages.len(), 1, "the draft is not kept");
    }
}

#[test]
fn k13_the_retry_may_call() {
    let played = Play::new(vec![text("Let me read it."), read(1), text("It says hello.")]).play();
    assert_eq!((played.ran.len(), played.outcome.text.as_str()), (1, "It says hello."));
    assert_eq!(played.outcome.end, TurnEnd::Natural);
}

#[test]
fn k13_is_about_answers_of_turns_in_which_nothing_ran() {
    let after_a_tool = Play::new(vec![read(1), text("I'll open it now.")]).play();
    assert_eq!(after_a_tool.retries(), []);
    let without_tools = Play::new(vec![text("I'll open it now.")]).with(|setup| setup.offered.clear()).play();
    assert_eq!(without_tools.retries(), []);
    let offer = Play::new(vec![text("I can open it if you like.")]).play();
    assert_eq!(offer.retries(), []);
    // After a refusal "I'll leave it" is an answer, whatever it announces.
    let write = call("write_file", json!({"filename": "a", "content": "b"}));
    let refused =
        Play::new(vec![write, text("I'll save it another time.")]).answering(|_| ConfirmationAnswer::Refused).play();
    assert_eq!(refused.retries(), []);
    // After a rejected call it is still narrated: nothing ran.
    let rejected = Play::new(vec![call("read_file", json!({})), text("I'll read it."), read(1), text("Read.")]).play();
    assert_eq!(rejected.retries(), [RetryReason::NarratedAction]);
}

#[test]
fn k14_a_call_in_the_text_is_repaired_and_marked() {
    let fenced = "```json\n{\"name\": \"read_file\", \"arguments\": {\"filename\": \"a.txt\"}}\n```";
    let played = Play::new(vec![text(fenced), text("Read.")]).play();
    assert_eq!((played.ran.len(), played.retries().len()), (1, 0));
    assert_eq!(class(&played, 1), Some(FailureClass::CallInFence));
    assert_eq!(played.outcome.text, "Read.");
}

#[test]
fn k14_an_unreadable_call_is_retried_once_with_a_precise_message() {
    let unreadable = "<tool_call>{\"name\":\"read_file\",\"arguments\":{\"filename\": }</tool_call>";
    let played = Play::new(vec![text(unreadable), text(unreadable), text("never asked")]).play();
    assert_eq!(played.retries(), [RetryReason::CallAsText]);
    assert_eq!((played.outcome.rounds, played.ran.len()), (2, 0));
    assert_eq!(class(&played, 1), Some(FailureClass::ArgsUnparseable));
    assert!(played.last_message(1).contains("not a valid JSON object"), "{}", played.last_message(1));
    assert_eq!(played.outcome.end, TurnEnd::FixedSentence);
    assert_eq!(played.outcome.text, "I tried, but my request to the tool was not valid. Nothing was done.");
}

#[test]
fn k14_an_unknown_tool_in_the_text_names_the_tools_there_are() {
    let unknown = "<tool_call>{\"name\":\"fly\",\"arguments\":{}}</tool_call>";
    let played = Play::new(vec![text(unknown), text("I cannot fly.")]).play();
    assert_eq!(class(&played, 1), Some(FailureClass::UnknownTool));
    let correction = played.last_message(1);
    assert!(correction.contains("does not exist") && correction.contains("read_file, read_url"), "{correction}");
    assert_eq!(played.outcome.text, "I cannot fly.");
}

#[test]
fn k14_a_call_that_the_length_cut_off_never_runs() {
    let cut = Generation {
        text: "<tool_call>{\"name\":\"write_file\",\"arguments\":{\"filename\":\"a\",\"content\":\"once upo".into(),
        finish: FinishReason::Length,
        ..Generation::default()
    };
    let played = Play::new(vec![cut, text("It was too long.")]).play();
    assert_eq!((played.ran.len(), played.shown.len()), (0, 0));
    assert_eq!(class(&played, 1), Some(FailureClass::ArgsTruncated));
    assert!(played.last_message(1).contains("cut off by the length limit"));
    assert_eq!(played.outcome.text, "It was too long.");
}

#[test]
fn a_json_answer_that_is_no_call_is_an_answer() {
    let json = "{\"name\": \"Ada\", \"born\": 1815}";
    let played = Play::new(vec![text(json)]).play();
    assert_eq!((played.retries().len(), played.outcome.text.as_str()), (0, json));
}

#[test]
fn k15_the_applications_markers_are_stripped_traced_and_retried_once() {
    let fabricated = "[[tenpass:result tool=\"read_file\"]]\nall is well\n[[/tenpass:result]] So it is fine.";
    let played = Play::new(vec![text(fabricated), text(fabricated)]).play();
    assert_eq!(played.retries(), [RetryReason::FabricatedMarker]);
    assert_eq!(played.outcome.rounds, 2);
    assert!(!played.outcome.text.contains("tenpass:"), "{}", played.outcome.text);
    assert!(!played.asks[1].request.messages[2].content.contains("tenpass:result"));
    let records = serde_json::to_string(&played.records).unwrap();
    assert!(!records.contains("[[tenpass:result"), "{records}");
}

#[test]
fn k15_a_call_beside_a_made_up_result_does_not_run_the_first_time() {
    let beside = || Generation {
        text: "[[tenpass:result]]granted[[/tenpass:result]]".into(),
        ..call("read_file", json!({"filename": "a"}))
    };
    let played = Play::new(vec![beside(), beside(), text("Read.")]).play();
    assert_eq!(played.retries(), [RetryReason::FabricatedMarker]);
    assert_eq!(played.outcomes(), [CallOutcome::Rejected, CallOutcome::Ok]);
    assert_eq!(played.intentions.len(), 2);
}

#[test]
fn every_reason_is_retried_once_and_the_turn_still_ends() {
    let mut round = 0;
    let played = Play::by(move |_| {
        round += 1;
        Ok(match round {
            1 => text("<tool_call>{\"name\":\"fly\",\"arguments\":{}}</tool_call>"),
            2 => text("[[tenpass:result]]x[[/tenpass:result]] y"),
            3 => text("I'll read it."),
            4 => read(1),
            5 => text(""),
            _ => text("Read at last."),
        })
    })
    .play();
    assert_eq!(
        played.retries(),
        [RetryReason::CallAsText, RetryReason::FabricatedMarker, RetryReason::NarratedAction, RetryReason::EmptyFinal]
    );
    assert_eq!((played.outcome.rounds, played.outcome.text.as_str()), (6, "Read at last."));
}
