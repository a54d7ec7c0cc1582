//! A token bucket: how often something may happen.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// So many a second, and so many at once after a pause.
#[derive(Debug)]
pub struct RateLimit {
    per_second: f64,
    burst: f64,
    state: Mutex<(f64, Option<Instant>)>,
}

impl RateLimit {
    /// A full bucket.
    pub fn new(per_second: f64, burst: f64) -> Self {
        Self { per_second, burst, state: Mutex::new((burst, None)) }
    }

    /// Takes `cost` out, if it is there.
    pub fn take(&self, cost: f64) -> bool {
        self.take_at(cost, Instant::now())
    }

    fn take_at(&self, cost: f64, now: Instant) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, last) = *state;
        let since = last.map_or(0.0, |last| now.saturating_duration_since(last).as_secs_f64());
        let left = (left + since * self.per_second).min(self.burst);
        let is_enough = left >= cost;
        *state = (if is_enough { left - cost } else { left }, Some(now));
        is_enough
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_burst_and_then_the_rate() {
        let limit = RateLimit::new(10.0, 3.0);
        let start = Instant::now();
        let taken = |at: u64| limit.take_at(1.0, start + Duration::from_millis(at));
        assert_eq!([taken(0), taken(0), taken(0), taken(0)], [true, true, true, false]);
        assert_eq!([taken(50), taken(110), taken(120)], [false, true, false]);
        assert!(taken(60_000) && taken(60_000) && taken(60_000) && !taken(60_000));
    }
}
