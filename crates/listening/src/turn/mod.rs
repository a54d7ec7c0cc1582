//! The latency bench of voice turns: recordings through the real pipeline.
//!
//! The origin is the last voiced sample, known from the corpus; the end is the first sample played that is not silent.
//! Parts are whole microseconds between the same milestones, so that they sum to the total. Closed commands
//! and turns of a model are counted apart.

mod summary;

use serde::{Deserialize, Serialize};
use tenpass_audio::{Audio, SPEECH_RATE};
use tenpass_speech::drive::{Components, DriveOptions, Driver, RealWork, VirtualWork, Wake, Work};
use tenpass_speech::turn::{Action, Finished, Outcome, TurnOptions};
use tenpass_speech::{PART_NAMES, VoiceActivity};

use crate::store::Pass;

pub use summary::{Goal, GoalState, TurnRow, goals, summarise_turns};

/// How time passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockKind {
    /// From event to event; engines cost what they took.
    Virtual,
    /// As on the wall.
    RealTime,
}

/// What kind of turn it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TurnKind {
    /// A closed command.
    Command,
    /// A turn of the model.
    Model,
    /// Nothing was answered.
    Nothing,
}

/// A measured turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnPass {
    /// The clip.
    pub clip: String,
    /// Its number, from 1.
    pub pass: u32,
    /// What was said, by the corpus.
    pub said: String,
    /// The intent, by the corpus.
    pub intent: String,
    /// What was heard.
    pub heard: String,
    /// The kind of turn that came of it.
    pub kind: TurnKind,
    /// The command that was carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// From the last voiced sample to the first one heard, in microseconds; absent when nothing was heard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_us: Option<u64>,
    /// The parts in the order of [`tenpass_speech::PART_NAMES`].
    pub parts_us: Vec<u64>,
    /// How long the transcription that counted took, in microseconds; most of it passes while the end is awaited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcribe_us: Option<u64>,
    /// The endpoint was found before the speaker had finished.
    pub cut_off: bool,
    /// What failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

impl TurnPass {
    /// The name of a clip's pass in its run.
    pub fn key_of(clip: &str, pass: u32) -> String {
        format!("{clip}#{pass}")
    }
}

impl Pass for TurnPass {
    fn key(&self) -> String {
        Self::key_of(&self.clip, self.pass)
    }
}

/// A clip with what the corpus knows of it.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnClip {
    /// Its name.
    pub name: String,
    /// The sound, at 16 kHz.
    pub sound: Audio,
    /// What is said.
    pub said: String,
    /// Its intent.
    pub intent: String,
    /// Where the wake word ends, in seconds; 0 for a clip without one.
    pub word_end_s: f64,
    /// The last voiced sample, in seconds.
    pub speech_end_s: f64,
}

/// What every turn is measured with.
pub struct TurnBench {
    /// The engines.
    pub components: Components,
    /// Numbers of the turn.
    pub turn: TurnOptions,
    /// From a sample given to the device until it sounds.
    pub device_latency_us: u64,
    /// How time passes.
    pub clock: ClockKind,
}

/// Longest turn.
const MOST_US: u64 = 90_000_000;

impl TurnBench {
    /// Plays a clip once; the voice activity detector is a fresh one.
    pub fn pass(&self, clip: &TurnClip, pass: u32, activity: Box<dyn VoiceActivity>) -> TurnPass {
        let options = DriveOptions {
            turn: self.turn,
            device_rate: self.components.mouth.rate(),
            device_latency_us: self.device_latency_us,
            ..DriveOptions::default()
        };
        let work: Box<dyn Work> = match self.clock {
            ClockKind::Virtual => Box::new(VirtualWork::new(self.components.clone())),
            ClockKind::RealTime => Box::new(RealWork::new(self.components.clone())),
        };
        let word_end_us = (clip.word_end_s * 1e6).round() as u64;
        let wake = Wake { at_us: word_end_us, word_end_us };
        let report = Driver::new(options, work, activity).run(&clip.sound.samples, &[wake], MOST_US);
        let took_us = report.finished.first().and_then(|turn| transcribed_in(&report.actions, turn));
        TurnPass { transcribe_us: took_us, ..measured(clip, pass, report.finished.first(), report.faults) }
    }
}

/// How long the transcription took whose text was answered.
fn transcribed_in(actions: &[(u64, Action)], turn: &Finished) -> Option<u64> {
    let done_us = turn.milestones.transcript_us;
    let wanted = actions.iter().find_map(|(at_us, action)| match action {
        Action::Route { job, .. } if *at_us == done_us => Some(*job),
        _ => None,
    })?;
    actions.iter().find_map(|(at_us, action)| match action {
        Action::Transcribe { job, .. } if *job == wanted => Some(done_us.saturating_sub(*at_us)),
        _ => None,
    })
}

/// From the end of a turn to its numbers.
fn measured(clip: &TurnClip, pass: u32, finished: Option<&Finished>, faults: Vec<String>) -> TurnPass {
    let speech_end_us = (clip.speech_end_s * 1e6).round() as u64;
    let mut found = TurnPass {
        clip: clip.name.clone(),
        pass,
        said: clip.said.clone(),
        intent: clip.intent.clone(),
        heard: String::new(),
        kind: TurnKind::Nothing,
        command: None,
        total_us: None,
        parts_us: vec![0; PART_NAMES.len()],
        transcribe_us: None,
        cut_off: false,
        faults,
    };
    let Some(turn) = finished else { return found };
    found.heard.clone_from(&turn.text);
    found.command.clone_from(&turn.command);
    found.kind = match (&turn.outcome, &turn.command) {
        (Outcome::Nothing(_), _) => TurnKind::Nothing,
        (_, Some(_)) => TurnKind::Command,
        (_, None) => TurnKind::Model,
    };
    let mut milestones = turn.milestones;
    found.cut_off = milestones.endpoint_us > 0 && milestones.endpoint_us < speech_end_us;
    if milestones.heard_us > speech_end_us {
        milestones.speech_end_us = speech_end_us;
        let parts = milestones.parts();
        found.total_us = Some(milestones.total_us());
        found.parts_us = parts.each().to_vec();
    }
    found
}

/// A corpus clip as the bench plays it: at 16 kHz, with its end of speech measured where the corpus does not say it.
pub fn turn_clip(name: &str, sound: Audio, clip: &tenpass_corpus::Clip) -> TurnClip {
    let sound = sound.at_rate(SPEECH_RATE);
    let speech_end_s =
        clip.speech_end_s.or_else(|| tenpass_audio::speech_end_s(&sound)).unwrap_or_else(|| sound.seconds());
    TurnClip {
        name: name.to_owned(),
        sound,
        said: clip.text.clone(),
        intent: clip.intent.clone(),
        word_end_s: clip.word_end_s.unwrap_or(0.0),
        speech_end_s,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use tenpass_speech::ScriptedActivity;
    use tenpass_speech::drive::{ScriptedEars, ScriptedMouth, ScriptedResponder, Timed};
    use tenpass_speech::turn::{Manner, Route};

    fn bench(heard: &str) -> TurnBench {
        let router = |text: &str| {
            let command = Route::Command { id: "on".into(), reply: Some("Done.".into()) };
            Timed { value: if text == "lights on" { command } else { Route::Loop }, cost_us: Some(100) }
        };
        TurnBench {
            components: Components {
                ears: Arc::new(ScriptedEars::new(&[heard], 200_000)),
                mouth: Arc::new(ScriptedMouth { cost_us: 50_000, silence_ms: 0 }),
                router: Arc::new(router),
                responder: Arc::new(ScriptedResponder {
                    text: "It is noon.".into(),
                    first_us: 400_000,
                    word_us: 10_000,
                    manner: Manner::Reading,
                }),
            },
            turn: TurnOptions::default(),
            device_latency_us: 20_000,
            clock: ClockKind::Virtual,
        }
    }

    fn clip() -> TurnClip {
        TurnClip {
            name: "a.wav".into(),
            sound: Audio::silence(1.5, SPEECH_RATE),
            said: "lights on".into(),
            intent: "on".into(),
            word_end_s: 0.0,
            speech_end_s: 1.2,
        }
    }

    #[test]
    fn parts_count_from_the_corpus_and_sum_to_the_total() {
        let activity = || Box::new(ScriptedActivity::spans(&[(320, 1280)]));
        let found = bench("lights on").pass(&clip(), 1, activity());
        assert_eq!((found.kind, found.command.as_deref()), (TurnKind::Command, Some("on")));
        // The corpus says 1.2 s. The detector saw voice until 1.28 s; 160 ms later it was transcribed, for 200 ms: then it
        // was known to be a command, and 350 ms of silence had passed.
        assert_eq!(found.parts_us[0], 440_100);
        assert_eq!(found.total_us, Some(found.parts_us.iter().sum()));
        assert_eq!(found.transcribe_us, Some(200_000));
        let model = bench("what time is it?").pass(&clip(), 1, activity());
        assert_eq!(model.kind, TurnKind::Model);
        assert_eq!(model.total_us, Some(model.parts_us.iter().sum()));
        assert!(model.parts_us[3] >= 400_000);
        assert_eq!(model, bench("what time is it?").pass(&clip(), 1, activity()));
    }

    #[test]
    fn nothing_heard_is_nothing_measured() {
        let found = bench("").pass(&clip(), 2, Box::new(ScriptedActivity::default()));
        assert_eq!((found.kind, found.total_us, found.key().as_str()), (TurnKind::Nothing, None, "a.wav#2"));
    }
}
