//! Runs that were measured elsewhere, or here and sent away: they become folders of the store like any
//! other.
//!
//! Lines are written as they come, so that a run of any size fits. Its names are checked at the end, when
//! manifest and cases are known; the folder appears whole or not at all.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use crate::cases::Case;
use crate::store::id::{is_run_id, new_run_id};
use crate::store::record::{OutcomeRecord, PassRecord, RequestRecord};
use crate::store::{CaseSets, Manifest, OUTCOMES, PASSES, REQUESTS, Run, StoreError};

/// Writes a whole run into `store` and builds its index; see [`Importer`].
pub fn import(
    store: &Path,
    manifest: Manifest,
    cases: &[Case],
    requests: &[RequestRecord],
    passes: &[PassRecord],
    outcomes: &[OutcomeRecord],
) -> Result<Run, StoreError> {
    let mut importer = Importer::begin(store, Some(&manifest.id), SystemTime::now())?;
    requests.iter().try_for_each(|request| importer.request(request))?;
    passes.iter().try_for_each(|pass| importer.pass(pass))?;
    outcomes.iter().try_for_each(|outcome| importer.outcome(outcome))?;
    importer.finish(manifest, cases.to_vec(), Vec::new())
}

/// A run that is being imported. Dropped before [`Importer::finish`], it leaves nothing behind.
#[derive(Debug)]
pub struct Importer {
    store: PathBuf,
    id: String,
    partial: PathBuf,
    requests: Lines,
    passes: Lines,
    outcomes: Lines,
    seen: Seen,
    finished: bool,
}

impl Importer {
    /// Begins a run in `store`. It is called `wanted` where that is a name and free, else after `moment`.
    pub fn begin(store: &Path, wanted: Option<&str>, moment: SystemTime) -> Result<Self, StoreError> {
        fs::create_dir_all(store).map_err(|error| StoreError::write(store, error))?;
        let mut wanted = wanted.filter(|id| is_run_id(id)).map(str::to_owned);
        let (id, partial) = loop {
            let id = wanted.take().unwrap_or_else(|| new_run_id(moment));
            let partial = store.join(format!(".{id}.partial"));
            if store.join(&id).exists() {
                continue;
            }
            match fs::create_dir(&partial) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => {
                    break other.map(|()| (id, partial.clone())).map_err(|error| StoreError::write(&partial, error))?;
                }
            }
        };
        let open = |name: &str| Lines::create(partial.join(name));
        let files = open(REQUESTS).and_then(|requests| Ok((requests, open(PASSES)?, open(OUTCOMES)?)));
        let (requests, passes, outcomes) = files.inspect_err(|_| {
            let _ = fs::remove_dir_all(&partial);
        })?;
        let seen = Seen::default();
        Ok(Self { store: store.to_owned(), id, partial, requests, passes, outcomes, seen, finished: false })
    }

    /// The name the run will have.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Adds a request; one that is there already is not written again.
    pub fn request(&mut self, request: &RequestRecord) -> Result<(), StoreError> {
        if self.seen.requests.insert(request.sha256.clone()) {
            self.requests.push(request)?;
        }
        Ok(())
    }

    /// Adds an attempt at a pass.
    pub fn pass(&mut self, pass: &PassRecord) -> Result<(), StoreError> {
        self.seen.pass(pass)?;
        self.passes.push(pass)
    }

    /// Adds the grade of a pass that was added before.
    pub fn outcome(&mut self, outcome: &OutcomeRecord) -> Result<(), StoreError> {
        self.seen.outcome(outcome)?;
        self.outcomes.push(outcome)
    }

    /// Checks that everything belongs together, and puts the run into the store. `own` has, by position of
    /// the configuration, the cases of those that meet the same ids with other tools or prompts.
    /// `manifest.id`, `manifest.cases` and the files named in it are filled in here.
    pub fn finish(
        mut self,
        mut manifest: Manifest,
        cases: Vec<Case>,
        mut own: Vec<Option<Vec<Case>>>,
    ) -> Result<Run, StoreError> {
        manifest.id.clone_from(&self.id);
        manifest.cases = cases.len() as u64;
        self.seen.check(&manifest, &cases)?;
        own.resize(manifest.configurations.len(), None);
        for (number, (record, own)) in (1..).zip(manifest.configurations.iter_mut().zip(&own)) {
            record.cases = own.as_ref().map(|_| format!("cases.{number}.jsonl"));
            if own.as_ref().is_some_and(|own| !own.iter().map(|case| &case.id).eq(cases.iter().map(|case| &case.id))) {
                return refuse(format!("the configuration `{}` has other cases than the run", record.id));
            }
        }
        CaseSets::new(cases, own).write(&self.partial, &manifest)?;
        [&mut self.requests, &mut self.passes, &mut self.outcomes].into_iter().try_for_each(Lines::close)?;
        manifest.save(&self.partial)?;
        let directory = self.store.join(&self.id);
        fs::rename(&self.partial, &directory).map_err(|error| StoreError::write(&directory, error))?;
        self.finished = true;
        let run = Run::load(&self.store, &self.id)?;
        run.index()?;
        Ok(run)
    }
}

impl Drop for Importer {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_dir_all(&self.partial);
        }
    }
}

/// A file of JSON lines, written once from its beginning.
#[derive(Debug)]
struct Lines {
    path: PathBuf,
    output: BufWriter<File>,
    buffer: Vec<u8>,
}

impl Lines {
    fn create(path: PathBuf) -> Result<Self, StoreError> {
        let file = File::create_new(&path).map_err(|error| StoreError::write(&path, error))?;
        Ok(Self { path, output: BufWriter::with_capacity(1 << 17, file), buffer: Vec::new() })
    }

    fn push<T: Serialize>(&mut self, record: &T) -> Result<(), StoreError> {
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, record)
            .map_err(|error| StoreError::Encode { path: self.path.clone(), reason: error.to_string() })?;
        self.buffer.push(b'\n');
        self.output.write_all(&self.buffer).map_err(|error| StoreError::write(&self.path, error))
    }

    fn close(&mut self) -> Result<(), StoreError> {
        let synced = self.output.flush().and_then(|()| self.output.get_ref().sync_all());
        synced.map_err(|error| StoreError::write(&self.path, error))
    }
}

/// Positions of a case's and a configuration's name, the pass and the attempt.
type Key = (u32, u32, u32, u32);

/// What has come so far.
#[derive(Debug, Default)]
struct Seen {
    requests: HashSet<String>,
    cases: Names,
    configurations: Names,
    passes: HashSet<Key>,
    outcomes: HashSet<Key>,
    most_passes: u32,
}

/// Names by the order in which they came.
#[derive(Debug, Default)]
struct Names(HashMap<String, u32>);

impl Names {
    fn place(&mut self, name: &str) -> u32 {
        if let Some(place) = self.0.get(name) {
            return *place;
        }
        let place = self.0.len() as u32;
        self.0.insert(name.to_owned(), place);
        place
    }

    /// The first name, in alphabetical order, that `known` lacks.
    fn stranger(&self, known: &HashSet<&str>) -> Option<&str> {
        self.0.keys().map(String::as_str).filter(|name| !known.contains(name)).min()
    }
}

fn refuse<T>(reason: String) -> Result<T, StoreError> {
    Err(StoreError::Import(reason))
}

impl Seen {
    fn key(&mut self, case: &str, configuration: &str, pass: u32, attempt: u32) -> Key {
        (self.cases.place(case), self.configurations.place(configuration), pass, attempt)
    }

    fn pass(&mut self, record: &PassRecord) -> Result<(), StoreError> {
        let PassRecord { case, configuration, pass, attempt, .. } = record;
        let name = || format!("pass {pass} of `{case}` with `{configuration}`");
        if *pass == 0 {
            return refuse(format!("{}: passes count from 1", name()));
        }
        // An empty hash: whoever measured it did not tell. A play asks as it goes, and may fail before.
        let asked = record.played.iter().flat_map(|played| &played.turns).flat_map(|turn| &turn.answers);
        let first = record.played.is_none().then_some(&record.request);
        let mut hashes = first.into_iter().chain(asked.map(|answer| &answer.request));
        if let Some(hash) = hashes.find(|hash| !hash.is_empty() && !self.requests.contains(*hash)) {
            return refuse(format!("{} has the request {hash}, which is not there", name()));
        }
        let key = self.key(case, configuration, *pass, *attempt);
        if !self.passes.insert(key) {
            return refuse(format!("{} has attempt {attempt} twice", name()));
        }
        self.most_passes = self.most_passes.max(*pass);
        Ok(())
    }

    fn outcome(&mut self, record: &OutcomeRecord) -> Result<(), StoreError> {
        let OutcomeRecord { case, configuration, pass, attempt, .. } = record;
        let name = || format!("pass {pass} of `{case}` with `{configuration}`, attempt {attempt}");
        let key = self.key(case, configuration, *pass, *attempt);
        if !self.passes.contains(&key) {
            return refuse(format!("there is a grade of {}, and no such pass", name()));
        }
        if !self.outcomes.insert(key) {
            return refuse(format!("{} is graded twice", name()));
        }
        Ok(())
    }

    fn check(&self, manifest: &Manifest, cases: &[Case]) -> Result<(), StoreError> {
        let known = distinct("case", cases.iter().map(|case| case.id.as_str()))?;
        if let Some(case) = self.cases.stranger(&known) {
            return refuse(format!("a pass names the case `{case}`, which is not there"));
        }
        let ids = manifest.configurations.iter().map(|configuration| configuration.id.as_str());
        let known = distinct("configuration", ids)?;
        if let Some(configuration) = self.configurations.stranger(&known) {
            return refuse(format!("a pass names the configuration `{configuration}`, which is not there"));
        }
        if self.most_passes > manifest.passes {
            return refuse(format!("there is a pass {}, and the run has {}", self.most_passes, manifest.passes));
        }
        Ok(())
    }
}

fn distinct<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<HashSet<&'a str>, StoreError> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return refuse(format!("two {what}s are called `{name}`"));
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn importer(store: &Path) -> Importer {
        Importer::begin(store, Some("20261130-142233-abcd"), SystemTime::UNIX_EPOCH).unwrap()
    }

    fn pass(case: &str, configuration: &str, number: u32) -> PassRecord {
        let line = serde_json::json!({
            "case": case, "configuration": configuration, "pass": number, "attempt": 1, "final": true, "end": "answered",
            "seed": 1, "request": "", "started": "", "timings": { "total_ms": 1.0 }, "text": "",
        });
        serde_json::from_value(line).unwrap()
    }

    fn outcome(case: &str, configuration: &str, number: u32) -> OutcomeRecord {
        let line = serde_json::json!({
            "case": case, "configuration": configuration, "pass": number, "attempt": 1, "success": true, "class": null,
        });
        serde_json::from_value(line).unwrap()
    }

    fn manifest() -> Manifest {
        let manifest = serde_json::json!({
            "format": "1.1", "id": "x", "bench": "b", "seed": 0, "passes": 2, "timeout_ms": 0, "cases": 0, "grader": "g",
            "digests": { "suite": "", "cases": "", "tools": "", "prompts": "" }, "sessions": [],
            "configurations": [{
                "id": "m", "spec": "m", "structure": "native", "selection": "all", "stream": false, "jobs": 1,
                "model": { "spec": "m", "backend": "", "name": "m",
                    "capabilities": { "tools": false, "thinking": false, "structured_output": false } },
                "options": { "temperature": 0.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "seed": 0, "max_tokens": 0,
                    "context": null },
            }],
        });
        serde_json::from_value(manifest).unwrap()
    }

    fn case(id: &str) -> Case {
        let case = serde_json::json!({
            "id": id, "family": "f", "language": "und", "kind": "target", "messages": [], "tools": [], "provenance": "",
            "expect": {}, "source": "",
        });
        serde_json::from_value(case).unwrap()
    }

    fn refused(fill: impl FnOnce(&mut Importer) -> Result<(), StoreError>, cases: &[&str]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let mut importer = importer(folder.path());
        let filled = fill(&mut importer);
        let cases = cases.iter().map(|id| case(id)).collect();
        let error = match filled {
            Ok(()) => importer.finish(manifest(), cases, Vec::new()).unwrap_err(),
            Err(error) => {
                drop(importer);
                error
            }
        };
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "something is left behind");
        error.to_string()
    }

    #[test]
    fn a_run_keeps_its_name_where_that_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let mut ids = Vec::new();
        for _ in 0..2 {
            let mut importer = importer(folder.path());
            importer.pass(&pass("a", "m", 2)).unwrap();
            importer.outcome(&outcome("a", "m", 2)).unwrap();
            let run = importer.finish(manifest(), vec![case("a"), case("b")], Vec::new()).unwrap();
            assert_eq!((run.manifest().cases, run.summary().unwrap().configurations[0].cells[0].successes), (2, 1));
            ids.push(run.id().to_owned());
        }
        assert_eq!(ids[0], "20261130-142233-abcd");
        assert!(ids[1].starts_with("19700101-000000-"), "{ids:?}");
        let odd = Importer::begin(folder.path(), Some("../x"), SystemTime::UNIX_EPOCH).unwrap();
        assert!(odd.id().starts_with("19700101-"));
    }

    #[test]
    fn what_does_not_belong_together_is_refused_by_name() {
        let error = refused(|run| run.pass(&pass("a", "m", 1)), &["b"]);
        assert!(error.contains("the case `a`, which is not there"), "{error}");
        let error = refused(|run| run.pass(&pass("a", "n", 1)), &["a"]);
        assert!(error.contains("the configuration `n`, which is not there"), "{error}");
        let error = refused(|run| run.pass(&pass("a", "m", 3)), &["a"]);
        assert!(error.contains("there is a pass 3, and the run has 2"), "{error}");
        let error = refused(|run| run.pass(&pass("a", "m", 0)), &["a"]);
        assert!(error.contains("count from 1"), "{error}");
        let error = refused(|run| run.pass(&PassRecord { request: "ab".to_owned(), ..pass("a", "m", 1) }), &["a"]);
        assert!(error.contains("the request ab, which is not there"), "{error}");
        let error = refused(|run| run.pass(&pass("a", "m", 1)).and_then(|()| run.pass(&pass("a", "m", 1))), &["a"]);
        assert!(error.contains("pass 1 of `a` with `m` has attempt 1 twice"), "{error}");
        let error = refused(|run| run.outcome(&outcome("a", "m", 1)), &["a"]);
        assert!(error.contains("no such pass"), "{error}");
        let error = refused(|run| run.pass(&pass("a", "m", 1)), &["a", "a"]);
        assert!(error.contains("two cases are called `a`"), "{error}");
    }
}
