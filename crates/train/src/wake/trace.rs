//! Scores of a stream, the events that the machine makes of them at a threshold, and the search for one.

use tenpass_wake::{DetectorConfig, firing_scores};

use super::events::{Matched, Truth, Wake, matched};
use crate::network::FRAMES;

/// Seconds from one score to the next.
pub const STEP_S: f64 = 0.08;
/// Thresholds are looked for between these.
const SEARCHED: (f32, f32) = (0.02, 0.9999);
/// Seconds after an event in which its peak is looked for.
const PEAK_WITHIN_S: f64 = 1.0;

/// The scores of one head over one stream: the first belongs to the 16th embedding, since no cold window is
/// ever scored.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// One score every 80 ms.
    pub scores: Vec<f32>,
    /// What is said when.
    pub truth: Truth,
}

/// When the window of a score ends.
pub fn time_of(score: usize) -> f64 {
    (score + FRAMES) as f64 * STEP_S
}

/// The events of scores, by the machine that listens in service.
pub fn events(scores: &[f32], config: &DetectorConfig) -> Vec<Wake> {
    let within = (PEAK_WITHIN_S / STEP_S) as usize;
    let wake = |at: usize| {
        let around = &scores[(at + 1).saturating_sub(config.of)..(at + within).min(scores.len())];
        Wake { time_s: time_of(at), peak: strength(around, config) }
    };
    firing_scores(config, scores).into_iter().map(wake).collect()
}

/// The highest threshold at which the scores around an event are enough for one.
fn strength(scores: &[f32], config: &DetectorConfig) -> f32 {
    let of_window = |window: &[f32]| {
        let mut sorted = window.to_vec();
        sorted.sort_unstable_by(|one, two| two.total_cmp(one));
        sorted.get(config.hits - 1).copied().unwrap_or(0.0)
    };
    if scores.len() < config.of {
        return of_window(scores);
    }
    scores.windows(config.of).map(of_window).fold(0.0, f32::max)
}

/// Settings with another threshold, and the one for release in the same proportion.
pub fn at_threshold(config: &DetectorConfig, threshold: f32) -> DetectorConfig {
    let threshold_off = config.threshold_off / config.threshold_on * threshold;
    DetectorConfig { threshold_on: threshold, threshold_off, ..config.clone() }
}

/// All traces at a threshold, together.
pub fn at(traces: &[Trace], config: &DetectorConfig, threshold: f32) -> Matched {
    let config = at_threshold(config, threshold);
    let mut all = Matched::default();
    for trace in traces {
        all.extend(matched(&trace.truth, &events(&trace.scores, &config)));
    }
    all
}

/// One threshold of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The threshold.
    pub threshold: f32,
    /// Words missed.
    pub misses: usize,
    /// Words.
    pub words: usize,
    /// False wakes.
    pub false_wakes: usize,
    /// Hours they are counted over.
    pub hours: f64,
}

impl Point {
    fn of(threshold: f32, found: &Matched) -> Self {
        let (misses, words) = (found.misses(), found.hits.len());
        Self { threshold, misses, words, false_wakes: found.false_wakes.len(), hours: found.hours }
    }

    /// False wakes an hour.
    pub fn per_hour(&self) -> f64 {
        if self.hours > 0.0 { self.false_wakes as f64 / self.hours } else { 0.0 }
    }

    /// Share of the words that are missed.
    pub fn miss_rate(&self) -> f64 {
        if self.words == 0 { 0.0 } else { self.misses as f64 / self.words as f64 }
    }
}

/// Misses and false wakes over the thresholds at which something changes: the peaks of events, at most `most`
/// of them, in rising order.
pub fn sweep(traces: &[Trace], config: &DetectorConfig, most: usize) -> Vec<Point> {
    let floor = at_threshold(config, SEARCHED.0);
    let mut thresholds: Vec<f32> = traces
        .iter()
        .flat_map(|trace| events(&trace.scores, &floor))
        .map(|event| event.peak.clamp(SEARCHED.0, SEARCHED.1))
        .chain([SEARCHED.0, SEARCHED.1, config.threshold_on])
        .collect();
    thresholds.sort_by(f32::total_cmp);
    thresholds.dedup();
    let kept = most.max(2);
    let count = thresholds.len();
    if count > kept {
        thresholds = (0..kept).map(|at| thresholds[at * (count - 1) / (kept - 1)]).collect();
        thresholds.dedup();
    }
    thresholds.into_iter().map(|threshold| Point::of(threshold, &at(traces, config, threshold))).collect()
}

/// A threshold that was searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The threshold.
    pub threshold: f32,
    /// What it does where it was searched.
    pub point: Point,
    /// From the lowest to the highest threshold that does as well.
    pub margin: f32,
}

/// The threshold with the fewest misses among those with at most so many false wakes an hour; in the middle of
/// the range that does as well, since the next hour is another one. Without any, the one with the fewest false wakes.
pub fn search(points: &[Point], per_hour: f64) -> Option<Found> {
    let allowed: Vec<&Point> = points.iter().filter(|point| point.per_hour() <= per_hour).collect();
    let Some(least) = allowed.iter().map(|point| point.misses).min() else {
        let best = points.iter().min_by(|a, b| {
            a.false_wakes.cmp(&b.false_wakes).then(a.misses.cmp(&b.misses)).then(a.threshold.total_cmp(&b.threshold))
        })?;
        return Some(Found { threshold: best.threshold, point: *best, margin: 0.0 });
    };
    let good: Vec<&&Point> = allowed.iter().filter(|point| point.misses == least).collect();
    let (first, high) = (good.first()?.threshold, good.last()?.threshold);
    // Nothing changes between two peaks: whatever lies above the one before does as well.
    let low = points.iter().map(|point| point.threshold).filter(|threshold| *threshold < first).fold(0.0, f32::max);
    let low = if low > 0.0 { low } else { first };
    let middle = f32::midpoint(low, high);
    let nearest = good.iter().min_by(|a, b| (a.threshold - middle).abs().total_cmp(&(b.threshold - middle).abs()))?;
    Some(Found { threshold: middle, point: ***nearest, margin: high - low })
}

#[cfg(test)]
mod tests {
    use super::super::events::Word;
    use super::*;

    /// Scores with bumps of three at these places.
    fn trace(length: usize, bumps: &[(usize, f32)], words: &[f64]) -> Trace {
        let mut scores = vec![0.001; length];
        for (at, peak) in bumps {
            scores[*at] = peak * 0.98;
            scores[at + 1] = *peak;
            scores[at + 2] = peak * 0.97;
        }
        let words = words.iter().enumerate().map(|(clip, &end_s)| Word { end_s, clip }).collect();
        let seconds = (length + FRAMES) as f64 * STEP_S;
        Trace { scores, truth: Truth { seconds, words, speech: Vec::new() } }
    }

    #[test]
    fn a_sweep_finds_the_threshold_between_the_word_and_what_is_like_it() {
        let word = time_of(500);
        let traces = [trace(4000, &[(500, 0.9), (1500, 0.4), (2500, 0.6)], &[word - 0.1])];
        let points = sweep(&traces, &DetectorConfig::default(), 200);
        let at = |threshold: f32| points.iter().rfind(|point| point.threshold <= threshold).copied();
        assert_eq!(at(0.1).map(|point| (point.misses, point.false_wakes)), Some((0, 2)));
        let found = search(&points, 0.0).unwrap();
        assert_eq!((found.point.misses, found.point.false_wakes), (0, 0));
        assert!(found.threshold > 0.55 && found.threshold <= 0.9, "{found:?}");
        let loose = search(&points, 12.0).unwrap();
        assert!(loose.threshold < found.threshold);
        assert!(points.windows(2).all(|pair| pair[0].misses <= pair[1].misses));
    }

    #[test]
    fn without_an_allowed_threshold_the_fewest_false_wakes_win() {
        let traces = [trace(4000, &[(500, 0.999)], &[])];
        let points = sweep(&traces, &DetectorConfig::default(), 50);
        let found = search(&points, 0.0).unwrap();
        assert_eq!(found.point.false_wakes, points.iter().map(|point| point.false_wakes).min().unwrap());
        assert_eq!(search(&[], 1.0), None);
    }
}
