//! One step of a night: the words that a person would type for it, carried out.

use clap::Parser;
use tenpass_bench::store::{RunState, open_run};
use tenpass_report::RunComparison;
use tenpass_review::nightly::{BenchResult, Night, Roles, measure as counted};
use tenpass_review::{CompareOptions, ReviewError, baseline_of};
use tokio_util::sync::CancellationToken;

use super::speech;
use crate::args::bench::{Bench, Benches};
use crate::args::{Arguments, Command};
use crate::commands::{bench, claims};
use crate::context::Context;
use crate::failure::Failure;

/// How a step ended.
pub(super) enum Ended {
    /// By Ctrl-C: what is finished is kept in the run.
    Interrupted { run: Option<String> },
    /// Some passes could not be measured.
    Incomplete { run: String, done: u64, total: u64 },
    /// With a result.
    Measured { result: Box<BenchResult>, comparison: Option<Box<RunComparison>> },
}

/// Measures the step at `place`.
pub(super) async fn measure(
    context: &Context,
    earlier: &[Night],
    night: &Night,
    place: usize,
    cancel: CancellationToken,
) -> Result<Ended, Failure> {
    let step = &night.steps[place];
    if speech::is_one(&step.bench) {
        return speech::measure(context, earlier, night, &step.bench);
    }
    let Some(model) = &step.model else {
        return Ok(Ended::Measured { result: Box::new(claims::nightly(context)?), comparison: None });
    };
    let (baseline, note) = baseline(context, &step.bench, model)?;
    let words = words(night, &step.bench, model, baseline.as_deref());
    let measured = bench::measure(context, &parsed(&words)?, cancel).await?;
    match measured.state {
        RunState::Complete => {}
        RunState::Interrupted => return Ok(Ended::Interrupted { run: Some(measured.run) }),
        _ => return Ok(Ended::Incomplete { run: measured.run, done: measured.done, total: measured.total }),
    }
    let (mut result, comparison) = result(context, night, &measured.run)?;
    result.notes.extend(note);
    Ok(Ended::Measured { result: Box::new(result), comparison: comparison.map(Box::new) })
}

/// The comparison of a step that an earlier process of this night has measured.
pub(super) fn again(context: &Context, night: &Night, place: usize) -> Result<Option<RunComparison>, Failure> {
    match night.steps[place].result().and_then(|result| result.run.as_deref()) {
        Some(run) if !speech::is_one(&night.steps[place].bench) => Ok(result(context, night, run)?.1),
        _ => Ok(None),
    }
}

fn result(context: &Context, night: &Night, run: &str) -> Result<(BenchResult, Option<RunComparison>), Failure> {
    let run = open_run(&context.runs(), run)?;
    let roles = Roles::of(&run).ok_or_else(|| Failure::bug(format!("run {} has too few configurations", run.id())))?;
    let options =
        CompareOptions { delta: night.plan.delta(), allow: vec!["all".to_owned()], ..CompareOptions::default() };
    let measured = counted(&run, &roles, &options)?;
    Ok((measured.result, measured.comparison))
}

/// The baseline of a bench for this model, and what is to be said where there is none.
fn baseline(context: &Context, bench: &str, model: &str) -> Result<(Option<String>, Option<String>), Failure> {
    let store = context.runs();
    let found = match baseline_of(&store, Some(bench)) {
        Ok(found) => found,
        Err(ReviewError::NoBaseline { .. }) => {
            let note =
                format!("no baseline: `tenpass runs bless RUN` makes a run of bench {bench} the one to compare with");
            return Ok((None, Some(note)));
        }
        Err(error) => return Err(error.into()),
    };
    let records = &found.run.manifest().configurations;
    let spec = records.iter().find(|record| record.id == found.configuration).map(|record| record.spec.as_str());
    if spec == Some(model) {
        return Ok((Some(format!("{}/{}", found.run.id(), found.configuration)), None));
    }
    let other = spec.unwrap_or_default();
    Ok((None, Some(format!("no baseline for this model: that of bench {bench} is of {other}"))))
}

/// The model twice: the second, with seeds of its own, shows what no change looks like.
fn words(night: &Night, bench: &str, model: &str, baseline: Option<&str>) -> Vec<String> {
    let mut words: Vec<String> =
        ["tenpass", "bench", bench, "--model", model, "--model", model, "--warm-up", "--continue"]
            .into_iter()
            .map(str::to_owned)
            .collect();
    words.extend(["--seed".to_owned(), night.seed.to_string()]);
    for text in &night.plan.filter {
        words.extend(["--filter".to_owned(), text.clone()]);
    }
    if let Some(baseline) = baseline {
        // Everything may have changed since the baseline: that is what a night is for.
        words.extend(["--against".to_owned(), baseline.to_owned(), "--allow".to_owned(), "all".to_owned()]);
    }
    words
}

fn parsed(words: &[String]) -> Result<Bench, Failure> {
    let arguments = Arguments::try_parse_from(words).map_err(|error| {
        let text = error.to_string();
        Failure::mistake(text.lines().next().unwrap_or_default().trim_start_matches("error: "))
            .hint("check `nightly.models` and `nightly.filter` in the settings")
    })?;
    match arguments.command {
        Command::Bench(Benches::Model(bench)) => Ok(bench),
        _ => Err(Failure::bug("these words are no bench")),
    }
}

#[cfg(test)]
mod tests {
    use tenpass_review::nightly::Plan;

    use super::*;

    #[test]
    fn the_words_of_a_step_are_a_bench_against_its_baseline_with_the_model_twice() {
        let plan = Plan {
            profile: None,
            passes: 10,
            filter: vec!["--not-a-flag".into()],
            delta_micros: 50_000,
            steps: vec![("tools".into(), Some("replay:a b".into()))],
        };
        let night = Night::new("2026-11-30".into(), plan, 7, String::new());
        let words = words(&night, "tools", "replay:a b", Some("20261130-030000-aaaa/replay:a b"));
        let error = parsed(&words).unwrap_err();
        assert!(error.message.contains("--not-a-flag"), "{}", error.message);
        let mut night = night;
        night.plan.filter = vec!["letter".into()];
        let words = super::words(&night, "tools", "replay:a b", Some("20261130-030000-aaaa/replay:a b"));
        let Bench::Tools(tools) = parsed(&words).unwrap() else { panic!("not the bench that was asked for") };
        let measure = tools.measure;
        assert_eq!(measure.models.len(), 2);
        assert_eq!(measure.against.as_deref(), Some("20261130-030000-aaaa/replay:a b"));
        assert_eq!((measure.seed, measure.filter), (Some(7), vec!["letter".to_owned()]));
        assert!(measure.r#continue && measure.warm_up);
    }
}
