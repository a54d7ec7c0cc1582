//! Nothing happens unrecorded: K50, K51.

use tenpass_trace::{CallOutcome, TraceEvent, TurnEnd};

use super::*;
use crate::interaction::{AgentEvent, RunState};

#[tokio::test]
async fn the_trace_of_a_turn_ends_with_its_final() {
    let stage = stage(ScriptedModel::saying(vec![write("a"), Said::text("Written.")]), tools());
    stage.turn("write", &ScriptedPerson::approving()).await;
    let events = stage.recorder.events();
    let names: Vec<String> =
        events.iter().map(|event| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["request", "route", "round", "confirmation", "call", "round", "final"]);
    let Some(TraceEvent::Final { end, text, rounds, calls, .. }) = events.last() else { panic!("no final") };
    assert_eq!((*end, text.as_str(), *rounds, *calls), (TurnEnd::Natural, "Written.", 2, 1));
}

#[tokio::test]
async fn an_intention_that_cannot_be_written_stops_its_call_only() {
    let both = read("a").and_call("read_file", json!({"filename": "b"}));
    let recorder = MemoryRecorder::failing_intention(1);
    let stage =
        staged(ScriptedModel::saying(vec![both, Said::text("One.")]), tools(), recorder, AgentSettings::default());
    let report = stage.turn("read", &ScriptedPerson::silent()).await;
    assert_eq!(stage.tools.ran().len(), 1);
    assert_eq!(stage.tools.ran()[0].arguments["filename"], "b");
    assert_eq!(report.end, TurnEnd::Natural);
    assert!(report.ledger[0].result.contains("no space left"));
}

#[tokio::test]
async fn a_trace_that_cannot_be_written_ends_the_turn_before_the_next_call() {
    let both = write("a").and_call("write_file", json!({"filename": "b", "content": "x"}));
    // request, route, round, confirmation; the record of the first call does not fit.
    let recorder = MemoryRecorder::holding(4);
    let stage =
        staged(ScriptedModel::saying(vec![both, Said::text("never")]), tools(), recorder, AgentSettings::default());
    let person = ScriptedPerson::approving();
    let report = stage.turn("write", &person).await;
    assert_eq!(stage.tools.ran().len(), 1, "the second call never runs");
    assert_eq!(person.asked().len(), 1, "nor is it asked");
    assert_eq!(report.end, TurnEnd::Failed);
    assert_eq!(report.record_error.as_ref().map(|error| error.what.as_str()), Some("orchestrator-trace.jsonl"));
    let outcomes: Vec<CallOutcome> = report.ledger.iter().map(|entry| entry.outcome).collect();
    assert_eq!(outcomes, [CallOutcome::Ok, CallOutcome::Interrupted]);
    assert!(report.text.contains("Done before that: write_file"), "{}", report.text);
    assert_eq!(person.events().last(), Some(&AgentEvent::State(RunState::Error)));
    assert_eq!(stage.model.requests().len(), 1);
}

#[tokio::test]
async fn a_trace_that_cannot_be_written_at_all_asks_no_model() {
    let recorder = MemoryRecorder::holding(0);
    let stage = staged(ScriptedModel::saying(vec![read("a")]), tools(), recorder, AgentSettings::default());
    let report = stage.turn("read", &ScriptedPerson::silent()).await;
    assert_eq!((report.end, stage.model.requests().len()), (TurnEnd::Failed, 0));
}
