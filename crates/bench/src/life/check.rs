//! Does it fail today? A case from life is one bad answer; most passes of it may be right. So it is
//! played before it is filed, as a run of its own that is kept like any other.
//!
//! That run selected the case, so it is never its "before": the provenance names it, and a comparison
//! measures the baseline afresh.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use tenpass_stats::{Tally, wilson};
use tokio_util::sync::CancellationToken;

use crate::cases::{Case, digest};
use crate::run::{Configuration, EventSink, RunError, RunOptions, RunOutcome, RunPlan, execute};
use crate::store::{RunState, open_run};

/// How often and with what a case is played.
#[derive(Clone)]
pub struct CheckPlan {
    /// The model with everything that decides how it is asked.
    pub configuration: Configuration,
    /// Passes.
    pub passes: u32,
    /// Seed of the run.
    pub seed: u64,
    /// How long one answer may take.
    pub timeout: Duration,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// The run.
    pub run: String,
    /// The model that was asked.
    pub model: String,
    /// Right answers.
    pub successes: u64,
    /// Answers that were judged.
    pub answers: u64,
    /// Passes without an answer to judge.
    pub invalid: u64,
    /// Passes that were asked for.
    pub passes: u32,
    /// Lower end of Wilson's interval of the rate, at 95 %.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// It was stopped before its end.
    pub is_interrupted: bool,
}

/// What a check says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailsToday {
    /// Some answer was wrong.
    Yes,
    /// Every answer was right.
    No,
    /// Nothing was measured.
    Unknown,
}

impl Checked {
    /// Whether the case fails today.
    pub fn fails_today(&self) -> FailsToday {
        match self.answers {
            0 => FailsToday::Unknown,
            answers if self.successes < answers => FailsToday::Yes,
            _ => FailsToday::No,
        }
    }

    /// The finding in words: "right in 3 of 10 passes (95 %: 0.11 to 0.60)".
    pub fn words(&self) -> String {
        let invalid = match self.invalid {
            0 => String::new(),
            invalid => format!(", {invalid} INVALID"),
        };
        format!(
            "right in {} of {} passes (95 %: {:.2} to {:.2}{invalid})",
            self.successes, self.answers, self.low, self.high
        )
    }

    /// For the case's provenance.
    pub fn provenance(&self) -> String {
        format!(
            "right in {} of {} passes of run {}, in which it was found and which is never its before",
            self.successes, self.answers, self.run
        )
    }
}

/// Plays the case and keeps the run in `store`.
pub async fn check(
    case: &Case,
    plan: CheckPlan,
    store: &Path,
    sink: &dyn EventSink,
    cancel: CancellationToken,
) -> Result<(Checked, RunOutcome), RunError> {
    let cases = vec![case.clone()];
    let suite = digest(&cases);
    let (passes, model) = (plan.passes, plan.configuration.id.clone());
    let run_plan = RunPlan {
        passes,
        seed: plan.seed,
        timeout: plan.timeout,
        ..RunPlan::new(cases, suite, vec![plan.configuration])
    };
    let outcome = execute(run_plan, RunOptions::new(store), sink, cancel).await?;
    let summary = open_run(store, &outcome.run)?.summary()?;
    let cell = summary.configurations.first().and_then(|found| found.cells.first()).cloned().unwrap_or_default();
    let tally = Tally::new(cell.successes as u32, cell.answers.saturating_sub(cell.successes) as u32);
    let interval = wilson(tally, 0.95);
    let checked = Checked {
        run: outcome.run.clone(),
        model,
        successes: cell.successes,
        answers: cell.answers,
        invalid: cell.invalid,
        passes,
        low: interval.low,
        high: interval.high,
        is_interrupted: outcome.state == RunState::Interrupted,
    };
    Ok((checked, outcome))
}
