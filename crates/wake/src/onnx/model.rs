//! What an ONNX file holds, as far as running it needs.

use super::tensor::Tensor;

/// A model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Version of the operators of the default domain.
    pub opset: i64,
    /// Who wrote it.
    pub producer: String,
    /// Free pairs of name and value.
    pub metadata: Vec<(String, String)>,
    /// Its graph.
    pub graph: Graph,
}

/// A graph, of a model or of a branch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Graph {
    /// Its name.
    pub name: String,
    /// In the order in which they are computed.
    pub nodes: Vec<Node>,
    /// Constants with a name.
    pub initializers: Vec<Tensor>,
    /// What is put in; old exporters list the initializers here, too.
    pub inputs: Vec<Port>,
    /// What comes out.
    pub outputs: Vec<Port>,
}

/// An input or output.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its dimensions; `None` where one is free.
    pub shape: Vec<Option<usize>>,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    /// Its name; often empty.
    pub name: String,
    /// Its operator, such as `Gemm`.
    pub op: String,
    /// The operator's domain; empty for ONNX's own.
    pub domain: String,
    /// Names of values; empty for one that is left out.
    pub inputs: Vec<String>,
    /// Names of values.
    pub outputs: Vec<String>,
    /// Its settings.
    pub attributes: Vec<(String, Attribute)>,
}

/// A setting of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    /// A float.
    Float(f32),
    /// An integer.
    Int(i64),
    /// Text, as bytes.
    Text(Vec<u8>),
    /// A tensor.
    Tensor(Tensor),
    /// A branch.
    Graph(Graph),
    /// Floats.
    Floats(Vec<f32>),
    /// Integers.
    Ints(Vec<i64>),
    /// Something that no supported operator has.
    Other,
}

impl Graph {
    /// Inputs that are not initializers.
    pub fn free_inputs(&self) -> impl Iterator<Item = &Port> {
        self.inputs.iter().filter(|port| self.initializers.iter().all(|tensor| tensor.name != port.name))
    }

    /// Every named constant of this graph and of its branches: initializers and `Constant` nodes.
    pub fn constants<'a>(&'a self, found: &mut Vec<(&'a str, &'a Tensor)>) {
        found.extend(self.initializers.iter().map(|tensor| (tensor.name.as_str(), tensor)));
        for node in &self.nodes {
            for (name, attribute) in &node.attributes {
                match attribute {
                    Attribute::Graph(graph) => graph.constants(found),
                    Attribute::Tensor(tensor) if node.op == "Constant" && name == "value" => {
                        found.extend(node.outputs.first().map(|output| (output.as_str(), tensor)));
                    }
                    _ => {}
                }
            }
        }
    }
}

impl Node {
    /// A setting.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|(found, _)| found == name).map(|(_, attribute)| attribute)
    }

    /// An integer setting.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.attribute(name) {
            Some(Attribute::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// A float setting.
    pub fn float(&self, name: &str) -> Option<f32> {
        match self.attribute(name) {
            Some(Attribute::Float(value)) => Some(*value),
            _ => None,
        }
    }

    /// A setting of integers.
    pub fn ints(&self, name: &str) -> Option<&[i64]> {
        match self.attribute(name) {
            Some(Attribute::Ints(values)) => Some(values),
            _ => None,
        }
    }
}
