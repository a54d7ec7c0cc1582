//! Stop, timeout, and a trace that cannot be written: K4, K6, K11b.

use tenpass_trace::{FailureClass, TurnEnd};

use super::*;

/// Steps a turn until `until` is due, with everything approved.
fn step_until(turn: &mut Turn, answers: &mut VecDeque<Generation>, until: &str) {
    for _ in 0..100 {
        match turn.next() {
            Step::Generate(_) if until == "generate" && answers.is_empty() => return,
            Step::Generate(_) => turn.generated(&answers.pop_front().unwrap_or_default()),
            Step::Intend(_) => turn.intended(Ok(())),
            Step::Inspect(_) => turn.inspected(Inspection::default()),
            Step::Confirm(_) if until == "confirm" => return,
            Step::Confirm(_) => turn.confirmed(ConfirmationAnswer::Approved, 1.0),
            Step::Execute(_) if until == "execute" => return,
            Step::Execute(_) => turn.executed(ToolOutput::ok("fine"), 1.0),
            Step::Escalate(_) | Step::Finish(_) => panic!("ended before {until}"),
        }
    }
    panic!("{until} never came");
}

fn finish(turn: &Turn) -> TurnOutcome {
    match turn.next() {
        Step::Finish(outcome) => *outcome,
        other => panic!("not finished: {other:?}"),
    }
}

fn escalating() -> TurnSetup {
    TurnSetup { escalation: Some("claude".into()), ..setup("please do it") }
}

#[test]
fn k6_the_partial_text_is_kept_and_nothing_is_retried_or_escalated() {
    for partial in ["Once upon a", "I'll open it", ""] {
        let mut turn = Turn::new(escalating());
        turn.stopped(partial);
        let outcome = finish(&turn);
        assert_eq!((outcome.end, outcome.text.as_str()), (TurnEnd::Stopped, partial));
        assert!(outcome.end.is_interrupted());
        assert_eq!(outcome.messages.len(), usize::from(!partial.is_empty()));
        assert!(turn.drain_records().contains(&TraceEvent::Cancellation { by: "stop".into() }));
        // Whatever comes later changes nothing.
        turn.generated(&text("too late"));
        turn.timed_out("later");
        turn.stopped("again");
        assert_eq!(finish(&turn).text, partial);
    }
}

#[test]
fn k6_a_stop_while_a_confirmation_stands_open_runs_nothing_and_orphans_nothing() {
    let both =
        calls(vec![("write_file", json!({"filename": "a", "content": "b"})), ("read_file", json!({"filename": "c"}))]);
    let mut turn = Turn::new(setup("go"));
    step_until(&mut turn, &mut VecDeque::from([both]), "confirm");
    turn.confirmed(ConfirmationAnswer::Stopped, 9.0);
    let outcome = finish(&turn);
    assert_eq!(outcome.end, TurnEnd::Stopped);
    assert_eq!(outcome.confirmations, [ConfirmationAnswer::Stopped]);
    let outcomes: Vec<CallOutcome> = outcome.ledger.iter().map(|entry| entry.outcome).collect();
    assert_eq!(outcomes, [CallOutcome::Interrupted; 2]);
    let roles: Vec<tenpass_trace::Role> = outcome.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [tenpass_trace::Role::Assistant, tenpass_trace::Role::Tool, tenpass_trace::Role::Tool]);
}

#[test]
fn k6_a_stop_while_a_tool_runs_marks_it_interrupted() {
    let mut turn = Turn::new(setup("go"));
    step_until(&mut turn, &mut VecDeque::from([read(1)]), "execute");
    turn.stopped("");
    turn.executed(ToolOutput::ok("too late"), 1.0);
    let outcome = finish(&turn);
    assert_eq!(outcome.ledger[0].outcome, CallOutcome::Interrupted);
    assert_eq!(outcome.text, "");
}

#[test]
fn k4_k6_a_timeout_with_text_keeps_it_and_escalates_nothing() {
    let mut turn = Turn::new(escalating());
    turn.timed_out("Half an ans");
    let outcome = finish(&turn);
    assert_eq!((outcome.end, outcome.text.as_str()), (TurnEnd::TimedOut, "Half an ans"));
    let records = turn.drain_records();
    assert!(records.contains(&TraceEvent::Cancellation { by: "timeout".into() }));
    let is_fault = |event: &TraceEvent| matches!(event, TraceEvent::Fault { class: FailureClass::Timeout, message } if message.contains("120 s"));
    assert!(records.iter().any(is_fault));
}

#[test]
fn k11b_a_timeout_without_text_escalates_and_falls_back_to_a_sentence() {
    let mut turn = Turn::new(escalating());
    turn.timed_out(" ");
    assert!(matches!(turn.next(), Step::Escalate(request) if request.provider == "claude"));
    turn.escalated(Ok(Escalated { text: "From the cloud.".into(), provider: "claude".into() }));
    assert_eq!(finish(&turn).end, TurnEnd::Escalated);

    let mut turn = Turn::new(escalating());
    turn.timed_out("");
    turn.escalated(Err("over budget".into()));
    let outcome = finish(&turn);
    assert_eq!(outcome.end, TurnEnd::TimedOut);
    assert_eq!(outcome.text, "The time for this request ran out before I had an answer. Nothing was done.");
}

#[test]
fn k11b_a_stop_during_an_escalation_ends_it() {
    let mut turn = Turn::new(escalating());
    turn.generated(&text(""));
    assert!(matches!(turn.next(), Step::Escalate(_)));
    turn.stopped("");
    assert_eq!(finish(&turn).end, TurnEnd::Stopped);
}

#[test]
fn a_timeout_after_a_success_says_what_was_done() {
    let mut turn = Turn::new(setup("go"));
    step_until(&mut turn, &mut VecDeque::from([read(1)]), "generate");
    turn.timed_out("");
    let outcome = finish(&turn);
    assert_eq!(outcome.end, TurnEnd::TimedOut);
    assert!(outcome.text.ends_with("Done before that: read_file."), "{}", outcome.text);
}

#[test]
fn a_trace_that_cannot_be_written_ends_the_turn_before_any_further_call() {
    let both = calls(vec![("read_file", json!({"filename": "a"})), ("read_file", json!({"filename": "b"}))]);
    let mut turn = Turn::new(setup("go"));
    step_until(&mut turn, &mut VecDeque::from([both]), "execute");
    turn.executed(ToolOutput::ok("fine"), 1.0);
    turn.unrecordable(&RecordError { what: "trace".into(), reason: "full".into() });
    let outcome = finish(&turn);
    assert_eq!(outcome.end, TurnEnd::Failed);
    let outcomes: Vec<CallOutcome> = outcome.ledger.iter().map(|entry| entry.outcome).collect();
    assert_eq!(outcomes, [CallOutcome::Ok, CallOutcome::Interrupted]);
    assert!(outcome.text.contains("journal") && outcome.text.contains("read_file"), "{}", outcome.text);
}

#[test]
fn answers_that_were_not_asked_for_are_ignored() {
    let mut turn = Turn::new(setup("go"));
    let due = turn.next();
    turn.executed(ToolOutput::ok("x"), 1.0);
    turn.confirmed(ConfirmationAnswer::Approved, 1.0);
    turn.inspected(Inspection::default());
    turn.intended(Ok(()));
    turn.escalated(Err("x".into()));
    assert_eq!(turn.next(), due);
}
