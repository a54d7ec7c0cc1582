//! The numbers of one run, ready to be shown: what every view is drawn from.
//!
//! Plain data, stored and exchanged as JSON. Rates are fractions, times milliseconds, counts of
//! tokens whole tokens. Each list that has one entry per configuration is in the order of
//! [`RunSummary::configurations`], whose first entry is the baseline of all comparisons.

use serde::{Deserialize, Serialize};
use tenpass_trace::{FailureClass, FailureKind};

/// The version of this format; a reader refuses a newer one.
pub const SUMMARY_VERSION: u32 = 1;

/// What is known about a run before its passes are read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunFacts {
    /// What was run, such as `bench tools`.
    pub title: String,
    /// The run's id, when it is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Passes planned per case and configuration.
    pub passes_per_case: u32,
    /// Passes planned in all, to tell an unfinished run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_passes: Option<u64>,
    /// Wall-clock time of the run, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_s: Option<f64>,
}

/// What distinguishes one configuration from another.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ConfigurationFacts {
    /// The name that its passes carry; unique within the run.
    pub label: String,
    /// The model, as `backend:name`.
    pub model: String,
    /// How calls are asked for: native, grammar, text.
    pub structure: String,
    /// Which tools are offered: all, router, relevance.
    pub tools: String,
    /// Sampling temperature; 0 repeats itself, `None` is the backend's own choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The size of the context, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
}

/// A success rate with its 95 % Wilson interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Passes that succeeded.
    pub passed: u64,
    /// Passes that were scored. INVALID ones are not.
    pub total: u64,
    /// The fraction; `None` when nothing was scored.
    pub rate: Option<f64>,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Observations behind the interval: fewer than `total` when a deterministic model repeats
    /// an output.
    pub effective_n: u64,
}

/// How the passes of a configuration count as observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observations {
    /// Every pass is a draw of its own.
    Independent,
    /// Temperature 0: an output that repeats is the same observation again.
    Deterministic,
    /// Sampling was asked for, yet every case repeated one output: treated as deterministic.
    Repeating,
}

/// A distribution in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// Values measured.
    pub n: u64,
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// Largest value, always exact.
    pub max: Option<f64>,
    /// Largest relative error of the percentiles: 0 while all values were kept.
    pub relative_error: f64,
}

/// Latencies since the request was sent, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Latency {
    /// To the first token.
    pub first_token_ms: Distribution,
    /// To the first complete call, of the passes that made one.
    pub first_call_ms: Distribution,
    /// To the end of the answer.
    pub total_ms: Distribution,
}

/// What was measured beside the success.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Measurements {
    /// Passes that found the model and the prompt in memory.
    pub warm: Latency,
    /// Passes that paid for loading the model or evaluating the shared prompt.
    pub cold: Latency,
    /// Tokens of the prompt.
    pub prompt_tokens: Distribution,
    /// Tokens of the answer.
    pub completion_tokens: Distribution,
}

/// One pass that shows a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// Case id.
    pub case: String,
    /// Number of the pass.
    pub pass: u32,
    /// The beginning of what the model said, or of the error.
    pub quote: String,
}

/// How often one thing went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCount {
    /// What went wrong.
    pub class: FailureClass,
    /// In how many passes; 0 is written too.
    pub passes: u64,
    /// The first case and pass it happened in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Example>,
}

/// The failures of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindCount {
    /// The kind.
    pub kind: FailureKind,
    /// Passes over all its classes.
    pub passes: u64,
    /// Every class of this kind.
    pub classes: Vec<ClassCount>,
}

/// One configuration over all cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationSummary {
    /// Who it is.
    #[serde(flatten)]
    pub facts: ConfigurationFacts,
    /// Success over all cases.
    pub rate: Rate,
    /// Passes that an infrastructure fault ended: not scored.
    pub invalid: u64,
    /// Scored passes whose call had to be recovered by the parser.
    pub recovered: u64,
    /// How its passes count as observations.
    pub observations: Observations,
    /// Different outputs, summed over cases, counted up to 256 a case.
    pub distinct_outputs: u64,
    /// Cases in which every scored pass succeeded.
    pub cases_always_passed: u64,
    /// Mean chance that three passes of a case all succeed (pass^3).
    pub pass_hat_3: Option<f64>,
    /// Failures by kind, every class of the enum included.
    pub failures: Vec<KindCount>,
    /// Failing passes without a class.
    pub unclassified: u64,
    /// Latencies and tokens.
    pub measured: Measurements,
    /// The largest prompt as a fraction of the context.
    pub prompt_share_of_context: Option<f64>,
}

/// One case under one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseCell {
    /// Success.
    pub rate: Rate,
    /// Passes not scored.
    pub invalid: u64,
    /// Scored passes whose call had to be recovered.
    pub recovered: u64,
    /// Different outputs, counted up to 256.
    pub distinct_outputs: u64,
    /// What went wrong, most frequent first; INVALID classes included.
    pub failures: Vec<CellFailure>,
    /// Latencies and tokens.
    pub measured: Measurements,
}

/// One failure class of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellFailure {
    /// What went wrong; `None` for a failing pass without a class.
    pub class: Option<FailureClass>,
    /// In how many passes.
    pub passes: u64,
}

/// One case under every configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseSummary {
    /// Case id.
    pub case: String,
    /// Scenario family.
    pub family: String,
    /// Language, `en` or `fr`.
    pub language: String,
    /// `target` or `guard`.
    pub kind: String,
    /// One cell per configuration.
    pub cells: Vec<CaseCell>,
}

/// The cases that share one property.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The property: `family`, `language` or `kind`.
    pub by: String,
    /// Its value.
    pub name: String,
    /// Cases in the group.
    pub cases: u64,
    /// Success per configuration.
    pub rates: Vec<Rate>,
}

/// The mean difference as an estimate for cases not written yet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OtherCases {
    /// Families the estimate rests on.
    pub families: u64,
    /// Standard error, clustered by family.
    pub standard_error: f64,
    /// Lower end of the 95 % t interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A case that moved between the baseline and another configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MovedCase {
    /// Case id.
    pub case: String,
    /// `target` or `guard`.
    pub kind: String,
    /// Under the baseline.
    pub before: Rate,
    /// Under the other configuration.
    pub after: Rate,
    /// Boschloo's two-sided p-value.
    pub p: f64,
    /// The same after Benjamini and Hochberg's correction over the cases.
    pub p_adjusted: f64,
}

/// One configuration against the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Label of the first configuration.
    pub baseline: String,
    /// Label of the one compared with it.
    pub configuration: String,
    /// Cases scored under both.
    pub cases: u64,
    /// Mean over cases of the rate minus the baseline's.
    pub delta: f64,
    /// Standard error of `delta`.
    pub standard_error: f64,
    /// Lower end of the 95 % interval of `delta` on these cases.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Exact stratified (Cochran-Mantel-Haenszel) p-value.
    pub p: f64,
    /// The same after Holm's correction over all comparisons of the run.
    pub p_holm: f64,
    /// The estimate for cases not written yet, when the families allow one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cases: Option<OtherCases>,
    /// `REAL`, `REGRESSED`, `NO CHANGE` or `INCONCLUSIVE`.
    pub verdict: String,
    /// Passes a case that would settle it, when inconclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes_needed: Option<u64>,
    /// Guard cases that fell from at least 8 of 10 to below.
    pub guards_failed: Vec<String>,
    /// Guard cases proven worse (Boschloo, Holm over the guards, 5 %).
    pub guards_worse: Vec<String>,
    /// Other cases proven worse (the same over those that are no guards). They do not decide the verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases_worse: Vec<String>,
    /// Cases flagged as moved, at a false discovery rate of 10 %.
    pub moved: Vec<MovedCase>,
}

/// Everything the views show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// [`SUMMARY_VERSION`].
    pub version: u32,
    /// The run.
    #[serde(flatten)]
    pub facts: RunFacts,
    /// Passes read, INVALID ones included.
    pub passes: u64,
    /// The configurations, the baseline first.
    pub configurations: Vec<ConfigurationSummary>,
    /// Every configuration but the first, against the first.
    pub comparisons: Vec<Comparison>,
    /// By family, language and kind, where there is more than one.
    pub groups: Vec<Group>,
    /// The cases, by family.
    pub cases: Vec<CaseSummary>,
    /// What a reader must know before trusting the numbers.
    pub notes: Vec<String>,
}
