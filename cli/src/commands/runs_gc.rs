//! `tenpass runs gc`.

use std::time::{Duration, SystemTime};

use serde::Serialize;
use tenpass_frame::Kind;
use tenpass_review::collect::{Candidate, Keep, collect, plan};

use super::table::{Columns, bytes, show, table};
use crate::args::Format;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

const COLUMNS: &Columns = &[
    ("run", Kind::Text),
    ("bench", Kind::Text),
    ("age_days", Kind::Float),
    ("bytes", Kind::Int),
    ("kept", Kind::Text),
    ("removed", Kind::Bool),
];

/// A run, as programs read it.
#[derive(Serialize)]
struct Row<'a> {
    run: &'a str,
    bench: &'a str,
    age_days: f64,
    bytes: u64,
    /// Why it stays.
    kept: Option<String>,
    removed: bool,
}

/// Prints what would go, or removes it.
pub(crate) fn run(
    context: &Context,
    older_than: Duration,
    newest: usize,
    yes: bool,
    format: Format,
) -> Result<Exit, Failure> {
    let store = context.runs();
    let (keep, now) = (Keep { younger_than: older_than, newest }, SystemTime::now());
    let planned = plan(&store, keep, now)?;
    let done = if yes { Some(collect(&store, keep, now)?) } else { None };
    let is_removed = |run: &Candidate| done.as_ref().is_some_and(|done| done.removed.contains(&run.run));
    let rows: Vec<Row<'_>> = planned
        .runs
        .iter()
        .map(|run| Row {
            run: &run.run,
            bench: &run.bench,
            age_days: (run.age_days * 10.0).round() / 10.0,
            bytes: run.bytes,
            kept: run.kept.as_ref().map(ToString::to_string),
            removed: is_removed(run),
        })
        .collect();
    let going: Vec<&Row<'_>> = rows.iter().filter(|row| row.kept.is_none()).collect();
    let text = || {
        let mut text = if going.is_empty() { String::new() } else { going_table(&going) };
        text.push_str(&match &done {
            Some(done) => format!(
                "{} removed, {} freed; {} stay",
                runs(done.removed.len()),
                bytes(done.bytes),
                rows.len() - done.removed.len()
            ),
            None if going.is_empty() && planned.leftovers.is_empty() => {
                format!("nothing to remove; {} stay", runs(rows.len()))
            }
            None => {
                format!("{} would go, {}; {} stay", runs(going.len()), bytes(planned.bytes), rows.len() - going.len())
            }
        });
        text
    };
    show(context.printer, format, COLUMNS, &rows, text)?;
    let Some(done) = done else {
        if !going.is_empty() || !planned.leftovers.is_empty() {
            context.printer.note("nothing was removed; add --yes to do it");
        }
        return Ok(Exit::Yes);
    };
    for failure in &done.failed {
        context.printer.note(&format!("not removed: {failure}"));
    }
    Ok(if done.failed.is_empty() { Exit::Yes } else { Exit::Mistake })
}

fn runs(count: usize) -> String {
    if count == 1 { "1 run".to_owned() } else { format!("{count} runs") }
}

fn going_table(going: &[&Row<'_>]) -> String {
    let cells: Vec<Vec<String>> = going
        .iter()
        .map(|row| {
            vec![row.run.to_owned(), row.bench.to_owned(), format!("{:.0} days", row.age_days), bytes(row.bytes)]
        })
        .collect();
    table(&["run", "bench", "age", "size"], &cells, &[2, 3])
}
