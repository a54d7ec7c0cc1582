//! Both heads on one stream of sound.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::time::Instant;

use jiff::Span;
use jiff::civil::DateTime;
use tenpass_audio::{Audio, SPEECH_RATE};
use tenpass_wake::{Detector, DetectorConfig, EMBEDDING, EmbeddingModel, HOP, Head, Output, Vad, Verifier, WakeError};

use super::log::{
    By, Exposure, HeadId, Is, Label, Line, Probe, Recording, Rule, SHADOW_FORMAT, Scored, Session, ShadowEvent,
    ShadowLog, read_shadow,
};
use super::pairing::{FRAME_S, FrameScores, Paired, Pairing};
use crate::records::{RecordError, digest, digest_file};

/// Samples of the WAV beside an event: four seconds.
const KEPT: usize = 4 * SPEECH_RATE as usize;
/// What follows an event is looked at for so long.
const FOLLOW: usize = 6 * SPEECH_RATE as usize;
/// A hop that is nowhere louder than this is silence: −60 dB of full scale.
const SILENT: f32 = 0.001;
/// After three seconds of silence nothing is scored any more.
const SILENT_HOPS: u32 = 38;
/// How near a label or a probe must be to an event, in seconds.
const NEAR_S: f64 = 3.0;

/// What to listen with.
pub struct ShadowSetup<'a> {
    /// The embedding model.
    pub model: &'a EmbeddingModel,
    /// The head in service.
    pub champion: &'a Path,
    /// The candidate.
    pub candidate: &'a Path,
    /// What the two are called in the log, the one in service first.
    pub names: [String; 2],
    /// Events need speech.
    pub vad: Option<Vad>,
    /// Events need the speaker.
    pub verifier: Option<Verifier>,
    /// What makes an event of scores.
    pub detector: DetectorConfig,
    /// The threshold of each head, the one in service first, where it has one of its own.
    pub thresholds: [Option<f32>; 2],
    /// How the candidate is judged.
    pub rule: Rule,
}

/// Why listening failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShadowError {
    /// A head, a model or a setting.
    #[error(transparent)]
    Wake(#[from] WakeError),
    /// The log.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Sound.
    #[error(transparent)]
    Audio(#[from] tenpass_audio::AudioError),
    /// A recorded day.
    #[error("{0}")]
    Day(String),
}

impl ShadowError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Wake(_) => None,
            Self::Record(error) => Some(error.hint().to_owned()),
            Self::Audio(error) => Some(error.hint().to_owned()),
            Self::Day(_) => {
                Some("recorded days are named 2026-11-30.wav or 2026-11-30T080000.flac, notes beside them .json".into())
            }
        }
    }
}

/// Says what followed an event: a valid command (`true`), nothing (`false`), or something else.
pub type Follow<'a> = Box<dyn FnMut(&Audio) -> Option<bool> + 'a>;

/// What one call has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Found {
    /// Events logged.
    pub events: u64,
    /// Those on which the two heads disagree about waking.
    pub discordant: u64,
}

/// Scores sound and writes the log.
pub struct Listener<'a> {
    detector: Detector,
    log: ShadowLog,
    /// SHA-256 of the recordings that were listened to.
    recordings: BTreeSet<String>,
    pairing: Pairing,
    configuration: String,
    candidate_us: f64,
    follow: Option<Follow<'a>>,
    start: DateTime,
    /// Frames since `start`, scored or not.
    frames: u64,
    playback: Vec<(f64, f64)>,
    hop: Vec<f32>,
    ring: VecDeque<f32>,
    quiet: u32,
    /// Events whose sequel is collected.
    following: Vec<(String, Vec<f32>)>,
    exposure: BTreeMap<String, Exposure>,
    /// Times and ids of the events since `start`.
    events: Vec<(f64, String, bool, bool)>,
    found: Found,
}

impl<'a> Listener<'a> {
    /// Opens the log and writes the session's line.
    pub fn new(
        setup: ShadowSetup<'_>,
        folder: &Path,
        start: DateTime,
        follow: Option<Follow<'a>>,
    ) -> Result<Self, ShadowError> {
        let candidate_us = time_of(&Head::load(setup.candidate)?);
        let verifier = setup.verifier.as_ref().map(|verifier| format!("{:?}", verifier.file()));
        let configuration = format!("{:?} {:?} {} {verifier:?}", setup.detector, setup.thresholds, setup.vad.is_some());
        let configuration = digest(configuration.as_bytes());
        let (names, rule) = (setup.names.clone(), setup.rule);
        let [champion, candidate] = names;
        let champion = HeadId { name: champion, sha256: digest_file(setup.champion)? };
        let candidate = HeadId { name: candidate, sha256: digest_file(setup.candidate)? };
        let detector = detector_of(setup)?;
        let recordings = read_shadow(folder)?.into_iter().filter_map(|line| match line {
            Line::Recording(recording) => Some(recording.sha256),
            _ => None,
        });
        let recordings = recordings.collect();
        let mut log = ShadowLog::open(folder)?;
        log.append(&Line::Session(Session {
            format: SHADOW_FORMAT,
            at: start,
            champion,
            candidate,
            configuration: configuration.clone(),
            rule,
        }))?;
        Ok(Self {
            detector,
            log,
            recordings,
            pairing: Pairing::new(),
            configuration,
            candidate_us,
            follow,
            start,
            frames: 0,
            playback: Vec::new(),
            hop: Vec::with_capacity(HOP),
            ring: VecDeque::with_capacity(KEPT + HOP),
            quiet: 0,
            following: Vec::new(),
            exposure: BTreeMap::new(),
            events: Vec::new(),
            found: Found::default(),
        })
    }

    /// A new stretch of sound begins at this local time; `playback` says when the agent spoke in it, in seconds.
    pub fn begin(&mut self, start: DateTime, playback: Vec<(f64, f64)>) {
        self.detector.reset();
        self.pairing = Pairing::new();
        (self.start, self.frames, self.quiet) = (start, 0, 0);
        self.playback = playback;
        self.hop.clear();
        self.ring.clear();
        self.events.clear();
    }

    /// Whether this recording counts already.
    pub(super) fn knows(&self, sha256: &str) -> bool {
        self.recordings.contains(sha256)
    }

    /// From now on it does. What it adds is written after this line: after a crash in between it counts for nothing,
    /// never twice.
    pub(super) fn counted(&mut self, sha256: String) -> Result<(), ShadowError> {
        self.log.append(&Line::Recording(Recording { at: self.start, sha256: sha256.clone() }))?;
        self.recordings.insert(sha256);
        Ok(())
    }

    /// Sound at 16 kHz, however cut.
    pub fn push(&mut self, samples: &[f32]) -> Result<(), ShadowError> {
        let mut rest = samples;
        while !rest.is_empty() {
            let (now, later) = rest.split_at((HOP - self.hop.len()).min(rest.len()));
            self.hop.extend_from_slice(now);
            rest = later;
            if self.hop.len() == HOP {
                let hop = std::mem::take(&mut self.hop);
                self.hop_of(&hop)?;
                self.hop = hop;
                self.hop.clear();
            }
        }
        Ok(())
    }

    /// The stretch is over, though the microphone was on for `clock_s` in all: what was not recorded was silence.
    /// What the exposure was is written; what was found so far comes back.
    pub fn end(&mut self, clock_s: Option<f64>) -> Result<Found, ShadowError> {
        if let Some(paired) = self.pairing.finish() {
            self.event(&paired)?;
        }
        for (id, sound) in std::mem::take(&mut self.following) {
            self.followed(id, sound)?;
        }
        let heard_s = self.frames as f64 * FRAME_S;
        if let Some(silent_s) = clock_s.map(|clock_s| clock_s - heard_s).filter(|silent_s| *silent_s > 0.0) {
            self.exposed(heard_s).clock_s += silent_s;
        }
        self.flush()?;
        Ok(self.found)
    }

    /// Writes how long was listened since the last time.
    pub fn flush(&mut self) -> Result<(), ShadowError> {
        for (_, part) in std::mem::take(&mut self.exposure) {
            self.log.append(&Line::Exposure(part))?;
        }
        Ok(())
    }

    /// A person says what sounded at this time of the stretch. False when there was no event.
    pub fn label(&mut self, at_s: f64, is: Is) -> Result<bool, ShadowError> {
        let near = self.events.iter().filter(|event| (event.0 - at_s).abs() <= NEAR_S);
        let Some((_, event, ..)) = near.min_by(|a, b| (a.0 - at_s).abs().total_cmp(&(b.0 - at_s).abs())) else {
            return Ok(false);
        };
        self.log.append(&Line::Label(Label { event: event.clone(), by: By::Human, is }))?;
        Ok(true)
    }

    /// The person was asked at this time of the stretch to say the wake word. Whether each head heard it.
    pub fn probe(&mut self, at_s: f64) -> Result<(bool, bool), ShadowError> {
        let near = |event: &&(f64, String, bool, bool)| (0.0..=NEAR_S).contains(&(event.0 - at_s));
        let heard = |which: fn(&(f64, String, bool, bool)) -> bool| self.events.iter().filter(near).any(which);
        let (champion, candidate) = (heard(|event| event.2), heard(|event| event.3));
        let at = later(self.start, at_s);
        self.log.append(&Line::Probe(Probe { at, champion, candidate }))?;
        Ok((champion, candidate))
    }

    fn exposed(&mut self, at_s: f64) -> &mut Exposure {
        let day = later(self.start, at_s).date().to_string();
        self.exposure.entry(day.clone()).or_insert_with(|| Exposure { day, ..Exposure::default() })
    }

    fn hop_of(&mut self, hop: &[f32]) -> Result<(), ShadowError> {
        let excess = (self.ring.len() + hop.len()).saturating_sub(KEPT);
        self.ring.drain(..excess);
        self.ring.extend(hop);
        let silent = hop.iter().all(|sample| sample.abs() < SILENT);
        self.quiet = if silent { self.quiet.saturating_add(1) } else { 0 };
        let frame = self.frames;
        self.frames += 1;
        let at_s = frame as f64 * FRAME_S;
        let playback = self.playback.iter().any(|(from, to)| (*from..*to).contains(&at_s));
        let mut scores = FrameScores { playback, ..FrameScores::default() };
        let scored = self.quiet < SILENT_HOPS;
        if scored {
            self.detector.push(hop, &mut |output| match output {
                Output::Frame(found) => {
                    let score = |head: usize| found.scores.get(head).copied().flatten().unwrap_or(0.0);
                    (scores.champion, scores.candidate) = (score(0), score(1));
                    scores.vad = found.speech.unwrap_or(0.0);
                }
                Output::Fired(event) => {
                    scores.verifier = event.verified.or(scores.verifier);
                    if event.head == 0 {
                        scores.champion_fired = true;
                    } else {
                        scores.candidate_fired = true;
                    }
                }
                Output::Rejected(event) => scores.verifier = event.verified.or(scores.verifier),
                Output::Ended(_) => {}
            });
        }
        let candidate_us = self.candidate_us;
        let part = self.exposed(at_s);
        part.clock_s += FRAME_S;
        part.playback_s += if playback { FRAME_S } else { 0.0 };
        part.speech_s += if scores.vad >= 0.5 { FRAME_S } else { 0.0 };
        if scored {
            part.frames += 1;
            part.candidate_us += candidate_us;
        }
        if let Some(paired) = self.pairing.push(frame, &scores) {
            self.event(&paired)?;
        }
        self.collect(hop)
    }

    fn event(&mut self, paired: &Paired) -> Result<(), ShadowError> {
        let at_s = paired.first as f64 * FRAME_S;
        let at = later(self.start, at_s);
        let id = at.strftime("%Y%m%dT%H%M%S-%3f").to_string();
        let since = |fired: Option<u64>| fired.map(|fired| (fired - paired.first) as f64 * FRAME_S);
        let event = ShadowEvent {
            id: id.clone(),
            at,
            champion: Scored { peak: paired.champion, fired_s: since(paired.champion_fired) },
            candidate: Scored { peak: paired.candidate, fired_s: since(paired.candidate_fired) },
            verifier: paired.verifier,
            vad: paired.vad,
            playback: paired.playback,
            configuration: self.configuration.clone(),
            audio: None,
        };
        let sound = Audio::new(self.ring.iter().copied().collect(), SPEECH_RATE);
        self.log.event(event, &sound)?;
        let (champion, candidate) = (paired.champion_fired.is_some(), paired.candidate_fired.is_some());
        self.found.events += 1;
        self.found.discordant += u64::from(champion != candidate);
        self.events.push((at_s, id.clone(), champion, candidate));
        if self.follow.is_some() && (champion || candidate) {
            // What was said since the event is in the ring.
            let since = (self.frames - paired.last).min(u64::from(SPEECH_RATE)) as usize * HOP;
            let begun = self.ring.iter().skip(self.ring.len().saturating_sub(since)).copied().collect();
            self.following.push((id, begun));
        }
        Ok(())
    }

    /// The sequel of events; of those that are complete the label is written.
    fn collect(&mut self, hop: &[f32]) -> Result<(), ShadowError> {
        if self.following.is_empty() {
            return Ok(());
        }
        for (_, sound) in &mut self.following {
            sound.extend_from_slice(hop);
        }
        while self.following.first().is_some_and(|(_, sound)| sound.len() >= FOLLOW) {
            let (id, sound) = self.following.remove(0);
            self.followed(id, sound)?;
        }
        Ok(())
    }

    fn followed(&mut self, event: String, sound: Vec<f32>) -> Result<(), ShadowError> {
        let Some(follow) = &mut self.follow else { return Ok(()) };
        if let Some(command) = follow(&Audio::new(sound, SPEECH_RATE)) {
            let is = if command { Is::Wake } else { Is::Other };
            self.log.append(&Line::Label(Label { event, by: By::Weak, is }))?;
        }
        Ok(())
    }
}

/// Both heads behind one front end, the one in service first.
pub(super) fn detector_of(setup: ShadowSetup<'_>) -> Result<Detector, ShadowError> {
    let heads = vec![Head::load(setup.champion)?, Head::load(setup.candidate)?];
    let mut detector = with_thresholds(Detector::new(setup.model, heads, setup.detector)?, setup.thresholds)?;
    if let Some(vad) = setup.vad {
        detector = detector.with_vad(vad);
    }
    if let Some(verifier) = setup.verifier {
        detector = detector.with_verifier(0, verifier.clone()).with_verifier(1, verifier);
    }
    Ok(detector)
}

/// Gives heads their own thresholds; a head lets go at 0.6 of the threshold at which it fires.
pub fn with_thresholds(detector: Detector, thresholds: [Option<f32>; 2]) -> Result<Detector, WakeError> {
    let mut own = thresholds.into_iter().enumerate().filter_map(|(head, on)| Some((head, on?)));
    own.try_fold(detector, |detector, (head, on)| detector.with_thresholds(head, on, on * 0.6))
}

/// A local time so many seconds later; the time itself where the calendar ends.
pub(super) fn later(start: DateTime, seconds: f64) -> DateTime {
    let milliseconds = (seconds * 1000.0).round().clamp(0.0, 1e14) as i64;
    start.checked_add(Span::new().milliseconds(milliseconds)).unwrap_or(start)
}

/// Time of one score of this head, in microseconds: the median of some.
fn time_of(head: &Head) -> f64 {
    let window = vec![[0.1_f32; EMBEDDING]; head.frames()];
    let mut times: Vec<f64> = (0..51)
        .map(|_| {
            let begin = Instant::now();
            std::hint::black_box(head.score(std::hint::black_box(&window)));
            begin.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    times[25]
}
