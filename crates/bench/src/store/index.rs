//! `index.sqlite`: where each pass stands in the files, and its numbers.
//!
//! Rebuildable at any time. Only what was appended since the last look is read; a file that was
//! replaced or shrank is read anew. When the index cannot be written (a read-only medium, a
//! damaged file that cannot be removed) it is built in memory instead.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, TransactionBehavior, params};
use tenpass_trace::FailureClass;

use crate::store::index_update::update_run;
use crate::store::lines::Place;
use crate::store::{INDEX, Manifest, Run, StoreError};

/// The tables of the index, for whoever reads it by SQL.
pub const INDEX_SCHEMA: &str = include_str!("schema.sql");

/// Raised with every change of `schema.sql`: an index of another version is rebuilt.
const SCHEMA_VERSION: i64 = 1;

/// Which passes to read. An empty filter takes all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PassFilter {
    /// Of this case.
    pub case: Option<String>,
    /// Of this configuration.
    pub configuration: Option<String>,
    /// With this number.
    pub pass: Option<u32>,
    /// With this main failure class.
    pub class: Option<FailureClass>,
    /// Right (true), wrong (false).
    pub success: Option<bool>,
    /// At most so many.
    pub limit: Option<u64>,
}

/// The numbers of one pass.
#[derive(Debug, Clone, PartialEq)]
pub struct PassRow {
    /// Position of the configuration in the manifest.
    pub configuration: usize,
    /// Position of the case in the run's cases.
    pub case: usize,
    /// Which pass, counted from 1.
    pub pass: u32,
    /// Which attempt gave the result.
    pub attempt: u32,
    /// Begun before the configuration had answered anything in its process.
    pub cold: bool,
    /// Milliseconds to the first token.
    pub first_token_ms: Option<f64>,
    /// Milliseconds to the first call.
    pub first_call_ms: Option<f64>,
    /// Milliseconds to the end.
    pub total_ms: f64,
    /// Tokens of the prompt.
    pub prompt_tokens: Option<u64>,
    /// Prompt tokens from a cache.
    pub cached_tokens: Option<u64>,
    /// Tokens of the answer.
    pub completion_tokens: Option<u64>,
    /// Equal for equal outputs (text, reasoning and calls).
    pub output: i64,
    /// Whether the answer is right; `None` when INVALID or not graded yet.
    pub success: Option<bool>,
    /// The main thing wrong with it.
    pub class: Option<FailureClass>,
    /// Whether a call had to be recovered.
    pub recovered: bool,
}

/// Where the lines of one pass stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PassPlaces {
    pub(crate) pass: Place,
    pub(crate) outcome: Option<Place>,
}

/// The index of a store, up to date for one run.
pub struct Index {
    connection: Connection,
    path: PathBuf,
    run: i64,
    cases: Vec<String>,
    configurations: Vec<String>,
}

impl Index {
    /// Opens the index of `store` and brings it up to date for the run in `directory`.
    pub(crate) fn open(store: &Path, directory: &Path, manifest: &Manifest) -> Result<Self, StoreError> {
        let path = store.join(INDEX);
        let mut result = Self::on_disk(&path, directory, manifest);
        if matches!(&result, Err(StoreError::Index { source, .. }) if is_damaged(source)) {
            let _ = fs::remove_file(&path);
            result = Self::on_disk(&path, directory, manifest);
        }
        match result {
            Err(StoreError::Index { .. }) => {
                let error = |source| StoreError::Index { path: path.clone(), source };
                let connection = Connection::open_in_memory().map_err(error)?;
                create_tables(&connection).map_err(error)?;
                Self::update(connection, &path, directory, manifest)
            }
            other => other,
        }
    }

    fn on_disk(path: &Path, directory: &Path, manifest: &Manifest) -> Result<Self, StoreError> {
        let connection = connect(path).map_err(|source| StoreError::Index { path: path.to_owned(), source })?;
        Self::update(connection, path, directory, manifest)
    }

    fn update(
        mut connection: Connection,
        path: &Path,
        directory: &Path,
        manifest: &Manifest,
    ) -> Result<Self, StoreError> {
        let (run, cases) = update_run(&mut connection, path, directory, manifest)?;
        let configurations = manifest.configurations.iter().map(|configuration| configuration.id.clone()).collect();
        Ok(Self { connection, path: path.to_owned(), run, cases, configurations })
    }

    fn error(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Index { path: self.path.clone(), source }
    }

    /// Names of the run's cases, in its order.
    pub fn cases(&self) -> &[String] {
        &self.cases
    }

    /// Ids of the run's configurations, in the manifest's order.
    pub fn configurations(&self) -> &[String] {
        &self.configurations
    }

    /// Calls `each` with the numbers of every pass that matches, by configuration, case and pass.
    pub fn rows(&self, filter: &PassFilter, mut each: impl FnMut(&PassRow)) -> Result<(), StoreError> {
        const COLUMNS: &str = "configuration, case_position, pass, attempt, cold, first_token_ms, first_call_ms, \
             total_ms, prompt_tokens, cached_tokens, completion_tokens, output, success, class, recovered";
        self.select(COLUMNS, filter, |row| {
            let class: Option<&str> = row.get_ref(13)?.as_str_or_null()?;
            each(&PassRow {
                configuration: row.get::<_, i64>(0)? as usize,
                case: row.get::<_, i64>(1)? as usize,
                pass: row.get(2)?,
                attempt: row.get(3)?,
                cold: row.get(4)?,
                first_token_ms: row.get(5)?,
                first_call_ms: row.get(6)?,
                total_ms: row.get(7)?,
                prompt_tokens: row.get::<_, Option<i64>>(8)?.map(|count| count as u64),
                cached_tokens: row.get::<_, Option<i64>>(9)?.map(|count| count as u64),
                completion_tokens: row.get::<_, Option<i64>>(10)?.map(|count| count as u64),
                output: row.get(11)?,
                success: row.get(12)?,
                class: class.and_then(class_named),
                recovered: row.get::<_, Option<bool>>(14)?.unwrap_or(false),
            });
            Ok(())
        })
    }

    /// Places of every pass that matches, by configuration, case and pass.
    pub(crate) fn places(&self, filter: &PassFilter) -> Result<Vec<PassPlaces>, StoreError> {
        let mut places = Vec::new();
        self.select("offset, length, outcome_offset, outcome_length", filter, |row| {
            let outcome_offset: Option<i64> = row.get(2)?;
            let outcome_length: Option<i64> = row.get(3)?;
            places.push(PassPlaces {
                pass: place(row.get(0)?, row.get(1)?),
                outcome: outcome_offset.zip(outcome_length).map(|(offset, length)| place(offset, length)),
            });
            Ok(())
        })?;
        Ok(places)
    }

    /// Places of one pass by the positions of its configuration and its case.
    pub(crate) fn places_of(
        &self,
        configuration: usize,
        case: usize,
        pass: u32,
    ) -> Result<Option<PassPlaces>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare_cached(
                "SELECT offset, length, outcome_offset, outcome_length FROM pass
                 WHERE run = ?1 AND configuration = ?2 AND case_position = ?3 AND pass = ?4",
            )?;
            let found = statement.query_row(params![self.run, configuration as i64, case as i64, pass], |row| {
                let outcome: (Option<i64>, Option<i64>) = (row.get(2)?, row.get(3)?);
                Ok(PassPlaces {
                    pass: place(row.get(0)?, row.get(1)?),
                    outcome: outcome.0.zip(outcome.1).map(|(offset, length)| place(offset, length)),
                })
            });
            found.optional()
        };
        read().map_err(|error| self.error(error))
    }

    /// Places of the attempts at one pass that are not its result, in their order.
    pub(crate) fn earlier_attempts(
        &self,
        case: &str,
        configuration: &str,
        pass: u32,
    ) -> Result<Vec<Place>, StoreError> {
        let (Some(case), Some(configuration)) = (self.case_position(case), self.configuration_position(configuration))
        else {
            return Ok(Vec::new());
        };
        let read = || {
            let mut statement = self.connection.prepare_cached(
                "SELECT offset, length FROM earlier WHERE run = ?1 AND configuration = ?2 AND case_position = ?3
                 AND pass = ?4 ORDER BY attempt",
            )?;
            let rows = statement
                .query_map(params![self.run, configuration, case, pass], |row| Ok(place(row.get(0)?, row.get(1)?)))?;
            rows.collect::<Result<Vec<_>, _>>()
        };
        read().map_err(|error| self.error(error))
    }

    /// How many attempts failed and were repeated, in the whole run.
    pub fn repeated_attempts(&self) -> Result<u64, StoreError> {
        let count = "SELECT count(*) FROM earlier WHERE run = ?1";
        let count: Result<i64, _> = self.connection.query_row(count, [self.run], |row| row.get(0));
        count.map(|count| count as u64).map_err(|error| self.error(error))
    }

    fn case_position(&self, case: &str) -> Option<i64> {
        self.cases.iter().position(|name| name == case).map(|position| position as i64)
    }

    fn configuration_position(&self, configuration: &str) -> Option<i64> {
        self.configurations.iter().position(|id| id == configuration).map(|position| position as i64)
    }

    fn select(
        &self,
        columns: &str,
        filter: &PassFilter,
        mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        use rusqlite::types::Value;
        let mut text = format!("SELECT {columns} FROM pass WHERE run = ?");
        let mut values = vec![Value::from(self.run)];
        let mut also = |condition: &str, value: Value| {
            text.push_str(" AND ");
            text.push_str(condition);
            values.push(value);
        };
        // A name that the run does not have matches nothing.
        if let Some(configuration) = &filter.configuration {
            also("configuration = ?", self.configuration_position(configuration).unwrap_or(-1).into());
        }
        if let Some(case) = &filter.case {
            also("case_position = ?", self.case_position(case).unwrap_or(-1).into());
        }
        if let Some(pass) = filter.pass {
            also("pass = ?", i64::from(pass).into());
        }
        if let Some(class) = filter.class {
            also("class = ?", class.as_str().to_owned().into());
        }
        if let Some(success) = filter.success {
            also("success = ?", i64::from(success).into());
        }
        text.push_str(" ORDER BY configuration, case_position, pass");
        if let Some(limit) = filter.limit {
            text.push_str(" LIMIT ?");
            values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
        }
        let mut read = || {
            let mut statement = self.connection.prepare(&text)?;
            let mut rows = statement.query(rusqlite::params_from_iter(&values))?;
            while let Some(row) = rows.next()? {
                each(row)?;
            }
            Ok(())
        };
        read().map_err(|error| self.error(error))
    }
}

/// Where the index of a store is.
pub fn index_path(store: &Path) -> PathBuf {
    store.join(INDEX)
}

/// Brings the index at `path` up to date for all these runs; runs it knows beside them stay in it.
/// Returns the runs whose files cannot be read, with the reason. `keep_on` is asked before each run;
/// after a no the others are as they were.
pub fn index_runs(
    path: &Path,
    runs: &[Run],
    mut keep_on: impl FnMut() -> bool,
) -> Result<Vec<(String, StoreError)>, StoreError> {
    match update_all(path, runs, &mut keep_on) {
        Err(StoreError::Index { source, .. }) if is_damaged(&source) => {
            let _ = fs::remove_file(path);
            update_all(path, runs, &mut keep_on)
        }
        other => other,
    }
}

fn update_all(
    path: &Path,
    runs: &[Run],
    keep_on: &mut impl FnMut() -> bool,
) -> Result<Vec<(String, StoreError)>, StoreError> {
    let mut connection = connect(path).map_err(|source| StoreError::Index { path: path.to_owned(), source })?;
    let mut unreadable = Vec::new();
    for run in runs {
        if !keep_on() {
            break;
        }
        match update_run(&mut connection, path, run.directory(), run.manifest()) {
            Ok(_) => {}
            Err(fault @ StoreError::Index { .. }) => return Err(fault),
            Err(fault) => unreadable.push((run.id().to_owned(), fault)),
        }
    }
    Ok(unreadable)
}

/// Drops what the index at `path` holds of runs with other names than these, and gives the space back.
pub(super) fn forget_others(path: &Path, names: &[String]) -> Result<(), StoreError> {
    let forget = || {
        let mut connection = connect(path)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let known: Vec<(i64, String)> = transaction
            .prepare("SELECT id, name FROM run")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let gone: Vec<i64> = known.into_iter().filter(|(_, name)| !names.contains(name)).map(|(id, _)| id).collect();
        for id in &gone {
            for statement in [
                "DELETE FROM pass WHERE run = ?1",
                "DELETE FROM earlier WHERE run = ?1",
                "DELETE FROM case_name WHERE run = ?1",
                "DELETE FROM run WHERE id = ?1",
            ] {
                transaction.execute(statement, [id])?;
            }
        }
        transaction.commit()?;
        if gone.is_empty() { Ok(()) } else { connection.execute_batch("VACUUM") }
    };
    forget().map_err(|source| StoreError::Index { path: path.to_owned(), source })
}

fn place(offset: i64, length: i64) -> Place {
    Place { offset: offset as u64, length: length as u64, number: 0 }
}

fn class_named(name: &str) -> Option<FailureClass> {
    FailureClass::ALL.iter().copied().find(|class| class.as_str() == name)
}

fn is_damaged(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    // Losing the index costs one rebuild, so waiting for the disk would buy nothing. No WAL:
    // stores lie on network file systems too, where it does not work.
    connection.pragma_update(None, "synchronous", "OFF")?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == SCHEMA_VERSION {
        return Ok(connection);
    }
    let tables: Option<i64> =
        connection.query_row("SELECT 1 FROM sqlite_schema LIMIT 1", [], |row| row.get(0)).optional()?;
    if tables.is_none() {
        create_tables(&connection)?;
        return Ok(connection);
    }
    drop(connection);
    let _ = fs::remove_file(path);
    let connection = Connection::open(path)?;
    create_tables(&connection)?;
    Ok(connection)
}

fn create_tables(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .execute_batch(&format!("BEGIN IMMEDIATE; {INDEX_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"))
}
