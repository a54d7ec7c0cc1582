//! Products: `Gemm`, `MatMul` and the convolution over frames.

use super::operators::Call;
use super::value::{Value, broadcast, count, places};
use crate::net::matrix_vector;

type Found = Result<Vec<Value>, String>;

fn matrix(value: &Value) -> Result<(usize, usize), String> {
    match value.shape.as_slice() {
        &[rows, columns] => Ok((rows, columns)),
        other => Err(format!("a matrix is needed, and {other:?} comes in")),
    }
}

fn transposed(values: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|column| (0..rows).map(move |row| values[row * columns + column])).collect()
}

/// `alpha · A B + beta · C`; as PyTorch exports it, B has one row an output.
pub(super) fn gemm(call: &Call<'_>) -> Found {
    let (one, two) = (call.input(0)?, call.input(1)?);
    let (mut rows, mut inner) = matrix(one)?;
    let mut left = std::borrow::Cow::Borrowed(one.as_floats()?);
    if call.int("transA", 0) == 1 {
        left = transposed(&left, rows, inner).into();
        std::mem::swap(&mut rows, &mut inner);
    }
    let (mut columns, mut depth) = matrix(two)?;
    let mut right = std::borrow::Cow::Borrowed(two.as_floats()?);
    if call.int("transB", 0) == 0 {
        right = transposed(&right, columns, depth).into();
        std::mem::swap(&mut columns, &mut depth);
    }
    if inner != depth {
        return Err(format!("a product of {:?} and {:?}", one.shape, two.shape));
    }
    count(&[rows, columns])?;
    let mut out = vec![0.0; rows * columns];
    for (place, out) in out.chunks_mut(columns.max(1)).enumerate() {
        matrix_vector(call.simd, &right, &left[place * inner..(place + 1) * inner], out);
    }
    let (alpha, beta) = (call.float("alpha", 1.0), call.float("beta", 1.0));
    if (alpha - 1.0).abs() > 0.0 {
        for value in &mut out {
            *value *= alpha;
        }
    }
    if let Some(bias) = call.optional(2) {
        if broadcast(&bias.shape, &[rows, columns])? != [rows, columns] {
            return Err(format!("a bias of {:?} for {rows} × {columns}", bias.shape));
        }
        let values = bias.as_floats()?;
        for (out, place) in out.iter_mut().zip(places(&bias.shape, &[rows, columns])) {
            *out += beta * values[place];
        }
    }
    Ok(vec![Value::floats(vec![rows, columns], out)])
}

/// Matrices, or stacks of them with broadcasting.
pub(super) fn matmul(call: &Call<'_>) -> Found {
    let (one, two) = (call.input(0)?, call.input(1)?);
    let ([.., rows, inner], [.., depth, columns]) = (one.shape.as_slice(), two.shape.as_slice()) else {
        return Err(format!("a product of {:?} and {:?}", one.shape, two.shape));
    };
    let (rows, inner, columns) = (*rows, *inner, *columns);
    if inner != *depth {
        return Err(format!("a product of {:?} and {:?}", one.shape, two.shape));
    }
    let stacks = [&one.shape[..one.shape.len() - 2], &two.shape[..two.shape.len() - 2]];
    let stack = broadcast(stacks[0], stacks[1])?;
    let shape: Vec<usize> = stack.iter().copied().chain([rows, columns]).collect();
    let (left, right) = (one.as_floats()?, two.as_floats()?);
    let mut out = vec![0.0; count(&shape)?];
    let pairs = places(stacks[0], &stack).into_iter().zip(places(stacks[1], &stack));
    for (out, (a, b)) in out.chunks_mut((rows * columns).max(1)).zip(pairs) {
        let (left, right) = (&left[a * rows * inner..], &right[b * inner * columns..]);
        for (row, out) in out.chunks_mut(columns.max(1)).enumerate() {
            // Row after row of the right side: its floats are read in their order.
            for (k, value) in left[row * inner..(row + 1) * inner].iter().enumerate() {
                for (out, weight) in out.iter_mut().zip(&right[k * columns..(k + 1) * columns]) {
                    *out += value * weight;
                }
            }
        }
    }
    Ok(vec![Value::floats(shape, out)])
}

/// A convolution over the last dimension: [n, channels, frames].
pub(super) fn conv1d(call: &Call<'_>) -> Found {
    let (input, weight) = (call.input(0)?, call.input(1)?);
    let (&[batch, channels, frames], &[outputs, inputs, kernel]) = (input.shape.as_slice(), weight.shape.as_slice())
    else {
        return Err(format!("only convolutions over frames are supported, not {:?}", weight.shape));
    };
    let setting = |name, otherwise| match call.node.ints(name) {
        None => Ok(otherwise),
        Some([value]) => usize::try_from(*value).map_err(|_| format!("{name} of {value}")),
        Some(other) => Err(format!("{name} of {other:?}")),
    };
    let (stride, dilation) = (setting("strides", 1)?, setting("dilations", 1)?);
    let group = usize::try_from(call.int("group", 1)).unwrap_or(0);
    let (before, after) = match call.node.ints("pads") {
        None => (0, 0),
        Some(&[before @ 0..1024, after @ 0..1024]) => (before as usize, after as usize),
        Some(other) => return Err(format!("padding of {other:?}")),
    };
    if let Some(crate::onnx::Attribute::Text(text)) = call.node.attribute("auto_pad")
        && !matches!(text.as_slice(), b"NOTSET" | b"VALID")
    {
        return Err("automatic padding is not supported".to_owned());
    }
    let reach = kernel.checked_sub(1).and_then(|taps| taps.checked_mul(dilation)).map(|reach| reach + 1);
    let steps = reach.and_then(|reach| (before + frames + after).checked_sub(reach));
    let (Some(steps), true) = (steps, stride > 0 && group > 0 && inputs * group == channels && outputs % group == 0)
    else {
        return Err(format!("a convolution of {:?} on {:?}", weight.shape, input.shape));
    };
    let length = steps / stride + 1;
    let (values, weights) = (input.as_floats()?, weight.as_floats()?);
    let bias = call.optional(2).map(Value::as_floats).transpose()?;
    if bias.is_some_and(|bias| bias.len() != outputs) {
        return Err(format!("a bias for {outputs} channels"));
    }
    let mut out = vec![0.0; count(&[batch, outputs, length])?];
    for (place, line) in out.chunks_mut(length).enumerate() {
        let (item, output) = (place / outputs, place % outputs);
        line.fill(bias.map_or(0.0, |bias| bias[output]));
        for channel in 0..inputs {
            let from = (item * channels + output / (outputs / group) * inputs + channel) * frames;
            let values = &values[from..from + frames];
            for tap in 0..kernel {
                let factor = weights[(output * inputs + channel) * kernel + tap];
                for (step, sum) in line.iter_mut().enumerate() {
                    if let Some(value) =
                        (step * stride + tap * dilation).checked_sub(before).and_then(|at| values.get(at))
                    {
                        *sum += factor * value;
                    }
                }
            }
        }
    }
    Ok(vec![Value::floats(vec![batch, outputs, length], out)])
}
