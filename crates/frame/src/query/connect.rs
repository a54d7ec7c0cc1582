//! The database of a query: in memory, with the index and the two caches beside it.
//!
//! ```text
//! main    classes of failures
//! idx     runs/index.sqlite                positions and numbers of passes; kept by the run store
//! store   runs/query.sqlite                manifests and cases of the runs
//! agent   query.sqlite beside the journal  what the agent did
//! temp    the views that queries see
//! ```
//!
//! Both caches can be removed at any time. Where one cannot be written (a read-only medium, no folder
//! yet) its tables are made in memory, for this query.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, params};
use tenpass_bench::store::INDEX_SCHEMA;
use tenpass_trace::FailureClass;

use super::functions::{Names, register};
use super::{runs, traces};

/// File name of both caches.
const CACHE: &str = "query.sqlite";
const VIEWS: &str = include_str!("views.sql");
/// How long a query waits for another one that fills the same cache.
const PATIENCE: Duration = Duration::from_secs(30);

/// A database that is attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The index of the runs.
    Index,
    /// Manifests and cases.
    Store,
    /// The agent's journal.
    Agent,
}

impl Part {
    pub(crate) const ALL: [Self; 3] = [Self::Index, Self::Store, Self::Agent];

    /// The name it is attached under.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Index => "idx",
            Self::Store => "store",
            Self::Agent => "agent",
        }
    }

    fn schema(self) -> String {
        match self {
            Self::Index => INDEX_SCHEMA.replace("CREATE TABLE ", "CREATE TABLE idx."),
            Self::Store => runs::SCHEMA.to_owned(),
            Self::Agent => traces::SCHEMA.to_owned(),
        }
    }

    fn version(self) -> i64 {
        match self {
            // The store's own; it is never made here but in memory.
            Self::Index => 0,
            Self::Store => runs::VERSION,
            Self::Agent => traces::VERSION,
        }
    }
}

/// The cache in this folder.
pub(crate) fn cache(folder: &Path) -> PathBuf {
    folder.join(CACHE)
}

/// A database in memory with the functions; nothing is attached yet.
pub(crate) fn connect(names: &Names) -> rusqlite::Result<Connection> {
    // Names of files are URIs here: what is only read is opened so.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_in_memory_with_flags(flags)?;
    connection.busy_timeout(PATIENCE)?;
    register(&connection, names)?;
    connection.execute_batch("CREATE TABLE main.class (name TEXT PRIMARY KEY, kind TEXT NOT NULL) WITHOUT ROWID")?;
    let mut insert = connection.prepare("INSERT INTO main.class VALUES (?1, ?2)")?;
    for class in FailureClass::ALL {
        insert.execute(params![class.as_str(), runs::name(&class.kind())])?;
    }
    drop(insert);
    Ok(connection)
}

/// Makes the views; every part must be attached.
pub(crate) fn create_views(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(VIEWS)
}

/// Attaches empty tables in memory.
pub(crate) fn attach_memory(connection: &Connection, part: Part) -> rusqlite::Result<()> {
    connection.execute_batch(&format!("ATTACH ':memory:' AS {}; {}", part.name(), part.schema()))
}

/// Attaches the index, for reading.
pub(crate) fn attach_index(connection: &Connection, path: &Path) -> rusqlite::Result<()> {
    connection.execute(&format!("ATTACH ?1 AS {}", Part::Index.name()), [uri(path, "ro")])?;
    Ok(())
}

/// Attaches a cache with its tables, made anew where they are of another version or damaged. An
/// error says that it has to be done in memory.
pub(crate) fn attach_cache(connection: &Connection, part: Part, path: &Path) -> rusqlite::Result<()> {
    create(part, path);
    let result = match attach_existing(connection, part, path) {
        Err(error) if is_useless(&error) => {
            detach(connection, part);
            let _ = fs::remove_file(path);
            create(part, path);
            attach_existing(connection, part, path)
        }
        other => other,
    };
    result.inspect_err(|_| detach(connection, part))
}

/// Whether a cache of another version, or a damaged one, is what this error is about: then it can
/// go. One that is busy, or somebody else's, stays.
pub(crate) fn is_useless(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::InvalidQuery)
        || matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

/// Takes a part away, if it is there.
pub(crate) fn detach(connection: &Connection, part: Part) {
    let _ = connection.execute_batch(&format!("DETACH {}", part.name()));
}

fn attach_existing(connection: &Connection, part: Part, path: &Path) -> rusqlite::Result<()> {
    let name = part.name();
    connection.execute(&format!("ATTACH ?1 AS {name}"), [uri(path, "rw")])?;
    // Losing it costs one reading, so waiting for the disk would buy nothing. No WAL: stores lie on
    // network file systems too, where it does not work.
    connection.pragma_update(Some(name), "synchronous", "OFF")?;
    let version: i64 = connection.query_row(&format!("PRAGMA {name}.user_version"), [], |row| row.get(0))?;
    if version == part.version() {
        return Ok(());
    }
    if version != 0 {
        return Err(rusqlite::Error::InvalidQuery);
    }
    let (schema, version) = (part.schema(), part.version());
    connection.execute_batch(&format!("BEGIN; {schema} PRAGMA {name}.user_version = {version}; COMMIT;")).inspect_err(
        |_| {
            let _ = connection.execute_batch("ROLLBACK");
        },
    )
}

/// An empty file. That of the journal only its owner may read, as the journal itself; a store may be
/// shared. A file that is there stays as it is, and no folder is made.
fn create(part: Part, path: &Path) {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if part == Part::Agent {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    drop(options.open(path));
}

/// A path as SQLite wants it: `file:` with what is special in a URI escaped.
fn uri(path: &Path, mode: &str) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '%' | '?' | '#' => escaped.push_str(&format!("%{:02X}", u32::from(c))),
            c => escaped.push(c),
        }
    }
    // `C:/…` needs a slash before it.
    let root = if escaped.get(1..3) == Some(":/") { "/" } else { "" };
    format!("file:{root}{escaped}?mode={mode}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_of_another_version_or_a_damaged_one_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = cache(&folder.path().join("odd %41?#name"));
        fs::create_dir(path.parent().unwrap()).unwrap();
        for spoil in ["PRAGMA user_version = 99", "damage", "nothing"] {
            if spoil == "damage" {
                fs::write(&path, "not a database, by a long way: it has no header of one").unwrap();
            } else if path.exists() {
                Connection::open(&path).unwrap().execute_batch(spoil).unwrap_or_default();
            }
            let connection = connect(&Names::default()).unwrap();
            attach_cache(&connection, Part::Store, &path).unwrap();
            let runs: i64 = connection.query_row("SELECT count(*) FROM store.run", [], |row| row.get(0)).unwrap();
            assert_eq!(runs, 0);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the name is taken as it is");
    }

    #[test]
    #[cfg(unix)]
    fn a_cache_is_its_owners_and_no_folder_is_made_for_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let connection = connect(&Names::default()).unwrap();
        assert!(attach_cache(&connection, Part::Agent, &cache(&folder.path().join("none"))).is_err());
        assert!(!folder.path().join("none").exists());
        let path = cache(folder.path());
        attach_cache(&connection, Part::Agent, &path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
