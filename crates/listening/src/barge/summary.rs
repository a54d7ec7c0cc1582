//! Rates with their bounds.

use std::collections::BTreeMap;

use serde::Serialize;
use tenpass_stats::{Tally, clopper_pearson, poisson_rate, quantile};

use super::BargePass;

const CONFIDENCE: f64 = 0.95;

/// Everything at one level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SnrRow {
    /// The level of the one who interrupts over the echo, in dB.
    pub snr_db: f64,
    /// Trials.
    pub trials: u32,
    /// Interruptions that were missed.
    pub missed: u32,
    /// Their share, with Clopper and Pearson's interval.
    pub miss_rate: f64,
    /// See `miss_rate`.
    pub miss_low: f64,
    /// See `miss_rate`.
    pub miss_high: f64,
    /// From onset to duck, in milliseconds: median.
    pub duck_p50_ms: Option<f64>,
    /// From onset to stop, in milliseconds: median.
    pub stop_p50_ms: Option<f64>,
    /// From onset to stop, in milliseconds: 95th percentile.
    pub stop_p95_ms: Option<f64>,
}

/// The bench's answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BargeSummary {
    /// Playback without interruption, in hours.
    pub playback_h: f64,
    /// Stops in it.
    pub false_stops: u32,
    /// Stops an hour, with the exact Poisson interval.
    pub stops_per_h: f64,
    /// See `stops_per_h`.
    pub stops_low_per_h: f64,
    /// See `stops_per_h`.
    pub stops_high_per_h: f64,
    /// Ducks an hour.
    pub ducks_per_h: f64,
    /// By level.
    pub levels: Vec<SnrRow>,
}

/// Counts passes. False stops before the onset of a trial count with the playback until then.
pub fn summarise_barge(passes: &[BargePass]) -> BargeSummary {
    let playback_h = passes.iter().map(|pass| pass.playback_s).sum::<f64>() / 3600.0;
    let false_stops = passes.iter().map(|pass| pass.false_stops).sum();
    let ducks: u32 = passes.iter().map(|pass| pass.false_ducks).sum();
    let bounds = poisson_rate(false_stops, playback_h, CONFIDENCE);
    let mut levels: BTreeMap<i64, Vec<&BargePass>> = BTreeMap::new();
    for pass in passes {
        if let Some(snr_db) = pass.snr_db {
            levels.entry((snr_db * 1000.0).round() as i64).or_default().push(pass);
        }
    }
    let rate = |count: u32| if playback_h > 0.0 { f64::from(count) / playback_h } else { 0.0 };
    BargeSummary {
        playback_h,
        false_stops,
        stops_per_h: rate(false_stops),
        stops_low_per_h: bounds.low,
        stops_high_per_h: bounds.high,
        ducks_per_h: rate(ducks),
        levels: levels.into_iter().map(|(level, passes)| row(level as f64 / 1000.0, &passes)).collect(),
    }
}

fn row(snr_db: f64, passes: &[&BargePass]) -> SnrRow {
    let trials = passes.len() as u32;
    let missed = passes.iter().filter(|pass| pass.stop_ms.is_none()).count() as u32;
    let bounds = clopper_pearson(Tally::new(missed, trials - missed), CONFIDENCE);
    let of = |share: f64, which: fn(&BargePass) -> Option<f64>| {
        let mut values: Vec<f64> = passes.iter().filter_map(|pass| which(pass)).collect();
        values.sort_unstable_by(f64::total_cmp);
        quantile(&values, share)
    };
    SnrRow {
        snr_db,
        trials,
        missed,
        miss_rate: f64::from(missed) / f64::from(trials.max(1)),
        miss_low: bounds.low,
        miss_high: bounds.high,
        duck_p50_ms: of(0.5, |pass| pass.duck_ms),
        stop_p50_ms: of(0.5, |pass| pass.stop_ms),
        stop_p95_ms: of(0.95, |pass| pass.stop_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::barge::{BargeBench, BargePlan, BargeSounds};
    use tenpass_audio::{Audio, Random, SPEECH_RATE};
    use tenpass_speech::VoiceActivity;

    #[test]
    fn bounds_are_those_of_the_books() {
        let quiet = BargePass {
            index: 0,
            snr_db: None,
            playback_s: 3600.0,
            false_stops: 0,
            false_ducks: 2,
            duck_ms: None,
            stop_ms: None,
        };
        let trial = |index, stop_ms| BargePass { index, snr_db: Some(5.0), playback_s: 0.0, stop_ms, ..quiet.clone() };
        let mut passes = vec![quiet.clone()];
        passes.extend((0..10).map(|index| trial(index, Some(260.0 + f64::from(index)))));
        let found = summarise_barge(&passes);
        assert!((found.stops_high_per_h - 3.688_879).abs() < 1e-5, "{found:?}");
        assert_eq!((found.levels[0].missed, found.levels[0].trials), (0, 10));
        assert!((found.levels[0].miss_high - 0.308_497).abs() < 1e-5);
        assert_eq!(found.levels[0].stop_p50_ms, Some(264.5));
    }

    /// Everything is speech: the residual gate alone decides.
    struct Always;

    impl VoiceActivity for Always {
        fn frame_samples(&self) -> usize {
            512
        }

        fn push(&mut self, _frame: &[f32]) -> f32 {
            0.95
        }

        fn reset(&mut self) {}
    }

    /// Noise in syllables of a seeded loudness.
    fn babble(seconds: f64, seed: u64) -> Vec<f32> {
        let mut random = Random::new(seed);
        let mut samples = Vec::new();
        while (samples.len() as f64) < seconds * 16_000.0 {
            let level = 0.03 + 0.2 * random.unit();
            samples.extend((0..2400).map(|_| ((random.unit() * 2.0 - 1.0) * level) as f32));
            samples.extend(std::iter::repeat_n(0.0, 600));
        }
        samples
    }

    #[test]
    fn the_louder_the_voice_the_fewer_are_missed_and_the_agent_does_not_interrupt_itself() {
        let plan = BargePlan { hours: 0.05, snrs_db: vec![-20.0, 25.0], trials: 8, ..BargePlan::default() };
        let speech = (0..4).map(|seed| Audio::new(babble(1.5, 100 + seed), SPEECH_RATE)).collect();
        let sounds = BargeSounds { narration: babble(60.0, 7), speech };
        let run = || {
            let bench = BargeBench::new(plan.clone(), sounds.clone()).unwrap();
            let mut passes: Vec<BargePass> = (0..bench.quiet_passes()).map(|i| bench.quiet(i, &mut Always)).collect();
            for snr_db in &plan.snrs_db {
                passes.extend((0..plan.trials).map(|index| bench.trial(*snr_db, index, &mut Always)));
            }
            passes
        };
        let passes = run();
        assert_eq!(passes, run());
        let found = summarise_barge(&passes);
        assert_eq!(found.false_stops, 0, "{found:?}");
        assert_eq!((found.levels[0].missed, found.levels[1].missed), (8, 0), "{found:?}");
        let stop_ms = found.levels[1].stop_p50_ms.unwrap();
        assert!((220.0..=400.0).contains(&stop_ms), "{stop_ms}");
    }
}
