use tenpass_tools::assistant::LiveStore;
use tenpass_trace::{CallOutcome, ConfirmationAnswer, Intention, Tier, TraceEvent, TurnEnd};

use super::*;

fn record(turn: &str, event: TraceEvent) -> TraceRecord {
    TraceRecord { thread: "thread-0001".into(), turn: turn.into(), event }
}

fn request(text: &str) -> TraceEvent {
    TraceEvent::Request { text: text.into(), model: "scripted:test".into(), profile: "panel".into(), think: None }
}

fn end(end: TurnEnd) -> TraceEvent {
    TraceEvent::Final { end, text: "done".into(), author: "scripted:test".into(), rounds: 2, calls: 1, ms: 1500.0 }
}

/// Two turns: one with a refused call that was judged, one that was cut off.
fn filled() -> (tempfile::TempDir, AgentFolder) {
    let place = tempfile::tempdir().unwrap();
    let folder = AgentFolder::new(place.path());
    let store = LiveStore::open(&folder).unwrap();
    let journals = store.recorder.journals();
    let arguments = serde_json::json!({ "filename": "a\u{202E}.txt" });
    let mut events = vec![record("turn-aaaa", request("save\nit"))];
    events.push(record(
        "turn-aaaa",
        TraceEvent::Confirmation {
            call: 1,
            tool: "write_file".into(),
            tier: Tier::Irreversible,
            answer: ConfirmationAnswer::Refused,
            ms: 2_000.0,
        },
    ));
    events.push(record(
        "turn-aaaa",
        TraceEvent::Call {
            call: 1,
            tool: "write_file".into(),
            tier: Tier::Irreversible,
            outcome: CallOutcome::Refused,
            arguments: arguments.clone(),
            reason: Some("the person said no".into()),
            result: String::new(),
            ms: 0.0,
            untrusted: false,
        },
    ));
    events.push(record("turn-aaaa", end(TurnEnd::Natural)));
    events.push(record("", TraceEvent::Verdict { judged: "turn-aaaa".into(), verdict: "rejected".into() }));
    events.push(record("turn-bbbb", request("and then?")));
    for event in &events {
        journals.trace(event).unwrap();
    }
    journals
        .intention(&Intention {
            thread: "thread-0001".into(),
            turn: "turn-aaaa".into(),
            call: 1,
            tool: "write_file".into(),
            arguments: arguments.as_object().unwrap().clone(),
            digest: "ab".repeat(32),
        })
        .unwrap();
    (place, folder)
}

#[test]
fn turns_are_listed_with_their_end_and_verdict() {
    let (_place, folder) = filled();
    let (turns, unreadable) = list::turns(&folder).unwrap();
    assert_eq!((turns.len(), unreadable), (2, 0));
    let value = serde_json::to_value(&turns).unwrap();
    assert_eq!(value[0]["end"], "natural");
    assert_eq!(value[0]["verdict"], "rejected");
    assert_eq!((value[0]["calls"].as_u64(), value[0]["failed_calls"].as_u64()), (Some(1), Some(1)));
    assert!(value[1]["end"].is_null());
}

#[test]
fn a_turn_is_shown_with_what_was_meant_and_nothing_hidden() {
    let (_place, folder) = filled();
    let text = turn_text(&folder, "turn-aaaa").unwrap().unwrap();
    for part in [
        "request to scripted:test · panel",
        "“save it”",
        "confirmation 1: write_file (irreversible) refused after 2.0 s",
        "call 1: write_file(filename: \"a\\u{202E}.txt\") · irreversible · refused",
        "because the person said no",
        "end: natural after 1.5 s, 2 rounds, 1 call",
        "judged: rejected",
        "meant:",
        "1. write_file(",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    assert!(turn_text(&folder, "turn-cccc").unwrap().is_none());
}

#[test]
fn statistics_count_and_a_line_that_cannot_be_read_is_counted_too() {
    let (_place, folder) = filled();
    let broken = std::fs::read_to_string(folder.trace()).unwrap().replace("\"text\":\"and then?\"", "\"text\":x");
    std::fs::write(folder.trace(), broken).unwrap();
    let (stats, unreadable) = stats::counted(&folder, Some(7), Timestamp::now()).unwrap();
    assert_eq!(unreadable, 1);
    let value = serde_json::to_value(&stats).unwrap();
    assert_eq!(value["calls_by_tool"]["write_file"]["refused"], 1);
    assert_eq!(value["confirmations"]["refused"], 1);
    assert_eq!(value["ends"]["natural"], 1);
    assert_eq!(value["requests"]["scripted:test"], 1);
    let text = stats::text(&stats);
    assert!(text.contains("turns          1, 1.5 s on average: natural 1\n"), "{text}");
    let later = Timestamp::now().checked_add(jiff::SignedDuration::from_hours(24 * 8)).unwrap();
    let (old, _) = stats::counted(&folder, Some(7), later).unwrap();
    assert_eq!(serde_json::to_value(&old).unwrap()["calls"], 0);
}
