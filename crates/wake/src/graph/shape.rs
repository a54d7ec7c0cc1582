//! Operators that move numbers and change none.

use super::operators::Call;
use super::value::{Data, Value, axis, broadcast, count, places, walk};

type Found = Result<Vec<Value>, String>;

pub(super) fn identity(call: &Call<'_>) -> Found {
    Ok(vec![call.input(0)?.clone()])
}

/// Types of onnx.TensorProto.DataType: floats are kept as `f32`, integers and booleans as `i64`.
pub(super) fn cast(call: &Call<'_>) -> Found {
    let value = call.input(0)?;
    let shape = value.shape.clone();
    let found = match (call.int("to", 0), &value.data) {
        (1 | 10 | 11, Data::F32(_)) | (2..=7 | 12 | 13, Data::I64(_)) => value.clone(),
        (1 | 10 | 11, Data::I64(values)) => Value::floats(shape, values.iter().map(|value| *value as f32).collect()),
        (2..=7 | 12 | 13, Data::F32(values)) => {
            Value::integers(shape, values.iter().map(|value| *value as i64).collect())
        }
        (9, Data::F32(values)) => Value::integers(shape, values.iter().map(|value| i64::from(*value != 0.0)).collect()),
        (9, Data::I64(values)) => Value::integers(shape, values.iter().map(|value| i64::from(*value != 0)).collect()),
        (other, _) => return Err(format!("type {other} is not supported")),
    };
    Ok(vec![found])
}

pub(super) fn flatten(call: &Call<'_>) -> Found {
    let value = call.input(0)?;
    let at = match call.int("axis", 1) {
        end if end == value.shape.len() as i64 => value.shape.len(),
        other => axis(other, value.shape.len())?,
    };
    let (before, after) = value.shape.split_at(at);
    Ok(vec![value.reshaped(vec![before.iter().product(), after.iter().product()])?])
}

pub(super) fn reshape(call: &Call<'_>) -> Found {
    let value = call.input(0)?;
    let wanted = call.input(1)?.as_integers()?;
    let keeps_zero = call.int("allowzero", 0) == 1;
    let (mut shape, mut free) = (Vec::with_capacity(wanted.len()), None);
    for (place, size) in wanted.iter().enumerate() {
        shape.push(match size {
            -1 if free.is_none() => {
                free = Some(place);
                1
            }
            0 if !keeps_zero => *value.shape.get(place).ok_or("a dimension that is not there is kept")?,
            size => usize::try_from(*size).map_err(|_| format!("a dimension of {size}"))?,
        });
    }
    if let Some(place) = free {
        let (total, known) = (value.shape.iter().product::<usize>(), count(&shape)?);
        shape[place] = total.checked_div(known).ok_or("an empty tensor has no free dimension")?;
    }
    Ok(vec![value.reshaped(shape)?])
}

pub(super) fn transpose(call: &Call<'_>) -> Found {
    let value = call.input(0)?;
    let rank = value.shape.len();
    let order = match call.node.ints("perm") {
        Some(order) => order.iter().map(|place| axis(*place, rank)).collect::<Result<Vec<_>, _>>()?,
        None => (0..rank).rev().collect(),
    };
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..rank) {
        return Err(format!("an order of {order:?} for {rank} dimensions"));
    }
    let mut steps = vec![1; rank];
    for place in (0..rank.saturating_sub(1)).rev() {
        steps[place] = steps[place + 1] * value.shape[place + 1];
    }
    let shape: Vec<usize> = order.iter().map(|place| value.shape[*place]).collect();
    let steps: Vec<usize> = order.iter().map(|place| steps[*place]).collect();
    let places = walk(&shape, &steps, shape.iter().product());
    Ok(vec![value.picked(shape, &places)])
}

pub(super) fn squeeze(call: &Call<'_>) -> Found {
    let value = call.input(0)?;
    let rank = value.shape.len();
    let gone = match call.axes(1)? {
        Some(axes) => axes.iter().map(|found| axis(*found, rank)).collect::<Result<Vec<_>, _>>()?,
        None => (0..rank).filter(|place| value.shape[*place] == 1).collect(),
    };
    if let Some(place) = gone.iter().find(|place| value.shape[**place] != 1) {
        return Err(format!("dimension {place} of {:?} cannot go", value.shape));
    }
    let shape = (0..rank).filter(|place| !gone.contains(place)).map(|place| value.shape[place]).collect();
    Ok(vec![value.reshaped(shape)?])
}

pub(super) fn unsqueeze(call: &Call<'_>) -> Found {
    let value = call.input(0)?;
    let axes = call.axes(1)?.ok_or("it names no axes")?;
    let rank = value.shape.len() + axes.len();
    let new = axes.iter().map(|found| axis(*found, rank)).collect::<Result<Vec<_>, _>>()?;
    let mut old = value.shape.iter();
    let shape =
        (0..rank).map(|place| if new.contains(&place) { 1 } else { old.next().copied().unwrap_or(1) }).collect();
    Ok(vec![value.reshaped(shape)?])
}

pub(super) fn shape(call: &Call<'_>) -> Found {
    let sizes: Vec<i64> = call.input(0)?.shape.iter().map(|size| *size as i64).collect();
    Ok(vec![Value::integers(vec![sizes.len()], sizes)])
}

pub(super) fn gather(call: &Call<'_>) -> Found {
    let (value, indices) = (call.input(0)?, call.input(1)?);
    let dimension = axis(call.int("axis", 0), value.shape.len())?;
    let size = value.shape[dimension];
    let chosen = indices.as_integers()?.iter().map(|index| axis(*index, size)).collect::<Result<Vec<_>, _>>()?;
    let inner: usize = value.shape[dimension + 1..].iter().product();
    let outer: usize = value.shape[..dimension].iter().product();
    let mut shape = value.shape[..dimension].to_vec();
    shape.extend_from_slice(&indices.shape);
    shape.extend_from_slice(&value.shape[dimension + 1..]);
    count(&shape)?;
    let places: Vec<usize> = (0..outer)
        .flat_map(|block| chosen.iter().map(move |index| block * size + index))
        .flat_map(|line| line * inner..(line + 1) * inner)
        .collect();
    Ok(vec![value.picked(shape, &places)])
}

pub(super) fn concat(call: &Call<'_>) -> Found {
    let first = call.input(0)?;
    let dimension = axis(call.int("axis", 0), first.shape.len())?;
    let parts = (0..call.inputs.len()).map(|place| call.input(place)).collect::<Result<Vec<_>, _>>()?;
    let mut shape = first.shape.clone();
    shape[dimension] = 0;
    for part in &parts {
        let fits = part.shape.len() == shape.len()
            && part.shape.iter().zip(&first.shape).enumerate().all(|(place, (a, b))| place == dimension || a == b);
        if !fits {
            return Err(format!("{:?} and {:?} do not go together", first.shape, part.shape));
        }
        shape[dimension] += part.shape[dimension];
    }
    count(&shape)?;
    let outer: usize = shape[..dimension].iter().product();
    let block = |part: &Value| part.shape[dimension..].iter().product::<usize>();
    let joined = match &first.data {
        Data::F32(_) => {
            let values = parts.iter().map(|part| part.as_floats()).collect::<Result<Vec<_>, _>>()?;
            let mut out = Vec::new();
            for place in 0..outer {
                for (part, values) in parts.iter().zip(&values) {
                    out.extend_from_slice(&values[place * block(part)..(place + 1) * block(part)]);
                }
            }
            Value::floats(shape, out)
        }
        Data::I64(_) => {
            let values = parts.iter().map(|part| part.as_integers()).collect::<Result<Vec<_>, _>>()?;
            let mut out = Vec::new();
            for place in 0..outer {
                for (part, values) in parts.iter().zip(&values) {
                    out.extend_from_slice(&values[place * block(part)..(place + 1) * block(part)]);
                }
            }
            Value::integers(shape, out)
        }
    };
    Ok(vec![joined])
}

/// Bounds beyond the end are cut, negative ones count from the back.
pub(super) fn slice(call: &Call<'_>) -> Found {
    let value = call.input(0)?;
    let rank = value.shape.len();
    let (starts, ends) = (call.input(1)?.as_integers()?, call.input(2)?.as_integers()?);
    let axes = match call.optional(3) {
        Some(axes) => axes.as_integers()?.to_vec(),
        None => (0..starts.len() as i64).collect(),
    };
    let steps = call.optional(4).map(Value::as_integers).transpose()?;
    if ends.len() != starts.len()
        || axes.len() != starts.len()
        || steps.is_some_and(|steps| steps.len() != starts.len())
    {
        return Err("its bounds have different lengths".to_owned());
    }
    let mut chosen: Vec<Vec<usize>> = value.shape.iter().map(|size| (0..*size).collect()).collect();
    for (place, found) in axes.iter().enumerate() {
        let dimension = axis(*found, rank)?;
        let size = value.shape[dimension] as i64;
        let step = steps.map_or(1, |steps| steps[place]);
        let from_end = |bound: i64| if bound < 0 { bound.saturating_add(size) } else { bound };
        let (start, end) = (from_end(starts[place]), from_end(ends[place]));
        chosen[dimension] = match step {
            0 => return Err("a step of 0".to_owned()),
            1.. => (start.clamp(0, size)..end.clamp(0, size))
                .step_by(usize::try_from(step).unwrap_or(usize::MAX))
                .map(|at| at as usize)
                .collect(),
            _ => {
                let (start, end) = (start.clamp(-1, size - 1), end.clamp(-1, size - 1));
                let step = usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX);
                (end + 1..=start).rev().step_by(step).map(|at| at as usize).collect()
            }
        };
    }
    let mut places = vec![0usize];
    for (chosen, size) in chosen.iter().zip(&value.shape) {
        places = places.iter().flat_map(|place| chosen.iter().map(move |at| place * size + at)).collect();
    }
    let shape = chosen.iter().map(Vec::len).collect();
    Ok(vec![value.picked(shape, &places)])
}

pub(super) fn expand(call: &Call<'_>) -> Found {
    let value = call.input(0)?;
    let wanted = call.input(1)?.as_integers()?;
    let wanted = wanted.iter().map(|size| usize::try_from(*size).map_err(|_| format!("a dimension of {size}")));
    let shape = broadcast(&value.shape, &wanted.collect::<Result<Vec<_>, _>>()?)?;
    count(&shape)?;
    let places = places(&value.shape, &shape);
    Ok(vec![value.picked(shape, &places)])
}
