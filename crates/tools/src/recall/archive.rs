//! Where earlier conversations and answers are looked up.

use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use tenpass_agent::memory::overlap;
use tenpass_trace::Role;
use tenpass_trace::database::{Database, DatabaseError};

/// A message of an earlier conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct PastMessage {
    /// The conversation.
    pub thread: String,
    /// Its title; empty when it has none.
    pub title: String,
    /// When it was said.
    pub at: Timestamp,
    /// By whom: the user or the model.
    pub role: Role,
    /// The text.
    pub text: String,
    /// The text is partial: its turn was stopped (K6).
    pub interrupted: bool,
}

/// An earlier answer of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastAnswer {
    /// `claude`, `chatgpt`, `deepseek` or `local`.
    pub provider: String,
    /// When it came.
    pub at: Timestamp,
    /// What was asked.
    pub task: String,
    /// The answer.
    pub text: String,
}

/// An archive that could not be searched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot search the archive: {reason}")]
pub struct ArchiveError {
    /// Why.
    pub reason: String,
}

impl From<DatabaseError> for ArchiveError {
    fn from(error: DatabaseError) -> Self {
        Self { reason: error.to_string() }
    }
}

/// Earlier conversations and answers. Any text is a valid query; results come best first.
pub trait Archive: Send + Sync {
    /// Messages of the user and the model that hold these words, without those of one conversation.
    fn search_messages(
        &self,
        query: &str,
        limit: usize,
        exclude_thread: Option<&str>,
    ) -> Result<Vec<PastMessage>, ArchiveError>;

    /// Answers of providers whose task or text holds these words.
    fn search_provider_answers(&self, query: &str, limit: usize) -> Result<Vec<PastAnswer>, ArchiveError>;
}

impl Archive for Database {
    fn search_messages(
        &self,
        query: &str,
        limit: usize,
        exclude_thread: Option<&str>,
    ) -> Result<Vec<PastMessage>, ArchiveError> {
        let hits = Database::search_messages(self, query, limit, exclude_thread)?;
        let message = |hit: tenpass_trace::database::MessageHit| PastMessage {
            thread: hit.thread,
            title: hit.title,
            at: hit.at,
            role: hit.role,
            text: hit.content,
            interrupted: hit.interrupted,
        };
        Ok(hits.into_iter().map(message).collect())
    }

    fn search_provider_answers(&self, query: &str, limit: usize) -> Result<Vec<PastAnswer>, ArchiveError> {
        let answers = Database::search_provider_answers(self, query, limit)?;
        let answer = |answer: tenpass_trace::database::ProviderAnswer| PastAnswer {
            provider: answer.provider,
            at: answer.at,
            task: answer.task,
            text: answer.result,
        };
        Ok(answers.into_iter().map(answer).collect())
    }
}

/// An archive in memory, for the worlds of a bench. Ranks by shared content words, accents ignored.
#[derive(Debug, Default)]
pub struct MemoryArchive {
    messages: Mutex<Vec<PastMessage>>,
    answers: Mutex<Vec<PastAnswer>>,
}

impl MemoryArchive {
    /// An archive of these.
    pub fn new(messages: Vec<PastMessage>, answers: Vec<PastAnswer>) -> Self {
        Self { messages: Mutex::new(messages), answers: Mutex::new(answers) }
    }

    /// Adds a message.
    pub fn add_message(&self, message: PastMessage) {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }

    /// Adds an answer.
    pub fn add_answer(&self, answer: PastAnswer) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).push(answer);
    }
}

/// The items that share words with the query, best first, of equal ones the newest.
fn ranked<T: Clone>(items: &[T], limit: usize, score: impl Fn(&T) -> f64, at: impl Fn(&T) -> Timestamp) -> Vec<T> {
    let mut scored: Vec<(f64, &T)> =
        items.iter().map(|item| (score(item), item)).filter(|(score, _)| *score > 0.0).collect();
    scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(at(right.1).cmp(&at(left.1))));
    scored.into_iter().take(limit).map(|(_, item)| item.clone()).collect()
}

impl Archive for MemoryArchive {
    fn search_messages(
        &self,
        query: &str,
        limit: usize,
        exclude_thread: Option<&str>,
    ) -> Result<Vec<PastMessage>, ArchiveError> {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let score = |message: &PastMessage| {
            let is_said = matches!(message.role, Role::User | Role::Assistant);
            let is_elsewhere = exclude_thread != Some(message.thread.as_str());
            if is_said && is_elsewhere { overlap(query, &message.text) } else { 0.0 }
        };
        Ok(ranked(&messages, limit, score, |message| message.at))
    }

    fn search_provider_answers(&self, query: &str, limit: usize) -> Result<Vec<PastAnswer>, ArchiveError> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let score = |answer: &PastAnswer| overlap(query, &answer.task).max(overlap(query, &answer.text));
        Ok(ranked(&answers, limit, score, |answer| answer.at))
    }
}
