//! Reads logs into the store.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use tenpass_bench::cases::Case;
use tenpass_bench::store::{Importer, Manifest, RequestRecord, Run, open_run};

use super::foreign::Foreign;
use super::log::Header;
use super::open::LogFile;
use super::ours::{self, Own};
use super::{CASES_ENTRY, REQUESTS_ENTRY};
use crate::ExchangeError;

/// How a log is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImportOptions {
    /// A score that is a number counts as right from this value on.
    pub right_from: f64,
    /// Refuse a run of ours that the store has already, instead of giving it another name.
    pub refuse_known: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self { right_from: 1.0, refuse_known: false }
    }
}

/// A run that was read.
#[derive(Debug)]
pub struct ImportedRun {
    /// It, in the store.
    pub run: Run,
    /// Passes.
    pub passes: u64,
    /// Passes without an answer that was judged.
    pub invalid: u64,
    /// What its reader should know.
    pub notes: Vec<String>,
}

const WHOLE: &str = "the log";

/// Reads a log (`.eval` or `.json`) into `store`, or a folder with the logs of one exported run.
///
/// A run of ours keeps its name where that is free. Nothing is left behind when a file is at fault.
pub fn import(store: &Path, path: &Path, options: ImportOptions) -> Result<ImportedRun, ExchangeError> {
    let files = if path.is_dir() { logs_in(path)? } else { vec![path.to_owned()] };
    let mut logs = Vec::new();
    for file in &files {
        let mut log = LogFile::open(file)?;
        let header = log.header()?;
        let own = ours::own(&header).map_err(|reason| ExchangeError::entry(file, WHOLE, reason))?;
        logs.push((log, header, own));
    }
    if let [(log, header, None)] = logs.as_mut_slice() {
        return import_foreign(store, log, header, options);
    }
    let mut parts = Vec::new();
    for (log, _, own) in logs {
        let Some(own) = own else {
            let reason = "it was not written by tenpass: give it alone".to_owned();
            return Err(ExchangeError::Format { path: log.path().to_owned(), format: "a part of a run", reason });
        };
        parts.push((log, own));
    }
    import_ours(store, path, parts, options)
}

/// The logs of a folder, by name.
fn logs_in(folder: &Path) -> Result<Vec<PathBuf>, ExchangeError> {
    let failed = |error| ExchangeError::read(folder, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_file() && path.extension().is_some_and(|extension| extension == "eval") {
            files.push(path);
        }
    }
    files.sort_unstable();
    if files.is_empty() {
        let reason = "there is no .eval file in it".to_owned();
        return Err(ExchangeError::Format { path: folder.to_owned(), format: "a folder of Inspect logs", reason });
    }
    Ok(files)
}

/// The moment of the log, after which the run is named.
fn moment(header: &Header) -> SystemTime {
    let created = header.eval.created.as_deref().and_then(super::time::stored);
    created.and_then(|text| text.parse::<Timestamp>().ok()).map_or_else(SystemTime::now, SystemTime::from)
}

fn import_foreign(
    store: &Path,
    log: &mut LogFile,
    header: &Header,
    options: ImportOptions,
) -> Result<ImportedRun, ExchangeError> {
    let mut importer = Importer::begin(store, None, moment(header))?;
    let mut foreign = Foreign::new(header, options.right_from);
    let (mut passes, mut invalid, mut graded) = (0, 0, 0);
    let path = log.path().to_owned();
    log.samples(|entry, sample| {
        let imported = foreign.sample(&sample).map_err(|reason| ExchangeError::entry(&path, entry, reason))?;
        passes += 1;
        invalid += u64::from(imported.outcome.success.is_none());
        graded += u64::from(imported.is_graded);
        importer.request(&imported.request)?;
        importer.pass(&imported.pass)?;
        importer.outcome(&imported.outcome)?;
        Ok(())
    })?;
    if passes == 0 {
        let reason = "it has no samples".to_owned();
        return Err(ExchangeError::Format { path, format: "a log that can be read as a run", reason });
    }
    let manifest = foreign.manifest(header);
    let mut notes = Vec::new();
    if graded > 0 {
        let from = options.right_from;
        notes.push(format!("{graded} scores are numbers between: they count as right from {from} on"));
    }
    let unknown = manifest.configurations.first().map(|record| record.unknown.join(", ")).unwrap_or_default();
    if !unknown.is_empty() {
        notes.push(format!("the log does not tell: {unknown}"));
    }
    let run = importer.finish(manifest, foreign.into_cases(), Vec::new())?;
    Ok(ImportedRun { run, passes, invalid, notes })
}

fn import_ours(
    store: &Path,
    path: &Path,
    mut parts: Vec<(LogFile, Own)>,
    options: ImportOptions,
) -> Result<ImportedRun, ExchangeError> {
    let manifest = join(&mut parts)?;
    if options.refuse_known && open_run(store, &manifest.id).is_ok_and(|known| known.id() == manifest.id) {
        return Err(ExchangeError::Known { path: path.to_owned(), run: manifest.id });
    }
    let mut importer = Importer::begin(store, Some(&manifest.id), started(&manifest))?;
    let (mut passes, mut invalid) = (0, 0);
    let mut notes = Vec::new();
    let mut sets: Vec<Vec<Case>> = Vec::new();
    for (log, own) in &mut parts {
        let path = log.path().to_owned();
        let mut cases = Vec::new();
        let known = log.lines(CASES_ENTRY, |case: Case| {
            cases.push(case);
            Ok(())
        })?;
        log.lines(REQUESTS_ENTRY, |request: RequestRecord| Ok(importer.request(&request)?))?;
        // Inspect may have written the log anew, without what it does not know.
        let mut stranger = known.is_none().then(|| Foreign::of_own(own.configuration()));
        log.samples(|entry, sample| {
            let bad = |reason: String| ExchangeError::entry(&path, entry, reason);
            let mut returned = ours::sample(&sample, own.configuration())
                .map_err(bad)?
                .ok_or_else(|| bad(format!("store.{}: it is not there", super::OWN)))?;
            passes += 1;
            invalid += u64::from(returned.outcome.as_ref().is_none_or(|outcome| outcome.success.is_none()));
            if let Some(stranger) = &mut stranger {
                let request = stranger.request_of(&sample).map_err(bad)?;
                importer.request(&request)?;
                returned.pass.request = request.sha256;
                returned.earlier.clear();
                let turns = returned.pass.played.iter_mut().flat_map(|played| &mut played.turns);
                turns.flat_map(|turn| &mut turn.answers).for_each(|answer| answer.request.clear());
            }
            returned.earlier.iter().try_for_each(|attempt| importer.pass(attempt))?;
            importer.pass(&returned.pass)?;
            returned.outcome.iter().try_for_each(|outcome| importer.outcome(outcome))?;
            Ok(())
        })?;
        if let Some(stranger) = stranger {
            notes.push(format!("{}: cases and requests are gone; they were made of the samples", path.display()));
            cases = stranger.into_cases();
        }
        sets.push(cases);
    }
    // The run's own cases are those of a configuration that has no others.
    let place = manifest.configurations.iter().position(|record| record.cases.is_none()).unwrap_or(0);
    let shared = sets.get_mut(place).map(std::mem::take).unwrap_or_default();
    let others = sets.into_iter().enumerate();
    let own = others.map(|(other, cases)| Some(cases).filter(|cases| other != place && *cases != shared)).collect();
    if *importer.id() != manifest.id {
        notes.push(format!("there is a run {} already", manifest.id));
    }
    let run = importer.finish(manifest, shared, own)?;
    Ok(ImportedRun { run, passes, invalid, notes })
}

fn started(manifest: &Manifest) -> SystemTime {
    manifest.started().parse::<Timestamp>().map_or_else(|_| SystemTime::now(), SystemTime::from)
}

/// One manifest of the parts', which come in the order of the run's configurations.
fn join(parts: &mut [(LogFile, Own)]) -> Result<Manifest, ExchangeError> {
    let order = |own: &Own| own.configurations.iter().position(|id| id == own.configuration());
    parts.sort_by_key(|(_, own)| order(own));
    let Some((_, first)) = parts.first() else {
        return Err(ExchangeError::Nothing("there is no log".to_owned()));
    };
    let mut manifest = first.manifest.clone();
    for (log, own) in parts.iter().skip(1) {
        let bad = |reason: String| ExchangeError::Format {
            path: log.path().to_owned(),
            format: "a part of this run",
            reason,
        };
        if own.manifest.id != manifest.id {
            return Err(bad(format!("it is of run {}, and not of {}", own.manifest.id, manifest.id)));
        }
        if manifest.configurations.iter().any(|record| record.id == own.configuration()) {
            return Err(bad(format!("the configuration `{}` is there twice", own.configuration())));
        }
        manifest.configurations.extend(own.manifest.configurations.iter().cloned());
    }
    Ok(manifest)
}
