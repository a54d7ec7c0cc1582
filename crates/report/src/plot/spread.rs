//! The distributions behind the plots, gathered pass by pass in memory that does not grow.

use tenpass_stats::Quantiles;

use crate::summarise::PassView;

/// Quantiles kept of each distribution: every percentile.
const STEPS: usize = 101;

/// What is measured of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    FirstToken,
    FirstCall,
    End,
    PromptTokens,
    AnswerTokens,
}

/// One distribution by its percentiles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Percentiles {
    values: [f64; STEPS],
    pub(crate) count: u64,
}

impl Percentiles {
    fn of(quantiles: &Quantiles) -> Option<Self> {
        let steps: [f64; STEPS] = std::array::from_fn(|i| i as f64 / (STEPS - 1) as f64);
        let found = quantiles.quantiles(steps);
        found
            .iter()
            .all(Option::is_some)
            .then(|| Self { values: found.map(Option::unwrap_or_default), count: quantiles.count() })
    }

    /// The value below which this many of a hundred lie.
    pub(crate) fn at(&self, percent: usize) -> f64 {
        self.values[percent.min(STEPS - 1)]
    }

    /// The steps of the cumulative distribution: value, share of the passes.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (f64, f64)> {
        self.values.iter().enumerate().map(|(i, value)| (*value, i as f64 / (STEPS - 1) as f64))
    }
}

/// The distributions of one column of the page, each `None` where nothing was measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ColumnSpread {
    warm: [Option<Percentiles>; 3],
    cold: [Option<Percentiles>; 3],
    tokens: [Option<Percentiles>; 2],
}

impl ColumnSpread {
    /// Of passes that found the model ready, or not (`cold`); tokens do not depend on it.
    pub(crate) fn of(&self, measure: Measure, cold: bool) -> Option<&Percentiles> {
        let times = if cold { &self.cold } else { &self.warm };
        match measure {
            Measure::FirstToken => times[0].as_ref(),
            Measure::FirstCall => times[1].as_ref(),
            Measure::End => times[2].as_ref(),
            Measure::PromptTokens => self.tokens[0].as_ref(),
            Measure::AnswerTokens => self.tokens[1].as_ref(),
        }
    }
}

#[derive(Debug, Default)]
struct Gathering {
    warm: [Quantiles; 3],
    cold: [Quantiles; 3],
    tokens: [Quantiles; 2],
}

/// Latencies and tokens of every configuration, for the plots. INVALID passes do not count.
#[derive(Debug, Default)]
pub struct Spreads(Vec<Gathering>);

impl Spreads {
    /// Nothing gathered yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a pass of the configuration at this position.
    pub fn add(&mut self, configuration: usize, pass: &PassView<'_>) {
        if pass.scored().is_none() {
            return;
        }
        if self.0.len() <= configuration {
            self.0.resize_with(configuration + 1, Gathering::default);
        }
        let gathering = &mut self.0[configuration];
        let times = if pass.cold { &mut gathering.cold } else { &mut gathering.warm };
        for (quantiles, value) in times.iter_mut().zip([pass.first_token_ms, pass.first_call_ms, pass.total_ms]) {
            if let Some(value) = value {
                quantiles.add(value);
            }
        }
        for (quantiles, tokens) in gathering.tokens.iter_mut().zip([pass.prompt_tokens, pass.completion_tokens]) {
            if let Some(tokens) = tokens {
                quantiles.add(tokens as f64);
            }
        }
    }

    /// The distributions of this many configurations.
    pub(crate) fn columns(&self, count: usize) -> Vec<ColumnSpread> {
        let column = |gathering: &Gathering| ColumnSpread {
            warm: gathering.warm.each_ref().map(Percentiles::of),
            cold: gathering.cold.each_ref().map(Percentiles::of),
            tokens: gathering.tokens.each_ref().map(Percentiles::of),
        };
        (0..count).map(|i| self.0.get(i).map(column).unwrap_or_default()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_and_cold_stay_apart_and_invalid_passes_do_not_count() {
        let mut spreads = Spreads::new();
        let pass = |success, cold, ms| PassView { success, cold, total_ms: Some(ms), ..PassView::default() };
        for i in 0..=100 {
            spreads.add(1, &pass(Some(true), false, f64::from(i)));
        }
        spreads.add(1, &pass(Some(false), true, 5000.0));
        spreads.add(1, &pass(None, false, 1e9));
        let columns = spreads.columns(2);
        assert_eq!(columns[0], ColumnSpread::default());
        let warm = columns[1].of(Measure::End, false).unwrap();
        assert_eq!((warm.count, warm.at(50), warm.at(100)), (101, 50.0, 100.0));
        assert!((columns[1].of(Measure::End, true).unwrap().at(50) - 5000.0).abs() < 1e-9);
        assert_eq!(columns[1].of(Measure::FirstToken, false), None);
    }
}
