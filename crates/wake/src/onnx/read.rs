//! Reading an ONNX file: the messages of `onnx.proto` that a graph is made of.
//!
//! Nothing in the file is believed: lengths are checked against what is there, counts of numbers
//! against shapes, and branches may only nest so deep.

use std::path::Path;

use super::model::{Attribute, Graph, Model, Node, Port};
use super::tensor::{Numbers, Tensor};
use super::wire::{Fields, Value};
use crate::error::WakeError;

/// No wake-word model comes near this size.
const MOST_BYTES: u64 = 256 << 20;
/// How deep branches may stand in branches.
const MOST_DEPTH: usize = 16;
/// How many dimensions a tensor may have.
const MOST_DIMENSIONS: usize = 8;

type Found<T> = Result<T, String>;

impl Model {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, WakeError> {
        let size = std::fs::metadata(path).map_err(|error| WakeError::file(path, error))?.len();
        let name = path.display().to_string();
        if size > MOST_BYTES {
            return Err(WakeError::Onnx { name, problem: format!("{size} bytes are too many, at most {MOST_BYTES}") });
        }
        let bytes = std::fs::read(path).map_err(|error| WakeError::file(path, error))?;
        Self::parse(&name, &bytes)
    }

    /// Reads bytes; `name` is how errors call them.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, WakeError> {
        model(bytes).map_err(|problem| WakeError::Onnx { name: name.to_owned(), problem })
    }
}

fn model(bytes: &[u8]) -> Found<Model> {
    let mut opset = None;
    let (mut graph, mut producer, mut metadata) = (None, String::new(), Vec::new());
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (2, Value::Bytes(bytes)) => producer = text(bytes),
            (7, Value::Bytes(bytes)) => graph = Some(read_graph(bytes, 0)?),
            (8, Value::Bytes(bytes)) => {
                let (domain, version) = operator_set(bytes)?;
                if domain.is_empty() || domain == "ai.onnx" {
                    opset = Some(version);
                }
            }
            (14, Value::Bytes(bytes)) => metadata.push(pair(bytes)?),
            _ => {}
        }
    }
    let graph = graph.ok_or("there is no graph in it")?;
    Ok(Model { opset: opset.ok_or("it names no operator set")?, producer, metadata, graph })
}

fn operator_set(bytes: &[u8]) -> Found<(String, i64)> {
    let (mut domain, mut version) = (String::new(), 0);
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(bytes)) => domain = text(bytes),
            (2, Value::Varint(value)) => version = value.cast_signed(),
            _ => {}
        }
    }
    Ok((domain, version))
}

fn pair(bytes: &[u8]) -> Found<(String, String)> {
    let mut found = (String::new(), String::new());
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(bytes)) => found.0 = text(bytes),
            (2, Value::Bytes(bytes)) => found.1 = text(bytes),
            _ => {}
        }
    }
    Ok(found)
}

fn read_graph(bytes: &[u8], depth: usize) -> Found<Graph> {
    if depth > MOST_DEPTH {
        return Err(format!("branches stand more than {MOST_DEPTH} deep"));
    }
    let mut graph = Graph::default();
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(bytes)) => {
                let place = graph.nodes.len();
                graph.nodes.push(node(bytes, depth).map_err(|problem| format!("node {place}: {problem}"))?);
            }
            (2, Value::Bytes(bytes)) => graph.name = text(bytes),
            (5, Value::Bytes(bytes)) => graph.initializers.push(tensor(bytes)?),
            (11, Value::Bytes(bytes)) => graph.inputs.push(port(bytes)?),
            (12, Value::Bytes(bytes)) => graph.outputs.push(port(bytes)?),
            _ => {}
        }
    }
    Ok(graph)
}

fn node(bytes: &[u8], depth: usize) -> Found<Node> {
    let mut node = Node::default();
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(bytes)) => node.inputs.push(text(bytes)),
            (2, Value::Bytes(bytes)) => node.outputs.push(text(bytes)),
            (3, Value::Bytes(bytes)) => node.name = text(bytes),
            (4, Value::Bytes(bytes)) => node.op = text(bytes),
            (5, Value::Bytes(bytes)) => node.attributes.push(attribute(bytes, depth)?),
            (7, Value::Bytes(bytes)) => node.domain = text(bytes),
            _ => {}
        }
    }
    Ok(node)
}

fn attribute(bytes: &[u8], depth: usize) -> Found<(String, Attribute)> {
    let (mut name, mut kind, mut float, mut int) = (String::new(), 0, 0.0, 0);
    let (mut floats, mut ints, mut single) = (Vec::new(), Vec::new(), None);
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(bytes)) => name = text(bytes),
            (2, Value::Fixed32(bits)) => float = f32::from_bits(bits),
            (3, Value::Varint(value)) => int = value.cast_signed(),
            (4, Value::Bytes(bytes)) => single = Some(Attribute::Text(bytes.to_vec())),
            (5, Value::Bytes(bytes)) => single = Some(Attribute::Tensor(tensor(bytes)?)),
            (6, Value::Bytes(bytes)) => single = Some(Attribute::Graph(read_graph(bytes, depth + 1)?)),
            (7, value) => floats_of(value, &mut floats)?,
            (8, value) => ints_of(value, &mut ints)?,
            (20, Value::Varint(value)) => kind = value,
            _ => {}
        }
    }
    let attribute = match (kind, single) {
        (1, _) => Attribute::Float(float),
        (2, _) => Attribute::Int(int),
        (6, _) => Attribute::Floats(floats),
        (7, _) => Attribute::Ints(ints),
        (_, Some(single)) => single,
        (3, None) => Attribute::Text(Vec::new()),
        _ => Attribute::Other,
    };
    Ok((name, attribute))
}

fn port(bytes: &[u8]) -> Found<Port> {
    let mut port = Port::default();
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(bytes)) => port.name = text(bytes),
            (2, Value::Bytes(bytes)) => port.shape = type_shape(bytes)?,
            _ => {}
        }
    }
    Ok(port)
}

/// `TypeProto` → `tensor_type` → `shape` → dimensions.
fn type_shape(bytes: &[u8]) -> Found<Vec<Option<usize>>> {
    let mut shape = Vec::new();
    let Some(tensor) = last_block(bytes, 1)? else { return Ok(shape) };
    let Some(dimensions) = last_block(tensor, 2)? else { return Ok(shape) };
    let mut fields = Fields::new(dimensions);
    while let Some(field) = fields.next()? {
        let (1, Value::Bytes(bytes)) = field else { continue };
        let (mut inner, mut size) = (Fields::new(bytes), None);
        while let Some(field) = inner.next()? {
            if let (1, Value::Varint(value)) = field {
                size = usize::try_from(value).ok().filter(|size| *size > 0 && *size < 1 << 31);
            }
        }
        if shape.len() == MOST_DIMENSIONS {
            return Err(format!("a value has more than {MOST_DIMENSIONS} dimensions"));
        }
        shape.push(size);
    }
    Ok(shape)
}

fn last_block(bytes: &[u8], number: u32) -> Found<Option<&[u8]>> {
    let (mut fields, mut found) = (Fields::new(bytes), None);
    while let Some(field) = fields.next()? {
        if let (this, Value::Bytes(bytes)) = field
            && this == number
        {
            found = Some(bytes);
        }
    }
    Ok(found)
}

fn tensor(bytes: &[u8]) -> Found<Tensor> {
    let (mut name, mut dimensions, mut kind, mut raw, mut external) = (String::new(), Vec::new(), 0, None, false);
    let (mut floats, mut ints, mut doubles) = (Vec::new(), Vec::new(), Vec::new());
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, value) => ints_of(value, &mut dimensions)?,
            (2, Value::Varint(value)) => kind = value,
            (4, value) => floats_of(value, &mut floats)?,
            (5 | 7 | 11, value) => ints_of(value, &mut ints)?,
            (8, Value::Bytes(bytes)) => name = text(bytes),
            (9, Value::Bytes(bytes)) => raw = Some(bytes),
            (10, value) => doubles_of(value, &mut doubles)?,
            (14, Value::Varint(value)) => external = value == 1,
            _ => {}
        }
    }
    let named = |problem: String| format!("tensor \"{name}\": {problem}");
    if external {
        return Err(named("its numbers are in another file".to_owned()));
    }
    let shape = shape(&dimensions).map_err(named)?;
    let count = shape.iter().product::<usize>();
    let numbers = match raw {
        Some(raw) => from_raw(kind, raw).map_err(named)?,
        None if kind == 1 => Numbers::F32(floats),
        None if kind == 11 => Numbers::F32(doubles),
        None if matches!(kind, 2..=7 | 9) => Numbers::I64(ints),
        None => return Err(named(format!("numbers of type {kind} are not supported"))),
    };
    if numbers.len() != count {
        return Err(named(format!("{} numbers for a shape of {count}", numbers.len())));
    }
    Ok(Tensor { name, shape, numbers })
}

fn shape(dimensions: &[i64]) -> Found<Vec<usize>> {
    if dimensions.len() > MOST_DIMENSIONS {
        return Err(format!("{} dimensions", dimensions.len()));
    }
    let mut count = 1usize;
    let mut shape = Vec::with_capacity(dimensions.len());
    for dimension in dimensions {
        let size = usize::try_from(*dimension).map_err(|_| format!("a dimension of {dimension}"))?;
        count = count.checked_mul(size).filter(|count| *count as u64 <= MOST_BYTES).ok_or("it is too large")?;
        shape.push(size);
    }
    Ok(shape)
}

/// Numbers as bytes, in the order of onnx.TensorProto.DataType.
fn from_raw(kind: u64, raw: &[u8]) -> Found<Numbers> {
    fn each<const N: usize, T>(raw: &[u8], read: impl Fn([u8; N]) -> T) -> Found<Vec<T>> {
        let (chunks, rest) = raw.as_chunks::<N>();
        if rest.is_empty() {
            Ok(chunks.iter().map(|chunk| read(*chunk)).collect())
        } else {
            Err("half a number".into())
        }
    }
    Ok(match kind {
        1 => Numbers::F32(each(raw, f32::from_le_bytes)?),
        11 => Numbers::F32(each(raw, |bytes| f64::from_le_bytes(bytes) as f32)?),
        10 => Numbers::F32(each(raw, |bytes| half(u16::from_le_bytes(bytes)))?),
        2 | 9 => Numbers::I64(raw.iter().map(|byte| i64::from(*byte)).collect()),
        3 => Numbers::I64(each(raw, |bytes| i64::from(i8::from_le_bytes(bytes)))?),
        6 => Numbers::I64(each(raw, |bytes| i64::from(i32::from_le_bytes(bytes)))?),
        7 => Numbers::I64(each(raw, i64::from_le_bytes)?),
        other => return Err(format!("numbers of type {other} are not supported")),
    })
}

/// IEEE 754 half precision.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10 & 0x1f);
    let fraction = u32::from(bits & 0x3ff);
    let magnitude = match exponent {
        0 => return f32::from_bits(sign | (fraction as f32 * (-24f32).exp2()).to_bits()),
        31 => 0xff << 23 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

fn ints_of(value: Value<'_>, into: &mut Vec<i64>) -> Found<()> {
    match value {
        Value::Varint(value) => into.push(value.cast_signed()),
        Value::Bytes(bytes) => {
            let mut packed = Fields::new(bytes);
            while let Some(value) = packed.packed()? {
                into.push(value.cast_signed());
            }
        }
        _ => return Err("a list of integers has another type".to_owned()),
    }
    Ok(())
}

fn floats_of(value: Value<'_>, into: &mut Vec<f32>) -> Found<()> {
    match value {
        Value::Fixed32(bits) => into.push(f32::from_bits(bits)),
        Value::Bytes(bytes) => {
            let (chunks, rest) = bytes.as_chunks::<4>();
            if !rest.is_empty() {
                return Err("half a number".to_owned());
            }
            into.extend(chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)));
        }
        _ => return Err("a list of floats has another type".to_owned()),
    }
    Ok(())
}

fn doubles_of(value: Value<'_>, into: &mut Vec<f32>) -> Found<()> {
    match value {
        Value::Fixed64(bits) => into.push(f64::from_bits(bits) as f32),
        Value::Bytes(bytes) => {
            let (chunks, rest) = bytes.as_chunks::<8>();
            if !rest.is_empty() {
                return Err("half a number".to_owned());
            }
            into.extend(chunks.iter().map(|chunk| f64::from_le_bytes(*chunk) as f32));
        }
        _ => return Err("a list of doubles has another type".to_owned()),
    }
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
