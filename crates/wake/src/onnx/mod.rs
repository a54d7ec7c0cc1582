//! ONNX files: a reader of what a head or a front end needs, and a writer for the heads that are
//! trained here. No protobuf library and no ONNX library is used.

mod build;
mod head;
mod model;
mod read;
mod tensor;
mod wire;
mod write;

pub use build::Builder;
pub use head::{HeadGraph, Layer, head_model, write_head};
pub use model::{Attribute, Graph, Model, Node, Port};
pub use tensor::{Numbers, Tensor};
