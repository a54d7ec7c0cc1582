//! `tenpass bench tools` and `tenpass bench rounds`: the same measuring, other cases.

mod configurations;
mod end;
mod plan;

pub(crate) use configurations::restored_beside as restored;
pub(crate) use end::{compared, how_it_ended};
pub(crate) use plan::comparing;

use tenpass_bench::run::{RunOptions, RunOutcome, RunPlan, execute, find_same};
use tenpass_bench::store::{Run, RunState};
use tokio_util::sync::CancellationToken;

use crate::args::bench::Bench;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::RunProgress;

/// Cases that the embedded engine decodes in one batch while several configurations take turns.
const CASES_PER_TURN: usize = 8;

/// Settings that this command's flags override.
pub(crate) fn flags(command: &Bench) -> Vec<(&'static str, String)> {
    let measure = command.measure();
    let mut flags = Vec::new();
    if let Some(passes) = measure.passes {
        flags.push(("bench.passes", passes.to_string()));
    }
    if let Some(jobs) = measure.jobs {
        flags.push(("bench.jobs", jobs.to_string()));
    }
    if let Some(timeout) = measure.timeout {
        flags.push(("bench.timeout", format!("{}ms", timeout.as_millis())));
    }
    flags
}

/// What a bench measured, or found measured.
#[derive(Debug, Clone)]
#[allow(clippy::struct_field_names, reason = "the names of a run's outcome")]
pub(crate) struct Measured {
    /// The run.
    pub(crate) run: String,
    /// How it ended.
    pub(crate) state: RunState,
    /// Passes it is to have.
    pub(crate) total: u64,
    /// Passes it has.
    pub(crate) done: u64,
    /// Passes that got their result now.
    pub(crate) measured: u64,
    /// How many of those are INVALID.
    pub(crate) invalid: u64,
}

impl From<RunOutcome> for Measured {
    fn from(outcome: RunOutcome) -> Self {
        let RunOutcome { run, state, total, done, measured, invalid, .. } = outcome;
        Self { run, state, total, done, measured, invalid }
    }
}

impl Measured {
    /// A run that was complete before.
    fn complete(run: &Run) -> Self {
        let total = run.manifest().total_passes();
        Self { run: run.id().to_owned(), state: RunState::Complete, total, done: total, measured: 0, invalid: 0 }
    }
}

/// Carries out the command.
pub(crate) async fn run(context: &Context, command: Bench) -> Result<Exit, Failure> {
    match unless_given_up(context, |cancel| measure(context, &command, cancel)).await? {
        Some(measured) => end::report(context, &command, &measured),
        None => Ok(Exit::Interrupted),
    }
}

/// Does the work until it ends, also after a Ctrl-C; `None` when it did not end in time after one.
pub(crate) async fn unless_given_up<T, Work: Future<Output = Result<T, Failure>>>(
    context: &Context,
    work: impl FnOnce(CancellationToken) -> Work,
) -> Result<Option<T>, Failure> {
    let cancel = CancellationToken::new();
    stop_on_interrupt(cancel.clone(), context.printer);
    let work = work(cancel.clone());
    // Loading a model cannot be cancelled from within; a run ends itself.
    tokio::select! {
        biased;
        result = work => result.map(Some),
        () = give_up(&cancel) => Ok(None),
    }
}

/// Completes a while after the cancellation, when nothing has ended by itself.
async fn give_up(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(std::time::Duration::from_secs(10)).await;
}

fn stop_on_interrupt(cancel: CancellationToken, printer: crate::printer::Printer) {
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            printer.note("stopping: finished passes are kept");
            cancel.cancel();
        }
    });
}

/// Measures what was typed; prints nothing but progress and notes.
pub(crate) async fn measure(
    context: &Context,
    command: &Bench,
    cancel: CancellationToken,
) -> Result<Measured, Failure> {
    let measure = command.measure();
    let resumed = match &measure.resume {
        Some(query) => Some(to_resume(context, command, query)?),
        None => None,
    };
    let mut plan = match &resumed {
        Some(run) => {
            let mut plan = RunPlan::of_run(run, configurations::stored(context, run).await?);
            configurations::apply_jobs(context, measure, &mut plan.configurations);
            if measure.timeout.is_some() {
                plan.timeout = context.resolved.settings.timeout;
            }
            plan
        }
        None => plan::new(context, command).await?,
    };
    let mut resume = resumed.map(|run| run.id().to_owned());
    if measure.r#continue
        && let Some(found) = find_same(&context.runs(), &plan, measure.seed.is_some())?
    {
        if found.manifest().state() == RunState::Complete {
            context.printer.note(&format!("run {} is exactly this, and complete", found.id()));
            return Ok(Measured::complete(&found));
        }
        plan.seed = found.manifest().seed;
        resume = Some(found.id().to_owned());
    }
    let warm_up = measure.warm_up || plan.against.is_some();
    carry_out(context, plan, resume, warm_up, cancel).await
}

fn to_resume(context: &Context, command: &Bench, query: &str) -> Result<Run, Failure> {
    let (run, _) = tenpass_review::find(&context.runs(), query, None)?;
    let bench = &run.manifest().bench;
    if bench != command.name() {
        return Err(Failure::mistake(format!("{} is a run of bench {bench}", run.id()))
            .hint(format!("tenpass bench {bench} --resume {}", run.id())));
    }
    Ok(run)
}

/// Carries out a plan, or the rest of the run `resume`.
pub(crate) async fn carry_out(
    context: &Context,
    plan: RunPlan,
    resume: Option<String>,
    warm_up: bool,
    cancel: CancellationToken,
) -> Result<Measured, Failure> {
    let mut options = RunOptions::new(context.runs());
    options.resume = resume;
    options.warm_up = warm_up;
    let batches = plan.configurations.iter().all(|configuration| configuration.model.info().backend == "embedded");
    options.cases_per_turn = if batches { CASES_PER_TURN } else { 1 };
    let progress = RunProgress::new(context.printer);
    Ok(execute(plan, options, &progress, cancel).await?.into())
}

/// A seed from the clock and the process: recorded in the manifest, so every run can be repeated.
pub(crate) fn drawn_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // 53 bits survive every JSON reader.
    (now.as_nanos() as u64 ^ u64::from(std::process::id()).rotate_left(40)) >> 11
}
