//! Distributions of times and tokens: a box a configuration, or the whole cumulative curve.

use super::axis::Axis;
use super::canvas::{Anchor, Ink, SERIES, WIDTH, plot};
use super::spread::{ColumnSpread, Measure, Percentiles};
use crate::numbers::grouped;

const ROW: f64 = 24.0;
const TOP: f64 = 8.0;
const FOOT: f64 = 28.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = WIDTH as f64 - 24.0;
/// Fewer passes make no curve: the boxes have them.
const CURVE_FROM: u64 = 10;
/// Height of the cumulative curves.
const CURVES: f64 = 170.0;

impl Measure {
    fn is_time(self) -> bool {
        matches!(self, Self::FirstToken | Self::FirstCall | Self::End)
    }
}

/// A box a configuration, warm and cold apart: from the 25th to the 75th percentile with the median,
/// whiskers from the 5th to the 95th, a dot at the largest. `None` when nothing was measured.
pub(crate) fn boxes(title: &str, columns: &[ColumnSpread], measure: Measure) -> Option<String> {
    let states: &[bool] = if measure.is_time() { &[false, true] } else { &[false] };
    let mut rows: Vec<(usize, String, &Percentiles)> = Vec::new();
    for (i, column) in columns.iter().enumerate() {
        for &cold in states {
            if let Some(found) = column.of(measure, cold) {
                let state = if !measure.is_time() {
                    ""
                } else if cold {
                    " cold"
                } else {
                    " warm"
                };
                rows.push((i, format!("#{}{state}", i + 1), found));
            }
        }
    }
    let axis = axis_of(rows.iter().map(|row| row.2), 5, LEFT)?;
    let bottom = TOP + ROW * rows.len() as f64;
    let svg = plot(title, &words(&rows, measure), bottom + FOOT, |canvas| {
        ticks(canvas, &axis, measure, bottom)?;
        for (row, (series, label, found)) in rows.iter().enumerate() {
            let (y, ink) = (TOP + ROW * (row as f64 + 0.5), Ink::Series(*series));
            canvas.text(label, (LEFT - 10.0, y), Ink::Text, Anchor::Right)?;
            let [low, first, middle, third, high, most] = [5, 25, 50, 75, 95, 100].map(|p| axis.at(found.at(p)));
            canvas.line((low, y), (high, y), ink, 1.5)?;
            canvas.rectangle([(first, y - 7.0), (third.max(first + 1.0), y + 7.0)], ink, 1.0)?;
            canvas.line((middle, y - 7.0), (middle, y + 7.0), Ink::Ground, 2.0)?;
            canvas.dot((most, y), 2.0, ink)?;
        }
        Ok(())
    });
    Some(svg)
}

/// The share of passes that took at most so long, a curve a configuration. `None` when nothing was
/// measured in that state.
pub(crate) fn cumulative(title: &str, columns: &[ColumnSpread], measure: Measure, cold: bool) -> Option<String> {
    const EDGE: f64 = 50.0;
    let curves: Vec<(usize, &Percentiles)> = (columns.iter().enumerate())
        .filter_map(|(i, column)| {
            column.of(measure, cold).filter(|found| found.count >= CURVE_FROM).map(|found| (i, found))
        })
        // Curves beyond the colours would only cover each other; the boxes have them all.
        .take(SERIES)
        .collect();
    let axis = axis_of(curves.iter().map(|curve| curve.1), 0, EDGE)?;
    let bottom = TOP + CURVES;
    let height = Axis::linear((0.0, 100.0), (bottom, TOP));
    let rows: Vec<(usize, String, &Percentiles)> =
        curves.iter().map(|&(i, found)| (i, format!("#{}", i + 1), found)).collect();
    let svg = plot(title, &words(&rows, measure), bottom + FOOT + 18.0, |canvas| {
        ticks(canvas, &axis, measure, bottom)?;
        for tick in [0.0, 50.0, 100.0] {
            let y = height.at(tick);
            canvas.line((EDGE, y), (RIGHT, y), Ink::Grid, 1.0)?;
            canvas.text(&format!("{tick} %"), (EDGE - 6.0, y), Ink::Quiet, Anchor::Right)?;
        }
        for (place, (i, found)) in curves.iter().enumerate() {
            let points: Vec<(f64, f64)> =
                found.steps().map(|(value, share)| (axis.at(value), height.at(share * 100.0))).collect();
            canvas.path(&points, Ink::Dashed(*i), 2.0)?;
            // The key, below the axis: a dash of the line and its number.
            let (x, y) = (EDGE + 46.0 * place as f64, bottom + 34.0);
            canvas.path(&[(x, y), (x + 18.0, y)], Ink::Dashed(*i), 2.0)?;
            canvas.text(&format!("#{}", i + 1), (x + 22.0, y), Ink::Text, Anchor::Left)?;
        }
        Ok(())
    });
    Some(svg)
}

/// `None` of nothing.
fn axis_of<'a>(found: impl Iterator<Item = &'a Percentiles>, least: usize, left: f64) -> Option<Axis> {
    let ends = found.map(|found| (found.at(least), found.at(100)));
    let (low, high) = ends.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))?;
    Some(Axis::positive(low, high, (left, RIGHT)))
}

fn ticks(
    canvas: &super::canvas::Canvas<'_>,
    axis: &Axis,
    measure: Measure,
    bottom: f64,
) -> Result<(), plotters::prelude::DrawingAreaErrorKind<std::io::Error>> {
    for tick in &axis.ticks {
        let x = axis.at(*tick);
        canvas.line((x, TOP), (x, bottom), Ink::Grid, 1.0)?;
        canvas.text(&value(*tick, measure), (x, bottom + 14.0), Ink::Quiet, Anchor::Middle)?;
    }
    Ok(())
}

/// `120 ms`, `1.5 s`, `200 s`; tokens as they are.
fn value(value: f64, measure: Measure) -> String {
    if !measure.is_time() {
        return grouped(value.round() as u64);
    }
    let short = |value: f64, unit: &str| format!("{} {unit}", (value * 100.0).round() / 100.0);
    match value {
        0.0 => "0".to_owned(),
        value if value < 1000.0 => short(value, "ms"),
        value if value < 100_000.0 => short(value / 1000.0, "s"),
        value => format!("{} s", grouped((value / 1000.0).round() as u64)),
    }
}

fn words(rows: &[(usize, String, &Percentiles)], measure: Measure) -> String {
    let each = rows.iter().map(|(_, label, found)| {
        let [middle, high, most] = [50, 95, 100].map(|p| value(found.at(p), measure));
        format!("{label}: median {middle}, 95th percentile {high}, largest {most}, of {}", grouped(found.count))
    });
    format!("{}.", each.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Spreads;
    use crate::summarise::PassView;

    fn columns() -> Vec<ColumnSpread> {
        let mut spreads = Spreads::new();
        for i in 1..=200_usize {
            let total_ms = Some(i as f64 * 10.0);
            let cold = i <= 2;
            spreads.add(i % 2, &PassView { success: Some(true), total_ms, cold, ..PassView::default() });
        }
        spreads.columns(2)
    }

    #[test]
    fn warm_and_cold_are_rows_of_their_own() {
        let svg = boxes("End", &columns(), Measure::End).unwrap();
        for label in ["#1 warm", "#1 cold", "#2 warm", "#2 cold"] {
            assert!(svg.contains(&format!(">\n{label}\n<")), "{label}: {svg}");
        }
        assert!(svg.contains("#1 warm: median 1.02 s"), "{svg}");
        assert_eq!(boxes("First token", &columns(), Measure::FirstToken), None);
    }

    #[test]
    fn a_few_passes_make_no_curve() {
        let svg = cumulative("End", &columns(), Measure::End, false).unwrap();
        assert!(svg.contains("<polyline"), "{svg}");
        assert_eq!(cumulative("End", &columns(), Measure::End, true), None, "one cold pass each");
    }

    #[test]
    fn times_read_well() {
        let read = |ms| value(ms, Measure::End);
        assert_eq!(
            [read(0.0), read(0.5), read(250.0), read(1500.0), read(180_000.0)],
            ["0", "0.5 ms", "250 ms", "1.5 s", "180 s"]
        );
        assert_eq!(value(12_000.0, Measure::AnswerTokens), "12\u{202f}000");
    }
}
