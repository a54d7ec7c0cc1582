//! Brave Search: `GET /res/v1/web/search` with `X-Subscription-Token`
//! (<https://api-dashboard.search.brave.com/app/documentation/web-search>).

use reqwest::header::{ACCEPT, HeaderValue};
use serde_json::Value;
use tenpass_model::{ApiKey, BoxFuture};

use super::client::{Endpoint, hits};
use super::{Hit, SearchError, SearchProvider};

const NAME: &str = "Brave";
const BASE: &str = "https://api.search.brave.com";
/// Where the key is expected.
const VARIABLE: &str = "BRAVE_API_KEY";

/// See the module. One search costs one web credit.
#[derive(Debug, Clone)]
pub struct Brave {
    endpoint: Endpoint,
    key: Option<ApiKey>,
}

impl Brave {
    /// The real service. Without a key every search says what is missing, and nothing is sent.
    pub fn new(key: Option<ApiKey>) -> Result<Self, SearchError> {
        Self::at(BASE, key)
    }

    /// The same protocol at another address.
    pub fn at(base: &str, key: Option<ApiKey>) -> Result<Self, SearchError> {
        Ok(Self { endpoint: Endpoint::new(NAME, base)?, key })
    }
}

impl SearchProvider for Brave {
    fn scope(&self) -> String {
        "the web (Brave)".to_owned()
    }

    fn credits(&self) -> u64 {
        u64::from(self.key.is_some())
    }

    fn search<'a>(&'a self, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Vec<Hit>, SearchError>> {
        Box::pin(async move {
            let missing = SearchError::NotSetUp { provider: NAME, variable: VARIABLE };
            let key = self.key.as_ref().ok_or_else(|| missing.clone())?;
            let mut token = HeaderValue::try_from(key.reveal()).map_err(|_| missing)?;
            token.set_sensitive(true);
            let count = limit.to_string();
            let request = self
                .endpoint
                .get("res/v1/web/search", &[("q", query), ("count", &count)])
                .header("X-Subscription-Token", token)
                .header(ACCEPT, "application/json");
            let answer = self.endpoint.json(request).await?;
            // A search without results has no `web`.
            let empty = Value::Array(Vec::new());
            let list = match answer.get("web") {
                None if answer.get("type").and_then(Value::as_str) == Some("search") => Some(&empty),
                web => web.and_then(|web| web.get("results")),
            };
            hits(NAME, list, "description", limit)
        })
    }
}
