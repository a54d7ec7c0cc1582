//! `tenpass query`: SQL over runs and traces.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Serialize;
use tenpass_frame::query::{Limits, Query, QueryError, Sources, functions, tables};
use tenpass_frame::{Kind, Output, TextStyle};
use tenpass_tools::assistant::AgentFolder;

use super::table::{Columns, binary, output, show, table, whole_file};
use crate::args::Format;
use crate::args::review::{Query as Command, Wide};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;

/// How long a query that was told to stop may take to do so.
const GRACE: Duration = Duration::from_secs(3);

/// Carries out the command.
pub(crate) async fn run(context: &Context, command: Command) -> Result<Exit, Failure> {
    let Some(sql) = command.sql.clone().filter(|_| !command.tables) else {
        list_tables(context.printer, command.format)?;
        return Ok(Exit::Yes);
    };
    let baselines = tenpass_review::baselines(&context.runs())?;
    let sources = Sources {
        runs: context.runs(),
        journal: AgentFolder::new(context.agent_folder()).trace(),
        baselines: baselines.into_iter().map(|(bench, blessing)| (bench, blessing.run)).collect(),
    };
    let printer = context.printer;
    let stop = Arc::new(AtomicBool::new(false));
    let limits = Limits { time: command.timeout, stop: Arc::clone(&stop) };
    let work = tokio::task::spawn_blocking(move || ask(printer, &sources, &sql, &command, limits));
    let answered = tokio::select! {
        joined = work => joined.map_err(Failure::bug)?,
        () = interrupted(&stop) => return Ok(Exit::Interrupted),
    };
    match answered {
        Err(_) if stop.load(Ordering::Relaxed) => Ok(Exit::Interrupted),
        other => other.map(|()| Exit::Yes),
    }
}

/// Completes a while after a Ctrl-C, when the query has not ended by itself.
async fn interrupted(stop: &AtomicBool) {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    stop.store(true, Ordering::Relaxed);
    tokio::time::sleep(GRACE).await;
}

fn ask(printer: Printer, sources: &Sources, sql: &str, command: &Command, limits: Limits) -> Result<(), Failure> {
    let query = Query::open(sources, sql, limits)?;
    for note in query.notes() {
        printer.note(&format!("note: {note}"));
    }
    let width = printer.is_terminal() && command.out.is_none();
    let form = match command.format {
        Format::Table => Output::Text(TextStyle { width: width.then(|| printer.width()) }),
        other => output(other),
    };
    let write = |out: &mut dyn Write| match &command.wide {
        Some(Wide { row, column, value }) => Ok(query.frame()?.pivot(row, column, value)?.write(form, out)?),
        None => query.write(form, out).map(drop).map_err(Failure::from),
    };
    match &command.out {
        Some(path) => whole_file(path, write),
        None => binary(printer, command.format, write),
    }
}

/// A column of a table, as `--tables` lists it.
#[derive(Serialize)]
struct Listed {
    table: &'static str,
    column: &'static str,
    kind: &'static str,
    about: &'static str,
}

const LISTED: &Columns = &[("table", Kind::Text), ("column", Kind::Text), ("kind", Kind::Text), ("about", Kind::Text)];

fn list_tables(printer: Printer, format: Format) -> Result<(), Failure> {
    let rows: Vec<Listed> = tables()
        .iter()
        .flat_map(|table| {
            table.columns.iter().map(|column| Listed {
                table: table.name,
                column: column.name,
                kind: column.kind.as_str(),
                about: column.about,
            })
        })
        .collect();
    show(printer, format, LISTED, &rows, text_of_tables)
}

fn text_of_tables() -> String {
    let mut text = String::new();
    for described in tables() {
        text.push_str(&format!("{}: {}\n", described.name, described.about));
        let rows: Vec<Vec<String>> = described
            .columns
            .iter()
            .map(|column| vec![format!("  {}", column.name), column.kind.to_string(), column.about.to_owned()])
            .collect();
        text.push_str(&table(&["  column", "kind", "what it says"], &rows, &[]));
        text.push('\n');
    }
    let rows: Vec<Vec<String>> =
        functions().iter().map(|(call, about)| vec![format!("  {call}"), (*about).to_owned()]).collect();
    text.push_str(&format!("functions, beside those of SQLite\n{}", table(&["  call", "what it gives"], &rows, &[])));
    text.push_str("\nTimes are text in UTC and sort as they are; a truth is 1 or 0; what is not known is NULL.\n");
    text
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Frame(error) => error.into(),
            QueryError::Store(error) => error.into(),
            QueryError::Journal(error) => error.into(),
            other => {
                let hint = other.hint();
                Self::mistake(other).hint(hint)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_tables_names_every_one() {
        let text = text_of_tables();
        assert!(tables().iter().all(|table| text.contains(&format!("{}: ", table.name))), "{text}");
        assert!(text.contains("latest()") && text.contains("wilson_low(passed, total)"));
    }
}
