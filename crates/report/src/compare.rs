//! Every configuration against the first.

use std::collections::BTreeMap;

use tenpass_stats::{
    Evidence, Guards, Pair, SMALLEST_EFFECT, Sampling, Verdict, benjamini_hochberg, boschloo_each, cmh_exact, delta,
    generalise, holm, passes_needed, verdict,
};

use crate::summarise::CaseGathering;
use crate::summary::{Comparison, MovedCase, OtherCases};
use crate::tally::rate;

/// A guard case holds while it passes at least this often: 8 of 10.
const GUARD_GATE: f64 = 0.8;
/// The level of every test here.
const ALPHA: f64 = 0.05;
/// The false discovery rate of the flags on single cases.
const FALSE_DISCOVERIES: f64 = 0.10;

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
    let guards_failed = guards_failed(cases, pairs);
    let guards_worse = guards_worse(cases, pairs, &p_values);
    let guards = Guards { failed: !guards_failed.is_empty(), proven_worse: !guards_worse.is_empty() };
    let mut word = verdict(&Evidence { delta: found, guards, smallest_effect: SMALLEST_EFFECT });
    // The interval of one comparison knows nothing of the others: what Holm does not confirm is open.
    if (word == Verdict::Real || word == Verdict::Regressed) && p_holm > ALPHA && !guards.proven_worse {
        word = Verdict::Inconclusive(passes_needed(&found, SMALLEST_EFFECT));
    }
    let passes_needed = if let Verdict::Inconclusive(needed) = word { Some(needed.per_case) } else { None };
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
        other_cases: generalise(pairs).map(|other| OtherCases {
            families: other.clusters as u64,
            standard_error: other.standard_error,
            low: other.interval_95.low,
            high: other.interval_95.high,
        }),
        verdict: word.to_string(),
        passes_needed,
        guards_failed,
        guards_worse,
        moved: moved(cases, pairs, &p_values),
    })
}

fn guards_failed(cases: &[CaseGathering], pairs: &[Pair]) -> Vec<String> {
    let fell = |pair: &Pair| {
        let (before, after) = (pair.before.rate(), pair.after.rate());
        before.is_some_and(|before| before >= GUARD_GATE) && after.is_some_and(|after| after < GUARD_GATE)
    };
    let guards = cases.iter().zip(pairs).filter(|(case, pair)| case.kind == "guard" && fell(pair));
    guards.map(|(case, _)| case.case.clone()).collect()
}

fn guards_worse(cases: &[CaseGathering], pairs: &[Pair], p_values: &[f64]) -> Vec<String> {
    let guards: Vec<usize> = (0..cases.len()).filter(|&i| cases[i].kind == "guard").collect();
    let corrected = holm(&guards.iter().map(|&i| p_values[i]).collect::<Vec<_>>());
    let worse = |i: usize| pairs[i].difference().is_some_and(|difference| difference < 0.0);
    let proven = guards.into_iter().zip(corrected).filter(|(i, p)| *p <= ALPHA && worse(*i));
    proven.map(|(i, _)| cases[i].case.clone()).collect()
}

/// Flagged cases, the surest first.
fn moved(cases: &[CaseGathering], pairs: &[Pair], p_values: &[f64]) -> Vec<MovedCase> {
    let adjusted = benjamini_hochberg(p_values);
    let mut flagged: Vec<usize> = (0..cases.len()).filter(|&i| adjusted[i] <= FALSE_DISCOVERIES).collect();
    flagged.sort_by(|&left, &right| p_values[left].total_cmp(&p_values[right]));
    let observed = |tally: tenpass_stats::Tally| rate(tally, u64::from(tally.total()));
    flagged
        .into_iter()
        .map(|i| MovedCase {
            case: cases[i].case.clone(),
            kind: cases[i].kind.clone(),
            before: observed(pairs[i].before),
            after: observed(pairs[i].after),
            p: p_values[i],
            p_adjusted: adjusted[i],
        })
        .collect()
}
