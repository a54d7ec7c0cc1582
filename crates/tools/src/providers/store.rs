//! Where answers are kept (K72), and found again before they are paid for twice (K73).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::Provider;

/// An answer as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The conversation.
    pub thread: String,
    /// Who wrote it.
    pub provider: Provider,
    /// What was asked.
    pub task: String,
    /// What makes two calls identical: a digest of provider, model and everything sent.
    pub signature: String,
    /// The text.
    pub text: String,
    /// What it cost, in millionths of a US dollar.
    pub cost_micros: u64,
}

/// Keeps answers. Errors are the store's own words.
pub trait ProviderStore: Send + Sync {
    /// Keeps an answer.
    fn store(&self, answer: &StoredAnswer) -> Result<(), String>;

    /// The latest answer to the same call.
    fn find(&self, signature: &str) -> Result<Option<StoredAnswer>, String>;
}

/// A store that lives as long as the process: for benches and tests.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<HashMap<String, StoredAnswer>>);

impl ProviderStore for MemoryStore {
    fn store(&self, answer: &StoredAnswer) -> Result<(), String> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(answer.signature.clone(), answer.clone());
        Ok(())
    }

    fn find(&self, signature: &str) -> Result<Option<StoredAnswer>, String> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).get(signature).cloned())
    }
}
