//! `tenpass runs export` and `tenpass runs import`: runs in formats of others.

use std::io::Write;
use std::path::{Path, PathBuf};

use tenpass_bench::store::Run;
use tenpass_exchange::inspect::{self, ImportOptions, ImportedRun};
use tenpass_exchange::rows::{self, Row};
use tenpass_exchange::{ExchangeError, Source, junit, llama_tool_bench};
use tenpass_frame::{Cell, CsvSink, FrameError, Kind, ParquetSink, Sink};

use crate::args::tools::{ForeignRun, RunFormat};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Columns of the table of passes, in the order of [`cells`].
const COLUMNS: [(&str, Kind); 33] = [
    ("run", Kind::Text),
    ("configuration", Kind::Text),
    ("case", Kind::Text),
    ("family", Kind::Text),
    ("language", Kind::Text),
    ("kind", Kind::Text),
    ("pass", Kind::Int),
    ("attempt", Kind::Int),
    ("success", Kind::Bool),
    ("class", Kind::Text),
    ("classes", Kind::Text),
    ("reasons", Kind::Text),
    ("recovered", Kind::Bool),
    ("end", Kind::Text),
    ("finish", Kind::Text),
    ("fault", Kind::Text),
    ("cold", Kind::Bool),
    ("seed", Kind::Int),
    ("started", Kind::Text),
    ("first_token_ms", Kind::Float),
    ("first_call_ms", Kind::Float),
    ("text_end_ms", Kind::Float),
    ("total_ms", Kind::Float),
    ("load_ms", Kind::Float),
    ("prompt_ms", Kind::Float),
    ("decode_ms", Kind::Float),
    ("prompt_tokens", Kind::Int),
    ("cached_tokens", Kind::Int),
    ("completion_tokens", Kind::Int),
    ("request", Kind::Text),
    ("calls", Kind::Text),
    ("text", Kind::Text),
    ("thinking", Kind::Text),
];

/// Writes a run in the format that was asked for.
pub(crate) fn export(
    context: &Context,
    run: &Run,
    configuration: Option<&str>,
    format: RunFormat,
    out: &Path,
) -> Result<Exit, Failure> {
    let written = match format {
        RunFormat::Inspect => inspect::export(run, configuration, out)?,
        RunFormat::Junit => {
            let suites = junit::suites(run, configuration)?;
            whole_file(out, |file| junit::write(&suites, file).map_err(|error| Failure::file(out, &error)))?
        }
        RunFormat::Csv => whole_file(out, |file| {
            let names = COLUMNS.map(|(name, _)| name);
            table(run, configuration, &mut CsvSink::new(file, &names)?)
        })?,
        RunFormat::Parquet => {
            whole_file(out, |file| table(run, configuration, &mut ParquetSink::new(file, &COLUMNS)?))?
        }
    };
    for file in written {
        context.printer.out(&file.display().to_string());
    }
    Ok(Exit::Yes)
}

/// Writes a file that nobody sees before it is complete.
fn whole_file(out: &Path, write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>) -> Result<Vec<PathBuf>, Failure> {
    super::table::whole_file(out, write)?;
    Ok(vec![out.to_owned()])
}

fn table(run: &Run, configuration: Option<&str>, sink: &mut dyn Sink) -> Result<(), Failure> {
    let mut refused: Option<FrameError> = None;
    let stop = || ExchangeError::Nothing("the table cannot be written".to_owned());
    let passed = rows::each(run, configuration, |row| {
        sink.row(&cells(&row)).map_err(|error| {
            refused = Some(error);
            stop()
        })
    });
    match (refused, passed) {
        (Some(error), _) => Err(error.into()),
        (None, passed) => {
            passed?;
            Ok(sink.finish()?)
        }
    }
}

fn cells(row: &Row) -> [Cell<'_>; COLUMNS.len()] {
    let ms = |ms: Option<f64>| ms.map_or(Cell::Null, Cell::Float);
    let count = |count: Option<u64>| count.map_or(Cell::Null, |count| Cell::Int(count.cast_signed()));
    [
        Cell::Text(&row.run),
        Cell::Text(&row.configuration),
        Cell::Text(&row.case),
        Cell::Text(&row.family),
        Cell::Text(&row.language),
        Cell::Text(&row.kind),
        Cell::Int(row.pass.into()),
        Cell::Int(row.attempt.into()),
        row.success.map_or(Cell::Null, Cell::Bool),
        row.class.as_deref().map_or(Cell::Null, Cell::Text),
        Cell::Text(&row.classes),
        Cell::Text(&row.reasons),
        Cell::Bool(row.recovered),
        Cell::Text(&row.end),
        row.finish.as_deref().map_or(Cell::Null, Cell::Text),
        row.fault.as_deref().map_or(Cell::Null, Cell::Text),
        Cell::Bool(row.cold),
        Cell::Int(row.seed.cast_signed()),
        Cell::Text(&row.started),
        ms(row.first_token_ms),
        ms(row.first_call_ms),
        ms(row.text_end_ms),
        Cell::Float(row.total_ms),
        ms(row.load_ms),
        ms(row.prompt_ms),
        ms(row.decode_ms),
        count(row.prompt_tokens),
        count(row.cached_tokens),
        count(row.completion_tokens),
        Cell::Text(&row.request),
        Cell::Text(&row.calls),
        Cell::Text(&row.text),
        Cell::Text(&row.thinking),
    ]
}

/// Reads a run that another tool measured, or that was exported.
pub(crate) fn import(
    context: &Context,
    format: ForeignRun,
    file: &Path,
    right_from: f64,
    again: bool,
) -> Result<Exit, Failure> {
    let store = context.runs();
    let source = Source::of(format.name(), file)?;
    if let Some(run) = source.known(&store)?.filter(|_| !again) {
        return Err(ExchangeError::Known { path: file.to_owned(), run }.into());
    }
    let ImportedRun { run, passes, invalid, notes } = match format {
        ForeignRun::Inspect => inspect::import(&store, file, ImportOptions { right_from, refuse_known: !again })?,
        ForeignRun::LlamaToolBench => llama_tool_bench::import(&store, file)?,
    };
    source.keep(&run)?;
    let configurations: Vec<&str> =
        run.manifest().configurations.iter().map(|configuration| configuration.id.as_str()).collect();
    let cases = run.manifest().cases;
    let plural = if cases == 1 { "" } else { "s" };
    let invalid = if invalid == 0 { String::new() } else { format!(", {invalid} of them INVALID") };
    context.printer.out(&format!(
        "{}: {passes} passes of {cases} case{plural} with {}{invalid}",
        run.id(),
        configurations.join(", ")
    ));
    for note in notes {
        context.printer.note(&note);
    }
    Ok(Exit::Yes)
}
