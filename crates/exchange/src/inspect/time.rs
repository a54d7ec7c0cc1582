//! Moments as Inspect writes them.

use jiff::{SignedDuration, Timestamp};
use tenpass_bench::store::timestamp;

/// A moment of the store, `after_ms` later, as Inspect writes it; `None` when it is damaged.
pub(crate) fn written(moment: &str, after_ms: f64) -> Option<String> {
    let moment: Timestamp = moment.parse().ok()?;
    let after = SignedDuration::try_from_secs_f64(after_ms / 1e3).ok()?;
    let moment = moment.checked_add(after).ok()?;
    // Three digits where that is exact, six elsewhere.
    let digits = if moment.subsec_nanosecond() % 1_000_000 == 0 { "%.3f" } else { "%.6f" };
    Some(moment.strftime(&format!("%Y-%m-%dT%H:%M:%S{digits}+00:00")).to_string())
}

/// A moment of a log as the store writes it. Logs without a time zone mean UTC.
pub(crate) fn stored(moment: &str) -> Option<String> {
    let moment = moment.trim();
    let parsed = moment.parse::<Timestamp>().or_else(|_| format!("{moment}Z").parse::<Timestamp>());
    Some(timestamp(parsed.ok()?.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_go_there_and_back() {
        let there = written("2026-11-30T14:22:33.125Z", 0.0).unwrap();
        assert_eq!(there, "2026-11-30T14:22:33.125+00:00");
        assert_eq!(stored(&there).as_deref(), Some("2026-11-30T14:22:33.125Z"));
        assert_eq!(written("2026-11-30T23:59:59.900Z", 100.25).unwrap(), "2026-12-01T00:00:00.000250+00:00");
        assert_eq!(stored("2026-11-30T16:22:33.125+02:00").as_deref(), Some("2026-11-30T14:22:33.125Z"));
        assert_eq!(stored("2024-02-29T10:00:00").as_deref(), Some("2024-02-29T10:00:00.000Z"));
        for bad in ["", "yesterday", "2024-02-30T10:00:00Z"] {
            assert_eq!((written(bad, 0.0), stored(bad)), (None, None), "{bad}");
        }
        assert_eq!(written("2026-11-30T14:22:33.125Z", f64::NAN), None);
        assert_eq!(written("2026-11-30T14:22:33.125Z", 1e300), None);
    }
}
