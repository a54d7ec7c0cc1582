//! Numbers as people read them.

use crate::summary::Rate;

/// 12345 as `12 345`, with a narrow no-break space from five digits on.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut text = String::with_capacity(digits.len() * 2);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// `1 pass`, `2 passes`.
pub(crate) fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// A fraction as a percentage with this many decimals. Only exactly 1 is written 100, only exactly
/// 0 is written 0.
pub(crate) fn percent(fraction: f64, decimals: usize) -> String {
    let step = 0.1_f64.powi(decimals as i32);
    let mut value = fraction * 100.0;
    if fraction < 1.0 {
        value = value.min(100.0 - step);
    }
    if fraction > 0.0 {
        value = value.max(step);
    }
    format!("{value:.decimals$}")
}

/// `412 of 600`.
pub(crate) fn of(rate: &Rate) -> String {
    format!("{} of {}", grouped(rate.passed), grouped(rate.total))
}

/// `68.7 %`, or a dash when nothing was scored.
pub(crate) fn rate_percent(rate: &Rate) -> String {
    rate.rate.map_or_else(|| "–".to_owned(), |fraction| format!("{} %", percent(fraction, 1)))
}

/// `64.8 – 72.3 %`; a dash when nothing was scored.
pub(crate) fn interval(rate: &Rate, decimals: usize) -> String {
    if rate.total == 0 {
        return "–".to_owned();
    }
    format!("{} – {} %", percent(rate.low, decimals), percent(rate.high, decimals))
}

/// A difference of rates in points, with its sign: `+4.2`.
pub(crate) fn points(difference: f64) -> String {
    let value = difference * 100.0;
    // −0.0 and what rounds to it carry no sign.
    if value.abs() < 0.05 { "0.0".to_owned() } else { format!("{value:+.1}").replace('-', "−") }
}

/// A size in points without a sign: `5`, `2.5`.
pub(crate) fn size_in_points(fraction: f64) -> String {
    let text = format!("{:.1}", fraction * 100.0);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A p-value to two significant digits.
pub(crate) fn p_value(p: f64) -> String {
    match p {
        p if p < 0.0001 => "< 0.0001".to_owned(),
        p if p < 0.001 => format!("{p:.4}"),
        p if p < 0.1 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

/// Milliseconds: `0.42`, `8.1`, `412`, `12 345`.
pub(crate) fn milliseconds(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value < 1.0 => format!("{value:.2}"),
        Some(value) if value < 10.0 => format!("{value:.1}"),
        Some(value) => grouped(value.round() as u64),
    }
}

/// A count of tokens.
pub(crate) fn tokens(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| grouped(value.round() as u64))
}

/// Seconds as `4.2 s`, `3 min 05 s`, `2 h 10 min`.
pub(crate) fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..=59 => format!("{seconds:.1} s"),
        60..=3599 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_perfect_rate_is_written_as_one() {
        assert_eq!(percent(0.9996, 1), "99.9");
        assert_eq!(percent(0.9996, 0), "99");
        assert_eq!(percent(1.0, 1), "100.0");
        assert_eq!(percent(0.0002, 1), "0.1");
        assert_eq!(percent(0.0, 0), "0");
        assert_eq!(percent(0.6866, 1), "68.7");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!((grouped(9999), grouped(100_000)), ("9999".into(), "100\u{202f}000".into()));
        assert_eq!((points(0.042), points(-0.1), points(-0.0001)), ("+4.2".into(), "−10.0".into(), "0.0".into()));
        assert_eq!(
            (p_value(0.000_01), p_value(0.0314), p_value(0.5)),
            ("< 0.0001".into(), "0.031".into(), "0.50".into())
        );
        assert_eq!((milliseconds(Some(0.4)), milliseconds(Some(412.4))), ("0.40".into(), "412".into()));
        assert_eq!(
            (duration(4.25), duration(185.0), duration(7830.0)),
            ("4.2 s".into(), "3 min 05 s".into(), "2 h 10 min".into())
        );
    }
}
