//! One change in a model before it is loaded: random numbers come from outside.
//!
//! VITS models (Piper) draw their noise inside the graph with `RandomNormalLike`, from a generator that cannot
//! be seeded from outside. Each such node is replaced by five that take the numbers from an additional flat
//! input `tenpass_noise_N`, as many as the shape wants:
//!
//! ```text
//! shape = Shape(x); count = ReduceProd(shape); zero = Sub(count, count)
//! y = Reshape(Slice(tenpass_noise_N, zero, count), shape)
//! ```
//!
//! The file format is protocol buffers (onnx.proto): ModelProto.graph is field 7; of GraphProto the nodes are
//! field 1 and the inputs field 11; of NodeProto input 1, output 2, op_type 4, attribute 5.

/// What the additional inputs are called.
pub(crate) const NOISE: &str = "tenpass_noise_";

/// A field of a message: its number, and its bytes from the tag on and without it.
struct Field<'a> {
    number: u64,
    whole: &'a [u8],
    /// Of a field with a length; empty for numbers.
    body: &'a [u8],
}

/// Returns the model with its noise as inputs, and how many there are. Damage is told in a fragment.
pub(crate) fn with_noise_inputs(model: &[u8]) -> Result<(Vec<u8>, usize), String> {
    let mut out = Vec::with_capacity(model.len() + 4096);
    let mut count = 0;
    let mut graphs = 0;
    for field in fields(model)? {
        if field.number == 7 && !field.body.is_empty() {
            let (graph, found) = graph(field.body)?;
            count += found;
            graphs += 1;
            put(&mut out, 7, &graph);
        } else {
            out.extend_from_slice(field.whole);
        }
    }
    if graphs == 1 { Ok((out, count)) } else { Err("it is no ONNX model".to_owned()) }
}

fn graph(graph: &[u8]) -> Result<(Vec<u8>, usize), String> {
    let mut out = Vec::with_capacity(graph.len() + 4096);
    let mut count = 0;
    for field in fields(graph)? {
        match random(&field)? {
            Some((input, output)) => {
                replacement(&mut out, count, &input, &output);
                count += 1;
            }
            None => out.extend_from_slice(field.whole),
        }
    }
    for index in 0..count {
        put(&mut out, 11, &noise_input(index));
    }
    Ok((out, count))
}

/// Input and output of a node that draws standard normal numbers.
fn random(field: &Field<'_>) -> Result<Option<(Vec<u8>, Vec<u8>)>, String> {
    if field.number != 1 || field.body.is_empty() {
        return Ok(None);
    }
    let parts = fields(field.body)?;
    let of = |number: u64| parts.iter().find(|part| part.number == number).map(|part| part.body);
    // Attributes other than the type would change mean or deviation; such a node stays as it is.
    let plain =
        parts.iter().filter(|part| part.number == 5).all(|part| part.body.windows(5).any(|name| name == b"dtype"));
    match (of(4), of(1), of(2)) {
        (Some(b"RandomNormalLike"), Some(input), Some(output)) if plain => Ok(Some((input.to_vec(), output.to_vec()))),
        _ => Ok(None),
    }
}

fn replacement(out: &mut Vec<u8>, index: usize, input: &[u8], output: &[u8]) {
    let name = |what: &str| format!("{NOISE}{index}{what}").into_bytes();
    let (noise, shape, size, zero, flat) = (name(""), name("_shape"), name("_size"), name("_zero"), name("_flat"));
    node(out, "Shape", &[input], &shape);
    node(out, "ReduceProd", &[&shape], &size);
    node(out, "Sub", &[&size, &size], &zero);
    node(out, "Slice", &[&noise, &zero, &size], &flat);
    node(out, "Reshape", &[&flat, &shape], output);
}

fn node(out: &mut Vec<u8>, operation: &str, inputs: &[&[u8]], output: &[u8]) {
    let mut body = Vec::new();
    for input in inputs {
        put(&mut body, 1, input);
    }
    put(&mut body, 2, output);
    put(&mut body, 3, &[output, b"_node"].concat());
    put(&mut body, 4, operation.as_bytes());
    put(out, 1, &body);
}

/// ValueInfoProto: the name, and a tensor of `f32` with one dimension of any size.
fn noise_input(index: usize) -> Vec<u8> {
    let (mut dimension, mut shape, mut value) = (Vec::new(), Vec::new(), Vec::new());
    put(&mut dimension, 2, format!("{NOISE}{index}_count").as_bytes());
    put(&mut shape, 1, &dimension);
    // elem_type: FLOAT
    let mut tensor = vec![0x08, 0x01];
    put(&mut tensor, 2, &shape);
    let mut kind = Vec::new();
    put(&mut kind, 1, &tensor);
    put(&mut value, 1, format!("{NOISE}{index}").as_bytes());
    put(&mut value, 2, &kind);
    value
}

/// Writes a field with a length.
fn put(out: &mut Vec<u8>, number: u8, body: &[u8]) {
    out.push(number << 3 | 2);
    let mut length = body.len();
    while length >= 0x80 {
        out.push(length as u8 & 0x7f | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(body);
}

/// The fields of a message, in order.
fn fields(message: &[u8]) -> Result<Vec<Field<'_>>, String> {
    let damaged = || "it is damaged or no ONNX model".to_owned();
    let mut found = Vec::new();
    let mut rest = message;
    while !rest.is_empty() {
        let start = rest;
        let tag = number(&mut rest).ok_or_else(damaged)?;
        let mut body: &[u8] = &[];
        match tag & 7 {
            0 => drop(number(&mut rest).ok_or_else(damaged)?),
            1 => rest = rest.get(8..).ok_or_else(damaged)?,
            5 => rest = rest.get(4..).ok_or_else(damaged)?,
            2 => {
                let length = usize::try_from(number(&mut rest).ok_or_else(damaged)?).map_err(|_| damaged())?;
                (body, rest) = rest.split_at_checked(length).ok_or_else(damaged)?;
            }
            _ => return Err(damaged()),
        }
        found.push(Field { number: tag >> 3, whole: &start[..start.len() - rest.len()], body });
    }
    Ok(found)
}

/// A number of seven bits a byte, lowest first.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> Vec<u8> {
        let (mut graph, mut model) = (Vec::new(), vec![0x08, 0x08]);
        node(&mut graph, "Relu", &[b"a"], b"x");
        node(&mut graph, "RandomNormalLike", &[b"x"], b"y");
        put(&mut model, 7, &graph);
        model
    }

    #[test]
    fn noise_becomes_an_input_and_the_rest_stays() {
        let (changed, count) = with_noise_inputs(&model()).unwrap();
        assert_eq!(count, 1);
        let top = fields(&changed).unwrap();
        let parts = fields(top[1].body).unwrap();
        assert_eq!((top[0].whole, parts.len()), (&[0x08, 0x08][..], 1 + 5 + 1));
        let names: Vec<&[u8]> = parts
            .iter()
            .filter(|part| part.number == 1)
            .map(|part| fields(part.body).unwrap().iter().find(|field| field.number == 4).unwrap().body)
            .collect();
        assert_eq!(names, [&b"Relu"[..], b"Shape", b"ReduceProd", b"Sub", b"Slice", b"Reshape"]);
        // Nothing random is left, and a second look finds nothing to do.
        assert_eq!(with_noise_inputs(&changed).unwrap(), (changed.clone(), 0));
    }

    #[test]
    fn damage_is_an_error() {
        let whole = model();
        assert!(with_noise_inputs(b"").is_err());
        assert!(with_noise_inputs(b"<html>not a model</html>").is_err());
        for end in 3..whole.len() {
            assert!(with_noise_inputs(&whole[..end]).is_err(), "cut at {end}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            let _ = with_noise_inputs(&bytes);
        }
    }
}
