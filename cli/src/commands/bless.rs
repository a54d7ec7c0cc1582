//! `tenpass runs bless`.

use tenpass_bench::store::{RunState, open_run};
use tenpass_review::{Blessing, baselines, find};

use super::table::table;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Makes the run, or one configuration of it, the baseline of its bench.
pub(crate) fn bless(context: &Context, query: &str, configuration: Option<&str>) -> Result<Exit, Failure> {
    let store = context.runs();
    let (run, named) = find(&store, query, None)?;
    let command = match configuration {
        Some(id) => format!("tenpass runs bless {query} --configuration '{id}'"),
        None => format!("tenpass runs bless {query}"),
    };
    let blessing = tenpass_review::bless(&store, &run, configuration.or(named.as_deref()), &command)?;
    let manifest = run.manifest();
    context.printer.out(&format!(
        "the baseline of bench {} is {} of run {}, begun {}",
        manifest.bench,
        blessing.configuration,
        blessing.run,
        manifest.started()
    ));
    if manifest.state() != RunState::Complete {
        context.printer.note("this run is not complete: `tenpass bench` finishes it with --resume");
    }
    context
        .printer
        .note(&format!("measure something beside it with: tenpass bench {} --against baseline", manifest.bench));
    Ok(Exit::Yes)
}

/// One baseline, as `--show` prints it.
struct Row<'a> {
    bench: &'a str,
    blessing: &'a Blessing,
    state: &'static str,
}

/// Prints the baselines there are.
pub(crate) fn show(context: &Context) -> Result<Exit, Failure> {
    let store = context.runs();
    let all = baselines(&store)?;
    if all.is_empty() {
        context.printer.out("no baseline yet; `tenpass runs bless RUN` makes a run one");
        return Ok(Exit::Yes);
    }
    let rows: Vec<Row<'_>> =
        all.iter().map(|(bench, blessing)| Row { bench, blessing, state: state(&store, blessing) }).collect();
    let cells: Vec<Vec<String>> = rows.iter().map(Row::cells).collect();
    context.printer.out(&table(&["bench", "run", "configuration", "blessed", "state", "by"], &cells, &[]));
    Ok(Exit::Yes)
}

impl Row<'_> {
    fn cells(&self) -> Vec<String> {
        let Blessing { run, configuration, at, command } = self.blessing;
        [self.bench, run, configuration, at, self.state, command].map(str::to_owned).to_vec()
    }
}

fn state(store: &std::path::Path, blessing: &Blessing) -> &'static str {
    match open_run(store, &blessing.run) {
        Ok(run) if run.manifest().configurations.iter().any(|found| found.id == blessing.configuration) => "there",
        Ok(_) => "its configuration is gone",
        Err(_) => "gone or unreadable",
    }
}
