//! Whole turns on the virtual clock with scripted engines.

use std::sync::Arc;

use super::*;
use crate::activity::ScriptedActivity;
use crate::turn::{Action, Manner, Outcome, Route, TurnOptions};

fn router(text: &str) -> Timed<Route> {
    let route = match text {
        "lights on" => Route::Command { id: "lights-on".into(), reply: Some("Lights on.".into()) },
        "be quiet" => Route::Command { id: "quiet".into(), reply: None },
        _ => Route::Loop,
    };
    Timed { value: route, cost_us: Some(50) }
}

struct Scene {
    heard: Vec<&'static str>,
    stt_us: u64,
    spoken: Vec<(u64, u64)>,
    manner: Manner,
    reply: &'static str,
    wakes: Vec<Wake>,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            heard: vec!["lights on"],
            stt_us: 120_000,
            spoken: vec![(320, 1280)],
            manner: Manner::Reading,
            reply: "Right now it is about noon, and the sun is shining on the whole of the valley. Take a hat with you.",
            wakes: vec![Wake { at_us: 300_000, word_end_us: 250_000 }],
        }
    }
}

fn components(scene: &Scene) -> Components {
    Components {
        ears: Arc::new(ScriptedEars::new(&scene.heard, scene.stt_us)),
        mouth: Arc::new(ScriptedMouth { cost_us: 90_000, silence_ms: 30 }),
        router: Arc::new(router),
        responder: Arc::new(ScriptedResponder {
            text: scene.reply.into(),
            first_us: 300_000,
            word_us: 20_000,
            manner: scene.manner,
        }),
    }
}

fn run(scene: &Scene) -> Report {
    let work = VirtualWork::new(components(scene));
    let activity = ScriptedActivity::spans(&scene.spoken);
    let length = scene.spoken.iter().map(|span| span.1).max().unwrap_or(0) as usize * 16 + 16_000;
    Driver::new(DriveOptions::default(), Box::new(work), Box::new(activity)).run(
        &vec![0.0; length],
        &scene.wakes,
        60_000_000,
    )
}

fn at(report: &Report, wanted: impl Fn(&Action) -> bool) -> u64 {
    report.actions.iter().find(|(_, action)| wanted(action)).unwrap_or_else(|| panic!("{:#?}", report.actions)).0
}

#[test]
fn a_command_is_answered_after_350_ms_of_silence() {
    let report = run(&Scene::default());
    let [turn] = report.finished.as_slice() else { panic!("{report:#?}") };
    assert_eq!((turn.outcome, turn.command.as_deref()), (Outcome::Answered, Some("lights-on")));
    assert_eq!((turn.text.as_str(), turn.reply.as_str()), ("lights on", "Lights on."));
    let parts = turn.milestones.parts();
    assert_eq!(parts.total_us(), turn.milestones.total_us());
    // Speculated after 160 ms, transcribed 120 ms later, before the endpoint: the transcript costs nothing. The
    // clause is there at once, its sound 90 ms later; 20 ms of device and 10 of silence.
    assert_eq!(parts.endpoint_us, 352_000);
    assert_eq!((parts.stt_us, parts.route_us, parts.clause_us, parts.tts_us), (0, 0, 0, 90_000));
    assert!((30_000..30_200).contains(&parts.device_us), "{parts:?}");
}

#[test]
fn a_slow_transcript_is_waited_for_and_a_turn_is_deterministic() {
    let scene = || Scene { stt_us: 900_000, ..Scene::default() };
    let report = run(&scene());
    let milestones = report.finished[0].milestones;
    // The command is known only now; the patience of free speech has ended before.
    assert_eq!(milestones.parts().endpoint_us, 704_000);
    assert_eq!(milestones.parts().stt_us, 1_440_000 + 900_000 - (1_280_000 + 704_000));
    assert_eq!(milestones.parts().route_us, 50);
    assert_eq!(report, run(&scene()));
}

#[test]
fn the_first_clause_sounds_while_the_rest_is_written() {
    let report = run(&Scene { heard: vec!["What time is it?"], ..Scene::default() });
    let turn = &report.finished[0];
    assert_eq!(turn.reply, Scene::default().reply);
    assert_eq!(turn.milestones.parts().endpoint_us, 416_000);
    // The first clause is six words: 300 + 5 · 20 ms.
    assert_eq!(turn.milestones.parts().clause_us, 400_000);
    let played = at(&report, |action| matches!(action, Action::Play { chunk: 0, .. }));
    let second = at(&report, |action| matches!(action, Action::Speak { chunk: 1, .. }));
    assert!(second < played + 300_000);
}

#[test]
fn speech_that_goes_on_voids_the_first_transcript() {
    let scene =
        Scene { heard: vec!["lights", "lights on"], spoken: vec![(320, 800), (1100, 1500)], ..Scene::default() };
    let report = run(&scene);
    assert!(report.actions.iter().any(|(_, action)| matches!(action, Action::Abandon { job: 1 })));
    assert_eq!((report.finished.len(), report.finished[0].text.as_str()), (1, "lights on"));
}

#[test]
fn nobody_speaks_and_noise_is_nothing() {
    let nobody = run(&Scene { spoken: vec![], ..Scene::default() });
    assert!(matches!(nobody.finished[0].outcome, Outcome::Nothing(_)));
    let noise = run(&Scene { heard: vec!["[BLANK_AUDIO]"], ..Scene::default() });
    assert!(matches!(noise.finished[0].outcome, Outcome::Nothing(_)));
    let silent = run(&Scene { heard: vec!["be quiet"], ..Scene::default() });
    assert_eq!(silent.finished[0].outcome, Outcome::Silent);
}

#[test]
fn the_wake_word_interrupts_and_the_reply_is_cut_to_what_was_heard() {
    let scene = Scene {
        heard: vec!["What time is it?", "lights on"],
        spoken: vec![(320, 1280), (4400, 5200)],
        wakes: vec![Wake { at_us: 300_000, word_end_us: 250_000 }, Wake { at_us: 4_300_000, word_end_us: 4_250_000 }],
        ..Scene::default()
    };
    let report = run(&scene);
    let outcomes: Vec<Outcome> = report.finished.iter().map(|turn| turn.outcome).collect();
    assert_eq!(outcomes, [Outcome::Interrupted, Outcome::Answered], "{:#?}", report.actions);
    let heard = &report.finished[0].reply;
    assert!(Scene::default().reply.starts_with(heard.as_str()) && heard.len() > 5, "{heard:?}");
    assert!(heard.len() < Scene::default().reply.len());
    assert!(report.actions.iter().any(|(_, action)| matches!(action, Action::Cut { heard: cut, .. } if cut == heard)));
}

#[test]
fn a_phantom_wake_word_is_recovered_within_two_seconds_at_the_cut_point() {
    let scene = Scene {
        heard: vec!["What time is it?"],
        wakes: vec![Wake { at_us: 300_000, word_end_us: 250_000 }, Wake { at_us: 4_000_000, word_end_us: 3_950_000 }],
        ..Scene::default()
    };
    let report = run(&scene);
    let stopped = at(&report, |action| matches!(action, Action::Stop { .. }));
    let (resumed, from) = report
        .actions
        .iter()
        .find_map(|(at_us, action)| match action {
            Action::Resume { from, .. } => Some((*at_us, *from)),
            _ => None,
        })
        .unwrap();
    assert_eq!(stopped, 4_000_000);
    assert!(resumed - stopped <= 2_000_000 && resumed - stopped > 1_900_000, "{}", resumed - stopped);
    let first = at(&report, |action| matches!(action, Action::Play { chunk: 0, .. })) + 20_000;
    assert_eq!(from, (stopped - first) * 16 / 1000);
    assert_eq!((report.finished.len(), report.finished[0].reply.as_str()), (1, Scene::default().reply));
}

#[test]
fn someone_who_goes_on_before_the_answer_sounds_is_heard_as_one_utterance() {
    let scene = Scene {
        heard: vec!["What time is it.", "What time is it.", "in Lima?"],
        spoken: vec![(320, 1280), (1760, 2400)],
        ..Scene::default()
    };
    let report = run(&scene);
    let asked: Vec<&str> = report
        .actions
        .iter()
        .filter_map(|(_, action)| match action {
            Action::Respond { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(asked.len(), 2, "{:#?}", report.actions);
    assert!(asked[1].starts_with("What time is it. "), "{asked:?}");
}

#[test]
fn a_phantom_voice_before_the_answer_only_holds_it() {
    let scene = Scene {
        heard: vec!["What time is it.", "Thank you."],
        spoken: vec![(320, 1280), (1760, 2100)],
        ..Scene::default()
    };
    let report = run(&scene);
    assert_eq!((report.finished.len(), report.finished[0].outcome), (1, Outcome::Answered));
    assert_eq!(report.finished[0].reply, Scene::default().reply);
    let played = at(&report, |action| matches!(action, Action::Play { .. }));
    assert!(played - 2_100_000 <= 2_000_000, "{played}");
}

#[test]
fn after_a_question_the_microphone_stays_open_for_twelve_seconds() {
    let scene = Scene { heard: vec!["Delete it."], manner: Manner::Asking, reply: "Really?", ..Scene::default() };
    let report = run(&scene);
    assert_eq!(report.finished.len(), 2, "{:#?}", report.finished);
    assert!(matches!(report.finished[1].outcome, Outcome::Nothing(_)));
    let ends: Vec<u64> = report
        .actions
        .iter()
        .filter(|(_, action)| matches!(action, Action::Finished(_)))
        .map(|(at_us, _)| *at_us)
        .collect();
    assert!((12_000_000..12_100_000).contains(&(ends[1] - ends[0])), "{ends:?}");
}

#[test]
fn real_time_gives_the_same_answer_and_its_parts_sum() {
    let scene = Scene { spoken: vec![(64, 320)], reply: "Noon.", ..Scene::default() };
    let activity = ScriptedActivity::spans(&scene.spoken);
    let work = RealWork::new(components(&scene));
    let wakes = [Wake { at_us: 32_000, word_end_us: 0 }];
    let report = Driver::new(
        DriveOptions { turn: TurnOptions::default(), ..DriveOptions::default() },
        Box::new(work),
        Box::new(activity),
    )
    .run(&vec![0.0; 16_000], &wakes, 10_000_000);
    let turn = &report.finished[0];
    assert_eq!((turn.outcome, turn.text.as_str()), (Outcome::Answered, "lights on"));
    assert_eq!(turn.milestones.parts().total_us(), turn.milestones.total_us());
}
