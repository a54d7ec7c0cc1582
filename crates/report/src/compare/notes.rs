//! Why the verdict is what it is, and what a reader must know before trusting it.

use std::collections::BTreeSet;

use super::data::{Change, ComparedCase, ComparedSide, Role, RunComparison};
use super::judge::ALPHA;
use super::runs::same_passes;
use crate::numbers::{grouped, of, p_value, percent, plural, points, rate_percent, size_in_points};
use crate::summary::Observations;

/// Names listed in one sentence, at most.
const MOST_NAMES: usize = 5;

/// The reasons of the verdict, the decisive one first.
pub(super) fn reasons(found: &RunComparison) -> Vec<String> {
    let change = &found.delta;
    let effect = size_in_points(found.smallest_effect);
    let matters = format!("the {effect} that matter");
    let interval = format!("the 95 % interval of the change, {},", range(change.low, change.high));
    let confirmed = change.p <= ALPHA;
    if found.measured_together && same_passes(&found.before.facts, &found.after.facts) {
        return vec!["before and after are the same passes: nothing can differ".to_owned()];
    }
    let mut reasons = Vec::new();
    // First, whatever the word: a gain on the others must not hide them.
    reasons.extend(worse(found).filter(|_| found.verdict != "REGRESSED"));
    match found.verdict.as_str() {
        "REAL" => {
            reasons.push(format!("{interval} lies above 0"));
            reasons.push(format!("{} is at least {matters}", points(change.estimate)));
            reasons.push(held(found));
        }
        "REGRESSED" => {
            if !found.guards_worse.is_empty() {
                reasons.push(format!("guard cases proven worse: {}", names(&found.guards_worse)));
            }
            if change.high < 0.0 && confirmed {
                reasons.push(format!("{interval} lies below 0"));
            } else if found.all.high < 0.0 && found.all.p <= ALPHA {
                let all = range(found.all.low, found.all.high);
                reasons.push(format!("over all cases the 95 % interval of the change, {all}, lies below 0"));
            }
        }
        "NO CHANGE" if found.cases_worse.is_empty() => reasons.push(format!(
            "the 90 % interval of the change, {}, lies between −{effect} and +{effect}: whatever moved is too small to \
             matter",
            range(change.low_90, change.high_90),
        )),
        "NO CHANGE" => reasons.push(format!(
            "over all of them the 90 % interval of the change, {}, lies between −{effect} and +{effect}",
            range(change.low_90, change.high_90),
        )),
        _ => {
            reasons.push(open(found, &interval, &matters, confirmed));
            reasons.extend(found.passes_needed.zip(found.passes_still).map(|(needed, still)| {
                format!(
                    "about {} a case and side would show a change of {effect} points: {} more",
                    plural(needed, "pass", "passes"),
                    grouped(still)
                )
            }));
        }
    }
    if found.verdict != "REAL" && found.guards_worse.is_empty() && !found.guards_failed.is_empty() {
        reasons.push(format!("guard cases fell below 8 of 10: {}", names(&found.guards_failed)));
    }
    reasons.extend(worse(found).filter(|_| found.verdict == "REGRESSED"));
    reasons
}

/// The cases that are no guards and proven worse, with what they were and are.
fn worse(found: &RunComparison) -> Option<String> {
    let cases: Vec<&ComparedCase> =
        found.cases_worse.iter().filter_map(|id| found.cases.iter().find(|case| case.case == *id)).collect();
    if cases.is_empty() {
        return None;
    }
    let what = if cases.iter().all(|case| case.role == Role::Target) { "target " } else { "" };
    let word = if cases.len() == 1 { "case" } else { "cases" };
    let each: Vec<String> =
        cases.iter().map(|case| format!("{} ({} → {})", case.case, of(&case.before), of(&case.after))).collect();
    Some(format!("{what}{word} proven worse: {}", names(&each)))
}

fn held(found: &RunComparison) -> String {
    match found.guards {
        Some(guards) => format!("none of the {} failed", plural(guards.cases, "guard case", "guard cases")),
        None => "there is no guard case that could have failed".to_owned(),
    }
}

/// What keeps the question open.
fn open(found: &RunComparison, interval: &str, matters: &str, confirmed: bool) -> String {
    let change = &found.delta;
    let beside = change.low > 0.0 || change.high < 0.0;
    if beside && !confirmed {
        return format!("{interval} excludes 0, but the exact test does not confirm it (p = {})", p_value(change.p));
    }
    if change.low > 0.0 && change.estimate < found.smallest_effect {
        return format!("{interval} lies above 0, but {} is less than {matters}", points(change.estimate));
    }
    if change.low > 0.0 {
        return format!("{interval} lies above 0, but a guard case failed");
    }
    format!("{interval} contains 0 and reaches beyond {matters}")
}

fn range(low: f64, high: f64) -> String {
    format!("{} to {}", points(low), points(high))
}

fn names(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// What the numbers themselves say about how far to trust them, the most serious first.
pub(super) fn notes(found: &RunComparison) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(not_afresh(found));
    for (name, side) in [("before", &found.before), ("after", &found.after)] {
        notes.extend(unfinished(name, side));
        notes.extend(left_out(name, side));
        notes.extend(overflow(name, side));
        notes.extend(invalid(name, side));
        notes.extend(repeats(name, side));
    }
    notes.extend(weighed(found));
    if found.under_test.is_empty() && !(found.measured_together && same_passes(&found.before.facts, &found.after.facts))
    {
        notes.push(
            "nothing under test differs: this is an A/A comparison, and what moved is chance or something that a \
             manifest does not record"
                .to_owned(),
        );
    }
    notes.extend(no_other_cases(found));
    notes.extend(seeds(found));
    notes
}

fn not_afresh(found: &RunComparison) -> Option<String> {
    (!found.measured_together).then(|| {
        let started = &found.before.facts.started;
        let when = if started.is_empty() { String::new() } else { format!(", but on {}", moment(started)) };
        format!(
            "the baseline was not measured afresh{when}: cases that were picked because they failed in it rise 4 to \
             13 points by themselves. `tenpass bench … --against {}` measures both together",
            found.before.facts.run
        )
    })
}

/// `2026-11-30T22:00:12.345Z` as `2026-11-30 22:00 UTC`.
fn moment(timestamp: &str) -> String {
    match (timestamp.get(..10), timestamp.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute} UTC"),
        _ => timestamp.to_owned(),
    }
}

fn unfinished(name: &str, side: &ComparedSide) -> Option<String> {
    let planned = side.facts.planned_passes;
    (side.passes < planned).then(|| {
        format!(
            "{name}: {} of {} passes have run, and the rates are preliminary",
            grouped(side.passes),
            grouped(planned)
        )
    })
}

fn left_out(name: &str, side: &ComparedSide) -> Option<String> {
    (side.left_out > 0).then(|| {
        let cases = plural(side.left_out, "case", "cases");
        format!("{name}: {cases} left out, which the other side does not have or one of them did not score")
    })
}

fn invalid(name: &str, side: &ComparedSide) -> Option<String> {
    let faults = side.invalid - side.overflow.min(side.invalid);
    let share = faults as f64 / (side.invalid + side.rate.total).max(1) as f64;
    (share > 0.05).then(|| {
        format!(
            "{name}: {} ended in an infrastructure fault; they are not scored, and so many may hide a pattern",
            plural(faults, "pass", "passes"),
        )
    })
}

fn overflow(name: &str, side: &ComparedSide) -> Option<String> {
    (side.overflow > 0).then(|| {
        let passes = plural(side.overflow, "pass", "passes");
        format!("{name}: {passes} did not fit the context and are not scored: raise it with --ctx")
    })
}

fn repeats(name: &str, side: &ComparedSide) -> Option<String> {
    let rate = &side.rate;
    if rate.effective_n >= rate.total {
        return None;
    }
    let reason = match side.observations {
        Observations::Independent => return None,
        Observations::Deterministic => "at temperature 0",
        Observations::Repeating => "although it should sample (is the seed or the temperature ignored?)",
    };
    Some(format!(
        "{name}: outputs repeat {reason}: {} passes are {} observations, and the intervals say so",
        grouped(rate.total),
        grouped(rate.effective_n),
    ))
}

/// Where cases have different numbers of passes, the pooled rate and the mean over cases are two figures.
fn weighed(found: &RunComparison) -> Option<String> {
    let unequal = |total: fn(&ComparedCase) -> u64| {
        let first = found.cases.first().map(total);
        found.cases.iter().any(|case| Some(total(case)) != first)
    };
    if !unequal(|case| case.before.total) && !unequal(|case| case.after.total) {
        return None;
    }
    let sides = [(&found.before, found.all.before), (&found.after, found.all.after)];
    let differs = |side: &ComparedSide, mean: f64| side.rate.rate.is_some_and(|pooled| (pooled - mean).abs() > 5e-4);
    let (side, mean) = sides.into_iter().rfind(|(side, mean)| differs(side, *mean))?;
    Some(format!(
        "the cases have different numbers of passes: the rate of all passes is {} ({}), the verdict weighs cases alike \
         ({} %)",
        rate_percent(&side.rate),
        of(&side.rate),
        percent(mean, 1)
    ))
}

fn no_other_cases(found: &RunComparison) -> Option<String> {
    if found.other_cases.is_some() {
        return None;
    }
    let Change { cases, .. } = found.delta;
    let judged = found.cases.iter().filter(|case| !found.targets_named || case.role == Role::Target);
    let families: BTreeSet<&str> = judged.map(|case| case.family.as_str()).collect();
    let why = match (cases, families.len()) {
        (0 | 1, _) => return Some("one case says nothing about cases not written yet".to_owned()),
        (_, 0 | 1) => "these cases are of one family",
        _ => "all families moved by the same amount",
    };
    Some(format!("{why}: they say nothing about cases not written yet"))
}

fn seeds(found: &RunComparison) -> Option<String> {
    let (before, after) = (found.before.facts.seed, found.after.facts.seed);
    (!found.measured_together && before == after).then(|| {
        format!(
            "both sides derive their seeds from {before}: a model that repeats itself gives equal answers where nothing \
             changed, which is not a second measurement"
        )
    })
}
