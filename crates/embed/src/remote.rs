//! Embeddings from another computer.

use std::net::{IpAddr, ToSocketAddrs as _};
use std::time::Duration;

use serde_json::{Value, json};
use url::{Host, Url};

use crate::{EmbedError, Embedder, EmbedderInfo, Vectors, normalised};

/// Texts of one request.
const BATCH: usize = 64;
/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_mins(1);
/// Longest answer: 64 texts of 4,096 values as text.
const MOST_BYTES: usize = 32 << 20;

/// The form of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// `POST /v1/embeddings`: tenpass, llama-server and many others.
    OpenAi,
    /// `POST /api/embed`.
    Ollama,
}

/// A server that embeds.
#[derive(Debug)]
pub struct RemoteEmbedder {
    client: reqwest::Client,
    address: Url,
    api: Api,
    key: Option<String>,
    info: EmbedderInfo,
}

/// Whether an address is this machine by every name that it resolves to now. A name that does not resolve is not.
pub fn is_loopback(address: &Url) -> bool {
    let is_here = |address: IpAddr| match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_unspecified(),
        IpAddr::V6(address) => {
            let mapped = address.to_ipv4_mapped().is_some_and(|v4| v4.is_loopback() || v4.is_unspecified());
            address.is_loopback() || address.is_unspecified() || mapped
        }
    };
    match address.host() {
        Some(Host::Ipv4(address)) => is_here(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => is_here(IpAddr::V6(address)),
        Some(Host::Domain(name)) if name == "localhost" || name.ends_with(".localhost") => true,
        Some(Host::Domain(name)) => {
            let port = address.port_or_known_default().unwrap_or(80);
            (name, port).to_socket_addrs().is_ok_and(|mut found| found.any(|one| is_here(one.ip())))
        }
        None => true,
    }
}

impl RemoteEmbedder {
    /// Connects to a second computer: its address must not be this machine's, because the model would then take
    /// the memory that it was moved away to free.
    pub async fn second_computer(
        address: &str,
        api: Api,
        model: &str,
        key: Option<String>,
    ) -> Result<Self, EmbedError> {
        let url = parse(address)?;
        let host = url.clone();
        let here = tokio::task::spawn_blocking(move || is_loopback(&host)).await.unwrap_or(true);
        if here {
            let problem = "a second computer for embeddings cannot be this one";
            return Err(EmbedError::Address { address: address.to_owned(), problem });
        }
        Self::connect(address, api, model, key).await
    }

    /// Connects to any server, and asks once how long its vectors are.
    pub async fn connect(address: &str, api: Api, model: &str, key: Option<String>) -> Result<Self, EmbedError> {
        let url = parse(address)?;
        let failed = |problem: String| EmbedError::Remote { address: url.to_string(), problem };
        // The first one wins; another crate of this process may have been it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(PATIENCE)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| failed(error.to_string()))?;
        let info = EmbedderInfo {
            name: model.to_owned(),
            digest: None,
            dimensions: 0,
            device: url.host_str().unwrap_or("?").to_owned(),
        };
        let mut remote = Self { client, address: url, api, key, info };
        let probe = remote.request(&["probe".to_owned()]).await?;
        remote.info.dimensions = probe.first().map_or(0, Vec::len);
        Ok(remote)
    }

    async fn request(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let failed = |problem: String| EmbedError::Remote { address: self.address.to_string(), problem };
        let (path, body) = match self.api {
            Api::OpenAi => ("v1/embeddings", json!({ "model": self.info.name, "input": texts })),
            Api::Ollama => ("api/embed", json!({ "model": self.info.name, "input": texts })),
        };
        let url = self.address.join(path).map_err(|error| failed(error.to_string()))?;
        let mut request = self.client.post(url).json(&body);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let mut answer = request.send().await.map_err(|error| failed(error.without_url().to_string()))?;
        let status = answer.status();
        let mut bytes = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|error| failed(error.without_url().to_string()))? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > MOST_BYTES {
                return Err(failed("the answer is too long".to_owned()));
            }
        }
        let value: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        if !status.is_success() {
            let told = value["error"]["message"].as_str().or(value["error"].as_str()).unwrap_or("no reason given");
            return Err(failed(format!("status {status}: {told}")));
        }
        let found = vectors(self.api, value).ok_or_else(|| failed("the answer holds no vectors".to_owned()))?;
        let alike = found.windows(2).all(|pair| pair[0].len() == pair[1].len());
        let known = self.info.dimensions == 0 || found.first().is_none_or(|one| one.len() == self.info.dimensions);
        if found.len() != texts.len() || !alike || !known {
            return Err(failed(format!("{} vectors of changing length came for {} texts", found.len(), texts.len())));
        }
        Ok(found.into_iter().map(normalised).collect())
    }
}

fn parse(address: &str) -> Result<Url, EmbedError> {
    let problem = |problem| EmbedError::Address { address: address.to_owned(), problem };
    let mut url = Url::parse(address).map_err(|_| problem("this is no address"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(problem("an address begins with http:// or https://"));
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

/// The vectors of an answer, in the order of the texts.
fn vectors(api: Api, mut value: Value) -> Option<Vec<Vec<f32>>> {
    match api {
        Api::Ollama => serde_json::from_value(value["embeddings"].take()).ok(),
        Api::OpenAi => {
            let mut rows: Vec<(u64, Vec<f32>)> = Vec::new();
            for (place, row) in value["data"].as_array_mut()?.iter_mut().enumerate() {
                let index = row["index"].as_u64().unwrap_or(place as u64);
                rows.push((index, serde_json::from_value(row["embedding"].take()).ok()?));
            }
            rows.sort_by_key(|(index, _)| *index);
            Some(rows.into_iter().map(|(_, vector)| vector).collect())
        }
    }
}

impl Embedder for RemoteEmbedder {
    fn info(&self) -> &EmbedderInfo {
        &self.info
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> Vectors<'a> {
        Box::pin(async move {
            let mut all = Vec::with_capacity(texts.len());
            for batch in texts.chunks(BATCH) {
                all.extend(self.request(batch).await?);
            }
            Ok(all)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_found_by_every_name() {
        for address in [
            "http://127.0.0.1:7374",
            "http://localhost:1",
            "http://LOCALHOST",
            "http://[::1]:80",
            "http://127.1/",
            "http://0.0.0.0:3",
            "http://[::ffff:127.0.0.1]:4",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://x.localhost",
        ] {
            assert!(is_loopback(&Url::parse(address).unwrap()), "{address}");
        }
        for address in ["http://192.168.1.20:7374", "http://[fd00::1]:80", "https://10.0.0.7/"] {
            assert!(!is_loopback(&Url::parse(address).unwrap()), "{address}");
        }
    }

    #[test]
    fn answers_of_both_forms_are_read_in_order() {
        let openai = json!({"data": [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}]});
        assert_eq!(vectors(Api::OpenAi, openai).unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
        let ollama = json!({"embeddings": [[1.0, 0.5]]});
        assert_eq!(vectors(Api::Ollama, ollama).unwrap(), [[1.0, 0.5]]);
        assert!(vectors(Api::OpenAi, json!({"data": [{"embedding": "x"}]})).is_none());
        assert!(vectors(Api::Ollama, json!({})).is_none());
    }

    #[test]
    fn addresses_that_are_none_are_refused() {
        for address in ["nonsense", "ftp://10.0.0.1/", "file:///etc/passwd"] {
            assert!(matches!(parse(address), Err(EmbedError::Address { .. })), "{address}");
        }
        assert_eq!(parse("http://10.0.0.1/x").unwrap().join("v1/embeddings").unwrap().path(), "/x/v1/embeddings");
    }
}
