//! How latencies are printed.

use serde::Serialize;
use tenpass_frame::Kind;
use tenpass_listening::turn::{GoalState, TurnKind, TurnPass, TurnRow};
use tenpass_speech::PART_NAMES;

use super::super::super::table::{Columns, export, table};
use crate::args::Format;
use crate::context::Context;
use crate::failure::Failure;

const COLUMNS: &Columns = &[
    ("clip", Kind::Text),
    ("pass", Kind::Int),
    ("kind", Kind::Text),
    ("intent", Kind::Text),
    ("command", Kind::Text),
    ("heard", Kind::Text),
    ("total_ms", Kind::Float),
    ("endpoint_ms", Kind::Float),
    ("stt_ms", Kind::Float),
    ("route_ms", Kind::Float),
    ("clause_ms", Kind::Float),
    ("tts_ms", Kind::Float),
    ("device_ms", Kind::Float),
    ("transcribe_ms", Kind::Float),
    ("cut_off", Kind::Bool),
];

/// One measured turn as a row.
#[derive(Serialize)]
struct Flat<'a> {
    clip: &'a str,
    pass: u32,
    kind: &'static str,
    intent: &'a str,
    command: Option<&'a str>,
    heard: &'a str,
    total_ms: Option<f64>,
    endpoint_ms: f64,
    stt_ms: f64,
    route_ms: f64,
    clause_ms: f64,
    tts_ms: f64,
    device_ms: f64,
    transcribe_ms: Option<f64>,
    cut_off: bool,
}

/// JSON has both.
#[derive(Serialize)]
struct Whole<'a> {
    summary: &'a [TurnRow],
    passes: &'a [TurnPass],
}

/// Prints the summary; CSV and Parquet have a row a turn.
pub(super) fn show(context: &Context, format: Format, rows: &[TurnRow], passes: &[TurnPass]) -> Result<(), Failure> {
    match format {
        Format::Table => context.printer.out(&text(rows, passes)),
        Format::Json => context.printer.json(&Whole { summary: rows, passes })?,
        Format::Csv | Format::Parquet => {
            let flat: Vec<Flat<'_>> = passes.iter().map(flat).collect();
            export(context.printer, format, COLUMNS, &flat)?;
        }
    }
    Ok(())
}

fn flat(pass: &TurnPass) -> Flat<'_> {
    let part = |i: usize| pass.parts_us.get(i).copied().unwrap_or(0) as f64 / 1000.0;
    Flat {
        clip: &pass.clip,
        pass: pass.pass,
        kind: word(pass.kind),
        intent: &pass.intent,
        command: pass.command.as_deref(),
        heard: &pass.heard,
        total_ms: pass.total_us.map(|us| us as f64 / 1000.0),
        endpoint_ms: part(0),
        stt_ms: part(1),
        route_ms: part(2),
        clause_ms: part(3),
        tts_ms: part(4),
        device_ms: part(5),
        transcribe_ms: pass.transcribe_us.map(|us| us as f64 / 1000.0),
        cut_off: pass.cut_off,
    }
}

fn word(kind: TurnKind) -> &'static str {
    match kind {
        TurnKind::Command => "command",
        TurnKind::Model => "model",
        TurnKind::Nothing => "nothing",
    }
}

fn text(rows: &[TurnRow], passes: &[TurnPass]) -> String {
    let goal = |state: Option<GoalState>, goal_ms: Option<f64>| match (state, goal_ms) {
        (Some(state), Some(goal_ms)) => format!("{} ({goal_ms:.0})", state.word()),
        _ => String::new(),
    };
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                word(row.kind).to_owned(),
                row.clips.to_string(),
                row.turns.to_string(),
                format!("{:.0} ({:.0}-{:.0})", row.p50_ms, row.p50_low_ms, row.p50_high_ms),
                goal(row.p50, row.goal.map(|goal| goal.p50_ms)),
                format!("{:.0} ({:.0}-{:.0})", row.p95_ms, row.p95_low_ms, row.p95_high_ms),
                goal(row.p95, row.goal.and_then(|goal| goal.p95_ms)),
                row.cut_off.to_string(),
            ]
        })
        .collect();
    let header = ["turns of", "clips", "turns", "p50 ms", "goal", "p95 ms", "goal", "cut off"];
    let mut text = table(&header, &cells, &[1, 2, 3, 5, 7]);
    text.push('\n');
    let parts: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let total: f64 = row.parts_ms.iter().sum();
            let mut cells = vec![word(row.kind).to_owned()];
            cells.extend(row.parts_ms.iter().map(|ms| format!("{ms:.1}")));
            cells.push(format!("{total:.1}"));
            cells.push(row.transcribe_p50_ms.map_or_else(String::new, |ms| format!("{ms:.0}")));
            cells
        })
        .collect();
    let mut header = vec!["mean ms"];
    header.extend(PART_NAMES);
    header.extend(["total", "STT ran p50"]);
    text.push_str(&table(&header, &parts, &[1, 2, 3, 4, 5, 6, 7, 8]));
    let nothing = passes.iter().filter(|pass| pass.kind == TurnKind::Nothing).count();
    if nothing > 0 {
        text.push_str(&format!("{nothing} turns were not answered\n"));
    }
    text
}
