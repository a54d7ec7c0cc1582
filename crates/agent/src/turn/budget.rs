//! Rounds and retries (K2, K3, K5).

use tenpass_trace::RetryReason;

use super::Limits;

/// The rounds of a turn. A retry starts the loop anew with what is left of the turn.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    limits: Limits,
    /// Requests of the whole turn.
    rounds: u32,
    /// Requests the running loop may still make.
    loop_left: u32,
    retried: Vec<RetryReason>,
}

impl Budget {
    pub(super) fn new(limits: Limits) -> Self {
        let loop_left = limits.rounds_per_loop.min(limits.rounds_per_turn);
        Self { limits, rounds: 0, loop_left, retried: Vec::new() }
    }

    pub(super) fn rounds(&self) -> u32 {
        self.rounds
    }

    /// One request more.
    pub(super) fn spend(&mut self) {
        self.rounds += 1;
        self.loop_left = self.loop_left.saturating_sub(1);
    }

    /// The running loop may make no further request.
    pub(super) fn is_spent(&self) -> bool {
        self.loop_left == 0
    }

    /// Starts the loop again for this reason, once a turn each. False when it was done before or
    /// fewer rounds than a relaunch needs are left.
    pub(super) fn relaunch(&mut self, reason: RetryReason) -> bool {
        let left = self.limits.rounds_per_turn.saturating_sub(self.rounds);
        if self.retried.contains(&reason) || left < self.limits.minimum_relaunch || left == 0 {
            return false;
        }
        self.retried.push(reason);
        self.loop_left = left.min(self.limits.rounds_per_loop);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relaunch_gets_what_is_left_and_is_skipped_below_two() {
        let mut budget = Budget::new(Limits::default());
        (0..8).for_each(|_| budget.spend());
        assert!(budget.is_spent());
        assert!(budget.relaunch(RetryReason::NarratedAction));
        assert_eq!(budget.loop_left, 4, "12 less 8");
        assert!(!budget.relaunch(RetryReason::NarratedAction), "each reason once");
        (0..3).for_each(|_| budget.spend());
        assert!(!budget.relaunch(RetryReason::EmptyFinal), "one round is left");
        budget.spend();
        assert!(budget.is_spent());
        assert_eq!(budget.rounds(), 12);
    }

    #[test]
    fn a_relaunch_never_gets_more_than_one_loop() {
        let mut budget = Budget::new(Limits::default());
        budget.spend();
        assert!(budget.relaunch(RetryReason::CallAsText));
        assert_eq!(budget.loop_left, 8, "11 are left of the turn");
        let mut small = Budget::new(Limits { rounds_per_turn: 5, ..Limits::default() });
        (0..5).for_each(|_| small.spend());
        assert!(small.is_spent());
    }
}
