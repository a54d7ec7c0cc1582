//! One rate: how sure it is, how often it repeats, how many passes it takes.

use serde_json::json;
use tenpass_stats::{
    Interval, Tally, clopper_pearson, detectable_difference, exposure_needed, pass_at_k, pass_hat_k, passes_to_detect,
    poisson_at_most, poisson_rate, straight_passes_needed,
};

use super::answer::{Answer, percent, plural, points, range, short, significant};
use super::input::tally;
use crate::args::stats::Rate;
use crate::failure::Failure;

/// What a promise is usually about: 95 % of the time.
const PROMISE: f64 = 0.95;
/// The chance of finding a difference for which a run is planned.
const POWER: f64 = 0.8;

/// `wilson 7 10`.
pub(super) fn wilson(rate: &Rate) -> Result<Answer, Failure> {
    let (tally, confidence) = (tally(rate.successes, rate.trials, "")?, rate.confidence.confidence);
    let interval = tenpass_stats::wilson(tally, confidence);
    let answer = interval_answer("Wilson score interval", tally, interval, confidence);
    Ok(if tally.failed() == 0 {
        let needed = straight_passes_needed(PROMISE, confidence).unwrap_or_default();
        answer.say(format!(
            "Passing always is not proof of always passing: to show at least {} takes {needed} passes without a failure.",
            percent(PROMISE)
        ))
    } else {
        answer.say("For display; where a guarantee is claimed, take `tenpass stats clopper`.")
    })
}

/// `clopper 3 29`.
pub(super) fn clopper(rate: &Rate) -> Result<Answer, Failure> {
    let (tally, confidence) = (tally(rate.successes, rate.trials, "")?, rate.confidence.confidence);
    let interval = clopper_pearson(tally, confidence);
    // A one-sided bound is an end of the two-sided interval at twice the risk.
    let one_sided = clopper_pearson(tally, (2.0 * confidence - 1.0).max(0.0));
    let answer = interval_answer("Clopper-Pearson exact interval", tally, interval, confidence);
    let answer = answer.with("at_least", one_sided.low).with("at_most", one_sided.high);
    let sure = percent(confidence);
    let needed = straight_passes_needed(PROMISE, confidence).unwrap_or_default();
    Ok(answer
        .say(format!(
            "Proven, each on its own with {sure} confidence: at least {}; at most {}.",
            percent(one_sided.low),
            percent(one_sided.high)
        ))
        .say(format!("To show at most {} takes {needed} trials with none at all.", percent(1.0 - PROMISE))))
}

fn interval_answer(method: &str, tally: Tally, interval: Interval, confidence: f64) -> Answer {
    let rate = tally.rate().unwrap_or_default();
    Answer::new(method, json!({ "successes": tally.passed(), "trials": tally.total(), "confidence": confidence }))
        .with("value", rate)
        .between(interval)
        .say(format!(
            "{} of {} is {}; with {} confidence the true rate lies within {}.",
            tally.passed(),
            tally.total(),
            percent(rate),
            percent(confidence),
            range(interval)
        ))
}

/// `poisson 2 30`.
pub(super) fn poisson(events: u32, exposure: f64, confidence: f64) -> Answer {
    /// What a wake word may cry wolf at most, an hour.
    const PROMISE_AN_HOUR: f64 = 0.1;
    let interval = poisson_rate(events, exposure, confidence);
    let at_most = poisson_at_most(events, exposure, confidence);
    let needed = exposure_needed(0, PROMISE_AN_HOUR, confidence).unwrap_or(f64::INFINITY);
    Answer::new("exact Poisson interval", json!({ "events": events, "exposure": exposure, "confidence": confidence }))
        .with("value", f64::from(events) / exposure)
        .between(interval)
        .with("at_most", at_most)
        .say(format!(
            "{} in {} hours: {} an hour; with {} confidence the true rate lies within {} to {} an hour.",
            plural(u64::from(events), "event", "events"),
            significant(exposure),
            significant(f64::from(events) / exposure),
            percent(confidence),
            significant(interval.low),
            significant(interval.high)
        ))
        .say(format!("Proven with {} confidence: at most {} an hour.", percent(confidence), significant(at_most)))
        .say(format!("To show at most {PROMISE_AN_HOUR} an hour takes {} hours without an event.", significant(needed)))
}

/// `passk 7 10 3`.
pub(super) fn passk(successes: u32, trials: u32, k: u32, confidence: f64) -> Result<Answer, Failure> {
    let tally = tally(successes, trials, "")?;
    if k == 0 || k > trials {
        return Err(Failure::mistake(format!("k = {k} passes in a row cannot be drawn from {trials} trials"))
            .hint("k lies between 1 and the number of trials"));
    }
    let all = pass_hat_k(&[tally], k).unwrap_or_default();
    let any = pass_at_k(&[tally], k).unwrap_or_default().clamp(0.0, 1.0);
    // pass^k estimates rate^k, which rises with the rate: so do its ends.
    let rate = tenpass_stats::wilson(tally, confidence);
    let power = |end: f64| end.powf(f64::from(k));
    let interval = Interval { low: power(rate.low), high: power(rate.high) };
    Ok(Answer::new("pass^k", json!({ "successes": successes, "trials": trials, "k": k, "confidence": confidence }))
        .with("value", all)
        .between(interval)
        .with("pass_at_k", any)
        .say(format!(
            "pass^{k} = {}: the chance that {k} of these {trials} passes, drawn at random, all succeed; \
         with {} confidence the true one lies within {}.",
            percent(all),
            percent(confidence),
            range(interval)
        ))
        .say(format!("pass@{k} = {}: the chance that at least one of them does.", percent(any))))
}

/// `gate 8 10 --rate 0.9`.
pub(super) fn gate(need: u32, of: u32, rate: f64) -> Result<Answer, Failure> {
    const RATES: [f64; 8] = [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
    if need == 0 || need > of || of > 10_000 {
        return Err(Failure::mistake(format!("{need} of {of} is no gate"))
            .hint("at least 1 success, no more than there are passes, at most 10000 passes"));
    }
    let gate = tenpass_stats::Gate { need, of };
    let (chance, passes) = (gate.chance_to_hold(rate), gate.passes_expected(rate));
    let row = |rate: f64| vec![percent(rate), percent(gate.chance_to_hold(rate)), short(gate.passes_expected(rate), 1)];
    Ok(Answer::new("curtailed gate", json!({ "need": need, "of": of, "rate": rate }))
        .with("value", chance)
        .with("passes", passes)
        .with("failures", of - need + 1)
        .say(format!(
            "At least {need} of {of}: settled at {} or {}.",
            plural(u64::from(need), "success", "successes"),
            plural(u64::from(of - need + 1), "failure", "failures")
        ))
        .say(format!(
            "A case that truly passes {} of the time gets through {} of the time, after {} passes on average.",
            percent(rate),
            percent(chance),
            short(passes, 1)
        ))
        .say("The rate of a gate that stopped early is biased: to publish a rate, run all passes.")
        .rows(&["true rate", "gets through", "passes"], RATES.into_iter().map(row).collect()))
}

/// `passes --cases 30 --delta 0.05`.
pub(super) fn passes(cases: u32, delta: f64, rate: f64) -> Result<Answer, Failure> {
    let needed = passes_to_detect(cases, delta, rate, POWER).ok_or_else(|| {
        Failure::mistake(format!("{cases} cases at a rate of {rate} cannot show a difference of {delta}"))
            .hint("at least one case, a difference above 0, and a rate between 0 and 1")
    })?;
    let at_ten = detectable_difference(cases, 10, rate, POWER).unwrap_or(1.0);
    Ok(Answer::new(
        "passes to detect a difference",
        json!({ "cases": cases, "delta": delta, "rate": rate, "power": POWER, "level": 0.05 }),
    )
    .with("value", needed)
    .with("detectable_at_ten", at_ten)
    .say(format!(
        "{} a case and configuration: so many find a difference of {} over {} in four runs of five, at the 5 % level.",
        plural(needed, "pass", "passes"),
        points(delta).trim_start_matches('+'),
        plural(u64::from(cases), "case", "cases")
    ))
    .say(format!("Ten passes a case find {}.", points(at_ten).trim_start_matches('+')))
    .say(format!("This takes a typical case to pass {} of the time (--rate).", percent(rate))))
}

/// `passes --show 0.95`.
pub(super) fn straight(rate: f64, confidence: f64) -> Result<Answer, Failure> {
    let needed = straight_passes_needed(rate, confidence).ok_or_else(|| {
        Failure::mistake(format!("no number of passes shows a rate of {rate}")).hint("a rate above 0 and below 1")
    })?;
    Ok(Answer::new("passes without a failure", json!({ "rate": rate, "confidence": confidence }))
        .with("value", needed)
        .say(format!(
            "{} without a single failure show a rate of at least {} with {} confidence.",
            plural(needed, "pass", "passes"),
            percent(rate),
            percent(confidence)
        ))
        .say("With a failure among them it takes more: `tenpass stats clopper` says what is proven."))
}
