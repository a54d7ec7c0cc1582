//! Many of something: cases, p-values, candidates, clusters, nights.

use serde_json::json;
use tenpass_stats::{
    Evidence, Guards, Pair, SMALLEST_EFFECT, Tally, Verdict, beta_binomial, cmh as asymptotic, cmh_exact, delta,
    generalise, multinomial_exact, passes_needed, permutation_clustered, verdict,
};

use super::answer::{Answer, bare_p, p_value, percent, plural, points, points_range, range, short, significant};
use super::pairs::ALPHA;
use crate::args::stats::PValues;
use crate::failure::Failure;

/// `cmh 3 10 8 10 5 10 9 10`.
pub(super) fn cmh(pairs: &[Pair]) -> Result<Answer, Failure> {
    let found = delta(pairs).ok_or_else(|| Failure::mistake("no case has trials on both sides"))?;
    let p = cmh_exact(pairs);
    let mut word = verdict(&Evidence { delta: found, guards: Guards::default(), smallest_effect: SMALLEST_EFFECT });
    // With few cases the interval is bolder than the exact test; what that does not confirm is open.
    if (word == Verdict::Real || word == Verdict::Regressed) && p > ALPHA {
        word = Verdict::Inconclusive(passes_needed(&found, SMALLEST_EFFECT));
    }
    let these = if found.cases == 1 { "this case".to_owned() } else { format!("these {} cases", found.cases) };
    let mut answer = Answer::new("Cochran-Mantel-Haenszel test, exact, two-sided", json!({ "cases": cells(pairs) }))
        .with("p", p)
        .with("value", found.estimate)
        .between(found.interval_95)
        .with("z", asymptotic(pairs).map(|found| found.z))
        .with("p_asymptotic", asymptotic(pairs).map(|found| found.p))
        .with("standard_error", found.standard_error)
        .with("verdict", word.to_string())
        .say(format!(
            "On {these}: {} before, {} after, {}; with 95 % confidence the true difference lies within {}.",
            percent(found.before),
            percent(found.after),
            points(found.estimate),
            points_range(found.interval_95)
        ))
        .say(format!("{}; with a smallest effect of 5 points the verdict is {word}.", p_value(p)));
    if let Verdict::Inconclusive(needed) = word {
        answer = answer
            .with("passes_needed", needed.per_case)
            .say(format!("About {} a case and side would settle it.", plural(needed.per_case, "pass", "passes")));
    }
    Ok(match generalise(pairs) {
        Some(other) => answer
            .with(
                "other_cases",
                json!({
                    "low": other.interval_95.low, "high": other.interval_95.high,
                    "standard_error": other.standard_error, "families": other.clusters,
                }),
            )
            .say(format!("On cases not written yet: {}.", points_range(other.interval_95))),
        None => answer.say("On cases not written yet these data say nothing."),
    })
}

fn cells(pairs: &[Pair]) -> Vec<[u32; 4]> {
    pairs
        .iter()
        .map(|pair| [pair.before.passed(), pair.before.total(), pair.after.passed(), pair.after.total()])
        .collect()
}

/// `holm 0.01 0.04 0.03`.
pub(super) fn holm(values: &PValues) -> Answer {
    let level = values.level.unwrap_or(ALPHA);
    let promise = format!("the chance of even one false alarm is at most {}", percent(level));
    corrected("Holm", values, tenpass_stats::holm(&values.p), level, &promise)
}

/// `bh 0.01 0.04 0.03`.
pub(super) fn benjamini_hochberg(values: &PValues) -> Answer {
    let level = values.level.unwrap_or(0.10);
    let promise = format!("of those that stand, at most {} are false alarms on average", percent(level));
    corrected("Benjamini-Hochberg", values, tenpass_stats::benjamini_hochberg(&values.p), level, &promise)
}

fn corrected(method: &str, values: &PValues, adjusted: Vec<f64>, level: f64, promise: &str) -> Answer {
    // 0.01·3 is 0.03 to people, whatever its last bit.
    let stands: Vec<bool> = adjusted.iter().map(|p| *p <= level * (1.0 + 1e-12)).collect();
    let standing = stands.iter().filter(|stands| **stands).count();
    let rows = values.p.iter().zip(&adjusted).zip(&stands);
    let rows = rows.enumerate().map(|(i, ((raw, adjusted), stands))| {
        let stands = if *stands { "yes" } else { "no" };
        vec![(i + 1).to_string(), bare_p(*raw), bare_p(*adjusted), stands.to_owned()]
    });
    let rows = rows.collect();
    Answer::new(method, json!({ "p": values.p, "level": level }))
        .with("p", adjusted)
        .with("stands", stands)
        .say(format!(
            "{standing} of {} at {}: {promise}.",
            plural(values.p.len() as u64, "test stands", "tests stand"),
            percent(level)
        ))
        .rows(&["test", "p", "adjusted", "stands"], rows)
}

/// `votes 9 2 1`.
pub(super) fn votes(counts: &[u32], chances: Option<&[f64]>) -> Result<Answer, Failure> {
    if let Some(chances) = chances
        && (chances.len() != counts.len()
            || chances.iter().any(|p| *p <= 0.0)
            || (chances.iter().sum::<f64>() - 1.0).abs() > 1e-6)
    {
        return Err(Failure::mistake(format!("--chances: {chances:?} for {} candidates", counts.len()))
            .hint("one chance above 0 for each candidate, 1 in all"));
    }
    let found = tenpass_stats::votes(counts)
        .ok_or_else(|| Failure::mistake("0 votes say nothing").hint("at least one vote, for two or more candidates"))?;
    let normal: Option<Vec<f64>> = chances.map(|chances| {
        let sum: f64 = chances.iter().sum();
        chances.iter().map(|chance| chance / sum).collect()
    });
    let p = if normal.is_some() { multinomial_exact(counts, normal.as_deref()) } else { found.p };
    let cast: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let share = f64::from(counts[found.leader]) / cast as f64;
    let rows = found.pairs.iter().map(|pair| {
        let name = format!("{} ahead of {}", pair.ahead + 1, pair.behind + 1);
        let votes = format!("{} to {}", counts[pair.ahead], counts[pair.behind]);
        vec![name, votes, bare_p(pair.p), bare_p(pair.p_holm)]
    });
    let rows = rows.collect();
    let pairs: Vec<_> = found
        .pairs
        .iter()
        .map(|pair| json!({ "ahead": pair.ahead + 1, "behind": pair.behind + 1, "p": pair.p, "p_holm": pair.p_holm }))
        .collect();
    let all = match p {
        Some(p) if p <= ALPHA => format!("{}: not all candidates are equally liked.", p_value(p)),
        Some(p) => format!("{}: all may be equally liked.", p_value(p)),
        None => "Too many votes to enumerate every outcome; the leader and the pairs are exact.".to_owned(),
    };
    let answer = Answer::new("exact multinomial test", json!({ "votes": counts, "chances": chances }))
        .with("p", p)
        .with("value", share)
        .with("leader", found.leader + 1)
        .with("p_leader", found.p_leader)
        .with("pairs", pairs)
        .say(format!(
            "Candidate {} leads with {} of {}, {}.",
            found.leader + 1,
            counts[found.leader],
            plural(cast, "vote", "votes"),
            percent(share)
        ))
        .say(all);
    // The leader's share is judged against equal chances only.
    let answer = if chances.is_some() {
        answer
    } else if found.p_leader <= ALPHA {
        answer.say(format!(
            "The lead itself is proven ({}, corrected for {} candidates).",
            p_value(found.p_leader),
            counts.len()
        ))
    } else {
        answer.say(format!(
            "The lead itself is not proven ({}, corrected for {} candidates).",
            p_value(found.p_leader),
            counts.len()
        ))
    };
    Ok(answer.rows(&["pair", "votes", "p", "with Holm"], rows))
}

/// `permutation differences.csv`.
pub(super) fn permutation(items: &[(usize, f64)], seed: u64) -> Answer {
    let found = permutation_clustered(items, seed);
    let mean = items.iter().map(|(_, difference)| difference).sum::<f64>() / items.len().max(1) as f64;
    let how = if found.exact { "every flip counted" } else { "flips drawn at random" };
    let proven = if found.p <= ALPHA { "chance alone rarely does this" } else { "nothing is proven" };
    Answer::new("sign-flip permutation test, clustered, two-sided", json!({ "items": items.len(), "seed": seed }))
        .with("p", found.p)
        .with("value", mean)
        .with("clusters", found.clusters)
        .with("exact", found.exact)
        .say(format!(
            "{} in {} that differ, on average {}: {} ({how}); {proven}.",
            plural(items.len() as u64, "item", "items"),
            plural(found.clusters as u64, "cluster", "clusters"),
            significant(mean),
            p_value(found.p)
        ))
        .say("The clusters are the observations: more items in the same clusters prove little more.")
}

/// `shrink 10/10 7/10 3/10`.
pub(super) fn shrink(tallies: &[Tally]) -> Result<Answer, Failure> {
    let fit = beta_binomial(tallies).ok_or_else(|| {
        Failure::mistake("the spread of cases cannot be told from chance")
            .hint("at least two cases, and more than one pass in one of them")
    })?;
    let shrunken: Vec<f64> = tallies.iter().map(|tally| fit.shrunken(*tally)).collect();
    let mut order: Vec<usize> = (0..tallies.len()).collect();
    order.sort_by(|left, right| shrunken[*left].total_cmp(&shrunken[*right]));
    let rows = order.into_iter().map(|i| {
        let (tally, drawn) = (tallies[i], shrunken[i]);
        let counts = format!("{} of {}", tally.passed(), tally.total());
        vec![(i + 1).to_string(), counts, percent(tally.rate().unwrap_or_default()), percent(drawn)]
    });
    let rows = rows.collect();
    let worth = if fit.precision.is_finite() {
        format!("The mean counts as {} passes beside a case's own.", short(fit.precision, 1))
    } else {
        "The cases differ no more than chance would make them: all get the mean.".to_owned()
    };
    Ok(Answer::new("beta-binomial shrinkage", json!({ "tallies": fractions(tallies) }))
        .with("value", fit.mean)
        .with("precision", if fit.precision.is_finite() { json!(fit.precision) } else { json!(null) })
        .with("shrunken", shrunken)
        .say(format!(
            "Rates drawn towards their mean, {}, hardest case first. For ranking, not for gates.",
            percent(fit.mean)
        ))
        .say(worth)
        .rows(&["case", "passes", "rate", "drawn"], rows))
}

fn fractions(tallies: &[Tally]) -> Vec<[u32; 2]> {
    tallies.iter().map(|tally| [tally.passed(), tally.total()]).collect()
}

/// `laney 560/600 548/600`.
pub(super) fn laney(nights: &[Tally]) -> Result<Answer, Failure> {
    /// Fewer nights give limits that are little more than a guess.
    const SETTLED: usize = 8;
    let chart = tenpass_stats::laney(nights).ok_or_else(|| {
        Failure::mistake(format!("{} cannot be a chart", plural(nights.len() as u64, "night", "nights")))
            .hint("at least two nights")
    })?;
    let outside: Vec<usize> = (0..nights.len()).filter(|i| chart.nights[*i].outside).map(|i| i + 1).collect();
    let rows = chart.nights.iter().zip(nights).enumerate().map(|(i, (night, tally))| {
        let mark = if night.outside { "outside" } else { "" };
        let rate = night.rate.map_or_else(|| "–".to_owned(), percent);
        vec![
            (i + 1).to_string(),
            format!("{} of {}", tally.passed(), tally.total()),
            rate,
            range(night.limits),
            mark.to_owned(),
        ]
    });
    let rows = rows.collect();
    let on_chart: Vec<_> = chart
        .nights
        .iter()
        .map(|night| json!({ "value": night.rate, "low": night.limits.low, "high": night.limits.high, "outside": night.outside }))
        .collect();
    let which: Vec<String> = outside.iter().map(ToString::to_string).collect();
    let answer = Answer::new("Laney p' chart", json!({ "nights": fractions(nights) }))
        .with("value", chart.centre)
        .with("sigma_z", chart.sigma_z)
        .with("outside", outside)
        .with("nights", on_chart)
        .say(if which.is_empty() {
            "Every night lies within what nights usually do.".to_owned()
        } else {
            format!("Outside what nights usually do: night {}.", which.join(", "))
        })
        .say(format!(
            "Centre {}; nights differ {} times as much as passes of one night would make them.",
            percent(chart.centre),
            short(chart.sigma_z, 2)
        ));
    let answer = if nights.len() < SETTLED {
        answer.say(format!("Fewer than {SETTLED} nights: take the limits as a hint."))
    } else {
        answer
    };
    Ok(answer.rows(&["night", "passes", "rate", "usual", ""], rows))
}
