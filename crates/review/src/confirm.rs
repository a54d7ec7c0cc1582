//! The winner of a run, measured again with seeds it has not met.
//!
//! The best of several configurations was picked for its luck too: of eleven equal ones the best looks two
//! to four points too good. The number to report is that of the second measurement.

use tenpass_bench::store::{Run, Summary};

use crate::ReviewError;
use crate::find::configuration_named;

/// What is to be confirmed.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirmation {
    /// The configuration to confirm.
    pub winner: String,
    /// Its rate in the run that it won, mean over cases.
    pub first_rate: f64,
    /// The configuration it is measured beside.
    pub beside: String,
    /// Configurations of that run.
    pub configurations: usize,
}

/// What is to be confirmed of `run`: the configuration that was named, or the one with the highest rate, and
/// beside it the run's first one, or the best of the others when the first has won.
pub fn confirmation(run: &Run, named: Option<&str>) -> Result<Confirmation, ReviewError> {
    let rates = rates(&run.summary()?);
    let best = |but: Option<&str>| {
        let rivals = rates.iter().filter(|(id, _)| Some(id.as_str()) != but);
        // Of equal rates the first.
        rivals.rev().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(id, _)| id.clone())
    };
    let winner = match named {
        Some(named) => configuration_named(run, named)?,
        None => best(None).ok_or_else(|| nothing(run))?,
    };
    let first = run.manifest().configurations.first().map(|record| record.id.clone());
    let beside = match first {
        Some(first) if first != winner => Some(first),
        _ => best(Some(&winner)),
    };
    let first_rate = rates.iter().find(|(id, _)| *id == winner).map(|(_, rate)| *rate);
    let (Some(beside), Some(first_rate)) = (beside, first_rate) else { return Err(nothing(run)) };
    Ok(Confirmation { winner, first_rate, beside, configurations: rates.len() })
}

fn nothing(run: &Run) -> ReviewError {
    ReviewError::NothingToConfirm { run: run.id().to_owned() }
}

/// The mean over cases of every configuration that has a scored pass.
fn rates(summary: &Summary) -> Vec<(String, f64)> {
    let mean = |cells: &[tenpass_bench::store::Cell]| {
        let rates: Vec<f64> = cells
            .iter()
            .filter(|cell| cell.answers > 0)
            .map(|cell| cell.successes as f64 / cell.answers as f64)
            .collect();
        (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
    };
    let configurations = summary.configurations.iter();
    configurations.filter_map(|configuration| Some((configuration.id.clone(), mean(&configuration.cells)?))).collect()
}
