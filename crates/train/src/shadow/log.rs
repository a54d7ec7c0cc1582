//! What the shadow log holds, and writing and reading it.

use std::path::{Path, PathBuf};

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};
use tenpass_audio::Audio;

use crate::records::{Lines, RecordError, read_lines};

/// Version of the log's format.
pub const SHADOW_FORMAT: u32 = 1;

/// A line of `shadow.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Line {
    /// Listening began.
    Session(Session),
    /// Either head scored 0.2 or more.
    Event(ShadowEvent),
    /// So long was listened.
    Exposure(Exposure),
    /// Someone or something says what an event was.
    Label(Label),
    /// The person was asked to say the wake word.
    Probe(Probe),
    /// A recording was listened to, and does not count a second time.
    Recording(Recording),
}

/// A head by its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadId {
    /// Its file's name.
    pub name: String,
    /// SHA-256 of the file.
    pub sha256: String,
}

/// How the candidate is judged. It is chosen before anything is seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
pub enum Rule {
    /// Once, when so many days have passed.
    FixedHorizon {
        /// Days with the microphone on.
        days: u32,
    },
    /// At any time, by the e-value ∏(1 + λ·s) with λ = 0.5.
    EValue,
}

impl Default for Rule {
    fn default() -> Self {
        Self::FixedHorizon { days: 7 }
    }
}

/// The begin of listening.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Version of the format.
    pub format: u32,
    /// Local time, `2026-11-30T08:00:00`.
    pub at: DateTime,
    /// The head in service.
    pub champion: HeadId,
    /// The candidate.
    pub candidate: HeadId,
    /// Hash over everything that decides about events: thresholds, frames, verifier, feature model.
    pub configuration: String,
    /// How it is judged.
    pub rule: Rule,
}

/// What one head made of an event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// Its highest score.
    pub peak: f32,
    /// When it fired, in seconds after the event's begin; absent when it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fired_s: Option<f64>,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShadowEvent {
    /// Its name: the local time of its begin to the millisecond, `20261130T080003-240`.
    pub id: String,
    /// Local time of its begin.
    pub at: DateTime,
    /// The head in service.
    pub champion: Scored,
    /// The candidate.
    pub candidate: Scored,
    /// The speaker verifier's probability, where one is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<f32>,
    /// The highest probability of speech.
    pub vad: f32,
    /// Whether the agent spoke.
    pub playback: bool,
    /// The session's hash.
    pub configuration: String,
    /// The WAV beside the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio: Option<String>,
}

impl ShadowEvent {
    /// Its day, `2026-11-30`.
    pub fn day(&self) -> String {
        self.at.date().to_string()
    }
}

/// Time that was listened; lines of one day add up.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Exposure {
    /// The day, `2026-11-30`.
    pub day: String,
    /// Seconds on the clock.
    pub clock_s: f64,
    /// Seconds with speech.
    pub speech_s: f64,
    /// Seconds in which the agent spoke.
    pub playback_s: f64,
    /// Frames that both heads scored.
    pub frames: u64,
    /// Time of the candidate's head over these frames, in microseconds.
    pub candidate_us: f64,
}

/// Who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// A person.
    Human,
    /// What followed: a valid command, or nothing.
    Weak,
}

/// What an event was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Is {
    /// The user said the wake word.
    Wake,
    /// Someone else said it.
    OtherVoice,
    /// Something else.
    Other,
}

/// A label; of several by the same kind of judge the last one holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The event's id.
    pub event: String,
    /// Who says so.
    pub by: By,
    /// What it was.
    pub is: Is,
}

/// The person was asked to say the wake word: the only way to see misses of both heads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Local time.
    pub at: DateTime,
    /// Whether the head in service fired within three seconds.
    pub champion: bool,
    /// Whether the candidate did.
    pub candidate: bool,
}

/// A recording that was listened to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// Local time of its begin.
    pub at: DateTime,
    /// SHA-256 of the file.
    pub sha256: String,
}

/// Local time as seconds, for differences.
pub fn civil_s(at: DateTime) -> f64 {
    let days = at.date().since(jiff::civil::date(2000, 1, 1)).map_or(0, |span| span.get_days());
    let time = at.time();
    let seconds = i32::from(time.hour()) * 3600 + i32::from(time.minute()) * 60 + i32::from(time.second());
    f64::from(days) * 86_400.0 + f64::from(seconds) + f64::from(time.subsec_nanosecond()) / 1e9
}

/// Writes the log of one candidate.
#[derive(Debug)]
pub struct ShadowLog {
    folder: PathBuf,
    lines: Lines,
}

impl ShadowLog {
    /// Opens the log of a folder.
    pub fn open(folder: &Path) -> Result<Self, RecordError> {
        Ok(Self { folder: folder.to_owned(), lines: Lines::open(&folder.join("shadow.jsonl"))? })
    }

    /// Appends a line and flushes it.
    pub fn append(&mut self, line: &Line) -> Result<(), RecordError> {
        self.lines.append(line)
    }

    /// Appends an event, its sound first: a line never names a file that is not there.
    pub fn event(&mut self, mut event: ShadowEvent, sound: &Audio) -> Result<(), RecordError> {
        if !sound.samples.is_empty() {
            let name = format!("{}.wav", event.id);
            let path = self.folder.join(&name);
            tenpass_audio::write_wav(&path, sound)
                .map_err(|error| RecordError::file(&path, std::io::Error::other(error.to_string())))?;
            event.audio = Some(name);
        }
        self.lines.append(&Line::Event(event))
    }
}

/// Reads the log of a folder; empty when there is none.
pub fn read_shadow(folder: &Path) -> Result<Vec<Line>, RecordError> {
    let path = folder.join("shadow.jsonl");
    let lines: Vec<Line> = read_lines(&path)?;
    for (index, line) in lines.iter().enumerate() {
        if let Line::Session(session) = line
            && session.format > SHADOW_FORMAT
        {
            let problem = format!("format {} is newer than this program knows ({SHADOW_FORMAT})", session.format);
            return Err(RecordError::Line { path, line: index + 1, problem });
        }
    }
    Ok(lines)
}
