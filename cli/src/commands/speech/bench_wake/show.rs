//! The tables and the curve of the wake bench.

use std::path::Path;

use serde::Serialize;
use tenpass_frame::Kind;
use tenpass_listening::wake::{HeadSummary, LIMITS_PER_HOUR, Sounds, Summary};
use tenpass_report::plot::{DetSeries, det};
use tenpass_train::wake::Part;

use crate::args::Format;
use crate::args::speech::bench_wake::BenchWake;
use crate::commands::table::{Columns, export, table};
use crate::context::Context;
use crate::failure::Failure;

/// One head as a flat row.
#[derive(Serialize)]
struct Row<'a> {
    head: &'a str,
    threshold: f32,
    chosen: String,
    words: usize,
    misses: usize,
    miss_rate: Option<f64>,
    miss_low: f64,
    miss_high: f64,
    false_wakes: usize,
    hours: f64,
    per_hour: f64,
    per_hour_low: f64,
    per_hour_high: f64,
    below_per_hour: f64,
    speech_hours: f64,
    per_speech_hour: f64,
    per_speech_hour_low: f64,
    per_speech_hour_high: f64,
    median_delay_ms: Option<f64>,
    misses_at_0_1: Option<f64>,
    misses_at_0_5: Option<f64>,
    misses_at_1: Option<f64>,
}

const COLUMNS: &Columns = &[
    ("head", Kind::Text),
    ("threshold", Kind::Float),
    ("chosen", Kind::Text),
    ("words", Kind::Int),
    ("misses", Kind::Int),
    ("miss_rate", Kind::Float),
    ("miss_low", Kind::Float),
    ("miss_high", Kind::Float),
    ("false_wakes", Kind::Int),
    ("hours", Kind::Float),
    ("per_hour", Kind::Float),
    ("per_hour_low", Kind::Float),
    ("per_hour_high", Kind::Float),
    ("below_per_hour", Kind::Float),
    ("speech_hours", Kind::Float),
    ("per_speech_hour", Kind::Float),
    ("per_speech_hour_low", Kind::Float),
    ("per_speech_hour_high", Kind::Float),
    ("median_delay_ms", Kind::Float),
    ("misses_at_0_1", Kind::Float),
    ("misses_at_0_5", Kind::Float),
    ("misses_at_1", Kind::Float),
];

impl<'a> Row<'a> {
    fn of(head: &'a HeadSummary) -> Self {
        let [misses_at_0_1, misses_at_0_5, misses_at_1] = head.misses_at;
        Self {
            head: &head.head,
            threshold: head.threshold,
            chosen: format!("{:?}", head.chosen).to_lowercase(),
            words: head.words,
            misses: head.misses,
            miss_rate: head.miss_rate,
            miss_low: head.miss_low,
            miss_high: head.miss_high,
            false_wakes: head.false_wakes,
            hours: head.hours,
            per_hour: head.per_hour,
            per_hour_low: head.per_hour_low,
            per_hour_high: head.per_hour_high,
            below_per_hour: head.below_per_hour,
            speech_hours: head.speech_hours,
            per_speech_hour: head.per_speech_hour,
            per_speech_hour_low: head.per_speech_hour_low,
            per_speech_hour_high: head.per_speech_hour_high,
            median_delay_ms: head.median_delay_ms,
            misses_at_0_1,
            misses_at_0_5,
            misses_at_1,
        }
    }
}

/// Prints a summary in the format that was asked for.
pub(super) fn print(context: &Context, command: &BenchWake, summary: &Summary, sounds: &Sounds) -> Result<(), Failure> {
    match command.format.format {
        Format::Json => context.printer.json(summary),
        Format::Table => {
            context.printer.out(&text(command, summary, sounds));
            Ok(())
        }
        format => {
            let rows: Vec<Row<'_>> = summary.heads.iter().map(Row::of).collect();
            export(context.printer, format, COLUMNS, &rows)
        }
    }
}

fn percent(rate: f64) -> String {
    format!("{:.1}", 100.0 * rate)
}

fn maybe(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), percent)
}

fn text(command: &BenchWake, summary: &Summary, sounds: &Sounds) -> String {
    let minutes = |part| sounds.seconds(part) / 60.0;
    let mut text = format!(
        "{} sounds: {:.1} min for development, {:.1} min for the test\n\n",
        sounds.sounds().len(),
        minutes(Part::Dev),
        minutes(Part::Test)
    );
    let rows: Vec<Vec<String>> = summary.heads.iter().map(cells).collect();
    let header =
        ["head", "threshold", "from", "missed", "%", "95 %", "false", "/h", "95 %", "/speech h", "95 %", "delay ms"];
    text.push_str(&table(&header, &rows, &[1, 3, 4, 5, 6, 7, 8, 9, 10, 11]));
    text.push_str("\nmissed % at so many false wakes an hour, thresholds taken from this very sound:\n");
    let limits: Vec<String> = LIMITS_PER_HOUR.iter().map(|limit| format!("{limit}/h")).collect();
    let header: Vec<&str> = std::iter::once("head").chain(limits.iter().map(String::as_str)).collect();
    let at = |head: &HeadSummary| {
        std::iter::once(head.head.clone()).chain(head.misses_at.iter().map(|value| maybe(*value))).collect()
    };
    let rows: Vec<Vec<String>> = summary.heads.iter().map(at).collect();
    text.push_str(&table(&header, &rows, &[1, 2, 3]));
    text.push('\n');
    for head in &summary.heads {
        text.push_str(&format!("{}: {}", head.head, head.proves));
        if !head.cannot_prove.is_empty() {
            text.push_str(&format!("; not proved: {}", head.cannot_prove));
        }
        text.push('\n');
        if let Some(near) = &head.near {
            text.push_str(&format!(
                "{}: {} of {} near misses woke it: {} % ({}–{}); counted apart\n",
                head.head,
                near.woke,
                near.said,
                percent(near.woke as f64 / near.said.max(1) as f64),
                percent(near.rate.0),
                percent(near.rate.1)
            ));
        }
    }
    for pair in &summary.differences {
        text.push_str(&format!(
            "{} against {}: {} words only the first hit, {} only the second, of {}; p = {:.4} (McNemar), {:+.1} to {:+.1} points\n",
            pair.second, pair.first, pair.only_first, pair.only_second, pair.words, pair.p, 100.0 * pair.low, 100.0 * pair.high
        ));
    }
    if command.curve {
        text.push('\n');
        text.push_str(&curves(summary));
    }
    text
}

fn cells(head: &HeadSummary) -> Vec<String> {
    vec![
        head.head.clone(),
        format!("{:.3}", head.threshold),
        format!("{:?}", head.chosen).to_lowercase(),
        format!("{}/{}", head.misses, head.words),
        maybe(head.miss_rate),
        format!("{}–{}", percent(head.miss_low), percent(head.miss_high)),
        head.false_wakes.to_string(),
        format!("{:.2}", head.per_hour),
        format!("{:.2}–{:.2}", head.per_hour_low, head.per_hour_high),
        format!("{:.2}", head.per_speech_hour),
        format!("{:.2}–{:.2}", head.per_speech_hour_low, head.per_speech_hour_high),
        head.median_delay_ms.map_or_else(|| "–".to_owned(), |delay| format!("{delay:.0}")),
    ]
}

fn curves(summary: &Summary) -> String {
    let rows: Vec<Vec<String>> = summary
        .curves
        .iter()
        .flat_map(|curve| {
            curve.points.iter().map(|(threshold, missed, per_hour)| {
                vec![curve.head.clone(), format!("{threshold:.4}"), percent(*missed), format!("{per_hour:.2}")]
            })
        })
        .collect();
    table(&["head", "threshold", "missed %", "/h"], &rows, &[1, 2, 3])
}

/// Writes the DET curve.
pub(super) fn svg(path: &Path, summary: &Summary) -> Result<(), Failure> {
    let series: Vec<DetSeries> = summary
        .curves
        .iter()
        .zip(&summary.heads)
        .map(|(curve, head)| DetSeries {
            name: curve.head.clone(),
            points: curve.points.iter().map(|(_, missed, per_hour)| (*per_hour, *missed)).collect(),
            chosen: head.miss_rate.map(|missed| (head.per_hour, missed)),
        })
        .collect();
    let floor = summary.heads.first().map_or(f64::INFINITY, |head| 1.0 / head.hours);
    std::fs::write(path, det(&series, floor)).map_err(|error| Failure::file(path, &error))
}
