//! What a bench prints at its end, and its exit code.

use std::path::Path;

use serde_json::Value;
use tenpass_bench::store::{Comparing, Run, RunState, open_run};
use tenpass_report::{RunComparison, Style, render_comparison};
use tenpass_review::compare_candidates;

use super::Measured;
use crate::args::Format;
use crate::args::bench::Bench;
use crate::commands::runs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Prints the table, the comparisons, and how it ended.
pub(super) fn report(context: &Context, command: &Bench, measured: &Measured) -> Result<Exit, Failure> {
    let run = open_run(&context.runs(), &measured.run)?;
    let format = command.measure().format;
    let comparisons = match &run.manifest().against {
        Some(_) if run.manifest().partition.is_some() => {
            context.printer.note("this is a part: join the parts with `tenpass runs merge`, then compare the whole");
            Vec::new()
        }
        // Of half of it there is nothing to say yet.
        Some(_) if measured.state == RunState::Complete => {
            compared(&run, &super::plan::comparing(&command.measure().comparing))?
        }
        _ => Vec::new(),
    };
    print(context, &run, &comparisons, format)?;
    let exit = how_it_ended(context, &run, measured);
    let regressed = comparisons.iter().any(|comparison| comparison.regressed);
    Ok(if exit == Exit::Yes && regressed { Exit::No } else { exit })
}

/// Every candidate against the first configuration, as the run was told, or as `typed` says now.
pub(crate) fn compared(run: &Run, typed: &Comparing) -> Result<Vec<RunComparison>, Failure> {
    let told = run.manifest().against.clone().unwrap_or_default().comparing;
    let one_of = |typed: &[String], told: Vec<String>| if typed.is_empty() { told } else { typed.to_vec() };
    let comparing = Comparing {
        targets: one_of(&typed.targets, told.targets),
        guards: one_of(&typed.guards, told.guards),
        delta: typed.delta.or(told.delta),
        allow: [told.allow, typed.allow.clone()].concat(),
    };
    Ok(compare_candidates(run, &tenpass_review::told(&comparing))?)
}

/// The run, then what came of the comparisons. JSON has both in one document; where a format has one table
/// only, the comparison is told on stderr.
fn print(context: &Context, run: &Run, comparisons: &[RunComparison], format: Format) -> Result<(), Failure> {
    let only = runs::Only::default();
    if format == Format::Json && !comparisons.is_empty() {
        let mut summary: Value = serde_json::from_str(&runs::summary_json(run, &only)?).map_err(Failure::bug)?;
        summary["compared"] = serde_json::to_value(comparisons).map_err(Failure::bug)?;
        return context.printer.json(&summary);
    }
    runs::print_summary(context, run, &only, format)?;
    let style = Style { width: context.printer.width(), color: context.printer.colored(), unicode: true };
    for comparison in comparisons {
        if format == Format::Table {
            context.printer.out(&render_comparison(comparison, &style));
        } else {
            context.printer.note(&verdict_line(comparison));
        }
    }
    Ok(())
}

/// `REGRESSED: candidate 61.0 % against baseline 74.5 %`.
pub(crate) fn verdict_line(comparison: &RunComparison) -> String {
    let (before, after) = (&comparison.before, &comparison.after);
    format!(
        "{}: {} {:.1} % against {} {:.1} %",
        comparison.verdict,
        after.facts.configuration,
        100.0 * comparison.delta.after,
        before.facts.configuration,
        100.0 * comparison.delta.before
    )
}

/// Says what is kept where, and how to go on.
pub(crate) fn how_it_ended(context: &Context, run: &Run, measured: &Measured) -> Exit {
    let (printer, bench) = (context.printer, &run.manifest().bench);
    let place = shown(run.directory());
    let elsewhere = context.runs_flag.as_ref().map(|dir| format!(" --runs-dir {}", dir.display())).unwrap_or_default();
    let kept = format!("{} of {} passes are kept in {place}", measured.done, measured.total);
    let resume = format!("tenpass bench {bench} --resume {}{elsewhere}", run.id());
    match measured.state {
        RunState::Interrupted => {
            printer.note(&kept);
            printer.note(&format!("go on with: {resume}"));
            Exit::Interrupted
        }
        _ if measured.measured > 0 && measured.invalid == measured.measured => {
            printer.note(&format!("every pass was INVALID: nothing was measured; the faults are kept in {place}"));
            Exit::Backend
        }
        RunState::Complete => {
            printer.note(&format!(
                "kept in {place}; look closer with: tenpass runs show {} --case ID --pass N{elsewhere}",
                run.id()
            ));
            Exit::Yes
        }
        _ => {
            printer.note(&kept);
            printer.note(&format!("try the rest again with: {resume}"));
            Exit::Backend
        }
    }
}

/// A path relative to the working folder where that is shorter.
fn shown(path: &Path) -> String {
    let working = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&working).unwrap_or(path).display().to_string()
}
