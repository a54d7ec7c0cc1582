//! From values to places, with ticks that people can read.

/// Ticks of a logarithmic axis are thinned out from this many on.
const MOST_TICKS: usize = 6;
/// From this ratio of the largest to the smallest value on, times are shown by their logarithm.
const LOGARITHMIC_FROM: f64 = 30.0;

/// One direction of a plot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    from: f64,
    to: f64,
    pub(crate) ticks: Vec<f64>,
}

impl Axis {
    /// From `low` to `high`, which are drawn at `from` and `to`.
    pub(crate) fn linear((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        let step = step((high - low) / (MOST_TICKS - 1) as f64);
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        let ticks = (first..=last).map(|at| at as f64 * step).collect();
        Self { low, high, logarithmic: false, from, to, ticks }
    }

    /// For times and counts: from 0, or logarithmic where the values differ much.
    pub(crate) fn positive(smallest: f64, largest: f64, places: (f64, f64)) -> Self {
        if smallest <= 0.0 || largest / smallest < LOGARITHMIC_FROM {
            return Self::linear((0.0, largest * 1.02), places);
        }
        let (low, high) = ((smallest / 1.1).log10(), (largest * 1.1).log10());
        let decades = |parts: &[f64]| -> Vec<f64> {
            let all = (low.floor() as i32..=high.ceil() as i32)
                .flat_map(|power| parts.iter().map(move |part| part * 10_f64.powi(power)));
            all.filter(|tick| tick.log10() >= low && tick.log10() <= high).collect()
        };
        let mut ticks = decades(&[1.0, 2.0, 5.0]);
        if ticks.len() > MOST_TICKS {
            ticks = decades(&[1.0]);
        }
        while ticks.len() > MOST_TICKS {
            ticks = ticks.into_iter().step_by(2).collect();
        }
        Self { low, high, logarithmic: true, from: places.0, to: places.1, ticks }
    }

    /// Whether equal distances are equal ratios.
    #[cfg(test)]
    fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// Where a value is drawn; what lies outside is drawn at the edge.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }
}

/// The next step of 1, 2 or 5 times a power of ten.
fn step(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(f64::MIN_POSITIVE).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|part| part * power);
    steps.into_iter().find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(steps[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_within_the_axis() {
        let axis = Axis::linear((0.0, 100.0), (10.0, 110.0));
        assert_eq!(axis.ticks, [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!((axis.at(0.0), axis.at(50.0), axis.at(100.0), axis.at(500.0)), (10.0, 60.0, 110.0, 110.0));
        assert!(Axis::linear((0.0, 0.0), (0.0, 1.0)).ticks.len() > 1, "a single value has an axis too");
    }

    #[test]
    fn what_differs_much_is_logarithmic() {
        let axis = Axis::positive(3.0, 40_000.0, (0.0, 100.0));
        assert!(axis.is_logarithmic());
        assert_eq!(axis.ticks, [10.0, 100.0, 1000.0, 10_000.0]);
        assert!((axis.at(100.0) - axis.at(10.0) - (axis.at(1000.0) - axis.at(100.0))).abs() < 1e-9);
        assert!(!Axis::positive(100.0, 300.0, (0.0, 1.0)).is_logarithmic());
        assert!(!Axis::positive(0.0, 300.0, (0.0, 1.0)).is_logarithmic());
    }
}
