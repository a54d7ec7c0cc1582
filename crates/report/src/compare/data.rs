//! The comparison of two runs, ready to be shown or stored as JSON.
//!
//! Rates and differences are fractions, after minus before; times are milliseconds. Every interval
//! is at 95 % unless it says otherwise.

use serde::{Deserialize, Serialize};
use tenpass_trace::{FailureClass, FailureKind};

use crate::summary::{Observations, OtherCases, Rate};

/// The version of this format.
pub const COMPARISON_VERSION: u32 = 1;

/// What a case is there for, said before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Meant to improve.
    Target,
    /// Must stay good.
    Guard,
    /// Neither was said.
    #[default]
    Other,
}

impl Role {
    /// The stored and printed name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Guard => "guard",
            Self::Other => "other",
        }
    }
}

/// One thing that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What differs, as `--allow` calls it: `model`, `prompt`, …
    pub name: String,
    /// Its value before.
    pub before: String,
    /// Its value after.
    pub after: String,
}

/// Who is compared.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SideFacts {
    /// The run's id.
    pub run: String,
    /// The configuration's id.
    pub configuration: String,
    /// The model, as `backend:name`.
    pub model: String,
    /// When the run began, UTC.
    pub started: String,
    /// Sampling temperature; `None` is the backend's own choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The seed from which its passes derive theirs.
    pub seed: u64,
    /// Passes planned a case.
    pub passes_per_case: u32,
    /// Passes planned in all, with this configuration; 0 where that was left to what they would show.
    pub planned_passes: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands fields by reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// One side in numbers, over the cases that are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedSide {
    /// Who it is.
    #[serde(flatten)]
    pub facts: SideFacts,
    /// Success over all passes of the compared cases.
    pub rate: Rate,
    /// Passes that an infrastructure fault ended, or that did not fit the context: not scored.
    pub invalid: u64,
    /// Of these, passes that did not fit the context.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overflow: u64,
    /// Passes read, of all cases.
    pub passes: u64,
    /// Cases of this side that the other does not have, or that one of them did not score.
    pub left_out: u64,
    /// How its passes count as observations.
    pub observations: Observations,
}

/// The mean difference over some cases (question 1: did it change on THESE cases?).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Cases scored on both sides.
    pub cases: u64,
    /// Mean over cases of the rate before.
    pub before: f64,
    /// Mean over cases of the rate after.
    pub after: f64,
    /// After minus before.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Lower end of the 90 % interval, for the test of equivalence.
    pub low_90: f64,
    /// Upper end.
    pub high_90: f64,
    /// Exact stratified (Cochran-Mantel-Haenszel) p-value, two-sided.
    pub p: f64,
    /// Passes a case and side that count as evidence, the harmonic mean.
    pub passes: f64,
}

/// One case before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedCase {
    /// Case id.
    pub case: String,
    /// Its family.
    pub family: String,
    /// Its language.
    pub language: String,
    /// What it is there for.
    pub role: Role,
    /// Success before, with Wilson's interval.
    pub before: Rate,
    /// Success after.
    pub after: Rate,
    /// Passes before that were not scored.
    pub invalid_before: u64,
    /// Passes after that were not scored.
    pub invalid_after: u64,
    /// Rate after minus rate before.
    pub difference: f64,
    /// Boschloo's two-sided p-value.
    pub p: f64,
    /// The same after Benjamini and Hochberg's correction over the cases.
    pub p_adjusted: f64,
    /// Flagged as moved, at a false discovery rate of 10 %.
    pub moved: bool,
}

/// How often one thing went wrong, before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailureChange {
    /// What went wrong; `None` for failing passes without a class.
    pub class: Option<FailureClass>,
    /// Its kind.
    pub kind: Option<FailureKind>,
    /// Passes before in which it was the main failure.
    pub passes_before: u64,
    /// Passes after.
    pub passes_after: u64,
    /// The change of its rate among scored passes, mean over cases; negative is better.
    #[serde(flatten)]
    pub change: Change,
    /// `p` after Holm's correction over all classes that occurred.
    pub p_holm: f64,
    /// Shown to have moved, at 5 %.
    pub moved: bool,
}

/// A latency or a token count, before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasureChange {
    /// What was measured, with its unit: `first_token_ms`, `first_call_ms`, `total_ms`,
    /// `prompt_tokens`, `completion_tokens`. Latencies are those of warm passes.
    pub measure: String,
    /// Cases measured on both sides.
    pub cases: u64,
    /// Passes measured before.
    pub n_before: u64,
    /// Passes measured after.
    pub n_after: u64,
    /// Median before, over these cases.
    pub before: f64,
    /// Median after.
    pub after: f64,
    /// After minus before.
    pub difference: f64,
    /// Lower end of the 95 % bootstrap interval, clustered by case; `None` below two cases.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// False where the two were not measured under equal conditions: see the notes.
    pub comparable: bool,
}

/// Two runs, or two configurations of one, on the same cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunComparison {
    /// [`COMPARISON_VERSION`].
    pub version: u32,
    /// The bench both are runs of.
    pub bench: String,
    /// Before.
    pub before: ComparedSide,
    /// After.
    pub after: ComparedSide,
    /// Both sides come from one run: their passes were interleaved.
    pub measured_together: bool,
    /// `REAL`, `REGRESSED`, `NO CHANGE` or `INCONCLUSIVE`.
    pub verdict: String,
    /// The verdict is REGRESSED.
    pub regressed: bool,
    /// Why, the decisive reason first.
    pub reasons: Vec<String>,
    /// Passes a case and side that would settle it, when inconclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes_needed: Option<u64>,
    /// Of which are still to be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes_still: Option<u64>,
    /// The smallest difference that matters, δ.
    pub smallest_effect: f64,
    /// Targets were named: `delta` and `other_cases` are about them. Otherwise about all cases.
    pub targets_named: bool,
    /// Question 1: the change on these cases, which the verdict is about.
    pub delta: Change,
    /// Question 2: the same change for cases not written yet; `None` when these cannot tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cases: Option<OtherCases>,
    /// The change on all cases.
    pub all: Change,
    /// The change on the targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Change>,
    /// The change on the guards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guards: Option<Change>,
    /// Guard cases that fell from at least 8 of 10 to below.
    pub guards_failed: Vec<String>,
    /// Guard cases proven worse (Boschloo, Holm over the guards, 5 %).
    pub guards_worse: Vec<String>,
    /// Other cases proven worse (the same over those that are no guards), targets among them. They do not
    /// decide the verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases_worse: Vec<String>,
    /// What differs between the two: the variable under test. Empty for an A/A comparison.
    pub under_test: Vec<Difference>,
    /// What differs besides and was allowed, or follows from what is under test.
    pub allowed: Vec<Difference>,
    /// The cases, those that moved most first.
    pub cases: Vec<ComparedCase>,
    /// Failure classes that occurred, those that moved most surely first.
    pub failures: Vec<FailureChange>,
    /// Latencies and tokens.
    pub measures: Vec<MeasureChange>,
    /// What a reader must know before trusting the numbers.
    pub notes: Vec<String>,
}
