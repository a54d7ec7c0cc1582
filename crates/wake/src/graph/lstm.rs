//! `LSTM` in ONNX's layout: gates in the order input, output, forget, cell; forward, backward or both.

use super::math::sigmoid;
use super::operators::Call;
use super::value::Value;
use crate::net::{Simd, matrix_vector};
use crate::onnx::Attribute;

/// Input [frames, 1, features]; outputs [frames, directions, 1, hidden] and the last states.
pub(super) fn lstm(call: &Call<'_>) -> Result<Vec<Value>, String> {
    let (input, weights, recurrent) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let (&[frames, 1, features], &[directions, gates, width]) = (input.shape.as_slice(), weights.shape.as_slice())
    else {
        return Err(format!("an input of {:?} and weights of {:?}", input.shape, weights.shape));
    };
    let hidden = gates / 4;
    let backward = match call.node.attribute("direction") {
        None => vec![false],
        Some(Attribute::Text(text)) => match text.as_slice() {
            b"forward" => vec![false],
            b"reverse" => vec![true],
            b"bidirectional" => vec![false, true],
            _ => return Err("an unknown direction".to_owned()),
        },
        Some(_) => return Err("an unknown direction".to_owned()),
    };
    if width != features
        || gates % 4 != 0
        || directions != backward.len()
        || recurrent.shape != [directions, gates, hidden]
    {
        return Err(format!("weights of {:?} and {:?} for {features} features", weights.shape, recurrent.shape));
    }
    for unsupported in ["activations", "clip", "input_forget", "layout"] {
        if call.node.attribute(unsupported).is_some_and(|value| *value != Attribute::Int(0)) {
            return Err(format!("the setting {unsupported} is not supported"));
        }
    }
    if call.optional(7).is_some() {
        return Err("peepholes are not supported".to_owned());
    }
    let state = |place: usize| match call.optional(place) {
        None => Ok(vec![0.0; directions * hidden]),
        Some(value) if value.shape == [directions, 1, hidden] => Ok(value.as_floats()?.to_vec()),
        Some(value) => Err(format!("a first state of {:?}", value.shape)),
    };
    let (mut h, mut c) = (state(5)?, state(6)?);
    let bias = match call.optional(3) {
        None => vec![0.0; directions * 2 * gates],
        Some(value) if value.shape == [directions, 2 * gates] => value.as_floats()?.to_vec(),
        Some(value) => return Err(format!("a bias of {:?}", value.shape)),
    };
    let (values, weights, recurrent) = (input.as_floats()?, weights.as_floats()?, recurrent.as_floats()?);
    let mut out = vec![0.0; frames * directions * hidden];
    for (direction, backward) in backward.into_iter().enumerate() {
        let mut cell = Cell {
            weights: &weights[direction * gates * features..][..gates * features],
            recurrent: &recurrent[direction * gates * hidden..][..gates * hidden],
            bias: &bias[direction * 2 * gates..][..2 * gates],
            h: &mut h[direction * hidden..][..hidden],
            c: &mut c[direction * hidden..][..hidden],
            sums: [vec![0.0; gates], vec![0.0; gates]],
        };
        for step in 0..frames {
            let frame = if backward { frames - 1 - step } else { step };
            cell.step(call.simd, &values[frame * features..(frame + 1) * features]);
            out[(frame * directions + direction) * hidden..][..hidden].copy_from_slice(cell.h);
        }
    }
    let last = vec![directions, 1, hidden];
    Ok(vec![
        Value::floats(vec![frames, directions, 1, hidden], out),
        Value::floats(last.clone(), h),
        Value::floats(last, c),
    ])
}

struct Cell<'a> {
    weights: &'a [f32],
    recurrent: &'a [f32],
    bias: &'a [f32],
    h: &'a mut [f32],
    c: &'a mut [f32],
    sums: [Vec<f32>; 2],
}

impl Cell<'_> {
    fn step(&mut self, simd: Simd, input: &[f32]) {
        let [from_input, from_state] = &mut self.sums;
        matrix_vector(simd, self.weights, input, from_input);
        matrix_vector(simd, self.recurrent, self.h, from_state);
        let (hidden, gates) = (self.h.len(), from_input.len());
        let sum = |gate: usize, n: usize| {
            let at = gate * hidden + n;
            from_input[at] + from_state[at] + self.bias[at] + self.bias[gates + at]
        };
        for n in 0..hidden {
            let (input, output, forget) = (sigmoid(sum(0, n)), sigmoid(sum(1, n)), sigmoid(sum(2, n)));
            self.c[n] = forget * self.c[n] + input * sum(3, n).tanh();
            self.h[n] = output * self.c[n].tanh();
        }
    }
}
