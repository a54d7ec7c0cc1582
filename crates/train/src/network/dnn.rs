//! The fully connected head.

use tenpass_wake::onnx::Layer;

use super::layers::{Kept, Linear, Norm, relu, relu_backward};
use super::{HIDDEN, Piece, Standard, WIDTH, WINDOW};

const FIRST: Linear = Linear { inputs: WINDOW, outputs: HIDDEN, at: 0 };
const FIRST_NORM: Norm = Norm { width: HIDDEN, at: FIRST.at + FIRST.parameters() };
const SECOND: Linear = Linear { inputs: HIDDEN, outputs: HIDDEN, at: FIRST_NORM.at + FIRST_NORM.parameters() };
const SECOND_NORM: Norm = Norm { width: HIDDEN, at: SECOND.at + SECOND.parameters() };
const LAST: Linear = Linear { inputs: HIDDEN, outputs: 1, at: SECOND_NORM.at + SECOND_NORM.parameters() };

pub(super) fn pieces() -> Vec<(usize, Piece)> {
    let linear = |layer: Linear| {
        [(layer.outputs * layer.inputs, Piece::Uniform(layer.inputs)), (layer.outputs, Piece::Bias(layer.inputs))]
    };
    let norm = [(HIDDEN, Piece::Constant(1.0)), (HIDDEN, Piece::Constant(0.0))];
    [linear(FIRST), norm, linear(SECOND), norm, linear(LAST)].concat()
}

#[derive(Debug, Default)]
pub(super) struct Buffers {
    hidden: [Vec<f32>; 2],
    active: [Vec<f32>; 2],
    kept: [Kept; 2],
    logits: Vec<f32>,
    back: [Vec<f32>; 2],
}

pub(super) struct Dnn;

impl Dnn {
    pub(super) fn forward<'a>(all: &[f32], windows: &[f32], buffers: &'a mut Buffers) -> &'a [f32] {
        let Buffers { hidden, active, kept, logits, .. } = buffers;
        FIRST.forward(all, windows, &mut hidden[0]);
        FIRST_NORM.forward(all, &hidden[0], &mut active[0], &mut kept[0]);
        relu(&mut active[0]);
        SECOND.forward(all, &active[0], &mut hidden[1]);
        SECOND_NORM.forward(all, &hidden[1], &mut active[1], &mut kept[1]);
        relu(&mut active[1]);
        LAST.forward(all, &active[1], logits);
        logits
    }

    /// After [`Self::forward`] on the same windows.
    pub(super) fn backward(all: &[f32], windows: &[f32], slopes: &[f32], buffers: &mut Buffers, gradient: &mut [f32]) {
        let Buffers { active, kept, back: [upper, lower], .. } = buffers;
        LAST.backward(all, &active[1], slopes, gradient, Some(upper));
        relu_backward(&active[1], upper);
        SECOND_NORM.backward(all, upper, &kept[1], gradient);
        SECOND.backward(all, &active[0], upper, gradient, Some(lower));
        relu_backward(&active[0], lower);
        FIRST_NORM.backward(all, lower, &kept[0], gradient);
        FIRST.backward(all, windows, lower, gradient, None);
    }

    pub(super) fn fold(all: &mut [f32], standard: &Standard) {
        let (weights, biases) = all[..FIRST.parameters()].split_at_mut(HIDDEN * WINDOW);
        for (row, bias) in weights.chunks_exact_mut(WINDOW).zip(biases) {
            for (at, weight) in row.iter_mut().enumerate() {
                *weight /= standard.scale[at % WIDTH];
                *bias -= *weight * standard.mean[at % WIDTH];
            }
        }
    }

    pub(super) fn graph(all: &[f32]) -> Vec<Layer> {
        vec![
            Layer::Flatten,
            FIRST.layer(all),
            FIRST_NORM.layer(all),
            Layer::Relu,
            SECOND.layer(all),
            SECOND_NORM.layer(all),
            Layer::Relu,
            LAST.layer(all),
            Layer::Sigmoid,
        ]
    }
}
