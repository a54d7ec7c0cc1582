//! An instance of SearXNG: `GET /search?q=…&format=json`
//! (<https://docs.searxng.org/dev/search_api.html>). The instance must allow the format `json`.

use tenpass_model::BoxFuture;

use super::client::{Endpoint, hits};
use super::{Hit, SearchError, SearchProvider};

const NAME: &str = "SearXNG";

/// See the module.
#[derive(Debug, Clone)]
pub struct Searxng(Endpoint);

impl Searxng {
    /// The instance at `address`.
    pub fn new(address: &str) -> Result<Self, SearchError> {
        Endpoint::new(NAME, address).map(Self)
    }
}

impl SearchProvider for Searxng {
    fn scope(&self) -> String {
        "the web (SearXNG)".to_owned()
    }

    fn search<'a>(&'a self, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Vec<Hit>, SearchError>> {
        Box::pin(async move {
            let answer = self.0.json(self.0.get("search", &[("q", query), ("format", "json")])).await?;
            hits(NAME, answer.get("results"), "content", limit)
        })
    }
}
