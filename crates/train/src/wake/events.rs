//! Events of a detector held against what was said.
//!
//! A hit is an event from 0.2 s before to 1.0 s after the end of a word; a second event there is ignored.
//! Every other event is a false wake; false wakes within 2 s of one that counted are the same. Hours that
//! false wakes are counted over exclude the hit windows.

use serde::{Deserialize, Serialize};

/// The hit window around the end of a word, in seconds.
pub const HIT_WINDOW_S: (f64, f64) = (-0.2, 1.0);
/// False wakes this close to one that counted are the same.
pub const MERGE_S: f64 = 2.0;

/// What was said when, in continuous sound.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Truth {
    /// Length of the sound in seconds.
    pub seconds: f64,
    /// The wake words, in order of their ends.
    pub words: Vec<Word>,
    /// Where somebody speaks: begin and end in seconds, in order, without overlaps.
    pub speech: Vec<(f64, f64)>,
}

/// A wake word in continuous sound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Word {
    /// Where it ends, in seconds.
    pub end_s: f64,
    /// Which clip it is of, by the caller's numbers.
    pub clip: usize,
}

/// An event of a detector.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Wake {
    /// When it was told, in seconds.
    pub time_s: f64,
    /// The highest threshold at which it would still be one.
    pub peak: f32,
}

/// Events held against the truth.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matched {
    /// For each word the event that hit it.
    pub hits: Vec<Option<Wake>>,
    /// False wakes that count.
    pub false_wakes: Vec<Wake>,
    /// Hours outside of the hit windows.
    pub hours: f64,
    /// Hours of speech outside of the hit windows.
    pub speech_hours: f64,
}

impl Matched {
    /// Words that were missed.
    pub fn misses(&self) -> usize {
        self.hits.iter().filter(|hit| hit.is_none()).count()
    }

    /// False wakes an hour; 0 where there is no time.
    pub fn false_wakes_per_hour(&self) -> f64 {
        if self.hours > 0.0 { self.false_wakes.len() as f64 / self.hours } else { 0.0 }
    }

    /// Share of the words that were hit; 0 where there is none.
    pub fn recall(&self) -> f64 {
        let words = self.hits.len();
        if words == 0 { 0.0 } else { (words - self.misses()) as f64 / words as f64 }
    }

    /// This and another stretch of sound together.
    pub fn extend(&mut self, other: Self) {
        self.hits.extend(other.hits);
        self.false_wakes.extend(other.false_wakes);
        self.hours += other.hours;
        self.speech_hours += other.speech_hours;
    }
}

/// Holds events, in order of their times, against the truth.
pub fn matched(truth: &Truth, events: &[Wake]) -> Matched {
    let mut found = Matched { hits: vec![None; truth.words.len()], ..Matched::default() };
    let mut last_false = f64::NEG_INFINITY;
    for event in events {
        let in_window = |word: &Word| {
            let since = event.time_s - word.end_s;
            (HIT_WINDOW_S.0..=HIT_WINDOW_S.1).contains(&since)
        };
        // Words are in order: those near the event stand together.
        let from = truth.words.partition_point(|word| word.end_s + HIT_WINDOW_S.1 < event.time_s);
        let near = from..truth.words.len().min(from + truth.words[from..].partition_point(in_window));
        if let Some(word) = near.clone().find(|word| found.hits[*word].is_none()) {
            found.hits[word] = Some(*event);
        } else if near.is_empty() && event.time_s - last_false > MERGE_S {
            last_false = event.time_s;
            found.false_wakes.push(*event);
        }
    }
    let windows = hit_windows(truth);
    let inside: f64 = windows.iter().map(|(begin, end)| end - begin).sum();
    let speech: f64 = truth.speech.iter().map(|(begin, end)| end - begin).sum();
    found.hours = (truth.seconds - inside).max(0.0) / 3600.0;
    found.speech_hours = (speech - overlap(&truth.speech, &windows)).max(0.0) / 3600.0;
    found
}

/// The hit windows, cut to the sound and joined where they overlap.
fn hit_windows(truth: &Truth) -> Vec<(f64, f64)> {
    let mut joined: Vec<(f64, f64)> = Vec::with_capacity(truth.words.len());
    for word in &truth.words {
        let begin = (word.end_s + HIT_WINDOW_S.0).clamp(0.0, truth.seconds);
        let end = (word.end_s + HIT_WINDOW_S.1).clamp(0.0, truth.seconds);
        match joined.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((begin, end)),
        }
    }
    joined
}

/// Seconds that two ordered lists of spans share.
fn overlap(left: &[(f64, f64)], right: &[(f64, f64)]) -> f64 {
    let (mut a, mut b, mut sum) = (0, 0, 0.0);
    while let (Some(one), Some(other)) = (left.get(a), right.get(b)) {
        sum += (one.1.min(other.1) - one.0.max(other.0)).max(0.0);
        if one.1 < other.1 { a += 1 } else { b += 1 }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth(ends: &[f64], seconds: f64) -> Truth {
        let words = ends.iter().enumerate().map(|(clip, &end_s)| Word { end_s, clip }).collect();
        Truth { seconds, words, speech: Vec::new() }
    }

    fn events(times: &[f64]) -> Vec<Wake> {
        times.iter().map(|&time_s| Wake { time_s, peak: 0.9 }).collect()
    }

    #[test]
    fn the_ends_of_the_hit_window_belong_to_it() {
        let found = |time: f64| matched(&truth(&[10.0], 100.0), &events(&[time])).misses() == 0;
        assert!(found(9.8) && found(10.0) && found(11.0));
        assert!(!found(9.79) && !found(11.01));
    }

    #[test]
    fn a_second_event_in_the_window_is_ignored_and_one_after_it_is_false() {
        let both = matched(&truth(&[10.0], 100.0), &events(&[10.1, 10.6]));
        assert_eq!((both.misses(), both.false_wakes.len()), (0, 0));
        let late = matched(&truth(&[10.0], 100.0), &events(&[10.1, 11.6]));
        assert_eq!((late.misses(), late.false_wakes.len()), (0, 1));
    }

    #[test]
    fn false_wakes_within_two_seconds_are_one() {
        let found = matched(&truth(&[], 100.0), &events(&[1.0, 2.9, 3.1, 20.0, 22.0, 22.1]));
        let times: Vec<f64> = found.false_wakes.iter().map(|wake| wake.time_s).collect();
        assert_eq!(times, [1.0, 3.1, 20.0, 22.1]);
    }

    #[test]
    fn neighbouring_words_are_hit_once_each() {
        let found = matched(&truth(&[10.0, 10.7], 100.0), &events(&[10.3, 10.9]));
        assert_eq!(found.misses(), 0);
        assert_eq!(found.hits[0].map(|wake| wake.time_s), Some(10.3));
        // Only one event: the second word is missed, and nothing is false.
        let one = matched(&truth(&[10.0, 10.7], 100.0), &events(&[10.8]));
        assert_eq!((one.misses(), one.false_wakes.len()), (1, 0));
    }

    #[test]
    fn hours_exclude_the_hit_windows() {
        let mut truth = truth(&[10.0, 10.7, 99.5], 100.0);
        truth.speech = vec![(9.0, 10.0), (50.0, 60.0)];
        let found = matched(&truth, &[]);
        // 9.8 to 11.7, and 99.3 to the end.
        assert!((found.hours * 3600.0 - (100.0 - 1.9 - 0.7)).abs() < 1e-9);
        assert!((found.speech_hours * 3600.0 - 10.8).abs() < 1e-9);
        assert!((found.recall()).abs() < 1e-12);
    }
}
