//! Which case broke, and on which night.

use std::collections::BTreeMap;

use tenpass_stats::{Tally, boschloo, holm};

use super::night::Night;

/// Chance of naming a case that has not changed, over all cases and nights.
const LEVEL: f64 = 0.05;

/// A case that fell and has stayed down.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    /// The case's id.
    pub case: String,
    /// `target` or `guard`.
    pub kind: String,
    /// The first night of the lower rate.
    pub since: String,
    /// The last night of the higher one.
    pub until: String,
    /// All nights before.
    pub before: Tally,
    /// That night and all after it.
    pub after: Tally,
    /// Boschloo's p-value, corrected for the nights it may have been (Bonferroni) and for the
    /// cases looked at (Holm).
    pub p: f64,
}

/// The cases of one bench and model that broke and are still broken, the first to break first.
///
/// For each case the night is the one that parts its history best (largest likelihood ratio of two
/// rates against one); it is named only where the fall is proven. A case whose text or expectation
/// changed begins a new history, and so does everything when another run is blessed: what is blessed
/// is what is wanted.
pub fn first_broken(nights: &[Night], bench: &str, model: Option<&str>) -> Vec<Broken> {
    let histories = histories(nights, bench, model);
    // Every case that was looked at counts for the correction.
    let looked_at: Vec<Option<Broken>> = histories
        .iter()
        .filter(|(_, history)| history.nights.len() > 1)
        .map(|(case, history)| fall(case, history))
        .collect();
    let p_values: Vec<f64> = looked_at.iter().map(|broken| broken.as_ref().map_or(1.0, |broken| broken.p)).collect();
    let adjusted = looked_at.into_iter().zip(holm(&p_values));
    let proven = adjusted.filter_map(|(broken, p)| broken.filter(|_| p <= LEVEL).map(|broken| Broken { p, ..broken }));
    let mut found: Vec<Broken> = proven.collect();
    let order = |night: &str| nights.iter().position(|known| known.id == night);
    found.sort_by(|a, b| {
        (order(&a.since), &a.p, &a.case)
            .partial_cmp(&(order(&b.since), &b.p, &b.case))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    found
}

#[derive(Default)]
struct History {
    kind: String,
    digest: String,
    nights: Vec<(String, Tally)>,
}

/// Every case of the last night that measured this bench, with its nights.
fn histories(nights: &[Night], bench: &str, model: Option<&str>) -> BTreeMap<String, History> {
    let mut all: BTreeMap<String, History> = BTreeMap::new();
    let mut last = "";
    let mut blessed: Option<&str> = None;
    for night in nights {
        let Some(result) = night.result(bench, model) else { continue };
        last = &night.id;
        let baseline = result.comparison.as_ref().map(|found| found.baseline.as_str());
        // The first blessing of all confirms what was there.
        if blessed.is_some() && baseline.is_some() && blessed != baseline {
            all.clear();
        }
        blessed = baseline.or(blessed);
        for count in &result.cases {
            let history = all.entry(count.case.clone()).or_default();
            if history.digest != count.digest {
                history.nights.clear();
                history.digest.clone_from(&count.digest);
            }
            history.kind.clone_from(&count.kind);
            let tally = count.tally();
            if !tally.is_empty() {
                history.nights.push((night.id.clone(), tally));
            }
        }
    }
    all.retain(|_, history| history.nights.last().is_some_and(|(night, _)| night == last));
    all
}

fn fall(case: &str, history: &History) -> Option<Broken> {
    let total = history.nights.iter().fold(Tally::default(), |sum, (_, tally)| sum.plus(*tally));
    let mut before = Tally::default();
    let mut best: Option<(f64, usize, Tally)> = None;
    for place in 1..history.nights.len() {
        before = before.plus(history.nights[place - 1].1);
        let after = Tally::new(total.passed() - before.passed(), total.failed() - before.failed());
        let falls = before.rate().zip(after.rate()).is_some_and(|(before, after)| after < before);
        let ratio = log_likelihood(before) + log_likelihood(after) - log_likelihood(total);
        if falls && best.is_none_or(|(known, ..)| ratio > known) {
            best = Some((ratio, place, before));
        }
    }
    let (_, place, before) = best?;
    let after = Tally::new(total.passed() - before.passed(), total.failed() - before.failed());
    // A case that has recovered since is not broken now: its last night lies nearer to the days before.
    let last = history.nights.last()?.1.rate()?;
    if last >= before.rate()?.midpoint(after.rate()?) {
        return None;
    }
    let nights = history.nights.len() - 1;
    Some(Broken {
        case: case.to_owned(),
        kind: history.kind.clone(),
        since: history.nights[place].0.clone(),
        until: history.nights[place - 1].0.clone(),
        before,
        after,
        p: (boschloo(before, after) * nights as f64).min(1.0),
    })
}

/// At the rate that fits best.
fn log_likelihood(tally: Tally) -> f64 {
    let part = |count: u32| {
        let share = f64::from(count) / f64::from(tally.total().max(1));
        if count == 0 { 0.0 } else { f64::from(count) * share.ln() }
    };
    part(tally.passed()) + part(tally.failed())
}
