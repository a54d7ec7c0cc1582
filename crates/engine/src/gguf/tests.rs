use std::io::Cursor;

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use proptest::prelude::*;

use super::*;

/// A complete small GGUF: metadata of every kind and two tensors.
fn sample() -> Vec<u8> {
    let weights = Tensor::arange(0f32, 128f32, &Device::Cpu).unwrap().reshape((2, 64)).unwrap();
    let quantised = QTensor::quantize(&weights, GgmlDType::Q8_0).unwrap();
    let plain = QTensor::quantize(&weights, GgmlDType::F32).unwrap();
    let strings = Value::Array(vec![Value::String("a".into()), Value::String("b c".into())]);
    let metadata = [
        ("general.architecture", Value::String("llama".into())),
        ("llama.block_count", Value::U32(3)),
        ("llama.eps", Value::F32(0.5)),
        ("flag", Value::Bool(true)),
        ("tokens", strings),
        ("types", Value::Array(vec![Value::I32(1), Value::I32(3)])),
        ("scores", Value::Array(vec![Value::F32(-1.0), Value::F32(0.25)])),
    ];
    let metadata: Vec<_> = metadata.iter().map(|(key, value)| (*key, value)).collect();
    let mut file = Cursor::new(Vec::new());
    gguf_file::write(&mut file, &metadata, &[("quantised", &quantised), ("plain", &plain)]).unwrap();
    file.into_inner()
}

fn open(bytes: &[u8]) -> Result<Gguf, ModelError> {
    use std::io::Write;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let gguf = Gguf::open(file.path())?;
    // Everything a loader would do next must also be an error at worst.
    for name in gguf.content.tensor_infos.keys() {
        gguf.tensor(name, &Device::Cpu)?;
    }
    Ok(gguf)
}

fn reason(bytes: &[u8]) -> String {
    match open(bytes).err().expect("must be refused") {
        ModelError::Load { reason, .. } => reason,
        other => panic!("{other}"),
    }
}

#[test]
fn metadata_and_tensors_are_read_by_type() {
    let gguf = open(&sample()).unwrap();
    assert_eq!(gguf.string("general.architecture").unwrap(), "llama");
    assert_eq!(gguf.unsigned("llama.block_count").unwrap(), 3);
    assert!((gguf.float("llama.eps").unwrap() - 0.5).abs() < f32::EPSILON);
    assert_eq!(gguf.optional_bool("flag").unwrap(), Some(true));
    assert_eq!(gguf.optional_strings("tokens").unwrap().unwrap(), ["a", "b c"]);
    assert_eq!(gguf.optional_integers("types").unwrap().unwrap(), [1, 3]);
    assert_eq!(gguf.optional_floats("scores").unwrap().unwrap(), [-1.0, 0.25]);
    assert_eq!(gguf.optional_unsigned("absent").unwrap(), None);
    assert!(gguf.unsigned("absent").unwrap_err().to_string().contains("`absent` is missing"));
    assert!(gguf.unsigned("flag").unwrap_err().to_string().contains("`flag` is not an unsigned"));
    assert!(gguf.optional_strings("types").unwrap_err().to_string().contains("`types` is not an array of strings"));
}

#[test]
fn the_reason_names_what_is_wrong() {
    let good = sample();
    assert!(reason(b"").contains("magic number"), "{}", reason(b""));
    assert!(reason(b"<html><body>").contains("not a GGUF file"));
    let version = [&good[..4], &[99], &good[5..]].concat();
    assert!(reason(&version).contains("version 99"));
    let key = good.windows(17).position(|window| window == b"llama.block_count").unwrap();
    assert!(reason(&good[..key + 19]).contains("`llama.block_count`"), "{}", reason(&good[..key + 19]));
    assert!(reason(&good[..good.len() - 64]).contains("tensor `plain` ends at byte"));
    let name = good.windows(9).position(|window| window == b"quantised").unwrap();
    let mut dimension = good;
    dimension[name + 13] = 63; // the row length
    assert!(reason(&dimension).contains("`quantised` has rows of 63"), "{}", reason(&dimension));
    dimension[name + 13..name + 21].copy_from_slice(&(1u64 << 62).to_le_bytes());
    assert!(reason(&dimension).contains("`quantised`"));
}

#[test]
fn a_zero_alignment_is_refused_before_it_divides() {
    let mut file = Cursor::new(Vec::new());
    gguf_file::write(&mut file, &[("general.alignment", &Value::U32(0))], &[]).unwrap();
    assert!(reason(&file.into_inner()).contains("not a power of two"));
}

proptest! {
    #[test]
    fn a_truncated_file_is_refused(cut in 0usize..4096) {
        let good = sample();
        // The last tensor's padding is not part of the model.
        let cut = cut % (good.len() - 31);
        let refused = matches!(open(&good[..cut]), Err(ModelError::Load { .. }));
        prop_assert!(refused, "cut at {}", cut);
    }

    #[test]
    fn damaged_bytes_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = sample();
        for (index, byte) in changes {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        let _outcome = open(&bytes);
    }
}

#[test]
fn an_array_that_cannot_be_is_refused_before_it_is_allocated() {
    let good = sample();
    let key = good.windows(5).position(|window| window == b"types").unwrap();
    let mut bytes = good;
    // key, value type (4 bytes), element type (4 bytes), count
    bytes[key + 13..key + 21].copy_from_slice(&(1u64 << 40).to_le_bytes());
    assert!(reason(&bytes).contains("`types` (entry 6 of 7) announces 1099511627776 elements"), "{}", reason(&bytes));
}
