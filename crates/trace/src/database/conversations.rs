//! Conversations and their messages.
//!
//! The whole of a conversation is on disk (K24), reasoning included in a column of its own that only
//! [`Database::messages`] reads (K25). Over all conversations at most
//! [`CHAT_LOG_ROWS`](super::CHAT_LOG_ROWS) messages are kept (R2): past that, the oldest turns of
//! the conversation that was quiet longest go first, whole turns only, and never the turn that is
//! being written. What a conversation lost is counted in [`ThreadSummary::dropped`]; exchanges and
//! tool turns are stored apart and lose nothing.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, Transaction};

use super::columns::{count, from_instant, from_json, from_variant, json_text, limit as sql_limit};
use super::{Database, DatabaseError};
use crate::Message;

/// One conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSummary {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When its last message came; its beginning when there is none.
    pub last_at: Timestamp,
    /// Messages kept.
    pub messages: u64,
    /// Messages that the rolling cap removed from its beginning.
    pub dropped: u64,
}

/// One message as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMessage {
    /// Its number, growing over all conversations.
    pub id: i64,
    /// The turn it belongs to.
    pub turn: String,
    /// When it was stored.
    pub at: Timestamp,
    /// The message, reasoning included.
    pub message: Message,
    /// The text is partial: the turn was stopped or ran out of time (K6).
    pub interrupted: bool,
}

impl Database {
    /// Begins a conversation and returns its id (a UUID).
    pub fn create_thread(&self, title: &str) -> Result<String, DatabaseError> {
        let id = uuid::Uuid::new_v4().to_string();
        self.ensure_thread(&id, title)?;
        Ok(id)
    }

    /// Begins a conversation under this id; false when it existed, which changes nothing.
    pub fn ensure_thread(&self, id: &str, title: &str) -> Result<bool, DatabaseError> {
        let now = self.now_text();
        self.store.write("begin a conversation", |transaction| {
            let added = transaction.execute(
                "INSERT INTO threads (id, title, created_at, last_at) VALUES (?1, ?2, ?3, ?3)
                 ON CONFLICT (id) DO NOTHING",
                (id, title, &now),
            )?;
            Ok(added > 0)
        })
    }

    /// Gives a conversation another title.
    pub fn rename_thread(&self, id: &str, title: &str) -> Result<(), DatabaseError> {
        let changed = self.store.write("rename a conversation", |transaction| {
            transaction.execute("UPDATE threads SET title = ?2 WHERE id = ?1", (id, title))
        })?;
        if changed == 0 { Err(DatabaseError::UnknownThread { thread: id.to_owned() }) } else { Ok(()) }
    }

    /// The conversations, the one with the latest message first.
    pub fn threads(&self, limit: usize) -> Result<Vec<ThreadSummary>, DatabaseError> {
        self.store.read("list the conversations", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, title, created_at, last_at, dropped,
                        (SELECT count(*) FROM messages WHERE messages.thread = threads.id)
                 FROM threads ORDER BY last_at DESC, rowid DESC LIMIT ?1",
            )?;
            statement.query_map([sql_limit(limit)], thread_summary)?.collect()
        })
    }

    /// Stores a message at the end of a conversation, drops the oldest ones past the cap, and
    /// returns the message's number. `interrupted` marks a partial text (K6).
    pub fn append_message(
        &self,
        thread: &str,
        turn: &str,
        message: &Message,
        interrupted: bool,
    ) -> Result<i64, DatabaseError> {
        let now = self.now_text();
        let cap = sql_limit(self.options.chat_log_rows.max(1));
        let id = self.store.write("store a message", |transaction| {
            let known = transaction.execute("UPDATE threads SET last_at = ?2 WHERE id = ?1", (thread, &now))?;
            if known == 0 {
                return Ok(None);
            }
            let calls = if message.tool_calls.is_empty() { None } else { Some(json_text(&message.tool_calls)?) };
            transaction
                .prepare_cached(
                    "INSERT INTO messages (thread, turn, at, role, content, thinking, tool_calls, tool_name,
                                           tool_call_id, interrupted)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                )?
                .execute((
                    thread,
                    turn,
                    &now,
                    message.role.as_str(),
                    &message.content,
                    &message.thinking,
                    calls,
                    &message.tool_name,
                    &message.tool_call_id,
                    interrupted,
                ))?;
            let id = transaction.last_insert_rowid();
            trim(transaction, thread, turn, cap)?;
            Ok(Some(id))
        })?;
        id.ok_or_else(|| DatabaseError::UnknownThread { thread: thread.to_owned() })
    }

    /// All messages of a conversation that are kept, in order, for display and export.
    pub fn messages(&self, thread: &str) -> Result<Vec<StoredMessage>, DatabaseError> {
        self.store.read("read a conversation", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, turn, at, role, content, thinking, tool_calls, tool_name, tool_call_id, interrupted
                 FROM messages WHERE thread = ?1 ORDER BY id",
            )?;
            statement.query_map([thread], stored_message)?.collect()
        })
    }

    /// Removes a conversation and its messages; false when there was none.
    pub fn delete_thread(&self, id: &str) -> Result<bool, DatabaseError> {
        self.store.write("delete a conversation", |transaction| {
            Ok(transaction.execute("DELETE FROM threads WHERE id = ?1", [id])? > 0)
        })
    }
}

fn thread_summary(row: &Row<'_>) -> rusqlite::Result<ThreadSummary> {
    Ok(ThreadSummary {
        id: row.get(0)?,
        title: row.get(1)?,
        created_at: from_instant(2, &row.get::<_, String>(2)?)?,
        last_at: from_instant(3, &row.get::<_, String>(3)?)?,
        dropped: count(row.get(4)?),
        messages: count(row.get(5)?),
    })
}

fn stored_message(row: &Row<'_>) -> rusqlite::Result<StoredMessage> {
    let calls: Option<String> = row.get(6)?;
    Ok(StoredMessage {
        id: row.get(0)?,
        turn: row.get(1)?,
        at: from_instant(2, &row.get::<_, String>(2)?)?,
        message: Message {
            role: from_variant(3, row.get(3)?)?,
            content: row.get(4)?,
            thinking: row.get(5)?,
            tool_calls: calls.map_or_else(|| Ok(Vec::new()), |calls| from_json(6, &calls))?,
            tool_name: row.get(7)?,
            tool_call_id: row.get(8)?,
        },
        interrupted: row.get(9)?,
    })
}

/// Removes the oldest turns until at most `cap` messages are left.
fn trim(transaction: &Transaction<'_>, thread: &str, turn: &str, cap: i64) -> rusqlite::Result<()> {
    loop {
        let rows: i64 = transaction.query_row("SELECT count(*) FROM messages", [], |row| row.get(0))?;
        if rows <= cap {
            return Ok(());
        }
        let Some((victim, oldest, oldest_turn)) = oldest_turn(transaction, thread)? else { return Ok(()) };
        if victim == thread && oldest_turn == turn {
            return Ok(());
        }
        // A message without a turn stands alone.
        let removed = if oldest_turn.is_empty() {
            transaction.execute("DELETE FROM messages WHERE id = ?1", [oldest])?
        } else {
            transaction.execute("DELETE FROM messages WHERE thread = ?1 AND turn = ?2", (&victim, &oldest_turn))?
        };
        transaction
            .execute("UPDATE threads SET dropped = dropped + ?2 WHERE id = ?1", (&victim, sql_limit(removed)))?;
        transaction.execute(
            "DELETE FROM threads WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM messages WHERE thread = ?1)",
            [&victim],
        )?;
    }
}

/// The first message of the conversation that was quiet longest, this one last of all.
fn oldest_turn(transaction: &Transaction<'_>, thread: &str) -> rusqlite::Result<Option<(String, i64, String)>> {
    transaction
        .prepare_cached(
            "SELECT messages.thread, messages.id, messages.turn
             FROM messages JOIN threads ON threads.id = messages.thread
             ORDER BY threads.id = ?1, threads.last_at, threads.rowid, messages.id LIMIT 1",
        )?
        .query_row([thread], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()
}

/// Used by the tests of the modules beside this one.
#[cfg(test)]
pub(super) fn stepping_clock() -> super::Clock {
    use std::sync::atomic::{AtomicI64, Ordering};
    let seconds = AtomicI64::new(1_700_000_000);
    std::sync::Arc::new(move || Timestamp::from_second(seconds.fetch_add(1, Ordering::Relaxed)).unwrap())
}

#[cfg(test)]
mod tests {
    use super::super::DatabaseOptions;
    use super::*;
    use crate::ToolCall;

    fn database(chat_log_rows: usize) -> Database {
        Database::in_memory_with(DatabaseOptions { chat_log_rows, clock: stepping_clock() }).unwrap()
    }

    #[test]
    fn a_message_comes_back_whole() {
        let database = database(2_000);
        let thread = database.create_thread("first").unwrap();
        let call = ToolCall { id: Some("c1".into()), name: "read_file".into(), arguments: serde_json::Map::new() };
        let asked = Message { thinking: Some("hm".into()), tool_calls: vec![call], ..Message::assistant("I look.") };
        let result = Message { tool_call_id: Some("c1".into()), ..Message::tool("read_file", "text") };
        for (message, interrupted) in [(Message::user("read"), false), (asked, false), (result, true)] {
            let id = database.append_message(&thread, "t1", &message, interrupted).unwrap();
            let stored = database.messages(&thread).unwrap().pop().unwrap();
            assert_eq!((stored.id, &stored.message, stored.interrupted), (id, &message, interrupted));
        }
        let summary = database.threads(10).unwrap().remove(0);
        assert_eq!((summary.id, summary.messages, summary.dropped), (thread.clone(), 3, 0));
        assert!(summary.last_at > summary.created_at);
        assert!(database.delete_thread(&thread).unwrap() && database.messages(&thread).unwrap().is_empty());
    }

    #[test]
    fn a_message_needs_its_conversation() {
        let error = database(10).append_message("nowhere", "t", &Message::user("x"), false).unwrap_err();
        assert!(matches!(error, DatabaseError::UnknownThread { thread } if thread == "nowhere"));
    }

    #[test]
    fn the_log_keeps_2_000_messages_and_drops_the_quietest_conversation_first() {
        let database = database(super::super::CHAT_LOG_ROWS);
        let quiet = database.create_thread("quiet").unwrap();
        let busy = database.create_thread("busy").unwrap();
        for number in 0..5 {
            database.append_message(&quiet, &format!("q{number}"), &Message::user("x"), false).unwrap();
            database.append_message(&quiet, &format!("q{number}"), &Message::assistant("y"), false).unwrap();
        }
        for number in 0..1_993 {
            database.append_message(&busy, &format!("b{number}"), &Message::user("x"), false).unwrap();
        }
        // 2,003 were stored: 2 whole turns of the quiet one went.
        let kept = database.messages(&quiet).unwrap();
        assert_eq!((kept.len(), kept[0].turn.as_str()), (6, "q2"));
        assert_eq!(database.messages(&busy).unwrap().len(), 1_993);
        let dropped: Vec<u64> = database.threads(10).unwrap().iter().map(|thread| thread.dropped).collect();
        assert_eq!(dropped, [0, 4]);
    }

    #[test]
    fn the_turn_being_written_is_never_cut_and_an_emptied_conversation_goes() {
        let database = database(3);
        let old = database.create_thread("old").unwrap();
        database.append_message(&old, "o", &Message::user("x"), false).unwrap();
        let thread = database.create_thread("new").unwrap();
        for text in ["a", "b"] {
            database.append_message(&thread, "first", &Message::user(text), false).unwrap();
        }
        for number in 0..5 {
            database.append_message(&thread, "long", &Message::user(number.to_string()), false).unwrap();
        }
        let kept = database.messages(&thread).unwrap();
        assert!(kept.len() == 5 && kept.iter().all(|stored| stored.turn == "long"));
        let threads = database.threads(10).unwrap();
        assert_eq!((threads.len(), threads[0].dropped), (1, 2));
    }
}
