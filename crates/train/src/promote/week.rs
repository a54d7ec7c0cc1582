//! Tests: a week of two heads in seconds, from streams of scores to a proposal.

use std::time::{Duration, Instant};

use jiff::civil::{DateTime, date};
use tenpass_audio::{Audio, Random};

use super::{Evidence, Golden, GoldenClip, Limits, Proposal, State, candidates_in_month};
use crate::shadow::{
    By, Exposure, FRAME_S, FrameScores, HeadId, Is, Label, Line, Paired, Pairing, Rule, SHADOW_FORMAT, Scored, Session,
    ShadowEvent, ShadowLog, read_shadow,
};

const FRAMES_A_DAY: u64 = 12 * 45_000;

/// What happens in a day, at frames of the day: scores of the head in service and of the candidate, and what it was.
fn plan(day: u64, random: &mut Random) -> Vec<(u64, f32, f32, Is)> {
    let mut at = |i: u64, of: u64| FRAMES_A_DAY * i / of + (random.unit() * 1000.0) as u64;
    let mut found: Vec<(u64, f32, f32, Is)> = (0..10).map(|i| (at(i, 10), 0.95, 0.9, Is::Wake)).collect();
    // One false wake a day that only the head in service has; noise that neither takes for the word.
    found.push((at(3, 17), 0.8, 0.3, Is::Other));
    found.extend((0..20).map(|i| (at(i, 20) + 5000, 0.25, 0.22, Is::Other)));
    if day == 2 {
        found.push((at(5, 17), 0.7, 0.4, Is::OtherVoice));
    }
    found.sort_by_key(|event| event.0);
    found
}

fn session(rule: Rule) -> Session {
    let head = |name: &str| HeadId { name: name.to_owned(), sha256: format!("{name}00") };
    Session {
        format: SHADOW_FORMAT,
        at: date(2026, 11, 23).at(8, 0, 0, 0),
        champion: head("old"),
        candidate: head("new"),
        configuration: "c".to_owned(),
        rule,
    }
}

fn event(begin: DateTime, paired: &Paired) -> ShadowEvent {
    let seconds = (paired.first as f64 * FRAME_S * 1000.0) as i64;
    let at = begin.checked_add(jiff::Span::new().milliseconds(seconds)).unwrap();
    let since = |fired: Option<u64>| fired.map(|fired| (fired - paired.first) as f64 * FRAME_S);
    ShadowEvent {
        id: at.strftime("%Y%m%dT%H%M%S-%3f").to_string(),
        at,
        champion: Scored { peak: paired.champion, fired_s: since(paired.champion_fired) },
        candidate: Scored { peak: paired.candidate, fired_s: since(paired.candidate_fired) },
        verifier: None,
        vad: paired.vad,
        playback: paired.playback,
        configuration: "c".to_owned(),
        audio: None,
    }
}

/// Seven days, frame by frame, into a log; what it says.
fn week(log: &mut ShadowLog, rule: Rule) {
    let mut random = Random::new(11);
    log.append(&Line::Session(session(rule))).unwrap();
    for day in 0..7_u64 {
        let begin = date(2026, 11, 23 + day as i8).at(8, 0, 0, 0);
        let plan = plan(day, &mut random);
        let mut pairing = Pairing::new();
        let mut events = Vec::new();
        let mut next = plan.iter().peekable();
        for frame in 0..FRAMES_A_DAY {
            let scores = match next.next_if(|planned| planned.0 <= frame) {
                Some((_, champion, candidate, _)) => FrameScores {
                    champion: *champion,
                    candidate: *candidate,
                    champion_fired: *champion >= 0.5,
                    candidate_fired: *candidate >= 0.5,
                    vad: 0.9,
                    ..FrameScores::default()
                },
                None => FrameScores::default(),
            };
            events.extend(pairing.push(frame, &scores));
        }
        events.extend(pairing.finish());
        assert_eq!(events.len(), plan.len());
        for (paired, planned) in events.iter().zip(&plan) {
            let event = event(begin, paired);
            let label = Label { event: event.id.clone(), by: By::Weak, is: planned.3 };
            log.event(event, &Audio::default()).unwrap();
            log.append(&Line::Label(label)).unwrap();
        }
        log.append(&Line::Exposure(Exposure {
            day: begin.date().to_string(),
            clock_s: FRAMES_A_DAY as f64 * FRAME_S,
            speech_s: 3.0 * 3600.0,
            playback_s: 600.0,
            frames: FRAMES_A_DAY,
            candidate_us: FRAMES_A_DAY as f64 * 50.0,
        }))
        .unwrap();
    }
}

#[test]
fn a_week_takes_seconds_and_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    let mut log = ShadowLog::open(&folder.path().join("new")).unwrap();
    week(&mut log, Rule::default());
    let lines = read_shadow(&folder.path().join("new")).unwrap();
    let mut evidence = Evidence::of(&lines);
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    assert_eq!((evidence.days, evidence.wakes.weak, evidence.wakes_both, evidence.wake_days), (7, 70, 70, 7));
    assert_eq!((evidence.discordant(), evidence.candidate_falses()), ((0, 7), 0));
    assert_eq!((evidence.other_voice, evidence.other_voice_champion, evidence.other_voice_candidate), (1, 1, 0));
    assert!((evidence.clock_h - 84.0).abs() < 1e-9 && (evidence.frame_us.unwrap() - 50.0).abs() < 1e-9);
    assert_eq!(Proposal::of(&evidence, &Limits::default()).state, State::NotYet);
    let clip =
        GoldenClip { file: "g.wav".into(), sha256: String::new(), own_voice: true, champion: true, candidate: true };
    evidence.golden = Some(Golden { clips: vec![clip] });
    evidence.overlap = Some(Vec::new());
    let proposal = Proposal::of(&evidence, &Limits::default());
    assert_eq!(proposal.state, State::Held, "{proposal:#?}");
}

#[test]
fn after_the_horizon_nothing_tips_it_but_self_triggers_count() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = ShadowLog::open(folder.path()).unwrap();
    week(&mut log, Rule::default());
    let horizon = Evidence::judged(&read_shadow(folder.path()).unwrap(), &Limits::default());
    assert_eq!((&horizon.judged_until, horizon.discordant()), (&None, (0, 7)));
    let begin = date(2026, 11, 30).at(8, 0, 0, 0);
    for second in 0..4 {
        let paired = Paired {
            first: second * 100,
            last: second * 100,
            champion: 0.1,
            candidate: 0.9,
            peak: second * 100,
            champion_fired: None,
            candidate_fired: Some(second * 100),
            verifier: None,
            vad: 0.9,
            playback: true,
        };
        let event = event(begin, &paired);
        log.append(&Line::Label(Label { event: event.id.clone(), by: By::Human, is: Is::Other })).unwrap();
        // Twice, as after a crash: it is one event.
        log.event(event.clone(), &Audio::default()).unwrap();
        log.event(event, &Audio::default()).unwrap();
    }
    log.append(&Line::Exposure(Exposure { day: "2026-11-30".into(), clock_s: 3600.0, ..Exposure::default() })).unwrap();
    let lines = read_shadow(folder.path()).unwrap();
    assert_eq!(Evidence::of(&lines).discordant(), (4, 7));
    let judged = Evidence::judged(&lines, &Limits::default());
    assert_eq!((judged.judged_until.as_deref(), judged.discordant()), (Some("2026-11-29"), (0, 7)));
    assert_eq!((judged.days, judged.self_triggers), (7, 4));
    // The rule that was chosen first stays: another one is another experiment.
    log.append(&Line::Session(session(Rule::EValue))).unwrap();
    assert_eq!(Evidence::of(&read_shadow(folder.path()).unwrap()).configurations, 2);
}

#[test]
fn a_person_is_believed_before_what_followed() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = ShadowLog::open(folder.path()).unwrap();
    week(&mut log, Rule::EValue);
    let before = Evidence::of(&read_shadow(folder.path()).unwrap());
    let lines = read_shadow(folder.path()).unwrap();
    let false_wake = lines
        .iter()
        .find_map(|line| match line {
            Line::Event(event) if event.champion.peak > 0.75 && event.candidate.peak < 0.35 => Some(event.id.clone()),
            _ => None,
        })
        .unwrap();
    for (by, is) in [(By::Human, Is::Wake), (By::Weak, Is::Other)] {
        log.append(&Line::Label(Label { event: false_wake.clone(), by, is })).unwrap();
    }
    let after = Evidence::of(&read_shadow(folder.path()).unwrap());
    assert_eq!((after.wakes_champion_only, after.wakes.human), (1, 1));
    assert_eq!(after.discordant().1, before.discordant().1 - 1);
    assert_eq!(after.rule, Rule::EValue);
}

#[test]
fn candidates_of_the_month_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        let mut log = ShadowLog::open(&folder.path().join(name)).unwrap();
        log.append(&Line::Session(session(Rule::EValue))).unwrap();
    }
    assert_eq!(candidates_in_month(folder.path(), date(2026, 11, 1)).unwrap(), 2);
    assert_eq!(candidates_in_month(folder.path(), date(2026, 12, 1)).unwrap(), 0);
    assert_eq!(candidates_in_month(&folder.path().join("none"), date(2026, 11, 1)).unwrap(), 0);
}
