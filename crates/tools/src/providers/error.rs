//! Why a provider did not answer.

use super::Provider;
use crate::spend::SpendError;

/// A call without an answer. The messages are for the model: they repeat nothing that the server
/// said; [`ProviderError::detail`] does, for the user's log.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProviderError {
    /// There is no key.
    #[error("{provider} is not set up: the environment variable {variable} is missing")]
    NotSetUp {
        /// The provider.
        provider: Provider,
        /// Where its key is expected.
        variable: &'static str,
    },
    /// Its settings cannot be used.
    #[error("{provider} is not set up: {reason}")]
    Settings {
        /// The provider.
        provider: Provider,
        /// What is wrong with them.
        reason: String,
    },
    /// The budget has no room, or cannot be read.
    #[error("{}", spend.for_model(provider.as_str()))]
    Spend {
        /// The provider.
        provider: Provider,
        /// Why.
        spend: SpendError,
    },
    /// No connection.
    #[error("{provider} cannot be reached: {reason}")]
    Unreachable {
        /// The provider.
        provider: Provider,
        /// The system's reason.
        reason: String,
    },
    /// It refused the key.
    #[error("{provider} refused the key (HTTP {status})")]
    Key {
        /// The provider.
        provider: Provider,
        /// The status.
        status: u16,
        /// What it said.
        detail: String,
    },
    /// It refused the request.
    #[error("{provider} refused the request (HTTP {status})")]
    Refused {
        /// The provider.
        provider: Provider,
        /// The status.
        status: u16,
        /// What it said.
        detail: String,
    },
    /// Rate limited or overloaded, after the retries.
    #[error("{provider} is busy now (HTTP {status}); try again later or do it another way")]
    Busy {
        /// The provider.
        provider: Provider,
        /// 429, 529 or another 5xx.
        status: u16,
        /// What it said.
        detail: String,
    },
    /// The answer stopped before its end. What came of it is not an answer.
    #[error("{provider} stopped in the middle of its answer, which is lost")]
    Interrupted {
        /// The provider.
        provider: Provider,
        /// What it said, when it said something.
        detail: String,
    },
    /// It ended its answer without a word.
    #[error("{provider} gave an empty answer")]
    Empty {
        /// The provider.
        provider: Provider,
    },
    /// Too slow.
    #[error("{provider} did not answer within {seconds} s")]
    Slow {
        /// The provider.
        provider: Provider,
        /// The limit.
        seconds: u64,
    },
    /// It sent something else than its protocol.
    #[error("{provider} sent something that is not an answer")]
    Protocol {
        /// The provider.
        provider: Provider,
        /// What it sent.
        detail: String,
    },
    /// The turn was stopped.
    #[error("stopped before {provider} had answered")]
    Stopped {
        /// The provider.
        provider: Provider,
    },
}

impl ProviderError {
    /// What the server said, shortened, without the key. Untrusted.
    pub fn detail(&self) -> Option<&str> {
        match self {
            Self::Key { detail, .. }
            | Self::Refused { detail, .. }
            | Self::Busy { detail, .. }
            | Self::Interrupted { detail, .. }
            | Self::Protocol { detail, .. } => Some(detail).filter(|detail| !detail.is_empty()).map(String::as_str),
            _ => None,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotSetUp { .. } => "set the variable to the provider's API key",
            Self::Settings { .. } => "correct the provider's settings",
            Self::Spend { spend, .. } => spend.hint(),
            Self::Unreachable { .. } | Self::Slow { .. } => "check the network and the provider's address",
            Self::Key { .. } => "check the key and what it may be used for",
            Self::Refused { .. } => "check the model's name in the provider's settings",
            Self::Busy { .. } | Self::Interrupted { .. } => "try again later",
            Self::Empty { .. } => "raise the provider's token limit: reasoning may have used it up",
            Self::Protocol { .. } => "check that the address is that of the provider's API",
            Self::Stopped { .. } => "ask again",
        }
    }
}
