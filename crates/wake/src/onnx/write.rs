//! Writing an ONNX file.

use std::path::Path;

use super::model::{Attribute, Graph, Model, Node, Port};
use super::tensor::{Numbers, Tensor};
use super::wire::Writer;
use crate::error::WakeError;

/// The version of the file format that goes with operator set 13.
const IR_VERSION: u64 = 7;

impl Model {
    /// As the bytes of a file. Inputs and outputs are floats.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.varint(1, IR_VERSION);
        writer.text(2, &self.producer);
        writer.message(7, |inner| graph(inner, &self.graph));
        writer.message(8, |inner| {
            inner.text(1, "");
            inner.int(2, self.opset);
        });
        for (name, value) in &self.metadata {
            writer.message(14, |inner| {
                inner.text(1, name);
                inner.text(2, value);
            });
        }
        writer.finish()
    }

    /// Writes the file: beside it first, then renamed, so that whoever looks finds a whole one.
    pub fn write(&self, path: &Path) -> Result<(), WakeError> {
        crate::file::write_whole(path, &self.to_bytes())
    }
}

fn graph(writer: &mut Writer, graph: &Graph) {
    for node in &graph.nodes {
        writer.message(1, |inner| write_node(inner, node));
    }
    writer.text(2, &graph.name);
    for initializer in &graph.initializers {
        writer.message(5, |inner| tensor(inner, initializer));
    }
    for input in &graph.inputs {
        writer.message(11, |inner| port(inner, input));
    }
    for output in &graph.outputs {
        writer.message(12, |inner| port(inner, output));
    }
}

fn write_node(writer: &mut Writer, node: &Node) {
    for input in &node.inputs {
        writer.text(1, input);
    }
    for output in &node.outputs {
        writer.text(2, output);
    }
    writer.text(3, &node.name);
    writer.text(4, &node.op);
    for (name, value) in &node.attributes {
        writer.message(5, |inner| attribute(inner, name, value));
    }
    if !node.domain.is_empty() {
        writer.text(7, &node.domain);
    }
}

fn attribute(writer: &mut Writer, name: &str, value: &Attribute) {
    writer.text(1, name);
    let kind = match value {
        Attribute::Float(value) => {
            writer.float(2, *value);
            1
        }
        Attribute::Int(value) => {
            writer.int(3, *value);
            2
        }
        Attribute::Text(value) => {
            writer.bytes(4, value);
            3
        }
        Attribute::Tensor(value) => {
            writer.message(5, |inner| tensor(inner, value));
            4
        }
        Attribute::Graph(value) => {
            writer.message(6, |inner| graph(inner, value));
            5
        }
        Attribute::Floats(values) => {
            for value in values {
                writer.float(7, *value);
            }
            6
        }
        Attribute::Ints(values) => {
            for value in values {
                writer.int(8, *value);
            }
            7
        }
        Attribute::Other => 0,
    };
    writer.varint(20, kind);
}

fn tensor(writer: &mut Writer, tensor: &Tensor) {
    for size in &tensor.shape {
        writer.varint(1, *size as u64);
    }
    let (kind, raw): (u64, Vec<u8>) = match &tensor.numbers {
        Numbers::F32(values) => (1, values.iter().flat_map(|value| value.to_le_bytes()).collect()),
        Numbers::I64(values) => (7, values.iter().flat_map(|value| value.to_le_bytes()).collect()),
    };
    writer.varint(2, kind);
    writer.text(8, &tensor.name);
    writer.bytes(9, &raw);
}

fn port(writer: &mut Writer, port: &Port) {
    writer.text(1, &port.name);
    writer.message(2, |kind| {
        kind.message(1, |tensor| {
            tensor.varint(1, 1);
            tensor.message(2, |shape| {
                for size in &port.shape {
                    shape.message(1, |dimension| match size {
                        Some(size) => dimension.varint(1, *size as u64),
                        None => dimension.text(2, "n"),
                    });
                }
            });
        });
    });
}
