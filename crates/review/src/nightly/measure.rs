//! From a stored run of the night to what the night keeps of it.

use std::collections::HashMap;

use tenpass_bench::cases::{Case, digest};
use tenpass_bench::store::Run;
use tenpass_report::{Difference, RunComparison};
use tenpass_trace::Role;

use super::night::{BenchResult, CaseCount, Found, Repeatability};
use crate::{CompareOptions, ReviewError, Side, compare};

/// The configurations of a night's run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roles {
    /// The baseline, measured afresh, where one is blessed.
    pub baseline: Option<String>,
    /// What is in force.
    pub candidate: String,
    /// The same again, with other seeds.
    pub again: String,
}

impl Roles {
    /// Of a run whose configurations were asked for in this order: the baseline, when the run is
    /// measured against one, then the candidate twice. `None` when they are not there.
    pub fn of(run: &Run) -> Option<Self> {
        let manifest = run.manifest();
        let mut ids = manifest.configurations.iter().map(|configuration| configuration.id.clone());
        let baseline = if manifest.against.is_some() { Some(ids.next()?) } else { None };
        Some(Self { baseline, candidate: ids.next()?, again: ids.next()? })
    }
}

/// What one run of a night came to.
#[derive(Debug, Clone)]
pub struct Measured {
    /// What the night keeps.
    pub result: BenchResult,
    /// The comparison with the baseline, whole, for the page.
    pub comparison: Option<RunComparison>,
}

/// Counts every case, compares with the baseline, and takes the A/A figure.
pub fn measure(run: &Run, roles: &Roles, options: &CompareOptions) -> Result<Measured, ReviewError> {
    let side = |id| Side { run, configuration: Some(id) };
    let anything = CompareOptions { allow: vec!["all".to_owned()], ..CompareOptions::default() };
    let again = compare(side(&roles.candidate), side(&roles.again), &anything)?;
    let comparison = match &roles.baseline {
        Some(baseline) => Some(compare(side(baseline), side(&roles.candidate), options)?),
        None => None,
    };
    let digests: HashMap<String, String> =
        run.cases_of(&roles.candidate)?.into_iter().map(|case| (case.id.clone(), identity(case))).collect();
    let mut cases: Vec<CaseCount> = again
        .cases
        .iter()
        .map(|case| CaseCount {
            case: case.case.clone(),
            kind: case.role.as_str().to_owned(),
            digest: digests.get(&case.case).cloned().unwrap_or_default(),
            passed: case.before.passed as u32,
            total: case.before.total as u32,
            invalid: case.invalid_before as u32,
            effective: case.before.effective_n as u32,
        })
        .collect();
    cases.sort_by(|a, b| a.case.cmp(&b.case));
    let found = comparison.as_ref().map(|comparison| Found {
        baseline: baseline_run(run).unwrap_or_else(|| comparison.before.facts.run.clone()),
        verdict: comparison.verdict.clone(),
        regressed: comparison.regressed,
        delta: comparison.delta.estimate,
        low: comparison.delta.low,
        high: comparison.delta.high,
        passes_needed: comparison.passes_needed,
        worse: [comparison.guards_worse.clone(), comparison.cases_worse.clone()].concat(),
        under_test: comparison.under_test.iter().chain(&comparison.allowed).map(shown).collect(),
    });
    let result = BenchResult {
        run: Some(run.id().to_owned()),
        passed: cases.iter().map(|case| u64::from(case.passed)).sum(),
        total: cases.iter().map(|case| u64::from(case.total)).sum(),
        invalid: cases.iter().map(|case| u64::from(case.invalid)).sum(),
        cases,
        comparison: found,
        again: Some(Repeatability { delta: again.delta.estimate, standard_error: again.delta.standard_error }),
        gate_failed: None,
        notes: comparison.as_ref().map(|comparison| comparison.notes.clone()).unwrap_or_default(),
    };
    Ok(Measured { result, comparison })
}

/// What differs in the settings: its name with both values where they are short.
fn shown(difference: &Difference) -> String {
    const LONGEST: usize = 40;
    let Difference { name, before, after } = difference;
    let is_short = |value: &str| value.chars().count() <= LONGEST && !value.contains('\n');
    if is_short(before) && is_short(after) { format!("{name}: {before} → {after}") } else { name.clone() }
}

/// What is asked and expected, as a digest. The prompt and the tools are not part of it: they are what
/// nights are there to watch.
fn identity(mut case: Case) -> String {
    case.messages.retain(|message| message.role != Role::System);
    case.tools.clear();
    digest(&[case])
}

/// The run in which the baseline was blessed.
fn baseline_run(run: &Run) -> Option<String> {
    run.manifest().configurations.first()?.origin.as_ref().map(|origin| origin.run.clone())
}
