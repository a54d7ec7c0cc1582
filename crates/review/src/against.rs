//! Candidates beside a baseline that was measured afresh: whether they may be compared, before the run,
//! and what came of it, after.

use tenpass_bench::cases::Case;
use tenpass_bench::run::{Configuration, RunPlan};
use tenpass_bench::store::{Against, Comparing, EarlyStop, LEVEL_DURING, LEVEL_END, Manifest, Run};
use tenpass_report::{Role, RunComparison};
use tenpass_stats::{SMALLEST_EFFECT, holm};

use crate::ReviewError;
use crate::compare::{CompareOptions, Side, compare};
use crate::compare_roles::roles;
use crate::compare_told::{level_at_the_end, shared_cache};
use crate::differences::{Measured, sort};
use crate::differences_cases::asked;

/// Refuses a plan whose comparison would be refused after the run: more than the variable under test
/// differs between the first configuration and another. A plan without a comparison is fine.
pub fn check_plan(plan: &RunPlan) -> Result<(), ReviewError> {
    let (Some(against), Some((before, candidates))) = (&plan.against, plan.configurations.split_first()) else {
        return Ok(());
    };
    // Names and patterns that are none are said before anything is measured, too.
    roles(plan.cases.iter().map(|case| (case.id.as_str(), case.kind)), &told(&against.comparing))?;
    let manifest = plan.manifest(plan.cases.len());
    let cases =
        |configuration: &Configuration| -> Vec<Case> { configuration.cases.as_deref().unwrap_or(&plan.cases).to_vec() };
    let Some((before_record, records)) = manifest.configurations.split_first() else { return Ok(()) };
    let before_cases = cases(before);
    let side = Measured { manifest: &manifest, record: before_record };
    for (candidate, record) in candidates.iter().zip(records) {
        let asked = asked(&before_cases, &cases(candidate));
        sort(side, Measured { manifest: &manifest, record }, asked, &against.comparing.allow)?;
    }
    Ok(())
}

/// Every configuration of the run against its first one. Several are corrected by Holm: what holds for
/// each alone need not hold for all together.
pub fn compare_candidates(run: &Run, options: &CompareOptions) -> Result<Vec<RunComparison>, ReviewError> {
    let ids: Vec<&str> = run.manifest().configurations.iter().map(|record| record.id.as_str()).collect();
    let Some((before, candidates)) = ids.split_first() else { return Ok(Vec::new()) };
    let side = |id| Side { run, configuration: Some(id) };
    let mut found = candidates
        .iter()
        .map(|candidate| compare(side(before), side(candidate), options))
        .collect::<Result<Vec<_>, _>>()?;
    let corrected = holm(&found.iter().map(|comparison| comparison.delta.p).collect::<Vec<_>>());
    if found.len() > 1 {
        for ((comparison, candidate), p) in found.iter_mut().zip(candidates).zip(corrected) {
            comparison.correct(p, candidates.len(), level_at_the_end(run.manifest(), candidate));
        }
    }
    Ok(found)
}

/// What a reader of a run's rates must know, from its manifest.
pub fn run_notes(manifest: &Manifest) -> Vec<String> {
    let early = manifest.early_stop.iter().flat_map(|early| early.sentences(manifest.passes));
    let cache = shared_cache(&manifest.configurations);
    early.chain(manifest.against.iter().flat_map(Against::sentences)).chain(cache).collect()
}

/// What is told to the comparison of a plan or a run.
pub fn told(comparing: &Comparing) -> CompareOptions {
    let Comparing { targets, guards, delta, allow } = comparing.clone();
    CompareOptions { targets, guards, delta: delta.unwrap_or(SMALLEST_EFFECT), allow }
}

/// A gate is open at this share of right answers: 8 of 10.
const GATE: f64 = 0.8;

/// The rules by which a plan stops what is decided.
///
/// Without a comparison every case has a gate. With one the guard cases have; the others feed the
/// comparison, which an e-value may end at 1 %, and the test at the end has the other 4 % of the usual 5 %.
/// A part of a partition is not the comparison, so no part ends it.
pub fn early_stop(plan: &RunPlan) -> Result<EarlyStop, ReviewError> {
    let gate = (GATE * f64::from(plan.passes)).ceil() as u32;
    let rules = EarlyStop { gate, ..EarlyStop::default() };
    let Some(against) = &plan.against else { return Ok(rules) };
    let roles = roles(plan.cases.iter().map(|case| (case.id.as_str(), case.kind)), &told(&against.comparing))?;
    let is_guard = |case: &&Case| roles.get(&case.id) == Some(&Role::Guard);
    let gated = plan.cases.iter().filter(is_guard).map(|case| case.id.clone()).collect();
    let whole = plan.partition.is_none();
    Ok(EarlyStop {
        gated: Some(gated),
        during: whole.then_some(LEVEL_DURING),
        end: whole.then_some(LEVEL_END),
        ..rules
    })
}
