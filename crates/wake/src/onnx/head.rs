//! A trained head as an ONNX file: input [1, frames, 96], output [1, 1], operator set 13.
//!
//! Layer normalisation is written in operators of that set, as PyTorch's exporter does. Values are in
//! one of two forms between layers: a sequence [1, frames, channels] or a vector [1, n].

use std::path::Path;

use super::build::Builder;
use super::model::{Attribute, Model};
use crate::error::WakeError;

/// A layer of a head. Matrices are row-major with one row an output, as in PyTorch.
#[derive(Debug, Clone, PartialEq)]
pub enum Layer {
    /// From a sequence to a vector, frame after frame.
    Flatten,
    /// `y = W x + b`, on a vector or on every frame of a sequence.
    Linear {
        /// [outputs × inputs].
        weight: Vec<f32>,
        /// [outputs].
        bias: Vec<f32>,
    },
    /// Over the last dimension: mean 0, variance 1, then scale and shift.
    LayerNorm {
        /// [n].
        scale: Vec<f32>,
        /// [n].
        shift: Vec<f32>,
        /// Added to the variance.
        epsilon: f32,
    },
    /// `max(x, 0)`.
    Relu,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// A convolution over the frames of a sequence.
    Conv1d {
        /// [outputs × inputs × kernel].
        weight: Vec<f32>,
        /// [outputs].
        bias: Vec<f32>,
        /// Frames that one output sees.
        kernel: usize,
        /// Frames of zeros put before and after.
        padding: usize,
        /// Frames from one output to the next.
        stride: usize,
    },
    /// Self-attention with one head, added to its input: `x + softmax(q kᵀ / √n) v Wₒᵀ`. All matrices [n × n], biases [n].
    Attention {
        /// Queries: matrix and bias.
        query: (Vec<f32>, Vec<f32>),
        /// Keys.
        key: (Vec<f32>, Vec<f32>),
        /// Values.
        value: (Vec<f32>, Vec<f32>),
        /// Output.
        output: (Vec<f32>, Vec<f32>),
    },
    /// From a sequence to a vector: `Σ softmax(x·w + b) x` over the frames.
    AttentionPool {
        /// [n].
        weight: Vec<f32>,
        /// One number for all frames.
        bias: f32,
    },
    /// From a sequence to a vector: the mean over the frames.
    MeanPool,
}

/// A head as layers.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadGraph {
    /// Name of the graph, such as the wake word.
    pub name: String,
    /// Embeddings that it sees.
    pub frames: usize,
    /// Its layers; the last leaves a vector of one value.
    pub layers: Vec<Layer>,
    /// Properties written into the file.
    pub metadata: Vec<(String, String)>,
}

/// Writes a head, whole or not at all.
pub fn write_head(path: &Path, head: &HeadGraph) -> Result<(), WakeError> {
    head_model(head)?.write(path)
}

/// The model of a head. Sizes that do not fit are an error that names the layer.
pub fn head_model(head: &HeadGraph) -> Result<Model, WakeError> {
    let mut writing = Writing {
        builder: Builder::new(&head.name, "features", &[1, head.frames, crate::EMBEDDING]),
        value: "features".to_owned(),
        form: Form::Sequence { frames: head.frames, channels: crate::EMBEDDING },
    };
    for (place, layer) in head.layers.iter().enumerate() {
        writing
            .layer(layer)
            .map_err(|problem| WakeError::unsupported(&head.name, format!("layer {place}: {problem}")))?;
    }
    if writing.form != Form::Vector(1) {
        return Err(WakeError::unsupported(&head.name, "the last layer must leave one value"));
    }
    for (name, value) in &head.metadata {
        writing.builder.property(name, value);
    }
    Ok(writing.builder.finish(&writing.value, &[1, 1]))
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Sequence { frames: usize, channels: usize },
    Vector(usize),
}

impl Form {
    fn last(self) -> usize {
        match self {
            Self::Sequence { channels, .. } => channels,
            Self::Vector(size) => size,
        }
    }

    fn with_last(self, size: usize) -> Self {
        match self {
            Self::Sequence { frames, .. } => Self::Sequence { frames, channels: size },
            Self::Vector(_) => Self::Vector(size),
        }
    }
}

struct Writing {
    builder: Builder,
    value: String,
    form: Form,
}

fn ints<'a>(name: &'a str, values: &[i64]) -> (&'a str, Attribute) {
    (name, Attribute::Ints(values.to_vec()))
}

fn fits(what: &str, found: usize, wanted: usize) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{what} has {found} numbers, {wanted} are needed")) }
}

impl Writing {
    fn layer(&mut self, layer: &Layer) -> Result<(), String> {
        match layer {
            Layer::Flatten => {
                let (frames, channels) = self.sequence()?;
                self.then("Flatten", &[], vec![("axis", Attribute::Int(1))]);
                self.form = Form::Vector(frames * channels);
            }
            Layer::Linear { weight, bias } => {
                self.value = self.linear(&self.value.clone(), weight, bias)?;
                self.form = self.form.with_last(bias.len());
            }
            Layer::LayerNorm { scale, shift, epsilon } => self.layer_norm(scale, shift, *epsilon)?,
            Layer::Relu => self.then("Relu", &[], vec![]),
            Layer::Sigmoid => self.then("Sigmoid", &[], vec![]),
            Layer::Conv1d { weight, bias, kernel, padding, stride } => {
                self.conv(weight, bias, *kernel, *padding, *stride)?;
            }
            Layer::Attention { query, key, value, output } => self.attention([query, key, value, output])?,
            Layer::AttentionPool { weight, bias } => {
                let (_, channels) = self.sequence()?;
                fits("weight", weight.len(), channels)?;
                let scores = self.linear(&self.value.clone(), weight, &[*bias])?;
                let shares = self.builder.node("Softmax", &[&scores], vec![("axis", Attribute::Int(1))]);
                let weighted = self.builder.node("Mul", &[&self.value, &shares], vec![]);
                let axes = self.builder.integers(&[1]);
                self.value = self.builder.node("ReduceSum", &[&weighted, &axes], vec![("keepdims", Attribute::Int(0))]);
                self.form = Form::Vector(channels);
            }
            Layer::MeanPool => {
                let (_, channels) = self.sequence()?;
                self.then("ReduceMean", &[], vec![ints("axes", &[1]), ("keepdims", Attribute::Int(0))]);
                self.form = Form::Vector(channels);
            }
        }
        Ok(())
    }

    fn sequence(&self) -> Result<(usize, usize), String> {
        match self.form {
            Form::Sequence { frames, channels } => Ok((frames, channels)),
            Form::Vector(_) => Err("it needs a sequence, and a vector comes in".to_owned()),
        }
    }

    /// A node on the value that comes in, with more inputs after it.
    fn then(&mut self, op: &str, more: &[&str], attributes: Vec<(&str, Attribute)>) {
        let inputs: Vec<&str> = std::iter::once(self.value.as_str()).chain(more.iter().copied()).collect();
        self.value = self.builder.node(op, &inputs, attributes);
    }

    /// On a vector one `Gemm`; on a sequence a product with the transposed matrix.
    fn linear(&mut self, input: &str, weight: &[f32], bias: &[f32]) -> Result<String, String> {
        let (inputs, outputs) = (self.form.last(), bias.len());
        fits("weight", weight.len(), inputs * outputs)?;
        let shift = self.builder.constant(&[outputs], bias);
        if let Form::Vector(_) = self.form {
            let matrix = self.builder.constant(&[outputs, inputs], weight);
            return Ok(self.builder.node("Gemm", &[input, &matrix, &shift], vec![("transB", Attribute::Int(1))]));
        }
        let transposed: Vec<f32> =
            (0..inputs).flat_map(|column| (0..outputs).map(move |row| weight[row * inputs + column])).collect();
        let matrix = self.builder.constant(&[inputs, outputs], &transposed);
        let product = self.builder.node("MatMul", &[input, &matrix], vec![]);
        Ok(self.builder.node("Add", &[&product, &shift], vec![]))
    }

    fn layer_norm(&mut self, scale: &[f32], shift: &[f32], epsilon: f32) -> Result<(), String> {
        let size = self.form.last();
        fits("scale", scale.len(), size)?;
        fits("shift", shift.len(), size)?;
        let builder = &mut self.builder;
        let mean = builder.node("ReduceMean", &[&self.value], vec![ints("axes", &[-1])]);
        let centred = builder.node("Sub", &[&self.value, &mean], vec![]);
        let squared = builder.node("Mul", &[&centred, &centred], vec![]);
        let variance = builder.node("ReduceMean", &[&squared], vec![ints("axes", &[-1])]);
        let epsilon = builder.constant(&[], &[epsilon]);
        let raised = builder.node("Add", &[&variance, &epsilon], vec![]);
        let deviation = builder.node("Sqrt", &[&raised], vec![]);
        let normal = builder.node("Div", &[&centred, &deviation], vec![]);
        let scale = builder.constant(&[size], scale);
        let scaled = builder.node("Mul", &[&normal, &scale], vec![]);
        let shift = builder.constant(&[size], shift);
        self.value = builder.node("Add", &[&scaled, &shift], vec![]);
        Ok(())
    }

    fn conv(
        &mut self,
        weight: &[f32],
        bias: &[f32],
        kernel: usize,
        padding: usize,
        stride: usize,
    ) -> Result<(), String> {
        let (frames, channels) = self.sequence()?;
        let padded = frames + 2 * padding;
        if kernel == 0 || stride == 0 || padded < kernel {
            return Err(format!("kernel {kernel} and stride {stride} on {padded} frames"));
        }
        fits("weight", weight.len(), bias.len() * channels * kernel)?;
        self.then("Transpose", &[], vec![ints("perm", &[0, 2, 1])]);
        let matrix = self.builder.constant(&[bias.len(), channels, kernel], weight);
        let shift = self.builder.constant(&[bias.len()], bias);
        let (pad, kernel_size, step) = (padding as i64, kernel as i64, stride as i64);
        let settings = vec![ints("kernel_shape", &[kernel_size]), ints("pads", &[pad, pad]), ints("strides", &[step])];
        self.then("Conv", &[&matrix, &shift], settings);
        self.then("Transpose", &[], vec![ints("perm", &[0, 2, 1])]);
        self.form = Form::Sequence { frames: (padded - kernel) / stride + 1, channels: bias.len() };
        Ok(())
    }

    fn attention(&mut self, parts: [&(Vec<f32>, Vec<f32>); 4]) -> Result<(), String> {
        let (_, channels) = self.sequence()?;
        for (_, bias) in parts {
            fits("a bias", bias.len(), channels)?;
        }
        let input = self.value.clone();
        let query = self.linear(&input, &parts[0].0, &parts[0].1)?;
        let key = self.linear(&input, &parts[1].0, &parts[1].1)?;
        let value = self.linear(&input, &parts[2].0, &parts[2].1)?;
        let turned = self.builder.node("Transpose", &[&key], vec![ints("perm", &[0, 2, 1])]);
        let products = self.builder.node("MatMul", &[&query, &turned], vec![]);
        let scale = self.builder.constant(&[], &[1.0 / (channels as f32).sqrt()]);
        let scaled = self.builder.node("Mul", &[&products, &scale], vec![]);
        let shares = self.builder.node("Softmax", &[&scaled], vec![("axis", Attribute::Int(-1))]);
        let mixed = self.builder.node("MatMul", &[&shares, &value], vec![]);
        let out = self.linear(&mixed, &parts[3].0, &parts[3].1)?;
        self.value = self.builder.node("Add", &[&input, &out], vec![]);
        Ok(())
    }
}
