//! The handle on the store of conversations: opening it, and its clock.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::DatabaseError;
use super::connection::{Store, Synchronous};
use super::migrations::DATABASE;

/// Messages kept over all conversations (R2).
pub const CHAT_LOG_ROWS: usize = 2_000;

/// Where the store gets the time of what it records. A bench gives its own.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How a [`Database`] is opened.
#[derive(Clone)]
pub struct DatabaseOptions {
    /// Messages kept over all conversations; see [`Database::append_message`].
    pub chat_log_rows: usize,
    /// The clock.
    pub clock: Clock,
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        Self { chat_log_rows: CHAT_LOG_ROWS, clock: Arc::new(Timestamp::now) }
    }
}

impl std::fmt::Debug for DatabaseOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("DatabaseOptions").field("chat_log_rows", &self.chat_log_rows).finish_non_exhaustive()
    }
}

/// The store of conversations, exchanges, provider answers, spending and marks (K53). Shared between
/// threads by reference; several processes may have the same file open.
#[derive(Debug)]
pub struct Database {
    pub(super) store: Store,
    pub(super) options: DatabaseOptions,
}

impl Database {
    /// Opens or creates the file, and brings it up to date.
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        Self::open_with(path, DatabaseOptions::default())
    }

    /// As [`Database::open`], with options.
    pub fn open_with(path: &Path, options: DatabaseOptions) -> Result<Self, DatabaseError> {
        Ok(Self { store: Store::open(path, DATABASE, Synchronous::Full)?, options })
    }

    /// A database that lives as long as this value.
    pub fn in_memory() -> Result<Self, DatabaseError> {
        Self::in_memory_with(DatabaseOptions::default())
    }

    /// As [`Database::in_memory`], with options.
    pub fn in_memory_with(options: DatabaseOptions) -> Result<Self, DatabaseError> {
        Ok(Self { store: Store::in_memory(DATABASE)?, options })
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.options.clock)()
    }

    pub(super) fn now_text(&self) -> String {
        super::columns::instant_text(self.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn a_newer_file_is_refused_by_the_name_of_its_migration() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        drop(Database::open(&path).unwrap());
        Connection::open(&path)
            .unwrap()
            .execute("INSERT INTO migrations (name, at) VALUES ('99_future', '')", [])
            .unwrap();
        let error = Database::open(&path).unwrap_err();
        assert!(matches!(&error, DatabaseError::Newer { name, .. } if name == "99_future"), "{error}");
        assert!(error.to_string().contains("newer version") && !error.hint().is_empty());
    }

    #[test]
    fn a_file_of_another_program_and_a_damaged_one_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other.sqlite");
        Connection::open(&other).unwrap().execute("CREATE TABLE bookmarks (url TEXT)", []).unwrap();
        assert!(matches!(Database::open(&other), Err(DatabaseError::Foreign { .. })));
        let damaged = folder.path().join("damaged.sqlite");
        std::fs::write(&damaged, vec![b'x'; 8192]).unwrap();
        assert!(matches!(Database::open(&damaged), Err(DatabaseError::Open { .. })));
    }

    #[test]
    fn reopening_keeps_what_was_stored_and_migrates_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/store.sqlite");
        Database::open(&path).unwrap().set_mark("a", "1").unwrap();
        assert_eq!(Database::open(&path).unwrap().mark("a").unwrap().as_deref(), Some("1"));
        let rows: i64 = Connection::open(&path)
            .unwrap()
            .query_row("SELECT count(*) FROM migrations", [], |row| row.get(0))
            .unwrap();
        assert_eq!(rows, i64::try_from(DATABASE.len()).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn the_files_are_readable_by_their_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        let database = Database::open(&path).unwrap();
        database.set_mark("a", "1").unwrap();
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let entry = entry.unwrap();
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{:?}", entry.path());
        }
    }

    #[test]
    fn many_may_open_a_new_file_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        std::thread::scope(|scope| {
            for number in 0..8 {
                let path = &path;
                scope.spawn(move || Database::open(path).unwrap().set_mark(&number.to_string(), "x").unwrap());
            }
        });
        let database = Database::open(&path).unwrap();
        assert!((0..8).all(|number| database.mark(&number.to_string()).unwrap().is_some()));
    }
}
