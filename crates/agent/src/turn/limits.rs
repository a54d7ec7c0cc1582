//! The numbers of the acceptance rows (K2 to K5, K12, R5, R9), all configurable.

use std::time::Duration;

use tenpass_model::ThinkLevel;

use crate::policy::Profile;

/// The limits of one turn. [`Limits::default`] is the panel's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Requests to the model in one run of the loop (K2).
    pub rounds_per_loop: u32,
    /// Requests to the model in one turn, retries included (K3). The requests of a compression are
    /// the application's own and are not counted; there are at most two of them for every
    /// [`Self::compress_after_calls`] calls, and they cost the turn's time like any other.
    pub rounds_per_turn: u32,
    /// A retry that would get fewer rounds than this is skipped (K3).
    pub minimum_relaunch: u32,
    /// How often one call may be made in a turn (Z4); the next one is blocked.
    pub same_call: u32,
    /// Blocked calls in a row that end the loop (Z5).
    pub blocks_in_row: u32,
    /// Calls of one answer that are looked at; the rest are rejected.
    pub calls_per_round: usize,
    /// Calls that ran before the middle of the conversation is summarised (R5); 0 never does it.
    pub compress_after_calls: u32,
    /// Messages at the end that a compression keeps (R5).
    pub keep_last: usize,
    /// How long a confirmation may stand open (K82). The turn's time stands still meanwhile.
    pub confirm_timeout: Duration,
    /// The turn's time (K4).
    pub turn_timeout: Duration,
    /// What [`Self::turn_timeout`] is multiplied by when thinking is high (K4).
    pub think_high_factor: u32,
    /// The time an escalation gets beyond the turn's (K11).
    pub escalation_timeout: Duration,
    /// Characters of a result in the trace (R9).
    pub trace_result_chars: usize,
    /// Characters of a message (R9).
    pub message_chars: usize,
    /// Characters of a result as the model gets it (R9). The tool's own sentence about the scope
    /// (K22) comes on top.
    pub result_chars: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rounds_per_loop: 8,
            rounds_per_turn: 12,
            minimum_relaunch: 2,
            same_call: 3,
            blocks_in_row: 3,
            calls_per_round: 16,
            compress_after_calls: 4,
            keep_last: 4,
            confirm_timeout: Duration::from_mins(1),
            turn_timeout: Duration::from_mins(2),
            think_high_factor: 2,
            escalation_timeout: Duration::from_mins(1),
            trace_result_chars: 800,
            message_chars: 50_000,
            result_chars: 8_000,
        }
    }
}

impl Limits {
    /// The limits of a front end: the bar has 45 s and no more when thinking (K4), a spoken
    /// confirmation ends after 12 s of silence (K82).
    pub fn for_profile(profile: Profile) -> Self {
        let panel = Self::default();
        match profile {
            Profile::Panel => panel,
            Profile::Bar => Self { turn_timeout: Duration::from_secs(45), think_high_factor: 1, ..panel },
            Profile::Voice => Self { confirm_timeout: Duration::from_secs(12), ..panel },
        }
    }

    /// The same limits with the longer loop of the R1 profile: ten rounds.
    pub fn with_long_loop(self) -> Self {
        Self { rounds_per_loop: 10, ..self }
    }

    /// The turn's time at this thinking level (K4).
    pub fn time(&self, think: Option<ThinkLevel>) -> Duration {
        if think == Some(ThinkLevel::High) { self.turn_timeout * self.think_high_factor } else { self.turn_timeout }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_are_the_defaults() {
        let limits = Limits::default();
        assert_eq!((limits.rounds_per_loop, limits.rounds_per_turn, limits.minimum_relaunch), (8, 12, 2));
        assert_eq!((limits.same_call, limits.blocks_in_row), (3, 3));
        assert_eq!((limits.compress_after_calls, limits.keep_last), (4, 4));
        assert_eq!((limits.trace_result_chars, limits.message_chars, limits.result_chars), (800, 50_000, 8_000));
        assert_eq!(limits.with_long_loop().rounds_per_loop, 10);
    }

    #[test]
    fn a_turn_has_120_s_doubled_when_thinking_high_and_the_bar_45() {
        let seconds = |profile, think| Limits::for_profile(profile).time(think).as_secs();
        assert_eq!(seconds(Profile::Panel, None), 120);
        assert_eq!(seconds(Profile::Panel, Some(ThinkLevel::Medium)), 120);
        assert_eq!(seconds(Profile::Panel, Some(ThinkLevel::High)), 240);
        assert_eq!(seconds(Profile::Bar, Some(ThinkLevel::High)), 45);
        assert_eq!(Limits::for_profile(Profile::Voice).confirm_timeout.as_secs(), 12);
        assert_eq!(Limits::for_profile(Profile::Panel).confirm_timeout.as_secs(), 60);
    }
}
