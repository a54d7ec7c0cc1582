//! What is listed of runs as CSV and Parquet: runs, cases with their rates, grades that changed, comparisons.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::json;
use tenpass_bench::store::{RegradeReport, Run, RunEntry, RunState, Verdict, list_runs, writer_of};
use tenpass_exchange::Source;
use tenpass_frame::Kind;
use tenpass_report::{RunComparison, RunSummary, case_rows, comparison_rows};
use tenpass_review::baselines;

use super::table::{Columns, export, table};
use crate::args::Format;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// A run, as CSV and Parquet list it.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Listed<'a> {
    run: &'a str,
    bench: Option<&'a str>,
    state: Option<&'static str>,
    started: Option<&'a str>,
    finished: Option<&'a str>,
    cases: Option<u64>,
    passes_per_case: Option<u32>,
    configurations: Option<String>,
    parent: Option<&'a str>,
    baseline: Option<bool>,
    imported: Option<String>,
    error: Option<String>,
}

const LISTED: &Columns = &[
    ("run", Kind::Text),
    ("bench", Kind::Text),
    ("state", Kind::Text),
    ("started", Kind::Text),
    ("finished", Kind::Text),
    ("cases", Kind::Int),
    ("passes_per_case", Kind::Int),
    ("configurations", Kind::Text),
    ("parent", Kind::Text),
    ("baseline", Kind::Bool),
    ("imported", Kind::Text),
    ("error", Kind::Text),
];

/// The runs, newest first.
pub(super) fn list(context: &Context, format: Format) -> Result<Exit, Failure> {
    let store = context.runs();
    let mut entries = list_runs(&store)?;
    entries.reverse();
    // A file of baselines that is damaged is told by whoever needs it; the runs are listed all the same.
    let blessed: HashSet<String> =
        baselines(&store).unwrap_or_default().into_values().map(|blessing| blessing.run).collect();
    let marks = |run: &Run| Marks {
        baseline: blessed.contains(run.id()),
        imported: Source::of_run(run),
        is_written: writer_of(run).is_some(),
    };
    match format {
        Format::Json => {
            let rows: Vec<_> = entries
                .iter()
                .map(|entry| match &entry.run {
                    Ok(run) => {
                        let marks = marks(run);
                        json!({
                            "id": entry.id, "state": marks.state_name(run.manifest().state()),
                            "baseline": marks.baseline, "imported": marks.imported, "manifest": run.manifest(),
                        })
                    }
                    Err(error) => json!({ "id": entry.id, "error": error.to_string() }),
                })
                .collect();
            context.printer.json(&rows)?;
        }
        Format::Table if entries.is_empty() => {
            context.printer.out("no runs yet; `tenpass bench tools` makes one");
        }
        Format::Table => {
            let rows: Vec<Vec<String>> = entries.iter().map(|entry| row(entry, marks)).collect();
            context.printer.out(&table(&["run", "state", "cases", "passes", "configurations"], &rows, &[2, 3]));
        }
        format => export(
            context.printer,
            format,
            LISTED,
            &entries.iter().map(|entry| listed(entry, marks)).collect::<Vec<_>>(),
        )?,
    }
    Ok(Exit::Yes)
}

/// What is known of a run beside its manifest.
#[derive(Debug, Default)]
struct Marks {
    baseline: bool,
    imported: Option<Source>,
    /// A process holds its lock.
    is_written: bool,
}

impl Marks {
    /// In the table: the state, and what else there is to know.
    fn words(&self, state: RunState) -> String {
        let state = match state {
            RunState::Failed => "incomplete",
            other => self.state_name(other),
        };
        let marks = [(self.baseline, "baseline"), (self.imported.is_some(), "imported")];
        marks.iter().filter(|(is, _)| *is).fold(state.to_owned(), |text, (_, mark)| format!("{text}, {mark}"))
    }

    /// The stored name; a run that says it runs and that nobody writes was killed.
    fn state_name(&self, state: RunState) -> &'static str {
        match state {
            RunState::Running if self.is_written => "running",
            RunState::Running => "killed",
            RunState::Complete => "complete",
            RunState::Interrupted => "interrupted",
            RunState::Failed => "failed",
        }
    }
}

fn row(entry: &RunEntry, marks: impl Fn(&Run) -> Marks) -> Vec<String> {
    match &entry.run {
        Ok(run) => {
            let manifest = run.manifest();
            let ids: Vec<&str> =
                manifest.configurations.iter().map(|configuration| configuration.id.as_str()).collect();
            vec![
                entry.id.clone(),
                marks(run).words(manifest.state()),
                manifest.cases.to_string(),
                manifest.passes.to_string(),
                ids.join(", "),
            ]
        }
        Err(error) => vec![entry.id.clone(), format!("unreadable: {error}")],
    }
}

fn listed(entry: &RunEntry, marks: impl Fn(&Run) -> Marks) -> Listed<'_> {
    match &entry.run {
        Ok(run) => {
            let manifest = run.manifest();
            let marks = marks(run);
            let ids: Vec<&str> =
                manifest.configurations.iter().map(|configuration| configuration.id.as_str()).collect();
            Listed {
                run: &entry.id,
                bench: Some(&manifest.bench),
                state: Some(marks.state_name(manifest.state())),
                started: Some(manifest.started()),
                finished: manifest.finished(),
                cases: Some(manifest.cases),
                passes_per_case: Some(manifest.passes),
                configurations: serde_json::to_string(&ids).ok(),
                parent: manifest.parent.as_deref(),
                baseline: Some(marks.baseline),
                imported: marks.imported.map(|source| source.file),
                error: None,
            }
        }
        Err(error) => Listed { run: &entry.id, error: Some(error.to_string()), ..Listed::default() },
    }
}

/// A grade that changed, as CSV and Parquet list it.
#[derive(Serialize)]
struct Changed<'a> {
    case: &'a str,
    configuration: &'a str,
    pass: u32,
    before: Option<bool>,
    before_class: Option<&'static str>,
    after: Option<bool>,
    after_class: Option<&'static str>,
}

const CHANGED: &Columns = &[
    ("case", Kind::Text),
    ("configuration", Kind::Text),
    ("pass", Kind::Int),
    ("before", Kind::Bool),
    ("before_class", Kind::Text),
    ("after", Kind::Bool),
    ("after_class", Kind::Text),
];

/// The grades that changed, as CSV or Parquet.
pub(super) fn export_changes(context: &Context, format: Format, report: &RegradeReport) -> Result<(), Failure> {
    let class = |verdict: &Verdict| verdict.class.map(tenpass_trace::FailureClass::as_str);
    let rows: Vec<Changed<'_>> = report
        .changes
        .iter()
        .map(|change| Changed {
            case: &change.case,
            configuration: &change.configuration,
            pass: change.pass,
            before: change.before.as_ref().and_then(|verdict| verdict.success),
            before_class: change.before.as_ref().and_then(class),
            after: change.after.success,
            after_class: class(&change.after),
        })
        .collect();
    export(context.printer, format, CHANGED, &rows)
}

/// The columns of Parquet: those of CSV.
const CASES: &Columns = &[
    ("case", Kind::Text),
    ("family", Kind::Text),
    ("language", Kind::Text),
    ("kind", Kind::Text),
    ("configuration", Kind::Text),
    ("model", Kind::Text),
    ("structure", Kind::Text),
    ("tools", Kind::Text),
    ("passed", Kind::Int),
    ("total", Kind::Int),
    ("rate", Kind::Float),
    ("low", Kind::Float),
    ("high", Kind::Float),
    ("effective_n", Kind::Int),
    ("distinct_outputs", Kind::Int),
    ("invalid", Kind::Int),
    ("recovered", Kind::Int),
    ("failures", Kind::Text),
    ("warm_n", Kind::Int),
    ("warm_first_token_ms_p50", Kind::Float),
    ("warm_first_token_ms_p90", Kind::Float),
    ("warm_first_call_ms_p50", Kind::Float),
    ("warm_first_call_ms_p90", Kind::Float),
    ("warm_total_ms_p50", Kind::Float),
    ("warm_total_ms_p90", Kind::Float),
    ("cold_n", Kind::Int),
    ("cold_first_token_ms_p50", Kind::Float),
    ("cold_first_token_ms_p90", Kind::Float),
    ("cold_first_call_ms_p50", Kind::Float),
    ("cold_first_call_ms_p90", Kind::Float),
    ("cold_total_ms_p50", Kind::Float),
    ("cold_total_ms_p90", Kind::Float),
    ("prompt_tokens_p50", Kind::Float),
    ("prompt_tokens_max", Kind::Float),
    ("completion_tokens_p50", Kind::Float),
];

/// A run's cases, a row a case and configuration.
pub(super) fn export_cases(context: &Context, format: Format, summary: &RunSummary) -> Result<(), Failure> {
    export(context.printer, format, CASES, &case_rows(summary))
}

/// The columns of a comparison in Parquet: those of CSV.
const COMPARED: &Columns = &[
    ("case", Kind::Text),
    ("family", Kind::Text),
    ("language", Kind::Text),
    ("role", Kind::Text),
    ("before_passed", Kind::Int),
    ("before_total", Kind::Int),
    ("before_rate", Kind::Float),
    ("before_low", Kind::Float),
    ("before_high", Kind::Float),
    ("before_effective_n", Kind::Int),
    ("before_invalid", Kind::Int),
    ("after_passed", Kind::Int),
    ("after_total", Kind::Int),
    ("after_rate", Kind::Float),
    ("after_low", Kind::Float),
    ("after_high", Kind::Float),
    ("after_effective_n", Kind::Int),
    ("after_invalid", Kind::Int),
    ("difference", Kind::Float),
    ("p", Kind::Float),
    ("p_adjusted", Kind::Float),
    ("moved", Kind::Bool),
    ("verdict", Kind::Text),
];

/// A comparison's cases.
pub(super) fn export_compared(context: &Context, format: Format, found: &RunComparison) -> Result<(), Failure> {
    export(context.printer, format, COMPARED, &comparison_rows(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_nobody_writes_does_not_run() {
        let nobody = Marks { baseline: true, ..Marks::default() };
        let somebody = Marks { is_written: true, ..Marks::default() };
        assert_eq!(nobody.words(RunState::Running), "killed, baseline");
        assert_eq!(somebody.words(RunState::Running), "running");
        assert_eq!(nobody.words(RunState::Complete), "complete, baseline");
        assert_eq!(
            (nobody.words(RunState::Failed), nobody.state_name(RunState::Failed)),
            ("incomplete, baseline".into(), "failed")
        );
    }

    #[test]
    fn the_rows_have_the_declared_columns() {
        let rows = [Listed { run: "20261130-142233-k3f9", error: Some("damaged".to_owned()), ..Listed::default() }];
        let frame = tenpass_frame::Frame::declared(LISTED, &rows).unwrap();
        assert_eq!((frame.rows(), frame.columns()), (1, LISTED.to_vec()));
        let inferred = tenpass_frame::Frame::of(&rows).unwrap();
        let names = |columns: &[(&str, Kind)]| columns.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(names(&inferred.columns()), names(LISTED), "each column is a field, in this order");
    }
}
