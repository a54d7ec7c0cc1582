//! Joins the parts of a partitioned run.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::SystemTime;

use crate::store::id::new_run_id;
use crate::store::lines::LineReader;
use crate::store::manifest::{RunState, Session};
use crate::store::merge_parts::{in_order, is_complete};
use crate::store::{CaseSets, EarlyStop, Manifest, OUTCOMES, PASSES, REQUESTS, Run, StoreError, list_runs};

/// Joins all parts of one partition into a new run in `store`, leaving the parts as they are.
///
/// The parts may lie in any store. They must come from the same suite, settings, program and partition.
/// Where a part is there twice, the complete one counts, and of copies of one run the one that went on
/// furthest. Passes that a part lacks are lacking in the whole, which can be resumed like any run. Joining
/// the same complete parts again returns the run that joined them before.
pub fn merge(store: &Path, parts: &[Run]) -> Result<Run, StoreError> {
    let parts = in_order(parts)?;
    if let Some(run) = joined_before(store, &parts)? {
        return Ok(run);
    }
    let sets = parts.iter().map(|run| CaseSets::read(run.directory(), run.manifest())).collect::<Result<_, _>>()?;
    let cases = CaseSets::join(sets);
    let manifest = join_manifests(&parts, cases.shared().len())?;
    check_cases(&manifest, &cases)?;
    fs::create_dir_all(store).map_err(|error| StoreError::write(store, error))?;
    let partial = store.join(format!(".{}.partial", manifest.id));
    fs::create_dir(&partial).map_err(|error| StoreError::write(&partial, error))?;
    let directory = store.join(&manifest.id);
    write_files(&partial, &manifest, &parts, &cases)
        .and_then(|()| fs::rename(&partial, &directory).map_err(|error| StoreError::write(&directory, error)))
        .inspect_err(|_| {
            let _ = fs::remove_dir_all(&partial);
        })?;
    Run::load(store, &manifest.id)
}

/// Refuses cases that are not those which the parts were dealt from: a part that was edited, or one of
/// another time with the same digests.
fn check_cases(manifest: &Manifest, cases: &CaseSets) -> Result<(), StoreError> {
    let refuse = |what: &str| Err(StoreError::Merge(format!("their cases together are not {what}")));
    if crate::cases::digest(cases.shared()) != manifest.digests.cases {
        return refuse("those that were chosen for the whole");
    }
    for (position, configuration) in manifest.configurations.iter().enumerate() {
        let Some(digests) = &configuration.digests else { continue };
        if crate::cases::digest(cases.of(position)) != digests.cases {
            return refuse(&format!("those of configuration `{}`", configuration.id));
        }
    }
    Ok(())
}

/// The run in `store` that joins exactly these parts and lacks nothing, if there is one: a scheduler may
/// start a merge again.
fn joined_before(store: &Path, parts: &[&Run]) -> Result<Option<Run>, StoreError> {
    let ids: Vec<&str> = parts.iter().map(|run| run.id()).collect();
    let runs = list_runs(store)?.into_iter().filter_map(|entry| entry.run.ok());
    let is_this = |run: &Run| run.manifest().parts == ids && run.manifest().state() == RunState::Complete;
    Ok(runs.rev().find(is_this))
}

fn join_manifests(parts: &[&Run], cases: usize) -> Result<Manifest, StoreError> {
    // in_order has seen to it that there is a first and that the others agree with it.
    let first = parts[0].manifest();
    let mut sessions = Vec::with_capacity(parts.len());
    for part in parts {
        let mut own = part.manifest().sessions.clone();
        if let Some(last) = own.last_mut().filter(|last| last.state != RunState::Complete)
            && is_complete(part)?
        {
            // It was killed after its last pass: nothing is missing in the whole.
            last.state = RunState::Complete;
        }
        sessions.push(own);
    }
    // The last session tells the state: that of the part which is furthest from complete.
    let is_unfinished = |own: &[Session]| own.last().is_none_or(|last| last.state != RunState::Complete);
    sessions.sort_by(|a, b| {
        let started = |own: &[Session]| own.first().map(|session| session.started.clone());
        is_unfinished(a).cmp(&is_unfinished(b)).then_with(|| started(a).cmp(&started(b)))
    });
    let sessions = sessions.into_iter().flatten().collect();
    Ok(Manifest {
        id: new_run_id(SystemTime::now()),
        partition: None,
        parts: parts.iter().map(|run| run.id().to_owned()).collect(),
        cases: cases as u64,
        sessions,
        early_stop: first.early_stop.as_ref().map(|rules| join_early(rules, parts)),
        ..first.clone()
    })
}

/// What the parts stopped early, together.
fn join_early(rules: &EarlyStop, parts: &[&Run]) -> EarlyStop {
    let mut joined = rules.rules();
    for early in parts.iter().filter_map(|part| part.manifest().early_stop.as_ref()) {
        joined.saved += early.saved;
        joined.closed.extend(early.closed.iter().cloned());
        joined.decided.extend(early.decided.iter().cloned());
    }
    joined
}

fn write_files(directory: &Path, manifest: &Manifest, parts: &[&Run], cases: &CaseSets) -> Result<(), StoreError> {
    cases.write(directory, manifest)?;
    for name in [REQUESTS, PASSES, OUTCOMES] {
        // Equal requests of several parts are equal lines.
        let mut seen = (name == REQUESTS).then(HashSet::new);
        join_lines(directory, name, parts, |line| seen.as_mut().is_none_or(|seen| seen.insert(line.to_vec())))?;
    }
    manifest.save(directory)
}

/// Copies the complete lines of every part that `wanted` accepts.
fn join_lines(
    directory: &Path,
    name: &str,
    parts: &[&Run],
    mut wanted: impl FnMut(&[u8]) -> bool,
) -> Result<(), StoreError> {
    let path = directory.join(name);
    let failed = |error: io::Error| StoreError::write(&path, error);
    let mut output = BufWriter::new(File::create(&path).map_err(failed)?);
    for part in parts {
        let Some(mut reader) = LineReader::open(&part.directory().join(name))? else { continue };
        while let Some((_, line)) = reader.next()? {
            if wanted(line) {
                output.write_all(line).and_then(|()| output.write_all(b"\n")).map_err(failed)?;
            }
        }
    }
    let file = output.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)
}
