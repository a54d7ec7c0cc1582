//! The nights of one bench as a control chart, and the noise that A/A runs show.

use tenpass_stats::{LaneyChart, Tally, laney};

use super::night::Night;

/// Rates of one bench with one model over the nights: night, successes and failures.
pub fn rates(nights: &[Night], bench: &str, model: Option<&str>) -> Vec<(String, Tally)> {
    let counted = nights.iter().filter_map(|night| {
        let result = night.result(bench, model)?;
        let tally = result.cases.iter().fold(Tally::default(), |sum, case| {
            sum.plus(Tally::new(case.passed, case.total - case.passed.min(case.total)))
        });
        (!tally.is_empty()).then(|| (night.id.clone(), tally))
    });
    counted.collect()
}

/// The p′ chart (Laney): limits that know how much nights differ beyond the binomial. `None` with
/// fewer than two nights.
pub fn chart(rates: &[(String, Tally)]) -> Option<LaneyChart> {
    let tallies: Vec<Tally> = rates.iter().map(|(_, tally)| *tally).collect();
    laney(&tallies)
}

/// What A/A runs say about the noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Nights with an A/A figure.
    pub nights: usize,
    /// Root mean square of the A/A differences, a fraction.
    pub measured: f64,
    /// The same as the spread of passes within cases predicts it.
    pub expected: f64,
}

impl Noise {
    /// Above 1: runs differ by more than their passes explain.
    pub fn ratio(&self) -> Option<f64> {
        (self.expected > 0.0).then(|| self.measured / self.expected)
    }
}

/// The noise from run to run, from every night's A/A figure. `None` without one.
pub fn noise(nights: &[Night], bench: &str, model: Option<&str>) -> Option<Noise> {
    let figures: Vec<_> = nights.iter().filter_map(|night| night.result(bench, model)?.again).collect();
    if figures.is_empty() {
        return None;
    }
    let mean_square = |of: &dyn Fn(usize) -> f64| {
        ((0..figures.len()).map(|place| of(place).powi(2)).sum::<f64>() / figures.len() as f64).sqrt()
    };
    Some(Noise {
        nights: figures.len(),
        measured: mean_square(&|place| figures[place].delta),
        expected: mean_square(&|place| figures[place].standard_error),
    })
}
