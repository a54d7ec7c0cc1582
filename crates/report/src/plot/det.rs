//! The DET curve of a wake word: words missed against false wakes an hour, which differ by decades.

use super::axis::Axis;
use super::canvas::{Anchor, Ink, WIDTH, plot};

const TOP: f64 = 10.0;
const HEIGHT: f64 = 220.0;
const FOOT: f64 = 48.0;
const ROW: f64 = 18.0;
const LEFT: f64 = 50.0;
const RIGHT: f64 = WIDTH as f64 - 24.0;
/// From and to these rates the axis reaches at least.
const RATES: (f64, f64) = (0.1, 10.0);

/// The curve of one head.
#[derive(Debug, Clone, PartialEq)]
pub struct DetSeries {
    /// What it is called.
    pub name: String,
    /// False wakes an hour and the share of words missed, one a threshold.
    pub points: Vec<(f64, f64)>,
    /// The same at the threshold that was chosen.
    pub chosen: Option<(f64, f64)>,
}

/// Curves as SVG. `floor` is the rate of one false wake in all of the sound: less than that was never
/// measured, and what lies below it is drawn at the edge.
pub fn det(series: &[DetSeries], floor: f64) -> String {
    let all = || series.iter().flat_map(|one| one.points.iter().chain(one.chosen.as_ref()));
    let lowest = if floor.is_finite() && floor > 0.0 { (floor / 2.0).min(RATES.0) } else { RATES.0 };
    let highest = all().map(|point| point.0).fold(RATES.1, f64::max);
    let most = all().map(|point| point.1 * 100.0).fold(10.0, f64::max).min(100.0);
    let bottom = TOP + HEIGHT;
    let (rates, misses) = (Axis::positive(lowest, highest, (LEFT, RIGHT)), Axis::linear((0.0, most), (bottom, TOP)));
    let place = |(rate, missed): (f64, f64)| (rates.at(rate.max(lowest)), misses.at(missed * 100.0));
    let height = bottom + FOOT + ROW * series.len() as f64;
    plot("Words missed against false wakes an hour", &words(series), height, |canvas| {
        for tick in &misses.ticks {
            canvas.line((LEFT, misses.at(*tick)), (RIGHT, misses.at(*tick)), Ink::Grid, 1.0)?;
            canvas.text(&format!("{} %", tidy(*tick)), (LEFT - 6.0, misses.at(*tick)), Ink::Quiet, Anchor::Right)?;
        }
        for tick in &rates.ticks {
            canvas.line((rates.at(*tick), TOP), (rates.at(*tick), bottom), Ink::Grid, 1.0)?;
            canvas.text(&tidy(*tick).to_string(), (rates.at(*tick), bottom + 13.0), Ink::Quiet, Anchor::Middle)?;
        }
        canvas.text("false wakes an hour", (f64::midpoint(LEFT, RIGHT), bottom + 29.0), Ink::Quiet, Anchor::Middle)?;
        if floor.is_finite() && floor > lowest {
            canvas.line((rates.at(floor), TOP), (rates.at(floor), bottom), Ink::Bad, 1.0)?;
        }
        for (i, one) in series.iter().enumerate() {
            let line: Vec<(f64, f64)> = one.points.iter().map(|point| place(*point)).collect();
            canvas.path(&line, Ink::Dashed(i), 2.0)?;
            if let Some(chosen) = one.chosen {
                canvas.dot(place(chosen), 5.0, Ink::Ground)?;
                canvas.dot(place(chosen), 4.0, Ink::Series(i))?;
            }
            let y = bottom + FOOT + ROW * (i as f64 + 0.3);
            canvas.path(&[(LEFT, y), (LEFT + 28.0, y)], Ink::Dashed(i), 2.0)?;
            canvas.text(&one.name, (LEFT + 36.0, y), Ink::Text, Anchor::Left)?;
        }
        Ok(())
    })
}

fn tidy(tick: f64) -> f64 {
    (tick * 1000.0).round() / 1000.0
}

fn words(series: &[DetSeries]) -> String {
    let of = |one: &DetSeries| match one.chosen {
        Some((rate, missed)) => {
            format!("{}: {:.1} % missed at {rate:.2} false wakes an hour", one.name, missed * 100.0)
        }
        None => format!("{}: no threshold chosen", one.name),
    };
    format!("{}.", series.iter().map(of).collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_dots_and_words_say_the_same() {
        let series = [
            DetSeries {
                name: "kora".into(),
                points: vec![(40.0, 0.0), (5.0, 0.02), (0.7, 0.1), (0.0, 0.4)],
                chosen: Some((0.7, 0.1)),
            },
            DetSeries { name: "kora 2".into(), points: vec![(20.0, 0.01), (0.0, 0.2)], chosen: None },
        ];
        let svg = det(&series, 0.7);
        assert!(svg.contains("kora: 10.0 % missed at 0.70 false wakes an hour; kora 2: no threshold chosen."), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 2);
        assert_eq!(svg.matches("var(--bad").count(), 1, "where measuring ends is marked");
        assert!(svg.contains("false wakes an hour") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn nothing_measured_draws_too() {
        let svg = det(&[DetSeries { name: "a".into(), points: vec![], chosen: None }], f64::INFINITY);
        assert!(!svg.contains("NaN") && svg.trim_end().ends_with("</svg>"));
    }
}
