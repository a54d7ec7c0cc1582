//! AdamW (Loshchilov and Hutter 2019) and the schedule of its step size.

/// Decay of the first and the second moment.
const BETAS: (f32, f32) = (0.9, 0.999);
const EPSILON: f32 = 1e-8;

/// The optimiser's memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AdamW {
    pub(crate) mean: Vec<f32>,
    pub(crate) square: Vec<f32>,
    pub(crate) steps: u32,
    decay: f32,
}

impl AdamW {
    pub(crate) fn new(parameters: usize, decay: f32) -> Self {
        Self { mean: vec![0.0; parameters], square: vec![0.0; parameters], steps: 0, decay }
    }

    /// One step. `decays` says which parameters are pulled to 0: weights, not biases or gains.
    pub(crate) fn step(&mut self, parameters: &mut [f32], gradient: &[f32], decays: &[bool], rate: f32) {
        self.steps = self.steps.saturating_add(1);
        let steps = self.steps as i32;
        let first = 1.0 - BETAS.0.powi(steps);
        let second = (1.0 - BETAS.1.powi(steps)).sqrt();
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for (((parameter, gradient), decays), (mean, square)) in
            parameters.iter_mut().zip(gradient).zip(decays).zip(moments)
        {
            *mean = BETAS.0 * *mean + (1.0 - BETAS.0) * gradient;
            *square = BETAS.1 * *square + (1.0 - BETAS.1) * gradient * gradient;
            if *decays {
                *parameter -= rate * self.decay * *parameter;
            }
            *parameter -= rate * (*mean / first) / (square.sqrt() / second + EPSILON);
        }
    }
}

/// Warm-up over a fifth of the steps, a hold over a third, then half a cosine down to 0.
pub(crate) fn schedule(step: u32, steps: u32, peak: f32) -> f32 {
    let (step, steps) = (f64::from(step), f64::from(steps.max(1)));
    let (warm, hold) = (steps / 5.0, steps / 3.0);
    let share = if step < warm {
        (step + 1.0) / (warm + 1.0)
    } else if step < warm + hold {
        1.0
    } else {
        let left = (step - warm - hold) / (steps - warm - hold);
        0.5 * (1.0 + (std::f64::consts::PI * left.min(1.0)).cos())
    };
    peak * share as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_are_those_of_pytorch() {
        // torch.optim.AdamW([1.0, -2.0], lr=0.1, weight_decay=0.01) with gradients [0.5, -1.0], then [0.1, 0.2].
        let mut adam = AdamW::new(2, 0.01);
        let mut parameters = [1.0, -2.0];
        adam.step(&mut parameters, &[0.5, -1.0], &[true, true], 0.1);
        assert!((parameters[0] - 0.899).abs() < 1e-5 && (parameters[1] + 1.898).abs() < 1e-5, "{parameters:?}");
        adam.step(&mut parameters, &[0.1, 0.2], &[true, true], 0.1);
        assert!((parameters[0] - 0.817_797).abs() < 1e-5, "{parameters:?}");
        assert!((parameters[1] + 1.844_999).abs() < 1e-5, "{parameters:?}");
    }

    #[test]
    fn the_schedule_warms_up_holds_and_ends_at_0() {
        let at = |step| schedule(step, 3000, 1.0);
        assert!(at(0) < 0.01 && (at(599) - 0.998).abs() < 0.01);
        assert!((at(700) - 1.0).abs() < 1e-6 && (at(1599) - 1.0).abs() < 1e-6);
        assert!((at(2300) - 0.5).abs() < 1e-3 && at(2999) < 0.001);
    }
}
