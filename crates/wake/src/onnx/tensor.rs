//! Tensors as ONNX stores them.

/// The numbers of a tensor. Booleans and 32-bit integers are read as `i64`, doubles and half
/// precision as `f32`.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// Floating point.
    F32(Vec<f32>),
    /// Integers and booleans.
    I64(Vec<i64>),
}

impl Numbers {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::I64(values) => values.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A tensor: row-major, the last dimension fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Its name; empty for the value of an attribute.
    pub name: String,
    /// Its dimensions; none for a scalar.
    pub shape: Vec<usize>,
    /// As many numbers as the product of the dimensions.
    pub numbers: Numbers,
}

impl Tensor {
    /// Of floats.
    pub fn floats(name: impl Into<String>, shape: &[usize], values: Vec<f32>) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), numbers: Numbers::F32(values) }
    }

    /// Of integers.
    pub fn integers(name: impl Into<String>, shape: &[usize], values: Vec<i64>) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), numbers: Numbers::I64(values) }
    }

    /// Its floats.
    pub fn as_floats(&self) -> Option<&[f32]> {
        match &self.numbers {
            Numbers::F32(values) => Some(values),
            Numbers::I64(_) => None,
        }
    }
}
