//! Percentiles of latencies with intervals, held against the goals.

use std::collections::BTreeMap;

use serde::Serialize;
use tenpass_audio::Random;
use tenpass_stats::{Interval, quantile};

use super::{TurnKind, TurnPass};

const RESAMPLES: usize = 1000;
const CONFIDENCE: f64 = 0.95;

/// A goal in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Goal {
    /// For the median.
    pub p50_ms: f64,
    /// For the 95th percentile, where there is one.
    pub p95_ms: Option<f64>,
}

/// The goals: closed commands; turns of a model on a GPU, and on a CPU only.
pub fn goals(kind: TurnKind, gpu: bool) -> Option<Goal> {
    match (kind, gpu) {
        (TurnKind::Command, _) => Some(Goal { p50_ms: 650.0, p95_ms: Some(900.0) }),
        (TurnKind::Model, true) => Some(Goal { p50_ms: 950.0, p95_ms: Some(1600.0) }),
        (TurnKind::Model, false) => Some(Goal { p50_ms: 2500.0, p95_ms: None }),
        (TurnKind::Nothing, _) => None,
    }
}

/// What the interval says about a goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GoalState {
    /// The whole interval lies within it.
    Met,
    /// The whole interval lies beyond it.
    Missed,
    /// The interval holds it: more clips would tell.
    Open,
}

impl GoalState {
    fn of(interval: Interval, goal_ms: f64) -> Self {
        if interval.high <= goal_ms {
            Self::Met
        } else if interval.low > goal_ms {
            Self::Missed
        } else {
            Self::Open
        }
    }

    /// As printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Open => "open",
        }
    }
}

/// Latencies of one kind of turn, in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TurnRow {
    /// Which kind.
    pub kind: TurnKind,
    /// Clips.
    pub clips: u32,
    /// Measured turns.
    pub turns: u32,
    /// Turns that ended before the speaker did.
    pub cut_off: u32,
    /// Commands that were the one of the corpus, of those that the corpus has.
    pub right: u32,
    /// Median.
    pub p50_ms: f64,
    /// Its interval.
    pub p50_low_ms: f64,
    /// Its interval.
    pub p50_high_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// Its interval.
    pub p95_low_ms: f64,
    /// Its interval.
    pub p95_high_ms: f64,
    /// Mean of each part, in the order of [`tenpass_speech::PART_NAMES`]; they sum to the mean of the totals.
    pub parts_ms: Vec<f64>,
    /// Median time of the transcription itself, most of which passes while the end is awaited.
    pub transcribe_p50_ms: Option<f64>,
    /// The goal.
    pub goal: Option<Goal>,
    /// Whether the median meets it.
    pub p50: Option<GoalState>,
    /// Whether the 95th percentile meets it.
    pub p95: Option<GoalState>,
}

/// One row a kind of turn. Intervals by bootstrap over clips: passes of one clip resemble each other.
pub fn summarise_turns(passes: &[TurnPass], gpu: bool, seed: u64) -> Vec<TurnRow> {
    [TurnKind::Command, TurnKind::Model].into_iter().filter_map(|kind| row(passes, kind, gpu, seed)).collect()
}

fn row(passes: &[TurnPass], kind: TurnKind, gpu: bool, seed: u64) -> Option<TurnRow> {
    let of_kind: Vec<&TurnPass> = passes.iter().filter(|pass| pass.kind == kind && pass.total_us.is_some()).collect();
    let mut clips: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for pass in &of_kind {
        clips.entry(&pass.clip).or_default().push(pass.total_us.unwrap_or_default() as f64 / 1000.0);
    }
    let clips: Vec<Vec<f64>> = clips.into_values().collect();
    let p50 = percentile(&clips, 0.5, seed)?;
    let p95 = percentile(&clips, 0.95, seed)?;
    let goal = goals(kind, gpu);
    let parts = of_kind.first().map_or(0, |pass| pass.parts_us.len());
    let mean = |part: usize| {
        let sum: u64 = of_kind.iter().filter_map(|pass| pass.parts_us.get(part)).sum();
        sum as f64 / 1000.0 / of_kind.len() as f64
    };
    let mut transcribed: Vec<f64> =
        of_kind.iter().filter_map(|pass| pass.transcribe_us).map(|us| us as f64 / 1000.0).collect();
    transcribed.sort_unstable_by(f64::total_cmp);
    Some(TurnRow {
        kind,
        clips: clips.len() as u32,
        turns: of_kind.len() as u32,
        cut_off: of_kind.iter().filter(|pass| pass.cut_off).count() as u32,
        right: of_kind.iter().filter(|pass| pass.command.as_ref() == Some(&pass.intent)).count() as u32,
        p50_ms: p50.0,
        p50_low_ms: p50.1.low,
        p50_high_ms: p50.1.high,
        p95_ms: p95.0,
        p95_low_ms: p95.1.low,
        p95_high_ms: p95.1.high,
        parts_ms: (0..parts).map(mean).collect(),
        transcribe_p50_ms: quantile(&transcribed, 0.5),
        goal,
        p50: goal.map(|goal| GoalState::of(p50.1, goal.p50_ms)),
        p95: goal.and_then(|goal| goal.p95_ms).map(|goal_ms| GoalState::of(p95.1, goal_ms)),
    })
}

/// A percentile over all passes, and the middle 95 % of it over resamples of the clips.
fn percentile(clips: &[Vec<f64>], share: f64, seed: u64) -> Option<(f64, Interval)> {
    let of = |drawn: &mut dyn Iterator<Item = usize>| {
        let mut values: Vec<f64> = drawn.flat_map(|clip| clips[clip].iter().copied()).collect();
        values.sort_unstable_by(f64::total_cmp);
        quantile(&values, share)
    };
    let estimate = of(&mut (0..clips.len()))?;
    let mut random = Random::named(seed, "turn-percentiles");
    let mut drawn: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let picks: Vec<usize> =
                clips.iter().map(|_| ((random.unit() * clips.len() as f64) as usize).min(clips.len() - 1)).collect();
            of(&mut picks.into_iter())
        })
        .collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Some((estimate, Interval { low: quantile(&drawn, tail)?, high: quantile(&drawn, 1.0 - tail)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(clip: u32, total_ms: u64, kind: TurnKind) -> TurnPass {
        TurnPass {
            clip: format!("{clip}.wav"),
            pass: 1,
            said: String::new(),
            intent: "on".into(),
            heard: String::new(),
            kind,
            command: (kind == TurnKind::Command).then(|| "on".into()),
            total_us: Some(total_ms * 1000),
            parts_us: vec![total_ms * 1000 - 300_000, 300_000, 0, 0, 0, 0],
            transcribe_us: Some(200_000),
            cut_off: false,
            faults: Vec::new(),
        }
    }

    #[test]
    fn commands_and_turns_of_a_model_are_apart_and_held_against_their_goals() {
        let mut passes: Vec<TurnPass> = (0..40).map(|i| pass(i, 500 + u64::from(i), TurnKind::Command)).collect();
        passes.extend((0..40).map(|i| pass(100 + i, 2400 + u64::from(i) * 10, TurnKind::Model)));
        passes.push(TurnPass { total_us: None, kind: TurnKind::Nothing, ..pass(999, 400, TurnKind::Nothing) });
        let rows = summarise_turns(&passes, false, 1);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].turns, rows[0].right, rows[0].p50), (40, 40, Some(GoalState::Met)));
        assert!((rows[0].p50_ms - 519.5).abs() < 1e-9 && rows[0].p50_low_ms < 519.5 && rows[0].p50_high_ms > 519.5);
        assert_eq!((rows[1].p50, rows[1].p95), (Some(GoalState::Missed), None));
        assert!((rows[0].parts_ms.iter().sum::<f64>() - 519.5).abs() < 1e-9);
        assert_eq!(rows, summarise_turns(&passes, false, 1));
        assert!(summarise_turns(&[], true, 1).is_empty());
    }
}
