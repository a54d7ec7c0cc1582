//! `tenpass nightly`: the benches of the profile, one after the other, each beside its baseline.

mod outputs;
pub(super) mod speech;
mod step;
mod units;

use std::time::SystemTime;

use tenpass_bench::store::timestamp;
use tenpass_config::{Nightly as Wanted, Origin};
use tenpass_report::RunComparison;
use tenpass_review::nightly::{Night, NightError, NightState, Nights, Plan, StepState, one_line};
use tokio_util::sync::CancellationToken;

use super::bench::{drawn_seed, unless_given_up};
use super::nightly_jobs;
use crate::args::review::Nightly;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

impl From<NightError> for Failure {
    fn from(error: NightError) -> Self {
        let hint = error.hint();
        // That another night runs is nobody's mistake: what is needed is not free.
        let failure = match error {
            NightError::Running { .. } => Self::backend(&error),
            _ => Self::mistake(&error),
        };
        failure.hint(hint)
    }
}

/// Carries out the command.
pub(crate) async fn run(context: &Context, command: Nightly) -> Result<Exit, Failure> {
    if command.systemd {
        return units::print(context, &command);
    }
    if let Some(scheduler) = command.jobs {
        return nightly_jobs::write(context, &command, scheduler, plan(context)?);
    }
    if command.out.is_some() {
        return Err(Failure::mistake("--out goes with --jobs or --systemd").hint("the nights are kept in --dir DIR"));
    }
    let nights = Nights::new(command.dir.clone().unwrap_or_else(|| context.runs().join("nights")));
    if command.history {
        return outputs::history(context, &nights);
    }
    let plan = plan(context)?;
    let _lock = nights.lock()?;
    let mut night = if let Some(mut night) = nights.unfinished(&plan)?.filter(|_| !command.fresh) {
        night.resumed += 1;
        context.printer.note(&format!("going on with the night of {}", night.id));
        night
    } else {
        let date = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
        nights.create(&date, plan, drawn_seed(), timestamp(SystemTime::now()))?
    };
    if let Some(Some(comparisons)) =
        unless_given_up(context, |cancel| work(context, &nights, &mut night, cancel)).await?
    {
        outputs::write(context, &nights, &night, &comparisons)
    } else {
        context.printer.note("stopped; `tenpass nightly` goes on with it");
        Ok(Exit::Interrupted)
    }
}

/// What the settings ask for.
fn plan(context: &Context) -> Result<Plan, Failure> {
    let settings = &context.resolved.settings;
    let Wanted { benches, models, filter, delta_micros } = settings.nightly.clone();
    if benches.is_empty() {
        return Err(Failure::mistake("`nightly.benches` names no bench")
            .hint("name some in the settings: benches = [\"tools\", \"rounds\"]"));
    }
    if delta_micros == 0 || delta_micros >= 1_000_000 {
        return Err(Failure::mistake("`nightly.delta` must be above 0 and below 1").hint("such as 0.05"));
    }
    let benches = there(context, benches)?;
    let models = if models.is_empty() { vec![settings.model.clone()] } else { models };
    let mut steps = Vec::new();
    for bench in benches {
        if bench == "claims" || speech::is_one(&bench) {
            steps.push((bench, None));
        } else {
            steps.extend(models.iter().map(|model| (bench.clone(), Some(model.clone()))));
        }
    }
    steps.dedup();
    Ok(Plan { profile: settings.profile.clone(), passes: settings.passes, filter, delta_micros, steps })
}

/// The benches whose cases are here. One that the settings name must be here: a night without it would fail
/// every time. Of the usual ones those that are not are left out.
fn there(context: &Context, benches: Vec<String>) -> Result<Vec<String>, Failure> {
    let entry = context.resolved.entries().iter().find(|entry| entry.key == "nightly.benches");
    let usual = entry.is_some_and(|entry| entry.origin == Origin::Default);
    let (there, missing): (Vec<String>, Vec<String>) = benches.into_iter().partition(|bench| context.has_bench(bench));
    match missing.first() {
        Some(bench) if there.is_empty() || !usual => {
            Err(Failure::mistake(format!("there is nothing of bench {bench} here"))
                .hint("run it inside the project, or name the benches that it has in the settings: nightly.benches"))
        }
        Some(bench) => {
            context.printer.note(&format!("there is no cases/{bench} here: bench {bench} is left out"));
            Ok(there)
        }
        None => Ok(there),
    }
}

/// Does every step that is not done; `None` when it was interrupted. What could not be measured is kept as
/// such, and the other steps go on.
async fn work(
    context: &Context,
    nights: &Nights,
    night: &mut Night,
    cancel: CancellationToken,
) -> Result<Option<Vec<RunComparison>>, Failure> {
    let mut comparisons = Vec::new();
    let earlier: Vec<Night> = nights.all()?.into_iter().take_while(|known| known.id != night.id).collect();
    for place in 0..night.steps.len() {
        if night.steps[place].result().is_some() {
            comparisons.extend(step::again(context, night, place)?);
            context.printer.out(&one_line(&night.steps[place]));
            continue;
        }
        night.steps[place].state = StepState::Running { run: None };
        nights.save(night)?;
        let (state, comparison) = match step::measure(context, &earlier, night, place, cancel.clone()).await {
            Ok(step::Ended::Interrupted { run }) => {
                night.steps[place].state = StepState::Running { run };
                nights.save(night)?;
                return Ok(None);
            }
            Ok(step::Ended::Measured { result, comparison }) => {
                (StepState::Done { result }, comparison.map(|found| *found))
            }
            Ok(step::Ended::Incomplete { run, done, total }) => {
                let error = format!("{done} of {total} passes were measured");
                (StepState::Failed { error, hint: format!("tenpass bench --resume {run}"), run: Some(run) }, None)
            }
            Err(failure) => {
                let hint = failure.hint.clone().unwrap_or_default();
                (StepState::Failed { error: failure.message, hint, run: None }, None)
            }
        };
        night.steps[place].state = state;
        nights.save(night)?;
        context.printer.out(&one_line(&night.steps[place]));
        comparisons.extend(comparison);
    }
    night.state = NightState::Done;
    night.finished = Some(timestamp(SystemTime::now()));
    nights.save(night)?;
    Ok(Some(comparisons))
}
