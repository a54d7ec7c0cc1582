//! Stop, timeout, escalation, busy: K4, K6, K11b, Z10.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tenpass_model::BoxFuture;
use tenpass_trace::{CallOutcome, ConfirmationAnswer, TurnEnd};
use tokio::time::Instant;

use super::*;
use crate::tool::CallContext;
use crate::turn::Escalated;

/// An answer that comes slowly and never ends.
fn endless() -> Said {
    Said { pause: Duration::from_secs(1), hangs: true, ..Said::text("Once upon a time there was a fox.") }
}

#[tokio::test(start_paused = true)]
async fn k6_stop_drops_the_stream_and_keeps_the_text() {
    let stage = stage(ScriptedModel::saying(vec![endless()]), tools());
    let person = ScriptedPerson::silent();
    let stop = CancellationToken::new();
    let began = Instant::now();
    let turn = stage.agent.turn(input("tell"), &person, stop.clone());
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        assert_eq!(stage.model.active(), 1);
        stop.cancel();
    };
    let (report, ()) = tokio::join!(turn, stopping);
    let report = report.unwrap();
    assert_eq!(began.elapsed(), Duration::from_millis(2_500), "the turn ends with the stop");
    assert_eq!((stage.model.active(), stage.model.dropped()), (0, 1));
    assert_eq!((report.end, report.text.as_str()), (TurnEnd::Stopped, "Once upon a ti"));
    assert_eq!(person.display(), "Once upon a ti");
    assert_eq!(report.messages.last().unwrap().content, "Once upon a ti");
    assert!(report.end.is_interrupted());
    assert_eq!(stage.model.requests().len(), 1, "never retried");
}

#[tokio::test(start_paused = true)]
async fn k4_the_turn_has_120_s_and_240_when_thinking_high() {
    for (think, seconds) in [(None, 120), (Some(tenpass_model::ThinkLevel::High), 240)] {
        let stage = stage(ScriptedModel::saying(vec![Said { hangs: true, ..Said::default() }]), tools());
        let began = Instant::now();
        let given = TurnInput { think, ..input("tell") };
        let report = stage.agent.turn(given, &ScriptedPerson::silent(), CancellationToken::new()).await.unwrap();
        assert_eq!(began.elapsed().as_secs(), seconds);
        assert_eq!((report.end, stage.model.dropped()), (TurnEnd::TimedOut, 1));
        assert!(report.text.starts_with("The time for this request ran out"));
    }
}

#[tokio::test(start_paused = true)]
async fn k4_a_turn_whose_time_is_up_asks_no_model_again() {
    let answers = vec![read("a"), Said::text("never")];
    let stage = stage(ScriptedModel::saying(answers), tools().slow("read_file", Duration::from_secs(119)));
    let person = ScriptedPerson::silent();
    let slow = async {
        let report = stage.turn("read", &person).await;
        assert_eq!(report.end, TurnEnd::Natural, "119 s are in time");
    };
    slow.await;
    let stage = staged(
        ScriptedModel::saying(vec![read("a")]),
        tools(),
        MemoryRecorder::default(),
        AgentSettings {
            limits: Some(crate::turn::Limits { turn_timeout: Duration::ZERO, ..crate::turn::Limits::default() }),
            ..AgentSettings::default()
        },
    );
    let report = stage.turn("read", &person).await;
    assert_eq!((report.end, stage.model.requests().len()), (TurnEnd::TimedOut, 0));
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let endless = Said { pieces: vec!["word ".repeat(100_000); 20], ..Said::default() };
    let stage = stage(ScriptedModel::saying(vec![endless]), tools());
    let report = stage.turn("tell", &ScriptedPerson::silent()).await;
    assert_eq!((report.end, stage.model.dropped()), (TurnEnd::CutOff, 1));
    assert!(report.text.ends_with("characters]"), "50,000 of them are kept, and it says so");
}

#[tokio::test(start_paused = true)]
async fn an_open_confirmation_does_not_eat_the_turns_time() {
    // Two dialogs of 50 s each and a tool of 70 s: 170 s by the clock, 70 s of the turn's 120.
    let answers = vec![write("a"), write("b"), read("c"), Said::text("All done.")];
    let stage = stage(ScriptedModel::saying(answers), tools().slow("read_file", Duration::from_secs(70)));
    let person = ScriptedPerson::approving().after(Duration::from_secs(50));
    let began = Instant::now();
    let report = stage.turn("work", &person).await;
    assert_eq!((report.end, began.elapsed().as_secs()), (TurnEnd::Natural, 170));
    assert_eq!(report.timings.waited_ms as u64, 100_000);
}

#[tokio::test(start_paused = true)]
async fn k6_stop_and_timeout_reach_a_running_tool() {
    let stage = stage(ScriptedModel::saying(vec![read("a")]), tools().slow("read_file", Duration::from_secs(500)));
    let report = stage.turn("read", &ScriptedPerson::silent()).await;
    assert_eq!(report.end, TurnEnd::TimedOut);
    assert_eq!(report.ledger[0].outcome, CallOutcome::Interrupted);
    assert!(stage.tools.ran().is_empty());
    let stop = CancellationToken::new();
    let stopping = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        stop.cancel();
    };
    let person = ScriptedPerson::silent();
    let (report, ()) = tokio::join!(stage.agent.turn(input("read"), &person, stop.clone()), stopping);
    assert_eq!(report.unwrap().end, TurnEnd::Stopped);
}

#[tokio::test(start_paused = true)]
async fn k6_stop_while_a_confirmation_stands_open() {
    let stage = stage(ScriptedModel::saying(vec![write("a")]), tools());
    let person = ScriptedPerson::silent();
    let stop = CancellationToken::new();
    let stopping = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        stop.cancel();
    };
    let (report, ()) = tokio::join!(stage.agent.turn(input("write"), &person, stop.clone()), stopping);
    let report = report.unwrap();
    assert_eq!(
        (report.end, report.confirmations.as_slice()),
        (TurnEnd::Stopped, [ConfirmationAnswer::Stopped].as_slice())
    );
    assert!(stage.tools.ran().is_empty());
    assert_eq!(stage.recorder.intentions().len(), 1, "what was meant is on disk");
}

#[tokio::test]
async fn a_turn_that_was_stopped_before_it_began_asks_nobody() {
    let stage = stage(ScriptedModel::saying(vec![Said::text("x")]), tools());
    let stop = CancellationToken::new();
    stop.cancel();
    let report = stage.agent.turn(input("x"), &ScriptedPerson::silent(), stop).await.unwrap();
    assert_eq!((report.end, stage.model.requests().len()), (TurnEnd::Stopped, 0));
}

#[tokio::test(start_paused = true)]
async fn z10_a_second_start_is_busy_and_other_conversations_are_not() {
    let stage = stage(ScriptedModel::saying(vec![endless(), Said::text("Other.")]), tools());
    let person = ScriptedPerson::silent();
    let stop = CancellationToken::new();
    let second = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(stage.agent.is_running("thread"));
        let busy = stage.agent.turn(input("again"), &person, CancellationToken::new()).await;
        let error = busy.unwrap_err();
        assert_eq!(error, TurnError::Busy { thread: "thread".into() });
        assert_eq!(error.to_string(), "conversation \"thread\" is busy");
        let elsewhere = TurnInput { thread: "other".into(), ..input("hi") };
        let other = stage.agent.turn(elsewhere, &person, CancellationToken::new()).await.unwrap();
        assert_eq!(other.text, "Other.");
        stop.cancel();
    };
    let (first, ()) = tokio::join!(stage.agent.turn(input("tell"), &person, stop.clone()), second);
    assert_eq!(first.unwrap().end, TurnEnd::Stopped);
    assert!(!stage.agent.is_running("thread"));
}

struct Cloud {
    asked: AtomicUsize,
    pause: Duration,
}

impl Escalation for Cloud {
    fn provider(&self) -> &'static str {
        "claude"
    }

    fn escalate<'a>(
        &'a self,
        _messages: &'a [Message],
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Escalated, String>> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(self.pause).await;
            Ok(Escalated { text: "From the cloud.".into(), provider: "claude".into() })
        })
    }
}

async fn escalated(said: Said, pause: u64) -> (TurnReport, usize) {
    let cloud = Arc::new(Cloud { asked: AtomicUsize::new(0), pause: Duration::from_secs(pause) });
    let mut stage = stage(ScriptedModel::saying(vec![said]), tools());
    stage.agent = stage.agent.with_escalation(Arc::clone(&cloud) as Arc<dyn Escalation>);
    let person = ScriptedPerson::silent();
    let report = stage.turn("tell", &person).await;
    assert_eq!(person.display(), report.text);
    (report, cloud.asked.load(Ordering::SeqCst))
}

#[tokio::test(start_paused = true)]
async fn k11b_silence_and_timeout_escalate_and_text_that_timed_out_does_not() {
    let (report, asked) = escalated(Said::text(""), 1).await;
    assert_eq!((report.end, report.text.as_str(), asked), (TurnEnd::Escalated, "From the cloud.", 1));
    assert_eq!(report.author, "claude");
    let (report, asked) = escalated(Said { hangs: true, ..Said::default() }, 1).await;
    assert_eq!((report.end, asked), (TurnEnd::Escalated, 1));
    let (report, asked) = escalated(endless(), 1).await;
    assert_eq!((report.end, asked), (TurnEnd::TimedOut, 0));
    assert_eq!(report.text, "Once upon a time there was a fox.");
    let (report, asked) = escalated(Said::text(""), 61).await;
    assert_eq!((report.end, asked), (TurnEnd::FixedSentence, 1), "an escalation has 60 s");
}
