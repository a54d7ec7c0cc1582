//! The speech embedding: 76 mel frames in, 96 numbers out, row by row as the frames come.
//!
//! The network strides eight mel frames in all, a hop is eight mel frames, and no convolution pads time.
//! So a hop's embedding shares all but its newest rows with the one before, in every layer. Each
//! layer keeps the last rows that its next outputs need, and computes only what is new: the sums are
//! those of the whole window, a tenth of the work.

mod layers;
mod load;
mod stream;

use std::path::Path;
use std::sync::Arc;

use crate::error::WakeError;
use crate::frontend::Warm;
use crate::mel::{MelFrame, MelPlan};
use layers::Network;

pub(crate) use stream::Rows;

/// Numbers of an embedding.
pub const EMBEDDING: usize = 96;
/// Mel frames that an embedding sees.
pub const MEL_FRAMES: usize = 76;

/// What the front end says about 775 ms of sound, every 80 ms.
pub type Embedding = [f32; EMBEDDING];

/// The front end's tables and weights; shared by all streams, cheap to clone.
#[derive(Debug, Clone)]
pub struct EmbeddingModel {
    pub(crate) inner: Arc<Inner>,
}

/// What streams share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) mel: MelPlan,
    pub(crate) network: Network,
    pub(crate) warm: Warm,
}

impl EmbeddingModel {
    /// Reads the weights out of `embedding_model.onnx` (the asset `speech-embedding`). A graph that is not this
    /// network is refused.
    pub fn load(path: &Path) -> Result<Self, WakeError> {
        Self::from_model(&path.display().to_string(), &crate::onnx::Model::read(path)?)
    }

    /// As [`EmbeddingModel::load`], from a model that was read; `name` is how errors call it.
    pub fn from_model(name: &str, model: &crate::onnx::Model) -> Result<Self, WakeError> {
        let network = load::network(name, model)?;
        Ok(Self { inner: Arc::new(Inner { mel: MelPlan::new(), network, warm: Warm::default() }) })
    }

    /// The embedding of one window, computed from nothing.
    pub fn embed(&self, window: &[MelFrame; MEL_FRAMES]) -> Embedding {
        let (mut rows, mut found) = (Rows::new(&self.inner.network), [0.0; EMBEDDING]);
        rows.push(&self.inner.network, window, &mut |embedding| found = embedding);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrontEnd;
    use crate::onnx::{Attribute, Model};
    use crate::testing::{embedding_graph, embedding_model, sound};

    /// The plainest way to compute the graph: every window whole, every sum in double precision.
    fn plain(model: &Model, window: &[MelFrame]) -> Vec<f64> {
        let tensor = |name: &str| model.graph.initializers.iter().find(|tensor| tensor.name == name).unwrap();
        let floats = |name: &str| tensor(name).as_floats().unwrap().iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
        // [channel][time][frequency]
        let mut now =
            vec![window.iter().map(|row| row.iter().map(|x| f64::from(*x)).collect()).collect::<Vec<Vec<f64>>>()];
        for node in &model.graph.nodes {
            match node.op.as_str() {
                "Conv" => {
                    let (shape, weight) = (&tensor(&node.inputs[1]).shape, floats(&node.inputs[1]));
                    let bias = node.inputs.get(2).map_or_else(|| vec![0.0; shape[0]], |name| floats(name));
                    let (times, widths) = (now[0].len() - shape[2] + 1, now[0][0].len());
                    let at = |c: usize, t: usize, f: usize, kf: usize| {
                        (f + kf).checked_sub(shape[3] / 2).and_then(|f| now[c][t].get(f)).copied().unwrap_or(0.0)
                    };
                    let sum = |o: usize, t: usize, f: usize| {
                        let mut sum = bias[o];
                        for c in 0..shape[1] {
                            for kt in 0..shape[2] {
                                for kf in 0..shape[3] {
                                    sum += weight[((o * shape[1] + c) * shape[2] + kt) * shape[3] + kf]
                                        * at(c, t + kt, f, kf);
                                }
                            }
                        }
                        sum
                    };
                    now = (0..shape[0])
                        .map(|o| (0..times).map(|t| (0..widths).map(|f| sum(o, t, f)).collect()).collect())
                        .collect();
                }
                "MaxPool" => {
                    let Some(&[time, _]) = node.ints("kernel_shape") else { panic!() };
                    let time = time as usize;
                    now = now
                        .iter()
                        .map(|plane| {
                            (0..plane.len() / time)
                                .map(|t| {
                                    (0..plane[0].len() / 2)
                                        .map(|f| {
                                            (0..time)
                                                .flat_map(|k| {
                                                    [plane[t * time + k][2 * f], plane[t * time + k][2 * f + 1]]
                                                })
                                                .fold(f64::MIN, f64::max)
                                        })
                                        .collect()
                                })
                                .collect()
                        })
                        .collect();
                }
                "BatchNormalization" => {
                    let [gain, shift, mean, variance] = [1, 2, 3, 4].map(|place| floats(&node.inputs[place]));
                    for (c, plane) in now.iter_mut().enumerate() {
                        for x in plane.iter_mut().flatten() {
                            *x = (*x - mean[c]) / (variance[c] + 1e-5).sqrt() * gain[c] + shift[c];
                        }
                    }
                }
                "Relu" => now.iter_mut().flatten().flatten().for_each(|x| *x = x.max(0.0)),
                "LeakyRelu" => now.iter_mut().flatten().flatten().for_each(|x| *x = x.max(*x * 0.2)),
                "Max" => now.iter_mut().flatten().flatten().for_each(|x| *x = x.max(-0.4)),
                _ => {}
            }
        }
        now.iter().map(|plane| plane[0][0]).collect()
    }

    #[test]
    fn a_window_is_what_the_graph_says() {
        let (graph, sound) = (embedding_graph(1), sound(16_000));
        let frames = crate::mel::spectrogram(&sound);
        let window: &[MelFrame; MEL_FRAMES] = frames[..MEL_FRAMES].try_into().unwrap();
        let found = embedding_model(1).embed(window);
        let wanted = plain(&graph, window);
        let largest = wanted.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
        assert!(largest > 0.1, "{largest}");
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((f64::from(*found) - wanted).abs() < 1e-4 * largest.max(1.0), "{found} {wanted}");
        }
    }

    #[test]
    fn row_by_row_is_window_by_window() {
        let (model, sound) = (embedding_model(2), sound(48_000));
        let streamed = FrontEnd::new(&model).clip(&sound);
        let mut frames: Vec<MelFrame> = Vec::new();
        let mut hops = 0;
        for end in (1280..=sound.len()).step_by(1280) {
            frames.extend(crate::mel::spectrogram(&sound[end.saturating_sub(1760)..end]));
            if let Some(start) = frames.len().checked_sub(MEL_FRAMES) {
                let window = frames[start..].try_into().unwrap();
                for (one, two) in model.embed(window).iter().zip(&streamed[hops]) {
                    assert!((one - two).abs() < 1e-5, "hop {hops}: {one} {two}");
                }
                hops += 1;
            }
        }
        assert_eq!((hops, streamed.len()), (28, 28));
    }

    #[test]
    fn another_graph_is_refused_by_name() {
        let refused = |change: &dyn Fn(&mut Model)| {
            let mut graph = embedding_graph(1);
            change(&mut graph);
            EmbeddingModel::from_model("x.onnx", &graph).unwrap_err().to_string()
        };
        let set = |model: &mut Model, op: &str, name: &str, value: Attribute| {
            let node = model.graph.nodes.iter_mut().rev().find(|node| node.op == op).unwrap();
            node.attributes.retain(|(found, _)| found != name);
            node.attributes.push((name.to_owned(), value));
        };
        let slope = refused(&|model| set(model, "LeakyRelu", "alpha", Attribute::Float(0.1)));
        assert_eq!(slope, "x.onnx: this is not the speech embedding: another slope than 0.2");
        let step = refused(&|model| set(model, "Conv", "strides", Attribute::Ints(vec![2, 1])));
        assert!(step.contains("a convolution of"), "{step}");
        let pool = refused(&|model| set(model, "MaxPool", "kernel_shape", Attribute::Ints(vec![3, 2])));
        assert!(pool.contains("a pool of"), "{pool}");
        let short = refused(&|model| model.graph.nodes.truncate(40));
        assert!(short.contains("do not follow each other"), "{short}");
        let missing = refused(&|model| model.graph.initializers.truncate(20));
        assert!(missing.contains("there is no tensor"), "{missing}");
        let node = refused(&|model| model.graph.nodes[3].op = "Resize".to_owned());
        assert!(node.contains("Resize"), "{node}");
    }
}
