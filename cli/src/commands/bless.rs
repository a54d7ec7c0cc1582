//! `tenpass runs bless`.

use serde::Serialize;
use tenpass_bench::store::{RunState, open_run};
use tenpass_frame::Kind;
use tenpass_review::jobs::shell_word;
use tenpass_review::{Blessing, ReviewError, baselines, find};

use super::table::{self, Columns, table};
use crate::args::Format;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Makes the run, or one configuration of it, the baseline of its bench.
pub(crate) fn bless(
    context: &Context,
    query: &str,
    configuration: Option<&str>,
    incomplete: bool,
) -> Result<Exit, Failure> {
    let store = context.runs();
    let (run, named) = find(&store, query, None)?;
    let manifest = run.manifest();
    if manifest.state() != RunState::Complete && !incomplete {
        let (bench, id) = (&manifest.bench, run.id());
        return Err(Failure::mistake(format!("run {id} is not complete"))
            .hint(format!("tenpass bench {bench} --resume {id} finishes it; --incomplete blesses what there is")));
    }
    let command = match configuration {
        Some(id) => format!("tenpass runs bless {} --configuration {}", shell_word(query), shell_word(id)),
        None => format!("tenpass runs bless {}", shell_word(query)),
    };
    let replaced = baselines(&store)?.remove(&manifest.bench);
    let blessing = tenpass_review::bless(&store, &run, configuration.or(named.as_deref()), &command)
        .map_err(|error| several(query, error))?;
    context.printer.out(&format!(
        "the baseline of bench {} is {} of run {}, begun {}",
        manifest.bench,
        blessing.configuration,
        blessing.run,
        manifest.started()
    ));
    if let Some(old) = replaced.filter(|old| (&old.run, &old.configuration) != (&blessing.run, &blessing.configuration))
    {
        context.printer.note(&format!("before it was {} of run {}, blessed {}", old.configuration, old.run, old.at));
    }
    if manifest.state() != RunState::Complete {
        context.printer.note("this run is not complete: `tenpass bench` finishes it with --resume");
    }
    context
        .printer
        .note(&format!("measure something beside it with: tenpass bench {} --against baseline", manifest.bench));
    Ok(Exit::Yes)
}

/// Of several configurations one must be named: with the command that names the first.
fn several(query: &str, error: ReviewError) -> Failure {
    let first = match &error {
        ReviewError::SeveralConfigurations { names, .. } => names.first().cloned(),
        _ => None,
    };
    match first {
        Some(first) => {
            Failure::from(error).hint(format!("tenpass runs bless {}", shell_word(&format!("{query}/{first}"))))
        }
        None => error.into(),
    }
}

/// One baseline, as `--show` prints it.
#[derive(Serialize)]
struct Row<'a> {
    bench: &'a str,
    run: &'a str,
    configuration: &'a str,
    blessed: &'a str,
    state: &'static str,
    by: &'a str,
}

/// Prints the baselines there are.
pub(crate) fn show(context: &Context, format: Format) -> Result<Exit, Failure> {
    let store = context.runs();
    let all = baselines(&store)?;
    if all.is_empty() && format == Format::Table {
        context.printer.out("no baseline yet; `tenpass runs bless RUN` makes a run one");
        return Ok(Exit::Yes);
    }
    let rows: Vec<Row<'_>> = all.iter().map(|(bench, blessing)| Row::of(&store, bench, blessing)).collect();
    table::show(context.printer, format, COLUMNS, &rows, || {
        let cells: Vec<Vec<String>> = rows.iter().map(Row::cells).collect();
        table(&["bench", "run", "configuration", "blessed", "state", "by"], &cells, &[])
    })?;
    Ok(Exit::Yes)
}

/// The columns of CSV and Parquet.
const COLUMNS: &Columns = &[
    ("bench", Kind::Text),
    ("run", Kind::Text),
    ("configuration", Kind::Text),
    ("blessed", Kind::Text),
    ("state", Kind::Text),
    ("by", Kind::Text),
];

impl<'a> Row<'a> {
    fn of(store: &std::path::Path, bench: &'a str, blessing: &'a Blessing) -> Self {
        let Blessing { run, configuration, at, command } = blessing;
        Self { bench, run, configuration, blessed: at, state: state(store, blessing), by: command }
    }

    fn cells(&self) -> Vec<String> {
        [self.bench, self.run, self.configuration, self.blessed, self.state, self.by].map(str::to_owned).to_vec()
    }
}

fn state(store: &std::path::Path, blessing: &Blessing) -> &'static str {
    match open_run(store, &blessing.run) {
        Ok(run) if run.manifest().configurations.iter().any(|found| found.id == blessing.configuration) => "there",
        Ok(_) => "its configuration is gone",
        Err(_) => "gone or unreadable",
    }
}
