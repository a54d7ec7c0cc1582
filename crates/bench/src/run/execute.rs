//! Carries out a plan: opens the run, lets the coordinator work, closes it in order.

use std::collections::HashSet;
use std::fs::File;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::run::coordinator::{Coordinator, Ending};
use crate::run::judge::judge;
use crate::run::{EventSink, RunError, RunEvent, RunOptions, RunOutcome, RunPlan, offered_tools};
use crate::store::lines::{self, OpenAppend};
use crate::store::{
    Entry, Found, Index, PASSES, PassRecord, Progress, RunState, RunWriter, StoppedRecord, StoreError, WritableRun,
    differences, open_run,
};

/// Carries out `plan`, telling `sink` what happens.
///
/// Cancelling ends cleanly: requests in flight are dropped, every finished pass is kept. An error
/// of the store ends the run with what was written before; a configuration that cannot go on ends
/// alone and is reported in the outcome. Must be called within a tokio runtime.
pub async fn execute(
    plan: RunPlan,
    options: RunOptions,
    sink: &dyn EventSink,
    cancel: CancellationToken,
) -> Result<RunOutcome, RunError> {
    execute_with(plan, options, sink, cancel, lines::open_append).await
}

/// [`execute`] with another way to open files, so that a test can run out of space.
pub(crate) async fn execute_with(
    plan: RunPlan,
    options: RunOptions,
    sink: &dyn EventSink,
    cancel: CancellationToken,
    open: OpenAppend,
) -> Result<RunOutcome, RunError> {
    let began = Instant::now();
    plan.check(options.resume.is_some())?;
    let (mut run, found) = match &options.resume {
        None => create(&plan, &options)?,
        Some(query) => reopen(&plan, &options, query)?,
    };
    let already_done = found.progress.settled();
    let mut files = run.open_files(already_done, open)?;
    for outcome in missing_outcomes(&run, &found)? {
        files.push(&outcome)?;
    }
    if options.resume.is_some() {
        run.begin_session()?;
    }
    let writer = RunWriter::start(&run.directory, files)?;
    let total = run.manifest.total_passes();
    sink.event(&RunEvent::RunStarted { run: run.manifest.id.clone(), total, already_done });

    let cases = std::mem::take(&mut run.cases);
    let coordinator = Coordinator::new(&plan, &options, &run.manifest, cases, found, writer.handle(), sink, &cancel);
    let ending = coordinator.run().await;
    let closed = writer.close().await;

    let mut outcome = RunOutcome {
        run: run.manifest.id.clone(),
        directory: run.directory.clone(),
        state: state_of(&ending, &closed, already_done, total),
        total,
        done: already_done + ending.measured,
        measured: ending.measured,
        invalid: ending.invalid,
        stopped: ending.stopped,
        elapsed: began.elapsed(),
    };
    let stopped = outcome.stopped.iter().map(|stopped| StoppedRecord {
        configuration: stopped.configuration.clone(),
        error: stopped.error.to_string(),
        hint: stopped.error.hint().to_owned(),
    });
    let noted = run.end_session(outcome.state, stopped.collect());
    // The first error is the one that explains the others.
    closed?;
    noted?;
    // Reading the run later is faster now; should this fail, the reader does it and reports.
    let _ = Index::open(&options.store, &run.directory, &run.manifest);
    outcome.elapsed = began.elapsed();
    let (done, total) = (outcome.done, outcome.total);
    sink.event(&match outcome.state {
        RunState::Interrupted => RunEvent::Interrupted { done, total },
        _ => RunEvent::RunFinished { done, total },
    });
    Ok(outcome)
}

fn state_of(ending: &Ending, closed: &Result<(), StoreError>, already_done: u64, total: u64) -> RunState {
    if closed.is_err() {
        RunState::Failed
    } else if ending.stopped.is_empty() && already_done + ending.measured == total {
        RunState::Complete
    } else if ending.cancelled {
        RunState::Interrupted
    } else {
        RunState::Failed
    }
}

fn create(plan: &RunPlan, options: &RunOptions) -> Result<(WritableRun, Found), RunError> {
    let cases = plan.own_cases();
    if cases.is_empty() {
        let part = plan.partition.map_or_else(String::new, |partition| partition.to_string());
        return Err(RunError::Plan(format!("part {part} has no case")));
    }
    let progress = Progress::empty(cases.len(), plan.configurations.len(), plan.passes);
    let run = WritableRun::create(&options.store, plan.manifest(cases.len()), cases)?;
    Ok((run, Found { progress, ungraded: Vec::new(), requests: HashSet::new() }))
}

fn reopen(plan: &RunPlan, options: &RunOptions, query: &str) -> Result<(WritableRun, Found), RunError> {
    let directory = open_run(&options.store, query)?.directory().to_owned();
    let run = WritableRun::open(&directory)?;
    let mut wanted = plan.manifest(run.cases.len());
    if plan.cases.is_empty() {
        wanted.digests = run.manifest.digests.clone();
    } else {
        // What was asked counts, not which other cases the suite has by now.
        wanted.digests.suite.clone_from(&run.manifest.digests.suite);
    }
    let differences = differences(&run.manifest, &wanted);
    if !differences.is_empty() {
        return Err(StoreError::Mismatch { run: run.manifest.id, differences }.into());
    }
    let found = run.find()?;
    Ok((run, found))
}

/// Outcomes of passes whose process ended between writing the answer and its grade.
fn missing_outcomes(run: &WritableRun, found: &Found) -> Result<Vec<Entry>, StoreError> {
    if found.ungraded.is_empty() {
        return Ok(Vec::new());
    }
    let path = run.directory.join(PASSES);
    let mut file = File::open(&path).map_err(|error| StoreError::read(&path, error))?;
    let mut entries = Vec::with_capacity(found.ungraded.len());
    for place in &found.ungraded {
        let pass: PassRecord = lines::read_at(&path, &mut file, *place)?;
        let case = run.cases.iter().find(|case| case.id == pass.case);
        let configuration =
            run.manifest.configurations.iter().find(|configuration| configuration.id == pass.configuration);
        // Progress::scan has refused lines with other names.
        if let (Some(case), Some(configuration)) = (case, configuration) {
            entries.push(Entry::Outcome(judge(&pass, case, &offered_tools(case, configuration)).into()));
        }
    }
    Ok(entries)
}
