//! Success rates with their intervals, one line a configuration.

use super::axis::Axis;
use super::canvas::{Anchor, Ink, WIDTH, plot};
use crate::numbers::{interval, rate_percent};
use crate::summary::Rate;

const ROW: f64 = 26.0;
const TOP: f64 = 8.0;
const FOOT: f64 = 28.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = WIDTH as f64 - 20.0;

/// The rates of configurations `#1`, `#2` … with 95 % Wilson intervals.
pub(crate) fn rates(title: &str, rates: &[Rate]) -> String {
    let axis = Axis::linear((0.0, 100.0), (LEFT, RIGHT));
    let bottom = TOP + ROW * rates.len() as f64;
    plot(title, &words(rates), bottom + FOOT, |canvas| {
        for tick in &axis.ticks {
            let x = axis.at(*tick);
            canvas.line((x, TOP), (x, bottom), Ink::Grid, 1.0)?;
            canvas.text(&format!("{tick} %"), (x, bottom + 14.0), Ink::Quiet, Anchor::Middle)?;
        }
        for (i, rate) in rates.iter().enumerate() {
            let y = TOP + ROW * (i as f64 + 0.5);
            canvas.text(&format!("#{}", i + 1), (LEFT - 12.0, y), Ink::Text, Anchor::Right)?;
            let Some(fraction) = rate.rate else {
                canvas.text("not scored", (LEFT + 6.0, y), Ink::Quiet, Anchor::Left)?;
                continue;
            };
            let (low, high) = (axis.at(rate.low * 100.0), axis.at(rate.high * 100.0));
            canvas.line((low, y), (high, y), Ink::Series(i), 2.5)?;
            for end in [low, high] {
                canvas.line((end, y - 5.0), (end, y + 5.0), Ink::Series(i), 2.0)?;
            }
            canvas.dot((axis.at(fraction * 100.0), y), 5.0, Ink::Series(i))?;
        }
        Ok(())
    })
}

fn words(rates: &[Rate]) -> String {
    let each =
        rates.iter().enumerate().map(|(i, rate)| format!("#{}: {}, {}", i + 1, rate_percent(rate), interval(rate, 1)));
    format!("Rates and 95 % Wilson intervals. {}.", each.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(passed: u64, total: u64, low: f64, high: f64) -> Rate {
        let rate = (total > 0).then(|| passed as f64 / total as f64);
        Rate { passed, total, rate, low, high, effective_n: total }
    }

    #[test]
    fn the_description_says_what_the_eye_sees() {
        let svg = rates("Rates", &[rate(7, 10, 0.397, 0.892), rate(0, 0, 0.0, 1.0)]);
        assert!(svg.contains("#1: 70.0 %, 39.7 – 89.2 %; #2: –, –."), "{svg}");
        assert!(svg.contains("not scored"), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 1);
    }
}
