//! The head with a convolution over time and attention.
//!
//! A convolution over 3 neighbouring embeddings without padding (14 places of 32 values), each place
//! normalised, ReLU; a score a place, softmax over the places, the weighted sum of the places, normalised,
//! and a logit.

use tenpass_wake::onnx::Layer;

use super::layers::{Kept, Linear, Norm, relu, relu_backward};
use super::{FRAMES, HIDDEN, Piece, Standard, WIDTH};

/// Embeddings under the convolution.
const KERNEL: usize = 3;
/// Places of the convolution.
const PLACES: usize = FRAMES - KERNEL + 1;

const CONV: Linear = Linear { inputs: KERNEL * WIDTH, outputs: HIDDEN, at: 0 };
const CONV_NORM: Norm = Norm { width: HIDDEN, at: CONV.at + CONV.parameters() };
const LOOK: Linear = Linear { inputs: HIDDEN, outputs: 1, at: CONV_NORM.at + CONV_NORM.parameters() };
const POOL_NORM: Norm = Norm { width: HIDDEN, at: LOOK.at + LOOK.parameters() };
const LAST: Linear = Linear { inputs: HIDDEN, outputs: 1, at: POOL_NORM.at + POOL_NORM.parameters() };

pub(super) fn pieces() -> Vec<(usize, Piece)> {
    let linear = |layer: Linear| {
        [(layer.outputs * layer.inputs, Piece::Uniform(layer.inputs)), (layer.outputs, Piece::Bias(layer.inputs))]
    };
    let norm = [(HIDDEN, Piece::Constant(1.0)), (HIDDEN, Piece::Constant(0.0))];
    [linear(CONV), norm, linear(LOOK), norm, linear(LAST)].concat()
}

#[derive(Debug, Default)]
pub(super) struct Buffers {
    unfolded: Vec<f32>,
    hidden: Vec<f32>,
    places: Vec<f32>,
    looks: Vec<f32>,
    pooled: Vec<f32>,
    summary: Vec<f32>,
    kept: [Kept; 2],
    logits: Vec<f32>,
    back_summary: Vec<f32>,
    back_places: Vec<f32>,
    back_looks: Vec<f32>,
    through_looks: Vec<f32>,
}

pub(super) struct Attention;

impl Attention {
    pub(super) fn forward<'a>(all: &[f32], windows: &[f32], buffers: &'a mut Buffers) -> &'a [f32] {
        let Buffers { unfolded, hidden, places, looks, pooled, summary, kept, logits, .. } = buffers;
        unfolded.clear();
        for window in windows.chunks_exact(FRAMES * WIDTH) {
            for place in 0..PLACES {
                unfolded.extend_from_slice(&window[place * WIDTH..(place + KERNEL) * WIDTH]);
            }
        }
        CONV.forward(all, unfolded, hidden);
        CONV_NORM.forward(all, hidden, places, &mut kept[0]);
        relu(places);
        LOOK.forward(all, places, looks);
        pooled.clear();
        for (looks, places) in looks.chunks_exact_mut(PLACES).zip(places.chunks_exact(PLACES * HIDDEN)) {
            softmax(looks);
            let begin = pooled.len();
            pooled.resize(begin + HIDDEN, 0.0);
            for (look, place) in looks.iter().zip(places.chunks_exact(HIDDEN)) {
                for (sum, value) in pooled[begin..].iter_mut().zip(place) {
                    *sum += look * value;
                }
            }
        }
        POOL_NORM.forward(all, pooled, summary, &mut kept[1]);
        LAST.forward(all, summary, logits);
        logits
    }

    /// After [`Self::forward`] on the same windows.
    pub(super) fn backward(all: &[f32], _windows: &[f32], slopes: &[f32], buffers: &mut Buffers, gradient: &mut [f32]) {
        let Buffers {
            unfolded,
            places,
            looks,
            summary,
            kept,
            back_summary,
            back_places,
            back_looks,
            through_looks,
            ..
        } = buffers;
        LAST.backward(all, summary, slopes, gradient, Some(back_summary));
        POOL_NORM.backward(all, back_summary, &kept[1], gradient);
        back_places.clear();
        back_looks.clear();
        let windows = looks.chunks_exact(PLACES).zip(places.chunks_exact(PLACES * HIDDEN));
        for ((looks, places), back) in windows.zip(back_summary.chunks_exact(HIDDEN)) {
            let toward: Vec<f32> = (places.chunks_exact(HIDDEN))
                .map(|place| place.iter().zip(back).map(|(value, back)| value * back).sum())
                .collect();
            let mean: f32 = looks.iter().zip(&toward).map(|(look, toward)| look * toward).sum();
            for (look, toward) in looks.iter().zip(&toward) {
                back_looks.push(look * (toward - mean));
                back_places.extend(back.iter().map(|back| look * back));
            }
        }
        LOOK.backward(all, places, back_looks, gradient, Some(through_looks));
        for (sum, value) in back_places.iter_mut().zip(through_looks.iter()) {
            *sum += value;
        }
        relu_backward(places, back_places);
        CONV_NORM.backward(all, back_places, &kept[0], gradient);
        CONV.backward(all, unfolded, back_places, gradient, None);
    }

    pub(super) fn fold(all: &mut [f32], standard: &Standard) {
        let (weights, biases) = all[..CONV.parameters()].split_at_mut(HIDDEN * KERNEL * WIDTH);
        for (row, bias) in weights.chunks_exact_mut(KERNEL * WIDTH).zip(biases) {
            for (at, weight) in row.iter_mut().enumerate() {
                *weight /= standard.scale[at % WIDTH];
                *bias -= *weight * standard.mean[at % WIDTH];
            }
        }
    }

    pub(super) fn graph(all: &[f32]) -> Vec<Layer> {
        // Ours lie as output, embedding, value; a convolution wants output, value, embedding.
        let ours = CONV.weight(all);
        let place = |output: usize, value: usize, at: usize| ours[(output * KERNEL + at) * WIDTH + value];
        let weight = (0..HIDDEN * WIDTH * KERNEL)
            .map(|at| place(at / (WIDTH * KERNEL), at / KERNEL % WIDTH, at % KERNEL))
            .collect();
        let bias = CONV.bias(all).to_vec();
        vec![
            Layer::Conv1d { weight, bias, kernel: KERNEL, padding: 0, stride: 1 },
            CONV_NORM.layer(all),
            Layer::Relu,
            Layer::AttentionPool { weight: LOOK.weight(all).to_vec(), bias: LOOK.bias(all)[0] },
            POOL_NORM.layer(all),
            LAST.layer(all),
            Layer::Sigmoid,
        ]
    }
}

fn softmax(values: &mut [f32]) {
    let largest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for value in values.iter_mut() {
        *value = (*value - largest).exp();
        sum += *value;
    }
    for value in values {
        *value /= sum;
    }
}
