//! What one configuration did on one case, gathered pass by pass in bounded memory.

use std::collections::BTreeMap;

use tenpass_stats::{QUANTILE_RELATIVE_ERROR, Quantiles, Sampling, Tally, effective, wilson_rate};
use tenpass_trace::FailureClass;

use crate::summarise::PassView;
use crate::summary::{CaseCell, CellFailure, Distribution, Latency, Measurements, Rate};

/// Different outputs are told apart up to this many per case; a deterministic model has few.
pub(crate) const MOST_OUTPUTS: usize = 256;

/// Latencies and tokens.
#[derive(Debug, Default)]
pub(crate) struct Measuring {
    /// First token, first call, end; warm.
    warm: [Quantiles; 3],
    cold: [Quantiles; 3],
    prompt_tokens: Quantiles,
    completion_tokens: Quantiles,
}

impl Measuring {
    pub(crate) fn add(&mut self, pass: &PassView<'_>) {
        let latency = if pass.cold { &mut self.cold } else { &mut self.warm };
        for (quantiles, value) in latency.iter_mut().zip([pass.first_token_ms, pass.first_call_ms, pass.total_ms]) {
            if let Some(value) = value {
                quantiles.add(value);
            }
        }
        for (quantiles, tokens) in
            [(&mut self.prompt_tokens, pass.prompt_tokens), (&mut self.completion_tokens, pass.completion_tokens)]
        {
            if let Some(tokens) = tokens {
                quantiles.add(tokens as f64);
            }
        }
    }

    pub(crate) fn finish(&self) -> Measurements {
        let latency = |[first_token, first_call, total]: &[Quantiles; 3]| Latency {
            first_token_ms: distribution(first_token),
            first_call_ms: distribution(first_call),
            total_ms: distribution(total),
        };
        Measurements {
            warm: latency(&self.warm),
            cold: latency(&self.cold),
            prompt_tokens: distribution(&self.prompt_tokens),
            completion_tokens: distribution(&self.completion_tokens),
        }
    }
}

fn distribution(values: &Quantiles) -> Distribution {
    let [p50, p90] = values.quantiles([0.5, 0.9]);
    Distribution {
        n: values.count(),
        p50,
        p90,
        max: values.maximum(),
        relative_error: if values.is_exact() { 0.0 } else { QUANTILE_RELATIVE_ERROR },
    }
}

/// The different outputs of one cell and whether each succeeded, sorted by digest.
#[derive(Debug, Default)]
struct Outputs(Vec<(u64, bool)>);

impl Outputs {
    fn add(&mut self, digest: u64, success: bool) {
        match self.0.binary_search_by_key(&digest, |output| output.0) {
            // One output has one grade; should two disagree, the failure stands.
            Ok(found) => self.0[found].1 &= success,
            Err(place) if self.0.len() < MOST_OUTPUTS => self.0.insert(place, (digest, success)),
            Err(_) => {}
        }
    }

    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for (_, success) in &self.0 {
            tally.record(*success);
        }
        tally
    }
}

/// One case under one configuration.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    pub(crate) scored: Tally,
    pub(crate) invalid: u64,
    pub(crate) recovered: u64,
    /// Failures by class; the key `None` is a failing pass without a class.
    pub(crate) failures: BTreeMap<Option<FailureClass>, u64>,
    outputs: Outputs,
    measured: Measuring,
}

impl Cell {
    pub(crate) fn add(&mut self, pass: &PassView<'_>) {
        let Some(success) = pass.scored() else {
            self.invalid += 1;
            if pass.class.is_some_and(FailureClass::is_invalid) {
                *self.failures.entry(pass.class).or_default() += 1;
            }
            return;
        };
        self.scored.record(success);
        self.recovered += u64::from(pass.recovered);
        self.outputs.add(pass.output_digest, success);
        self.measured.add(pass);
        if !success {
            *self.failures.entry(pass.class).or_default() += 1;
        }
    }

    pub(crate) fn distinct(&self) -> u64 {
        self.outputs.0.len() as u64
    }

    /// The tally that counts as evidence.
    pub(crate) fn evidence(&self, sampling: Sampling) -> Tally {
        // At the limit the outputs vary so much that the model is not deterministic.
        let sampling = if self.outputs.0.len() < MOST_OUTPUTS { sampling } else { Sampling::Independent };
        effective(self.scored, self.outputs.tally(), sampling)
    }

    pub(crate) fn finish(&self, sampling: Sampling) -> CaseCell {
        let mut failures: Vec<CellFailure> =
            self.failures.iter().map(|(&class, &passes)| CellFailure { class, passes }).collect();
        failures.sort_by_key(|failure| (std::cmp::Reverse(failure.passes), failure.class));
        CaseCell {
            rate: rate(self.scored, u64::from(self.evidence(sampling).total())),
            invalid: self.invalid,
            recovered: self.recovered,
            distinct_outputs: self.distinct(),
            failures,
            measured: self.measured.finish(),
        }
    }
}

/// The rate of `scored`, with the interval that `effective_n` observations allow.
pub(crate) fn rate(scored: Tally, effective_n: u64) -> Rate {
    let interval = wilson_rate(scored.rate().unwrap_or(f64::NAN), effective_n as f64, 0.95);
    Rate {
        passed: u64::from(scored.passed()),
        total: u64::from(scored.total()),
        rate: scored.rate(),
        low: interval.low,
        high: interval.high,
        effective_n,
    }
}
