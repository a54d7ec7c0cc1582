//! One file over HTTP, resumed where an earlier attempt stopped.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_RANGE, RANGE};
use reqwest::{Client, Response, StatusCode};

use crate::SourceError;

/// How long a server may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// To accept the connection. Short: without internet the next source is tried soon.
    pub(crate) connect: Duration,
    /// Between two pieces of data.
    pub(crate) idle: Duration,
    /// Attempts that may end without having brought anything.
    pub(crate) attempts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(4), idle: Duration::from_mins(1), attempts: 3 }
    }
}

/// One file to fetch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Download<'a> {
    /// Its address.
    pub(crate) url: &'a str,
    /// A bearer token, sent to this host only.
    pub(crate) token: Option<&'a str>,
    /// Where the bytes go; what is there already is not fetched again.
    pub(crate) partial: &'a Path,
    /// Its bytes, where they are known.
    pub(crate) size: Option<u64>,
    /// The most it may have.
    pub(crate) limit: u64,
    /// How long the server may take.
    pub(crate) limits: Limits,
}

impl Download<'_> {
    /// Fetches the rest of the file, telling `progress` the bytes there are. Its content is not checked
    /// here: only the hash of the whole asset proves it.
    pub(crate) fn run(&self, progress: &(dyn Fn(u64) + Sync)) -> Result<(), SourceError> {
        let network = |error: &dyn std::fmt::Display| SourceError::Network { reason: error.to_string() };
        // A thread of its own: the caller may itself run inside an asynchronous runtime.
        std::thread::scope(|scope| {
            let work = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.map_err(|error| network(&error))?.block_on(self.fetch(progress))
            });
            work.join().unwrap_or_else(|_| Err(network(&"the download stopped unexpectedly")))
        })
    }

    async fn fetch(&self, progress: &(dyn Fn(u64) + Sync)) -> Result<(), SourceError> {
        // An error means that a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .connect_timeout(self.limits.connect)
            .read_timeout(self.limits.idle)
            .user_agent(concat!("tenpass/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| network(&error))?;
        let mut fruitless = 0;
        loop {
            let before = self.have();
            let error = match self.attempt(&client, progress).await {
                Ok(()) => return Ok(()),
                Err(error) if !error.is_transient() => return Err(error),
                Err(error) => error,
            };
            fruitless = if self.have() > before { 0 } else { fruitless + 1 };
            // A host that cannot be reached at all is not asked again.
            let unreachable = before == 0 && matches!(error, SourceError::Network { .. });
            if fruitless >= self.limits.attempts || (unreachable && fruitless > 0) {
                return Err(error);
            }
        }
    }

    /// Bytes that are there.
    fn have(&self) -> u64 {
        std::fs::metadata(self.partial).map_or(0, |data| data.len())
    }

    async fn attempt(&self, client: &Client, progress: &(dyn Fn(u64) + Sync)) -> Result<(), SourceError> {
        let have = self.have();
        if self.size == Some(have) {
            progress(have);
            return Ok(());
        }
        let resume = have > 0 && have < self.size.unwrap_or(self.limit);
        let mut request = client.get(self.url);
        if resume {
            request = request.header(RANGE, format!("bytes={have}-"));
        }
        if let Some(token) = self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let response = request.send().await.map_err(|error| network(&error))?;
        let start = match response.status() {
            StatusCode::PARTIAL_CONTENT if resume && starts_at(&response, have) => have,
            StatusCode::OK => 0,
            // The rest asked for is not there, or is not what was asked for: begin again.
            StatusCode::RANGE_NOT_SATISFIABLE | StatusCode::PARTIAL_CONTENT => {
                std::fs::remove_file(self.partial).map_err(|error| SourceError::io(self.partial, &error))?;
                return Err(SourceError::Network { reason: "the server does not resume this file".into() });
            }
            status => return Err(SourceError::Http { status: status.as_u16() }),
        };
        self.check_length(start, response.content_length())?;
        self.receive(response, start, progress).await
    }

    /// Refuses a file of another size before it is fetched.
    fn check_length(&self, start: u64, rest: Option<u64>) -> Result<(), SourceError> {
        let Some(total) = rest.map(|rest| start + rest) else { return Ok(()) };
        let fits = self.size.map_or(total <= self.limit, |size| size == total);
        if fits {
            return Ok(());
        }
        let expected = self.size.map_or_else(|| format!("at most {}", self.limit), |size| size.to_string());
        Err(SourceError::Content { reason: format!("the server has {total} bytes, the catalogue says {expected}") })
    }

    async fn receive(
        &self,
        mut response: Response,
        start: u64,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(), SourceError> {
        let io = |error: std::io::Error| SourceError::io(self.partial, &error);
        let mut file = File::options().create(true).append(true).open(self.partial).map_err(io)?;
        file.set_len(start).map_err(io)?;
        let mut done = start;
        progress(done);
        while let Some(bytes) = response.chunk().await.map_err(|error| network(&error))? {
            done += bytes.len() as u64;
            if done > self.size.unwrap_or(self.limit) {
                let reason = "the server sent more bytes than the catalogue says".into();
                return Err(SourceError::Content { reason });
            }
            file.write_all(&bytes).map_err(io)?;
            progress(done);
        }
        if self.size.is_some_and(|size| done < size) {
            return Err(SourceError::Network { reason: format!("the server stopped after {done} bytes") });
        }
        file.sync_all().map_err(io)
    }
}

/// True when a partial answer begins where it was asked to.
fn starts_at(response: &Response, offset: u64) -> bool {
    let range = response.headers().get(CONTENT_RANGE).and_then(|value| value.to_str().ok());
    range.and_then(|range| range.strip_prefix("bytes ")?.split('-').next()?.parse().ok()) == Some(offset)
}

/// The innermost reason of an error, without the address.
fn network(error: &reqwest::Error) -> SourceError {
    if error.is_timeout() && !error.is_connect() {
        return SourceError::Network { reason: "the server sent nothing for too long".into() };
    }
    let mut reason: &dyn std::error::Error = error;
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    let what = if error.is_connect() { "cannot connect: " } else { "the connection broke: " };
    SourceError::Network { reason: format!("{what}{reason}") }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::testing::{Behaviour, Server, bytes};

    const SIZE: usize = 300_000;

    fn fetch(server: &Server, partial: &Path, size: Option<u64>) -> Result<Vec<u64>, SourceError> {
        let seen = Mutex::new(Vec::new());
        let limits = Limits { connect: Duration::from_secs(5), idle: Duration::from_secs(5), attempts: 3 };
        let url = server.url("/file");
        let download = Download { url: &url, token: None, partial, size, limit: 1 << 20, limits };
        download.run(&|done| seen.lock().unwrap().push(done))?;
        Ok(seen.into_inner().unwrap())
    }

    fn fetched(behaviours: &[Behaviour], before: &[u8]) -> (Result<Vec<u64>, SourceError>, Vec<u8>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let partial = folder.path().join("x.partial");
        if !before.is_empty() {
            std::fs::write(&partial, before).unwrap();
        }
        let server = Server::start(bytes(SIZE), behaviours);
        let result = fetch(&server, &partial, Some(SIZE as u64));
        (result, std::fs::read(&partial).unwrap_or_default(), server.requests())
    }

    #[test]
    fn a_file_comes_whole_and_progress_grows() {
        let (result, content, _) = fetched(&[Behaviour::Good], b"");
        let steps = result.unwrap();
        assert!(steps.is_sorted() && steps.last() == Some(&(SIZE as u64)), "{steps:?}");
        assert_eq!(content, bytes(SIZE));
    }

    #[test]
    fn an_earlier_attempt_is_resumed() {
        let (result, content, requests) = fetched(&[Behaviour::Good], &bytes(SIZE)[..1000]);
        assert_eq!(result.unwrap()[0], 1000);
        assert_eq!(content, bytes(SIZE));
        assert!(requests[0].to_lowercase().contains("range: bytes=1000-"), "{}", requests[0]);
    }

    #[test]
    fn a_connection_that_breaks_is_resumed_at_once() {
        let (result, content, requests) = fetched(&[Behaviour::CutAfter(4096), Behaviour::Good], b"");
        result.unwrap();
        assert_eq!(content, bytes(SIZE));
        assert_eq!(requests.len(), 2);
        assert!(requests[1].to_lowercase().contains("range: bytes="), "{}", requests[1]);
    }

    #[test]
    fn a_server_that_ignores_the_range_gives_the_whole_file_once() {
        let (result, content, _) = fetched(&[Behaviour::IgnoresRange], b"other bytes of an earlier attempt");
        result.unwrap();
        assert_eq!(content, bytes(SIZE));
    }

    #[test]
    fn a_server_that_answers_another_range_is_asked_from_the_start() {
        let (result, content, requests) = fetched(&[Behaviour::WrongRange, Behaviour::Good], &bytes(SIZE)[..1000]);
        result.unwrap();
        assert_eq!(content, bytes(SIZE));
        assert_eq!(requests.len(), 2);
    }

    #[test]
    fn a_file_of_another_size_is_refused_before_it_is_fetched() {
        let folder = tempfile::tempdir().unwrap();
        let partial = folder.path().join("x.partial");
        let server = Server::start(bytes(SIZE), &[Behaviour::Good]);
        let error = fetch(&server, &partial, Some(7)).unwrap_err();
        assert_eq!(error.to_string(), format!("the server has {SIZE} bytes, the catalogue says 7"));
        assert!(!partial.exists());
    }

    #[test]
    fn errors_and_silence_end_after_the_attempts_allowed() {
        let (result, _, requests) = fetched(&[Behaviour::Status(503)], b"");
        assert_eq!(result.unwrap_err(), SourceError::Http { status: 503 });
        assert_eq!(requests.len(), 3);
        let (result, _, requests) = fetched(&[Behaviour::Status(404)], b"");
        assert_eq!(result.unwrap_err(), SourceError::Http { status: 404 });
        assert_eq!(requests.len(), 1);
    }

    #[test]
    fn a_server_that_falls_silent_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(bytes(SIZE), &[Behaviour::Silent]);
        let limits = Limits { connect: Duration::from_secs(5), idle: Duration::from_millis(50), attempts: 1 };
        let (url, partial) = (server.url("/file"), folder.path().join("x"));
        let download = Download { url: &url, token: None, partial: &partial, size: None, limit: 9, limits };
        let error = download.run(&|_| {}).unwrap_err();
        assert_eq!(error.to_string(), "the server sent nothing for too long");
    }

    #[test]
    fn nobody_there_is_said_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(Vec::new(), &[Behaviour::Good]);
        let url = server.url("/file");
        drop(server);
        let partial = folder.path().join("x");
        let download =
            Download { url: &url, token: None, partial: &partial, size: None, limit: 9, limits: Limits::default() };
        let error = download.run(&|_| {}).unwrap_err().to_string();
        assert!(error.starts_with("cannot connect: ") && !error.contains("127.0.0.1"), "{error}");
    }
}
