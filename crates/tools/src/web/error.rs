//! Why a search brought nothing.

/// A failed search. Each message is one sentence for the model; none repeats a server's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// There is no key.
    #[error("{provider} is not set up: the environment variable {variable} is missing")]
    NotSetUp {
        /// The provider.
        provider: &'static str,
        /// Where its key is expected.
        variable: &'static str,
    },
    /// No connection, or it broke before the answer.
    #[error("{provider} cannot be reached: {reason}")]
    Unreachable {
        /// The provider.
        provider: &'static str,
        /// The system's reason.
        reason: String,
    },
    /// It did not answer in time.
    #[error("{provider} did not answer within {seconds} s")]
    Slow {
        /// The provider.
        provider: &'static str,
        /// The limit.
        seconds: u64,
    },
    /// It refused the key or the format.
    #[error("{provider} refused the request (HTTP {status})")]
    Refused {
        /// The provider.
        provider: &'static str,
        /// The status.
        status: u16,
    },
    /// Too many requests, or the plan is used up.
    #[error("{provider} allows no more requests now{}", wait(*.retry_after_seconds))]
    Limited {
        /// The provider.
        provider: &'static str,
        /// How long it asked to wait, when it said so.
        retry_after_seconds: Option<u64>,
    },
    /// It has a problem of its own.
    #[error("{provider} has a problem of its own (HTTP {status})")]
    Server {
        /// The provider.
        provider: &'static str,
        /// The status.
        status: u16,
    },
    /// The answer ended too early.
    #[error("the answer of {provider} was cut off")]
    Truncated {
        /// The provider.
        provider: &'static str,
    },
    /// The answer is nothing that a search brings.
    #[error("{provider} sent something that is not a list of results")]
    Format {
        /// The provider.
        provider: &'static str,
    },
    /// The folder or its index cannot be used.
    #[error("the documents cannot be searched: {0}")]
    Documents(String),
}

fn wait(seconds: Option<u64>) -> String {
    seconds.map_or_else(String::new, |seconds| format!("; it asks to wait {seconds} s"))
}

impl SearchError {
    /// True when the provider certainly did not count the search.
    pub fn is_free(&self) -> bool {
        matches!(self, Self::NotSetUp { .. } | Self::Refused { .. } | Self::Limited { .. } | Self::Server { .. })
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotSetUp { .. } => "set the key, or choose another search provider in the settings",
            Self::Refused { provider: "SearXNG", .. } => {
                "allow the format `json` in the instance's settings (search.formats)"
            }
            Self::Refused { .. } => "check the key",
            Self::Limited { .. } => "wait, or raise the plan",
            Self::Unreachable { .. } | Self::Slow { .. } => "check the address and the network",
            Self::Server { .. } | Self::Truncated { .. } | Self::Format { .. } => "try again later",
            Self::Documents(_) => "check the folder of documents and the index file in the settings",
        }
    }
}
