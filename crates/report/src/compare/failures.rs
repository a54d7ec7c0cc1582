//! Failure classes that moved: the rate of each among scored passes, before and after.

use std::collections::BTreeMap;

use tenpass_stats::{Pair, Sampling, cmh, cmh_exact, holm};
use tenpass_trace::FailureClass;

use super::change;
use super::data::FailureChange;
use super::gather::GatheredCase;
use super::judge::ALPHA;

/// The exact test of a dozen classes is worth its time up to so many passes; beyond, the asymptotic
/// one agrees with it.
const EXACT_UP_TO: u64 = 20_000;

/// Every class that occurred, those that moved most surely first. `pairs` are the same case before
/// and after.
pub(super) fn failures(pairs: &[(&GatheredCase, &GatheredCase)], sampling: [Sampling; 2]) -> Vec<FailureChange> {
    let mut passes: BTreeMap<Option<FailureClass>, [u64; 2]> = BTreeMap::new();
    for (before, after) in pairs {
        for (side, case) in [before, after].into_iter().enumerate() {
            for (class, count) in case.classes() {
                passes.entry(class).or_default()[side] += u64::from(count);
            }
        }
    }
    let scored: u64 = pairs.iter().map(|(before, after)| u64::from(before.scored.total() + after.scored.total())).sum();
    let test = |pairs: &[Pair]| {
        if scored <= EXACT_UP_TO { cmh_exact(pairs) } else { cmh(pairs).map_or(1.0, |found| found.p) }
    };
    let mut found: Vec<FailureChange> = passes
        .into_iter()
        .filter_map(|(class, [passes_before, passes_after])| {
            let evidence = |(before, after): &(&GatheredCase, &GatheredCase)| {
                Pair::new(before.evidence_of(class, sampling[0]), after.evidence_of(class, sampling[1]))
            };
            let pairs: Vec<Pair> = pairs.iter().map(evidence).collect();
            Some(FailureChange {
                class,
                kind: class.map(FailureClass::kind),
                passes_before,
                passes_after,
                change: change(&pairs, test)?.0,
                p_holm: 1.0,
                moved: false,
            })
        })
        .collect();
    let corrected = holm(&found.iter().map(|failure| failure.change.p).collect::<Vec<_>>());
    for (failure, p) in found.iter_mut().zip(corrected) {
        failure.p_holm = p;
        failure.moved = p <= ALPHA;
    }
    found.sort_by(|left, right| {
        let size = |failure: &FailureChange| failure.change.estimate.abs();
        left.change.p.total_cmp(&right.change.p).then(size(right).total_cmp(&size(left)))
    });
    found
}
