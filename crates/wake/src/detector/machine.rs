//! The event machine of one head: IDLE → ARMED (k of n frames over the threshold) → FIRED → refractory,
//! until the score is below the lower threshold and the time has passed.
//!
//! It counts frames of 80 ms and is fed every one, also during refractory: an event is one event
//! however long the score stays high.

/// Its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rules {
    pub(super) on: f32,
    pub(super) off: f32,
    pub(super) hits: usize,
    pub(super) of: usize,
    pub(super) refractory_frames: u64,
}

/// Where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    /// Nothing near.
    Idle,
    /// Some of the last frames are over the threshold; `refused` when there were enough and a gate said no.
    Armed { refused: bool },
    /// It fired at this frame.
    Fired { frame: u64 },
}

/// What a frame has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing.
    Quiet,
    /// An event began.
    Fired,
    /// The event is over.
    Ended,
    /// There were enough frames, and the gate never agreed.
    Rejected,
}

/// One head's machine.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    rules: Rules,
    state: State,
    /// The last scores, newest last; at most `of`.
    recent: Vec<f32>,
}

impl Machine {
    pub(super) fn new(rules: Rules) -> Self {
        Self { rules, state: State::Idle, recent: Vec::with_capacity(rules.of + 1) }
    }

    pub(super) fn set_thresholds(&mut self, on: f32, off: f32) {
        (self.rules.on, self.rules.off) = (on, off);
    }

    pub(super) fn reset(&mut self) {
        self.state = State::Idle;
        self.recent.clear();
    }

    /// Whether an event is going on, or may begin: then its peak is worth keeping.
    pub(super) fn is_active(&self) -> bool {
        self.state != State::Idle
    }

    /// Whether a score is over the threshold.
    pub(super) fn counts(&self, score: f32) -> bool {
        score >= self.rules.on
    }

    /// Whether it has fired and is not over.
    pub(super) fn has_fired(&self) -> bool {
        matches!(self.state, State::Fired { .. })
    }

    /// The highest threshold at which the last frames are enough.
    pub(super) fn strength(&self) -> f32 {
        let mut sorted = self.recent.clone();
        sorted.sort_unstable_by(|one, two| two.total_cmp(one));
        sorted.get(self.rules.hits - 1).copied().unwrap_or(0.0)
    }

    /// Takes one frame's score. `gate` is asked when there are enough frames.
    pub(super) fn step(&mut self, frame: u64, score: f32, gate: impl FnOnce() -> bool) -> Step {
        self.recent.push(score);
        if self.recent.len() > self.rules.of {
            self.recent.remove(0);
        }
        if let State::Fired { frame: fired } = self.state {
            if score < self.rules.off && frame - fired >= self.rules.refractory_frames {
                // What was heard during the event does not count for the next one.
                self.reset();
                return Step::Ended;
            }
            return Step::Quiet;
        }
        let refused = matches!(self.state, State::Armed { refused: true });
        if self.recent.iter().all(|score| *score < self.rules.on) {
            self.state = State::Idle;
            return if refused { Step::Rejected } else { Step::Quiet };
        }
        let enough = self.strength() >= self.rules.on;
        if enough && gate() {
            self.state = State::Fired { frame };
            return Step::Fired;
        }
        self.state = State::Armed { refused: refused || enough };
        Step::Quiet
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rules(hits: usize, of: usize) -> Rules {
        Rules { on: 0.5, off: 0.3, hits, of, refractory_frames: 19 }
    }

    fn run(rules: Rules, scores: &[f32]) -> Vec<(usize, Step)> {
        let mut machine = Machine::new(rules);
        let steps =
            scores.iter().enumerate().map(|(frame, score)| (frame, machine.step(frame as u64, *score, || true)));
        steps.filter(|(_, step)| *step != Step::Quiet).collect()
    }

    #[test]
    fn two_of_three_fire_and_one_does_not() {
        assert_eq!(run(rules(2, 3), &[0.0, 0.9, 0.0, 0.0, 0.9, 0.0, 0.0]), []);
        assert_eq!(run(rules(2, 3), &[0.0, 0.9, 0.1, 0.6, 0.0]), [(3, Step::Fired)]);
        assert_eq!(run(rules(2, 3), &[0.5, 0.5]), [(1, Step::Fired)]);
    }

    #[test]
    fn an_event_is_one_while_the_score_stays_and_ends_below_the_lower_threshold_after_the_time() {
        let mut scores = vec![0.9; 100];
        assert_eq!(run(rules(1, 1), &scores), [(0, Step::Fired)]);
        scores.extend([0.4, 0.29, 0.9]);
        assert_eq!(run(rules(1, 1), &scores), [(0, Step::Fired), (101, Step::Ended), (102, Step::Fired)]);
        // A burst within 1.5 s counts once.
        let burst: Vec<f32> = (0..18).map(|n| if n % 3 == 0 { 0.9 } else { 0.0 }).collect();
        assert_eq!(run(rules(1, 1), &burst), [(0, Step::Fired)]);
    }

    #[test]
    fn a_gate_is_asked_again_and_its_no_is_told_once() {
        let mut machine = Machine::new(rules(1, 1));
        let steps: Vec<Step> = [0.9, 0.9, 0.9].iter().zip(0..).map(|(s, f)| machine.step(f, *s, || f == 2)).collect();
        assert_eq!(steps, [Step::Quiet, Step::Quiet, Step::Fired]);
        machine.reset();
        let steps: Vec<Step> =
            [0.9, 0.9, 0.1, 0.1].iter().zip(0..).map(|(s, f)| machine.step(f, *s, || false)).collect();
        assert_eq!(steps, [Step::Quiet, Step::Quiet, Step::Rejected, Step::Quiet]);
    }

    proptest! {
        /// Two events are at least the refractory time apart, and the score was low in between.
        #[test]
        fn events_are_apart(scores in proptest::collection::vec(0.0f32..1.0, 0..300), hits in 1usize..4, more in 0usize..3) {
            let steps = run(rules(hits, hits + more), &scores);
            let fired: Vec<usize> = steps.iter().filter(|(_, step)| *step == Step::Fired).map(|(frame, _)| *frame).collect();
            for pair in fired.windows(2) {
                prop_assert!(pair[1] - pair[0] >= 19);
                prop_assert!(scores[pair[0]..pair[1]].iter().any(|score| *score < 0.3));
            }
        }
    }
}
