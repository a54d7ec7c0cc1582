//! From passes to thresholds, rates with bounds, curves and differences.

use std::collections::BTreeMap;

use serde::Serialize;
use tenpass_stats::{Tally, clopper_pearson, mcnemar_exact, poisson_at_most, poisson_rate, tango};
use tenpass_train::wake::{Matched, NearWakes, Part, Point, Trace, at, search, sweep};
use tenpass_wake::DetectorConfig;

use super::listen::Listened;

/// Misses are reported at these false wakes an hour.
pub const LIMITS_PER_HOUR: [f64; 3] = [0.1, 0.5, 1.0];
/// Points of a curve at most.
const MOST_POINTS: usize = 200;
const CONFIDENCE: f64 = 0.95;

/// How thresholds are chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryOptions {
    /// For all heads; else it is chosen on development sound.
    pub threshold: Option<f32>,
    /// False wakes an hour that it is chosen for.
    pub target_per_hour: f64,
    /// By head: what its record says, for where there is no development sound.
    pub recorded: Vec<Option<f32>>,
    /// Names by head.
    pub names: Vec<String>,
}

/// Where a threshold came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Chosen {
    /// Typed.
    Given,
    /// Searched on development sound.
    Development,
    /// From the head's record.
    Record,
    /// The usual 0.5.
    Usual,
}

/// One head at its threshold, on test sound.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeadSummary {
    /// The head.
    pub head: String,
    /// Its threshold.
    pub threshold: f32,
    /// Where that came from.
    pub chosen: Chosen,
    /// Words said.
    pub words: usize,
    /// Words missed.
    pub misses: usize,
    /// Share missed; `None` where no word was said.
    pub miss_rate: Option<f64>,
    /// Clopper-Pearson interval of it.
    pub miss_low: f64,
    /// Its upper end.
    pub miss_high: f64,
    /// False wakes.
    pub false_wakes: usize,
    /// Clock hours outside of hit windows.
    pub hours: f64,
    /// False wakes a clock hour.
    pub per_hour: f64,
    /// Poisson interval of it.
    pub per_hour_low: f64,
    /// Its upper end.
    pub per_hour_high: f64,
    /// One-sided: the rate that it is below at 95 %.
    pub below_per_hour: f64,
    /// Speech hours outside of hit windows.
    pub speech_hours: f64,
    /// False wakes a speech hour.
    pub per_speech_hour: f64,
    /// Poisson interval of it.
    pub per_speech_hour_low: f64,
    /// Its upper end.
    pub per_speech_hour_high: f64,
    /// Median time from the word's end to the event, in ms; `None` without a hit.
    pub median_delay_ms: Option<f64>,
    /// Share missed at 0.1, 0.5 and 1 false wakes an hour on this very sound; `None` where no threshold reaches it.
    pub misses_at: [Option<f64>; 3],
    /// Near misses of the test, counted apart; `None` where nobody says one.
    pub near: Option<NearWakes>,
    /// What this much sound proves about false wakes, in words.
    pub proves: String,
    /// What it cannot prove, in words; empty when it can.
    pub cannot_prove: String,
}

/// The curve of one head on test sound.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// The head.
    pub head: String,
    /// Threshold, share of words missed, false wakes an hour; thresholds rise.
    pub points: Vec<(f32, f64, f64)>,
}

/// Two heads on the same words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// One.
    pub first: String,
    /// The other.
    pub second: String,
    /// Words only the first hit.
    pub only_first: u32,
    /// Words only the second hit.
    pub only_second: u32,
    /// Words.
    pub words: u32,
    /// Exact McNemar test, two-sided.
    pub p: f64,
    /// 95 % interval (Tango) of the second's hit rate minus the first's.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// Everything the bench says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Heads.
    pub heads: Vec<HeadSummary>,
    /// Curves.
    pub curves: Vec<Curve>,
    /// Heads in pairs.
    pub differences: Vec<Difference>,
}

/// From passes alone.
pub fn summarise(passes: &[Listened], options: &SummaryOptions) -> Summary {
    let mut traces: BTreeMap<(usize, Part, bool), Vec<Trace>> = BTreeMap::new();
    let mut ordered: Vec<&Listened> = passes.iter().collect();
    ordered.sort_by_key(|pass| (pass.head, pass.stretch));
    for pass in ordered {
        traces.entry((pass.head, pass.part, pass.near)).or_default().push(pass.trace());
    }
    let kind = |head: usize, part: Part, near: bool| -> &[Trace] {
        traces.get(&(head, part, near)).map_or(&[], Vec::as_slice)
    };
    let of = |head: usize, part: Part| kind(head, part, false);
    let mut summary = Summary { heads: Vec::new(), curves: Vec::new(), differences: Vec::new() };
    let mut found: Vec<Matched> = Vec::new();
    for (head, name) in options.names.iter().enumerate() {
        let (threshold, chosen) = threshold(options, head, of(head, Part::Dev));
        let test = of(head, Part::Test);
        let matched = at(test, &DetectorConfig::default(), threshold);
        let points = sweep(test, &DetectorConfig::default(), MOST_POINTS);
        let near = NearWakes::of(&at(kind(head, Part::Test, true), &DetectorConfig::default(), threshold));
        let row = head_summary(name, (threshold, chosen), test, &matched, &points);
        summary.heads.push(HeadSummary { near, ..row });
        let point = |point: &Point| (point.threshold, point.miss_rate(), point.per_hour());
        summary.curves.push(Curve { head: name.clone(), points: points.iter().map(point).collect() });
        found.push(matched);
    }
    summary.differences = differences(&options.names, &found);
    summary
}

/// For every word of the test, the number of its clip and whether this head heard it at this threshold.
pub fn word_hits(passes: &[Listened], head: usize, threshold: f32) -> Vec<(usize, bool)> {
    let mut found = Vec::new();
    for pass in passes.iter().filter(|pass| pass.head == head && pass.part == Part::Test && !pass.near) {
        let matched = at(&[pass.trace()], &DetectorConfig::default(), threshold);
        found.extend(pass.words.iter().zip(&matched.hits).map(|((_, clip), hit)| (*clip, hit.is_some())));
    }
    found
}

fn threshold(options: &SummaryOptions, head: usize, dev: &[Trace]) -> (f32, Chosen) {
    if let Some(threshold) = options.threshold {
        return (threshold, Chosen::Given);
    }
    if dev.iter().any(|trace| !trace.truth.words.is_empty())
        && let Some(found) = search(&sweep(dev, &DetectorConfig::default(), MOST_POINTS), options.target_per_hour)
    {
        return (found.threshold, Chosen::Development);
    }
    match options.recorded.get(head).copied().flatten() {
        Some(threshold) => (threshold, Chosen::Record),
        None => (DetectorConfig::default().threshold_on, Chosen::Usual),
    }
}

fn head_summary(
    name: &str,
    (threshold, chosen): (f32, Chosen),
    test: &[Trace],
    found: &Matched,
    points: &[Point],
) -> HeadSummary {
    let (words, misses) = (found.hits.len(), found.misses());
    let wakes = u32::try_from(found.false_wakes.len()).unwrap_or(u32::MAX);
    let missed = clopper_pearson(Tally::new(misses as u32, (words - misses) as u32), CONFIDENCE);
    let clock = poisson_rate(wakes, found.hours, CONFIDENCE);
    let speech = poisson_rate(wakes, found.speech_hours, CONFIDENCE);
    let below = poisson_at_most(wakes, found.hours, CONFIDENCE);
    let rate = |hours: f64| if hours > 0.0 { f64::from(wakes) / hours } else { 0.0 };
    let misses_at = LIMITS_PER_HOUR.map(|limit| {
        let allowed = points.iter().filter(|point| point.per_hour() <= limit && point.words > 0);
        allowed.map(Point::miss_rate).min_by(f64::total_cmp)
    });
    HeadSummary {
        head: name.to_owned(),
        threshold,
        chosen,
        words,
        misses,
        miss_rate: (words > 0).then(|| misses as f64 / words as f64),
        miss_low: missed.low,
        miss_high: missed.high,
        false_wakes: found.false_wakes.len(),
        hours: found.hours,
        per_hour: rate(found.hours),
        per_hour_low: clock.low,
        per_hour_high: clock.high,
        below_per_hour: below,
        speech_hours: found.speech_hours,
        per_speech_hour: rate(found.speech_hours),
        per_speech_hour_low: speech.low,
        per_speech_hour_high: speech.high,
        median_delay_ms: median_delay_ms(test, found),
        misses_at,
        near: None,
        proves: proves(found.false_wakes.len(), found.hours, below),
        cannot_prove: cannot_prove(found.hours),
    }
}

fn proves(wakes: usize, hours: f64, below: f64) -> String {
    let noun = if wakes == 1 { "false wake" } else { "false wakes" };
    format!("{wakes} {noun} in {hours:.2} h: below {below:.2}/h at 95 %")
}

/// The smallest rate that this much sound could show even without a single false wake.
fn cannot_prove(hours: f64) -> String {
    let floor = poisson_at_most(0, hours, CONFIDENCE);
    let limits: Vec<String> = LIMITS_PER_HOUR
        .iter()
        .filter(|limit| floor > **limit)
        .filter_map(|limit| {
            let needed = tenpass_stats::exposure_needed(0, *limit, CONFIDENCE)?;
            Some(format!("{limit}/h needs {needed:.0} h without any"))
        })
        .collect();
    limits.join(", ")
}

fn median_delay_ms(test: &[Trace], found: &Matched) -> Option<f64> {
    let words = test.iter().flat_map(|trace| &trace.truth.words);
    let mut delays: Vec<f64> =
        words.zip(&found.hits).filter_map(|(word, hit)| hit.map(|hit| (hit.time_s - word.end_s) * 1000.0)).collect();
    delays.sort_by(f64::total_cmp);
    tenpass_stats::quantile(&delays, 0.5)
}

/// Every head against the first, word by word.
pub fn differences(names: &[String], found: &[Matched]) -> Vec<Difference> {
    let Some((first, others)) = found.split_first() else { return Vec::new() };
    let pair = |(other, name): (&Matched, &String)| {
        let (mut only_first, mut only_second) = (0, 0);
        for (one, two) in first.hits.iter().zip(&other.hits) {
            only_first += u32::from(one.is_some() && two.is_none());
            only_second += u32::from(one.is_none() && two.is_some());
        }
        let words = first.hits.len().min(other.hits.len()) as u32;
        let interval = tango(only_first, only_second, words, CONFIDENCE);
        Difference {
            first: names[0].clone(),
            second: name.clone(),
            only_first,
            only_second,
            words,
            p: mcnemar_exact(only_first, only_second),
            low: interval.low,
            high: interval.high,
        }
    };
    others.iter().zip(&names[1..]).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words every 10 s, heard by a head with this score; bumps that are no words at these seconds.
    fn pass(head: usize, part: Part, scores: &[f32], bumps: &[(f64, f32)]) -> Listened {
        let seconds = 3600.0;
        let mut all = vec![5u16; (seconds / 0.08) as usize - 16];
        let mut bump = |time: f64, score: f32| {
            let at = (time / 0.08) as usize - 16;
            all[at..at + 4].fill((score * 10_000.0) as u16);
        };
        let words: Vec<(f64, usize)> = (0..scores.len()).map(|word| (10.0 * (word + 1) as f64, word)).collect();
        words.iter().zip(scores).for_each(|((end, _), score)| bump(*end, *score));
        bumps.iter().for_each(|(time, score)| bump(*time, *score));
        Listened {
            head,
            stretch: usize::from(part == Part::Test),
            part,
            near: false,
            seconds,
            words,
            speech: vec![(0.0, 900.0)],
            scores: all,
        }
    }

    fn options(heads: usize) -> SummaryOptions {
        let names = (0..heads).map(|head| format!("head {head}")).collect();
        SummaryOptions { threshold: None, target_per_hour: 0.5, recorded: vec![None; heads], names }
    }

    #[test]
    fn the_threshold_comes_from_development_and_the_rates_from_the_test() {
        let passes = [
            pass(0, Part::Dev, &[0.9; 20], &[(1500.0, 0.6)]),
            pass(0, Part::Test, &[0.9, 0.9, 0.5, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9], &[(2000.0, 0.95), (2500.0, 0.4)]),
        ];
        let summary = summarise(&passes, &options(1));
        let head = &summary.heads[0];
        assert_eq!(head.chosen, Chosen::Development);
        assert!(head.threshold > 0.6 && head.threshold <= 0.9, "{}", head.threshold);
        assert_eq!((head.words, head.misses, head.false_wakes), (10, 1, 1));
        assert!((head.hours - (3600.0 - 12.0) / 3600.0).abs() < 1e-9);
        assert!(head.speech_hours < 0.25 && head.per_speech_hour > head.per_hour);
        assert!(head.miss_low < 0.1 && head.miss_high > 0.4);
        assert!(head.proves.starts_with("1 false wake in 1.00 h: below 4.7"), "{}", head.proves);
        assert!(head.cannot_prove.contains("0.1/h needs 30 h"), "{}", head.cannot_prove);
        assert!(head.median_delay_ms.unwrap() < 300.0);
        // A false wake at 0.95 leaves no threshold below 0.5/h that hits a word.
        assert_eq!(head.misses_at[0], Some(1.0));
    }

    #[test]
    fn heads_are_compared_word_by_word() {
        let better = [0.9_f32; 12];
        let mut worse = better;
        worse[..8].fill(0.1);
        let passes = [pass(0, Part::Test, &better, &[]), pass(1, Part::Test, &worse, &[])];
        let given = SummaryOptions { threshold: Some(0.5), ..options(2) };
        let summary = summarise(&passes, &given);
        let pair = &summary.differences[0];
        assert_eq!((pair.only_first, pair.only_second, pair.words), (8, 0, 12));
        assert!((pair.p - 2.0 * 0.5_f64.powi(8)).abs() < 1e-9);
        assert!(pair.high < 0.0, "{pair:?}");
        assert!(summary.heads.iter().all(|head| head.chosen == Chosen::Given));
        assert!(summary.curves[0].points.windows(2).all(|two| two[0].0 < two[1].0));
    }
}
