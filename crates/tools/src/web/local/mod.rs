//! A folder of documents as something to search: the default that works without any service.
//!
//! The folder is looked at before each search; new and changed documents (by time and size) are
//! indexed, missing ones forgotten. The index file holds copies and can be thrown away.

mod walk;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tenpass_model::BoxFuture;
use tenpass_trace::database::{Document, FullTextIndex};
use url::Url;

use super::{Hit, SearchError, SearchProvider};
use crate::files::Protected;
use crate::page::{Extractor, decode, read_html};
use walk::Found;

/// How long one search may spend on indexing; what is left is indexed by the next ones.
const INDEXING: Duration = Duration::from_secs(8);
/// Kinds that are read as text.
const TEXT: [&str; 4] = ["txt", "md", "csv", "markdown"];
const HTML: [&str; 2] = ["html", "htm"];
/// Kinds that need the extractor.
const EXTRACTED: [&str; 8] = ["docx", "odt", "pdf", "xlsx", "xls", "ods", "pptx", "odp"];

/// See the module.
#[derive(Clone)]
pub struct LocalDocuments {
    shared: Arc<Shared>,
    extract: Option<Extractor>,
    protected: Arc<Protected>,
}

struct Shared {
    folder: PathBuf,
    index: FullTextIndex,
    /// Held while the folder is looked at.
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    indexed: usize,
    waiting: usize,
}

impl std::fmt::Debug for LocalDocuments {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LocalDocuments").field("folder", &self.shared.folder).finish_non_exhaustive()
    }
}

impl LocalDocuments {
    /// Searches `folder` with an index in the file `index`, which must lie outside the folder.
    pub fn open(folder: &Path, index: &Path) -> Result<Self, SearchError> {
        let failed = |error: &dyn std::fmt::Display| SearchError::Documents(error.to_string());
        if let Some(parent) = index.parent() {
            std::fs::create_dir_all(parent).map_err(|error| failed(&error))?;
        }
        let index = FullTextIndex::open(index).map_err(|error| failed(&error))?;
        let shared = Shared { folder: folder.to_owned(), index, state: Mutex::default() };
        Ok(Self { shared: Arc::new(shared), extract: None, protected: Arc::default() })
    }

    /// Leaves these folders and files out, as the sandbox does: the application's own.
    pub fn without(mut self, protected: &[PathBuf]) -> Self {
        self.protected = Arc::new(Protected::new(protected));
        self
    }

    /// Reads PDF and office documents with `extract` ([`crate::page::document_extractor`]); without one
    /// they are left out.
    pub fn with_extractor(mut self, extract: Extractor) -> Self {
        self.extract = Some(extract);
        self
    }

    fn reads(&self, name: &str) -> bool {
        let extension = extension(name);
        TEXT.contains(&&*extension)
            || HTML.contains(&&*extension)
            || (self.extract.is_some() && EXTRACTED.contains(&&*extension))
    }

    fn refresh(&self) -> Result<(), SearchError> {
        let failed = |error: &dyn std::fmt::Display| SearchError::Documents(error.to_string());
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let found = walk::documents(&self.shared.folder, &self.protected, |name| self.reads(name))
            .map_err(|error| SearchError::Documents(format!("the folder cannot be read: {error}")))?;
        let index = &self.shared.index;
        let known = index.known().map_err(|error| failed(&error))?;
        for gone in known.keys().filter(|key| !found.contains_key(*key)) {
            index.remove(gone).map_err(|error| failed(&error))?;
        }
        let started = Instant::now();
        let mut now = State { indexed: 0, waiting: 0 };
        for (name, file) in &found {
            if known.get(name) == Some(&file.stamp) {
                now.indexed += 1;
            } else if started.elapsed() > INDEXING {
                now.waiting += 1;
            } else {
                index.upsert(&self.document(name, file)).map_err(|error| failed(&error))?;
                now.indexed += 1;
            }
        }
        *state = now;
        Ok(())
    }

    /// A document that cannot be read is indexed by its name, and not tried again until it changes.
    fn document(&self, name: &str, file: &Found) -> Document {
        let bytes = file.read().unwrap_or_default();
        // Parsers may panic on damaged files: one document must not end the search of all others.
        let parsed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.text(name, &bytes)));
        let text = parsed.ok().flatten().unwrap_or_default();
        let title = text.title.filter(|title| !title.is_empty()).unwrap_or_else(|| name.to_owned());
        Document { key: name.to_owned(), title, modified: file.stamp.clone(), text: text.body }
    }

    fn text(&self, name: &str, bytes: &[u8]) -> Option<Text> {
        let extension = extension(name);
        if EXTRACTED.contains(&&*extension) {
            let extract = self.extract.as_ref()?;
            return Some(Text { title: None, body: extract(name, bytes).ok()? });
        }
        let text = decode(bytes, None);
        if HTML.contains(&&*extension) {
            let url = Url::parse("https://document.invalid/").ok()?;
            let page = read_html(&text, &url);
            return Some(Text { title: Some(page.title), body: page.text });
        }
        Some(Text { title: None, body: text })
    }

    fn find(&self, query: &str, limit: usize) -> Result<Vec<Hit>, SearchError> {
        self.refresh()?;
        let found =
            self.shared.index.search(query, limit).map_err(|error| SearchError::Documents(error.to_string()))?;
        Ok(found.into_iter().map(|hit| Hit { title: hit.title, url: hit.key, snippet: hit.snippet }).collect())
    }
}

#[derive(Default)]
struct Text {
    title: Option<String>,
    body: String,
}

fn extension(name: &str) -> String {
    name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default()
}

impl SearchProvider for LocalDocuments {
    fn scope(&self) -> String {
        let State { indexed, waiting } = *self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let name = self.shared.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let rest = if waiting > 0 { format!(", {waiting} more are not indexed yet") } else { String::new() };
        format!("the {indexed} documents of the local folder {name} (not the web{rest})")
    }

    fn search<'a>(&'a self, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Vec<Hit>, SearchError>> {
        let (this, query) = (self.clone(), query.to_owned());
        Box::pin(async move {
            let work = tokio::task::spawn_blocking(move || this.find(&query, limit));
            work.await.map_err(|error| SearchError::Documents(error.to_string()))?
        })
    }
}
