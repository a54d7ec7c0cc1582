//! The machine, step by step.

use super::*;
use crate::activity::FRAME_US;
use proptest::prelude::*;

/// Feeds frames of one probability until `to_ms`, beginning at the frame after `from_ms`.
fn frames(turn: &mut VoiceTurn, from_ms: u64, to_ms: u64, probability: f32) {
    let mut at_us = from_ms * 1000;
    while at_us < to_ms * 1000 {
        turn.input(at_us + FRAME_US, Input::Frame { from_us: at_us, probability });
        at_us += FRAME_US;
    }
}

fn actions(turn: &mut VoiceTurn) -> Vec<Action> {
    std::iter::from_fn(|| turn.next()).collect()
}

/// A turn that plays its reply, of 16,000 samples, since 2,000 ms.
fn speaking(manner: Manner) -> VoiceTurn {
    let mut turn = VoiceTurn::new(TurnOptions::default());
    turn.input(0, Input::Wake { word_end_us: 0 });
    frames(&mut turn, 0, 640, 0.9);
    frames(&mut turn, 640, 832, 0.0);
    let [Action::Transcribe { job, from_us: 0, .. }] = actions(&mut turn)[..] else { panic!("no transcription") };
    turn.input(900_000, Input::Transcript { job, text: "Tell me.".into() });
    assert_eq!(actions(&mut turn), [Action::Route { job, text: "Tell me.".into() }]);
    turn.input(900_100, Input::Routed { job, route: Route::Loop });
    frames(&mut turn, 832, 1088, 0.0);
    assert_eq!(actions(&mut turn), [Action::Respond { reply: 1, text: "Tell me.".into() }]);
    turn.input(1_500_000, Input::Piece { reply: 1, text: "All of it is true".into() });
    assert_eq!(actions(&mut turn), []);
    turn.input(1_600_000, Input::ReplyEnded { reply: 1, manner });
    assert_eq!(actions(&mut turn), [Action::Speak { reply: 1, chunk: 0, text: "All of it is true".into() }]);
    turn.input(1_980_000, Input::Synthesised { reply: 1, chunk: 0, samples: 16_000, lead: 0, tail: 0 });
    assert_eq!(actions(&mut turn), [Action::Play { reply: 1, chunk: 0 }]);
    turn.input(2_000_000, Input::Sounded { reply: 1 });
    turn
}

#[test]
fn who_may_interrupt() {
    let mut reading = speaking(Manner::Reading);
    assert!(!reading.any_voice_interrupts());
    for signal in [BargeSignal::Duck, BargeSignal::Stop] {
        reading.input(2_200_000, Input::Barge(signal));
    }
    frames(&mut reading, 2200, 3200, 0.99);
    assert_eq!(actions(&mut reading), []);
    reading.input(3_300_000, Input::Wake { word_end_us: 3_250_000 });
    assert_eq!(actions(&mut reading), [Action::Stop { reply: 1 }]);

    let mut asking = speaking(Manner::Asking);
    assert!(asking.any_voice_interrupts());
    for signal in [BargeSignal::Duck, BargeSignal::Release, BargeSignal::Duck, BargeSignal::Stop] {
        asking.input(2_200_000, Input::Barge(signal));
    }
    assert_eq!(actions(&mut asking), [Action::Duck, Action::Unduck, Action::Duck, Action::Stop { reply: 1 }]);
}

#[test]
fn an_interruption_cuts_the_reply_and_is_answered() {
    let mut turn = speaking(Manner::Asking);
    turn.input(2_500_000, Input::Barge(BargeSignal::Stop));
    turn.input(2_500_000, Input::Stopped { reply: 1, played: 8000 });
    actions(&mut turn);
    frames(&mut turn, 2500, 3012, 0.9);
    frames(&mut turn, 3012, 3204, 0.0);
    let [Action::Transcribe { job, from_us, .. }] = actions(&mut turn)[..] else { panic!("no transcription") };
    assert_eq!(from_us, 2_000_000);
    turn.input(3_250_000, Input::Transcript { job, text: "No, wait.".into() });
    turn.input(3_250_100, Input::Routed { job, route: Route::Loop });
    frames(&mut turn, 3204, 3460, 0.0);
    let found = actions(&mut turn);
    assert_eq!(found[1], Action::Cancel { reply: 1 });
    assert_eq!(found[2], Action::Cut { reply: 1, heard: "All of".into() });
    assert!(matches!(&found[3], Action::Finished(Finished { outcome: Outcome::Interrupted, .. })));
    assert_eq!(found[4], Action::Respond { reply: 2, text: "No, wait.".into() });
}

#[test]
fn a_transcript_too_late_for_the_watchdog_still_counts() {
    let mut turn = speaking(Manner::Asking);
    turn.input(2_500_000, Input::Barge(BargeSignal::Stop));
    turn.input(2_500_000, Input::Stopped { reply: 1, played: 8000 });
    frames(&mut turn, 2500, 3012, 0.9);
    frames(&mut turn, 3012, 5028, 0.0);
    let found = actions(&mut turn);
    assert!(found.contains(&Action::Resume { reply: 1, from: 8000 }), "{found:?}");
    let job = found.iter().find_map(|action| match action {
        Action::Transcribe { job, .. } => Some(*job),
        _ => None,
    });
    turn.input(5_100_000, Input::Transcript { job: job.unwrap(), text: "Stop that.".into() });
    turn.input(5_100_100, Input::Routed { job: job.unwrap(), route: Route::Loop });
    let found = actions(&mut turn);
    assert!(found.contains(&Action::Stop { reply: 1 }), "{found:?}");
    turn.input(5_100_200, Input::Stopped { reply: 1, played: 9000 });
    assert!(actions(&mut turn).contains(&Action::Respond { reply: 2, text: "Stop that.".into() }));
}

#[test]
fn answers_of_other_turns_change_nothing() {
    let mut turn = speaking(Manner::Reading);
    turn.input(2_100_000, Input::Piece { reply: 7, text: "Not mine, at all. ".into() });
    turn.input(2_100_000, Input::Transcript { job: 99, text: "x".into() });
    turn.input(2_100_000, Input::Stopped { reply: 1, played: 3 });
    turn.input(2_100_000, Input::Drained { reply: 7 });
    assert_eq!(actions(&mut turn), []);
    turn.input(3_000_000, Input::Drained { reply: 1 });
    assert!(matches!(&actions(&mut turn)[..], [Action::Finished(Finished { outcome: Outcome::Answered, .. })]));
    assert!(turn.is_idle());
}

#[test]
fn a_clause_that_cannot_be_spoken_is_passed_over() {
    let mut turn = VoiceTurn::new(TurnOptions::default());
    turn.input(0, Input::Wake { word_end_us: 0 });
    frames(&mut turn, 0, 640, 0.9);
    frames(&mut turn, 640, 832, 0.0);
    turn.input(900_000, Input::Transcript { job: 1, text: "on".into() });
    let route = Route::Command { id: "on".into(), reply: Some("On.".into()) };
    turn.input(900_000, Input::Routed { job: 1, route });
    frames(&mut turn, 832, 1088, 0.0);
    actions(&mut turn);
    turn.input(1_200_000, Input::Synthesised { reply: 1, chunk: 0, samples: 0, lead: 0, tail: 0 });
    assert!(matches!(&actions(&mut turn)[..], [Action::Finished(Finished { outcome: Outcome::Silent, .. })]));
}

fn inputs() -> impl Strategy<Value = Input> {
    let id = 0_u32..4;
    prop_oneof![
        4 => (0.0_f32..1.0).prop_map(|probability| Input::Frame { from_us: 0, probability }),
        1 => Just(Input::Wake { word_end_us: 0 }),
        1 => prop::sample::select(vec![BargeSignal::Duck, BargeSignal::Release, BargeSignal::Stop]).prop_map(Input::Barge),
        2 => (id.clone(), "[a-z]{0,3}").prop_map(|(job, text)| Input::Transcript { job, text }),
        2 => id.clone().prop_map(|job| Input::Routed { job, route: Route::Loop }),
        2 => (id.clone(), "[a-z]{3,9}[.,] ").prop_map(|(reply, text)| Input::Piece { reply, text }),
        1 => id.clone().prop_map(|reply| Input::ReplyEnded { reply, manner: Manner::Asking }),
        2 => (id.clone(), 0_u32..3, 0_u64..9000).prop_map(|(reply, chunk, samples)| Input::Synthesised {
            reply, chunk, samples, lead: 0, tail: 0
        }),
        1 => (id.clone(), 0_u64..20_000).prop_map(|(reply, played)| Input::Stopped { reply, played }),
        1 => id.clone().prop_map(|reply| Input::Drained { reply }),
        1 => id.prop_map(|reply| Input::Sounded { reply }),
    ]
}

proptest! {
    #[test]
    fn no_order_of_events_panics_or_answers_twice(events in prop::collection::vec(inputs(), 0..300)) {
        let mut turn = VoiceTurn::new(TurnOptions::default());
        let (mut at_us, mut last) = (0, 0);
        for input in events {
            at_us += FRAME_US;
            let input = match input {
                Input::Frame { probability, .. } => Input::Frame { from_us: at_us - FRAME_US, probability },
                other => other,
            };
            turn.input(at_us, input);
            for action in actions(&mut turn) {
                if let Action::Respond { reply, .. } = action {
                    prop_assert!(reply > last);
                    last = reply;
                }
            }
        }
    }
}
