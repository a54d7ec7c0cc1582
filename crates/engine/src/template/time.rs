//! The date that templates print: `strftime` without a time zone.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// A moment in UTC.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    seconds: i64,
}

impl Moment {
    pub(super) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { seconds: since.as_secs() as i64 }
    }

    /// Seconds since 1970-01-01.
    #[cfg(test)]
    pub(super) fn at(seconds: i64) -> Self {
        Self { seconds }
    }

    /// Python's `strftime` for the codes that make sense in a prompt; others stay as written.
    pub(super) fn format(self, pattern: &str) -> String {
        let days = self.seconds.div_euclid(86_400);
        let second_of_day = self.seconds.rem_euclid(86_400);
        let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
        let (year, month, day) = civil(days);
        let month_name = MONTHS[month as usize - 1];
        let weekday = WEEKDAYS[(days + 3).rem_euclid(7) as usize];
        let mut text = String::new();
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            if character != '%' {
                text.push(character);
                continue;
            }
            // A `-` drops the padding.
            let mut code = characters.next();
            let padded = code != Some('-');
            if !padded {
                code = characters.next();
            }
            let mut number = |value: i64| {
                let _infallible = if padded { write!(text, "{value:02}") } else { write!(text, "{value}") };
            };
            match code {
                Some('d') => number(day),
                Some('m') => number(month),
                Some('H') => number(hour),
                Some('I') => number((hour + 11) % 12 + 1),
                Some('M') => number(minute),
                Some('S') => number(second),
                Some('y') => number(year.rem_euclid(100)),
                Some('Y') => text.push_str(&year.to_string()),
                Some('B') => text.push_str(month_name),
                Some('b') => text.push_str(&month_name[..3]),
                Some('A') => text.push_str(weekday),
                Some('a') => text.push_str(&weekday[..3]),
                Some('p') => text.push_str(if hour < 12 { "AM" } else { "PM" }),
                Some('Z') => text.push_str("UTC"),
                Some('z') => text.push_str("+0000"),
                Some('%') | None => text.push('%'),
                Some(other) => text.extend(['%', other]),
            }
        }
        text
    }
}

/// Year, month and day of a day counted from 1970-01-01 (Howard Hinnant's `civil_from_days`).
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::Moment;

    #[test]
    fn dates_are_pythons() {
        // Checked with Python: datetime.utcfromtimestamp(n).strftime(…)
        let pattern = "%A %a %d %-d %B %b %m %Y %y %H:%M:%S %I %p %j%%";
        assert_eq!(Moment::at(0).format(pattern), "Thursday Thu 01 1 January Jan 01 1970 70 00:00:00 12 AM %j%");
        assert_eq!(
            Moment::at(1_709_210_096).format(pattern),
            "Thursday Thu 29 29 February Feb 02 2024 24 12:34:56 12 PM %j%"
        );
        assert_eq!(Moment::at(-1).format("%Y-%m-%d %H"), "1969-12-31 23");
        assert_eq!(Moment::at(0).format("100%"), "100%");
    }
}
