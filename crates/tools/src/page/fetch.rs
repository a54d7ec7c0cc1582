//! Fetches one page from the network, one checked connection at a time.

use std::net::SocketAddr;
use std::sync::{Arc, Once};
use std::time::Duration;

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION};
use reqwest::{Client, Response, dns};
use tenpass_model::BoxFuture;
use url::Url;

use super::body::{self, Kind};
use super::resolve::{self, Resolve, SystemResolver};
use super::{Fetched, PageError, PageSource};

/// Most redirects that are followed.
pub const MAX_REDIRECTS: usize = 5;
/// Longest time for a page, redirects and body included, in seconds.
pub const TIMEOUT_SECONDS: u64 = 15;
const CONNECT_SECONDS: u64 = 5;

/// The network as a [`PageSource`].
#[derive(Clone)]
pub struct Fetcher {
    resolver: Arc<dyn Resolve>,
    hosts: Vec<SocketAddr>,
    timeout: Duration,
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Fetcher").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl Default for Fetcher {
    fn default() -> Self {
        Self::new(Arc::new(SystemResolver))
    }
}

impl Fetcher {
    /// A fetcher that resolves names with `resolver` and connects to public addresses only.
    pub fn new(resolver: Arc<dyn Resolve>) -> Self {
        Self { resolver, hosts: Vec::new(), timeout: Duration::from_secs(TIMEOUT_SECONDS) }
    }

    /// FOR TESTS AND BENCHES ONLY: `hosts` are exempt from the rules about addresses and ports, so
    /// that a server on loopback can play a public one. Exactly these addresses with these ports.
    pub fn with_test_hosts(mut self, hosts: Vec<SocketAddr>) -> Self {
        self.hosts = hosts;
        self
    }

    /// The same fetcher with another limit for the whole page.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    async fn follow(&self, start: &Url) -> Result<Fetched, PageError> {
        let mut url = start.clone();
        for _ in 0..=MAX_REDIRECTS {
            let addresses = resolve::checked(&url, self.resolver.as_ref(), &self.hosts).await?;
            let response = send(&url, addresses).await?;
            let status = response.status();
            if matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
                url = redirected(&url, &response)?;
                continue;
            }
            if !status.is_success() {
                return Err(PageError::Status { status: status.as_u16() });
            }
            return read(url, response).await;
        }
        Err(PageError::Redirect(format!("the page redirects more than {MAX_REDIRECTS} times")))
    }
}

impl PageSource for Fetcher {
    fn fetch<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Fetched, PageError>> {
        Box::pin(async move {
            let slow = PageError::Slow { seconds: self.timeout.as_millis().div_ceil(1000) as u64 };
            tokio::time::timeout(self.timeout, self.follow(url)).await.map_err(|_| slow)?
        })
    }
}

/// Answers every question with the addresses that were checked.
struct Pinned(Vec<SocketAddr>);

impl dns::Resolve for Pinned {
    fn resolve(&self, _: dns::Name) -> dns::Resolving {
        let addresses: dns::Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

/// A client for one connection: no redirects of its own, no proxy (which would resolve the name
/// again, elsewhere), no cookies, no address that was not checked.
fn client(url: &Url, addresses: Vec<SocketAddr>) -> Result<Client, PageError> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error means that the program has already installed a provider: that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let mut builder = Client::builder()
        .user_agent(concat!("tenpass/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .no_proxy()
        .connect_timeout(Duration::from_secs(CONNECT_SECONDS))
        .pool_max_idle_per_host(0)
        .dns_resolver(Pinned(addresses));
    if url.scheme() == "http" {
        // Without TLS no root certificates are needed: a machine may have none.
        builder = builder.tls_certs_only(std::iter::empty());
    }
    builder.build().map_err(|error| connection(url, &error))
}

async fn send(url: &Url, addresses: Vec<SocketAddr>) -> Result<Response, PageError> {
    client(url, addresses)?
        .get(url.clone())
        .header(ACCEPT, "text/html, application/xhtml+xml, text/*, application/json, application/pdf, */*;q=0.1")
        .header(ACCEPT_ENCODING, "gzip")
        .send()
        .await
        .map_err(|error| connection(url, &error))
}

fn connection(url: &Url, error: &reqwest::Error) -> PageError {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(next) = innermost.source() {
        innermost = next;
    }
    let reason = if error.is_timeout() { "it timed out".to_owned() } else { innermost.to_string() };
    PageError::Connection { host: url.host_str().unwrap_or_default().to_owned(), reason }
}

fn redirected(url: &Url, response: &Response) -> Result<Url, PageError> {
    let target = header(response.headers(), LOCATION)
        .ok_or_else(|| PageError::Redirect("the page redirects without saying where to".to_owned()))?;
    let mut next =
        url.join(target).map_err(|_| PageError::Redirect("the page redirects to no valid address".to_owned()))?;
    if next.fragment().is_none() {
        next.set_fragment(url.fragment());
    }
    Ok(next)
}

fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

async fn read(url: Url, mut response: Response) -> Result<Fetched, PageError> {
    let content_type = header(response.headers(), CONTENT_TYPE).map(str::to_owned);
    let declared = body::kind_of(content_type.as_deref())?;
    let is_gzip = match header(response.headers(), CONTENT_ENCODING).map(str::to_ascii_lowercase).as_deref() {
        None | Some("" | "identity") => false,
        Some("gzip" | "x-gzip") => true,
        Some(_) => return Err(PageError::Damaged("it is compressed in a way that was not asked for".to_owned())),
    };
    let cap = declared.map_or(body::MAX_PAGE_BYTES, Kind::cap);
    let mut bytes = Vec::new();
    let mut is_cut = false;
    while let Some(chunk) = response.chunk().await.map_err(|error| connection(&url, &error))? {
        let room = cap - bytes.len();
        bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            is_cut = true;
            break;
        }
    }
    if is_gzip {
        (bytes, is_cut) = body::gunzip(&bytes, cap, is_cut)?;
    }
    Ok(Fetched { url, content_type, body: bytes, is_cut })
}
