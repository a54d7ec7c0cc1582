//! The store of the conversations' database.

use std::sync::Arc;

use tenpass_trace::database::{Database, NewProviderAnswer};

use super::{Provider, ProviderStore, StoredAnswer};

/// See the module.
#[derive(Debug, Clone)]
pub struct DatabaseStore(Arc<Database>);

impl DatabaseStore {
    /// The store in `database`.
    pub fn new(database: Arc<Database>) -> Self {
        Self(database)
    }
}

impl ProviderStore for DatabaseStore {
    fn store(&self, answer: &StoredAnswer) -> Result<(), String> {
        let new = NewProviderAnswer {
            thread: &answer.thread,
            provider: answer.provider.as_str(),
            task: &answer.task,
            signature: &answer.signature,
            result: &answer.text,
            cost_micros: answer.cost_micros,
        };
        self.0.store_provider_answer(&new).map(drop).map_err(|error| error.to_string())
    }

    fn find(&self, signature: &str) -> Result<Option<StoredAnswer>, String> {
        let found = self.0.find_provider_answer(signature).map_err(|error| error.to_string())?;
        Ok(found.and_then(|found| {
            Some(StoredAnswer {
                thread: found.thread,
                provider: Provider::parse(&found.provider)?,
                task: found.task,
                signature: found.signature,
                text: found.result,
                cost_micros: found.cost_micros,
            })
        }))
    }
}
