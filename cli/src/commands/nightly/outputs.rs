//! What a night leaves: the page, JUnit XML, the summary, one line a step, and the exit code.

use std::collections::HashSet;

use serde::Serialize;
use tenpass_bench::store::{Run, open_run};
use tenpass_exchange::junit::{self, Suite, TestCase, TestResult, Trouble};
use tenpass_report::RunComparison;
use tenpass_review::nightly::{Night, Nights, Roles, Step, StepState, extras, first_broken, markdown, one_line};
use tenpass_review::{ReportOptions, save_report};

use crate::commands::table::table;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Writes everything, prints the verdicts, and says how the night ended.
pub(super) fn write(
    context: &Context,
    nights: &Nights,
    night: &Night,
    comparisons: &[RunComparison],
) -> Result<Exit, Failure> {
    let all = up_to(nights.all()?, night);
    let summary = markdown(night, &all);
    nights.write(&night.id, "summary.md", summary.as_bytes())?;
    let runs = runs(context, night)?;
    let mut xml = Vec::new();
    junit::write(&suites(&runs, night, &all)?, &mut xml).map_err(Failure::bug)?;
    nights.write(&night.id, "junit.xml", &xml)?;
    let folder = nights.of(&night.id);
    let page = if runs.is_empty() { "" } else { "report.html, " };
    if !runs.is_empty() {
        let options = ReportOptions {
            title: Some(format!("tenpass: the night of {}", night.id)),
            extras: extras(night, &all),
            ..ReportOptions::default()
        };
        let runs: Vec<Run> = runs.into_iter().map(|(_, run)| run).collect();
        save_report(&runs, comparisons, &options, &folder.join("report.html"))?;
    }
    let mut something_broke = false;
    for step in &night.steps {
        let broken = first_broken(&all, &step.bench, step.model.as_deref());
        if let Some(first) = broken.first() {
            // Also where the baseline, measured afresh on what is there now, fell with it: a model or a
            // server that was replaced.
            something_broke = true;
            let (name, case, night) = (step.name(), &first.case, &first.since);
            context.printer.out(&format!("{name}: first to break: {case}, on the night of {night}"));
        }
    }
    context.printer.note(&format!("{page}junit.xml and summary.md are in {}", folder.display()));
    Ok(match (night.is_bad() || something_broke, night.is_incomplete()) {
        (true, _) => Exit::No,
        (false, true) => Exit::Backend,
        (false, false) => Exit::Yes,
    })
}

/// The nights before this one, and this one.
fn up_to(all: Vec<Night>, night: &Night) -> Vec<Night> {
    let place = all.iter().position(|known| known.id == night.id).map_or(all.len(), |place| place + 1);
    all.into_iter().take(place).collect()
}

/// The runs of the steps that were measured.
fn runs<'a>(context: &Context, night: &'a Night) -> Result<Vec<(&'a Step, Run)>, Failure> {
    let store = context.runs();
    // Runs of speech have a store and tables of their own.
    let of_models = night.steps.iter().filter(|step| !super::speech::is_one(&step.bench));
    let ids = of_models.filter_map(|step| Some((step, step.result()?.run.as_deref()?)));
    ids.map(|(step, id)| Ok((step, open_run(&store, id)?))).collect()
}

/// One suite a step: its cases, and a test for the comparison with the baseline.
fn suites(runs: &[(&Step, Run)], night: &Night, all: &[Night]) -> Result<Vec<Suite>, Failure> {
    let mut suites = Vec::new();
    for step in &night.steps {
        let run = runs.iter().find(|(other, _)| std::ptr::eq(*other, step)).map(|(_, run)| run);
        let mut suite = match run.and_then(|run| Some((run, Roles::of(run)?))) {
            Some((run, roles)) => {
                let of_run = junit::suites(run, Some(&roles.candidate));
                of_run.map_err(|error| Failure::mistake(&error).hint(error.hint()))?.pop().unwrap_or_default()
            }
            None => Suite { timestamp: Some(night.started.clone()), ..Suite::default() },
        };
        suite.name = step.name();
        let broken: HashSet<String> =
            first_broken(all, &step.bench, step.model.as_deref()).into_iter().map(|broken| broken.case).collect();
        for case in suite.cases.iter_mut().filter(|case| broken.contains(&case.name)) {
            case.properties.push(("broken".to_owned(), "true".to_owned()));
        }
        suite.cases.push(TestCase {
            name: "the night's verdict".to_owned(),
            class: step.bench.clone(),
            result: verdict(step),
            output: one_line(step),
            ..TestCase::default()
        });
        suites.push(suite);
    }
    Ok(suites)
}

fn verdict(step: &Step) -> TestResult {
    let trouble = |kind: &str| Trouble { message: one_line(step), kind: kind.to_owned(), text: String::new() };
    match &step.state {
        StepState::Done { result } if result.gate_failed.is_some() => TestResult::Failed(trouble("gate")),
        StepState::Done { result } if result.is_bad() => TestResult::Failed(trouble("regressed")),
        StepState::Done { .. } => TestResult::Passed,
        StepState::Failed { .. } | StepState::Running { .. } | StepState::Waiting => {
            TestResult::Errored(trouble("not measured"))
        }
    }
}

/// One line of the history.
#[derive(Serialize)]
struct Line {
    night: String,
    bench: String,
    model: String,
    rate: String,
    verdict: String,
    run: String,
}

/// Prints past nights, newest first.
pub(super) fn history(context: &Context, nights: &Nights) -> Result<Exit, Failure> {
    let mut lines = Vec::new();
    for night in nights.all()?.iter().rev() {
        lines.extend(night.steps.iter().map(|step| line(night, step)));
    }
    if lines.is_empty() {
        context.printer.note("no night yet; `tenpass nightly` makes one");
        return Ok(Exit::Yes);
    }
    let rows: Vec<Vec<String>> = lines
        .into_iter()
        .map(|line| vec![line.night, line.bench, line.model, line.rate, line.verdict, line.run])
        .collect();
    context.printer.out(&table(&["night", "bench", "model", "right", "verdict", "run"], &rows, &[3]));
    Ok(Exit::Yes)
}

fn line(night: &Night, step: &Step) -> Line {
    let result = step.result();
    let verdict = match (&step.state, result.and_then(|result| result.comparison.as_ref())) {
        (_, Some(found)) => found.verdict.clone(),
        (StepState::Done { result }, None) if result.gate_failed.is_some() => "GATE FAILED".to_owned(),
        (StepState::Done { .. }, None) => "measured".to_owned(),
        (StepState::Failed { .. }, None) => "FAILED".to_owned(),
        _ => "unfinished".to_owned(),
    };
    let rate = result
        .filter(|result| result.total > 0)
        .map(|result| format!("{:.1} %", 100.0 * result.passed as f64 / result.total as f64));
    Line {
        night: night.id.clone(),
        bench: step.bench.clone(),
        model: step.model.clone().unwrap_or_default(),
        rate: rate.unwrap_or_default(),
        verdict,
        run: result.and_then(|result| result.run.clone()).unwrap_or_default(),
    }
}
