//! The run that a plan would repeat: for schedulers that start a part again.

use std::path::Path;

use crate::run::RunPlan;
use crate::store::{Manifest, Run, RunState, StoreError, differences, list_runs};

/// The newest run in `store` of exactly this plan, its part of the cases included: one that is not
/// complete, or, when the plan's seed was asked for (`seeded`), one that is. Without `seeded` the seed may
/// be any.
pub fn find_same(store: &Path, plan: &RunPlan, seeded: bool) -> Result<Option<Run>, StoreError> {
    let runs = list_runs(store)?.into_iter().rev().filter_map(|entry| entry.run.ok());
    let count = plan.own_cases().shared().len();
    let is_same = |run: &Run| {
        let found = run.manifest();
        (seeded || found.state() != RunState::Complete) && is_run_of(plan, count, found, seeded)
    };
    Ok(runs.into_iter().find(is_same))
}

fn is_run_of(plan: &RunPlan, cases: usize, found: &Manifest, seeded: bool) -> bool {
    let mut wanted = plan.manifest(cases);
    if !seeded {
        wanted.seed = found.seed;
    }
    // What is asked counts, not which other cases the suite has by now.
    wanted.digests.suite.clone_from(&found.digests.suite);
    for (record, found) in wanted.configurations.iter_mut().zip(&found.configurations) {
        if let (Some(digests), Some(found)) = (&mut record.digests, &found.digests) {
            digests.suite.clone_from(&found.suite);
        }
    }
    found.parts.is_empty()
        && found.partition == plan.partition
        && found.parent == plan.parent
        && found.cases == wanted.cases
        && differences(found, &wanted).is_empty()
}
