//! Choosing the penalty and the threshold without looking at what is judged: one day is left out at a time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tenpass_stats::{Tally, clopper_pearson};

use super::logistic::{Logistic, logistic};
use crate::network::{Random, seed_of};

/// The penalties tried.
pub const PENALTIES: [f64; 7] = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1];
/// Own voices that are turned away at most.
pub const MOST_OWN_MISSES: f64 = 0.02;
/// Resamples of the speakers.
const RESAMPLES: usize = 2000;

/// One event: its window, whose it is, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// 16 × 96 values at the peak.
    pub window: Vec<f32>,
    /// Whether it is the user saying the wake word.
    pub own: bool,
    /// Who speaks; for the user's other speech and for past false wakes a name of its own.
    pub speaker: String,
    /// The day of the user's recordings; empty for others.
    pub day: String,
}

/// Means and scales of each of the values of a window.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Standardiser {
    pub(crate) mean: Vec<f32>,
    pub(crate) scale: Vec<f32>,
}

impl Standardiser {
    fn of(rows: &[&Example]) -> Self {
        let width = rows.first().map_or(0, |row| row.window.len());
        let count = rows.len().max(1) as f64;
        let mut mean = vec![0.0_f64; width];
        for row in rows {
            mean.iter_mut().zip(&row.window).for_each(|(sum, value)| *sum += f64::from(*value) / count);
        }
        let mut square = vec![0.0_f64; width];
        for row in rows {
            let centred = row.window.iter().zip(&mean).map(|(value, mean)| f64::from(*value) - mean);
            square.iter_mut().zip(centred).for_each(|(sum, value)| *sum += value * value / count);
        }
        let scale = square.iter().map(|value| if *value > 1e-10 { value.sqrt() as f32 } else { 1.0 }).collect();
        Self { mean: mean.iter().map(|value| *value as f32).collect(), scale }
    }

    fn apply(&self, window: &[f32]) -> Vec<f32> {
        window.iter().zip(&self.mean).zip(&self.scale).map(|((value, mean), scale)| (value - mean) / scale).collect()
    }
}

/// Standardises and fits on these examples.
pub(crate) fn fit(rows: &[&Example], c: f64) -> (Standardiser, Logistic) {
    let standard = Standardiser::of(rows);
    let windows: Vec<Vec<f32>> = rows.iter().map(|row| standard.apply(&row.window)).collect();
    let windows: Vec<&[f32]> = windows.iter().map(Vec::as_slice).collect();
    let classes: Vec<bool> = rows.iter().map(|row| row.own).collect();
    let fitted = logistic(&windows, &classes, c);
    (standard, fitted)
}

/// The fold of each example: days of the user's own, and other speakers dealt out over them by their names, so that
/// nobody is judged by what was fitted on them.
fn folds(examples: &[Example], days: &[String]) -> Vec<usize> {
    let fold = |example: &Example| {
        let of_speaker = || (seed_of(0, &["fold", &example.speaker]) % days.len() as u64) as usize;
        days.binary_search(&example.day).unwrap_or_else(|_| of_speaker())
    };
    examples.iter().map(fold).collect()
}

/// The days of the user's own examples.
pub(crate) fn days(examples: &[Example]) -> Vec<String> {
    let mut days: Vec<String> = examples.iter().filter(|example| example.own).map(|one| one.day.clone()).collect();
    days.sort_unstable();
    days.dedup();
    days
}

/// Every example's probability, from a fit without its fold.
fn held_out(examples: &[Example], folds: &[usize], count: usize, c: f64) -> Vec<f64> {
    let mut scores = vec![0.0; examples.len()];
    for fold in 0..count {
        let rest: Vec<&Example> =
            examples.iter().zip(folds).filter(|(_, of)| **of != fold).map(|(example, _)| example).collect();
        let (standard, fitted) = fit(&rest, c);
        for (place, (example, of)) in examples.iter().zip(folds).enumerate() {
            if *of == fold {
                scores[place] = fitted.probability(&standard.apply(&example.window));
            }
        }
    }
    scores
}

/// The highest threshold that turns away at most two of a hundred own events.
fn threshold(examples: &[Example], scores: &[f64]) -> f64 {
    let mut own: Vec<f64> =
        examples.iter().zip(scores).filter(|(example, _)| example.own).map(|(_, score)| *score).collect();
    own.sort_by(f64::total_cmp);
    let allowed = (own.len() as f64 * MOST_OWN_MISSES).floor() as usize;
    own.get(allowed).copied().unwrap_or(0.5)
}

/// How often one speaker was turned away.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Speaker {
    /// Who.
    pub speaker: String,
    /// Events turned away.
    pub rejected: u32,
    /// Events.
    pub events: u32,
}

/// What leave-one-day-out found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The penalty.
    pub c: f64,
    /// The threshold.
    pub threshold: f64,
    /// Own events turned away.
    pub own_misses: u32,
    /// Own events.
    pub own_events: u32,
    /// Clopper-Pearson 95 % interval of the own miss rate.
    pub own_miss_rate: (f64, f64),
    /// Own events turned away and all of them, by day.
    pub days: BTreeMap<String, (u32, u32)>,
    /// Each other speaker.
    pub speakers: Vec<Speaker>,
    /// Mean over the speakers of the share that is turned away.
    pub rejection: f64,
    /// 95 % interval of it, speakers resampled.
    pub rejection_interval: (f64, f64),
}

/// Chooses penalty and threshold: the most rejection of other speakers with at most 2 % own misses.
pub(crate) fn judge(examples: &[Example], seed: u64) -> Option<Judgement> {
    let days = days(examples);
    if days.len() < 2 || examples.iter().all(|example| example.own) {
        return None;
    }
    let folds = folds(examples, &days);
    let mut best: Option<Judgement> = None;
    for c in PENALTIES {
        let scores = held_out(examples, &folds, days.len(), c);
        let found = judged(examples, &scores, c, seed);
        // The stronger penalty on a tie: it came first.
        if best.as_ref().is_none_or(|best| found.rejection > best.rejection + 1e-9) {
            best = Some(found);
        }
    }
    best
}

fn judged(examples: &[Example], scores: &[f64], c: f64, seed: u64) -> Judgement {
    let threshold = threshold(examples, scores);
    let mut days: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let mut others: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (example, score) in examples.iter().zip(scores) {
        let entry = if example.own {
            days.entry(example.day.clone()).or_default()
        } else {
            others.entry(&example.speaker).or_default()
        };
        entry.0 += u32::from(*score < threshold);
        entry.1 += 1;
    }
    let (misses, events) = days.values().fold((0, 0), |sum, day| (sum.0 + day.0, sum.1 + day.1));
    let own = clopper_pearson(Tally::new(misses, events - misses), 0.95);
    let speakers: Vec<Speaker> = others
        .into_iter()
        .map(|(speaker, (rejected, events))| Speaker { speaker: speaker.to_owned(), rejected, events })
        .collect();
    let (rejection, rejection_interval) = rejection(&speakers, seed);
    Judgement {
        c,
        threshold,
        own_misses: misses,
        own_events: events,
        own_miss_rate: (own.low, own.high),
        days,
        speakers,
        rejection,
        rejection_interval,
    }
}

/// The mean over speakers, and its 95 % interval by resampling speakers: events of one speaker are alike.
fn rejection(speakers: &[Speaker], seed: u64) -> (f64, (f64, f64)) {
    let rates: Vec<f64> = speakers.iter().map(|one| f64::from(one.rejected) / f64::from(one.events.max(1))).collect();
    if rates.is_empty() {
        return (0.0, (0.0, 1.0));
    }
    let count = rates.len() as f64;
    let mut random = Random::of(seed, &["speakers"]);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| (0..rates.len()).map(|_| rates[random.below(rates.len())]).sum::<f64>() / count)
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((RESAMPLES - 1) as f64 * share).round() as usize];
    (rates.iter().sum::<f64>() / count, (at(0.025), at(0.975)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A speaker is a direction; events scatter around it.
    pub(crate) fn examples(separable: f64) -> Vec<Example> {
        let mut all = Vec::new();
        for (number, name) in ["own", "a", "b", "c", "d", "e"].into_iter().enumerate() {
            let mut speaker = Random::of(number as u64, &["speaker"]);
            let centre: Vec<f64> = (0..24).map(|_| speaker.normal()).collect();
            let mut random = Random::of(number as u64, &["events"]);
            for event in 0..40 {
                let window = centre.iter().map(|value| (separable * value + random.normal()) as f32).collect();
                let own = name == "own";
                let day = if own { format!("2026-11-0{}", 1 + event % 4) } else { String::new() };
                all.push(Example { window, own, speaker: name.to_owned(), day });
            }
        }
        all
    }

    #[test]
    fn voices_that_differ_are_told_apart_and_equal_ones_are_not() {
        let found = judge(&examples(1.5), 1).unwrap();
        assert!(found.rejection > 0.9, "{found:?}");
        assert!(found.own_misses <= 3 && found.own_events == 160 / 4, "{found:?}");
        assert_eq!((found.speakers.len(), found.days.len()), (5, 4));
        assert!(found.rejection_interval.0 <= found.rejection && found.rejection <= found.rejection_interval.1);
        let chance = judge(&examples(0.0), 1).unwrap();
        assert!(chance.rejection < 0.35, "{}", chance.rejection);
        assert_eq!(judge(&examples(1.5), 1), Some(found));
    }

    #[test]
    fn a_single_day_proves_nothing() {
        let mut one = examples(1.5);
        one.iter_mut().filter(|example| example.own).for_each(|example| example.day = "2026-11-01".into());
        assert_eq!(judge(&one, 1), None);
    }
}
