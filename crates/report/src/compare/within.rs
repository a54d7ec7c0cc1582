//! Every configuration of a run against the first.

use std::collections::BTreeMap;

use tenpass_stats::{
    Pair, SMALLEST_EFFECT, Sampling, Tally, Verdict, boschloo_each, cmh_exact, delta, generalise, holm,
};

use super::judge::{BrokenGuards, flags, judge, worse_besides_guards};
use crate::summarise::CaseGathering;
use crate::summary::{Comparison, MovedCase, OtherCases};
use crate::tally::rate;

/// One comparison per configuration after the first, corrected by Holm over all of them.
pub(crate) fn compare(labels: &[&str], cases: &[CaseGathering], sampling: &[Sampling]) -> Vec<Comparison> {
    let families = families(cases);
    let pairs: Vec<Vec<Pair>> = (1..labels.len()).map(|other| pairs(cases, &families, sampling, other)).collect();
    let p_values: Vec<f64> = pairs.iter().map(|pairs| cmh_exact(pairs)).collect();
    let corrected = holm(&p_values);
    (1..labels.len())
        .filter_map(|other| {
            let i = other - 1;
            comparison((labels[0], labels[other]), cases, &pairs[i], (p_values[i], corrected[i]))
        })
        .collect()
}

fn families(cases: &[CaseGathering]) -> BTreeMap<&str, usize> {
    let mut families = BTreeMap::new();
    for case in cases {
        let next = families.len();
        families.entry(case.family.as_str()).or_insert(next);
    }
    families
}

/// One pair per case, in the order of the cases.
fn pairs(cases: &[CaseGathering], families: &BTreeMap<&str, usize>, sampling: &[Sampling], other: usize) -> Vec<Pair> {
    let pair = |case: &CaseGathering| {
        let (before, after) = (case.cells[0].evidence(sampling[0]), case.cells[other].evidence(sampling[other]));
        Pair::new(before, after).in_cluster(families.get(case.family.as_str()).copied().unwrap_or(0))
    };
    cases.iter().map(pair).collect()
}

/// `None` when no case was scored under both.
fn comparison(
    labels: (&str, &str),
    cases: &[CaseGathering],
    pairs: &[Pair],
    (p, p_holm): (f64, f64),
) -> Option<Comparison> {
    let found = delta(pairs)?;
    let p_values = boschloo_each(pairs);
    let guards = BrokenGuards::find(pairs, &p_values, |i| cases[i].kind == "guard");
    let others_worse = worse_besides_guards(pairs, &p_values, |i| cases[i].kind == "guard");
    let word = judge(found, p_holm, &guards, SMALLEST_EFFECT);
    let passes_needed = if let Verdict::Inconclusive(needed) = word { Some(needed.per_case) } else { None };
    let names = |positions: &[usize]| positions.iter().map(|&i| cases[i].case.clone()).collect();
    Some(Comparison {
        baseline: labels.0.to_owned(),
        configuration: labels.1.to_owned(),
        cases: found.cases as u64,
        delta: found.estimate,
        standard_error: found.standard_error,
        low: found.interval_95.low,
        high: found.interval_95.high,
        p,
        p_holm,
        other_cases: generalise(pairs).map(OtherCases::from),
        verdict: word.to_string(),
        passes_needed,
        guards_failed: names(&guards.failed),
        guards_worse: names(&guards.worse),
        cases_worse: names(&others_worse),
        moved: moved(cases, pairs, &p_values),
    })
}

/// Flagged cases, the surest first.
fn moved(cases: &[CaseGathering], pairs: &[Pair], p_values: &[f64]) -> Vec<MovedCase> {
    let flags = flags(p_values);
    let mut flagged: Vec<usize> = (0..cases.len()).filter(|&i| flags[i].1).collect();
    flagged.sort_by(|&left, &right| p_values[left].total_cmp(&p_values[right]));
    let observed = |tally: Tally| rate(tally, u64::from(tally.total()));
    flagged
        .into_iter()
        .map(|i| MovedCase {
            case: cases[i].case.clone(),
            kind: cases[i].kind.clone(),
            before: observed(pairs[i].before),
            after: observed(pairs[i].after),
            p: p_values[i],
            p_adjusted: flags[i].0,
        })
        .collect()
}
