//! Logistic regression with an L2 penalty, by L-BFGS (Liu and Nocedal 1989).
//!
//! Minimised is `½‖w‖² + C · Σ weight · loss`, as scikit-learn writes it; the bias is not penalised. Classes are
//! balanced: both weigh alike, however many examples they have.

use crate::network::sigmoid;

/// Pairs of steps and slopes that are remembered.
const MEMORY: usize = 10;
const MOST_STEPS: usize = 300;
/// The largest slope at which it is done.
const FLAT: f64 = 1e-5;

/// Weights and bias.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Logistic {
    pub(crate) weights: Vec<f64>,
    pub(crate) bias: f64,
}

impl Logistic {
    /// The probability of the first class.
    pub(crate) fn probability(&self, x: &[f32]) -> f64 {
        f64::from(sigmoid((self.bias + dot_f32(&self.weights, x)) as f32))
    }
}

/// Fits to rows and their classes.
pub(crate) fn logistic(rows: &[&[f32]], classes: &[bool], c: f64) -> Logistic {
    let width = rows.first().map_or(0, |row| row.len());
    let positives = classes.iter().filter(|class| **class).count();
    let all = classes.len() as f64;
    let weight = |class: bool| {
        let count = if class { positives } else { classes.len() - positives };
        if count == 0 { 0.0 } else { all / (2.0 * count as f64) }
    };
    let problem = Problem { rows, classes, c, weights: [weight(false), weight(true)] };
    let mut at = vec![0.0; width + 1];
    minimise(&problem, &mut at);
    let bias = at.pop().unwrap_or_default();
    Logistic { weights: at, bias }
}

struct Problem<'a> {
    rows: &'a [&'a [f32]],
    classes: &'a [bool],
    c: f64,
    weights: [f64; 2],
}

impl Problem<'_> {
    /// The value, and the slope into `slope`. The last number is the bias.
    fn value(&self, at: &[f64], slope: &mut Vec<f64>) -> f64 {
        let (weights, bias) = at.split_at(at.len() - 1);
        slope.clear();
        slope.extend_from_slice(weights);
        slope.push(0.0);
        let mut value = 0.5 * weights.iter().map(|weight| weight * weight).sum::<f64>();
        for (row, class) in self.rows.iter().zip(self.classes) {
            let margin = bias[0] + dot_f32(weights, row);
            let toward = if *class { margin } else { -margin };
            let weight = self.c * self.weights[usize::from(*class)];
            value += weight * ((-toward.abs()).exp().ln_1p() + (-toward).max(0.0));
            let pull = weight / (1.0 + toward.exp());
            let pull = if *class { -pull } else { pull };
            for (slope, x) in slope.iter_mut().zip(*row) {
                *slope += pull * f64::from(*x);
            }
            if let Some(last) = slope.last_mut() {
                *last += pull;
            }
        }
        value
    }
}

fn dot_f32(left: &[f64], right: &[f32]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * f64::from(*b)).sum()
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

fn minimise(problem: &Problem<'_>, at: &mut Vec<f64>) {
    let mut slope = Vec::new();
    let mut value = problem.value(at, &mut slope);
    let mut memory: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for _ in 0..MOST_STEPS {
        if slope.iter().all(|value| value.abs() < FLAT) {
            return;
        }
        let mut direction = descend(&slope, &memory);
        let mut fall = dot(&direction, &slope);
        if fall >= 0.0 {
            memory.clear();
            direction = slope.iter().map(|value| -value).collect();
            fall = dot(&direction, &slope);
        }
        // Backtracking until the value falls as much as a straight line would promise (Armijo).
        let mut length = if memory.is_empty() { 1.0 / dot(&slope, &slope).sqrt().max(1.0) } else { 1.0 };
        let (mut next, mut next_slope) = (Vec::new(), Vec::new());
        let mut next_value = f64::INFINITY;
        for _ in 0..40 {
            next = at.iter().zip(&direction).map(|(x, step)| x + length * step).collect();
            next_value = problem.value(&next, &mut next_slope);
            if next_value <= value + 1e-4 * length * fall {
                break;
            }
            length *= 0.5;
        }
        if next_value >= value {
            return;
        }
        let step: Vec<f64> = next.iter().zip(at.iter()).map(|(a, b)| a - b).collect();
        let change: Vec<f64> = next_slope.iter().zip(&slope).map(|(a, b)| a - b).collect();
        if dot(&step, &change) > 1e-12 {
            memory.push((step, change));
            if memory.len() > MEMORY {
                memory.remove(0);
            }
        }
        (*at, slope, value) = (next, next_slope, next_value);
    }
}

/// The two-loop recursion: minus the slope times an estimate of the inverse curvature.
fn descend(slope: &[f64], memory: &[(Vec<f64>, Vec<f64>)]) -> Vec<f64> {
    let mut direction: Vec<f64> = slope.iter().map(|value| -value).collect();
    let mut shares = Vec::with_capacity(memory.len());
    for (step, change) in memory.iter().rev() {
        let share = dot(step, &direction) / dot(step, change);
        direction.iter_mut().zip(change).for_each(|(value, change)| *value -= share * change);
        shares.push(share);
    }
    if let Some((step, change)) = memory.last() {
        let scale = dot(step, change) / dot(change, change);
        direction.iter_mut().for_each(|value| *value *= scale);
    }
    for ((step, change), share) in memory.iter().zip(shares.iter().rev()) {
        let other = dot(change, &direction) / dot(step, change);
        direction.iter_mut().zip(step).for_each(|(value, step)| *value += (share - other) * step);
    }
    direction
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Random;

    #[test]
    fn the_slope_is_that_of_finite_differences_and_vanishes_at_the_minimum() {
        let mut random = Random::new(4);
        let rows: Vec<Vec<f32>> = (0..40).map(|_| (0..5).map(|_| random.normal() as f32).collect()).collect();
        let classes: Vec<bool> = rows.iter().map(|row| row[0] - row[1] + 0.3 * random.normal() as f32 > 0.2).collect();
        let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
        let problem = Problem { rows: &rows, classes: &classes, c: 0.7, weights: [1.2, 0.8] };
        let at = [0.3, -0.2, 0.1, 0.0, 0.5, -0.4];
        let mut slope = Vec::new();
        problem.value(&at, &mut slope);
        for place in 0..at.len() {
            let moved = |step: f64| {
                let mut other = at;
                other[place] += step;
                problem.value(&other, &mut Vec::new())
            };
            let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((numeric - slope[place]).abs() < 1e-5, "{place}: {numeric} {}", slope[place]);
        }
        let fitted = logistic(&rows, &classes, 0.7);
        let mut end = fitted.weights.clone();
        end.push(fitted.bias);
        let balanced = Problem { weights: weights_of(&classes), ..problem };
        balanced.value(&end, &mut slope);
        assert!(slope.iter().all(|value| value.abs() < 1e-4), "{slope:?}");
        assert!(fitted.weights[0] > 0.0 && fitted.weights[1] < 0.0);
    }

    fn weights_of(classes: &[bool]) -> [f64; 2] {
        let positives = classes.iter().filter(|class| **class).count() as f64;
        let all = classes.len() as f64;
        [all / (2.0 * (all - positives)), all / (2.0 * positives)]
    }

    #[test]
    fn one_variable_has_its_known_answer() {
        // Two points at ±1 with C = 1, both classes balanced: w = 2/(1 + e^w), so w = 0.6748, bias 0.
        let fitted = logistic(&[&[1.0], &[-1.0]], &[true, false], 1.0);
        let expected = fitted.weights[0];
        assert!((expected - 2.0 / (1.0 + expected.exp())).abs() < 1e-4, "{fitted:?}");
        assert!(fitted.bias.abs() < 1e-5 && (fitted.probability(&[0.0]) - 0.5).abs() < 1e-6);
    }
}
