//! Joins the parts of a partitioned run.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::SystemTime;

use crate::cases::Case;
use crate::run::Partition;
use crate::store::id::new_run_id;
use crate::store::lines::LineReader;
use crate::store::manifest::RunState;
use crate::store::session::differences;
use crate::store::{CASES, Manifest, OUTCOMES, PASSES, REQUESTS, Run, StoreError};

/// Joins all parts of one partition into a new run in `store`, leaving the parts as they are.
///
/// The parts must come from the same suite, settings and partition, each part once. Passes that a
/// part lacks are lacking in the whole, which can be resumed like any run.
pub fn merge(store: &Path, parts: &[Run]) -> Result<Run, StoreError> {
    let parts = in_order(parts)?;
    let cases = join_cases(&parts)?;
    let manifest = join_manifests(&parts, cases.len());
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

/// The parts by number, when they make a whole.
fn in_order(parts: &[Run]) -> Result<Vec<&Run>, StoreError> {
    let refuse = |reason: String| Err(StoreError::Merge(reason));
    let Some(first) = parts.first() else { return refuse("there are none".to_owned()) };
    let mut ordered = Vec::with_capacity(parts.len());
    for run in parts {
        let Some(partition) = run.manifest().partition else {
            return refuse(format!("{} is not a part of a partition", run.id()));
        };
        run.manifest().check_writable(run.directory())?;
        let mut differences = differences(first.manifest(), run.manifest());
        if first.manifest().partition.map(Partition::of) != Some(partition.of()) {
            differences.push(format!("it is part {partition}"));
        }
        if !differences.is_empty() {
            return refuse(format!(
                "{} differs from {} (\"in the run\" is {}): {}",
                run.id(),
                first.id(),
                first.id(),
                differences.join("; ")
            ));
        }
        ordered.push((partition, run));
    }
    ordered.sort_by_key(|(partition, _)| partition.part());
    let wanted = 1..=ordered.first().map_or(0, |(partition, _)| partition.of());
    for part in wanted.clone() {
        let found: Vec<&str> =
            ordered.iter().filter(|(partition, _)| partition.part() == part).map(|(_, run)| run.id()).collect();
        match found.as_slice() {
            [_] => {}
            [] => return refuse(format!("part {part}/{} is missing", wanted.end())),
            several => return refuse(format!("{} are all part {part}/{}", several.join(" and "), wanted.end())),
        }
    }
    Ok(ordered.into_iter().map(|(_, run)| run).collect())
}

/// The cases in the order they had before the partition dealt them out.
fn join_cases(parts: &[&Run]) -> Result<Vec<Case>, StoreError> {
    let hands: Vec<Vec<Case>> = parts.iter().map(|run| run.cases()).collect::<Result<_, _>>()?;
    let most = hands.iter().map(Vec::len).max().unwrap_or(0);
    let mut hands: Vec<_> = hands.into_iter().map(Vec::into_iter).collect();
    let mut cases = Vec::new();
    for _ in 0..most {
        cases.extend(hands.iter_mut().filter_map(Iterator::next));
    }
    Ok(cases)
}

fn join_manifests(parts: &[&Run], cases: usize) -> Manifest {
    // in_order has seen to it that there is a first and that the others agree with it.
    let first = parts[0].manifest();
    let mut sessions: Vec<_> = parts.iter().flat_map(|run| run.manifest().sessions.clone()).collect();
    // The last session tells the state: that of the part which is furthest from complete.
    sessions.sort_by(|a, b| {
        (a.state != RunState::Complete).cmp(&(b.state != RunState::Complete)).then_with(|| a.started.cmp(&b.started))
    });
    Manifest {
        id: new_run_id(SystemTime::now()),
        partition: None,
        parts: parts.iter().map(|run| run.id().to_owned()).collect(),
        cases: cases as u64,
        sessions,
        ..first.clone()
    }
}

fn write_files(directory: &Path, manifest: &Manifest, parts: &[&Run], cases: &[Case]) -> Result<(), StoreError> {
    let path = directory.join(CASES);
    let mut bytes = Vec::new();
    for case in cases {
        serde_json::to_writer(&mut bytes, case)
            .map_err(|error| StoreError::Encode { path: path.clone(), reason: error.to_string() })?;
        bytes.push(b'\n');
    }
    fs::write(&path, bytes).map_err(|error| StoreError::write(&path, error))?;
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
