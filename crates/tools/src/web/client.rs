//! What the HTTP search providers share.

use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use reqwest::{Client, RequestBuilder, Response, Url};
use serde_json::Value;
use tenpass_model::HttpOptions;
use tenpass_model::http;

use super::{Hit, SearchError};

const TIMEOUT_SECONDS: u64 = 15;
/// Most bytes of an answer.
const MAX_BODY_BYTES: usize = 2 << 20;

/// One provider's address and client.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    pub(super) provider: &'static str,
    base: Url,
    client: Client,
}

impl Endpoint {
    pub(super) fn new(provider: &'static str, base: &str) -> Result<Self, SearchError> {
        let unreachable =
            |error: tenpass_model::ModelError| SearchError::Unreachable { provider, reason: error.to_string() };
        let base = http::parse_url(base).map_err(unreachable)?;
        let client = http::client(&base, &HttpOptions::default()).map_err(unreachable)?;
        Ok(Self { provider, base, client })
    }

    pub(super) fn get(&self, path: &str, query: &[(&str, &str)]) -> RequestBuilder {
        let mut url = self.url(path);
        url.query_pairs_mut().extend_pairs(query);
        self.client.get(url)
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.client.post(self.url(path)).json(body)
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{path}", self.base.path().trim_end_matches('/')));
        url
    }

    /// Sends the request and reads the JSON document of its answer.
    pub(super) async fn json(&self, request: RequestBuilder) -> Result<Value, SearchError> {
        let provider = self.provider;
        let limit = Duration::from_secs(TIMEOUT_SECONDS);
        let work = async {
            let sent = request.send().await;
            let response = sent.map_err(|error| SearchError::Unreachable { provider, reason: reason(&error) })?;
            read(provider, response).await
        };
        tokio::time::timeout(limit, work).await.map_err(|_| SearchError::Slow { provider, seconds: TIMEOUT_SECONDS })?
    }
}

async fn read(provider: &'static str, mut response: Response) -> Result<Value, SearchError> {
    match response.status().as_u16() {
        200..=299 => {}
        // 432 and 433: Tavily's used-up plan and pay-as-you-go limit.
        429 | 432 | 433 => {
            let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
            let retry_after_seconds = header.and_then(|value| value.trim().parse().ok());
            return Err(SearchError::Limited { provider, retry_after_seconds });
        }
        status @ 500.. => return Err(SearchError::Server { provider, status }),
        status => return Err(SearchError::Refused { provider, status }),
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| SearchError::Truncated { provider })? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_BODY_BYTES {
            return Err(SearchError::Format { provider });
        }
    }
    serde_json::from_slice(&bytes).map_err(|error| {
        if error.is_eof() { SearchError::Truncated { provider } } else { SearchError::Format { provider } }
    })
}

fn reason(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(next) = innermost.source() {
        innermost = next;
    }
    if error.is_timeout() { "it timed out".to_owned() } else { innermost.to_string() }
}

/// The results in a list, with the provider's name for the snippet. Entries without a web address
/// are left out.
pub(super) fn hits(
    provider: &'static str,
    list: Option<&Value>,
    snippet: &str,
    limit: usize,
) -> Result<Vec<Hit>, SearchError> {
    let list = list.and_then(Value::as_array).ok_or(SearchError::Format { provider })?;
    let text = |entry: &Value, field: &str| plain(entry.get(field).and_then(Value::as_str).unwrap_or_default());
    let found = list.iter().filter_map(|entry| {
        let url = Url::parse(entry.get("url")?.as_str()?).ok()?;
        let is_web = matches!(url.scheme(), "http" | "https");
        is_web.then(|| Hit { title: text(entry, "title"), url: url.into(), snippet: text(entry, snippet) })
    });
    Ok(found.take(limit).collect())
}

/// A provider's text on one line, without highlighting tags and with the usual character
/// references resolved.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let tag = &rest[at..];
        let is_tag = tag[1..].trim_start_matches('/').starts_with(|first: char| first.is_ascii_alphabetic());
        if let Some(end) = tag.find('>').filter(|end| is_tag && *end < 80) {
            rest = &tag[end + 1..];
        } else {
            out.push('<');
            rest = &tag[1..];
        }
    }
    out.push_str(rest);
    for (reference, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ] {
        out = out.replace(reference, character);
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn highlighting_and_references_go_and_text_stays() {
        assert_eq!(plain("a <strong>b</strong>\n c&#x27;s &amp;lt; 1 < 2 <3"), "a b c's &lt; 1 < 2 <3");
    }
}
