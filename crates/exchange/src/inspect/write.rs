//! Writes a run as `.eval` logs, one a configuration, pass by pass.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tenpass_bench::cases::Case;
use tenpass_bench::store::{ConfigurationRecord, Manifest, PassDetail, PassFilter, RequestRecord, Requests, Run};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::header::{self, LOG_VERSION, Tally};
use super::sample::{self, LogContext};
use super::time::written;
use super::{CASES_ENTRY, REQUESTS_ENTRY};
use crate::ExchangeError;

/// Of Deflate: samples are small and alike, and the usual 6 takes twice the time for a few percent.
const LEVEL: i64 = 3;
/// Samples whose summaries share an entry of the journal.
const JOURNAL: u64 = 1000;

/// Writes the logs of `run` into the folder `out`, of all configurations or of one, and returns the files.
///
/// Passes are read, written and forgotten one by one; a run of any size fits.
pub fn export(run: &Run, configuration: Option<&str>, out: &Path) -> Result<Vec<PathBuf>, ExchangeError> {
    let manifest = run.manifest();
    let wanted = |record: &&ConfigurationRecord| configuration.is_none_or(|wanted| wanted == record.id);
    let chosen: Vec<&ConfigurationRecord> = manifest.configurations.iter().filter(wanted).collect();
    if chosen.is_empty() {
        let ids: Vec<&str> = manifest.configurations.iter().map(|record| record.id.as_str()).collect();
        let asked = configuration.unwrap_or_default();
        let reason = format!("{} has no configuration `{asked}`; it has: {}", run.id(), ids.join(", "));
        return Err(ExchangeError::Nothing(reason));
    }
    fs::create_dir_all(out).map_err(|error| ExchangeError::write(out, error))?;
    chosen.into_iter().map(|record| write_log(run, record, out)).collect()
}

/// `2026-11-30T14-22-33-00-00_tools_<task id>.eval`: the name from which Inspect reads task and moment.
fn file_name(log: &LogContext<'_>, manifest: &Manifest) -> String {
    let clean = |text: &str| text.replace(['_', '/', ':', '+', '\\'], "-");
    let started = written(manifest.started(), 0.0).unwrap_or_else(|| "1970-01-01T00:00:00.000+00:00".to_owned());
    let seconds = started.split('.').next().unwrap_or_default();
    format!("{}_{}_{}.eval", clean(&format!("{seconds}+00:00")), clean(&manifest.bench), header::task_id(log))
}

fn write_log(run: &Run, configuration: &ConfigurationRecord, out: &Path) -> Result<PathBuf, ExchangeError> {
    let manifest = run.manifest();
    let model = format!("{}/{}", configuration.model.backend, configuration.model.name);
    let log = LogContext { run: run.id(), configuration, model, timeout_ms: manifest.timeout_ms };
    let path = out.join(file_name(&log, manifest));
    // Readers must never see half a log.
    let partial = path.with_extension("partial");
    let written = File::create(&partial)
        .map_err(|error| ExchangeError::write(&partial, error))
        .and_then(|file| write_entries(run, &log, Archive::new(&partial, file)?))
        .and_then(|()| fs::rename(&partial, &path).map_err(|error| ExchangeError::write(&path, error)));
    if let Err(error) = written {
        let _ = fs::remove_file(&partial);
        return Err(error);
    }
    Ok(path)
}

fn write_entries(run: &Run, log: &LogContext<'_>, mut archive: Archive) -> Result<(), ExchangeError> {
    let manifest = run.manifest();
    let cases = run.cases_of(&log.configuration.id)?;
    let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    let start = header::start(log, manifest, &ids);
    archive.json("_journal/start.json", &json!({ "version": LOG_VERSION, "eval": start.eval, "plan": start.plan }))?;
    let mut tally = Tally::default();
    let used = write_samples(run, log, &cases, &mut archive, &mut tally)?;
    archive.journal(true)?;
    archive.summaries()?;
    archive.json("reductions.json", &tally.reductions())?;
    archive.lines(CASES_ENTRY, cases.iter().map(|case| serde_json::to_vec(case).map_err(io::Error::other)))?;
    write_requests(run, &used, &mut archive)?;
    archive.json("header.json", &header::header(start, log, manifest, &tally))?;
    archive.finish()
}

/// Writes every pass; returns the hashes of the requests that were used.
fn write_samples(
    run: &Run,
    log: &LogContext<'_>,
    cases: &[Case],
    archive: &mut Archive,
    tally: &mut Tally,
) -> Result<Vec<String>, ExchangeError> {
    let mut requests = Requests::open(run)?;
    let mut used = Used::default();
    let cases: HashMap<&str, &Case> = cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let filter = PassFilter { configuration: Some(log.configuration.id.clone()), ..PassFilter::default() };
    for detail in run.passes(&filter)? {
        let detail = detail?;
        let Some(case) = cases.get(detail.pass.case.as_str()) else { continue };
        write_sample(run, log, case, &detail, &mut requests, &mut used, archive)?;
        tally.add(&detail.pass, detail.outcome.as_ref());
    }
    if tally.samples() == 0 {
        let reason = format!("{} has no finished pass with `{}`", run.id(), log.configuration.id);
        return Err(ExchangeError::Nothing(reason));
    }
    Ok(used.hashes)
}

fn write_sample(
    run: &Run,
    log: &LogContext<'_>,
    case: &Case,
    detail: &PassDetail,
    requests: &mut Requests,
    used: &mut Used,
    archive: &mut Archive,
) -> Result<(), ExchangeError> {
    let pass = &detail.pass;
    let earlier = if pass.attempt > 1 { run.earlier_attempts(pass)? } else { Vec::new() };
    for attempt in &earlier {
        used.note(&attempt.request);
        let asked = attempt.played.iter().flat_map(|played| &played.turns).flat_map(|turn| &turn.answers);
        asked.for_each(|answer| used.note(&answer.request));
    }
    let written = sample::sample(log, case, detail, &earlier, |sha256| {
        used.note(sha256);
        requests.get(sha256).map(Option::<&RequestRecord>::cloned)
    })?;
    used.note(&pass.request);
    archive.json(&format!("samples/{}_epoch_{}.json", pass.case, pass.pass), &written.sample)?;
    archive.summary(&written.summary)
}

fn write_requests(run: &Run, hashes: &[String], archive: &mut Archive) -> Result<(), ExchangeError> {
    let mut requests = Requests::open(run)?;
    let lines = hashes.iter().filter_map(|hash| match requests.get(hash) {
        Ok(found) => found.map(|record| serde_json::to_vec(record).map_err(io::Error::other)),
        Err(error) => Some(Err(io::Error::other(error))),
    });
    archive.lines(REQUESTS_ENTRY, lines)
}

/// Hashes in the order in which they were first used.
#[derive(Default)]
struct Used {
    known: HashSet<String>,
    hashes: Vec<String>,
}

impl Used {
    fn note(&mut self, hash: &str) {
        if !hash.is_empty() && !self.known.contains(hash) {
            self.known.insert(hash.to_owned());
            self.hashes.push(hash.to_owned());
        }
    }
}

/// The ZIP being written, and the summaries that go into it later.
struct Archive {
    path: PathBuf,
    zip: ZipWriter<BufWriter<File>>,
    /// All summaries as the inside of a JSON list, on disk.
    spool: BufWriter<File>,
    /// Those of the next journal entry.
    pending: Vec<u8>,
    pending_count: u64,
    spooled: u64,
    journals: u64,
}

impl Archive {
    fn new(path: &Path, file: File) -> Result<Self, ExchangeError> {
        let spool = tempfile::tempfile().map_err(|error| ExchangeError::write(&std::env::temp_dir(), error))?;
        Ok(Self {
            path: path.to_owned(),
            zip: ZipWriter::new(BufWriter::with_capacity(1 << 20, file)),
            spool: BufWriter::with_capacity(1 << 20, spool),
            pending: Vec::new(),
            pending_count: 0,
            spooled: 0,
            journals: 0,
        })
    }

    fn failed(&self) -> impl Fn(io::Error) -> ExchangeError + use<> {
        let path = self.path.clone();
        move |error| ExchangeError::write(&path, error)
    }

    fn start(&mut self, name: &str) -> Result<(), ExchangeError> {
        let failed = self.failed();
        let options =
            SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).compression_level(Some(LEVEL));
        self.zip.start_file(name, options).map_err(|error| failed(error.into()))
    }

    fn json(&mut self, name: &str, value: &Value) -> Result<(), ExchangeError> {
        let failed = self.failed();
        self.start(name)?;
        let bytes = serde_json::to_vec(value).map_err(|error| failed(error.into()))?;
        self.zip.write_all(&bytes).map_err(failed)
    }

    /// An entry of lines.
    fn lines(
        &mut self,
        name: &str,
        lines: impl Iterator<Item = Result<Vec<u8>, io::Error>>,
    ) -> Result<(), ExchangeError> {
        let failed = self.failed();
        self.start(name)?;
        for line in lines {
            let mut line = line.map_err(&failed)?;
            line.push(b'\n');
            self.zip.write_all(&line).map_err(&failed)?;
        }
        Ok(())
    }

    fn summary(&mut self, summary: &Value) -> Result<(), ExchangeError> {
        let failed = self.failed();
        let bytes = serde_json::to_vec(summary).map_err(|error| failed(error.into()))?;
        if self.spooled > 0 {
            self.spool.write_all(b",").map_err(&failed)?;
        }
        self.spool.write_all(&bytes).map_err(&failed)?;
        self.spooled += 1;
        if self.pending_count > 0 {
            self.pending.push(b',');
        }
        self.pending.extend_from_slice(&bytes);
        self.pending_count += 1;
        self.journal(false)
    }

    /// Writes the waiting summaries as `_journal/summaries/N.json`, when they are many or the last.
    fn journal(&mut self, last: bool) -> Result<(), ExchangeError> {
        if self.pending_count == 0 || (!last && self.pending_count < JOURNAL) {
            return Ok(());
        }
        self.journals += 1;
        let failed = self.failed();
        self.start(&format!("_journal/summaries/{}.json", self.journals))?;
        let pending = std::mem::take(&mut self.pending);
        self.pending_count = 0;
        [b"[".as_slice(), &pending, b"]"].into_iter().try_for_each(|part| self.zip.write_all(part)).map_err(failed)
    }

    /// `summaries.json`: all of them.
    fn summaries(&mut self) -> Result<(), ExchangeError> {
        let failed = self.failed();
        self.start("summaries.json")?;
        let mut copy = || {
            self.spool.flush()?;
            let file = self.spool.get_mut();
            file.seek(SeekFrom::Start(0))?;
            self.zip.write_all(b"[")?;
            io::copy(file, &mut self.zip)?;
            self.zip.write_all(b"]")
        };
        copy().map_err(failed)
    }

    fn finish(self) -> Result<(), ExchangeError> {
        let failed = self.failed();
        let output = self.zip.finish().map_err(|error| failed(error.into()))?;
        let file = output.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_all().map_err(failed)
    }
}
