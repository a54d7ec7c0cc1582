//! The operators that are known, and what each is given.

use super::value::Value;
use super::{lstm, math, product, shape};
use crate::net::Simd;
use crate::onnx::Node;

/// What a node is computed from.
pub(super) struct Call<'a> {
    pub(super) node: &'a Node,
    pub(super) inputs: Vec<Option<&'a Value>>,
    pub(super) simd: Simd,
}

/// Computes a node's outputs.
pub(super) type Operator = fn(&Call<'_>) -> Result<Vec<Value>, String>;

impl Call<'_> {
    /// An input that must be there.
    pub(super) fn input(&self, place: usize) -> Result<&Value, String> {
        self.optional(place).ok_or_else(|| format!("input {place} is missing"))
    }

    /// An input that may be left out.
    pub(super) fn optional(&self, place: usize) -> Option<&Value> {
        self.inputs.get(place).copied().flatten()
    }

    /// An integer setting, or what the standard says where there is none.
    pub(super) fn int(&self, name: &str, otherwise: i64) -> i64 {
        self.node.int(name).unwrap_or(otherwise)
    }

    /// A float setting, or what the standard says where there is none.
    pub(super) fn float(&self, name: &str, otherwise: f32) -> f32 {
        self.node.float(name).unwrap_or(otherwise)
    }

    /// Axes: an input in newer operator sets, a setting in older ones.
    pub(super) fn axes(&self, place: usize) -> Result<Option<Vec<i64>>, String> {
        match self.optional(place) {
            Some(value) => Ok(Some(value.as_integers()?.to_vec())),
            None => Ok(self.node.ints("axes").map(<[i64]>::to_vec)),
        }
    }
}

/// The operator of this name in ONNX's own domain.
pub(super) fn find(op: &str) -> Option<Operator> {
    Some(match op {
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "Max" | "Min" | "PRelu" => math::binary,
        "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" => math::compare,
        "Relu" | "LeakyRelu" | "Elu" | "Sigmoid" | "HardSigmoid" | "Tanh" | "Sqrt" | "Exp" | "Log" | "Neg" | "Abs"
        | "Reciprocal" | "Erf" | "Softplus" | "Clip" => math::unary,
        "ReduceMean" | "ReduceSum" | "ReduceMax" => math::reduce,
        "Softmax" => math::softmax,
        "LayerNormalization" => math::layer_norm,
        "BatchNormalization" => math::batch_norm,
        "Gemm" => product::gemm,
        "MatMul" => product::matmul,
        "Conv" => product::conv1d,
        "LSTM" => lstm::lstm,
        "Identity" | "Dropout" => shape::identity,
        "Cast" => shape::cast,
        "Flatten" => shape::flatten,
        "Reshape" => shape::reshape,
        "Transpose" => shape::transpose,
        "Squeeze" => shape::squeeze,
        "Unsqueeze" => shape::unsqueeze,
        "Shape" => shape::shape,
        "Gather" => shape::gather,
        "Concat" => shape::concat,
        "Slice" => shape::slice,
        "Expand" => shape::expand,
        _ => return None,
    })
}
