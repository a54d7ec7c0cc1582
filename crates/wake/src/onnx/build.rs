//! Putting a graph together, node after node.

use super::model::{Attribute, Graph, Model, Node, Port};
use super::tensor::Tensor;

/// The operator set that is written.
const OPSET: i64 = 13;

/// Builds a model with one input and one output of floats.
#[derive(Debug)]
pub struct Builder {
    graph: Graph,
    metadata: Vec<(String, String)>,
}

impl Builder {
    /// An empty graph of this name with an input of this shape.
    pub fn new(name: &str, input: &str, shape: &[usize]) -> Self {
        let port = Port { name: input.to_owned(), shape: shape.iter().map(|size| Some(*size)).collect() };
        Self { graph: Graph { name: name.to_owned(), inputs: vec![port], ..Graph::default() }, metadata: Vec::new() }
    }

    /// Adds a constant and returns its name.
    pub fn constant(&mut self, shape: &[usize], values: &[f32]) -> String {
        self.tensor(Tensor::floats("", shape, values.to_vec()))
    }

    /// Adds a constant of integers and returns its name.
    pub fn integers(&mut self, values: &[i64]) -> String {
        self.tensor(Tensor::integers("", &[values.len()], values.to_vec()))
    }

    fn tensor(&mut self, mut tensor: Tensor) -> String {
        tensor.name = format!("w{}", self.graph.initializers.len());
        let name = tensor.name.clone();
        self.graph.initializers.push(tensor);
        name
    }

    /// Adds a node with one output and returns its name.
    pub fn node(&mut self, op: &str, inputs: &[&str], attributes: Vec<(&str, Attribute)>) -> String {
        let output = format!("v{}", self.graph.nodes.len());
        self.graph.nodes.push(Node {
            name: format!("{op}_{}", self.graph.nodes.len()),
            op: op.to_owned(),
            domain: String::new(),
            inputs: inputs.iter().map(|input| (*input).to_owned()).collect(),
            outputs: vec![output.clone()],
            attributes: attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        });
        output
    }

    /// Adds a pair to the model's properties.
    pub fn property(&mut self, name: &str, value: &str) {
        self.metadata.push((name.to_owned(), value.to_owned()));
    }

    /// The model whose output is this value, with this shape.
    pub fn finish(mut self, output: &str, shape: &[usize]) -> Model {
        let port = Port { name: output.to_owned(), shape: shape.iter().map(|size| Some(*size)).collect() };
        self.graph.outputs.push(port);
        Model { opset: OPSET, producer: "tenpass".to_owned(), metadata: self.metadata, graph: self.graph }
    }
}
