//! Recorded days: sound files with their dates, to be listened to faster than they went by.
//!
//! A file is named by the local time at which it begins, `2026-11-30.wav` or `2026-11-30T080000.flac`. Notes may
//! stand beside it, `2026-11-30T080000.json`: when the agent spoke, when the wake word was asked for, what a person
//! heard, and how long the microphone was on if the recorder left silence out.

use std::path::{Path, PathBuf};

use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};
use tenpass_audio::{Resampler, SPEECH_RATE, WavReader};

use super::listen::{Found, Listener, ShadowError};
use super::log::Is;
use crate::records::digest_file;

/// Largest file of notes.
const MOST_NOTES: u64 = 4 * 1024 * 1024;

/// What a person heard.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeardAt {
    /// When, in seconds after the file's begin.
    pub at_s: f64,
    /// What.
    pub is: Is,
}

/// The notes beside a recording.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Notes {
    /// How long the microphone was on, in seconds; absent when everything was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_s: Option<f64>,
    /// When the agent spoke: begin and end in seconds.
    pub playback: Vec<(f64, f64)>,
    /// When the person was asked to say the wake word, in seconds.
    pub probes: Vec<f64>,
    /// What a person heard.
    pub heard: Vec<HeardAt>,
}

/// A recording.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedDay {
    /// The sound.
    pub file: PathBuf,
    /// When it begins, local time.
    pub start: DateTime,
    /// Its notes.
    pub notes: Notes,
}

/// The recordings of a folder in the order of their times, or the one that is named.
pub fn recorded_days(path: &Path) -> Result<Vec<RecordedDay>, ShadowError> {
    let wrong = |problem: String| ShadowError::Day(format!("{}: {problem}", path.display()));
    if path.is_file() {
        return Ok(vec![recorded(path.to_owned())?]);
    }
    let entries = std::fs::read_dir(path).map_err(|error| wrong(error.to_string()))?;
    let is_sound = |file: &PathBuf| {
        let extension = file.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        extension.is_some_and(|extension| extension == "wav" || extension == "flac")
    };
    let files = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).filter(is_sound);
    let mut days: Vec<RecordedDay> = files.map(recorded).collect::<Result<_, _>>()?;
    if days.is_empty() {
        return Err(wrong("there is no recording".to_owned()));
    }
    days.sort_by(|a, b| a.start.cmp(&b.start).then_with(|| a.file.cmp(&b.file)));
    Ok(days)
}

fn recorded(file: PathBuf) -> Result<RecordedDay, ShadowError> {
    let stem = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let start = start_of(&stem)
        .ok_or_else(|| ShadowError::Day(format!("{}: its name does not begin with its date", file.display())))?;
    let beside = file.with_extension("json");
    let notes = if beside.is_file() { read_notes(&beside)? } else { Notes::default() };
    Ok(RecordedDay { file, start, notes })
}

/// `2026-11-30`, `2026-11-30T080000`, and either with more behind it.
fn start_of(stem: &str) -> Option<DateTime> {
    let date: jiff::civil::Date = stem.get(..10)?.parse().ok()?;
    let time: String = stem.get(10..)?.chars().filter(char::is_ascii_digit).take(6).collect();
    let part = |from: usize| time.get(from..from + 2).and_then(|part| part.parse::<i8>().ok());
    let time = match (part(0), part(2), part(4)) {
        (Some(hour), Some(minute), Some(second)) => jiff::civil::Time::new(hour, minute, second, 0).ok()?,
        _ => jiff::civil::Time::midnight(),
    };
    Some(date.to_datetime(time))
}

fn read_notes(path: &Path) -> Result<Notes, ShadowError> {
    let wrong = |problem: String| ShadowError::Day(format!("{}: {problem}", path.display()));
    let size = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?.len();
    if size > MOST_NOTES {
        return Err(wrong(format!("{size} bytes are too many for notes")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))
}

impl Listener<'_> {
    /// Listens to a recording as fast as it can be computed, and says what was found in all. `None` when it was listened
    /// to before: the same hours count once.
    pub fn play(&mut self, day: &RecordedDay) -> Result<Option<Found>, ShadowError> {
        let sha256 = digest_file(&day.file)?;
        if self.knows(&sha256) {
            return Ok(None);
        }
        let mut reader = WavReader::open(&day.file)?;
        let rate = reader.rate();
        let mut resampler = Resampler::new(rate, SPEECH_RATE);
        let (mut block, mut sound) = (Vec::new(), Vec::new());
        self.begin(day.start, day.notes.playback.clone());
        while reader.next_block(&mut block)? {
            sound.clear();
            resampler.push(&block, &mut sound);
            self.push(&sound)?;
        }
        sound.clear();
        resampler.finish(&mut sound);
        self.push(&sound)?;
        self.counted(sha256)?;
        let found = self.end(day.notes.clock_s)?;
        for heard in &day.notes.heard {
            self.label(heard.at_s, heard.is)?;
        }
        for at_s in &day.notes.probes {
            self.probe(*at_s)?;
        }
        Ok(Some(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_when() {
        let start = |stem| start_of(stem).map(|at| at.to_string());
        assert_eq!(start("2026-11-30").as_deref(), Some("2026-11-30T00:00:00"));
        assert_eq!(start("2026-11-30T080510").as_deref(), Some("2026-11-30T08:05:10"));
        assert_eq!(start("2026-11-30_08-05-10-kitchen").as_deref(), Some("2026-11-30T08:05:10"));
        for wrong in ["kitchen", "2026-13-30", "2026-11-30T996060"] {
            assert_eq!(start(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn notes_are_read_and_mistakes_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(recorded_days(folder.path()).unwrap_err().to_string().contains("no recording"));
        for name in ["2026-11-30.wav", "2026-11-29T120000.flac", "notes.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::write(folder.path().join("2026-11-30.json"), r#"{"clock_s":3600,"heard":[{"at_s":1.5,"is":"wake"}]}"#)
            .unwrap();
        let days = recorded_days(folder.path()).unwrap();
        assert_eq!(days.len(), 2);
        assert_eq!((days[1].notes.clock_s, days[1].notes.heard[0].is), (Some(3600.0), Is::Wake));
        std::fs::write(folder.path().join("2026-11-30.json"), r#"{"clock":1}"#).unwrap();
        assert!(recorded_days(folder.path()).unwrap_err().to_string().contains("2026-11-30.json: unknown field"));
    }
}
