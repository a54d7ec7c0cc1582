//! A run in numbers: counts a case and configuration, latencies and tokens a configuration.

use std::collections::BTreeMap;

use tenpass_trace::FailureClass;

use crate::store::{Index, PassFilter, PassRow, StoreError};

/// A run in numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// One for each configuration, in the manifest's order.
    pub configurations: Vec<ConfigurationSummary>,
    /// Attempts that failed and were repeated.
    pub repeated_attempts: u64,
}

/// One configuration in numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConfigurationSummary {
    /// Its id.
    pub id: String,
    /// One for each case, in the run's order; cases without a pass included.
    pub cells: Vec<Cell>,
    /// First token, passes that began cold.
    pub first_token_cold_ms: Quantiles,
    /// First token, all others.
    pub first_token_warm_ms: Quantiles,
    /// First call, passes that began cold.
    pub first_call_cold_ms: Quantiles,
    /// First call, all others.
    pub first_call_warm_ms: Quantiles,
    /// End, passes that began cold.
    pub total_cold_ms: Quantiles,
    /// End, all others.
    pub total_warm_ms: Quantiles,
    /// Tokens of the prompt.
    pub prompt_tokens: Quantiles,
    /// Tokens of the answer.
    pub completion_tokens: Quantiles,
}

/// The passes of one case with one configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// The case's id.
    pub case: String,
    /// Right answers.
    pub successes: u64,
    /// Answers that were judged (INVALID not among them).
    pub answers: u64,
    /// Passes without an answer to judge.
    pub invalid: u64,
    /// Answers with a recovered call.
    pub recovered: u64,
    /// Distinct outputs among the answers: how many observations they are at most.
    pub distinct_outputs: u64,
    /// Passes by main failure class, INVALID classes included.
    pub classes: BTreeMap<FailureClass, u64>,
}

/// Quantiles of a sample, by linear interpolation between order statistics.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Quantiles {
    /// Size of the sample. All else is 0 when it is empty.
    pub count: u64,
    /// Median.
    pub p50: f64,
    /// Nine tenths are at most this.
    pub p90: f64,
    /// Largest.
    pub max: f64,
}

impl Quantiles {
    fn of(mut sample: Vec<f64>) -> Self {
        sample.sort_unstable_by(f64::total_cmp);
        let Some(last) = sample.last().copied() else { return Self::default() };
        let at = |share: f64| {
            let place = share * (sample.len() - 1) as f64;
            let below = sample[place.floor() as usize];
            below + (sample[place.ceil() as usize] - below) * place.fract()
        };
        Self { count: sample.len() as u64, p50: at(0.5), p90: at(0.9), max: last }
    }
}

/// Numbers of one configuration while they are gathered.
#[derive(Default)]
struct Samples {
    first_token: [Vec<f64>; 2],
    first_call: [Vec<f64>; 2],
    total: [Vec<f64>; 2],
    prompt_tokens: Vec<f64>,
    completion_tokens: Vec<f64>,
}

impl Summary {
    /// Of all passes of the run that `index` was opened for.
    pub fn of(index: &Index) -> Result<Self, StoreError> {
        let empty = Cell::default();
        let cells: Vec<Cell> = index.cases().iter().map(|case| Cell { case: case.clone(), ..empty.clone() }).collect();
        let mut found: Vec<(Vec<Cell>, Samples)> =
            index.configurations().iter().map(|_| (cells.clone(), Samples::default())).collect();
        // Rows come cell by cell: one set of outputs at a time is enough.
        let mut current = (usize::MAX, usize::MAX);
        let mut outputs = std::collections::HashSet::new();
        index.rows(&PassFilter::default(), |row| {
            let Some((cells, samples)) = found.get_mut(row.configuration) else { return };
            let Some(cell) = cells.get_mut(row.case) else { return };
            if current != (row.configuration, row.case) {
                current = (row.configuration, row.case);
                outputs.clear();
            }
            count(cell, row);
            if row.success.is_some() {
                cell.distinct_outputs += u64::from(outputs.insert(row.output));
                gather(samples, row);
            }
        })?;
        let configurations = found
            .into_iter()
            .zip(index.configurations())
            .map(|((cells, samples), id)| summarise(id.clone(), cells, samples))
            .collect();
        Ok(Self { configurations, repeated_attempts: index.repeated_attempts()? })
    }
}

fn count(cell: &mut Cell, row: &PassRow) {
    match row.success {
        Some(success) => {
            cell.answers += 1;
            cell.successes += u64::from(success);
            cell.recovered += u64::from(row.recovered);
        }
        None => cell.invalid += 1,
    }
    if let Some(class) = row.class {
        *cell.classes.entry(class).or_insert(0) += 1;
    }
}

fn gather(samples: &mut Samples, row: &PassRow) {
    let side = usize::from(!row.cold);
    samples.first_token[side].extend(row.first_token_ms);
    samples.first_call[side].extend(row.first_call_ms);
    samples.total[side].push(row.total_ms);
    samples.prompt_tokens.extend(row.prompt_tokens.map(|count| count as f64));
    samples.completion_tokens.extend(row.completion_tokens.map(|count| count as f64));
}

fn summarise(id: String, cells: Vec<Cell>, samples: Samples) -> ConfigurationSummary {
    let [first_token_cold, first_token_warm] = samples.first_token.map(Quantiles::of);
    let [first_call_cold, first_call_warm] = samples.first_call.map(Quantiles::of);
    let [total_cold, total_warm] = samples.total.map(Quantiles::of);
    ConfigurationSummary {
        id,
        cells,
        first_token_cold_ms: first_token_cold,
        first_token_warm_ms: first_token_warm,
        first_call_cold_ms: first_call_cold,
        first_call_warm_ms: first_call_warm,
        total_cold_ms: total_cold,
        total_warm_ms: total_warm,
        prompt_tokens: Quantiles::of(samples.prompt_tokens),
        completion_tokens: Quantiles::of(samples.completion_tokens),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_numpy() {
        // numpy.quantile([3, 1, 4, 1, 5, 9, 2, 6], [0.5, 0.9]) = [3.5, 6.9]
        let found = Quantiles::of(vec![3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]);
        assert_eq!((found.count, found.p50, found.max), (8, 3.5, 9.0));
        assert!((found.p90 - 6.9).abs() < 1e-12, "{found:?}");
        assert_eq!(Quantiles::of(vec![7.0]), Quantiles { count: 1, p50: 7.0, p90: 7.0, max: 7.0 });
        assert_eq!(Quantiles::of(Vec::new()), Quantiles::default());
    }
}
