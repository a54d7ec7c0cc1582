//! Binary cross-entropy on logits, weighted, with an optional focus on what is still wrong.

/// How a batch is scored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loss {
    /// Exponent of the focal loss (Lin et al. 2017); 0 is plain cross-entropy.
    pub focus: f32,
    /// Targets are moved this far towards one half.
    pub smoothing: f32,
}

impl Default for Loss {
    fn default() -> Self {
        Self { focus: 0.0, smoothing: 0.0 }
    }
}

impl Loss {
    /// The loss of one logit, and its derivative. The target lies in 0..1.
    pub(crate) fn of(self, logit: f32, target: f32) -> (f32, f32) {
        let target = target * (1.0 - self.smoothing) + 0.5 * self.smoothing;
        let (right, d_right) = self.half(logit);
        let (wrong, d_wrong) = self.half(-logit);
        (target * right + (1.0 - target) * wrong, target * d_right - (1.0 - target) * d_wrong)
    }

    /// `−(1−p)^γ · ln p` of a positive with this logit, and its derivative.
    fn half(self, logit: f32) -> (f32, f32) {
        let p = sigmoid(logit);
        // ln p without cancellation.
        let minus_log = (-logit.abs()).exp().ln_1p() + (-logit).max(0.0);
        if self.focus == 0.0 {
            return (minus_log, p - 1.0);
        }
        let rest = sigmoid(-logit);
        let factor = rest.powf(self.focus);
        (factor * minus_log, -factor * (self.focus * p * minus_log + rest))
    }
}

/// The logistic function.
pub fn sigmoid(logit: f32) -> f32 {
    if logit >= 0.0 {
        1.0 / (1.0 + (-logit).exp())
    } else {
        let e = logit.exp();
        e / (1.0 + e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        for focus in [0.0, 1.0, 2.0] {
            for smoothing in [0.0, 0.1] {
                let loss = Loss { focus, smoothing };
                for target in [0.0, 0.3, 1.0] {
                    for logit in [-4.0_f32, -0.7, 0.0, 0.2, 3.0] {
                        let step = 1e-2;
                        let numeric =
                            (loss.of(logit + step, target).0 - loss.of(logit - step, target).0) / (2.0 * step);
                        let exact = loss.of(logit, target).1;
                        assert!((numeric - exact).abs() < 2e-3, "{loss:?} {target} {logit}: {numeric} {exact}");
                    }
                }
            }
        }
    }

    #[test]
    fn extreme_logits_stay_finite() {
        let loss = Loss { focus: 2.0, smoothing: 0.0 };
        for logit in [-200.0, 200.0] {
            let (value, slope) = loss.of(logit, 1.0);
            assert!(value.is_finite() && slope.is_finite());
        }
        assert!((Loss::default().of(-100.0, 1.0).0 - 100.0).abs() < 1e-3);
    }
}
