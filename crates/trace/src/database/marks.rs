//! Named marks, and which conversations have gone quiet (K63).

use jiff::Timestamp;
use rusqlite::OptionalExtension;

use super::columns::{from_instant, instant_text};
use super::{Database, DatabaseError};

/// A conversation without a message since some instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuietThread {
    /// Its id.
    pub thread: String,
    /// When its last message came.
    pub last_at: Timestamp,
    /// The number of its last message by the person or the model.
    pub last_message: i64,
}

impl Database {
    /// The value of a mark, if it was ever set.
    pub fn mark(&self, name: &str) -> Result<Option<String>, DatabaseError> {
        self.store.read("read a mark", |connection| {
            connection
                .prepare_cached("SELECT value FROM marks WHERE name = ?1")?
                .query_row([name], |row| row.get(0))
                .optional()
        })
    }

    /// Sets a mark.
    pub fn set_mark(&self, name: &str, value: &str) -> Result<(), DatabaseError> {
        let now = self.now_text();
        self.store.write("set a mark", |transaction| {
            transaction.execute(
                "INSERT INTO marks (name, value, at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (name) DO UPDATE SET value = ?2, at = ?3",
                (name, value, &now),
            )?;
            Ok(())
        })
    }

    /// Conversations whose last message came at `instant` or before, quietest first. One without
    /// any text is not among them.
    pub fn threads_quiet_since(&self, instant: Timestamp) -> Result<Vec<QuietThread>, DatabaseError> {
        self.store.read("list the quiet conversations", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT threads.id, threads.last_at, max(messages.id)
                 FROM threads JOIN messages ON messages.thread = threads.id
                 WHERE threads.last_at <= ?1 AND messages.role IN ('user', 'assistant')
                 GROUP BY threads.id ORDER BY threads.last_at, threads.id",
            )?;
            let rows = statement.query_map([instant_text(instant)], |row| {
                Ok(QuietThread {
                    thread: row.get(0)?,
                    last_at: from_instant(1, &row.get::<_, String>(1)?)?,
                    last_message: row.get(2)?,
                })
            })?;
            rows.collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::super::DatabaseOptions;
    use super::*;
    use crate::Message;

    #[test]
    fn a_mark_is_replaced() {
        let database = Database::in_memory().unwrap();
        assert_eq!(database.mark("flushed:a").unwrap(), None);
        database.set_mark("flushed:a", "1").unwrap();
        database.set_mark("flushed:a", "2").unwrap();
        assert_eq!(database.mark("flushed:a").unwrap().as_deref(), Some("2"));
    }

    #[test]
    fn a_conversation_is_quiet_20_minutes_after_its_last_message() {
        let second = Arc::new(AtomicI64::new(1_000_000));
        let clock = {
            let second = Arc::clone(&second);
            Arc::new(move || Timestamp::from_second(second.load(Ordering::Relaxed)).unwrap())
        };
        let database = Database::in_memory_with(DatabaseOptions { clock, ..DatabaseOptions::default() }).unwrap();
        let quiet = database.create_thread("quiet").unwrap();
        let silent = database.create_thread("nothing said").unwrap();
        let last = database.append_message(&quiet, "1", &Message::user("hello"), false).unwrap();
        database.append_message(&quiet, "1", &Message::tool("read_file", "x"), false).unwrap();
        second.fetch_add(60, Ordering::Relaxed);
        let busy = database.create_thread("busy").unwrap();
        database.append_message(&busy, "2", &Message::user("hello"), false).unwrap();
        let since = |minutes: i64| Timestamp::from_second(1_000_000 + minutes * 60 - 20 * 60).unwrap();
        assert!(database.threads_quiet_since(since(19)).unwrap().is_empty());
        let found = database.threads_quiet_since(since(20)).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].thread.as_str(), found[0].last_message), (quiet.as_str(), last));
        let all = database.threads_quiet_since(since(21)).unwrap();
        assert!(all.len() == 2 && all.iter().all(|thread| thread.thread != silent));
    }
}
