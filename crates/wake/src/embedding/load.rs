//! Reading the network out of its ONNX graph, node after node.
//!
//! The graph must be the one that is described in the published model: convolutions 3×3, 1×3 and 3×1 with
//! padding of frequency only, pooling, and `max(LeakyReLU 0.2, −0.4)` after every convolution but the last.

use super::layers::{After, Convolution, Kind, Layer, Network};
use crate::error::WakeError;
use crate::mel::MEL_BANDS;
use crate::net::{Packed, Simd};
use crate::onnx::{Model, Node, Tensor};

type Found<T> = Result<T, String>;

/// The network of a model.
pub(super) fn network(name: &str, model: &Model) -> Result<Network, WakeError> {
    let reading = Reading { nodes: &model.graph.nodes, tensors: &model.graph.initializers, at: 0 };
    let network = reading
        .run()
        .map_err(|problem| WakeError::unsupported(name, format!("this is not the speech embedding: {problem}")))?;
    if !network.fits() {
        return Err(WakeError::unsupported(
            name,
            "this is not the speech embedding: its layers do not follow each other",
        ));
    }
    Ok(network)
}

struct Reading<'a> {
    nodes: &'a [Node],
    tensors: &'a [Tensor],
    at: usize,
}

impl<'a> Reading<'a> {
    fn run(mut self) -> Found<Network> {
        let mut layers: Vec<Layer> = Vec::new();
        let (mut frequencies, mut channels) = (MEL_BANDS, 1);
        // The padding of the first convolution stands before it as a node of its own.
        let mut padded = false;
        while let Some(node) = self.nodes.get(self.at) {
            self.at += 1;
            match node.op.as_str() {
                "Pad" => padded = self.pads_frequency(node)?,
                "Reshape" | "Transpose" | "Squeeze" => {}
                "Conv" => {
                    let convolution = self.convolution(node, channels, padded)?;
                    padded = false;
                    let outputs = convolution.matrix.outputs();
                    layers.push(Layer { frequencies, channels, kind: Kind::Convolution(convolution) });
                    channels = outputs;
                }
                "MaxPool" => {
                    let time = match (node.ints("kernel_shape"), node.ints("strides")) {
                        (Some([time @ (1 | 2), 2]), Some([step, 2])) if time == step => *time as usize,
                        other => return Err(format!("a pool of {other:?}")),
                    };
                    layers.push(Layer { frequencies, channels, kind: Kind::Pool { time } });
                    frequencies /= 2;
                }
                other => return Err(format!("node {} is a {other}", self.at - 1)),
            }
        }
        Ok(Network { layers })
    }

    fn pads_frequency(&self, node: &Node) -> Found<bool> {
        let pads = node.inputs.get(1).and_then(|name| self.tensor(name).ok());
        match pads.map(|tensor| &tensor.numbers) {
            Some(crate::onnx::Numbers::I64(pads)) if pads == &[0, 0, 1, 0, 0, 0, 1, 0] => Ok(true),
            _ => Err("its input is not padded by one frequency on both sides".to_owned()),
        }
    }

    fn tensor(&self, name: &str) -> Found<&'a Tensor> {
        self.tensors.iter().find(|tensor| tensor.name == name).ok_or_else(|| format!("there is no tensor \"{name}\""))
    }

    fn floats(&self, node: &Node, input: usize) -> Found<&'a [f32]> {
        let name = node.inputs.get(input).ok_or_else(|| format!("{} has no input {input}", node.op))?;
        self.tensor(name)?.as_floats().ok_or_else(|| format!("\"{name}\" holds no floats"))
    }

    fn convolution(&mut self, node: &Node, channels: usize, padded: bool) -> Found<Convolution> {
        let matrix = self.tensor(node.inputs.get(1).map_or("", String::as_str))?;
        let &[outputs, inputs, time, frequency] = matrix.shape.as_slice() else {
            return Err(format!("a convolution of {:?}", matrix.shape));
        };
        let pads = match node.ints("pads") {
            None | Some([0, 0, 0, 0]) if padded => [0, 1, 0, 1],
            None => [0; 4],
            Some(&[a, b, c, d]) => [a, b, c, d],
            other => return Err(format!("padding of {other:?}")),
        };
        let wanted = if frequency == 3 { [0, 1, 0, 1] } else { [0; 4] };
        let one = |values: Option<&[i64]>| values.is_none_or(|values| values.iter().all(|value| *value == 1));
        if inputs != channels
            || !matches!((time, frequency), (3 | 1, 3) | (3, 1))
            || pads != wanted
            || !one(node.ints("strides"))
            || !one(node.ints("dilations"))
            || node.int("group").unwrap_or(1) != 1
        {
            return Err(format!("a convolution of {:?} with padding {pads:?} on {channels} channels", matrix.shape));
        }
        let weights = matrix.as_floats().ok_or("a convolution without floats")?;
        let bias = if node.inputs.len() > 2 { Some(self.floats(node, 2)?) } else { None };
        if bias.is_some_and(|bias| bias.len() != outputs) {
            return Err("a bias of another length".to_owned());
        }
        let at = |tap: usize, output: usize| {
            let (place, channel) = (tap / channels, tap % channels);
            let (row, column) = (place / frequency, place % frequency);
            weights[((output * channels + channel) * time + row) * frequency + column]
        };
        let packed = Packed::new(Simd::best(), time * frequency * channels, outputs, bias, at);
        Ok(Convolution { time, frequency, matrix: packed, after: self.after(outputs)? })
    }

    /// The nodes that follow a convolution.
    fn after(&mut self, outputs: usize) -> Found<After> {
        let mut normalised = None;
        if self.take("Relu").is_some() {
            let node = self.take("BatchNormalization").ok_or("a ReLU without normalisation after it")?;
            let [gain, shift, mean, variance] =
                [self.floats(node, 1)?, self.floats(node, 2)?, self.floats(node, 3)?, self.floats(node, 4)?];
            if [gain, shift, mean, variance].iter().any(|values| values.len() != outputs) {
                return Err("a normalisation of another length".to_owned());
            }
            let epsilon = node.float("epsilon").unwrap_or(1e-5);
            let scale: Vec<f32> =
                gain.iter().zip(variance).map(|(gain, variance)| gain / (variance + epsilon).sqrt()).collect();
            let shift =
                shift.iter().zip(mean.iter().zip(&scale)).map(|(shift, (mean, scale))| shift - mean * scale).collect();
            normalised = Some((scale, shift));
        }
        let Some(leaky) = self.take("LeakyRelu") else {
            return if normalised.is_none() {
                Ok(After::Nothing)
            } else {
                Err("a layer without activation".to_owned())
            };
        };
        if !leaky.float("alpha").is_some_and(|alpha| (alpha - 0.2).abs() < 1e-6) {
            return Err("another slope than 0.2".to_owned());
        }
        let floor = self.take("Max").ok_or("an activation without a floor")?;
        if !matches!(self.floats(floor, 1)?, [floor] if (floor + 0.4).abs() < 1e-6) {
            return Err("another floor than -0.4".to_owned());
        }
        Ok(normalised.map_or(After::Leaky, |(scale, shift)| After::Normalised { scale, shift }))
    }

    /// The next node, when it is of this kind.
    fn take(&mut self, op: &str) -> Option<&'a Node> {
        let node = self.nodes.get(self.at).filter(|node| node.op == op)?;
        self.at += 1;
        Some(node)
    }
}
