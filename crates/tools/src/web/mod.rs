//! `web_search`: one tool over exchangeable providers.
//!
//! - [`LocalDocuments`] is the embedded default: it searches a folder of documents with SQLite's
//!   full-text index and says that it did not search the web.
//! - [`Searxng`] asks an instance of the user's; [`Brave`] and [`Tavily`] are paid with one web
//!   credit a search, reserved before the request leaves (K47).
//! - A bench's world brings its own [`SearchProvider`].
//!
//! Results are untrusted text, whoever found them.

mod brave;
mod client;
mod error;
mod local;
mod searxng;
mod tavily;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod tool;

pub use brave::Brave;
pub use error::SearchError;
pub use local::LocalDocuments;
pub use searxng::Searxng;
pub use tavily::Tavily;
pub use tool::{MAX_RESULTS, WebSearch};

use tenpass_model::BoxFuture;

/// One result. Every field is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The page's or document's title.
    pub title: String,
    /// Its address; for a document, its name in its folder.
    pub url: String,
    /// The lines that match.
    pub snippet: String,
}

/// Something that can be searched.
pub trait SearchProvider: Send + Sync {
    /// What is searched, for the result's scope (K22) and as the source of its text: `the web
    /// (Brave)`.
    fn scope(&self) -> String;

    /// Web credits that one search costs.
    fn credits(&self) -> u64 {
        0
    }

    /// At most `limit` results, best first. `query` has words and is at most 400 characters long.
    fn search<'a>(&'a self, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Vec<Hit>, SearchError>>;
}
