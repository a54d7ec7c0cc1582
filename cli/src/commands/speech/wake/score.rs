//! `tenpass wake score`.

use std::path::Path;

use serde::Serialize;
use tenpass_frame::Kind;
use tenpass_wake::{Detector, HOP, Head, Output, dither};

use super::super::super::table::{self, Columns, table};
use super::super::source;
use super::setup;
use crate::args::speech::wake::Score;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Frames of quiet behind a file: a word at its very end is scored, too.
const TAIL_FRAMES: usize = 12;
const FRAME_S: f64 = tenpass_wake::FRAME_S;

/// One head on one file.
#[derive(Debug, Serialize)]
struct Row {
    file: String,
    head: String,
    seconds: f64,
    /// Highest score of a frame, and where that frame ends.
    peak: f64,
    peak_s: f64,
    events: u64,
    /// When each fired.
    event_s: String,
}

const COLUMNS: &Columns = &[
    ("file", Kind::Text),
    ("head", Kind::Text),
    ("seconds", Kind::Float),
    ("peak", Kind::Float),
    ("peak_s", Kind::Float),
    ("events", Kind::Int),
    ("event_s", Kind::Text),
];

/// Carries out the command.
pub(super) fn run(context: &Context, command: &Score) -> Result<Exit, Failure> {
    let setup::Listening { mut detector, heads } = setup::detector(context, &command.detector)?;
    for head in heads.iter().filter(|_| command.detector.heads.is_empty()) {
        context.printer.note(&format!("scored by {}, threshold {}", head.told(), head.threshold_told()));
    }
    let mut rows = Vec::new();
    for path in &command.files {
        rows.extend(score(context, &mut detector, path)?);
    }
    table::show(context.printer, command.format.format, COLUMNS, &rows, || {
        let cells: Vec<Vec<String>> = rows.iter().map(Row::cells).collect();
        table(&["file", "head", "seconds", "peak", "at", "events", "fired at"], &cells, &[2, 3, 4, 5])
    })?;
    Ok(Exit::Yes)
}

/// A file on all heads. The stream starts cold: as much quiet as that takes comes first.
fn score(context: &Context, detector: &mut Detector, path: &Path) -> Result<Vec<Row>, Failure> {
    detector.reset();
    let cold = detector.heads().map(Head::frames).max().unwrap_or(0).max(tenpass_wake::WINDOW_FRAMES) + 1;
    let offset_s = cold as f64 * FRAME_S;
    let mut found: Vec<Found> = detector.heads().map(|_| Found::default()).collect();
    let mut hear = |detector: &mut Detector, samples: &[f32]| {
        detector.push(samples, &mut |output| match output {
            Output::Frame(frame) => {
                for (found, score) in found.iter_mut().zip(frame.scores) {
                    found.frame(*score, (frame.time_s - offset_s).max(0.0));
                }
            }
            Output::Fired(event) => found[event.head].events.push((event.time_s - offset_s).max(0.0)),
            _ => {}
        });
    };
    hear(detector, &dither(cold * HOP));
    source::file(context, path, &mut |samples| {
        hear(detector, samples);
        Ok(true)
    })?;
    let seconds = detector.seconds() - offset_s;
    hear(detector, &dither(TAIL_FRAMES * HOP));
    let names = detector.heads().map(|head| head.name().to_owned());
    Ok(names.zip(found).map(|(head, found)| found.row(path, head, seconds)).collect())
}

#[derive(Default)]
struct Found {
    peak: f32,
    peak_s: f64,
    events: Vec<f64>,
}

impl Found {
    fn frame(&mut self, score: Option<f32>, time_s: f64) {
        if let Some(score) = score.filter(|score| *score > self.peak) {
            (self.peak, self.peak_s) = (score, time_s);
        }
    }

    fn row(self, path: &Path, head: String, seconds: f64) -> Row {
        let times: Vec<String> = self.events.iter().map(|time_s| format!("{time_s:.2}")).collect();
        let rounded = |value: f64, places: i32| (value * 10f64.powi(places)).round() / 10f64.powi(places);
        Row {
            file: path.display().to_string(),
            head,
            seconds: rounded(seconds, 3),
            peak: rounded(f64::from(self.peak), 6),
            peak_s: rounded(self.peak_s, 3),
            events: self.events.len() as u64,
            event_s: times.join(" "),
        }
    }
}

impl Row {
    fn cells(&self) -> Vec<String> {
        vec![
            self.file.clone(),
            self.head.clone(),
            format!("{:.2}", self.seconds),
            format!("{:.4}", self.peak),
            format!("{:.2}", self.peak_s),
            self.events.to_string(),
            self.event_s.clone(),
        ]
    }
}
