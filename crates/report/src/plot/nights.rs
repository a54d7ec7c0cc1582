//! The chart of the nights: a rate a night, with the limits within which it wanders by chance.

use super::axis::Axis;
use super::canvas::{Anchor, Ink, WIDTH, plot};
use crate::numbers::percent;

const TOP: f64 = 10.0;
const HEIGHT: f64 = 190.0;
const FOOT: f64 = 30.0;
const LEFT: f64 = 50.0;
const RIGHT: f64 = WIDTH as f64 - 24.0;

/// One night.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartPoint {
    /// What the axis calls it, such as `30 Nov`.
    pub label: String,
    /// The rate, a fraction.
    pub rate: f64,
}

/// A p′ chart as SVG: the rate of each night, the centre line, and each night's own limits (Laney), all
/// fractions. A night outside its limits is a ring in the colour of what is wrong, with its label.
/// Points beyond the limits given have none.
pub fn p_chart(points: &[ChartPoint], centre: f64, limits: &[(f64, f64)]) -> String {
    let lows = limits.iter().map(|limit| limit.0).chain(points.iter().map(|point| point.rate));
    let highs = limits.iter().map(|limit| limit.1).chain(points.iter().map(|point| point.rate));
    let low = lows.fold(centre, f64::min).max(0.0);
    let high = highs.fold(centre, f64::max).min(1.0);
    let room = ((high - low) * 0.1).max(0.01);
    let bottom = TOP + HEIGHT;
    let height = Axis::linear((((low - room).max(0.0)) * 100.0, ((high + room).min(1.0)) * 100.0), (bottom, TOP));
    let last = points.len().saturating_sub(1).max(1) as f64;
    let x = |i: usize| LEFT + 8.0 + (RIGHT - LEFT - 16.0) * i as f64 / last;
    let y = |rate: f64| height.at(rate * 100.0);
    let outside = |i: usize| limits.get(i).is_some_and(|limit| points[i].rate < limit.0 || points[i].rate > limit.1);
    let title = "Rate by night, with its limits";
    plot(title, &words(points, centre, limits, &outside), bottom + FOOT, |canvas| {
        for tick in &height.ticks {
            canvas.line((LEFT, height.at(*tick)), (RIGHT, height.at(*tick)), Ink::Grid, 1.0)?;
            canvas.text(&format!("{} %", tidy(*tick)), (LEFT - 6.0, height.at(*tick)), Ink::Quiet, Anchor::Right)?;
        }
        canvas.line((LEFT, y(centre)), (RIGHT, y(centre)), Ink::Quiet, 1.5)?;
        for edge in [|limit: &(f64, f64)| limit.0, |limit: &(f64, f64)| limit.1] {
            let steps: Vec<(f64, f64)> =
                limits.iter().take(points.len()).enumerate().map(|(i, limit)| (x(i), y(edge(limit)))).collect();
            canvas.path(&steps, Ink::Dashed(1), 1.5)?;
        }
        let line: Vec<(f64, f64)> = points.iter().enumerate().map(|(i, point)| (x(i), y(point.rate))).collect();
        canvas.path(&line, Ink::Series(0), 1.5)?;
        for (i, place) in line.iter().enumerate() {
            if outside(i) {
                canvas.dot(*place, 7.0, Ink::Bad)?;
                canvas.dot(*place, 4.0, Ink::Ground)?;
            }
            canvas.dot(*place, 3.0, Ink::Series(0))?;
        }
        for i in labelled(points.len()) {
            let anchor = if i == 0 {
                Anchor::Left
            } else if i + 1 == points.len() {
                Anchor::Right
            } else {
                Anchor::Middle
            };
            let edge = match anchor {
                Anchor::Left => -8.0,
                Anchor::Right => 8.0,
                Anchor::Middle => 0.0,
            };
            canvas.text(&points[i].label, (x(i) + edge, bottom + 15.0), Ink::Quiet, anchor)?;
        }
        Ok(())
    })
}

/// The first, the last and the middle: more labels would run into each other.
fn labelled(count: usize) -> Vec<usize> {
    match count {
        0..=3 => (0..count).collect(),
        count => vec![0, count / 2, count - 1],
    }
}

fn tidy(tick: f64) -> f64 {
    (tick * 100.0).round() / 100.0
}

fn words(points: &[ChartPoint], centre: f64, limits: &[(f64, f64)], outside: &dyn Fn(usize) -> bool) -> String {
    let name = |i: usize| {
        let (point, limit) = (&points[i], limits[i]);
        let [rate, low, high] = [point.rate, limit.0, limit.1].map(|value| percent(value, 1));
        format!("{}: {rate} %, limits {low} to {high} %", point.label)
    };
    let strange: Vec<String> = (0..points.len()).filter(|&i| outside(i)).map(name).collect();
    let strange = if strange.is_empty() {
        "No night is outside its limits".to_owned()
    } else {
        format!("Outside their limits: {}", strange.join("; "))
    };
    let nights = crate::numbers::plural(points.len() as u64, "night", "nights");
    format!("{nights} around {} %. {strange}.", percent(centre, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_night_outside_its_limits_is_marked_and_named() {
        let points: Vec<ChartPoint> = [0.71, 0.69, 0.70, 0.52]
            .iter()
            .enumerate()
            .map(|(i, &rate)| ChartPoint { label: format!("{} Nov", i + 1), rate })
            .collect();
        let svg = p_chart(&points, 0.7, &[(0.62, 0.78); 4]);
        assert!(
            svg.contains("4 nights around 70.0 %. Outside their limits: 4 Nov: 52.0 %, limits 62.0 to 78.0 %."),
            "{svg}"
        );
        assert_eq!(svg.matches("var(--bad").count(), 1);
    }

    #[test]
    fn few_nights_and_none_draw_too() {
        assert!(p_chart(&[], 0.5, &[]).contains("0 nights"));
        let one = p_chart(&[ChartPoint { label: "today".into(), rate: 1.0 }], 1.0, &[]);
        assert!(one.contains("No night is outside its limits"), "{one}");
    }
}
