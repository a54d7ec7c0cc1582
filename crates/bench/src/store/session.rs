//! Creating and re-opening a run for writing.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use crate::store::early::EarlyStop;
use crate::store::environment::{GitState, Host};
use crate::store::id::new_run_id;
use crate::store::lines::{OpenAppend, Place};
use crate::store::lock::RunLock;
use crate::store::manifest::{Manifest, RunState, Session, StoppedRecord};
use crate::store::progress::Progress;
use crate::store::writer::RunFiles;
use crate::store::{CaseSets, REQUESTS, StoreError, clock, lines};

/// A run that this process, and no other, writes to.
#[derive(Debug)]
pub(crate) struct WritableRun {
    pub(crate) directory: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) cases: CaseSets,
    _lock: RunLock,
}

/// What a run already has.
pub(crate) struct Found {
    pub(crate) progress: Progress,
    pub(crate) ungraded: Vec<Place>,
    /// Hashes in `requests.jsonl`.
    pub(crate) requests: HashSet<String>,
}

impl WritableRun {
    /// Creates a run in `store`. Its folder appears whole, with manifest and cases, or not at all.
    /// `manifest.id` and `manifest.sessions` are filled in here.
    pub(crate) fn create(store: &Path, mut manifest: Manifest, cases: CaseSets) -> Result<Self, StoreError> {
        fs::create_dir_all(store).map_err(|error| StoreError::write(store, error))?;
        manifest.sessions = vec![new_session()];
        loop {
            manifest.id = new_run_id(SystemTime::now());
            let directory = store.join(&manifest.id);
            let partial = store.join(format!(".{}.partial", manifest.id));
            match fs::create_dir(&partial) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other.map_err(|error| StoreError::write(&partial, error))?,
            }
            cases
                .write(&partial, &manifest)
                .and_then(|()| manifest.save(&partial))
                .and_then(|()| fs::rename(&partial, &directory).map_err(|error| StoreError::write(&directory, error)))
                .inspect_err(|_| {
                    let _ = fs::remove_dir_all(&partial);
                })?;
            let lock = RunLock::take(&directory, &manifest.id)?;
            return Ok(Self { directory, manifest, cases, _lock: lock });
        }
    }

    /// Opens an existing run for writing. Nothing is changed yet.
    pub(crate) fn open(directory: &Path) -> Result<Self, StoreError> {
        let manifest = Manifest::load(directory)?;
        manifest.check_writable(directory)?;
        let lock = RunLock::take(directory, &manifest.id)?;
        // Once more: the process that held the lock may have written it.
        let manifest = Manifest::load(directory)?;
        let cases = CaseSets::read(directory, &manifest)?;
        Ok(Self { directory: directory.to_owned(), manifest, cases, _lock: lock })
    }

    /// Reads what the run already has.
    pub(crate) fn find(&self) -> Result<Found, StoreError> {
        let ids: Vec<&str> = self.cases.shared().iter().map(|case| case.id.as_str()).collect();
        let (progress, ungraded) = Progress::scan(&self.directory, &self.manifest, &ids)?;
        Ok(Found { progress, ungraded, requests: request_hashes(&self.directory)? })
    }

    /// Opens its files for appending, cutting off torn last lines.
    pub(crate) fn open_files(&self, kept: u64, open: OpenAppend) -> Result<RunFiles, StoreError> {
        RunFiles::open(&self.directory, kept, open)
    }

    /// Notes that another process of the same run begins.
    pub(crate) fn begin_session(&mut self) -> Result<(), StoreError> {
        self.manifest.sessions.push(new_session());
        self.manifest.save(&self.directory)
    }

    /// Notes how this process ended.
    pub(crate) fn end_session(&mut self, state: RunState, stopped: Vec<StoppedRecord>) -> Result<(), StoreError> {
        if let Some(session) = self.manifest.sessions.last_mut() {
            session.finished = Some(clock::timestamp(SystemTime::now()));
            session.state = state;
            session.stopped = stopped;
        }
        self.manifest.save(&self.directory)
    }
}

fn new_session() -> Session {
    Session {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        started: clock::timestamp(SystemTime::now()),
        finished: None,
        state: RunState::Running,
        host: Host::current(),
        git: std::env::current_dir().ok().and_then(|folder| GitState::of(&folder)),
        stopped: Vec::new(),
    }
}

fn request_hashes(directory: &Path) -> Result<HashSet<String>, StoreError> {
    #[derive(serde::Deserialize)]
    struct Head {
        sha256: String,
    }
    let heads: Vec<Head> = lines::read_all(&directory.join(REQUESTS))?;
    Ok(heads.into_iter().map(|head| head.sha256).collect())
}

/// What differs between two manifests of what should be one run; empty when nothing does.
/// Speed (`jobs`) and where a value came from (`arguments`) may differ.
pub(crate) fn differences(recorded: &Manifest, wanted: &Manifest) -> Vec<String> {
    let mut found = Vec::new();
    let ids = |manifest: &Manifest| {
        manifest.configurations.iter().map(|configuration| configuration.id.clone()).collect::<Vec<_>>()
    };
    if ids(recorded) == ids(wanted) {
        for (before, now) in recorded.configurations.iter().zip(&wanted.configurations) {
            let (before_value, now_value) = (comparable(before), comparable(now));
            compare(&format!("configuration {}", before.id), &before_value, &now_value, &mut found);
        }
    } else {
        let (before, now) = (ids(recorded).join(", "), ids(wanted).join(", "));
        found.push(format!("configurations: {before} in the run, {now} now"));
    }
    let settings = |manifest: &Manifest| {
        serde_json::json!({
            "bench": manifest.bench, "seed": manifest.seed, "passes": manifest.passes,
            "timeout_ms": manifest.timeout_ms, "digests": manifest.digests, "grader": manifest.grader,
            "against": manifest.against, "early_stop": manifest.early_stop.as_ref().map(EarlyStop::rules),
        })
    };
    compare("", &settings(recorded), &settings(wanted), &mut found);
    found
}

fn comparable(configuration: &crate::store::ConfigurationRecord) -> Value {
    // By way of text: to_value would show an f32 of 0.3 as 0.30000001192092896.
    let text = serde_json::to_string(configuration).unwrap_or_default();
    let mut value: Value = serde_json::from_str(&text).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("jobs");
        fields.remove("arguments");
    }
    value
}

fn compare(name: &str, before: &Value, now: &Value, found: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            let keys = before.keys().chain(now.keys().filter(|key| !before.contains_key(*key)));
            for key in keys {
                let name = if name.is_empty() { key.clone() } else { format!("{name} {key}") };
                let value = |fields: &serde_json::Map<String, Value>| fields.get(key).cloned().unwrap_or_default();
                compare(&name, &value(before), &value(now), found);
            }
        }
        (before, now) if before != now => found.push(format!("{name}: {before} in the run, {now} now")),
        _ => {}
    }
}
