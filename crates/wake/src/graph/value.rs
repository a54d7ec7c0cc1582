//! Values between nodes: tensors that are shared, not copied.

use std::sync::Arc;

use crate::onnx::{Numbers, Tensor};

/// Numbers of a value.
#[derive(Debug, Clone)]
pub(super) enum Data {
    F32(Arc<[f32]>),
    I64(Arc<[i64]>),
}

/// A tensor, row-major.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) shape: Vec<usize>,
    pub(super) data: Data,
}

/// More numbers than any head makes: what asks for them is damaged.
const MOST_NUMBERS: usize = 1 << 24;

/// The numbers of a shape, if they are not too many.
pub(super) fn count(shape: &[usize]) -> Result<usize, String> {
    shape
        .iter()
        .try_fold(1usize, |count, size| count.checked_mul(*size).filter(|count| *count <= MOST_NUMBERS))
        .ok_or_else(|| format!("a tensor of {shape:?} is too large"))
}

impl Value {
    pub(super) fn floats(shape: Vec<usize>, values: Vec<f32>) -> Self {
        debug_assert_eq!(shape.iter().product::<usize>(), values.len());
        Self { shape, data: Data::F32(values.into()) }
    }

    pub(super) fn integers(shape: Vec<usize>, values: Vec<i64>) -> Self {
        debug_assert_eq!(shape.iter().product::<usize>(), values.len());
        Self { shape, data: Data::I64(values.into()) }
    }

    pub(super) fn of(tensor: &Tensor) -> Self {
        let shape = tensor.shape.clone();
        match &tensor.numbers {
            Numbers::F32(values) => Self::floats(shape, values.clone()),
            Numbers::I64(values) => Self::integers(shape, values.clone()),
        }
    }

    pub(super) fn as_floats(&self) -> Result<&[f32], String> {
        match &self.data {
            Data::F32(values) => Ok(values),
            Data::I64(_) => Err("floats are needed, and integers come in".to_owned()),
        }
    }

    pub(super) fn as_integers(&self) -> Result<&[i64], String> {
        match &self.data {
            Data::I64(values) => Ok(values),
            Data::F32(_) => Err("integers are needed, and floats come in".to_owned()),
        }
    }

    /// The same numbers in another shape.
    pub(super) fn reshaped(&self, shape: Vec<usize>) -> Result<Self, String> {
        if count(&shape)? != self.shape.iter().product::<usize>() {
            return Err(format!("{:?} cannot become {shape:?}", self.shape));
        }
        Ok(Self { shape, data: self.data.clone() })
    }

    /// Numbers picked by their places, in a new shape.
    pub(super) fn picked(&self, shape: Vec<usize>, places: &[usize]) -> Self {
        match &self.data {
            Data::F32(values) => Self::floats(shape, places.iter().map(|place| values[*place]).collect()),
            Data::I64(values) => Self::integers(shape, places.iter().map(|place| values[*place]).collect()),
        }
    }
}

/// A dimension counted from the front or, when negative, from the back.
pub(super) fn axis(axis: i64, rank: usize) -> Result<usize, String> {
    let from_front = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
    from_front
        .and_then(|axis| usize::try_from(axis).ok())
        .filter(|axis| *axis < rank)
        .ok_or_else(|| format!("axis {axis} of {rank} dimensions"))
}

/// The shape that two shapes broadcast to.
pub(super) fn broadcast(one: &[usize], two: &[usize]) -> Result<Vec<usize>, String> {
    let rank = one.len().max(two.len());
    let size = |shape: &[usize], place: usize| (place + shape.len()).checked_sub(rank).map_or(1, |place| shape[place]);
    (0..rank)
        .map(|place| match (size(one, place), size(two, place)) {
            (one, two) if one == two => Ok(one),
            (1, other) | (other, 1) => Ok(other),
            _ => Err(format!("{one:?} and {two:?} do not go together")),
        })
        .collect()
}

/// For every number of the broadcast shape, its place in a value of this shape.
pub(super) fn places(shape: &[usize], into: &[usize]) -> Vec<usize> {
    let total: usize = into.iter().product();
    let mut steps = vec![0; into.len()];
    let mut step = 1;
    for (place, size) in shape.iter().enumerate().rev() {
        if *size != 1 {
            steps[into.len() - shape.len() + place] = step;
        }
        step *= size;
    }
    walk(into, &steps, total)
}

/// Places visited by counting through `shape` with these steps.
pub(super) fn walk(shape: &[usize], steps: &[usize], total: usize) -> Vec<usize> {
    let mut found = Vec::with_capacity(total);
    let mut at = vec![0; shape.len()];
    let mut place = 0;
    for _ in 0..total {
        found.push(place);
        for dimension in (0..shape.len()).rev() {
            at[dimension] += 1;
            place += steps[dimension];
            if at[dimension] < shape[dimension] {
                break;
            }
            place -= steps[dimension] * shape[dimension];
            at[dimension] = 0;
        }
    }
    found
}
