//! The parts of job files, kept beside the runs: `parts/SEED/STEP/K`, each a store of its own. They are of
//! use until they are joined, and as long as the joined run stays.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tenpass_bench::store::{StoreError, list_runs, size_of, writer_of};

use crate::ReviewError;
use crate::collect::{Candidate, Keep, Kept, age, days};
use crate::jobs::PARTS;

/// How the name of a set begins in a plan.
pub(crate) const PART_SETS: &str = "parts/";

/// Every set of parts; `kept` has the runs of the store that stay.
pub(crate) fn part_sets(
    store: &Path,
    keep: Keep,
    now: SystemTime,
    kept: &HashMap<&str, Kept>,
) -> Result<Vec<Candidate>, ReviewError> {
    let joined = joined_by(store, kept)?;
    let mut sets = Vec::new();
    for folder in folders(&store.join(PARTS))? {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (mut youngest, mut reason, mut count) = (None, None, 0);
        for part in folders(&folder)?.iter().map(|step| folders(step)).collect::<Result<Vec<_>, _>>()?.concat() {
            for entry in list_runs(&part)? {
                count += 1;
                let run = match entry.run {
                    Ok(run) => run,
                    Err(error) => {
                        reason = Some(Kept::Unreadable { error: error.to_string() });
                        continue;
                    }
                };
                let age = age(run.manifest(), now);
                youngest = Some(youngest.map_or(age, |other: std::time::Duration| other.min(age)));
                if let Some(by) = writer_of(&run) {
                    reason = Some(Kept::Written { by });
                } else if let Some(by) = joined.get(run.id()) {
                    reason.get_or_insert_with(|| Kept::Needed { by: by.clone() });
                }
            }
        }
        // A folder without a run is something else, or has only begun.
        let Some(youngest) = youngest.filter(|_| count > 0) else { continue };
        let is_young = youngest < keep.younger_than;
        sets.push(Candidate {
            run: format!("{PART_SETS}{name}"),
            bench: String::new(),
            state: None,
            age_days: days(youngest),
            bytes: size_of(&folder)?,
            kept: reason.or(is_young.then_some(Kept::Young)),
        });
    }
    Ok(sets)
}

/// By the name of a part the kept run that joins it.
fn joined_by(store: &Path, kept: &HashMap<&str, Kept>) -> Result<HashMap<String, String>, ReviewError> {
    let mut joined = HashMap::new();
    for run in list_runs(store)?.into_iter().filter_map(|entry| entry.run.ok()) {
        if kept.contains_key(run.id()) {
            joined.extend(run.manifest().parts.iter().map(|part| (part.clone(), run.id().to_owned())));
        }
    }
    Ok(joined)
}

/// The folders in a folder, by name; none where there is no folder.
fn folders(parent: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = |source: io::Error| StoreError::Read { path: parent.to_owned(), source };
    let entries = match fs::read_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(failed)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        // Links are followed nowhere: what they point to is not the store's.
        if !is_hidden && entry.file_type().map_err(failed)?.is_dir() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
