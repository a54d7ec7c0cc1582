//! One night as data.

use serde::{Deserialize, Serialize};
use tenpass_stats::Tally;

/// Version of `night.json`; a reader refuses a newer one.
pub const NIGHT_VERSION: u32 = 1;

/// What a night is to do. Two nights with equal plans measure the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The profile of the settings, if one was chosen.
    #[serde(default)]
    pub profile: Option<String>,
    /// Passes a case and configuration.
    pub passes: u32,
    /// Only cases whose id contains one of these.
    #[serde(default)]
    pub filter: Vec<String>,
    /// The smallest difference that matters, in millionths.
    pub delta_micros: u64,
    /// Bench and model of every step, in order; a bench without a model has none.
    pub steps: Vec<(String, Option<String>)>,
}

impl Plan {
    /// The smallest difference that matters.
    pub fn delta(&self) -> f64 {
        self.delta_micros as f64 / 1e6
    }
}

/// How far a night is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NightState {
    /// Being worked on, or its process was killed.
    Running,
    /// Every step has ended, in one way or another.
    Done,
}

/// How far a step is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum StepState {
    /// Not begun.
    Waiting,
    /// Begun; the run can be gone on with.
    Running {
        /// The run, once it has a name.
        run: Option<String>,
    },
    /// It was measured.
    Done {
        /// What was found.
        result: Box<BenchResult>,
    },
    /// It could not be measured.
    Failed {
        /// Why, one line.
        error: String,
        /// What to do about it.
        hint: String,
        /// The run, if there is one.
        #[serde(default)]
        run: Option<String>,
    },
}

/// One bench with one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The bench.
    pub bench: String,
    /// The model SPEC; `None` for a bench without one.
    #[serde(default)]
    pub model: Option<String>,
    /// How far it is.
    #[serde(flatten)]
    pub state: StepState,
}

impl Step {
    /// Its name in texts: `tools · embedded:smollm2-135m`.
    pub fn name(&self) -> String {
        match &self.model {
            Some(model) => format!("{} · {model}", self.bench),
            None => self.bench.clone(),
        }
    }

    /// What was found, when it was measured.
    pub fn result(&self) -> Option<&BenchResult> {
        match &self.state {
            StepState::Done { result } => Some(result),
            _ => None,
        }
    }
}

/// Counts of one case under the night's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseCount {
    /// The case's id.
    pub case: String,
    /// `target` or `guard`.
    pub kind: String,
    /// What it was asked and had to do, as a digest: a changed case begins a new history.
    pub digest: String,
    /// Passes that succeeded.
    pub passed: u32,
    /// Passes that were scored.
    pub total: u32,
    /// Passes that were not.
    #[serde(default)]
    pub invalid: u32,
    /// Observations behind `total`: fewer where outputs repeat.
    pub effective: u32,
}

impl CaseCount {
    /// Successes out of observations: repeated outputs count once.
    pub fn tally(&self) -> Tally {
        let effective = self.effective.min(self.total);
        let share = if self.total == 0 { 0.0 } else { f64::from(self.passed) / f64::from(self.total) };
        let passed = (share * f64::from(effective)).round() as u32;
        Tally::new(passed, effective - passed)
    }
}

/// The comparison with the baseline, as far as the summary needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The run the baseline was blessed in.
    pub baseline: String,
    /// `REAL`, `NO CHANGE`, `REGRESSED` or `INCONCLUSIVE`.
    pub verdict: String,
    /// Whether something is worse.
    pub regressed: bool,
    /// Mean difference over the cases, a fraction.
    pub delta: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Passes a case that would settle it, when inconclusive.
    #[serde(default)]
    pub passes_needed: Option<u64>,
    /// Cases proven worse, guards first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worse: Vec<String>,
    /// Settings that are not those of the baseline: `prompt`, `sampling`, …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub under_test: Vec<String>,
}

/// The same configuration twice with other seeds: what no change looks like.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Repeatability {
    /// Second minus first, a fraction.
    pub delta: f64,
    /// Its standard error, from the spread of passes within each case.
    pub standard_error: f64,
}

/// What one bench found with one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchResult {
    /// The run; `None` for a bench that makes none.
    #[serde(default)]
    pub run: Option<String>,
    /// Passes that succeeded.
    pub passed: u64,
    /// Passes that were scored.
    pub total: u64,
    /// Passes that were not.
    pub invalid: u64,
    /// Every case.
    pub cases: Vec<CaseCount>,
    /// The comparison with the baseline, when one is blessed.
    #[serde(default)]
    pub comparison: Option<Found>,
    /// The A/A figure.
    #[serde(default)]
    pub again: Option<Repeatability>,
    /// Whether a gate of the bench itself failed, with the reason.
    #[serde(default)]
    pub gate_failed: Option<String>,
    /// Remarks for the summary.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl BenchResult {
    /// Whether this is a reason to end with exit code 1.
    pub fn is_bad(&self) -> bool {
        self.gate_failed.is_some() || self.comparison.as_ref().is_some_and(|found| found.regressed)
    }
}

/// One night.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Night {
    /// [`NIGHT_VERSION`].
    pub version: u32,
    /// The date it began on, with a number where a day has several: `2026-11-30`, `2026-11-30-2`.
    pub id: String,
    /// Version of the program.
    pub program: String,
    /// When it began, UTC.
    pub started: String,
    /// When it ended, UTC.
    #[serde(default)]
    pub finished: Option<String>,
    /// How often it was gone on with.
    #[serde(default)]
    pub resumed: u32,
    /// How far it is.
    pub state: NightState,
    /// What it is to do.
    pub plan: Plan,
    /// Seed of its runs.
    pub seed: u64,
    /// The steps, in the plan's order.
    pub steps: Vec<Step>,
}

impl Night {
    /// A night that has not begun anything.
    pub fn new(id: String, plan: Plan, seed: u64, started: String) -> Self {
        let steps = plan.steps.iter().map(|(bench, model)| Step {
            bench: bench.clone(),
            model: model.clone(),
            state: StepState::Waiting,
        });
        Self {
            version: NIGHT_VERSION,
            id,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            started,
            finished: None,
            resumed: 0,
            state: NightState::Running,
            steps: steps.collect(),
            plan,
            seed,
        }
    }

    /// The result of this bench with this model.
    pub fn result(&self, bench: &str, model: Option<&str>) -> Option<&BenchResult> {
        let same = |step: &&Step| step.bench == bench && step.model.as_deref() == model;
        self.steps.iter().find(same).and_then(Step::result)
    }

    /// Whether something regressed or a gate failed.
    pub fn is_bad(&self) -> bool {
        self.steps.iter().filter_map(Step::result).any(BenchResult::is_bad)
    }

    /// Whether something could not be measured.
    pub fn is_incomplete(&self) -> bool {
        self.steps.iter().any(|step| !matches!(step.state, StepState::Done { .. }))
    }
}
