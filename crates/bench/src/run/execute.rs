//! Carries out a plan: opens the run, lets the coordinator work, closes it in order.

use std::collections::HashSet;
use std::fs::File;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::run::coordinator::{Coordinator, Early, Ending};
use crate::run::judge::judge;
use crate::run::{EventSink, RunError, RunEvent, RunOptions, RunOutcome, RunPlan, offered_tools};
use crate::store::lines::{self, OpenAppend};
use crate::store::{
    Entry, Found, Index, Manifest, PASSES, PassRecord, Progress, RunState, RunWriter, StoppedRecord, StoreError,
    WritableRun, differences, open_run,
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
    let (mut run, mut found) = match &options.resume {
        None => create(&plan, &options)?,
        Some(query) => reopen(&plan, &options, query)?,
    };
    let already_done = found.progress.settled();
    let mut files = run.open_files(already_done, open)?;
    for outcome in missing_outcomes(&run, &mut found)? {
        files.push(&outcome)?;
    }
    if options.resume.is_some() {
        run.begin_session()?;
    }
    let writer = RunWriter::start(&run.directory, files)?;
    let total = run.manifest.total_passes();
    sink.event(&RunEvent::RunStarted { run: run.manifest.id.clone(), total, already_done });

    let cases = std::mem::take(&mut run.cases);
    let coordinator = Coordinator::new(&plan, &options, &run.manifest, &cases, found, writer.handle(), sink, &cancel);
    let ending = coordinator.run().await;
    let closed = writer.close().await;
    if let Some(early) = ending.early.as_ref().filter(|_| closed.is_ok()) {
        note_early(&mut run.manifest, early, already_done + ending.measured);
    }
    let total = run.manifest.total_passes();

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

/// Writes down what was decided early; a run in which nothing is left needs no more passes than it has.
fn note_early(manifest: &mut Manifest, early: &Early, done: u64) {
    let whole = manifest.cases * manifest.configurations.len() as u64 * u64::from(manifest.passes);
    if let Some(record) = &mut manifest.early_stop {
        record.decided.clone_from(&early.decided);
        record.closed = if early.finished { early.closed.clone() } else { Vec::new() };
        record.saved = if early.finished { whole - done } else { 0 };
    }
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
    if cases.shared().is_empty() {
        let part = plan.partition.map_or_else(String::new, |partition| partition.to_string());
        return Err(RunError::Plan(format!("part {part} has no case")));
    }
    let count = cases.shared().len();
    let progress = Progress::empty(count, plan.configurations.len(), plan.passes);
    let run = WritableRun::create(&options.store, plan.manifest(count), cases)?;
    Ok((run, Found { progress, ungraded: Vec::new(), requests: HashSet::new() }))
}

fn reopen(plan: &RunPlan, options: &RunOptions, query: &str) -> Result<(WritableRun, Found), RunError> {
    let directory = open_run(&options.store, query)?.directory().to_owned();
    let run = WritableRun::open(&directory)?;
    let mut wanted = plan.manifest(run.cases.shared().len());
    if plan.cases.is_empty() {
        wanted.digests = run.manifest.digests.clone();
        for (record, stored) in wanted.configurations.iter_mut().zip(&run.manifest.configurations) {
            (record.cases, record.digests) = (stored.cases.clone(), stored.digests.clone());
        }
    } else {
        // What was asked counts, not which other cases the suite has by now.
        wanted.digests.suite.clone_from(&run.manifest.digests.suite);
        for (record, stored) in wanted.configurations.iter_mut().zip(&run.manifest.configurations) {
            if let (Some(digests), Some(stored)) = (&mut record.digests, &stored.digests) {
                digests.suite.clone_from(&stored.suite);
            }
        }
    }
    let differences = differences(&run.manifest, &wanted);
    if !differences.is_empty() {
        return Err(StoreError::Mismatch { run: run.manifest.id, differences }.into());
    }
    let found = run.find()?;
    Ok((run, found))
}

/// Outcomes of passes whose process ended between writing the answer and its grade.
fn missing_outcomes(run: &WritableRun, found: &mut Found) -> Result<Vec<Entry>, StoreError> {
    if found.ungraded.is_empty() {
        return Ok(Vec::new());
    }
    let path = run.directory.join(PASSES);
    let mut file = File::open(&path).map_err(|error| StoreError::read(&path, error))?;
    let mut entries = Vec::with_capacity(found.ungraded.len());
    for place in &found.ungraded {
        let pass: PassRecord = lines::read_at(&path, &mut file, *place)?;
        let mut configurations = run.manifest.configurations.iter().enumerate();
        let configuration = configurations.find(|(_, configuration)| configuration.id == pass.configuration);
        let place = run.cases.shared().iter().position(|case| case.id == pass.case);
        // Progress::scan has refused lines with other names.
        if let Some(((position, configuration), place)) = configuration.zip(place) {
            let case = &run.cases.of(position)[place];
            let outcome = judge(&pass, case, &offered_tools(case, configuration));
            found.progress.grade(place, position, pass.pass, outcome.success);
            entries.push(Entry::Outcome(outcome.into()));
        }
    }
    Ok(entries)
}
