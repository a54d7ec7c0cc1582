//! Models behind one tiny trait.
//!
//! [`ChatModel`] is plain data ([`ModelInfo`]) plus `start`, which yields a stream of
//! [`ChatEvent`]s; dropping the stream cancels, down to the HTTP request or the decode loop.
//! Data comes in as a [`ChatRequest`] and leaves as events; nothing here reads configuration,
//! prints, or opens a store.

mod answer;
pub mod calls;
pub mod conformance;
pub mod decode;
mod error;
pub mod http;
mod ollama;
mod openai;
mod pool;
pub mod replay;
mod request;
mod spec;
mod stream;
mod weigh;
pub mod wire;
pub mod wrappers;

pub use error::ModelError;
pub use http::{ApiKey, HttpOptions};
pub use ollama::{LoadedModel, OllamaModel};
pub use openai::OpenAiModel;
pub use pool::{EndpointState, Pool, PoolEndpoint, PoolError};
pub use replay::ReplayModel;
pub use request::{ChatRequest, SamplingOptions, ThinkLevel};
pub use spec::{ModelSpec, SpecError};
pub use stream::{ChatEvent, ChatStream, Collected, Completion, FinishReason, StructuredCall, Timings, Usage, collect};
pub use weigh::Weight;

use std::future::Future;
use std::pin::Pin;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// `sha256:` and the digest in hexadecimal.
pub(crate) fn sha256(bytes: impl AsRef<[u8]>) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// A boxed future, for the trait's asynchronous methods.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What is known about a model: recorded in every manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The SPEC the user typed, normalised.
    pub spec: String,
    /// `embedded`, `ollama`, `openai` or `replay`.
    pub backend: String,
    /// The model's name at that backend.
    pub name: String,
    /// Digest of the weights (`sha256:…`), when the backend tells.
    #[serde(default)]
    pub digest: Option<String>,
    /// sha256 of the chat template, when known.
    #[serde(default)]
    pub template_digest: Option<String>,
    /// Quantisation label, when known.
    #[serde(default)]
    pub quantization: Option<String>,
    /// Context length in tokens that requests may use, when known.
    #[serde(default)]
    pub context: Option<u32>,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Versions of what runs it (engine or server), as the backend tells.
    #[serde(default)]
    pub runtime: Option<String>,
}

/// What a model can do, as its backend declares it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capabilities {
    /// The chat template renders tool definitions.
    pub tools: bool,
    /// The model thinks apart from its answer.
    pub thinking: bool,
    /// A JSON Schema in `format` is enforced by the sampler.
    pub structured_output: bool,
    /// The textual shape in which the template wants calls (a name of [`calls::Shape`]),
    /// when calls arrive as text rather than structured.
    #[serde(default)]
    pub declared_shape: Option<String>,
}

/// A prompt as the model receives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RenderedPrompt {
    /// The rendered text, when the backend can tell.
    pub text: Option<String>,
    /// The backend's token count of it, when it can tell.
    pub tokens: Option<u32>,
}

/// A model that answers chat requests.
pub trait ChatModel: Send + Sync {
    /// Identity and capabilities.
    fn info(&self) -> &ModelInfo;

    /// Starts one answer. Errors arrive as the stream's only or last item. Dropping cancels.
    fn start(&self, request: ChatRequest) -> ChatStream;

    /// Starts several answers that may share work (one stream a request, in order).
    fn start_many(&self, requests: Vec<ChatRequest>) -> Vec<ChatStream> {
        requests.into_iter().map(|request| self.start(request)).collect()
    }

    /// The prompt of `request` as the backend would evaluate it.
    fn render<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<RenderedPrompt, ModelError>>;
}
