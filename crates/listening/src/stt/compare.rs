//! Is one arm better than another on the same clips?
//!
//! Voices of one command are not independent: a command is a cluster. The verdict goes by a permutation test that
//! flips whole commands, corrected by Holm over all comparisons of the run; McNemar's exact test on single clips stands
//! beside it. The interval of the difference is the clustered t interval; where every clip moved alike, which has no
//! spread, Tango's score interval with one observation a command.

use std::collections::BTreeMap;

use serde::Serialize;
use tenpass_stats::special::t_critical;
use tenpass_stats::{Interval, Pair, Tally, generalise, holm, mcnemar_exact, permutation_clustered, tango};

/// What the data say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Judgement {
    /// Better, by at least the smallest difference that matters.
    #[serde(rename = "REAL")]
    Real,
    /// Worse.
    #[serde(rename = "REGRESSED")]
    Regressed,
    /// The difference is smaller than what matters.
    #[serde(rename = "NO CHANGE")]
    NoChange,
    /// These clips cannot tell.
    #[serde(rename = "INCONCLUSIVE")]
    Inconclusive,
}

impl Judgement {
    /// The word that is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Real => "REAL",
            Self::Regressed => "REGRESSED",
            Self::NoChange => "NO CHANGE",
            Self::Inconclusive => "INCONCLUSIVE",
        }
    }
}

/// An arm against its reference on the clips that both transcribed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The reference's id.
    pub reference: String,
    /// Command clips that both have.
    pub clips: usize,
    /// Commands among them: the independent observations.
    pub commands: usize,
    /// Share understood here minus share understood there.
    pub difference: f64,
    /// 95 % interval of the difference, clustered by command.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Clips understood only by the reference, and only by this arm; with several passes, mostly.
    pub only_before: u32,
    /// See `only_before`.
    pub only_after: u32,
    /// McNemar's exact test on these.
    pub p_mcnemar: f64,
    /// Permutation test by command.
    pub p: f64,
    /// The same after Holm's correction over all comparisons of the run.
    pub p_holm: f64,
    /// What it means.
    pub verdict: Judgement,
}

/// Successes by clip: its command and the tally of its passes.
pub(crate) type ByClip<'a> = BTreeMap<&'a str, (String, Tally)>;

const ALPHA: f64 = 0.05;

/// Compares arms with their references; `pairs` are (arm, reference's id, reference). The p-values are corrected over all of them.
pub fn compare(
    pairs: &[(&ByClip<'_>, String, &ByClip<'_>)],
    smallest_effect: f64,
    seed: u64,
) -> Vec<Option<Comparison>> {
    let mut raw: Vec<Option<(Comparison, Interval)>> =
        pairs.iter().map(|(arm, id, reference)| one(arm, id, reference, seed)).collect();
    let p: Vec<f64> = raw.iter().flatten().map(|(found, _)| found.p).collect();
    for ((found, interval_90), p_holm) in raw.iter_mut().flatten().zip(holm(&p)) {
        found.p_holm = p_holm;
        found.verdict = judge(found, *interval_90, smallest_effect);
    }
    raw.into_iter().map(|found| found.map(|(found, _)| found)).collect()
}

fn judge(found: &Comparison, interval_90: Interval, smallest_effect: f64) -> Judgement {
    let proven = found.p_holm <= ALPHA;
    if proven && found.difference < 0.0 {
        Judgement::Regressed
    } else if proven && found.difference >= smallest_effect {
        Judgement::Real
    } else if interval_90.low > -smallest_effect && interval_90.high < smallest_effect {
        Judgement::NoChange
    } else {
        Judgement::Inconclusive
    }
}

fn one(arm: &ByClip<'_>, id: &str, reference: &ByClip<'_>, seed: u64) -> Option<(Comparison, Interval)> {
    let mut clusters: BTreeMap<&str, usize> = BTreeMap::new();
    let mut pairs = Vec::new();
    let (mut only_before, mut only_after) = (0, 0);
    for (clip, (command, after)) in arm {
        let Some((_, before)) = reference.get(clip) else { continue };
        let next = clusters.len();
        let cluster = *clusters.entry(command).or_insert(next);
        let mostly = |tally: &Tally| tally.rate().is_some_and(|rate| rate > 0.5);
        match (mostly(before), mostly(after)) {
            (true, false) => only_before += 1,
            (false, true) => only_after += 1,
            _ => {}
        }
        pairs.push(Pair::new(*before, *after).in_cluster(cluster));
    }
    let moves: Vec<(usize, f64)> = pairs.iter().filter_map(|pair| Some((pair.cluster, pair.difference()?))).collect();
    if moves.is_empty() {
        return None;
    }
    let difference = moves.iter().map(|(_, moved)| moved).sum::<f64>() / moves.len() as f64;
    let [interval_95, interval_90] =
        [0.95, 0.90].map(|confidence| interval(&pairs, difference, clusters.len(), confidence));
    let found = Comparison {
        reference: id.to_owned(),
        clips: moves.len(),
        commands: clusters.len(),
        difference,
        low: interval_95.low,
        high: interval_95.high,
        only_before,
        only_after,
        p_mcnemar: mcnemar_exact(only_before, only_after),
        p: permutation_clustered(&moves, seed).p,
        p_holm: 1.0,
        verdict: Judgement::Inconclusive,
    };
    Some((found, interval_90))
}

fn interval(pairs: &[Pair], difference: f64, clusters: usize, confidence: f64) -> Interval {
    let Some(found) = generalise(pairs) else {
        // No spread: all that is known is how many commands agree.
        let count = |share: f64| (share * clusters as f64).round() as u32;
        let (b, c) = (count((-difference).max(0.0)), count(difference.max(0.0)));
        return tango(b, c, u32::try_from(clusters).unwrap_or(u32::MAX), confidence);
    };
    let half = t_critical(found.degrees_of_freedom as f64, confidence) * found.standard_error;
    Interval { low: (difference - half).max(-1.0), high: (difference + half).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(files: &[String], command: impl Fn(usize) -> usize, right: impl Fn(usize) -> bool) -> ByClip<'_> {
        let tally = |index| Tally::new(u32::from(right(index)), u32::from(!right(index)));
        files.iter().enumerate().map(|(i, file)| (file.as_str(), (format!("c{}", command(i)), tally(i)))).collect()
    }

    fn judged(
        count: usize,
        command: impl Fn(usize) -> usize + Copy,
        before: impl Fn(usize) -> bool,
        after: impl Fn(usize) -> bool,
    ) -> Comparison {
        let files: Vec<String> = (0..count).map(|index| format!("{index:03}.wav")).collect();
        let (before, after) = (side(&files, command, before), side(&files, command, after));
        compare(&[(&after, "none".to_owned(), &before)], 0.05, 1).remove(0).unwrap()
    }

    #[test]
    fn the_numbers_of_the_seed_are_real_and_those_of_its_list_are_not() {
        // 60 clips, 20 commands by three voices; 24 understood before, 42 after.
        let found = judged(60, |i| i % 20, |i| i < 24, |i| i < 42);
        assert_eq!((found.only_before, found.only_after, found.verdict), (0, 18, Judgement::Real));
        assert!(found.p_holm < 0.001 && found.low > 0.0);
        // One clip less is less than what matters, not a loss.
        let found = judged(60, |i| i % 20, |i| i < 24, |i| i < 23);
        assert_eq!((found.only_before, found.verdict), (1, Judgement::NoChange));
    }

    #[test]
    fn twenty_voices_of_one_command_prove_nothing() {
        let found = judged(20, |_| 0, |_| false, |_| true);
        assert!((found.p - 1.0).abs() < 1e-12 && found.p_mcnemar < 1e-5);
        assert_eq!((found.commands, found.verdict), (1, Judgement::Inconclusive));
    }

    #[test]
    fn worse_is_a_regression_and_the_same_is_no_change() {
        assert_eq!(judged(40, |i| i, |_| true, |i| i > 20).verdict, Judgement::Regressed);
        assert_eq!(judged(200, |i| i, |i| i % 2 == 0, |i| i % 2 == 0).verdict, Judgement::NoChange);
        // The same on few clips is not shown to be the same.
        assert_eq!(judged(20, |i| i, |i| i % 2 == 0, |i| i % 2 == 0).verdict, Judgement::Inconclusive);
    }

    #[test]
    fn many_arms_are_corrected_for() {
        let files: Vec<String> = (0..6).map(|index| format!("{index}.wav")).collect();
        let (before, after) = (side(&files, |i| i, |_| false), side(&files, |i| i, |_| true));
        let same = side(&files, |i| i, |_| false);
        // 2/2⁶ = 0.031 alone, 0.094 among three.
        let all = compare(
            &[(&after, "a".into(), &before), (&same, "b".into(), &before), (&same, "c".into(), &before)],
            0.05,
            1,
        );
        let first = all[0].as_ref().unwrap();
        assert!(first.p < 0.05 && first.p_holm > 0.05);
        assert_eq!(first.verdict, Judgement::Inconclusive);
    }
}
