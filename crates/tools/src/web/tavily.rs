//! Tavily: `POST /search` with a bearer token (<https://docs.tavily.com/documentation/api-reference>).

use reqwest::header::{AUTHORIZATION, HeaderValue};
use serde_json::json;
use tenpass_model::{ApiKey, BoxFuture};

use super::client::{Endpoint, hits};
use super::{Hit, SearchError, SearchProvider};

const NAME: &str = "Tavily";
const BASE: &str = "https://api.tavily.com";
/// Where the key is expected.
const VARIABLE: &str = "TAVILY_API_KEY";

/// See the module. One basic search costs one web credit.
#[derive(Debug, Clone)]
pub struct Tavily {
    endpoint: Endpoint,
    key: Option<ApiKey>,
}

impl Tavily {
    /// The real service. Without a key every search says what is missing, and nothing is sent.
    pub fn new(key: Option<ApiKey>) -> Result<Self, SearchError> {
        Self::at(BASE, key)
    }

    /// The same protocol at another address.
    pub fn at(base: &str, key: Option<ApiKey>) -> Result<Self, SearchError> {
        Ok(Self { endpoint: Endpoint::new(NAME, base)?, key })
    }
}

impl SearchProvider for Tavily {
    fn scope(&self) -> String {
        "the web (Tavily)".to_owned()
    }

    fn credits(&self) -> u64 {
        u64::from(self.key.is_some())
    }

    fn search<'a>(&'a self, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Vec<Hit>, SearchError>> {
        Box::pin(async move {
            let missing = SearchError::NotSetUp { provider: NAME, variable: VARIABLE };
            let key = self.key.as_ref().ok_or_else(|| missing.clone())?;
            let mut token = HeaderValue::try_from(format!("Bearer {}", key.reveal())).map_err(|_| missing)?;
            token.set_sensitive(true);
            let body = json!({ "query": query, "max_results": limit, "search_depth": "basic" });
            let answer = self.endpoint.json(self.endpoint.post("search", &body).header(AUTHORIZATION, token)).await?;
            hits(NAME, answer.get("results"), "content", limit)
        })
    }
}
