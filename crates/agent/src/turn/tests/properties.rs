//! Whatever a model, a tool and a person do: the caps hold, nothing runs unrecorded or unapproved,
//! nothing is orphaned, the turn ends.

use proptest::prelude::*;
use tenpass_model::FinishReason;

use super::*;

/// One answer of a hostile model.
fn any_generation() -> impl Strategy<Value = Generation> {
    let name = prop::sample::select(vec![
        "read_file",
        "read_url",
        "write_file",
        "write_memory",
        "open_url",
        "mystery",
        "fly",
        "answer",
        "",
    ]);
    let arguments = prop::sample::select(vec![
        json!({}),
        json!({"filename": "a"}),
        json!({"filename": "a", "content": "b"}),
        json!({"url": "https://a.example"}),
        json!({"entry": "x"}),
        json!({"x": "y"}),
        json!("{\"filename\": \"a\"}"),
        json!([1, 2]),
        Value::Null,
    ]);
    let words = prop::sample::select(vec![
        "",
        " ",
        "Done.",
        "I'll open it.",
        "[[tenpass:result]]x[[/tenpass:result]]",
        "[[tenpass:result]]x[[/tenpass:result]] and y",
        "<tool_call>{\"name\":\"read_file\",\"arguments\":{\"filename\":",
        "<tool_call>{\"name\":\"fly\",\"arguments\":{}}</tool_call>",
        "{\"name\":\"write_file\",\"arguments\":{\"filename\":\"t\",\"content\":\"x\"}}",
        "<think>hm",
    ]);
    let finish = prop::sample::select(vec![FinishReason::Stop, FinishReason::Length, FinishReason::ToolCalls]);
    (words, prop::collection::vec((name, arguments), 0..4), finish).prop_map(|(words, made, finish)| Generation {
        text: words.to_owned(),
        thinking: "thought".into(),
        finish,
        ..calls(made)
    })
}

fn any_structure() -> impl Strategy<Value = Structure> {
    prop::sample::select(Structure::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn every_turn_ends_within_its_caps_with_everything_recorded(
        answers in prop::collection::vec(any_generation(), 1..18),
        results in prop::collection::vec((any::<bool>(), any::<bool>()), 1..6),
        replies in prop::collection::vec(prop::sample::select(vec![
            ConfirmationAnswer::Approved, ConfirmationAnswer::Refused, ConfirmationAnswer::Expired,
        ]), 1..4),
        structure in any_structure(),
        escalates in any::<bool>(),
    ) {
        let mut given = 0;
        let mut ran = 0;
        let mut asked = 0;
        let mut play = Play::by(move |_| {
            given += 1;
            Ok(answers[(given - 1) % answers.len()].clone())
        })
        .with(|setup| setup.structure = structure)
        .running(move |call| {
            ran += 1;
            let (ok, outside) = results[(ran - 1) % results.len()];
            let output = if ok { ToolOutput::ok(format!("did {}", call.name)) } else { ToolOutput::error("no") };
            if outside { output.untrusted("outside") } else { output }
        })
        .answering(move |_| {
            asked += 1;
            replies[(asked - 1) % replies.len()]
        });
        if escalates {
            play = play.escalating("cloud");
        }
        let played = play.play();
        let outcome = &played.outcome;
        prop_assert!(outcome.rounds <= 12, "{} rounds", outcome.rounds);
        prop_assert!(played.retries().len() <= 8);
        played.assert_no_orphans();
        // Every call is in the ledger, was meant on disk, and has one record.
        prop_assert_eq!(played.intentions.len(), outcome.ledger.len());
        let recorded = played.records.iter().filter(|event| matches!(event, TraceEvent::Call { .. })).count();
        prop_assert_eq!(recorded, outcome.ledger.len());
        let ran: Vec<_> = outcome
            .ledger
            .iter()
            .filter(|entry| matches!(entry.outcome, CallOutcome::Ok | CallOutcome::Error))
            .collect();
        prop_assert_eq!(ran.len(), played.ran.len());
        for entry in &ran {
            prop_assert!(entry.tier == Tier::Auto || entry.confirmed, "{} ran unapproved", entry.tool);
        }
        // The same success never happens twice.
        let wrote = |entry: &&&LedgerEntry| entry.outcome == CallOutcome::Ok && entry.tool == "write_file";
        let successes: Vec<_> = ran.iter().filter(wrote).collect();
        for (index, entry) in successes.iter().enumerate() {
            prop_assert!(!successes[..index].iter().any(|other| other.arguments == entry.arguments));
        }
        prop_assert!(!outcome.text.contains("[[tenpass:result"), "{}", outcome.text);
        prop_assert!(!outcome.text.trim().is_empty(), "the person always reads something");
        prop_assert!(!serde_json::to_string(&played.records).unwrap().contains("thought"));
    }
}
