//! `read_url`: the readable text of one web page, fetched so that no page and no name can reach
//! into this machine or its network (security: SSRF).
//!
//! - [`Fetcher`] resolves a name once, checks EVERY address ([`address`](mod@address)), pins the
//!   connection to what was checked, and does the same again for each of at most 5 redirects. Only
//!   http and https, only the ports 80, 443, 8080 and 8443, no user information, no proxy, no
//!   cookies, 2 MB (10 MB for a PDF), 15 s.
//! - [`PageSource`] stands for the network, so that a bench's world can serve its own pages.
//! - [`ReadUrl`] is the tool: HTML is reduced to what a person would read, the result says what
//!   part of the page it is, and is untrusted.

pub mod address;
mod body;
mod error;
mod fetch;
mod html;
mod resolve;
mod target;
mod tool;

#[cfg(test)]
mod tests;

pub use body::{MAX_PAGE_BYTES, MAX_PDF_BYTES};
pub use error::PageError;
pub use fetch::{Fetcher, MAX_REDIRECTS, TIMEOUT_SECONDS};
pub(crate) use html::{charset::decode, read as read_html};
pub use resolve::{Resolve, SystemResolver};
pub use target::PORTS;
pub use tool::{MAX_TEXT_CHARACTERS, ReadUrl};

use std::sync::Arc;

use tenpass_model::BoxFuture;
use url::Url;

/// Turns a document that is not text (a PDF, a spreadsheet) into text: file name, content → text,
/// or one sentence that says why not.
pub type Extractor = Arc<dyn Fn(&str, &[u8]) -> Result<String, String> + Send + Sync>;

/// The extractor over [`crate::documents`]: PDF, office documents and everything else it reads.
pub fn document_extractor() -> Extractor {
    Arc::new(|name, bytes| {
        let document = crate::documents::extract(bytes.to_vec(), name);
        document.map(|document| document.text).map_err(|error| error.to_string())
    })
}

/// What an address gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The address after redirects.
    pub url: Url,
    /// The content type as the server named it.
    pub content_type: Option<String>,
    /// The content, at most the cap of its type.
    pub body: Vec<u8>,
    /// The content was longer than the cap.
    pub is_cut: bool,
}

/// Where pages come from: the network ([`Fetcher`]) or a bench's world.
pub trait PageSource: Send + Sync {
    /// Fetches `url`, which has passed the checks that need no network.
    fn fetch<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Fetched, PageError>>;
}
