//! Heads that are trained here: small networks from a window of 16 embeddings to one score.
//!
//! - [`Architecture::Dnn`]: Linear(1536, 32), LayerNorm, ReLU, again from 32 to 32, Linear(32, 1), sigmoid:
//!   the shape of openWakeWord's heads.
//! - [`Architecture::ConvAttention`]: a convolution over 3 embeddings, LayerNorm, ReLU, attention over time,
//!   LayerNorm, Linear(32, 1), sigmoid.
//!
//! A batch is row-major: windows of 16 × 96 values. What goes in is standardised by each of the 96
//! values; [`Network::folded`] moves that into the first layer, so that a head takes embeddings as they are.

mod adamw;
mod attention;
mod dnn;
mod layers;
mod loss;
mod random;

use serde::{Deserialize, Serialize};
use tenpass_wake::onnx::HeadGraph;

pub(crate) use adamw::{AdamW, schedule};
pub use loss::{Loss, sigmoid};
pub use random::{Random, seed_of};

use attention::Attention;
use dnn::Dnn;

/// Embeddings in a window.
pub const FRAMES: usize = 16;
/// Values of an embedding.
pub const WIDTH: usize = 96;
/// Values of a window.
pub const WINDOW: usize = FRAMES * WIDTH;
/// Width of the hidden layers.
pub const HIDDEN: usize = 32;

/// The shape of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// Fully connected layers.
    #[default]
    Dnn,
    /// A convolution over time and attention.
    ConvAttention,
}

impl Architecture {
    /// As it is typed and stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dnn => "dnn",
            Self::ConvAttention => "conv-attention",
        }
    }
}

/// A head with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    architecture: Architecture,
    parameters: Vec<f32>,
}

/// Buffers of a pass through a network, kept from batch to batch.
#[derive(Debug, Default)]
pub struct Buffers {
    dnn: dnn::Buffers,
    attention: attention::Buffers,
    slopes: Vec<f32>,
}

impl Network {
    /// A fresh network: weights as PyTorch begins with, uniform in ±1/√inputs.
    pub fn new(architecture: Architecture, seed: u64) -> Self {
        let mut random = Random::of(seed, &["network", architecture.name()]);
        let mut parameters = Vec::new();
        for (count, kind) in pieces(architecture) {
            match kind {
                Piece::Uniform(inputs) => {
                    let limit = 1.0 / (inputs as f64).sqrt();
                    parameters.extend((0..count).map(|_| random.between(-limit, limit) as f32));
                }
                Piece::Bias(inputs) => {
                    let limit = 1.0 / (inputs as f64).sqrt();
                    parameters.extend((0..count).map(|_| random.between(-limit, limit) as f32));
                }
                Piece::Constant(value) => parameters.extend(std::iter::repeat_n(value, count)),
            }
        }
        Self { architecture, parameters }
    }

    /// A network of these parameters; `None` when their number is not that of the architecture.
    pub fn from_parameters(architecture: Architecture, parameters: Vec<f32>) -> Option<Self> {
        let wanted: usize = pieces(architecture).iter().map(|piece| piece.0).sum();
        (parameters.len() == wanted).then_some(Self { architecture, parameters })
    }

    /// Its shape.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// All parameters in one row.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    pub(crate) fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    /// Which parameters weight decay applies to.
    pub(crate) fn decays(&self) -> Vec<bool> {
        let of = |(count, kind): &(usize, Piece)| std::iter::repeat_n(matches!(kind, Piece::Uniform(_)), *count);
        pieces(self.architecture).iter().flat_map(of).collect()
    }

    /// The logits of a batch of windows.
    pub fn logits<'a>(&self, windows: &[f32], buffers: &'a mut Buffers) -> &'a [f32] {
        match self.architecture {
            Architecture::Dnn => Dnn::forward(&self.parameters, windows, &mut buffers.dnn),
            Architecture::ConvAttention => Attention::forward(&self.parameters, windows, &mut buffers.attention),
        }
    }

    /// The scores, 0 to 1, of every window of a stream: one for each embedding from the 16th on.
    pub fn scores(&self, embeddings: &[f32], buffers: &mut Buffers) -> Vec<f32> {
        const TOGETHER: usize = 256;
        let windows = (embeddings.len() / WIDTH).saturating_sub(FRAMES - 1);
        let mut scores = Vec::with_capacity(windows);
        let mut batch = Vec::new();
        for first in (0..windows).step_by(TOGETHER) {
            batch.clear();
            for window in first..(first + TOGETHER).min(windows) {
                batch.extend_from_slice(&embeddings[window * WIDTH..window * WIDTH + WINDOW]);
            }
            scores.extend(self.logits(&batch, buffers).iter().map(|logit| sigmoid(*logit)));
        }
        scores
    }

    /// The mean loss of a batch and its gradient. Targets lie in 0..1; every window has a weight.
    pub fn gradient(
        &self,
        windows: &[f32],
        targets: &[f32],
        weights: &[f32],
        loss: Loss,
        buffers: &mut Buffers,
        gradient: &mut Vec<f32>,
    ) -> f32 {
        gradient.clear();
        gradient.resize(self.parameters.len(), 0.0);
        let mut slopes = std::mem::take(&mut buffers.slopes);
        slopes.clear();
        let mut sum = 0.0;
        let count = targets.len().max(1) as f32;
        for ((logit, target), weight) in self.logits(windows, buffers).iter().zip(targets).zip(weights) {
            let (value, slope) = loss.of(*logit, *target);
            sum += weight * value / count;
            slopes.push(weight * slope / count);
        }
        match self.architecture {
            Architecture::Dnn => Dnn::backward(&self.parameters, windows, &slopes, &mut buffers.dnn, gradient),
            Architecture::ConvAttention => {
                Attention::backward(&self.parameters, windows, &slopes, &mut buffers.attention, gradient);
            }
        }
        buffers.slopes = slopes;
        sum
    }

    /// The same network for embeddings as they are, where this one wants `(value − mean) / scale` of each of
    /// the 96 values.
    pub fn folded(&self, standard: &Standard) -> Self {
        let mut parameters = self.parameters.clone();
        match self.architecture {
            Architecture::Dnn => Dnn::fold(&mut parameters, standard),
            Architecture::ConvAttention => Attention::fold(&mut parameters, standard),
        }
        Self { architecture: self.architecture, parameters }
    }

    /// As layers of a head's file.
    pub fn graph(&self, name: &str) -> HeadGraph {
        let layers = match self.architecture {
            Architecture::Dnn => Dnn::graph(&self.parameters),
            Architecture::ConvAttention => Attention::graph(&self.parameters),
        };
        let metadata = vec![("wake_word".to_owned(), name.to_owned())];
        HeadGraph { name: name.to_owned(), frames: FRAMES, layers, metadata }
    }
}

/// How the parameters of a piece begin.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece {
    /// Weights of a layer with this many inputs.
    Uniform(usize),
    /// Biases of a layer with this many inputs.
    Bias(usize),
    /// All alike.
    Constant(f32),
}

fn pieces(architecture: Architecture) -> Vec<(usize, Piece)> {
    match architecture {
        Architecture::Dnn => dnn::pieces(),
        Architecture::ConvAttention => attention::pieces(),
    }
}

/// Mean and scale of each of the 96 values of an embedding.
#[derive(Debug, Clone, PartialEq)]
pub struct Standard {
    /// Means.
    pub mean: [f32; WIDTH],
    /// Standard deviations; 1 for a value that does not change.
    pub scale: [f32; WIDTH],
}

impl Standard {
    /// Of these embeddings, one after another.
    pub fn of(embeddings: &[f32]) -> Self {
        let count = (embeddings.len() / WIDTH).max(1) as f64;
        let (mut sums, mut squares) = ([0.0_f64; WIDTH], [0.0_f64; WIDTH]);
        for row in embeddings.chunks_exact(WIDTH) {
            for (at, value) in row.iter().enumerate() {
                sums[at] += f64::from(*value);
                squares[at] += f64::from(*value) * f64::from(*value);
            }
        }
        let mean: [f32; WIDTH] = std::array::from_fn(|at| (sums[at] / count) as f32);
        let scale = std::array::from_fn(|at| {
            let mean = sums[at] / count;
            let deviation = (squares[at] / count - mean * mean).max(0.0).sqrt();
            if deviation > 1e-6 { deviation as f32 } else { 1.0 }
        });
        Self { mean, scale }
    }

    /// Standardises embeddings in place.
    pub fn apply(&self, embeddings: &mut [f32]) {
        for row in embeddings.chunks_exact_mut(WIDTH) {
            for ((value, mean), scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
                *value = (*value - mean) / scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(rows: usize, seed: u64) -> Vec<f32> {
        let mut random = Random::new(seed);
        (0..rows * WINDOW).map(|_| random.normal() as f32).collect()
    }

    /// Central differences in f32 are coarse: a direction through all parameters averages their noise out.
    #[test]
    fn gradients_are_those_of_finite_differences() {
        for architecture in [Architecture::Dnn, Architecture::ConvAttention] {
            let network = Network::new(architecture, 5);
            let windows = batch(6, 1);
            let (targets, weights) = ([1.0, 0.0, 1.0, 0.0, 0.4, 0.0], [1.0, 2.0, 1.0, 3.0, 1.0, 0.5]);
            let loss = Loss { focus: 1.5, smoothing: 0.05 };
            let (mut buffers, mut gradient) = (Buffers::default(), Vec::new());
            network.gradient(&windows, &targets, &weights, loss, &mut buffers, &mut gradient);
            let mut at = 0;
            for (piece, _) in pieces(architecture) {
                let mut random = Random::new(at as u64 + 9);
                let direction: Vec<f32> = (0..piece).map(|_| random.normal() as f32).collect();
                let length = direction.iter().map(|value| value * value).sum::<f32>().sqrt();
                let exact: f32 = (gradient[at..at + piece].iter().zip(&direction)).map(|(g, d)| g * d / length).sum();
                let step = 4e-3;
                let mut moved = |sign: f32| {
                    let mut other = network.clone();
                    for (parameter, direction) in other.parameters[at..at + piece].iter_mut().zip(&direction) {
                        *parameter += sign * step * direction / length;
                    }
                    f64::from(other.gradient(&windows, &targets, &weights, loss, &mut buffers, &mut Vec::new()))
                };
                let numeric = ((moved(1.0) - moved(-1.0)) / f64::from(2.0 * step)) as f32;
                let tolerance = 2e-3 + 0.02 * exact.abs();
                assert!((numeric - exact).abs() < tolerance, "{architecture:?} at {at}: {numeric} and {exact}");
                at += piece;
            }
            assert_eq!(at, gradient.len());
        }
    }

    #[test]
    fn a_folded_network_scores_raw_embeddings_alike() {
        for architecture in [Architecture::Dnn, Architecture::ConvAttention] {
            let network = Network::new(architecture, 2);
            let raw: Vec<f32> = batch(3, 4).iter().enumerate().map(|(i, x)| x * (1.0 + (i % 7) as f32) + 3.0).collect();
            let standard = Standard::of(&raw);
            let mut standardised = raw.clone();
            standard.apply(&mut standardised);
            let mut buffers = Buffers::default();
            let expected = network.logits(&standardised, &mut buffers).to_vec();
            let folded = network.folded(&standard);
            for (logit, expected) in folded.logits(&raw, &mut buffers).iter().zip(&expected) {
                assert!((logit - expected).abs() < 1e-3, "{logit} {expected}");
            }
        }
    }

    #[test]
    fn a_stream_has_a_score_an_embedding_from_the_16th_on() {
        let network = Network::new(Architecture::Dnn, 2);
        let stream = batch(40, 4);
        let mut buffers = Buffers::default();
        let scores = network.scores(&stream, &mut buffers);
        assert_eq!(scores.len(), 40 * FRAMES - 15);
        let alone = sigmoid(network.logits(&stream[300 * WIDTH..300 * WIDTH + WINDOW], &mut buffers)[0]);
        assert!((scores[300] - alone).abs() < 1e-5);
        assert!(network.scores(&stream[..15 * WIDTH], &mut buffers).is_empty());
    }
}
