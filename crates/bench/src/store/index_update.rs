//! Brings the index up to date for one run.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use serde::Deserialize;

use crate::store::lines::{LineReader, Place, parse_line, read_all};
use crate::store::record::{OutcomeHead, PassHead};
use crate::store::{CASES, Manifest, OUTCOMES, PASSES, StoreError};

/// An error on the way: of the files, or of SQLite.
enum Fault {
    Files(StoreError),
    Sql(rusqlite::Error),
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Files(error)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// How far a file was indexed.
struct Mark {
    file: String,
    bytes: u64,
    lines: u64,
}

/// Reads what was appended to the run in `directory`. Returns its row id and its cases' names.
pub(crate) fn update_run(
    connection: &mut Connection,
    index: &Path,
    directory: &Path,
    manifest: &Manifest,
) -> Result<(i64, Vec<String>), StoreError> {
    update(connection, directory, manifest).map_err(|fault| match fault {
        Fault::Files(error) => error,
        Fault::Sql(source) => StoreError::Index { path: index.to_owned(), source },
    })
}

fn update(connection: &mut Connection, directory: &Path, manifest: &Manifest) -> Result<(i64, Vec<String>), Fault> {
    if let Some((run, cases)) = up_to_date(connection, directory, manifest)? {
        return Ok((run, cases));
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute("INSERT OR IGNORE INTO run (name) VALUES (?1)", [&manifest.id])?;
    let run = transaction.query_row("SELECT id FROM run WHERE name = ?1", [&manifest.id], |row| row.get(0))?;
    let cases = case_names(&transaction, run, directory)?;
    // Outcomes are measured first: the pass of each outcome then is in what is read of the passes.
    let outcomes_end = length(&directory.join(OUTCOMES))?;
    let indexer = Indexer { transaction: &transaction, run, manifest, names: Names::new(&cases, manifest) };
    indexer.passes(&directory.join(PASSES))?;
    indexer.outcomes(&directory.join(OUTCOMES), outcomes_end)?;
    transaction.commit()?;
    Ok((run, cases))
}

/// The run's row and case names when nothing has changed, without writing anything.
fn up_to_date(
    connection: &Connection,
    directory: &Path,
    manifest: &Manifest,
) -> Result<Option<(i64, Vec<String>)>, Fault> {
    let run: Option<i64> =
        connection.query_row("SELECT id FROM run WHERE name = ?1", [&manifest.id], |row| row.get(0)).optional()?;
    let Some(run) = run else { return Ok(None) };
    for (name, column) in [(PASSES, "passes"), (OUTCOMES, "outcomes")] {
        let path = directory.join(name);
        let mark = mark(connection, run, column)?;
        if mark.file != fingerprint(&path, manifest)? || mark.bytes != length(&path)? {
            return Ok(None);
        }
    }
    Ok(Some((run, stored_names(connection, run)?)))
}

fn mark(connection: &Connection, run: i64, column: &str) -> rusqlite::Result<Mark> {
    let query = format!("SELECT {column}_file, {column}_bytes, {column}_lines FROM run WHERE id = ?1");
    connection.query_row(&query, [run], |row| {
        Ok(Mark { file: row.get(0)?, bytes: row.get::<_, i64>(1)? as u64, lines: row.get::<_, i64>(2)? as u64 })
    })
}

fn stored_names(connection: &Connection, run: i64) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM case_name WHERE run = ?1 ORDER BY position")?;
    statement.query_map([run], |row| row.get(0))?.collect()
}

fn case_names(transaction: &Transaction<'_>, run: i64, directory: &Path) -> Result<Vec<String>, Fault> {
    #[derive(Deserialize)]
    struct Head {
        id: String,
    }
    let stored = stored_names(transaction, run)?;
    if !stored.is_empty() {
        return Ok(stored);
    }
    let heads: Vec<Head> = read_all(&directory.join(CASES))?;
    let mut insert = transaction.prepare("INSERT INTO case_name (run, position, name) VALUES (?1, ?2, ?3)")?;
    for (position, head) in heads.iter().enumerate() {
        insert.execute(params![run, position as i64, head.id])?;
    }
    Ok(heads.into_iter().map(|head| head.id).collect())
}

/// Positions by name.
struct Names {
    cases: HashMap<String, i64>,
    configurations: HashMap<String, i64>,
}

impl Names {
    fn new(cases: &[String], manifest: &Manifest) -> Self {
        let positions = |names: Vec<&String>| {
            names.into_iter().enumerate().map(|(position, name)| (name.clone(), position as i64)).collect()
        };
        Self {
            cases: positions(cases.iter().collect()),
            configurations: positions(manifest.configurations.iter().map(|configuration| &configuration.id).collect()),
        }
    }

    fn find(&self, path: &Path, place: Place, case: &str, configuration: &str) -> Result<(i64, i64), StoreError> {
        let bad = |what: &str| StoreError::line(path, place.number, format!("the run has no {what}"));
        let case = self.cases.get(case).ok_or_else(|| bad(&format!("case `{case}`")))?;
        let configuration =
            self.configurations.get(configuration).ok_or_else(|| bad(&format!("configuration `{configuration}`")))?;
        Ok((*case, *configuration))
    }
}

struct Indexer<'a> {
    transaction: &'a Transaction<'a>,
    run: i64,
    manifest: &'a Manifest,
    names: Names,
}

impl Indexer<'_> {
    fn passes(&self, path: &Path) -> Result<(), Fault> {
        let mut mark = mark(self.transaction, self.run, "passes")?;
        let file = fingerprint(path, self.manifest)?;
        if mark.file != file || mark.bytes > length(path)? {
            self.transaction.execute("DELETE FROM pass WHERE run = ?1", [self.run])?;
            self.transaction.execute("DELETE FROM earlier WHERE run = ?1", [self.run])?;
            // Outcomes hang on their passes.
            self.transaction.execute("UPDATE run SET outcomes_file = '' WHERE id = ?1", [self.run])?;
            mark = Mark { file: String::new(), bytes: 0, lines: 0 };
        }
        let Some(mut reader) = LineReader::open_at(path, mark.bytes, mark.lines)? else { return Ok(()) };
        let mut supersede = self.transaction.prepare(
            "INSERT OR REPLACE INTO earlier
             SELECT run, configuration, case_position, pass, attempt, offset, length FROM pass
             WHERE run = ?1 AND configuration = ?2 AND case_position = ?3 AND pass = ?4",
        )?;
        let mut earlier =
            self.transaction.prepare("INSERT OR REPLACE INTO earlier VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
        let mut insert = self.transaction.prepare(
            "INSERT OR REPLACE INTO pass (run, configuration, case_position, pass, attempt, offset, length, cold,
                 settled, first_token_ms, total_ms, prompt_tokens, cached_tokens, completion_tokens, output)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        )?;
        while let Some((place, bytes)) = reader.next()? {
            let head: PassHead<'_> = parse_line(path, place, bytes)?;
            let (case, configuration) = self.names.find(path, place, &head.case, &head.configuration)?;
            let (offset, length) = (place.offset as i64, place.length as i64);
            if !head.is_final {
                earlier.execute(params![self.run, configuration, case, head.pass, head.attempt, offset, length])?;
                continue;
            }
            if head.attempt > 1 {
                supersede.execute(params![self.run, configuration, case, head.pass])?;
            }
            insert.execute(params![
                self.run,
                configuration,
                case,
                head.pass,
                head.attempt,
                offset,
                length,
                head.cold,
                head.is_settled(),
                head.timings.first_token_ms,
                head.timings.total_ms,
                head.usage.prompt_tokens.map(|count| count as i64),
                head.usage.cached_tokens.map(|count| count as i64),
                head.usage.completion_tokens.map(|count| count as i64),
                head.output_digest(),
            ])?;
        }
        self.note("passes", &file, reader.position())
    }

    /// Reads outcomes up to byte `end`.
    fn outcomes(&self, path: &Path, end: u64) -> Result<(), Fault> {
        let mut mark = mark(self.transaction, self.run, "outcomes")?;
        let file = fingerprint(path, self.manifest)?;
        if mark.file != file || mark.bytes > end {
            self.transaction.execute(
                "UPDATE pass SET outcome_offset = NULL, outcome_length = NULL, success = NULL, class = NULL,
                     recovered = NULL, first_call_ms = NULL
                 WHERE run = ?1 AND outcome_offset IS NOT NULL",
                [self.run],
            )?;
            mark = Mark { file: String::new(), bytes: 0, lines: 0 };
        }
        let Some(mut reader) = LineReader::open_at(path, mark.bytes, mark.lines)? else { return Ok(()) };
        // The outcome of an attempt that was superseded finds no row, and needs none.
        let mut update = self.transaction.prepare(
            "UPDATE pass SET outcome_offset = ?6, outcome_length = ?7, success = ?8, class = ?9, recovered = ?10,
                 first_call_ms = ?11
             WHERE run = ?1 AND configuration = ?2 AND case_position = ?3 AND pass = ?4 AND attempt = ?5",
        )?;
        while reader.position().0 < end {
            let Some((place, bytes)) = reader.next()? else { break };
            let head: OutcomeHead<'_> = parse_line(path, place, bytes)?;
            let (case, configuration) = self.names.find(path, place, &head.case, &head.configuration)?;
            update.execute(params![
                self.run,
                configuration,
                case,
                head.pass,
                head.attempt,
                place.offset as i64,
                place.length as i64,
                head.success,
                head.class.map(tenpass_trace::FailureClass::as_str),
                head.recovered,
                head.first_call_ms,
            ])?;
        }
        self.note("outcomes", &file, reader.position())
    }

    fn note(&self, column: &str, file: &str, (bytes, lines): (u64, u64)) -> Result<(), Fault> {
        let update =
            format!("UPDATE run SET {column}_file = ?2, {column}_bytes = ?3, {column}_lines = ?4 WHERE id = ?1");
        self.transaction.execute(&update, params![self.run, file, bytes as i64, lines as i64])?;
        Ok(())
    }
}

fn length(path: &Path) -> Result<u64, StoreError> {
    match fs::metadata(path) {
        Ok(data) => Ok(data.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(StoreError::read(path, error)),
    }
}

/// Tells a file from the one that replaced it: a replacement exists beside the old one before it
/// takes its name, so it has another number. Numbers are used again after a while, hence the time
/// of the last re-grade beside it.
fn fingerprint(path: &Path, manifest: &Manifest) -> Result<String, StoreError> {
    let regraded = manifest.regraded.as_ref().filter(|_| path.ends_with(OUTCOMES)).map_or("", |regraded| &regraded.at);
    match fs::metadata(path) {
        Ok(data) => Ok(format!("{} {regraded}", file_number(&data))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok("none".to_owned()),
        Err(error) => Err(StoreError::read(path, error)),
    }
}

#[cfg(unix)]
fn file_number(data: &fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    format!("{}:{}", data.dev(), data.ino())
}

#[cfg(not(unix))]
fn file_number(data: &fs::Metadata) -> String {
    data.created().map(crate::store::clock::timestamp).unwrap_or_default()
}
