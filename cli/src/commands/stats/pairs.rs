//! Two of something: before and after, one system and the other, wins and losses.

use serde_json::json;
use tenpass_stats::{
    Tally, clopper_pearson, mcnemar_exact, newcombe, sign_e_value, sign_test, tango as score_interval, tango_lower,
    wilson,
};

use super::answer::{Answer, p_value, percent, plural, points, points_range, range, significant};
use super::input::small;
use crate::failure::Failure;

/// The level of every test here.
pub(super) const ALPHA: f64 = 0.05;

/// What a p-value lets one say about a difference.
fn said(p: f64, higher: &str, equal: bool) -> String {
    if equal {
        "There is no difference to be seen.".to_owned()
    } else if p <= ALPHA {
        format!("{}: chance alone rarely does this; {higher}.", p_value(p))
    } else {
        format!("{}: nothing is proven; chance alone does this often enough.", p_value(p))
    }
}

/// `boschloo 10 10 7 10`.
pub(super) fn boschloo(before: Tally, after: Tally, confidence: f64) -> Result<Answer, Failure> {
    small(before, "before")?;
    small(after, "after")?;
    let p = tenpass_stats::boschloo(before, after);
    let (a, b) = (before.rate().unwrap_or_default(), after.rate().unwrap_or_default());
    let interval = newcombe(before, after, confidence);
    let higher = if b > a { "the rate after is higher" } else { "the rate after is lower" };
    let (side_a, side_b) = (wilson(before, confidence), wilson(after, confidence));
    let answer = Answer::new(
        "Boschloo exact test, two-sided",
        json!({
            "before": { "successes": before.passed(), "trials": before.total() },
            "after": { "successes": after.passed(), "trials": after.total() },
            "confidence": confidence,
        }),
    )
    .with("p", p)
    .with("value", b - a)
    .between(interval)
    .with("before", json!({ "value": a, "low": side_a.low, "high": side_a.high }))
    .with("after", json!({ "value": b, "low": side_b.low, "high": side_b.high }))
    .say(format!(
        "{} of {} before, {} of {} after: {}; with {} confidence the true difference lies within {}.",
        before.passed(),
        before.total(),
        after.passed(),
        after.total(),
        points(b - a),
        percent(confidence),
        points_range(interval)
    ))
    .say(said(p, higher, (a - b).abs() < 1e-12))
    .say(format!("Before {}, after {}.", range(side_a), range(side_b)));
    Ok(if p > ALPHA && before.total().min(after.total()) < 30 {
        answer.say(
            "One case alone is weak evidence: top it up to 30 passes a side, or pool cases with `tenpass stats cmh`.",
        )
    } else {
        answer
    })
}

/// `mcnemar 5 1`.
pub(super) fn mcnemar(only_before: u32, only_after: u32) -> Answer {
    let p = mcnemar_exact(only_before, only_after);
    let better = if only_after > only_before { "more items pass after" } else { "fewer items pass after" };
    Answer::new("McNemar exact test, two-sided", json!({ "only_before": only_before, "only_after": only_after }))
        .with("p", p)
        .say(format!(
            "{} passed only before, {only_after} only after.",
            plural(u64::from(only_before), "item", "items")
        ))
        .say(said(p, better, only_before == only_after))
        .say("Items on which both agree carry no evidence; for how large the difference can be, take `tenpass stats tango`.")
}

/// `tango 2 2 100`.
pub(super) fn tango(only_before: u32, only_after: u32, pairs: u32, confidence: f64) -> Result<Answer, Failure> {
    let discordant = only_before.saturating_add(only_after);
    if pairs == 0 || discordant > pairs {
        return Err(Failure::mistake(format!("{only_before} and {only_after} items of {pairs} pairs"))
            .hint("first the items that passed only before, then those only after, then all pairs, at least one"));
    }
    let value = (f64::from(only_after) - f64::from(only_before)) / f64::from(pairs);
    let interval = score_interval(only_before, only_after, pairs, confidence);
    let lower = tango_lower(only_before, only_after, pairs, confidence.max(0.5));
    let inferior = if lower >= 0.0 {
        format!("Proven with {} confidence: after is not worse at all.", percent(confidence))
    } else {
        format!(
            "Proven with {} confidence: after is at most {} worse.",
            percent(confidence),
            points(-lower).trim_start_matches('+')
        )
    };
    Ok(Answer::new(
        "Tango score interval of a paired difference, after minus before",
        json!({ "only_before": only_before, "only_after": only_after, "pairs": pairs, "confidence": confidence }),
    )
    .with("value", value)
    .between(interval)
    .with("lower_bound", lower)
    .with("p", mcnemar_exact(only_before, only_after))
    .say(format!(
        "After minus before is {} over {}; with {} confidence the true difference lies within {}.",
        points(value),
        plural(u64::from(pairs), "pair", "pairs"),
        percent(confidence),
        points_range(interval)
    ))
    .say(inferior))
}

/// `signtest 9 1`.
pub(super) fn signtest(wins: u32, losses: u32, confidence: f64) -> Result<Answer, Failure> {
    let votes = wins.saturating_add(losses);
    if votes == 0 {
        return Err(Failure::mistake("0 wins and 0 losses say nothing")
            .hint("ties are left out; at least one vote must be decided"));
    }
    let p = sign_test(wins, losses);
    let share = f64::from(wins) / f64::from(votes);
    let interval = clopper_pearson(Tally::new(wins, losses), confidence);
    let better = if wins > losses { "the winner is preferred" } else { "the other one is preferred" };
    Ok(Answer::new("sign test, two-sided", json!({ "wins": wins, "losses": losses, "confidence": confidence }))
        .with("p", p)
        .with("value", share)
        .between(interval)
        .say(format!(
            "{wins} of {votes} votes won, {}; with {} confidence the true share lies within {}.",
            percent(share),
            percent(confidence),
            range(interval)
        ))
        .say(said(p, better, wins == losses))
        .say("The number of votes must be fixed beforehand; to look after every vote, take `tenpass stats evalue`."))
}

/// `evalue 9 1`.
pub(super) fn evalue(wins: u32, losses: u32) -> Answer {
    /// Where an e-value rejects at 5 %.
    const ENOUGH: f64 = 20.0;
    /// Wins in a row that are worth naming.
    const NEAR: u32 = 20;
    let e = sign_e_value(wins, losses);
    let votes =
        format!("{} and {}", plural(u64::from(wins), "win", "wins"), plural(u64::from(losses), "loss", "losses"));
    let evidence = if e > 1.0 {
        format!("{votes} are evidence of {} to 1 that the candidate is preferred.", significant(e))
    } else {
        format!("{votes} are no evidence that the candidate is preferred: e = {}.", significant(e))
    };
    let verdict = if e >= ENOUGH {
        "20 rejects at 5 %, at whatever moment one looks: the candidate wins more often than it loses.".to_owned()
    } else {
        let more = (1..=NEAR).find(|more| sign_e_value(wins.saturating_add(*more), losses) >= ENOUGH);
        let more = more.map_or_else(String::new, |more| {
            let (wins, would) = (plural(u64::from(more), "more win", "more wins"), "in a row would do.");
            format!(" {wins} {would}")
        });
        format!("It takes 20 to reject at 5 %; one may look after every vote and go on.{more}")
    };
    Answer::new("sign e-value, one-sided", json!({ "wins": wins, "losses": losses }))
        .with("value", e)
        .with("p", if e > 1.0 { 1.0 / e } else { 1.0 })
        .with("enough", ENOUGH)
        .say(evidence)
        .say(verdict)
}
