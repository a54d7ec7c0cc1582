//! From the scores of two heads to events.

/// Length of a frame in seconds.
pub const FRAME_S: f64 = 0.08;
/// From this score on either head makes an event.
pub const LOG_FLOOR: f32 = 0.2;
/// Scores within one second belong together: 12.5 frames.
const GAP_FRAMES: u64 = 12;
/// An event that does not end is logged after ten seconds.
const MOST_FRAMES: u64 = 125;

/// One frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FrameScores {
    /// Score of the head in service.
    pub champion: f32,
    /// Score of the candidate.
    pub candidate: f32,
    /// The head in service wakes the agent at this frame.
    pub champion_fired: bool,
    /// The candidate would.
    pub candidate_fired: bool,
    /// The speaker verifier's probability, where one is used.
    pub verifier: Option<f32>,
    /// Probability of speech.
    pub vad: f32,
    /// Whether the agent spoke.
    pub playback: bool,
}

/// An event of either head or both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// Its first and last frame at or above the floor.
    pub first: u64,
    /// See `first`.
    pub last: u64,
    /// Highest scores.
    pub champion: f32,
    /// See `champion`.
    pub candidate: f32,
    /// The frame of the highest score of both.
    pub peak: u64,
    /// The first frame at which the head in service fired.
    pub champion_fired: Option<u64>,
    /// The first frame at which the candidate fired.
    pub candidate_fired: Option<u64>,
    /// The verifier at the peak.
    pub verifier: Option<f32>,
    /// The highest probability of speech.
    pub vad: f32,
    /// Whether the agent spoke in any frame of it.
    pub playback: bool,
}

/// Collects frames into events.
#[derive(Debug, Clone, Default)]
pub struct Pairing {
    open: Option<Paired>,
}

impl Pairing {
    /// No event yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A frame; an event that ended before it comes back. Frames are counted by time: what was not scored
    /// because nothing sounded leaves a gap in the numbers.
    pub fn push(&mut self, frame: u64, scores: &FrameScores) -> Option<Paired> {
        let counts = scores.champion >= LOG_FLOOR
            || scores.candidate >= LOG_FLOOR
            || scores.champion_fired
            || scores.candidate_fired;
        let ended = self.open.filter(|open| frame > open.last + GAP_FRAMES || frame > open.first + MOST_FRAMES);
        if ended.is_some() {
            self.open = None;
        }
        if counts {
            self.add(frame, scores);
        }
        ended
    }

    /// The sound has ended: the event that is still open.
    pub fn finish(&mut self) -> Option<Paired> {
        self.open.take()
    }

    fn add(&mut self, frame: u64, scores: &FrameScores) {
        let open = self.open.get_or_insert(Paired {
            first: frame,
            last: frame,
            champion: 0.0,
            candidate: 0.0,
            peak: frame,
            champion_fired: None,
            candidate_fired: None,
            verifier: None,
            vad: 0.0,
            playback: false,
        });
        let best = open.champion.max(open.candidate);
        if scores.champion.max(scores.candidate) > best {
            open.peak = frame;
            open.verifier = scores.verifier.or(open.verifier);
        }
        open.last = frame;
        open.champion = open.champion.max(scores.champion);
        open.candidate = open.candidate.max(scores.candidate);
        open.vad = open.vad.max(scores.vad);
        open.playback |= scores.playback;
        if scores.champion_fired {
            open.champion_fired.get_or_insert(frame);
        }
        if scores.candidate_fired {
            open.candidate_fired.get_or_insert(frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events of two streams of scores; a head fires where its score is 0.5 or more.
    fn events(champion: &[(u64, f32)], candidate: &[(u64, f32)], frames: u64) -> Vec<Paired> {
        let score = |of: &[(u64, f32)], frame| of.iter().find(|(at, _)| *at == frame).map_or(0.0, |(_, score)| *score);
        let mut pairing = Pairing::new();
        let mut found: Vec<Paired> = (0..frames)
            .filter_map(|frame| {
                let (champion, candidate) = (score(champion, frame), score(candidate, frame));
                pairing.push(
                    frame,
                    &FrameScores {
                        champion,
                        candidate,
                        champion_fired: champion >= 0.5,
                        candidate_fired: candidate >= 0.5,
                        ..FrameScores::default()
                    },
                )
            })
            .collect();
        found.extend(pairing.finish());
        found
    }

    #[test]
    fn within_a_second_it_is_one_event() {
        let found = events(&[(10, 0.9)], &[(22, 0.7)], 100);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].champion_fired, found[0].candidate_fired, found[0].peak), (Some(10), Some(22), 10));
        assert_eq!(events(&[(10, 0.9)], &[(23, 0.7)], 100).len(), 2);
    }

    #[test]
    fn the_floor_and_the_end_of_the_sound() {
        assert!(events(&[(10, 0.19)], &[(20, 0.1)], 100).is_empty());
        let found = events(&[], &[(99, 0.2)], 100);
        assert_eq!((found.len(), found[0].candidate_fired), (1, None));
    }

    #[test]
    fn a_score_that_stays_high_is_not_kept_back_for_ever() {
        let stuck: Vec<(u64, f32)> = (0..1000).map(|frame| (frame, 0.9)).collect();
        let found = events(&stuck, &[], 1000);
        assert_eq!(found.len(), 8);
        assert!(found.iter().all(|event| event.last - event.first <= MOST_FRAMES));
    }
}
