//! `tenpass trace list`: one line a turn, newest first.

use std::collections::HashMap;

use jiff::Timestamp;
use serde::Serialize;
use tenpass_agent::untrusted::visible;
use tenpass_frame::Kind;
use tenpass_tools::assistant::AgentFolder;
use tenpass_trace::journal::Entry;
use tenpass_trace::{CallOutcome, TraceEvent, TraceRecord, TurnEnd};

use super::{each_record, local, nothing_yet, short, warn};
use crate::args::Format;
use crate::commands::chat::style::shortened;
use crate::commands::table::{Columns, export, table};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

/// Characters of a message in the table.
const MESSAGE: usize = 48;

/// One turn.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TurnLine {
    pub(super) turn: String,
    pub(super) thread: String,
    pub(super) at: Timestamp,
    text: String,
    model: String,
    profile: String,
    /// `None` while it runs, or when it was cut off.
    end: Option<TurnEnd>,
    rounds: u32,
    calls: u32,
    failed_calls: u32,
    confirmations: u32,
    ms: f64,
    verdict: Option<String>,
}

/// The columns of CSV and Parquet: those of JSON.
const COLUMNS: &Columns = &[
    ("turn", Kind::Text),
    ("thread", Kind::Text),
    ("at", Kind::Text),
    ("text", Kind::Text),
    ("model", Kind::Text),
    ("profile", Kind::Text),
    ("end", Kind::Text),
    ("rounds", Kind::Int),
    ("calls", Kind::Int),
    ("failed_calls", Kind::Int),
    ("confirmations", Kind::Int),
    ("ms", Kind::Float),
    ("verdict", Kind::Text),
];

/// Every turn, in order, and the lines that could not be read.
pub(super) fn turns(folder: &AgentFolder) -> Result<(Vec<TurnLine>, usize), Failure> {
    let mut turns: Vec<TurnLine> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let unreadable = each_record(folder, |entry| observe(&mut turns, &mut places, entry))?;
    Ok((turns, unreadable))
}

fn observe(turns: &mut Vec<TurnLine>, places: &mut HashMap<String, usize>, entry: &Entry<TraceRecord>) {
    let record = &entry.record;
    if let TraceEvent::Verdict { judged, verdict } = &record.event {
        if let Some(turn) = places.get(judged).and_then(|place| turns.get_mut(*place)) {
            turn.verdict = Some(verdict.clone());
        }
        return;
    }
    if record.turn.is_empty() {
        return;
    }
    let place = *places.entry(record.turn.clone()).or_insert_with(|| {
        turns.push(TurnLine {
            turn: record.turn.clone(),
            thread: record.thread.clone(),
            at: entry.at,
            text: String::new(),
            model: String::new(),
            profile: String::new(),
            end: None,
            rounds: 0,
            calls: 0,
            failed_calls: 0,
            confirmations: 0,
            ms: 0.0,
            verdict: None,
        });
        turns.len() - 1
    });
    let turn = &mut turns[place];
    match &record.event {
        TraceEvent::Request { text, model, profile, .. } => {
            turn.text.clone_from(text);
            turn.model.clone_from(model);
            turn.profile.clone_from(profile);
        }
        TraceEvent::Round { .. } => turn.rounds += 1,
        TraceEvent::Confirmation { .. } => turn.confirmations += 1,
        TraceEvent::Call { outcome, .. } => {
            turn.calls += 1;
            turn.failed_calls += u32::from(!matches!(outcome, CallOutcome::Ok | CallOutcome::Repeated));
        }
        TraceEvent::Final { end, ms, .. } => {
            turn.end = Some(*end);
            turn.ms = *ms;
        }
        _ => {}
    }
}

/// Carries out the command.
pub(super) fn run(
    printer: Printer,
    folder: &AgentFolder,
    limit: usize,
    thread: Option<&str>,
    format: Format,
) -> Result<Exit, Failure> {
    let (turns, unreadable) = turns(folder)?;
    warn(printer, unreadable);
    let wanted = |turn: &&TurnLine| thread.is_none_or(|thread| turn.thread.starts_with(thread));
    let shown: Vec<&TurnLine> = turns.iter().rev().filter(wanted).take(limit).collect();
    if format == Format::Json {
        printer.json(&shown)?;
    } else if format != Format::Table {
        export(printer, format, COLUMNS, &shown)?;
    } else if turns.is_empty() {
        printer.note(&nothing_yet(folder));
    } else if shown.is_empty() {
        printer.note("no turn of such a conversation");
    } else {
        printer.out(&text(&shown));
    }
    Ok(Exit::Yes)
}

fn text(turns: &[&TurnLine]) -> String {
    let rows: Vec<Vec<String>> = turns
        .iter()
        .map(|turn| {
            let calls = if turn.failed_calls > 0 {
                format!("{} ({} failed)", turn.calls, turn.failed_calls)
            } else {
                turn.calls.to_string()
            };
            vec![
                short(&turn.turn).to_owned(),
                local(turn.at, "%Y-%m-%d %H:%M"),
                short(&turn.thread).to_owned(),
                turn.end.map_or_else(|| "open".to_owned(), end_name),
                calls,
                format!("{:.1} s", turn.ms / 1e3),
                turn.verdict.clone().unwrap_or_default(),
                one_line(&turn.text, MESSAGE),
            ]
        })
        .collect();
    table(&["turn", "at", "thread", "end", "calls", "time", "verdict", "message"], &rows, &[5])
}

/// The stored name of an end.
pub(super) fn end_name(end: TurnEnd) -> String {
    serde_json::to_value(end).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Text of others on one line.
pub(super) fn one_line(text: &str, most: usize) -> String {
    shortened(&visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")), most)
}
