//! The layers, forwards and backwards, over row-major batches in `f32`.
//!
//! Parameters and gradients lie in one flat slice each; a layer knows where its own begin. Products run on
//! one thread, so that a sum is always taken in the same order and a seed always gives the same network.

use gemm::{Parallelism, gemm};
use tenpass_wake::onnx::Layer;

/// Added to the variance of a normalisation, as PyTorch and ONNX do.
pub(crate) const EPSILON: f32 = 1e-5;

/// A matrix in a slice: where its rows and columns are.
#[derive(Clone, Copy)]
struct View<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    row_step: usize,
    column_step: usize,
}

impl<'a> View<'a> {
    fn of(values: &'a [f32], rows: usize, columns: usize) -> Self {
        Self { values, rows, columns, row_step: columns, column_step: 1 }
    }

    fn turned(self) -> Self {
        let Self { values, rows, columns, row_step, column_step } = self;
        Self { values, rows: columns, columns: rows, row_step: column_step, column_step: row_step }
    }

    fn fits(&self) -> bool {
        self.rows == 0
            || self.columns == 0
            || (self.rows - 1) * self.row_step + (self.columns - 1) * self.column_step < self.values.len()
    }
}

/// `out = left · right`, or `out += …` with `add`; `out` is row-major.
#[allow(unsafe_code, reason = "the crate gemm takes pointers; every extent is asserted before")]
fn product(left: View<'_>, right: View<'_>, out: &mut [f32], add: bool) {
    assert!(left.fits() && right.fits() && left.columns == right.rows, "shapes of a product");
    assert_eq!(out.len(), left.rows * right.columns, "the place for a product");
    // SAFETY: the strides and extents of all three lie inside their slices, as just asserted, and `out` is
    // borrowed alone.
    unsafe {
        gemm(
            left.rows,
            right.columns,
            left.columns,
            out.as_mut_ptr(),
            1,
            right.columns as isize,
            add,
            left.values.as_ptr(),
            left.column_step as isize,
            left.row_step as isize,
            right.values.as_ptr(),
            right.column_step as isize,
            right.row_step as isize,
            1.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// `y = x · Wᵀ + b`; the weights are `outputs × inputs`, then the bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Linear {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) at: usize,
}

impl Linear {
    pub(crate) const fn parameters(self) -> usize {
        self.outputs * self.inputs + self.outputs
    }

    pub(crate) fn weight(self, all: &[f32]) -> &[f32] {
        &all[self.at..self.at + self.outputs * self.inputs]
    }

    pub(crate) fn bias(self, all: &[f32]) -> &[f32] {
        &all[self.at + self.outputs * self.inputs..self.at + self.parameters()]
    }

    pub(crate) fn layer(self, all: &[f32]) -> Layer {
        Layer::Linear { weight: self.weight(all).to_vec(), bias: self.bias(all).to_vec() }
    }

    pub(crate) fn forward(self, all: &[f32], x: &[f32], y: &mut Vec<f32>) {
        let rows = x.len() / self.inputs;
        y.clear();
        for _ in 0..rows {
            y.extend_from_slice(self.bias(all));
        }
        let weight = View::of(self.weight(all), self.outputs, self.inputs).turned();
        product(View::of(x, rows, self.inputs), weight, y, true);
    }

    /// Adds to the gradient, and writes the gradient of the input where it is wanted.
    pub(crate) fn backward(self, all: &[f32], x: &[f32], dy: &[f32], gradient: &mut [f32], dx: Option<&mut Vec<f32>>) {
        let rows = x.len() / self.inputs;
        let (weights, biases) = gradient[self.at..self.at + self.parameters()].split_at_mut(self.outputs * self.inputs);
        let dy_view = View::of(dy, rows, self.outputs);
        product(dy_view.turned(), View::of(x, rows, self.inputs), weights, true);
        for row in dy.chunks_exact(self.outputs) {
            for (bias, value) in biases.iter_mut().zip(row) {
                *bias += value;
            }
        }
        if let Some(dx) = dx {
            dx.resize(x.len(), 0.0);
            product(dy_view, View::of(self.weight(all), self.outputs, self.inputs), dx, false);
        }
    }
}

/// Layer normalisation of each row: gains, then shifts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Norm {
    pub(crate) width: usize,
    pub(crate) at: usize,
}

impl Norm {
    pub(crate) const fn parameters(self) -> usize {
        2 * self.width
    }

    pub(crate) fn gain(self, all: &[f32]) -> &[f32] {
        &all[self.at..self.at + self.width]
    }

    pub(crate) fn shift(self, all: &[f32]) -> &[f32] {
        &all[self.at + self.width..self.at + 2 * self.width]
    }

    pub(crate) fn layer(self, all: &[f32]) -> Layer {
        Layer::LayerNorm { scale: self.gain(all).to_vec(), shift: self.shift(all).to_vec(), epsilon: EPSILON }
    }

    /// Writes the result, and the normalised rows and the inverse deviations that `backward` wants.
    pub(crate) fn forward(self, all: &[f32], x: &[f32], y: &mut Vec<f32>, kept: &mut Kept) {
        let width = self.width as f32;
        y.clear();
        kept.normal.clear();
        kept.inverse.clear();
        for row in x.chunks_exact(self.width) {
            let mean = row.iter().sum::<f32>() / width;
            let variance = row.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / width;
            let inverse = 1.0 / (variance + EPSILON).sqrt();
            kept.inverse.push(inverse);
            for ((value, gain), shift) in row.iter().zip(self.gain(all)).zip(self.shift(all)) {
                let normal = (value - mean) * inverse;
                kept.normal.push(normal);
                y.push(normal * gain + shift);
            }
        }
    }

    /// Turns the gradient of the output into that of the input, in place, and adds to its own.
    pub(crate) fn backward(self, all: &[f32], dy: &mut [f32], kept: &Kept, gradient: &mut [f32]) {
        let width = self.width as f32;
        let (gains, shifts) = gradient[self.at..self.at + self.parameters()].split_at_mut(self.width);
        let rows = dy.chunks_exact_mut(self.width).zip(kept.normal.chunks_exact(self.width)).zip(&kept.inverse);
        for ((dy, normal), inverse) in rows {
            let (mut sum, mut dot) = (0.0, 0.0);
            for (i, gain) in self.gain(all).iter().enumerate() {
                gains[i] += dy[i] * normal[i];
                shifts[i] += dy[i];
                dy[i] *= gain;
                sum += dy[i];
                dot += dy[i] * normal[i];
            }
            for (value, normal) in dy.iter_mut().zip(normal) {
                *value = inverse * (*value - sum / width - normal * dot / width);
            }
        }
    }
}

/// What a normalisation keeps for its way back.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    normal: Vec<f32>,
    inverse: Vec<f32>,
}

pub(crate) fn relu(values: &mut [f32]) {
    for value in values {
        *value = value.max(0.0);
    }
}

/// `y` is what [`relu`] gave.
pub(crate) fn relu_backward(y: &[f32], dy: &mut [f32]) {
    for (gradient, value) in dy.iter_mut().zip(y) {
        if *value <= 0.0 {
            *gradient = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_the_sum_of_products() {
        let left = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let right = [1.0, 0.0, -1.0, 2.0, 1.0, 0.5];
        let mut out = [0.0; 4];
        product(View::of(&left, 2, 3), View::of(&right, 2, 3).turned(), &mut out, false);
        assert_eq!(out, [-2.0, 5.5, -2.0, 16.0]);
        product(View::of(&left, 2, 3), View::of(&right, 2, 3).turned(), &mut out, true);
        assert_eq!(out, [-4.0, 11.0, -4.0, 32.0]);
    }

    #[test]
    fn a_normalised_row_has_mean_0_and_variance_1() {
        let all = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
        let (mut y, mut kept) = (Vec::new(), Kept::default());
        Norm { width: 3, at: 0 }.forward(&all, &[1.0, 2.0, 3.0], &mut y, &mut kept);
        let expected = 1.0 / (2.0_f32 / 3.0 + EPSILON).sqrt();
        assert!((y[2] - expected).abs() < 1e-6 && y[1].abs() < 1e-6 && (y[0] + expected).abs() < 1e-6);
    }
}
