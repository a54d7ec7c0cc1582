//! How a cloud provider is reached.

use std::time::Duration;

use tenpass_model::ApiKey;

use super::{Price, Provider, price_of};

/// One cloud provider's settings.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// The model's name at the provider.
    pub model: String,
    /// The API's root: `https://api.anthropic.com`, `https://api.openai.com/v1`.
    pub base_url: String,
    /// Without one every call says which environment variable is missing.
    pub key: Option<ApiKey>,
    /// Most tokens of an answer.
    pub max_tokens: u32,
    /// Overrides [`price_of`]; needed for a model that it does not know.
    pub price: Option<Price>,
}

impl ProviderSettings {
    /// The defaults of `provider`.
    pub fn new(provider: Provider, key: Option<ApiKey>) -> Self {
        let (model, base_url) = match provider {
            Provider::Claude => ("claude-sonnet-5", "https://api.anthropic.com"),
            Provider::ChatGpt => ("gpt-5.4", "https://api.openai.com/v1"),
            Provider::DeepSeek | Provider::Local => ("deepseek-flash", "https://api.deepseek.com"),
        };
        Self { model: model.to_owned(), base_url: base_url.to_owned(), key, max_tokens: 4_096, price: None }
    }

    /// The price that is reckoned with.
    pub fn price(&self) -> Option<Price> {
        self.price.or_else(|| price_of(&self.model)).filter(Price::is_valid)
    }
}

/// How long is waited for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// For the next byte, the first one included.
    pub idle: Duration,
    /// For the whole answer, retries included.
    pub total: Duration,
    /// Before the first retry, when the server names no time; doubled for the second.
    pub first_wait: Duration,
    /// Longest wait that a server may ask for; a longer one ends the call.
    pub longest_wait: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            idle: Duration::from_mins(1),
            total: Duration::from_mins(4),
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(20),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_model_has_a_price_and_keys_do_not_show() {
        for provider in [Provider::Claude, Provider::ChatGpt, Provider::DeepSeek] {
            let settings = ProviderSettings::new(provider, Some("sk-very-secret".into()));
            assert!(settings.price().is_some(), "{provider}");
            assert!(!format!("{settings:?}").contains("very-secret"));
        }
        let unknown = ProviderSettings { model: "new".into(), ..ProviderSettings::new(Provider::Claude, None) };
        assert_eq!(unknown.price(), None);
        let free = Price { input: 0.0, output: 0.0 };
        assert_eq!(ProviderSettings { price: Some(free), ..unknown }.price(), Some(free));
    }
}
