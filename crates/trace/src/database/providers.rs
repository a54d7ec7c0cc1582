//! Answers of providers: stored so that they can be recalled and are not paid for twice (K72, K73).

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row};
use sha2::{Digest, Sha256};

use super::columns::{count, from_instant, integer, limit as sql_limit};
use super::terms::match_expression;
use super::{Database, DatabaseError};

/// An answer to store.
#[derive(Debug, Clone, Copy)]
pub struct NewProviderAnswer<'a> {
    /// The conversation.
    pub thread: &'a str,
    /// The provider.
    pub provider: &'a str,
    /// What it was asked to do.
    pub task: &'a str,
    /// What makes two calls the same one: see [`provider_signature`].
    pub signature: &'a str,
    /// Its answer.
    pub result: &'a str,
    /// Millionths of a US dollar.
    pub cost_micros: u64,
}

/// A stored answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderAnswer {
    /// Its number.
    pub id: i64,
    /// The conversation.
    pub thread: String,
    /// When it came.
    pub at: Timestamp,
    /// The provider.
    pub provider: String,
    /// What it was asked to do.
    pub task: String,
    /// What makes two calls the same one.
    pub signature: String,
    /// Its answer.
    pub result: String,
    /// Millionths of a US dollar.
    pub cost_micros: u64,
}

/// sha256 (hex) of the provider, its model and the message it would be sent: equal for calls that
/// would be paid for twice.
pub fn provider_signature(provider: &str, model: &str, message: &str) -> String {
    let mut hasher = Sha256::new();
    for part in [provider, model, message] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    format!("{:x}", hasher.finalize())
}

const COLUMNS: &str = "provider_answers.id, provider_answers.thread, provider_answers.at, provider_answers.provider, \
                       provider_answers.task, provider_answers.signature, provider_answers.result, \
                       provider_answers.cost_micros";

impl Database {
    /// Stores an answer and returns its number.
    pub fn store_provider_answer(&self, answer: &NewProviderAnswer<'_>) -> Result<i64, DatabaseError> {
        let now = self.now_text();
        self.store.write("store a provider's answer", |transaction| {
            transaction.execute(
                "INSERT INTO provider_answers (thread, at, provider, task, signature, result, cost_micros)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                (
                    answer.thread,
                    &now,
                    answer.provider,
                    answer.task,
                    answer.signature,
                    answer.result,
                    integer(answer.cost_micros),
                ),
            )?;
            Ok(transaction.last_insert_rowid())
        })
    }

    /// The latest answers of a conversation, newest first.
    pub fn latest_provider_answers(&self, thread: &str, limit: usize) -> Result<Vec<ProviderAnswer>, DatabaseError> {
        self.store.read("read the providers' answers", |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM provider_answers WHERE thread = ?1 ORDER BY id DESC LIMIT ?2"
            ))?;
            statement.query_map((thread, sql_limit(limit)), provider_answer)?.collect()
        })
    }

    /// Answers of all conversations whose task or text holds these words, best first. Any text is a
    /// valid query.
    pub fn search_provider_answers(&self, query: &str, limit: usize) -> Result<Vec<ProviderAnswer>, DatabaseError> {
        let Some(expression) = match_expression(query) else { return Ok(Vec::new()) };
        self.store.read("search the providers' answers", |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM provider_answers_text
                 JOIN provider_answers ON provider_answers.id = provider_answers_text.rowid
                 WHERE provider_answers_text MATCH ?1
                 ORDER BY bm25(provider_answers_text, 2.0, 1.0), provider_answers.id DESC LIMIT ?2"
            ))?;
            statement.query_map((expression, sql_limit(limit)), provider_answer)?.collect()
        })
    }

    /// The latest answer to the same call, if it was made before.
    pub fn find_provider_answer(&self, signature: &str) -> Result<Option<ProviderAnswer>, DatabaseError> {
        self.store.read("look a provider's answer up", |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM provider_answers WHERE signature = ?1 ORDER BY id DESC LIMIT 1"
                ))?
                .query_row([signature], provider_answer)
                .optional()
        })
    }
}

fn provider_answer(row: &Row<'_>) -> rusqlite::Result<ProviderAnswer> {
    Ok(ProviderAnswer {
        id: row.get(0)?,
        thread: row.get(1)?,
        at: from_instant(2, &row.get::<_, String>(2)?)?,
        provider: row.get(3)?,
        task: row.get(4)?,
        signature: row.get(5)?,
        result: row.get(6)?,
        cost_micros: count(row.get(7)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_listed_searched_and_found_by_signature() {
        let database = Database::in_memory().unwrap();
        let signature = provider_signature("claude", "m", "write a poem");
        assert_eq!(database.find_provider_answer(&signature).unwrap(), None);
        let mut ids = Vec::new();
        for (task, result) in [("write a poem", "Roses"), ("explique les marées", "La lune"), ("code", "fn main")] {
            let signature = provider_signature("claude", "m", task);
            let answer = NewProviderAnswer {
                thread: "a",
                provider: "claude",
                task,
                signature: &signature,
                result,
                cost_micros: 1_500,
            };
            ids.push(database.store_provider_answer(&answer).unwrap());
        }
        let latest = database.latest_provider_answers("a", 2).unwrap();
        assert_eq!(latest.iter().map(|answer| answer.id).collect::<Vec<_>>(), [ids[2], ids[1]]);
        assert!(database.latest_provider_answers("b", 2).unwrap().is_empty());
        let found = database.find_provider_answer(&signature).unwrap().unwrap();
        assert_eq!((found.result.as_str(), found.cost_micros), ("Roses", 1_500));
        for query in ["maree", "LUNE"] {
            assert_eq!(database.search_provider_answers(query, 5).unwrap()[0].id, ids[1], "{query}");
        }
        assert!(database.search_provider_answers("\"' OR *", 5).unwrap().is_empty());
    }

    #[test]
    fn a_signature_does_not_confuse_its_parts() {
        assert_ne!(provider_signature("a", "b", "c"), provider_signature("ab", "", "c"));
        assert_ne!(provider_signature("a", "b", "c"), provider_signature("a", "bc", ""));
        assert_eq!(provider_signature("a", "b", "c").len(), 64);
    }
}
