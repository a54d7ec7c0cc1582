//! A model's tensors in memory, whatever file they came from.

use std::collections::HashMap;

use half::f16;

use super::shape::{ModelShape, Part};

/// Numbers as the file had them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    Half(Vec<f16>),
    Single(Vec<f32>),
}

impl Values {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Half(values) => values.len(),
            Self::Single(values) => values.len(),
        }
    }

    pub(crate) fn to_f32(&self) -> Vec<f32> {
        match self {
            Self::Half(values) => values.iter().map(|value| value.to_f32()).collect(),
            Self::Single(values) => values.clone(),
        }
    }

    /// A run of them.
    pub(crate) fn part(&self, range: std::ops::Range<usize>) -> Option<Self> {
        Some(match self {
            Self::Half(values) => Self::Half(values.get(range)?.to_vec()),
            Self::Single(values) => Self::Single(values.get(range)?.to_vec()),
        })
    }

    pub(crate) fn all_finite(&self) -> bool {
        match self {
            Self::Half(values) => values.iter().all(|value| value.is_finite()),
            Self::Single(values) => values.iter().all(|value| value.is_finite()),
        }
    }
}

/// A model: its shape and exactly the tensors that the shape lists, under OpenAI's names.
#[derive(Debug)]
pub(crate) struct Weights {
    pub(crate) shape: ModelShape,
    tensors: HashMap<String, Values>,
}

impl Weights {
    /// Checks that every tensor is there, has its size, and holds numbers.
    pub(crate) fn new(shape: ModelShape, tensors: HashMap<String, Values>) -> Result<Self, String> {
        shape.check()?;
        for part in shape.parts() {
            let values = tensors.get(&part.name).ok_or_else(|| format!("no tensor {}", part.name))?;
            if values.len() != part.elements() {
                return Err(format!("{} has {} values and not {:?}", part.name, values.len(), part.dims));
            }
            if !values.all_finite() {
                return Err(format!("{} holds values that are no numbers", part.name));
            }
        }
        Ok(Self { shape, tensors })
    }

    /// The values of a part of the shape.
    pub(crate) fn values(&self, part: &Part) -> Option<&Values> {
        self.tensors.get(&part.name)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::shape::tests::SMALL;
    use super::*;

    /// A model of the smallest shape with made-up numbers.
    pub(crate) fn small() -> Weights {
        let mut tensors = HashMap::new();
        for (index, part) in SMALL.parts().into_iter().enumerate() {
            let values = (0..part.elements()).map(|at| f16::from_f32((at * 7 + index) as f32 % 13.0 / 13.0 - 0.5));
            tensors.insert(part.name, Values::Half(values.collect()));
        }
        Weights::new(SMALL, tensors).unwrap()
    }

    #[test]
    fn a_missing_tensor_and_one_of_wrong_size_are_named() {
        let whole = small();
        let mut tensors = whole.tensors;
        tensors.insert("decoder.ln.bias".to_owned(), Values::Single(vec![0.0; 63]));
        assert!(Weights::new(SMALL, tensors.clone()).unwrap_err().contains("decoder.ln.bias has 63 values"));
        tensors.insert("decoder.ln.bias".to_owned(), Values::Single(vec![f32::NAN; 64]));
        assert!(Weights::new(SMALL, tensors.clone()).unwrap_err().contains("no numbers"));
        tensors.remove("decoder.ln.bias");
        assert_eq!(Weights::new(SMALL, tensors).unwrap_err(), "no tensor decoder.ln.bias");
    }
}
