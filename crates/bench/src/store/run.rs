//! Finding and reading runs.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::cases::Case;
use crate::store::id::is_run_id;
use crate::store::index::PassPlaces;
use crate::store::lines::{LineReader, parse_line, read_all, read_at};
use crate::store::record::{OutcomeRecord, PassRecord, RequestRecord};
use crate::store::{CASES, Index, Manifest, OUTCOMES, PASSES, PassFilter, REQUESTS, StoreError, Summary};

/// Characters of a run's name that tell the second it began: `20261130-142233`.
const SECOND: usize = 15;

/// A run, open for reading.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    store: PathBuf,
    directory: PathBuf,
    manifest: Manifest,
}

/// A folder of the store; its manifest may be damaged.
#[derive(Debug)]
pub struct RunEntry {
    /// The folder's name.
    pub id: String,
    /// The run, or why it cannot be read.
    pub run: Result<Run, StoreError>,
}

/// One pass with its grade.
#[derive(Debug, Clone, PartialEq)]
pub struct PassDetail {
    /// The raw answer.
    pub pass: PassRecord,
    /// Its grade; `None` when the process ended before it was written.
    pub outcome: Option<OutcomeRecord>,
}

/// All runs in `store`, oldest first. A store that does not exist has none.
pub fn list_runs(store: &Path) -> Result<Vec<RunEntry>, StoreError> {
    let ids = run_ids(store)?;
    Ok(ids.into_iter().map(|id| RunEntry { run: Run::load(store, &id), id }).collect())
}

/// The run with this name, whose name alone begins so, or the `latest`.
pub fn open_run(store: &Path, query: &str) -> Result<Run, StoreError> {
    let ids = run_ids(store)?;
    let none = || StoreError::NoRun { query: query.to_owned(), directory: store.to_owned() };
    if query == "latest" {
        return latest(store, &ids, None)?.ok_or_else(none);
    }
    if ids.iter().any(|id| id == query) {
        return Run::load(store, query);
    }
    let matches: Vec<String> = ids.into_iter().filter(|id| !query.is_empty() && id.starts_with(query)).collect();
    match matches.as_slice() {
        [] => Err(none()),
        [id] => Run::load(store, id),
        _ => Err(StoreError::Ambiguous { query: query.to_owned(), matches }),
    }
}

/// The run that began last, of any bench or of this one.
pub fn latest_run(store: &Path, bench: Option<&str>) -> Result<Run, StoreError> {
    let query = bench.map_or_else(|| "latest".to_owned(), |bench| format!("latest of bench {bench}"));
    latest(store, &run_ids(store)?, bench)?.ok_or(StoreError::NoRun { query, directory: store.to_owned() })
}

/// The run that began last. Names tell seconds; runs of one second are told apart by manifest.
fn latest(store: &Path, ids: &[String], bench: Option<&str>) -> Result<Option<Run>, StoreError> {
    let second = |id: &str| id.get(..SECOND).unwrap_or(id).to_owned();
    for rivals in ids.chunk_by(|a, b| second(a) == second(b)).rev() {
        let runs = rivals.iter().map(|id| Run::load(store, id)).collect::<Result<Vec<_>, _>>()?;
        let is_wanted = |run: &Run| bench.is_none_or(|bench| bench == run.manifest.bench) && !run.manifest.is_check();
        let wanted = runs.into_iter().filter(is_wanted);
        // Of equal moments the last name.
        let last = wanted.max_by(|a, b| a.manifest.started().cmp(b.manifest.started()));
        if last.is_some() {
            return Ok(last);
        }
    }
    Ok(None)
}

/// Folders with a manifest, by name, which begins with their time.
pub(super) fn run_ids(store: &Path) -> Result<Vec<String>, StoreError> {
    let entries = match fs::read_dir(store) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|error| StoreError::read(store, error))?,
    };
    let mut ids = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| StoreError::read(store, error))?;
        let id = entry.file_name().to_str().map(str::to_owned);
        if let Some(id) = id.filter(|id| is_run_id(id) && entry.path().join(Manifest::FILE).is_file()) {
            ids.push(id);
        }
    }
    ids.sort_unstable();
    Ok(ids)
}

impl Run {
    pub(crate) fn load(store: &Path, id: &str) -> Result<Self, StoreError> {
        let directory = store.join(id);
        let manifest = Manifest::load(&directory)?;
        Ok(Self { store: store.to_owned(), directory, manifest })
    }

    /// The run's name.
    pub fn id(&self) -> &str {
        &self.manifest.id
    }

    /// The run's folder.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The store it lies in.
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// Its manifest, as it was when the run was opened.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The cases as they were.
    pub fn cases(&self) -> Result<Vec<Case>, StoreError> {
        read_all(&self.directory.join(CASES))
    }

    /// The cases as this configuration met them: a baseline measured beside a candidate keeps the tools
    /// and prompts it had.
    pub fn cases_of(&self, configuration: &str) -> Result<Vec<Case>, StoreError> {
        let record = self.manifest.configurations.iter().find(|record| record.id == configuration);
        match record.and_then(|record| record.cases.as_ref()) {
            Some(name) => read_all(&self.directory.join(name)),
            None => self.cases(),
        }
    }

    /// One case as it was.
    pub fn case(&self, id: &str) -> Result<Case, StoreError> {
        self.pick(self.cases()?, id)
    }

    /// One case as this configuration met it.
    pub fn case_of(&self, configuration: &str, id: &str) -> Result<Case, StoreError> {
        self.pick(self.cases_of(configuration)?, id)
    }

    fn pick(&self, cases: Vec<Case>, id: &str) -> Result<Case, StoreError> {
        let found = cases.into_iter().find(|case| case.id == id);
        found.ok_or_else(|| StoreError::NoCase { run: self.id().to_owned(), case: id.to_owned() })
    }

    /// The request with this hash, seed 0.
    pub fn request(&self, sha256: &str) -> Result<Option<RequestRecord>, StoreError> {
        #[derive(serde::Deserialize)]
        struct Head {
            sha256: String,
        }
        let path = self.directory.join(REQUESTS);
        let Some(mut reader) = LineReader::open(&path)? else { return Ok(None) };
        while let Some((place, bytes)) = reader.next()? {
            let head: Head = parse_line(&path, place, bytes)?;
            if head.sha256 == sha256 {
                return parse_line(&path, place, bytes).map(Some);
            }
        }
        Ok(None)
    }

    /// The index, up to date for this run.
    pub fn index(&self) -> Result<Index, StoreError> {
        Index::open(&self.store, &self.directory, &self.manifest)
    }

    /// Counts, rates and latencies.
    pub fn summary(&self) -> Result<Summary, StoreError> {
        Summary::of(&self.index()?)
    }

    /// The passes that match, each read when its turn comes, by configuration, case and pass.
    pub fn passes(&self, filter: &PassFilter) -> Result<Passes, StoreError> {
        if let Some(case) = &filter.case {
            self.case(case)?;
        }
        Passes::open(&self.directory, self.index()?.places(filter)?)
    }

    /// The attempts at one pass that failed before its result.
    pub fn earlier_attempts(&self, pass: &PassRecord) -> Result<Vec<PassRecord>, StoreError> {
        let places = self.index()?.earlier_attempts(&pass.case, &pass.configuration, pass.pass)?;
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let path = self.directory.join(PASSES);
        let mut file = File::open(&path).map_err(|error| StoreError::read(&path, error))?;
        places.into_iter().map(|place| read_at(&path, &mut file, place)).collect()
    }
}

/// Iterates over passes; see [`Run::passes`].
#[derive(Debug)]
pub struct Passes {
    directory: PathBuf,
    files: Option<(File, File)>,
    places: std::vec::IntoIter<PassPlaces>,
}

impl Passes {
    pub(crate) fn open(directory: &Path, places: Vec<PassPlaces>) -> Result<Self, StoreError> {
        let open = |name: &str| {
            let path = directory.join(name);
            File::open(&path).map_err(|error| StoreError::read(&path, error))
        };
        // Without passes there may be no files yet.
        let files = if places.is_empty() { None } else { Some((open(PASSES)?, open(OUTCOMES)?)) };
        Ok(Self { directory: directory.to_owned(), files, places: places.into_iter() })
    }
}

impl Iterator for Passes {
    type Item = Result<PassDetail, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let places = self.places.next()?;
        let (passes, outcomes) = self.files.as_mut()?;
        let mut read = || {
            let pass = read_at(&self.directory.join(PASSES), passes, places.pass)?;
            let path = self.directory.join(OUTCOMES);
            let outcome = places.outcome.map(|place| read_at(&path, outcomes, place)).transpose()?;
            Ok(PassDetail { pass, outcome })
        };
        Some(read())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl ExactSizeIterator for Passes {}
