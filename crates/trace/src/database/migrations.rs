//! Named, ordered migrations, recorded in the table `migrations(name, at)` of the file itself.
//!
//! A migration that was released is never edited: a change is a new one at the end. A file with a
//! migration that is not in the list was written by a newer version and is refused.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::DatabaseError;

/// One step: its name, which is stored, and its statements.
pub(super) type Migration = (&'static str, &'static str);

/// The steps of [`super::Database`].
pub(super) const DATABASE: &[Migration] = &[
    ("01_conversations", include_str!("schema/01_conversations.sql")),
    ("02_exchanges", include_str!("schema/02_exchanges.sql")),
    ("03_provider_answers", include_str!("schema/03_provider_answers.sql")),
    ("04_spending", include_str!("schema/04_spending.sql")),
    ("05_marks", include_str!("schema/05_marks.sql")),
];

/// The steps of [`super::FullTextIndex`].
pub(super) const FULL_TEXT: &[Migration] = &[("01_documents", include_str!("schema/documents.sql"))];

/// Brings the file up to date, all in one transaction, so that two processes that start together
/// do not both do it.
pub(super) fn migrate(connection: &mut Connection, path: &Path, all: &[Migration]) -> Result<(), DatabaseError> {
    let open = |source| DatabaseError::Open { path: path.to_owned(), source };
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(open)?;
    if has_tables(&transaction).map_err(open)? == Tables::OfAnotherProgram {
        return Err(DatabaseError::Foreign { path: path.to_owned() });
    }
    let done = applied(&transaction).map_err(open)?;
    if let Some(name) = done.iter().find(|name| all.iter().all(|(known, _)| known != name)) {
        return Err(DatabaseError::Newer { path: path.to_owned(), name: name.clone() });
    }
    for (name, statements) in all.iter().filter(|(name, _)| !done.iter().any(|known| known == name)) {
        apply(&transaction, name, statements).map_err(open)?;
    }
    transaction.commit().map_err(open)
}

#[derive(PartialEq)]
enum Tables {
    NoneOrOurs,
    OfAnotherProgram,
}

fn has_tables(transaction: &Transaction<'_>) -> rusqlite::Result<Tables> {
    let (all, ours): (i64, i64) = transaction.query_row(
        "SELECT count(*), coalesce(sum(name = 'migrations'), 0) FROM sqlite_master WHERE type = 'table'",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(if all > 0 && ours == 0 { Tables::OfAnotherProgram } else { Tables::NoneOrOurs })
}

fn applied(transaction: &Transaction<'_>) -> rusqlite::Result<Vec<String>> {
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY NOT NULL, at TEXT NOT NULL) STRICT",
    )?;
    let mut statement = transaction.prepare("SELECT name FROM migrations ORDER BY rowid")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

fn apply(transaction: &Transaction<'_>, name: &str, statements: &str) -> rusqlite::Result<()> {
    transaction.execute_batch(statements)?;
    transaction
        .execute(
            "INSERT INTO migrations (name, at) VALUES (?1, ?2)",
            (name, super::columns::instant_text(jiff::Timestamp::now())),
        )
        .map(|_| ())
}
