//! Everything that can go wrong between a request and its answer.

use serde::{Deserialize, Serialize};
use tenpass_trace::FailureClass;

/// A failed request. None of these is an answer of the model. Serialised (replay files) as
/// `{"kind":"http","url":…,"status":503,"message":…}`.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ModelError {
    /// Nothing listens there, or the connection broke.
    #[error("cannot reach {url}: {reason}")]
    Connect {
        /// The address without credentials.
        url: String,
        /// The system's reason.
        reason: String,
    },
    /// Nothing came for the time allowed.
    #[error("no data from {url} for {seconds} s")]
    Silent {
        /// The address without credentials.
        url: String,
        /// The idle limit that ran out.
        seconds: u64,
    },
    /// The answer did not end in the time allowed for all of it.
    #[error("{model} did not finish within {seconds} s")]
    Deadline {
        /// The model.
        model: String,
        /// The limit that ran out.
        seconds: u64,
    },
    /// The server answered with an error status.
    #[error("{url} answered HTTP {status}: {message}")]
    Http {
        /// The address without credentials.
        url: String,
        /// The status code.
        status: u16,
        /// The server's message, shortened.
        message: String,
    },
    /// The server reported an error inside a successful response.
    #[error("{url} reported: {message}")]
    Server {
        /// The address without credentials.
        url: String,
        /// The server's message.
        message: String,
    },
    /// The bytes are not the protocol.
    #[error("{url} sent {what}")]
    Protocol {
        /// The address without credentials.
        url: String,
        /// What came instead.
        what: String,
    },
    /// The connection ended before the answer did.
    #[error("{url} closed the stream before the end of the answer")]
    Truncated {
        /// The address without credentials.
        url: String,
    },
    /// The prompt does not fit, or the server silently dropped part of it.
    #[error("the prompt has {prompt_tokens} tokens but the context holds {context}")]
    Overflow {
        /// Tokens of the prompt as counted.
        prompt_tokens: u64,
        /// Tokens the context holds, or that the server kept.
        context: u64,
    },
    /// The backend cannot do what was asked (thinking, tools).
    #[error("{model} does not support {feature}")]
    Unsupported {
        /// The model.
        model: String,
        /// What it cannot do.
        feature: String,
    },
    /// There is no such model.
    #[error("no model {model}: {reason}")]
    NotFound {
        /// The name asked for.
        model: String,
        /// Where it was looked for.
        reason: String,
    },
    /// The model's file is damaged or of an unknown kind.
    #[error("cannot load {path}: {reason}")]
    Load {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The chat template does not render.
    #[error("the chat template of {model} does not render: {reason}")]
    Template {
        /// The model.
        model: String,
        /// The template engine's message.
        reason: String,
    },
    /// A JSON Schema the sampler cannot enforce.
    #[error("cannot constrain to the schema: {reason}")]
    Schema {
        /// The reason.
        reason: String,
    },
    /// The backend stopped working (a crash, a restart).
    #[error("{model} stopped: {reason}")]
    Stopped {
        /// The model.
        model: String,
        /// The reason.
        reason: String,
    },
}

impl ModelError {
    /// The class under which a bench counts this fault: an INVALID one, except for a model that
    /// did not finish in its time.
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Overflow { .. } => FailureClass::InvalidOverflow,
            Self::Deadline { .. } => FailureClass::Timeout,
            Self::Stopped { .. } | Self::Truncated { .. } => FailureClass::InvalidRestart,
            _ => FailureClass::InvalidTransport,
        }
    }

    /// True when the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connect { .. }
            | Self::Silent { .. }
            | Self::Truncated { .. }
            | Self::Stopped { .. }
            | Self::Server { .. }
            | Self::Protocol { .. } => true,
            Self::Http { status, .. } => matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504),
            _ => false,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Connect { .. } => "start the server, or correct the address in the model SPEC",
            Self::Silent { .. } => "the server may still be loading the model; raise --timeout, or look at its log",
            Self::Deadline { .. } => "raise --timeout, or lower the answer's token limit",
            Self::Http { status: 401 | 403, .. } => "set the API key the server wants",
            Self::Http { status: 404, .. } => {
                "check the model's name and that the address ends in the API's root (…/v1)"
            }
            Self::Http { status: 503, .. } => "the server's queue is full; lower --jobs",
            Self::Http { .. } | Self::Server { .. } => "the server's log has the details",
            Self::Protocol { .. } => "check that the address is that of a model server",
            Self::Truncated { .. } | Self::Stopped { .. } => {
                "the server may have crashed or restarted; look at its log"
            }
            Self::Overflow { .. } => "raise --ctx, or offer fewer tools (--tools router)",
            Self::Unsupported { .. } => "choose another --structure or drop --think",
            Self::NotFound { .. } => "`tenpass models list` shows what can be pulled",
            Self::Load { .. } => "`tenpass models verify` checks the file; pull it again if it is damaged",
            Self::Template { .. } => "report the model's template; `--structure text` avoids tools in the template",
            Self::Schema { .. } => "simplify the tool's schema, or use --structure native",
        }
    }
}
