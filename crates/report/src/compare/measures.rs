//! Latencies and tokens: the difference of medians, with an interval clustered by case.

use tenpass_stats::{median_difference, quantile};

use super::data::MeasureChange;
use super::gather::{MEASURES, SideGathering};

/// Measures from here on count tokens, which do not depend on the machine.
const FIRST_TOKENS: usize = 3;
/// Below so many cases a bootstrap over cases says nothing.
const FEWEST_CASES: usize = 5;
/// A case with more passes stands for itself with so many of its quantiles: enough for a median, and
/// 100,000 passes stay quick.
const MOST_POINTS: usize = 50;
/// More cases than this are drawn in groups, which are as independent of each other as the cases are.
const MOST_GROUPS: usize = 250;
/// Of the resamples: the same runs give the same interval.
const SEED: u64 = 10;

/// The values of one case before and after.
type Case<'a> = (&'a [f64], &'a [f64]);

/// Every measure that both sides have. `cases` are positions of the same case before and after.
pub(super) fn measures(
    before: &SideGathering,
    after: &SideGathering,
    cases: &[(usize, usize)],
    latencies_comparable: bool,
) -> Vec<MeasureChange> {
    let of = |measure: usize| {
        let both: Vec<Case<'_>> = cases
            .iter()
            .map(|&(i, j)| (before.values(measure, i), after.values(measure, j)))
            .filter(|(before, after)| !before.is_empty() && !after.is_empty())
            .collect();
        let comparable = measure >= FIRST_TOKENS || latencies_comparable;
        measured(&both).map(|found| MeasureChange { measure: MEASURES[measure].to_owned(), comparable, ..found })
    };
    // Each resamples a thousand times and knows nothing of the others.
    std::thread::scope(|scope| {
        let of = &of;
        let all: Vec<_> = (0..MEASURES.len()).map(|measure| scope.spawn(move || of(measure))).collect();
        let found = all.into_iter().map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        found.flatten().collect()
    })
}

/// `None` when no case was measured on both sides.
fn measured(both: &[Case<'_>]) -> Option<MeasureChange> {
    let groups = [grouped(both, |case| case.0), grouped(both, |case| case.1)];
    let [before, after] = [median(&groups[0])?, median(&groups[1])?];
    let (_, interval) = median_difference(&groups[0], &groups[1], 0.95, SEED)?;
    let interval = (both.len() >= FEWEST_CASES).then_some(interval);
    let count = |side: fn(&Case<'_>) -> usize| both.iter().map(side).sum::<usize>() as u64;
    Some(MeasureChange {
        measure: String::new(),
        cases: both.len() as u64,
        n_before: count(|case| case.0.len()),
        n_after: count(|case| case.1.len()),
        before,
        after,
        difference: after - before,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        comparable: true,
    })
}

/// The values of one side, case by case or in groups of cases.
fn grouped<'a>(both: &[Case<'a>], side: fn(&Case<'a>) -> &'a [f64]) -> Vec<Vec<f64>> {
    let mut groups: Vec<Vec<f64>> = vec![Vec::new(); both.len().min(MOST_GROUPS)];
    for (i, case) in both.iter().enumerate() {
        let group = i % groups.len();
        add_points(&mut groups[group], side(case));
    }
    groups
}

/// The values themselves, or as many evenly spread quantiles.
fn add_points(points: &mut Vec<f64>, values: &[f64]) {
    if values.len() <= MOST_POINTS {
        points.extend_from_slice(values);
        return;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let shares = (0..MOST_POINTS).map(|i| (i as f64 + 0.5) / MOST_POINTS as f64);
    points.extend(shares.filter_map(|share| quantile(&sorted, share)));
}

/// The median of all values, each group counting the same however many it has.
fn median(groups: &[Vec<f64>]) -> Option<f64> {
    let share = |group: &Vec<f64>| 1.0 / group.len() as f64;
    let mut weighted: Vec<(f64, f64)> =
        groups.iter().flat_map(|group| group.iter().map(move |value| (*value, share(group)))).collect();
    weighted.sort_unstable_by(|left, right| left.0.total_cmp(&right.0));
    let half = groups.iter().filter(|group| !group.is_empty()).count() as f64 / 2.0;
    let mut below = 0.0;
    for (i, (value, weight)) in weighted.iter().enumerate() {
        below += weight;
        if below > half + 1e-9 {
            return Some(*value);
        }
        // Exactly half lies at or below: the median is halfway to the next value.
        if below > half - 1e-9 {
            return Some(weighted.get(i + 1).map_or(*value, |next| f64::midpoint(*value, next.0)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_counts_every_case_the_same() {
        // One case with ninety slow passes against two with one fast one each.
        let groups = [vec![900.0; 90], vec![10.0], vec![20.0]];
        assert_eq!(median(&groups), Some(20.0));
        assert_eq!(median(&[vec![1.0, 2.0], vec![3.0, 4.0]]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn a_case_of_many_passes_keeps_its_median() {
        let values: Vec<f64> = (0..1001).map(f64::from).collect();
        let mut points = Vec::new();
        add_points(&mut points, &values);
        assert_eq!(points.len(), MOST_POINTS);
        assert!((median(&[points]).unwrap() - 500.0).abs() < 1e-9);
    }

    #[test]
    fn what_slows_both_sides_alike_widens_no_interval() {
        // Cases differ by a factor of fifty; each is 10 ms slower after.
        let before: Vec<Vec<f64>> = (1..=50).map(|case| vec![f64::from(case) * 20.0; 10]).collect();
        let after: Vec<Vec<f64>> = before.iter().map(|case| case.iter().map(|value| value + 10.0).collect()).collect();
        let both: Vec<Case<'_>> = before.iter().zip(&after).map(|(a, b)| (a.as_slice(), b.as_slice())).collect();
        let found = measured(&both).unwrap();
        assert!((found.difference - 10.0).abs() < 1e-9);
        assert!(found.low.unwrap() >= 10.0 - 1e-9 && found.high.unwrap() <= 10.0 + 1e-9, "{found:?}");
        assert_eq!(measured(&both[..4]).unwrap().low, None);
    }

    #[test]
    fn thousands_of_cases_are_drawn_in_groups() {
        let values: Vec<Vec<f64>> = (0..5000).map(|case| vec![f64::from(case % 100); 3]).collect();
        let both: Vec<Case<'_>> = values.iter().map(|case| (case.as_slice(), case.as_slice())).collect();
        let found = measured(&both).unwrap();
        assert_eq!((found.cases, found.difference, found.low, found.high), (5000, 0.0, Some(0.0), Some(0.0)));
    }
}
