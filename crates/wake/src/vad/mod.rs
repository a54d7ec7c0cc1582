//! Voice activity: the 16 kHz half of silero VAD (version 6), computed directly.
//!
//! 512 samples with 64 of the past, reflected at the end: a short-time Fourier transform as a convolution
//! (4 frames of 129 magnitudes), four convolutions over the frames, one LSTM step, one number.

mod load;
mod regions;

use std::path::Path;
use std::sync::Arc;

use crate::error::WakeError;
use crate::net::{Simd, dot, matrix_vector};
pub use regions::{Region, RegionOptions, speech_regions};

/// Samples of a block: 32 ms at 16 kHz.
pub const VAD_BLOCK: usize = 512;
/// Samples of the past that a block sees.
const CONTEXT: usize = 64;
const WINDOW: usize = 256;
const STRIDE: usize = 128;
const BINS: usize = 129;
const HIDDEN: usize = 128;
/// Frames of the transform.
const FRAMES: usize = 4;

/// A voice detector with its memory of the stream.
#[derive(Debug, Clone)]
pub struct Vad {
    weights: Arc<Weights>,
    context: [f32; CONTEXT],
    h: [f32; HIDDEN],
    c: [f32; HIDDEN],
    scratch: Scratch,
}

#[derive(Debug)]
struct Weights {
    simd: Simd,
    /// [258 × 256]: real parts, then imaginary ones.
    basis: Vec<f32>,
    encoder: [Convolution; 4],
    /// [512 × 128] each; gates in PyTorch's order: input, forget, cell, output.
    from_input: Vec<f32>,
    from_state: Vec<f32>,
    /// Both biases together.
    bias: Vec<f32>,
    output: Vec<f32>,
    output_bias: f32,
}

/// Kernel 3, padding 1, then ReLU.
#[derive(Debug)]
struct Convolution {
    inputs: usize,
    stride: usize,
    /// [outputs × 3 × inputs].
    matrix: Vec<f32>,
    bias: Vec<f32>,
}

#[derive(Debug, Clone, Default)]
struct Scratch {
    samples: Vec<f32>,
    spectrum: Vec<f32>,
    now: Vec<f32>,
    next: Vec<f32>,
    gates: [Vec<f32>; 2],
}

impl Vad {
    /// Reads the weights out of `silero_vad.onnx` (the asset `silero-vad`).
    pub fn load(path: &Path) -> Result<Self, WakeError> {
        let model = crate::onnx::Model::read(path)?;
        let weights = load::weights(&path.display().to_string(), &model)?;
        Ok(Self {
            weights: Arc::new(weights),
            context: [0.0; CONTEXT],
            h: [0.0; HIDDEN],
            c: [0.0; HIDDEN],
            scratch: Scratch::default(),
        })
    }

    /// A new stream.
    pub fn reset(&mut self) {
        (self.context, self.h, self.c) = ([0.0; CONTEXT], [0.0; HIDDEN], [0.0; HIDDEN]);
    }

    /// How probable speech is in the next 32 ms (16 kHz, full scale at ±1).
    pub fn push(&mut self, block: &[f32; VAD_BLOCK]) -> f32 {
        let scratch = &mut self.scratch;
        scratch.samples.clear();
        scratch.samples.extend_from_slice(&self.context);
        scratch.samples.extend(block.iter().map(|sample| if sample.is_finite() { *sample } else { 0.0 }));
        let end = scratch.samples.len();
        self.context.copy_from_slice(&scratch.samples[end - CONTEXT..]);
        for place in 0..CONTEXT {
            scratch.samples.push(scratch.samples[end - 2 - place]);
        }
        let weights = &*self.weights;
        transform(weights, scratch);
        for convolution in &weights.encoder {
            convolution.apply(weights.simd, &scratch.now, &mut scratch.next);
            std::mem::swap(&mut scratch.now, &mut scratch.next);
        }
        self.recur();
        let weights = &*self.weights;
        let heard: f32 = self.h.iter().zip(&weights.output).map(|(value, weight)| value.max(0.0) * weight).sum();
        1.0 / (1.0 + (-(heard + weights.output_bias)).exp())
    }

    /// The probability of every block from a fresh start; what is left at the end is filled with silence.
    pub fn probabilities(&mut self, samples: &[f32]) -> Vec<f32> {
        self.reset();
        let (blocks, rest) = samples.as_chunks::<VAD_BLOCK>();
        let mut found: Vec<f32> = blocks.iter().map(|block| self.push(block)).collect();
        if !rest.is_empty() {
            let mut block = [0.0; VAD_BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            found.push(self.push(&block));
        }
        found
    }

    fn recur(&mut self) {
        let (weights, scratch) = (&*self.weights, &mut self.scratch);
        let [input, state] = &mut scratch.gates;
        input.resize(4 * HIDDEN, 0.0);
        state.resize(4 * HIDDEN, 0.0);
        matrix_vector(weights.simd, &weights.from_input, &scratch.now[..HIDDEN], input);
        matrix_vector(weights.simd, &weights.from_state, &self.h, state);
        let gate = |gate: usize, n: usize| {
            let at = gate * HIDDEN + n;
            input[at] + state[at] + weights.bias[at]
        };
        let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
        for n in 0..HIDDEN {
            self.c[n] = sigmoid(gate(1, n)) * self.c[n] + sigmoid(gate(0, n)) * gate(2, n).tanh();
            self.h[n] = sigmoid(gate(3, n)) * self.c[n].tanh();
        }
    }
}

/// Magnitudes of four frames, into rows of 129.
fn transform(weights: &Weights, scratch: &mut Scratch) {
    scratch.spectrum.resize(2 * BINS, 0.0);
    scratch.now.clear();
    for frame in 0..FRAMES {
        let samples = &scratch.samples[frame * STRIDE..frame * STRIDE + WINDOW];
        matrix_vector(weights.simd, &weights.basis, samples, &mut scratch.spectrum);
        let (real, imaginary) = scratch.spectrum.split_at(BINS);
        scratch.now.extend(real.iter().zip(imaginary).map(|(re, im)| (re * re + im * im).sqrt()));
    }
}

impl Convolution {
    /// Rows of `inputs` in, rows of outputs out.
    fn apply(&self, simd: Simd, input: &[f32], output: &mut Vec<f32>) {
        let (rows, size) = (input.len() / self.inputs, self.inputs);
        output.clear();
        for middle in (0..rows).step_by(self.stride) {
            // At the edges the missing row is zeros: its part of the matrix is left out.
            let (first, last) = (middle.saturating_sub(1), (middle + 1).min(rows - 1));
            let seen = &input[first * size..(last + 1) * size];
            let skipped = (first + 1 - middle) * size;
            for (row, bias) in self.matrix.chunks_exact(3 * size).zip(&self.bias) {
                output.push((dot(simd, &row[skipped..skipped + seen.len()], seen) + bias).max(0.0));
            }
        }
    }
}
