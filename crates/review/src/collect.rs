//! Which runs of a store are old enough to go, and what keeps the others.
//!
//! A run goes when it is older than the limit and not among the newest of its bench, unless something
//! needs it: a baseline, a process that writes to it, or a kept run that it is the parent, a part or the
//! origin of. What cannot be read is left to a person. The parts of one set of job files go together, when
//! all of them may go. [`plan`] only looks; [`collect`] removes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::collect_parts::{PART_SETS, part_sets};
use crate::jobs::PARTS;

use serde::Serialize;
use tenpass_bench::store::{
    Leftover, Manifest, Run, RunState, StoreError, leftovers, list_runs, open_run, remove_folder, remove_leftover,
    remove_run, shrink_index, size_of, writer_of,
};

use crate::{ReviewError, baselines};

/// How long a run is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Every run younger than this.
    pub younger_than: Duration,
    /// So many of the newest runs of every bench, whatever their age.
    pub newest: usize,
}

/// Why a run stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Kept {
    /// It is younger than the limit.
    Young,
    /// It is among the newest of its bench.
    Newest,
    /// It is the baseline of a bench.
    Baseline,
    /// A process writes to it.
    Written {
        /// Which one, as far as it said.
        by: String,
    },
    /// A run that stays refers to it.
    Needed {
        /// That run.
        by: String,
    },
    /// It cannot be read.
    Unreadable {
        /// Why.
        error: String,
    },
}

impl std::fmt::Display for Kept {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Young => formatter.write_str("young"),
            Self::Newest => formatter.write_str("among the newest"),
            Self::Baseline => formatter.write_str("baseline"),
            Self::Written { by } => write!(formatter, "written by {by}"),
            Self::Needed { by } => write!(formatter, "needed by {by}"),
            Self::Unreadable { error } => write!(formatter, "unreadable: {error}"),
        }
    }
}

/// A run of the store, as the plan sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Its name, or `parts/SEED` for the parts of a set of job files.
    pub run: String,
    /// Its bench; empty when it cannot be read.
    pub bench: String,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<RunState>,
    /// Days since a process last began or ended work on it.
    pub age_days: f64,
    /// Bytes of its files.
    pub bytes: u64,
    /// Why it stays; `None` when it goes.
    pub kept: Option<Kept>,
}

/// What is to go, and what stays.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Collection {
    /// Every run, oldest first.
    pub runs: Vec<Candidate>,
    /// Folders that are half a run and belong to no process that can still be at work.
    pub leftovers: Vec<String>,
    /// Bytes of everything that is to go.
    pub bytes: u64,
}

impl Collection {
    /// The runs that are to go.
    pub fn going(&self) -> impl Iterator<Item = &Candidate> {
        self.runs.iter().filter(|run| run.kept.is_none())
    }
}

/// What was removed.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Collected {
    /// The runs that are gone.
    pub removed: Vec<String>,
    /// Bytes that are free again, the index's among them.
    pub bytes: u64,
    /// What could not be removed, with the reason.
    pub failed: Vec<String>,
}

/// Looks through the store as of `now`.
pub fn plan(store: &Path, keep: Keep, now: SystemTime) -> Result<Collection, ReviewError> {
    let entries = list_runs(store)?;
    let mut readable: Vec<&Run> = entries.iter().filter_map(|entry| entry.run.as_ref().ok()).collect();
    readable.sort_by_key(|run| std::cmp::Reverse(last_touched(run.manifest())));
    let ages: HashMap<&str, Duration> = readable.iter().map(|run| (run.id(), age(run.manifest(), now))).collect();
    let kept = reasons(store, &readable, keep, &ages)?;
    let mut runs = Vec::with_capacity(entries.len());
    for entry in &entries {
        let bytes = size_of(&store.join(&entry.id))?;
        runs.push(match &entry.run {
            Ok(run) => Candidate {
                run: entry.id.clone(),
                bench: run.manifest().bench.clone(),
                state: Some(run.manifest().state()),
                age_days: days(ages.get(run.id()).copied().unwrap_or_default()),
                bytes,
                kept: kept.get(run.id()).cloned(),
            },
            Err(error) => Candidate {
                run: entry.id.clone(),
                bench: String::new(),
                state: None,
                age_days: 0.0,
                bytes,
                kept: Some(Kept::Unreadable { error: error.to_string() }),
            },
        });
    }
    runs.extend(part_sets(store, keep, now, &kept)?);
    runs.sort_by(|a, b| b.age_days.total_cmp(&a.age_days).then_with(|| a.run.cmp(&b.run)));
    let halves = old_leftovers(store, keep, now)?;
    let mut bytes: u64 = runs.iter().filter(|run| run.kept.is_none()).map(|run| run.bytes).sum();
    for (folder, half) in &halves {
        bytes += size_of(&folder.join(&half.name)).unwrap_or(0);
    }
    Ok(Collection { runs, leftovers: halves.into_iter().map(|(_, half)| half.name).collect(), bytes })
}

/// Removes what [`plan`] finds, run after run. One that a process has begun to write to meanwhile is left.
pub fn collect(store: &Path, keep: Keep, now: SystemTime) -> Result<Collected, ReviewError> {
    let planned = plan(store, keep, now)?;
    let mut done = Collected::default();
    for candidate in planned.going() {
        let removed = match candidate.run.strip_prefix(PART_SETS) {
            Some(set) => remove_folder(&store.join(PARTS), set.trim_start_matches('/')),
            None => open_run(store, &candidate.run).and_then(|run| remove_run(&run)),
        };
        match removed {
            Ok(()) => {
                done.removed.push(candidate.run.clone());
                done.bytes += candidate.bytes;
            }
            Err(error) => done.failed.push(format!("{}: {error}", candidate.run)),
        }
    }
    for (folder, half) in old_leftovers(store, keep, now)? {
        let bytes = size_of(&folder.join(&half.name)).unwrap_or(0);
        match remove_leftover(&folder, &half) {
            Ok(()) => done.bytes += bytes,
            Err(error) => done.failed.push(format!("{}: {error}", half.name)),
        }
    }
    match shrink_index(store) {
        Ok(bytes) => done.bytes += bytes,
        // It is only an index: the next reader repairs it.
        Err(error) => done.failed.push(error.to_string()),
    }
    Ok(done)
}

/// Why each run stays, for those that do. `runs` come newest first.
fn reasons<'a>(
    store: &Path,
    runs: &[&'a Run],
    keep: Keep,
    ages: &HashMap<&str, Duration>,
) -> Result<HashMap<&'a str, Kept>, ReviewError> {
    let blessed: BTreeSet<String> = baselines(store)?.into_values().map(|blessing| blessing.run).collect();
    let mut of_bench: BTreeMap<&str, usize> = BTreeMap::new();
    let mut kept: HashMap<&str, Kept> = HashMap::new();
    for run in runs {
        let place = of_bench.entry(run.manifest().bench.as_str()).or_default();
        *place += 1;
        let is_young = ages.get(run.id()).is_none_or(|age| *age < keep.younger_than);
        let reason = if blessed.contains(run.id()) {
            Some(Kept::Baseline)
        } else if let Some(by) = writer_of(run) {
            Some(Kept::Written { by })
        } else if is_young {
            Some(Kept::Young)
        } else {
            (*place <= keep.newest).then_some(Kept::Newest)
        };
        if let Some(reason) = reason {
            kept.insert(run.id(), reason);
        }
    }
    // What a kept run refers to stays as well, and what that refers to.
    let by_id: HashMap<&str, &'a Run> = runs.iter().map(|run| (run.id(), *run)).collect();
    let mut open: Vec<&str> = kept.keys().copied().collect();
    open.sort_unstable();
    while let Some(id) = open.pop() {
        let Some(run) = by_id.get(id) else { continue };
        for needed in references(run.manifest()) {
            if let Some(other) = by_id.get(needed).filter(|other| !kept.contains_key(other.id())) {
                kept.insert(other.id(), Kept::Needed { by: id.to_owned() });
                open.push(other.id());
            }
        }
    }
    Ok(kept)
}

/// The runs that a manifest names.
fn references(manifest: &Manifest) -> impl Iterator<Item = &str> {
    let origins = manifest.configurations.iter().filter_map(|record| record.origin.as_ref());
    let parts = manifest.parts.iter().map(String::as_str);
    parts.chain(manifest.parent.as_deref()).chain(origins.map(|origin| origin.run.as_str()))
}

/// When a process last began or ended work on a run.
fn last_touched(manifest: &Manifest) -> Option<jiff::Timestamp> {
    let moments = manifest.sessions.iter().flat_map(|session| [Some(&session.started), session.finished.as_ref()]);
    moments.flatten().filter_map(|moment| moment.parse().ok()).max()
}

/// Time since then. A run of the future, or of no time that can be read, is taken for new.
pub(crate) fn age(manifest: &Manifest, now: SystemTime) -> Duration {
    let touched = last_touched(manifest).map(SystemTime::from);
    touched.and_then(|touched| now.duration_since(touched).ok()).unwrap_or_default()
}

pub(crate) fn days(age: Duration) -> f64 {
    age.as_secs_f64() / 86_400.0
}

/// Half runs that nobody can be working on any more.
fn old_leftovers(store: &Path, keep: Keep, now: SystemTime) -> Result<Vec<(PathBuf, Leftover)>, StoreError> {
    // Even with a limit of nothing: a run is being created in seconds, an import in minutes.
    let limit = keep.younger_than.max(Duration::from_hours(1));
    let is_old = |half: &Leftover| {
        // What was being deleted goes on being deleted.
        half.name.ends_with(".removed") || now.duration_since(half.changed).is_ok_and(|age| age > limit)
    };
    let mut found = Vec::new();
    for folder in [store.to_owned(), store.join(PARTS)] {
        let halves = leftovers(&folder)?.into_iter().filter(is_old);
        found.extend(halves.map(|half| (folder.clone(), half)));
    }
    Ok(found)
}

#[cfg(test)]
#[path = "collect_tests.rs"]
mod tests;
