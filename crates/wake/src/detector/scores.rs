//! The event machine on scores that are known already: sweeps over thresholds run it many times.

use super::config::{DetectorConfig, frames};
use super::machine::{Machine, Rules, Step};

/// Positions of the scores at which an event fires, by the machine of a [`super::Detector`] with these settings and
/// no gates. There is one score every 80 ms, and none is of a cold window.
pub fn firing_scores(config: &DetectorConfig, scores: &[f32]) -> Vec<usize> {
    let mut machine = Machine::new(Rules {
        on: config.threshold_on,
        off: config.threshold_off,
        hits: config.hits,
        of: config.of,
        refractory_frames: frames(config.refractory_ms),
    });
    let mut step = |(at, score): (usize, &f32)| machine.step(at as u64, *score, || true) == Step::Fired;
    (0..scores.len()).zip(scores).filter(|(at, score)| step((*at, score))).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_that_stays_high_fires_once_and_again_after_it_fell() {
        let mut scores = vec![0.0; 10];
        scores.extend([0.9; 50]);
        scores.extend([0.0; 30]);
        scores.extend([0.9; 3]);
        assert_eq!(firing_scores(&DetectorConfig::default(), &scores), [11, 91]);
        assert_eq!(firing_scores(&DetectorConfig::default(), &[0.9, 0.0, 0.0, 0.9]), [] as [usize; 0]);
    }
}
