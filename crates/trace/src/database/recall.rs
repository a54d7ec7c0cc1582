//! Searching what was said before.

use jiff::Timestamp;

use super::columns::{from_instant, from_variant, limit as sql_limit};
use super::terms::match_expression;
use super::{Database, DatabaseError};
use crate::Role;

/// One message that matches.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageHit {
    /// The conversation.
    pub thread: String,
    /// Its title.
    pub title: String,
    /// The turn.
    pub turn: String,
    /// The message's number.
    pub id: i64,
    /// When it was said.
    pub at: Timestamp,
    /// By whom: the person or the model.
    pub role: Role,
    /// The whole text.
    pub content: String,
    /// About 30 words around the best match.
    pub snippet: String,
    /// The text is partial (K6).
    pub interrupted: bool,
    /// bm25, larger is better; only comparable within one search.
    pub score: f64,
}

impl Database {
    /// Messages of the person and of the model that hold these words, best first, accents ignored.
    /// Any text is a valid query. `exclude_thread` leaves out the conversation that asks.
    pub fn search_messages(
        &self,
        query: &str,
        limit: usize,
        exclude_thread: Option<&str>,
    ) -> Result<Vec<MessageHit>, DatabaseError> {
        let Some(expression) = match_expression(query) else { return Ok(Vec::new()) };
        self.store.read("search the conversations", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT messages.thread, threads.title, messages.turn, messages.id, messages.at, messages.role,
                        messages.content, snippet(messages_text, 0, '', '', '…', 30), messages.interrupted,
                        -bm25(messages_text) AS score
                 FROM messages_text
                 JOIN messages ON messages.id = messages_text.rowid
                 JOIN threads ON threads.id = messages.thread
                 WHERE messages_text MATCH ?1 AND messages.thread IS NOT ?2
                 ORDER BY score DESC, messages.id DESC LIMIT ?3",
            )?;
            let rows = statement.query_map((expression, exclude_thread, sql_limit(limit)), |row| {
                Ok(MessageHit {
                    thread: row.get(0)?,
                    title: row.get(1)?,
                    turn: row.get(2)?,
                    id: row.get(3)?,
                    at: from_instant(4, &row.get::<_, String>(4)?)?,
                    role: from_variant(5, row.get(5)?)?,
                    content: row.get(6)?,
                    snippet: row.get(7)?,
                    interrupted: row.get(8)?,
                    score: row.get(9)?,
                })
            })?;
            rows.collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;
    use proptest::prelude::*;

    #[test]
    fn only_texts_are_found_and_the_asking_conversation_is_left_out() {
        let database = Database::in_memory().unwrap();
        let past = database.create_thread("Impôts").unwrap();
        let present = database.create_thread("now").unwrap();
        database.append_message(&past, "1", &Message::user("Où est la déclaration d'impôts ?"), false).unwrap();
        database.append_message(&past, "1", &Message::tool("read_file", "déclaration"), false).unwrap();
        let thought = Message { thinking: Some("déclaration".into()), ..Message::assistant("Dans Documents.") };
        database.append_message(&past, "1", &thought, false).unwrap();
        database.append_message(&present, "2", &Message::user("déclaration?"), false).unwrap();
        let hits = database.search_messages("declarations IMPOTS", 10, Some(&present)).unwrap();
        assert_eq!(hits.len(), 1);
        assert_eq!((hits[0].role, hits[0].title.as_str(), hits[0].turn.as_str()), (Role::User, "Impôts", "1"));
        assert_eq!(database.search_messages("declaration", 10, None).unwrap().len(), 2);
        assert!(database.delete_thread(&past).unwrap());
        assert!(database.search_messages("declaration", 10, Some(&present)).unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_a_safe_query(query in any::<String>(), said in any::<String>()) {
            let database = Database::in_memory().unwrap();
            let thread = database.create_thread("t").unwrap();
            database.append_message(&thread, "1", &Message::user(said), false).unwrap();
            database.search_messages(&query, 3, None).unwrap();
        }
    }
}
