//! Rounds, caps, repeats: K1 to K5, K8, K12, Z4, Z5.

use tenpass_model::Usage;
use tenpass_trace::{RetryReason, Role, TurnEnd};

use super::*;

/// A turn whose rounds are counted: without compressions.
fn uncompressed(say: impl FnMut(&Ask) -> Result<Generation, ModelError> + 'static) -> Play {
    Play::by(say).with(|setup| setup.limits.compress_after_calls = 0)
}

#[test]
fn k1_a_final_answer_follows_the_results_of_several_calls() {
    let two = calls(vec![("read_file", json!({"filename": "a"})), ("list_directory", json!({"directory": "b"}))]);
    let played = Play::new(vec![two, text("Both are read.")]).play();
    assert_eq!(played.outcome.end, TurnEnd::Natural);
    assert_eq!((played.outcome.text.as_str(), played.outcome.rounds), ("Both are read.", 2));
    let second = &played.asks[1].request.messages;
    let roles: Vec<Role> = second.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::Tool, Role::Tool]);
    assert_eq!(second[2].tool_calls.len(), 2);
    assert_eq!(
        (second[3].content.as_str(), second[3].tool_name.as_deref()),
        ("result of read_file", Some("read_file"))
    );
    let kept: Vec<Role> = played.outcome.messages.iter().map(|message| message.role).collect();
    assert_eq!(kept, [Role::Assistant, Role::Tool, Role::Tool, Role::Assistant]);
    played.assert_no_orphans();
}

#[test]
fn k2_k5_eight_rounds_a_loop_and_the_calls_of_the_eighth_run() {
    let mut number = 0;
    let played = uncompressed(move |ask| {
        number += 1;
        Ok(if ask.purpose == Purpose::FinalText { text("Enough.") } else { read(number) })
    })
    .play();
    assert_eq!(played.ran.len(), 8, "the cap is checked after the round's calls ran");
    assert_eq!(played.rounds(), 9, "8 and the retry without tools");
    assert_eq!((played.outcome.end, played.outcome.text.as_str()), (TurnEnd::RoundCap, "Enough."));
    assert!(played.asks.last().unwrap().request.tools.is_empty());
}

#[test]
fn r1_ten_rounds_a_loop_when_configured() {
    let mut number = 0;
    let played = uncompressed(move |ask| {
        number += 1;
        Ok(if ask.purpose == Purpose::FinalText { text("Enough.") } else { read(number) })
    })
    .with(|setup| setup.limits = setup.limits.with_long_loop())
    .play();
    assert_eq!(played.ran.len(), 10);
}

#[test]
fn k3_twelve_rounds_a_turn_with_every_retry_in_it() {
    // Narrates first, then calls for ever: 1 round, then a relaunch with 8 of the 11 that are left,
    // then one request without tools that says nothing.
    let mut number = 0;
    let played = uncompressed(move |ask| {
        number += 1;
        Ok(match (number, ask.purpose) {
            (1, _) => text("I'll read the files."),
            (_, Purpose::FinalText) => text(""),
            _ => read(number),
        })
    })
    .play();
    assert_eq!(played.ran.len(), 8);
    assert_eq!(played.outcome.rounds, 10);
    assert_eq!(played.retries(), [RetryReason::NarratedAction, RetryReason::EmptyFinal]);
    assert!(played.outcome.rounds <= 12);
    assert_eq!((played.outcome.end, played.outcome.text.as_str()), (TurnEnd::RoundCap, "result of read_file"));
}

#[test]
fn k3_a_relaunch_gets_what_is_left() {
    // Seven rounds of calls, then an unreadable call: 12 - 8 = 4 are left, and the cap ends them.
    let mut number = 0;
    let played = uncompressed(move |ask| {
        number += 1;
        Ok(match (number, ask.purpose) {
            (8, _) => text("<tool_call>{\"name\":\"read_file\",\"arguments\":{\"filename\": }</tool_call>"),
            (_, Purpose::FinalText) => text("Done."),
            _ => read(number),
        })
    })
    .play();
    assert_eq!(played.retries(), [RetryReason::CallAsText]);
    assert_eq!(played.ran.len(), 7 + 4);
    assert_eq!(played.outcome.rounds, 12, "no round is left for a retry without tools");
    assert_eq!((played.outcome.end, played.outcome.text.as_str()), (TurnEnd::RoundCap, "result of read_file"));
}

#[test]
fn k3_a_relaunch_below_two_rounds_is_skipped() {
    let narrating = |limit: u32| {
        let mut play = Play::new(vec![read(1), read(2), text("")]);
        play.setup.limits.rounds_per_turn = limit;
        play.play()
    };
    // 3 of 4 rounds are used: one is left, so the last result is shown instead.
    assert_eq!(narrating(4).retries(), []);
    assert_eq!(narrating(4).outcome.end, TurnEnd::LastResult);
    assert_eq!(narrating(5).retries(), [RetryReason::EmptyFinal]);
}

#[test]
fn k8_both_counts_are_recorded_and_a_prompt_that_arrived_short_is_an_error_with_both_numbers() {
    let reported = |prompt_tokens| {
        let usage = Usage { prompt_tokens: Some(prompt_tokens), ..Usage::default() };
        Play::new(vec![Generation { usage, ..text("Fine.") }]).play()
    };
    let played = reported(400);
    let counts = played.records.iter().find_map(|event| match event {
        TraceEvent::Round { prompt_tokens, counted_tokens, .. } => Some((*prompt_tokens, *counted_tokens)),
        _ => None,
    });
    let (Some(reported_tokens), Some(counted)) = counts.unwrap() else { panic!("{counts:?}") };
    assert_eq!(reported_tokens, 400);
    assert!(counted > 50, "{counted}");
    // 3 tokens cannot hold "You help.", "please do it" and eight tools.
    let short = reported(3);
    assert_eq!(short.outcome.end, TurnEnd::Failed);
    let Some(ModelError::Overflow { prompt_tokens, context }) = short.outcome.fault else { panic!("no overflow") };
    assert_eq!(context, 3);
    assert!(prompt_tokens > 3);
    let message = format!("the prompt has {prompt_tokens} tokens but the context holds 3");
    assert!(short.outcome.text.contains(&message), "{}", short.outcome.text);
    assert!(
        short
            .records
            .iter()
            .any(|event| matches!(event, TraceEvent::Fault { message: recorded, .. } if *recorded == message))
    );
}

#[test]
fn k8_an_overflow_is_never_papered_over_by_a_provider() {
    let overflow = ModelError::Overflow { prompt_tokens: 9_000, context: 4_096 };
    let played = Play::by(move |_| Err(overflow.clone())).escalating("cloud").play();
    assert_eq!(played.outcome.end, TurnEnd::Failed);
    assert!(played.outcome.text.contains("9000") && played.outcome.text.contains("4096"), "{}", played.outcome.text);
    assert!(!played.steps.contains(&"escalate"));
}

#[test]
fn k9_sampling_and_thinking_reach_the_request() {
    let played = Play::new(vec![text("Hi.")]).with(|setup| setup.think = Some(tenpass_model::ThinkLevel::High)).play();
    let request = &played.asks[0].request;
    assert_eq!((request.options.temperature.to_string().as_str(), request.options.context), ("0.3", Some(32_768)));
    assert_eq!(request.think, Some(tenpass_model::ThinkLevel::High));
    let small = Play::new(vec![text("Hi.")]).with(|setup| setup.info.context = Some(8_192)).play();
    assert_eq!(small.asks[0].request.options.context, Some(8_192), "a small model is asked for what it holds");
}

#[test]
fn k12_after_a_success_the_same_result_without_running_again() {
    let same = || call("write_file", json!({"filename": "a", "content": "b", "reason": "one"}));
    let reordered = call("write_file", json!({"reason": "another", "content": "b", "filename": "a"}));
    let played = Play::new(vec![same(), reordered, text("Written.")]).play();
    assert_eq!(played.ran.len(), 1);
    assert_eq!(played.shown.len(), 1, "no second dialog either");
    assert_eq!(played.outcomes(), [CallOutcome::Ok, CallOutcome::Repeated]);
    assert_eq!(played.last_message(2), played.last_message(1), "the same result");
    assert_eq!(played.intentions.len(), 2, "both were meant, both are on disk");
}

#[test]
fn k12_after_a_refusal_the_same_refusal_without_a_dialog() {
    let same = || call("write_file", json!({"filename": "a", "content": "b"}));
    let played =
        Play::new(vec![same(), same(), text("It was not written.")]).answering(|_| ConfirmationAnswer::Refused).play();
    assert_eq!((played.shown.len(), played.ran.len()), (1, 0));
    assert_eq!(played.outcomes(), [CallOutcome::Refused, CallOutcome::Repeated]);
    assert_eq!(played.last_message(2), played.last_message(1));
}

#[test]
fn k12_a_read_is_made_again_after_something_changed() {
    let list = || call("list_directory", json!({"directory": "."}));
    let write = call("write_file", json!({"filename": "a", "content": "b"}));
    let played = Play::new(vec![list(), write, list(), text("It is there.")]).play();
    assert_eq!(played.outcomes(), [CallOutcome::Ok; 3]);
}

#[test]
fn z4_z5_three_of_a_kind_then_three_blocks_abort() {
    let played = uncompressed(|ask| Ok(if ask.purpose == Purpose::FinalText { text("") } else { read(1) }))
        .running(|_| ToolOutput::error("the disk is on fire"))
        .play();
    assert_eq!(played.ran.len(), 3, "an error may be tried again, three times in all");
    assert_eq!(played.outcomes()[3..], [CallOutcome::Blocked; 3]);
    assert_eq!(played.outcome.rounds, 6);
    assert_eq!(played.outcome.end, TurnEnd::RepeatAbort);
    let block = played.last_message(4);
    assert!(block.starts_with("Blocked") && block.matches("the disk is on fire").count() == 3, "{block}");
}

#[test]
fn z5_blocks_that_do_not_follow_each_other_do_not_abort() {
    let mut number = 0;
    let played = uncompressed(move |_| {
        number += 1;
        Ok(match number {
            1..=3 | 5 | 7 => read(1),
            8 => text("I give up."),
            other => read(other),
        })
    })
    .running(|_| ToolOutput::error("no"))
    .play();
    assert_eq!(played.outcome.end, TurnEnd::Natural);
    assert_eq!(played.outcomes().iter().filter(|outcome| **outcome == CallOutcome::Blocked).count(), 2);
}

#[test]
fn the_calls_of_one_answer_are_capped_at_sixteen() {
    let many = calls((0..20).map(|index| ("read_file", json!({"filename": format!("{index}")}))).collect());
    let played = Play::new(vec![many, text("Done.")]).play();
    assert_eq!(played.ran.len(), 16);
    assert_eq!(played.outcomes()[16..], [CallOutcome::Rejected; 4]);
    played.assert_no_orphans();
}
