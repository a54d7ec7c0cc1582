//! SQL over what was measured and what the agent did: read only.
//!
//! The language is SQLite's. Tables are views ([`tables`]) over the index of the runs, their manifests
//! and cases, and the agent's journal; what a statement does not touch is not read. Nothing can be
//! written: SQLite asks before every step ([`guard`]), the connection is closed for writing, and a
//! statement must be one that reads.

mod answer;
mod connect;
mod error;
mod functions;
mod guard;
mod hint;
mod runs;
mod tables;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod traces;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tempfile::TempDir;
use tenpass_bench::store::{Run, StoreError, index_path, index_runs, list_runs};

use self::answer::Answer;
use self::connect::{
    Part, attach_cache, attach_index, attach_memory, cache, connect, create_views, detach, is_useless,
};
use self::functions::Names;
use self::guard::Seen;
use crate::{Frame, Output};

pub use error::QueryError;
pub use tables::{ColumnDoc, TableDoc};

/// Steps of SQLite's machine between two questions whether to go on: some 20 microseconds.
const STEPS: i32 = 10_000;

/// What is a name to other commands, and only text in SQL.
const NAMES_AS_TEXT: [(&str, &str); 2] = [
    ("'latest'", "'latest' is only a text here: the run that began last is latest()"),
    ("'baseline'", "'baseline' is only a text here: the baseline of a bench is baseline('tools')"),
];

/// Every table with its columns.
pub fn tables() -> &'static [TableDoc] {
    tables::TABLES
}

/// The functions beside SQLite's own: how each is called, and what it gives.
pub fn functions() -> &'static [(&'static str, &'static str)] {
    functions::FUNCTIONS
}

/// Where a query reads.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The store of the runs.
    pub runs: PathBuf,
    /// The journal of what the agent did, `orchestrator-trace.jsonl`.
    pub journal: PathBuf,
    /// The run that is the baseline of each bench.
    pub baselines: BTreeMap<String, String>,
}

/// When a query ends without an answer.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// It may take so long.
    pub time: Option<Duration>,
    /// Set from elsewhere, such as by Ctrl-C.
    pub stop: Arc<AtomicBool>,
}

/// When it began, and when it ends.
#[derive(Debug, Clone)]
struct Watch {
    limits: Limits,
    began: Instant,
}

impl Watch {
    fn is_over(&self) -> bool {
        self.limits.stop.load(Ordering::Relaxed) || self.limits.time.is_some_and(|time| self.began.elapsed() > time)
    }

    fn check(&self) -> Result<(), QueryError> {
        if self.is_over() { Err(self.told(QueryError::Stopped)) } else { Ok(()) }
    }

    /// Whether it was stopped, or its time ran out.
    fn told(&self, error: QueryError) -> QueryError {
        match (error, self.limits.time) {
            (QueryError::Stopped, Some(limit)) if !self.limits.stop.load(Ordering::Relaxed) => {
                QueryError::TimedOut { limit }
            }
            (other, _) => other,
        }
    }
}

/// A statement that was found to be one that reads, with everything it touches up to date.
#[derive(Debug)]
pub struct Query {
    connection: Connection,
    seen: Arc<Mutex<Seen>>,
    sql: String,
    watch: Watch,
    notes: Vec<String>,
    /// An index of a store that cannot be written.
    _scratch: Option<TempDir>,
}

impl Query {
    /// Checks the statement, then reads what it touches.
    pub fn open(sources: &Sources, sql: &str, limits: Limits) -> Result<Self, QueryError> {
        let watch = Watch { limits, began: Instant::now() };
        let touched = touched(sql)?;
        let mut scratch = None;
        let mut notes = Vec::new();
        let mut runs = Vec::new();
        if touched.runs {
            (runs, notes) = readable(&sources.runs)?;
        }
        let mut connection = connect(&Names::of(&runs, sources.baselines.clone())).map_err(QueryError::Database)?;
        if touched.runs {
            notes.extend(load_index(&connection, &sources.runs, &runs, &watch, &mut scratch)?);
            notes.extend(load_cases(&connection, &sources.runs, &runs)?);
        }
        watch.check()?;
        notes.extend(NAMES_AS_TEXT.iter().filter(|(text, _)| sql.contains(text)).map(|(_, note)| (*note).to_owned()));
        if touched.agent {
            notes.extend(load_traces(&connection, &sources.journal, &watch)?);
        }
        complete(&connection).map_err(QueryError::Database)?;
        let seen = guard::close(&mut connection)?;
        let handler = watch.clone();
        connection.progress_handler(STEPS, Some(move || handler.is_over())).map_err(QueryError::Database)?;
        Ok(Self { connection, seen, sql: sql.to_owned(), watch, notes, _scratch: scratch })
    }

    /// What could not be read, and what may not have been meant; a line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Writes the answer, row by row. Returns how many rows there were.
    pub fn write(&self, output: Output, out: &mut dyn Write) -> Result<u64, QueryError> {
        self.answer()?.write(&self.sql, output, out).map_err(|error| self.told(error))
    }

    /// The answer in memory.
    pub fn frame(&self) -> Result<Frame, QueryError> {
        self.answer()?.frame(&self.sql).map_err(|error| self.told(error))
    }

    /// Why a statement ended that had begun: some things are refused only then.
    fn told(&self, error: QueryError) -> QueryError {
        guard::refused(&self.seen).unwrap_or_else(|| self.watch.told(error))
    }

    fn answer(&self) -> Result<Answer<'_>, QueryError> {
        Ok(Answer::new(guard::prepare(&self.connection, &self.seen, &self.sql)?))
    }
}

/// What a statement reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Touched {
    runs: bool,
    agent: bool,
}

/// Prepares the statement on empty tables: what is wrong with it is said before anything is read.
fn touched(sql: &str) -> Result<Touched, QueryError> {
    let open = || {
        let connection = connect(&Names::default())?;
        complete(&connection)?;
        rusqlite::Result::Ok(connection)
    };
    let mut connection = open().map_err(QueryError::Database)?;
    let seen = guard::close(&mut connection)?;
    drop(guard::prepare(&connection, &seen, sql)?);
    let seen = seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
    let reads = |part: Part| seen.databases.contains(part.name());
    Ok(Touched {
        runs: reads(Part::Index) || reads(Part::Store) || seen.functions.contains("latest"),
        agent: reads(Part::Agent),
    })
}

/// Attaches what is missing, empty, and makes the views.
fn complete(connection: &Connection) -> rusqlite::Result<()> {
    let attached: BTreeSet<String> = {
        let mut statement = connection.prepare("PRAGMA database_list")?;
        statement.query_map([], |row| row.get(1))?.collect::<Result<_, _>>()?
    };
    for part in Part::ALL {
        if !attached.contains(part.name()) {
            attach_memory(connection, part)?;
        }
    }
    create_views(connection)
}

/// The runs of the store, and a line for each that cannot be read.
fn readable(store: &Path) -> Result<(Vec<Run>, Vec<String>), QueryError> {
    let mut runs = Vec::new();
    let mut notes = Vec::new();
    for entry in list_runs(store)? {
        match entry.run {
            Ok(run) => runs.push(run),
            Err(error) => notes.push(format!("{} is left out: {error}", entry.id)),
        }
    }
    Ok((runs, notes))
}

/// Brings the index up to date and attaches it; where the store cannot be written, one of its own.
fn load_index(
    connection: &Connection,
    store: &Path,
    runs: &[Run],
    watch: &Watch,
    scratch: &mut Option<TempDir>,
) -> Result<Vec<String>, QueryError> {
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let keep_on = || !watch.is_over();
    let mut path = index_path(store);
    let mut indexed = index_runs(&path, runs, keep_on);
    if matches!(indexed, Err(StoreError::Index { .. })) {
        let folder = tempfile::tempdir().map_err(|error| QueryError::Frame(error.into()))?;
        path = folder.path().join("index.sqlite");
        indexed = index_runs(&path, runs, keep_on);
        *scratch = Some(folder);
    }
    let unreadable = indexed?;
    watch.check()?;
    attach_index(connection, &path).map_err(QueryError::Database)?;
    Ok(unreadable.into_iter().map(|(run, error)| format!("passes of {run} are left out: {error}")).collect())
}

/// Fills a cache, in memory where it cannot be on disk.
fn load<T>(
    connection: &Connection,
    part: Part,
    folder: Option<&Path>,
    mut fill: impl FnMut() -> Result<T, QueryError>,
) -> Result<T, QueryError> {
    if let Some(folder) = folder
        && attach_cache(connection, part, &cache(folder)).is_ok()
    {
        match fill() {
            Err(QueryError::Database(error)) => {
                detach(connection, part);
                if is_useless(&error) {
                    let _ = std::fs::remove_file(cache(folder));
                }
            }
            other => return other,
        }
    }
    attach_memory(connection, part).map_err(QueryError::Database)?;
    fill()
}

fn load_cases(connection: &Connection, store: &Path, runs: &[Run]) -> Result<Vec<String>, QueryError> {
    let folder = store.is_dir().then_some(store);
    load(connection, Part::Store, folder, || runs::refresh(connection, runs).map_err(QueryError::Database))
}

fn load_traces(connection: &Connection, journal: &Path, watch: &Watch) -> Result<Vec<String>, QueryError> {
    let folder = journal.parent().filter(|_| journal.is_file());
    let unreadable = load(connection, Part::Agent, folder, || traces::refresh(connection, journal, &|| watch.check()))?;
    let note = format!("{unreadable} lines of the journal cannot be read; `tenpass trace verify` says which");
    Ok(if unreadable == 0 { Vec::new() } else { vec![note] })
}
