//! Delegation (K70 to K73): cloud models and the local writer behind one closed enum.
//!
//! - [`DelegateToProvider`] is the tool. The model gives a provider and a task; the application
//!   builds the message ([`message`]) from the last exchanges, the user's request and the task.
//! - [`Providers`] is the way to all of them: it looks for the same call's answer, reserves the
//!   worst case ([`crate::spend`]), asks, settles, stores. Two identical calls at the same time are
//!   one call.
//! - The clients speak the providers' public wire formats over server-sent events: Anthropic
//!   Messages, OpenAI chat completions, DeepSeek (OpenAI's shape). An answer that was cut by the
//!   connection is an error and is not kept.
//! - Answers are outside text: untrusted.

mod answer;
mod anthropic;
mod ask;
mod client;
mod database;
mod error;
mod escalation;
pub mod message;
mod openai;
mod price;
mod provider;
mod retry;
mod settings;
mod store;
#[cfg(test)]
mod tests;
mod tool;
mod writer;

pub use answer::{Answered, TokenUsage};
pub use ask::{Providers, Question};
pub use database::DatabaseStore;
pub use error::ProviderError;
pub use escalation::CloudEscalation;
pub use price::{PRICES_DATE, Price, price_of};
pub use provider::Provider;
pub use settings::{ProviderSettings, Timing};
pub use store::{MemoryStore, ProviderStore, StoredAnswer};
pub use tool::{DelegateToProvider, MAX_ANSWER_CHARACTERS};
