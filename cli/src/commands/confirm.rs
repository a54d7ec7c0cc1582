//! `tenpass confirm`.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tenpass_bench::cases::Case;
use tenpass_bench::run::{Configuration, RunPlan};
use tenpass_bench::store::{Against, Origin, Run, open_run};
use tenpass_report::RunComparison;
use tenpass_review::{Confirmation, check_plan, confirmation, find};
use tokio_util::sync::CancellationToken;

use super::bench::{self, Measured};
use super::compare;
use crate::args::review::{Comparing, ComparisonFormat, Confirm};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Carries out the command.
pub(crate) async fn run(context: &Context, command: Confirm) -> Result<Exit, Failure> {
    let (first, named) = find(&context.runs(), &command.run, None)?;
    let confirms = confirmation(&first, command.configuration.as_deref().or(named.as_deref()))?;
    let work = |cancel| measure(context, &command, &first, &confirms, cancel);
    match bench::unless_given_up(context, work).await? {
        Some(measured) => report(context, &command, &first, &confirms, &measured),
        None => Ok(Exit::Interrupted),
    }
}

async fn measure(
    context: &Context,
    command: &Confirm,
    first: &Run,
    confirms: &Confirmation,
    cancel: CancellationToken,
) -> Result<Measured, Failure> {
    let plan = plan(context, command, first, confirms).await?;
    bench::carry_out(context, plan, None, true, cancel).await
}

/// Both configurations with the cases as they met them, a seed that the run did not have, and the run as
/// parent.
async fn plan(context: &Context, command: &Confirm, first: &Run, confirms: &Confirmation) -> Result<RunPlan, Failure> {
    let manifest = first.manifest();
    let cases = first.cases_of(&confirms.winner)?;
    let mut beside = restored(context, first, &confirms.beside, None).await?;
    let beside_cases = first.cases_of(&confirms.beside)?;
    beside.cases = (beside_cases != cases).then(|| Arc::<[Case]>::from(beside_cases));
    let winner = restored(context, first, &confirms.winner, Some(&beside)).await?;
    let mut plan = RunPlan::new(cases, manifest.digests.suite.clone(), vec![beside, winner]);
    plan.bench.clone_from(&manifest.bench);
    plan.passes = command.passes.unwrap_or(manifest.passes);
    plan.timeout = Duration::from_millis(manifest.timeout_ms);
    plan.parent = Some(first.id().to_owned());
    plan.against = Some(Against { comparing: bench::comparing(&command.options), ..Against::default() });
    plan.seed = bench::drawn_seed();
    while plan.seed == manifest.seed {
        plan.seed = bench::drawn_seed();
    }
    check_plan(&plan)?;
    Ok(plan)
}

async fn restored(
    context: &Context,
    run: &Run,
    id: &str,
    loaded: Option<&Configuration>,
) -> Result<Configuration, Failure> {
    let record = run.manifest().configurations.iter().find(|record| record.id == id);
    let record = record.ok_or_else(|| Failure::bug(format!("{} has no configuration {id}", run.id())))?;
    let mut configuration = bench::restored(context, record, loaded).await?;
    configuration.origin = Some(Origin { run: run.id().to_owned(), configuration: id.to_owned() });
    Ok(configuration)
}

/// What came of it: the comparison, and by how much the first figure was too good.
#[derive(Serialize)]
struct Confirmed<'a> {
    #[serde(flatten)]
    comparison: &'a RunComparison,
    confirms: Figures<'a>,
}

/// The winner's rate then and now, mean over cases.
#[derive(Serialize)]
struct Figures<'a> {
    run: &'a str,
    configuration: &'a str,
    first_rate: f64,
    rate: f64,
    too_good_by: f64,
}

fn report(
    context: &Context,
    command: &Confirm,
    first: &Run,
    confirms: &Confirmation,
    measured: &Measured,
) -> Result<Exit, Failure> {
    let run = open_run(&context.runs(), &measured.run)?;
    let ended = bench::how_it_ended(context, &run, measured);
    if ended != Exit::Yes {
        return Ok(ended);
    }
    let comparisons = bench::compared(&run, &bench::comparing(&Comparing::default()))?;
    let Some(found) = comparisons.first() else {
        return Err(Failure::bug(format!("run {} has nothing to compare", run.id())));
    };
    let rate = found.all.after;
    let too_good_by = confirms.first_rate - rate;
    if command.format == ComparisonFormat::Json {
        let confirms = Figures {
            run: first.id(),
            configuration: &confirms.winner,
            first_rate: confirms.first_rate,
            rate,
            too_good_by,
        };
        context.printer.json(&Confirmed { comparison: found, confirms })?;
        return Ok(if found.regressed { Exit::No } else { Exit::Yes });
    }
    let exit = compare::print(context, found, command.format)?;
    let said = said(first, confirms, rate);
    if command.format == ComparisonFormat::Table {
        context.printer.out(&said);
    } else {
        context.printer.note(&said);
    }
    Ok(exit)
}

/// The number to report, and what the first one was.
fn said(first: &Run, confirms: &Confirmation, rate: f64) -> String {
    let percent = |rate: f64| format!("{:.1} %", 100.0 * rate);
    let points = 100.0 * (confirms.first_rate - rate);
    let compared = match points {
        points if points >= 0.05 => format!("{points:.1} points too good"),
        points if points <= -0.05 => format!("{:.1} points too low", -points),
        _ => "the same".to_owned(),
    };
    format!(
        "the number to report is this one: {} passed {}, the mean over cases\nin run {}, the best of {}, it was {}: \
         {compared}",
        confirms.winner,
        percent(rate),
        first.id(),
        confirms.configurations,
        percent(confirms.first_rate),
    )
}
