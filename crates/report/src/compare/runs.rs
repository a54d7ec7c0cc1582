//! Two sides, gathered from stored runs, become a comparison.

use std::collections::{BTreeMap, HashMap};

use tenpass_stats::{Delta, Pair, Sampling, Tally, Verdict, boschloo_each, cmh_exact, generalise};

use super::data::{COMPARISON_VERSION, Change, ComparedCase, ComparedSide, Difference, Role, RunComparison, SideFacts};
use super::failures::failures;
use super::gather::{GatheredCase, SideGathering};
use super::judge::{ALPHA, BrokenGuards, flags, judge, worse_besides_guards};
use super::measures::measures;
use super::{change, notes};
use crate::summarise::sampling;
use crate::summary::OtherCases;
use crate::tally::rate;

/// What is known about a comparison before its numbers are looked at.
#[derive(Debug, Clone, Default)]
pub struct ComparisonRequest {
    /// The bench both sides are runs of.
    pub bench: String,
    /// What each case is there for; those not named are neither target nor guard.
    pub roles: BTreeMap<String, Role>,
    /// The targets were named for this comparison: the verdict is about them.
    pub targets_named: bool,
    /// The smallest difference that matters, a fraction above 0.
    pub smallest_effect: f64,
    /// Both sides come from one run.
    pub measured_together: bool,
    /// What differs: the variable under test.
    pub under_test: Vec<Difference>,
    /// What differs besides.
    pub allowed: Vec<Difference>,
    /// Latencies were measured under equal conditions.
    pub latencies_comparable: bool,
    /// What the manifests say that a reader must know.
    pub notes: Vec<String>,
}

/// Compares the cases that both sides scored. `None` when there is none.
pub fn compare_runs(
    mut before: SideGathering,
    mut after: SideGathering,
    request: ComparisonRequest,
) -> Option<RunComparison> {
    before.end();
    after.end();
    let places = places(&before, &after);
    let both: Vec<(&GatheredCase, &GatheredCase)> =
        places.iter().map(|&(i, j)| (&before.cases[i], &after.cases[j])).collect();
    let sampling = [sampling(before.observations()), sampling(after.observations())];
    let roles: Vec<Role> =
        both.iter().map(|(case, _)| request.roles.get(&case.case).copied().unwrap_or_default()).collect();
    let pairs = pairs(&both, sampling);
    let p_values = boschloo_each(&pairs);
    let guards = BrokenGuards::find(&pairs, &p_values, |i| roles[i] == Role::Guard);
    let others_worse = worse_besides_guards(&pairs, &p_values, |i| roles[i] == Role::Guard);
    let mut findings = Findings::of(&pairs, &roles, &request, &guards)?;
    let names = |positions: &[usize]| positions.iter().map(|&i| both[i].0.case.clone()).collect();
    if request.measured_together && same_passes(&before.facts, &after.facts) {
        // No number of passes could tell them apart.
        findings.verdict = Verdict::NoChange;
    }
    let (passes_needed, passes_still) = match findings.verdict {
        Verdict::Inconclusive(needed) => (Some(needed.per_case), Some(needed.still)),
        _ => (None, None),
    };
    let mut comparison = RunComparison {
        version: COMPARISON_VERSION,
        before: side(&before, both.iter().map(|pair| pair.0), sampling[0]),
        after: side(&after, both.iter().map(|pair| pair.1), sampling[1]),
        bench: request.bench,
        measured_together: request.measured_together,
        verdict: findings.verdict.to_string(),
        regressed: findings.verdict == Verdict::Regressed,
        reasons: Vec::new(),
        passes_needed,
        passes_still,
        smallest_effect: request.smallest_effect,
        targets_named: request.targets_named,
        delta: findings.delta,
        other_cases: findings.other_cases,
        all: findings.all,
        targets: findings.targets,
        guards: findings.guards,
        guards_failed: names(&guards.failed),
        guards_worse: names(&guards.worse),
        cases_worse: names(&others_worse),
        under_test: request.under_test,
        allowed: request.allowed,
        cases: compared_cases(&both, &roles, &pairs, &p_values),
        failures: failures(&both, sampling),
        measures: measures(&before, &after, &places, request.latencies_comparable),
        notes: request.notes,
    };
    comparison.reasons = notes::reasons(&comparison);
    let numbers = notes::notes(&comparison);
    comparison.notes.extend(numbers);
    Some(comparison)
}

/// Whether both sides are one configuration of one run.
pub(super) fn same_passes(before: &SideFacts, after: &SideFacts) -> bool {
    before.run == after.run && before.configuration == after.configuration
}

/// Positions of the cases that both sides scored, in the order of `before`.
fn places(before: &SideGathering, after: &SideGathering) -> Vec<(usize, usize)> {
    let known: HashMap<&str, usize> = after.cases.iter().enumerate().map(|(j, case)| (case.case.as_str(), j)).collect();
    let scored = |case: &GatheredCase| !case.scored.is_empty();
    (before.cases.iter().enumerate())
        .filter_map(|(i, case)| Some((i, *known.get(case.case.as_str())?)))
        .filter(|&(i, j)| scored(&before.cases[i]) && scored(&after.cases[j]))
        .collect()
}

/// One pair a case, clustered by family.
fn pairs(both: &[(&GatheredCase, &GatheredCase)], sampling: [Sampling; 2]) -> Vec<Pair> {
    let mut families: HashMap<&str, usize> = HashMap::new();
    both.iter()
        .map(|(before, after)| {
            let next = families.len();
            let family = *families.entry(after.family.as_str()).or_insert(next);
            Pair::new(before.evidence(sampling[0]), after.evidence(sampling[1])).in_cluster(family)
        })
        .collect()
}

/// The differences and the word.
struct Findings {
    delta: Change,
    other_cases: Option<OtherCases>,
    all: Change,
    targets: Option<Change>,
    guards: Option<Change>,
    verdict: Verdict,
}

impl Findings {
    /// The verdict is about all cases, or about the targets where those were named. Then a regression
    /// of all cases counts as well: a target's gain cannot buy what the others lost.
    fn of(pairs: &[Pair], roles: &[Role], request: &ComparisonRequest, broken: &BrokenGuards) -> Option<Self> {
        let of = |role: Role| -> Vec<Pair> {
            pairs.iter().zip(roles).filter(|(_, known)| **known == role).map(|(pair, _)| *pair).collect()
        };
        let (targets, guards) = (of(Role::Target), of(Role::Guard));
        let all = change(pairs, cmh_exact)?;
        // Where every case has one role there is nothing to work out again.
        let part = |part: &[Pair]| if part.len() == pairs.len() { Some(all) } else { change(part, cmh_exact) };
        let (on_targets, on_guards) = (part(&targets), part(&guards));
        let (judged, subject): ((Change, Delta), &[Pair]) = match on_targets {
            Some(found) if request.targets_named => (found, &targets),
            _ => (all, pairs),
        };
        let mut verdict = judge(judged.1, judged.0.p, broken, request.smallest_effect);
        if all.0.high < 0.0 && all.0.p <= ALPHA {
            verdict = Verdict::Regressed;
        }
        Some(Self {
            delta: judged.0,
            other_cases: generalise(subject).map(OtherCases::from),
            all: all.0,
            targets: on_targets.map(|found| found.0),
            guards: on_guards.map(|found| found.0),
            verdict,
        })
    }
}

/// One side over its compared cases.
fn side<'a>(
    gathered: &SideGathering,
    compared: impl Iterator<Item = &'a GatheredCase>,
    sampling: Sampling,
) -> ComparedSide {
    let (mut scored, mut effective_n, mut invalid, mut overflow, mut cases) = (Tally::default(), 0, 0, 0, 0);
    for case in compared {
        scored = scored.plus(case.scored);
        effective_n += u64::from(case.evidence(sampling).total());
        invalid += u64::from(case.invalid);
        overflow += u64::from(case.overflow);
        cases += 1;
    }
    ComparedSide {
        facts: gathered.facts.clone(),
        rate: rate(scored, effective_n),
        invalid,
        overflow,
        passes: gathered.passes,
        left_out: gathered.cases.len().saturating_sub(cases) as u64,
        observations: gathered.observations(),
    }
}

/// The rows of the cases: those that moved most first, and of equal moves the surest.
fn compared_cases(
    both: &[(&GatheredCase, &GatheredCase)],
    roles: &[Role],
    pairs: &[Pair],
    p_values: &[f64],
) -> Vec<ComparedCase> {
    let flags = flags(p_values);
    let mut rows: Vec<ComparedCase> = both
        .iter()
        .enumerate()
        .map(|(i, (before, after))| ComparedCase {
            case: after.case.clone(),
            family: after.family.clone(),
            language: after.language.clone(),
            role: roles[i],
            before: rate(before.scored, u64::from(pairs[i].before.total())),
            after: rate(after.scored, u64::from(pairs[i].after.total())),
            invalid_before: u64::from(before.invalid),
            invalid_after: u64::from(after.invalid),
            difference: after.scored.rate().unwrap_or(0.0) - before.scored.rate().unwrap_or(0.0),
            p: p_values[i],
            p_adjusted: flags[i].0,
            moved: flags[i].1,
        })
        .collect();
    rows.sort_by(|left, right| {
        let size = |row: &ComparedCase| row.difference.abs();
        size(right).total_cmp(&size(left)).then(left.p.total_cmp(&right.p)).then_with(|| left.case.cmp(&right.case))
    });
    rows
}
