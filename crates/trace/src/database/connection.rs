//! One SQLite connection behind a mutex: how it is opened, migrated, read and written.
//!
//! - WAL, so that readers of another process do not stop the writer; writers wait up to
//!   [`BUSY_TIMEOUT`] for each other. Every write is one `BEGIN IMMEDIATE` transaction.
//! - The file is created readable by its owner only; SQLite gives the `-wal` and `-shm` files the
//!   same mode.
//! - A panic while the lock is held rolls its transaction back, so a poisoned lock is taken over.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use super::DatabaseError;
use super::migrations::{Migration, migrate};

/// How long a statement waits for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Between two tries where SQLite itself does not wait.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// When a commit is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Synchronous {
    /// When it returns, even over a power cut.
    Full,
    /// At the next checkpoint: a power cut may lose the last commits, nothing is damaged.
    Normal,
}

/// A migrated connection.
#[derive(Debug)]
pub(super) struct Store {
    connection: Mutex<Connection>,
}

impl Store {
    /// Opens or creates the file.
    pub(super) fn open(path: &Path, migrations: &[Migration], synchronous: Synchronous) -> Result<Self, DatabaseError> {
        create_private(path).map_err(|source| DatabaseError::Create { path: path.to_owned(), source })?;
        let open = |source| DatabaseError::Open { path: path.to_owned(), source };
        let connection = Connection::open(path).map_err(open)?;
        Self::prepare(connection, path, migrations, synchronous)
    }

    /// A database that lives as long as this value.
    pub(super) fn in_memory(migrations: &[Migration]) -> Result<Self, DatabaseError> {
        let path = Path::new(":memory:");
        let open = |source| DatabaseError::Open { path: path.to_owned(), source };
        let connection = Connection::open_in_memory().map_err(open)?;
        Self::prepare(connection, path, migrations, Synchronous::Normal)
    }

    fn prepare(
        mut connection: Connection,
        path: &Path,
        migrations: &[Migration],
        synchronous: Synchronous,
    ) -> Result<Self, DatabaseError> {
        let open = |source| DatabaseError::Open { path: path.to_owned(), source };
        connection.busy_timeout(BUSY_TIMEOUT).map_err(open)?;
        let level = match synchronous {
            Synchronous::Full => "FULL",
            Synchronous::Normal => "NORMAL",
        };
        use_write_ahead_log(&connection)
            .and_then(|()| connection.pragma_update(None, "synchronous", level))
            .and_then(|()| connection.pragma_update(None, "foreign_keys", true))
            // A file that somebody else filled must not run code of its schema with our rights.
            .and_then(|()| connection.pragma_update(None, "trusted_schema", false))
            .map_err(open)?;
        migrate(&mut connection, path, migrations)?;
        Ok(Self { connection: Mutex::new(connection) })
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads. `action` completes "cannot …".
    pub(super) fn read<T>(
        &self,
        action: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        work(&self.lock()).map_err(|source| DatabaseError::Query { action, source })
    }

    /// Writes in one transaction that is committed when `work` returns `Ok`, else rolled back.
    pub(super) fn write<T>(
        &self,
        action: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        let run = || -> rusqlite::Result<T> {
            let mut connection = self.lock();
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run().map_err(|source| DatabaseError::Query { action, source })
    }
}

/// Turns on the write-ahead log. Where several open a new file at once, SQLite refuses the change at once
/// instead of waiting for the busy timeout, since waiting there could be a deadlock: so it is tried again.
fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<()> {
    let start = Instant::now();
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && start.elapsed() < BUSY_TIMEOUT =>
            {
                std::thread::sleep(BUSY_PAUSE);
            }
            answer => return answer.map(|_| ()),
        }
    }
}

/// Creates the file for its owner only, before SQLite would create it for everyone.
fn create_private(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}
