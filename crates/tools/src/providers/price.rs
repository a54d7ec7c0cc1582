//! What a token costs. A table in code with its date; settings override it.

/// When the table was last compared with what the providers publish.
pub const PRICES_DATE: &str = "2026-11-30";

/// US dollars per million tokens, which is millionths of a dollar per token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Of the prompt, uncached.
    pub input: f64,
    /// Of the answer, reasoning included.
    pub output: f64,
}

/// The dearest published price of each model: peak hours, no cache.
const PRICES: &[(&str, Price)] = &[
    ("claude-haiku-4-5", Price { input: 1.0, output: 5.0 }),
    ("claude-opus-4-1", Price { input: 15.0, output: 75.0 }),
    ("claude-opus-4-5", Price { input: 5.0, output: 25.0 }),
    ("claude-opus-5", Price { input: 5.0, output: 25.0 }),
    ("claude-sonnet-4-5", Price { input: 3.0, output: 15.0 }),
    ("claude-sonnet-4-6", Price { input: 3.0, output: 15.0 }),
    ("claude-sonnet-5", Price { input: 2.0, output: 10.0 }),
    ("deepseek-flash", Price { input: 0.30, output: 1.20 }),
    ("deepseek-v4-flash", Price { input: 0.30, output: 1.20 }),
    ("deepseek-v4-pro", Price { input: 1.32, output: 3.96 }),
    ("gpt-4.1", Price { input: 2.0, output: 8.0 }),
    ("gpt-4o", Price { input: 2.5, output: 10.0 }),
    ("gpt-4o-mini", Price { input: 0.15, output: 0.60 }),
    ("gpt-5", Price { input: 1.25, output: 10.0 }),
    ("gpt-5-mini", Price { input: 0.25, output: 2.0 }),
    ("gpt-5.4", Price { input: 2.5, output: 15.0 }),
    ("gpt-5.4-mini", Price { input: 0.75, output: 4.5 }),
];

/// The price of a model, by its exact name or with a date at its end. A name that only resembles a
/// known one has no price: it may cost anything.
pub fn price_of(model: &str) -> Option<Price> {
    let is_date = |rest: &str| {
        rest.strip_prefix('-').is_some_and(|date| {
            matches!(date.len(), 8 | 10) && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
        })
    };
    let known =
        PRICES.iter().find(|(name, _)| model.strip_prefix(name).is_some_and(|rest| rest.is_empty() || is_date(rest)));
    known.map(|(_, price)| *price)
}

impl Price {
    /// True for a price that can be counted with.
    pub fn is_valid(&self) -> bool {
        [self.input, self.output].iter().all(|price| (0.0..1e6).contains(price))
    }

    /// The cost in millionths of a dollar, rounded up.
    pub fn micros(&self, input_tokens: u64, output_tokens: u64) -> u64 {
        (input_tokens as f64 * self.input + output_tokens as f64 * self.output).ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_names_and_dated_names_have_prices_and_lookalikes_have_none() {
        assert_eq!(price_of("claude-sonnet-4-5"), Some(Price { input: 3.0, output: 15.0 }));
        assert_eq!(price_of("claude-sonnet-4-5-20250929"), price_of("claude-sonnet-4-5"));
        assert_eq!(price_of("gpt-4o-2024-08-06"), price_of("gpt-4o"));
        for unknown in ["gpt-5.5", "gpt-5-pro", "claude-sonnet-5-5", "claude-opus-5-5", "gpt-4o-audio", "", "-20250929"]
        {
            assert_eq!(price_of(unknown), None, "{unknown}");
        }
        assert!(PRICES.iter().all(|(_, price)| price.is_valid() && price.output >= price.input));
    }

    #[test]
    fn a_cost_is_rounded_up() {
        let price = Price { input: 3.0, output: 15.0 };
        assert_eq!(price.micros(1_500, 500), 12_000, "$0.012");
        assert_eq!(Price { input: 0.3, output: 1.2 }.micros(1, 1), 2);
        assert_eq!(price.micros(0, 0), 0);
        assert!(!Price { input: f64::NAN, output: 1.0 }.is_valid() && !Price { input: -1.0, output: 1.0 }.is_valid());
    }
}
