//! When a refused request is sent again: at most twice, and only before anything of an answer came.

use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::Timing;

/// Most retries of one call.
pub(super) const MAX_RETRIES: u32 = 2;

/// True for rate limits and servers in trouble: 429, 529 and every other 5xx.
pub(super) fn is_busy(status: u16) -> bool {
    status == 429 || (500..600).contains(&status)
}

/// How long to wait before retry number `retry` (from 0); `None` when it must not be sent again.
pub(super) fn wait(retry: u32, asked: Option<Duration>, timing: &Timing) -> Option<Duration> {
    if retry >= MAX_RETRIES {
        return None;
    }
    let wait = asked.unwrap_or_else(|| timing.first_wait.saturating_mul(1 << retry));
    (wait <= timing.longest_wait).then_some(wait)
}

/// The wait a server asks for: seconds, or a date compared with the server's own.
pub(super) fn asked(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let value = text(RETRY_AFTER)?;
    if let Ok(seconds) = value.parse::<f64>() {
        // Fails for negative, infinite and not a number.
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |text: &str| jiff::fmt::rfc2822::parse(text).ok().map(|date| date.timestamp());
    let until = date(value)?.duration_since(date(text(reqwest::header::DATE)?)?);
    Some(until.try_into().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_retries_doubled_or_as_asked_and_none_beyond_the_limit() {
        let timing = Timing::default();
        let seconds = Duration::from_secs;
        assert_eq!(wait(0, None, &timing), Some(seconds(1)));
        assert_eq!(wait(1, None, &timing), Some(seconds(2)));
        assert_eq!(wait(2, None, &timing), None);
        assert_eq!(wait(0, Some(seconds(20)), &timing), Some(seconds(20)));
        assert_eq!(wait(0, Some(seconds(21)), &timing), None, "longer than anybody waits");
        for busy in [429, 500, 502, 503, 529] {
            assert!(is_busy(busy));
        }
        assert!(!is_busy(400) && !is_busy(401) && !is_busy(200));
    }

    #[test]
    fn retry_after_in_seconds_and_as_a_date() {
        let headers = |pairs: &[(reqwest::header::HeaderName, &str)]| -> HeaderMap {
            pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
        };
        assert_eq!(asked(&headers(&[(RETRY_AFTER, " 3 ")])), Some(Duration::from_secs(3)));
        assert_eq!(asked(&headers(&[(RETRY_AFTER, "0.5")])), Some(Duration::from_millis(500)));
        let now = (reqwest::header::DATE, "Wed, 21 Oct 2026 07:28:00 GMT");
        assert_eq!(
            asked(&headers(&[(RETRY_AFTER, "Wed, 21 Oct 2026 07:28:09 GMT"), now.clone()])),
            Some(Duration::from_secs(9))
        );
        assert_eq!(asked(&headers(&[(RETRY_AFTER, "Wed, 21 Oct 2026 07:27:00 GMT"), now])), Some(Duration::ZERO));
        for none in ["soon", "-", "NaN", "1e400"] {
            assert_eq!(asked(&headers(&[(RETRY_AFTER, none)])), None, "{none}");
        }
        assert_eq!(asked(&HeaderMap::new()), None);
    }
}
