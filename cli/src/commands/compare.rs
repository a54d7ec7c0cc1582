//! `tenpass compare`, and the printing of comparisons for the other commands that end in one.

use std::path::Path;

use tenpass_bench::store::Run;
use tenpass_report::{RunComparison, Style, comparison_csv, comparison_html, comparison_markdown, render_comparison};
use tenpass_review::jobs::shell_word;
use tenpass_review::{CompareOptions, ReviewError, Side, compare, find};
use tenpass_stats::SMALLEST_EFFECT;

use crate::args::review::{Compare, Comparing, ComparisonFormat};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// A run and the configuration that was named in it.
type Found = (Run, Option<String>);

/// Carries out the command.
pub(crate) fn run(context: &Context, command: &Compare) -> Result<Exit, Failure> {
    let (before, after) = find_both(&context.runs(), &command.before, &command.after)?;
    let found = compare(side(&before), side(&after), &options(&command.options))
        .map_err(|error| several(command, &before, &after, error))?;
    print(context, &found, command.format)
}

/// Where a run has several configurations: with the command that names one of each side.
fn several(command: &Compare, before: &Found, after: &Found, error: ReviewError) -> Failure {
    let (run, names) = match &error {
        ReviewError::SeveralConfigurations { run, names } => (run.clone(), names.clone()),
        _ => return error.into(),
    };
    let named = |query: &str, found: &Found, place: usize| match names.get(place) {
        Some(name) if found.1.is_none() && found.0.id() == run => shell_word(&format!("{query}/{name}")),
        _ => shell_word(query),
    };
    let second = usize::from(before.0.id() == after.0.id() && before.1.is_none());
    let (before, after) = (named(&command.before, before, 0), named(&command.after, after, second));
    Failure::from(error).hint(format!("tenpass compare {before} {after}"))
}

fn side(found: &Found) -> Side<'_> {
    Side { run: &found.0, configuration: found.1.as_deref() }
}

/// Both runs. `latest` and `baseline` are those of the bench that the other one is a run of: what says
/// more is looked for first.
fn find_both(store: &Path, before: &str, after: &str) -> Result<(Found, Found), ReviewError> {
    let vagueness = |query: &str| match query.split('/').next() {
        Some("baseline") => 2,
        Some("latest") => 1,
        _ => 0,
    };
    if vagueness(after) < vagueness(before) {
        let after = find(store, after, None)?;
        let before = find(store, before, Some(&after.0.manifest().bench))?;
        return Ok((before, after));
    }
    let before = find(store, before, None)?;
    let bench = before.0.manifest().bench.clone();
    let after = find(store, after, (vagueness(after) > 0).then_some(bench.as_str()))?;
    Ok((before, after))
}

/// What was typed, with the usual values.
pub(crate) fn options(typed: &Comparing) -> CompareOptions {
    CompareOptions {
        targets: typed.targets.clone(),
        guards: typed.guards.clone(),
        delta: typed.delta.unwrap_or(SMALLEST_EFFECT),
        allow: typed.allow.clone(),
    }
}

/// Prints a comparison; the answer is no when something regressed.
pub(crate) fn print(context: &Context, found: &RunComparison, format: ComparisonFormat) -> Result<Exit, Failure> {
    match format {
        ComparisonFormat::Json => context.printer.json(found)?,
        ComparisonFormat::Markdown => context.printer.out(&comparison_markdown(found)),
        ComparisonFormat::Html => context.printer.out(&comparison_html(found)),
        ComparisonFormat::Csv => context.printer.out(&comparison_csv(found).map_err(Failure::bug)?),
        ComparisonFormat::Parquet => super::runs_list::export_compared(context, crate::args::Format::Parquet, found)?,
        ComparisonFormat::Table => {
            let style = Style { width: context.printer.width(), color: context.printer.colored(), unicode: true };
            context.printer.out(&render_comparison(found, &style));
        }
    }
    Ok(if found.regressed { Exit::No } else { Exit::Yes })
}
