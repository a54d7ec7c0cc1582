//! Moments as the store writes them: UTC, sortable as text.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;

fn written(moment: SystemTime, format: &str) -> String {
    // A clock outside the years 0 to 9999 is no reason to lose a run.
    let moment = Timestamp::try_from(moment).unwrap_or(Timestamp::UNIX_EPOCH);
    moment.to_zoned(TimeZone::UTC).strftime(format).to_string()
}

/// `2026-11-30T14:22:33.125Z`.
pub fn timestamp(moment: SystemTime) -> String {
    written(moment, "%Y-%m-%dT%H:%M:%S.%3fZ")
}

/// `20261130-142233`.
pub(crate) fn compact(moment: SystemTime) -> String {
    written(moment, "%Y%m%d-%H%M%S")
}

/// From one written moment to a later one; `None` when one is damaged or they are swapped.
pub(crate) fn between(from: &str, to: &str) -> Option<Duration> {
    let (from, to): (Timestamp, Timestamp) = (from.parse().ok()?, to.parse().ok()?);
    Duration::try_from(to.duration_since(from)).ok()
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn known_moments() {
        // Values from GNU date: `date -u -d @N +%FT%T`.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (4_102_444_800, "2100-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
        assert_eq!(compact(UNIX_EPOCH + Duration::from_secs(951_782_401)), "20000229-000001");
    }

    #[test]
    fn durations_are_read_back_to_the_millisecond() {
        let from = timestamp(UNIX_EPOCH + Duration::from_millis(1_709_251_199_250));
        let to = timestamp(UNIX_EPOCH + Duration::from_millis(1_709_251_200_001));
        assert_eq!(between(&from, &to), Some(Duration::from_millis(751)));
        assert_eq!(between(&to, &from), None);
        assert_eq!(between("yesterday", &to), None);
    }
}
