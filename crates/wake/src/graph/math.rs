//! Operators on every number, and over a dimension.

use super::operators::Call;
use super::value::{Data, Value, axis, broadcast, count, places};

type Found = Result<Vec<Value>, String>;

/// `Add`, `Sub`, …, with broadcasting; more than two inputs for `Max` and `Min`.
pub(super) fn binary(call: &Call<'_>) -> Found {
    let mut result = call.input(0)?.clone();
    for place in 1..call.inputs.len().max(2) {
        result = pair(&call.node.op, &result, call.input(place)?)?;
    }
    Ok(vec![result])
}

fn pair(op: &str, one: &Value, two: &Value) -> Result<Value, String> {
    let shape = broadcast(&one.shape, &two.shape)?;
    count(&shape)?;
    match (&one.data, &two.data) {
        (Data::F32(left), Data::F32(right)) => {
            let operate: fn(f32, f32) -> f32 = match op {
                "Add" => |a, b| a + b,
                "Sub" => |a, b| a - b,
                "Mul" => |a, b| a * b,
                "Div" => |a, b| a / b,
                "Pow" => |a, b| if b.to_bits() == 2f32.to_bits() { a * a } else { a.powf(b) },
                "Max" => f32::max,
                "Min" => f32::min,
                _ => |a, slope| if a < 0.0 { a * slope } else { a },
            };
            let values = if one.shape == two.shape {
                left.iter().zip(right.iter()).map(|(a, b)| operate(*a, *b)).collect()
            } else if let ([b], true) = (&right[..], shape == one.shape) {
                left.iter().map(|a| operate(*a, *b)).collect()
            } else {
                let (a, b) = (places(&one.shape, &shape), places(&two.shape, &shape));
                a.iter().zip(&b).map(|(a, b)| operate(left[*a], right[*b])).collect()
            };
            Ok(Value::floats(shape, values))
        }
        (Data::I64(left), Data::I64(right)) => {
            let (a, b) = (places(&one.shape, &shape), places(&two.shape, &shape));
            let operate = |a: i64, b: i64| match op {
                "Add" => a.checked_add(b),
                "Sub" => a.checked_sub(b),
                "Mul" => a.checked_mul(b),
                "Div" => a.checked_div(b),
                "Max" => Some(a.max(b)),
                "Min" => Some(a.min(b)),
                _ => None,
            };
            let values = a.iter().zip(&b).map(|(a, b)| operate(left[*a], right[*b])).collect::<Option<Vec<_>>>();
            Ok(Value::integers(shape, values.ok_or("integers that cannot be combined")?))
        }
        _ => Err("floats and integers are mixed".to_owned()),
    }
}

/// `Equal`, `Greater`, …: 1 where it holds.
pub(super) fn compare(call: &Call<'_>) -> Found {
    let (one, two) = (call.input(0)?, call.input(1)?);
    let shape = broadcast(&one.shape, &two.shape)?;
    count(&shape)?;
    let (a, b) = (places(&one.shape, &shape), places(&two.shape, &shape));
    let op = call.node.op.as_str();
    let values = match (&one.data, &two.data) {
        (Data::F32(left), Data::F32(right)) => a.iter().zip(&b).map(|(a, b)| holds(op, left[*a], right[*b])).collect(),
        (Data::I64(left), Data::I64(right)) => a.iter().zip(&b).map(|(a, b)| holds(op, left[*a], right[*b])).collect(),
        _ => return Err("floats and integers are compared".to_owned()),
    };
    Ok(vec![Value::integers(shape, values)])
}

fn holds<T: PartialOrd + Copy>(op: &str, a: T, b: T) -> i64 {
    i64::from(match op {
        "Equal" => a == b,
        "Greater" => a > b,
        "GreaterOrEqual" => a >= b,
        "Less" => a < b,
        _ => a <= b,
    })
}

/// `1 / (1 + e^-x)`.
pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Operators of one number.
pub(super) fn unary(call: &Call<'_>) -> Found {
    let value = call.input(0)?;
    let values = value.as_floats()?;
    let mapped = |operate: &dyn Fn(f32) -> f32| values.iter().map(|value| operate(*value)).collect::<Vec<f32>>();
    let result = match call.node.op.as_str() {
        "Relu" => mapped(&|x| x.max(0.0)),
        "LeakyRelu" => {
            let slope = call.float("alpha", 0.01);
            mapped(&|x| if x < 0.0 { x * slope } else { x })
        }
        "Elu" => {
            let scale = call.float("alpha", 1.0);
            mapped(&|x| if x < 0.0 { scale * x.exp_m1() } else { x })
        }
        "Sigmoid" => mapped(&sigmoid),
        "HardSigmoid" => {
            let (slope, shift) = (call.float("alpha", 0.2), call.float("beta", 0.5));
            mapped(&|x| (slope * x + shift).clamp(0.0, 1.0))
        }
        "Tanh" => mapped(&f32::tanh),
        "Sqrt" => mapped(&f32::sqrt),
        "Exp" => mapped(&f32::exp),
        "Log" => mapped(&f32::ln),
        "Neg" => mapped(&|x| -x),
        "Abs" => mapped(&f32::abs),
        "Reciprocal" => mapped(&f32::recip),
        "Erf" => mapped(&erf),
        "Softplus" => mapped(&|x| x.max(0.0) + (-x.abs()).exp().ln_1p()),
        _ => {
            let bound = |place, name, otherwise| match call.optional(place) {
                Some(value) => value.as_floats().map(|values| values.first().copied().unwrap_or(otherwise)),
                None => Ok(call.float(name, otherwise)),
            };
            let (low, high) = (bound(1, "min", f32::MIN)?, bound(2, "max", f32::MAX)?);
            mapped(&|x| x.max(low).min(high))
        }
    };
    Ok(vec![Value::floats(value.shape.clone(), result)])
}

/// Abramowitz and Stegun 7.1.26 has 1.5e-7; f64 keeps the rest of it.
fn erf(x: f32) -> f32 {
    let magnitude = f64::from(x.abs());
    let t = 1.0 / (1.0 + 0.327_591_1 * magnitude);
    let series =
        t * (0.254_829_592 + t * (-0.284_496_736 + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let value = 1.0 - series * (-magnitude * magnitude).exp();
    (value as f32).copysign(x)
}

/// `ReduceMean`, `ReduceSum`, `ReduceMax`.
pub(super) fn reduce(call: &Call<'_>) -> Found {
    let value = call.input(0)?;
    let values = value.as_floats()?;
    let rank = value.shape.len();
    let mut reduced = vec![false; rank];
    match call.axes(1)?.filter(|axes| !axes.is_empty()) {
        Some(axes) => {
            for found in axes {
                reduced[axis(found, rank)?] = true;
            }
        }
        None if call.int("noop_with_empty_axes", 0) == 1 => return Ok(vec![value.clone()]),
        None => reduced.fill(true),
    }
    let kept: Vec<usize> = value.shape.iter().zip(&reduced).map(|(size, gone)| if *gone { 1 } else { *size }).collect();
    let (total, wanted) = (values.len(), kept.iter().product::<usize>());
    let many = total.checked_div(wanted).unwrap_or(0);
    if many == 0 && call.node.op != "ReduceSum" {
        return Err("a reduction over nothing".to_owned());
    }
    let largest = call.node.op == "ReduceMax";
    let mut sums = vec![if largest { f32::NEG_INFINITY } else { 0.0 }; wanted];
    for (place, value) in places(&kept, &value.shape).into_iter().zip(values) {
        sums[place] = if largest { sums[place].max(*value) } else { sums[place] + value };
    }
    if call.node.op == "ReduceMean" {
        for sum in &mut sums {
            *sum /= many as f32;
        }
    }
    let shape = if call.int("keepdims", 1) == 1 {
        kept
    } else {
        value.shape.iter().zip(&reduced).filter(|(_, gone)| !**gone).map(|(size, _)| *size).collect()
    };
    Ok(vec![Value::floats(shape, sums)])
}

/// Over one dimension.
pub(super) fn softmax(call: &Call<'_>) -> Found {
    let value = call.input(0)?;
    let dimension = axis(call.int("axis", -1), value.shape.len())?;
    let size = value.shape[dimension];
    let inner: usize = value.shape[dimension + 1..].iter().product();
    let mut values = value.as_floats()?.to_vec();
    for block in values.chunks_mut((size * inner).max(1)) {
        for lane in 0..inner {
            let lane = || (0..size).map(move |place| place * inner + lane);
            let largest = lane().map(|place| block[place]).fold(f32::NEG_INFINITY, f32::max);
            let mut sum = 0.0;
            for place in lane() {
                block[place] = (block[place] - largest).exp();
                sum += block[place];
            }
            for place in lane() {
                block[place] /= sum;
            }
        }
    }
    Ok(vec![Value::floats(value.shape.clone(), values)])
}

/// Over the dimensions from `axis` to the last, as one operator (operator set 17).
pub(super) fn layer_norm(call: &Call<'_>) -> Found {
    let value = call.input(0)?;
    let dimension = axis(call.int("axis", -1), value.shape.len())?;
    let size: usize = value.shape[dimension..].iter().product();
    let scale = call.input(1)?.as_floats()?;
    let shift = call.optional(2).map(Value::as_floats).transpose()?;
    if size == 0 || scale.len() != size || shift.is_some_and(|shift| shift.len() != size) {
        return Err(format!("a scale of {} for {size} numbers", scale.len()));
    }
    let epsilon = call.float("epsilon", 1e-5);
    let mut values = value.as_floats()?.to_vec();
    for row in values.chunks_mut(size) {
        let mean = row.iter().sum::<f32>() / size as f32;
        let variance = row.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / size as f32;
        let factor = (variance + epsilon).sqrt().recip();
        for (place, value) in row.iter_mut().enumerate() {
            *value = (*value - mean) * factor * scale[place] + shift.map_or(0.0, |shift| shift[place]);
        }
    }
    Ok(vec![Value::floats(value.shape.clone(), values)])
}

/// With the means and variances of training; channels are the second dimension.
pub(super) fn batch_norm(call: &Call<'_>) -> Found {
    let value = call.input(0)?;
    let &channels = value.shape.get(1).ok_or("a normalisation needs channels")?;
    let inner: usize = value.shape[2..].iter().product();
    let mut parameters = [&[][..]; 4];
    for (place, parameter) in parameters.iter_mut().enumerate() {
        *parameter = call.input(place + 1)?.as_floats()?;
        if parameter.len() != channels {
            return Err(format!("{} numbers for {channels} channels", parameter.len()));
        }
    }
    let [gain, shift, mean, variance] = parameters;
    let epsilon = call.float("epsilon", 1e-5);
    let mut values = value.as_floats()?.to_vec();
    for (place, block) in values.chunks_mut(inner.max(1)).enumerate() {
        let channel = place % channels;
        let factor = gain[channel] / (variance[channel] + epsilon).sqrt();
        for value in block {
            *value = (*value - mean[channel]) * factor + shift[channel];
        }
    }
    Ok(vec![Value::floats(value.shape.clone(), values)])
}
