//! Which runs are the parts of one whole: one for each number, all made with equal settings.

use std::fs::File;
use std::io::{self, BufReader, Read};

use crate::run::Partition;
use crate::store::lines::trusted_length;
use crate::store::lock::holder;
use crate::store::session::differences;
use crate::store::{Manifest, PASSES, Progress, Run, RunState, StoreError};

fn refuse<T>(reason: String) -> Result<T, StoreError> {
    Err(StoreError::Merge(reason))
}

/// The parts by number, when they make a whole.
pub(super) fn in_order(parts: &[Run]) -> Result<Vec<&Run>, StoreError> {
    let Some(first) = parts.first() else { return refuse("there are none".to_owned()) };
    let mut numbered = Vec::with_capacity(parts.len());
    for run in parts {
        let Some(partition) = run.manifest().partition else {
            return refuse(format!("{} is not a part of a partition", run.id()));
        };
        run.manifest().check_writable(run.directory())?;
        if let Some(by) = holder(run.directory()) {
            return Err(StoreError::Locked { run: run.id().to_owned(), by });
        }
        let differences = disagreements(first.manifest(), run.manifest());
        if !differences.is_empty() {
            return refuse(format!(
                "{} differs from {} (\"in the run\" is {}): {}",
                run.id(),
                first.id(),
                first.id(),
                differences.join("; ")
            ));
        }
        numbered.push((partition.part(), run));
    }
    let of = first.manifest().partition.map_or(0, Partition::of);
    (1..=of)
        .map(|part| {
            let found: Vec<&Run> = numbered.iter().filter(|(number, _)| *number == part).map(|(_, run)| *run).collect();
            match found.as_slice() {
                [run] => Ok(*run),
                [] => refuse(format!("part {part}/{of} is missing")),
                several => one_of(several, &format!("{part}/{of}")),
            }
        })
        .collect()
}

/// What two parts of one run must have in common and do not. They may have run at other times, on other
/// machines, with other speed.
fn disagreements(first: &Manifest, other: &Manifest) -> Vec<String> {
    let mut found = differences(first, other);
    let mut compare = |what: &str, there: String, here: String| {
        if there != here {
            found.push(format!("{what}: {there} in the run, {here} now"));
        }
    };
    compare("program", programs(first), programs(other));
    let parent = |manifest: &Manifest| manifest.parent.clone().unwrap_or_else(|| "none".to_owned());
    compare("parent", parent(first), parent(other));
    let regraded =
        |manifest: &Manifest| manifest.regraded.as_ref().map_or("no", |regraded| regraded.cases.as_str()).to_owned();
    compare("graded again against", regraded(first), regraded(other));
    if let Some(partition) = other.partition.filter(|own| Some(own.of()) != first.partition.map(Partition::of)) {
        found.push(format!("it is part {partition}"));
    }
    found
}

/// The versions of the program that worked on a run, each once, in order.
fn programs(manifest: &Manifest) -> String {
    let mut versions: Vec<&str> = manifest.sessions.iter().map(|session| session.program.as_str()).collect();
    versions.dedup();
    versions.join(" and ")
}

/// Of several runs of one part the one to take: the complete one, where a scheduler killed the others.
fn one_of<'a>(several: &[&'a Run], part: &str) -> Result<&'a Run, StoreError> {
    let names = |runs: &[&Run]| runs.iter().map(|run| run.id()).collect::<Vec<_>>().join(" and ");
    let places =
        |runs: &[&Run]| runs.iter().map(|run| run.directory().display().to_string()).collect::<Vec<_>>().join(" and ");
    // Copies of one run: the one that went on furthest, if it went on from what the others have.
    let mut distinct: Vec<&Run> = Vec::new();
    for run in several {
        match distinct.iter_mut().find(|known| known.id() == run.id()) {
            None => distinct.push(run),
            Some(known) => match continuation(known, run)? {
                Some(longer) => *known = longer,
                None => return refuse(format!("{} were gone on with apart", places(&[*known, *run]))),
            },
        }
    }
    if let [only] = distinct.as_slice() {
        return Ok(*only);
    }
    let mut complete = Vec::new();
    for run in &distinct {
        if is_complete(run)? {
            complete.push(*run);
        }
    }
    match complete.as_slice() {
        [one] => Ok(*one),
        [] => refuse(format!("{} are all part {part}, and none is complete", names(&distinct))),
        several => refuse(format!("{} are all part {part}", names(several))),
    }
}

/// Of two copies of one run the one whose passes begin with all of the other's.
fn continuation<'a>(one: &'a Run, other: &'a Run) -> Result<Option<&'a Run>, StoreError> {
    let (length, other_length) = (passes_length(one)?, passes_length(other)?);
    let (shorter, longer) = if length <= other_length { (one, other) } else { (other, one) };
    let same = equal_beginning(shorter, longer, length.min(other_length))?;
    // Of equal files the one that was closed in order.
    let is_closed = |run: &Run| run.manifest().state() == RunState::Complete;
    let chosen = if length == other_length && is_closed(shorter) { shorter } else { longer };
    Ok(same.then_some(chosen))
}

fn passes_file(run: &Run) -> Result<Option<File>, StoreError> {
    let path = run.directory().join(PASSES);
    match File::open(&path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::read(&path, error)),
    }
}

/// Bytes of the complete lines.
fn passes_length(run: &Run) -> Result<u64, StoreError> {
    let Some(mut file) = passes_file(run)? else { return Ok(0) };
    trusted_length(&mut file).map_err(|error| StoreError::read(&run.directory().join(PASSES), error))
}

fn equal_beginning(one: &Run, other: &Run, length: u64) -> Result<bool, StoreError> {
    let (Some(first), Some(second)) = (passes_file(one)?, passes_file(other)?) else { return Ok(length == 0) };
    let failed = |error| StoreError::read(&one.directory().join(PASSES), error);
    let (mut first, mut second) = (BufReader::new(first.take(length)), BufReader::new(second.take(length)));
    let mut blocks = (vec![0; 64 << 10], vec![0; 64 << 10]);
    let mut left = length;
    while left > 0 {
        let size = left.min(64 << 10) as usize;
        first.read_exact(&mut blocks.0[..size]).map_err(failed)?;
        second.read_exact(&mut blocks.1[..size]).map_err(failed)?;
        if blocks.0[..size] != blocks.1[..size] {
            return Ok(false);
        }
        left -= size as u64;
    }
    Ok(true)
}

/// Whether nothing is left to measure: it ended so, or was killed after its last pass.
pub(super) fn is_complete(run: &Run) -> Result<bool, StoreError> {
    if run.manifest().state() == RunState::Complete {
        return Ok(true);
    }
    let cases = run.cases()?;
    let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    let (progress, _) = Progress::scan(run.directory(), run.manifest(), &ids)?;
    Ok(progress.settled() == run.manifest().total_passes())
}
