//! The tool around a [`PageSource`].

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tenpass_agent::tool::{CallContext, Inspection, Note, NoteStatus, Tool, ToolOutput};
use tenpass_model::BoxFuture;
use tenpass_trace::{ToolCategory, ToolDefinition};
use url::Url;

use super::body::{self, Kind};
use super::html::{self, Readable};
use super::{Extractor, Fetched, Fetcher, PageError, PageSource, document_extractor, target};

/// Most characters of a page in one result (R9).
pub const MAX_TEXT_CHARACTERS: usize = 8_000;

/// `read_url` (auto, reads).
pub struct ReadUrl {
    definition: ToolDefinition,
    source: Arc<dyn PageSource>,
    hosts: Vec<SocketAddr>,
    extract: Option<Extractor>,
}

impl Default for ReadUrl {
    fn default() -> Self {
        Self::new()
    }
}

impl ReadUrl {
    /// Reads the real web, PDF included.
    pub fn new() -> Self {
        Self::from_source(Arc::new(Fetcher::default())).with_extractor(document_extractor())
    }

    /// Reads from `source`. Addresses are checked before it is asked.
    pub fn from_source(source: Arc<dyn PageSource>) -> Self {
        Self { definition: definition(), source, hosts: Vec::new(), extract: None }
    }

    /// FOR TESTS AND BENCHES ONLY: a fetcher for which `hosts` on loopback play public servers.
    pub fn with_test_hosts(fetcher: Fetcher, hosts: Vec<SocketAddr>) -> Self {
        let fetcher = fetcher.with_test_hosts(hosts.clone());
        Self { hosts, ..Self::from_source(Arc::new(fetcher)) }
    }

    /// Reads documents (PDF) with `extract`; without one they are refused.
    pub fn with_extractor(mut self, extract: Extractor) -> Self {
        self.extract = Some(extract);
        self
    }

    fn address(&self, arguments: &Map<String, Value>) -> Result<Url, PageError> {
        let url = target::parse(arguments.get("url").and_then(Value::as_str).unwrap_or_default())?;
        target::check(&url, &self.hosts)?;
        Ok(url)
    }

    async fn read(&self, url: &Url, offset: usize) -> Result<(Url, String), PageError> {
        let fetched = self.source.fetch(url).await?;
        let extract = self.extract.clone();
        let address = fetched.url.clone();
        // Parsing computes: off the threads that everything else waits on.
        let work = tokio::task::spawn_blocking(move || {
            let is_cut = fetched.is_cut;
            let page = readable(&fetched, extract.as_ref())?;
            Ok((fetched.url, report(&page, offset, is_cut)))
        });
        work.await.unwrap_or_else(|_| Err(PageError::Damaged(format!("{address} has no structure that can be read"))))
    }
}

fn definition() -> ToolDefinition {
    let parameters = json!({
        "type": "object",
        "required": ["url", "reason"],
        "properties": {
            "url": { "type": "string", "minLength": 1 },
            "offset": {
                "type": "integer", "minimum": 0, "default": 0,
                "description": "Character from which to read on, when a page was longer than one result."
            },
            "reason": { "type": "string", "description": "Why this page, in a few words." }
        }
    });
    ToolDefinition {
        category: ToolCategory::Web,
        reads: true,
        keywords: ["page", "article", "site", "résumer", "summarise", "lire", "http", "https"]
            .map(str::to_owned)
            .to_vec(),
        ..ToolDefinition::new("read_url", "Fetches a web page and returns its text to you; the user sees nothing.")
            .with_parameters(parameters)
    }
}

impl Tool for ReadUrl {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn note(&self) -> Note {
        Note {
            serves: "Reads the text of a public web page or PDF.",
            status: NoteStatus::KnownLimit,
            limit: "No scripts run, nothing behind a login, no private network, 2 MB and 15 s a page, no proxy.",
        }
    }

    fn inspect(&self, arguments: &Map<String, Value>) -> Inspection {
        Inspection { reject: self.address(arguments).err().map(|error| error.to_string()), ..Inspection::default() }
    }

    fn run<'a>(&'a self, arguments: &'a Map<String, Value>, context: &'a CallContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let url = match self.address(arguments) {
                Ok(url) => url,
                Err(error) => return ToolOutput::error(error.to_string()),
            };
            let offset = arguments.get("offset").and_then(Value::as_u64).unwrap_or(0) as usize;
            let read = tokio::select! {
                biased;
                () = context.cancel.cancelled() => Err(PageError::Stopped),
                read = self.read(&url, offset) => read,
            };
            match read {
                Ok((url, text)) => ToolOutput::ok(text).untrusted(url.as_str()),
                Err(error) => ToolOutput::error(format!("{url} was not read: {error}")),
            }
        })
    }
}

fn readable(fetched: &Fetched, extract: Option<&Extractor>) -> Result<Readable, PageError> {
    let content_type = fetched.content_type.as_deref();
    let kind = match body::kind_of(content_type)? {
        Some(kind) => kind,
        None => body::sniff(&fetched.body)?,
    };
    if kind == Kind::Pdf {
        return pdf(fetched, extract);
    }
    if body::looks_binary(&fetched.body) {
        return Err(PageError::Type("binary data that calls itself text".to_owned()));
    }
    let text = html::charset::decode(&fetched.body, body::charset_of(content_type));
    Ok(match kind {
        Kind::Html => html::read(&text, &fetched.url),
        _ => Readable { text: text.trim().to_owned(), ..Readable::default() },
    })
}

fn pdf(fetched: &Fetched, extract: Option<&Extractor>) -> Result<Readable, PageError> {
    let Some(extract) = extract else { return Err(PageError::Type("application/pdf".to_owned())) };
    if fetched.is_cut {
        return Err(PageError::TooLarge { limit: body::MAX_PDF_BYTES >> 20 });
    }
    let last = fetched.url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
    let name = if last.to_ascii_lowercase().ends_with(".pdf") { last.to_owned() } else { "page.pdf".to_owned() };
    let text = extract(&name, &fetched.body).map_err(PageError::Damaged)?;
    Ok(Readable { title: name, text: text.trim().to_owned(), ..Readable::default() })
}

/// The result: what it is, the text from `offset`, and its scope (K22).
fn report(page: &Readable, offset: usize, is_cut: bool) -> String {
    let mut all = page.text.clone();
    if !page.links.is_empty() {
        all.push_str("\n\nLinks on this page:\n");
        all.push_str(&page.links.join("\n"));
    }
    let total = all.chars().count();
    let shown: String = all.chars().skip(offset).take(MAX_TEXT_CHARACTERS).collect();
    let end = offset.min(total) + shown.chars().count();
    let mut out = String::new();
    if !page.title.is_empty() {
        out.push_str(&format!("Title: {}\n", page.title));
    }
    if let Some(byline) = &page.byline {
        out.push_str(&format!("By: {byline}\n"));
    }
    let scope = match (total, shown.is_empty()) {
        (0, _) => "The page has no readable text (it may need scripts).".to_owned(),
        (_, true) => format!("There is no text after character {offset}: the page has {total} characters."),
        _ if offset == 0 && end == total => format!("The whole readable text, {total} characters:"),
        _ if end == total => format!("Characters {offset} to {total}, the end of the readable text:"),
        _ => format!("Characters {offset} to {end} of {total} of the readable text; read on with offset {end}:"),
    };
    out.push_str(&scope);
    if is_cut {
        out.push_str(" (The page is larger than 2 MB; only its beginning was fetched.)");
    }
    if !shown.is_empty() {
        out.push_str("\n\n");
        out.push_str(&shown);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: String) -> Readable {
        Readable { title: "T".into(), byline: Some("A".into()), text, links: Vec::new() }
    }

    #[test]
    fn the_result_states_its_scope_and_pages_through_all_of_the_text() {
        let text: String = (0..20_000).map(|n| char::from(b'a' + (n % 26) as u8)).collect();
        let mut read = String::new();
        let mut offset = 0;
        for _ in 0..3 {
            let shown = report(&page(text.clone()), offset, false);
            assert!(shown.chars().count() <= MAX_TEXT_CHARACTERS + 200);
            read.push_str(shown.split_once("\n\n").unwrap().1);
            offset += MAX_TEXT_CHARACTERS;
        }
        assert_eq!(read, text);
        let first = report(&page(text.clone()), 0, true);
        assert!(first.starts_with("Title: T\nBy: A\nCharacters 0 to 8000 of 20000"), "{first}");
        assert!(first.contains("offset 8000") && first.contains("larger than 2 MB"));
        assert!(report(&page(text.clone()), 16_000, false).contains("Characters 16000 to 20000, the end"));
        assert!(report(&page(text), 20_000, false).contains("no text after character 20000"));
        assert!(report(&page("é".into()), 0, false).contains("whole readable text, 1 characters"));
        assert!(report(&page(String::new()), 0, false).contains("no readable text"));
    }

    #[test]
    fn the_schema_requires_a_reason_and_holds_no_example() {
        let definition = definition();
        assert_eq!(definition.parameters["required"], json!(["url", "reason"]));
        assert!(definition.reads && definition.category == ToolCategory::Web);
    }
}
