//! The nightly chart: which nights lie outside what nights usually do.

use crate::interval::Interval;
use crate::tally::Tally;

/// The mean range of two values of a standard normal distribution, d₂ of two.
const MEAN_RANGE: f64 = std::f64::consts::FRAC_2_SQRT_PI;

/// One night on the chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaneyNight {
    /// The rate of the night; `None` when nothing was scored.
    pub rate: Option<f64>,
    /// Where a usual night lies, given its passes.
    pub limits: Interval,
    /// The night lies outside.
    pub outside: bool,
}

/// A p′ chart.
#[derive(Debug, Clone, PartialEq)]
pub struct LaneyChart {
    /// The rate over all nights.
    pub centre: f64,
    /// How much more nights differ than passes of one night would make them; 1 is a plain p chart.
    pub sigma_z: f64,
    /// The nights in the order given.
    pub nights: Vec<LaneyNight>,
}

/// The p′ chart of Laney (Quality Engineering 14, 2002): limits at three standard deviations, in
/// which the spread from night to night, seen in the moving range of neighbouring nights, widens
/// the binomial one. A large bench has binomial limits so narrow that every night would alarm.
///
/// `None` with fewer than two scored nights. Below about eight nights take it as a hint.
pub fn laney(nights: &[Tally]) -> Option<LaneyChart> {
    let scored: Vec<Tally> = nights.iter().copied().filter(|night| !night.is_empty()).collect();
    if scored.len() < 2 {
        return None;
    }
    let all = |count: fn(Tally) -> u32| scored.iter().map(|night| f64::from(count(*night))).sum::<f64>();
    let centre = all(Tally::passed) / all(Tally::total);
    let sigma = |night: Tally| (centre * (1.0 - centre) / f64::from(night.total())).sqrt();
    let z: Vec<f64> = scored
        .iter()
        .map(|night| if sigma(*night) > 0.0 { (night.rate().unwrap_or(centre) - centre) / sigma(*night) } else { 0.0 })
        .collect();
    let ranges = z.windows(2).map(|two| (two[1] - two[0]).abs()).sum::<f64>();
    let sigma_z = ranges / (z.len() - 1) as f64 / MEAN_RANGE;
    let on_chart = |night: &Tally| {
        let half = if night.is_empty() { f64::INFINITY } else { 3.0 * sigma(*night) * sigma_z };
        let limits = Interval { low: (centre - half).max(0.0), high: (centre + half).min(1.0) };
        let rate = night.rate();
        let outside = rate.is_some_and(|rate| rate < limits.low - 1e-12 || rate > limits.high + 1e-12);
        LaneyNight { rate, limits, outside }
    };
    Some(LaneyChart { centre, sigma_z, nights: nights.iter().map(on_chart).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nights(passed: &[u32], of: u32) -> Vec<Tally> {
        passed.iter().map(|&passed| Tally::new(passed, of - passed)).collect()
    }

    #[test]
    fn a_large_bench_does_not_alarm_every_night_but_a_broken_night_stands_out() {
        // 10,000 passes a night: the binomial limits, ±0.8 points, would cry most nights.
        let mut rates = [9300, 9180, 9330, 9240, 9390, 9260, 9150, 9310, 9230, 9350, 9280, 9200].repeat(3);
        let steady = laney(&nights(&rates, 10_000)).unwrap();
        assert!(steady.nights.iter().all(|night| !night.outside) && steady.sigma_z > 3.0);
        let binomial = 3.0 * (steady.centre * (1.0 - steady.centre) / 10_000.0).sqrt();
        assert!(steady.nights.iter().any(|night| (night.rate.unwrap() - steady.centre).abs() > binomial));
        rates.push(8500);
        let broken = laney(&nights(&rates, 10_000)).unwrap();
        let outside: Vec<usize> = (0..37).filter(|&i| broken.nights[i].outside).collect();
        assert_eq!(outside, [36]);
    }

    #[test]
    fn nights_without_passes_and_perfect_nights() {
        assert_eq!(laney(&nights(&[9], 10)), None);
        assert_eq!(laney(&[Tally::default(), Tally::new(9, 1)]), None);
        let gap = laney(&[Tally::new(9, 1), Tally::default(), Tally::new(8, 2)]).unwrap();
        assert_eq!((gap.nights[1].rate, gap.nights[1].outside), (None, false));
        assert_eq!(gap.nights[1].limits, Interval::UNKNOWN_RATE);
        let perfect = laney(&nights(&[10, 10, 10], 10)).unwrap();
        assert!(perfect.sigma_z.abs() < 1e-15 && perfect.nights.iter().all(|night| !night.outside));
    }

    #[test]
    fn more_passes_narrow_the_limits() {
        let chart = laney(&[Tally::new(90, 10), Tally::new(430, 70), Tally::new(92, 8)]).unwrap();
        assert!(chart.nights[1].limits.width() < chart.nights[0].limits.width());
    }
}
