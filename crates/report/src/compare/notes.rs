//! Why the verdict is what it is, and what a reader must know before trusting it.

use super::data::{Change, ComparedSide, RunComparison};
use super::judge::ALPHA;
use crate::numbers::{grouped, p_value, plural, points, size_in_points};
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
    let mut reasons = Vec::new();
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
        "NO CHANGE" => reasons.push(format!(
            "the 90 % interval of the change, {}, lies between −{effect} and +{effect}: whatever moved is too small to \
             matter",
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
    reasons
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
        notes.extend(invalid(name, side));
        notes.extend(repeats(name, side));
    }
    if found.under_test.is_empty() {
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
    let share = side.invalid as f64 / (side.invalid + side.rate.total).max(1) as f64;
    (share > 0.05).then(|| {
        format!(
            "{name}: {} ended in an infrastructure fault; they are not scored, and so many may hide a pattern",
            plural(side.invalid, "pass", "passes"),
        )
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

fn no_other_cases(found: &RunComparison) -> Option<String> {
    if found.other_cases.is_some() {
        return None;
    }
    let Change { cases, .. } = found.delta;
    Some(if cases < 2 {
        "one case says nothing about cases not written yet".to_owned()
    } else {
        "these cases are of one family, or all moved by the same amount: they say nothing about cases not written yet"
            .to_owned()
    })
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
