//! Typed access to a GGUF's metadata. Absence and a wrong type are errors that name the key.

use candle_core::quantized::gguf_file::Value;
use tenpass_model::ModelError;

use super::Gguf;

impl Gguf {
    /// The value of `key`, if the file has it.
    pub(crate) fn value(&self, key: &str) -> Option<&Value> {
        self.content.metadata.get(key)
    }

    /// An unsigned integer that must be there, whatever its stored width.
    pub(crate) fn unsigned(&self, key: &str) -> Result<u32, ModelError> {
        self.optional_unsigned(key)?.ok_or_else(|| self.missing(key))
    }

    /// An unsigned integer, if there.
    pub(crate) fn optional_unsigned(&self, key: &str) -> Result<Option<u32>, ModelError> {
        self.value(key)
            .map(|value| {
                integer(value)
                    .and_then(|number| u32::try_from(number).ok())
                    .ok_or_else(|| self.mistyped(key, "an unsigned 32-bit integer"))
            })
            .transpose()
    }

    /// A float that must be there.
    pub(crate) fn float(&self, key: &str) -> Result<f32, ModelError> {
        self.optional_float(key)?.ok_or_else(|| self.missing(key))
    }

    /// A float, if there.
    pub(crate) fn optional_float(&self, key: &str) -> Result<Option<f32>, ModelError> {
        self.value(key).map(|value| float(value).ok_or_else(|| self.mistyped(key, "a float"))).transpose()
    }

    /// The quantisation that most of the weights have: the file's label, else the commonest type.
    pub(crate) fn quantization(&self) -> String {
        let label = self.optional_unsigned("general.file_type").ok().flatten().and_then(file_type);
        label.map_or_else(|| self.commonest_type(), str::to_owned)
    }

    fn commonest_type(&self) -> String {
        let mut weights: Vec<(String, usize)> = Vec::new();
        for info in self.content.tensor_infos.values() {
            let name = format!("{:?}", info.ggml_dtype).to_uppercase();
            let elements = info.shape.elem_count();
            match weights.iter_mut().find(|(known, _)| *known == name) {
                Some((_, total)) => *total = total.saturating_add(elements),
                None => weights.push((name, elements)),
            }
        }
        weights.into_iter().max_by_key(|(_, elements)| *elements).map_or_else(|| "unknown".to_owned(), |(name, _)| name)
    }

    /// A boolean, if there.
    pub(crate) fn optional_bool(&self, key: &str) -> Result<Option<bool>, ModelError> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.mistyped(key, "a boolean")),
        }
    }

    /// A string that must be there.
    pub(crate) fn string(&self, key: &str) -> Result<&str, ModelError> {
        self.optional_string(key)?.ok_or_else(|| self.missing(key))
    }

    /// A string, if there.
    pub(crate) fn optional_string(&self, key: &str) -> Result<Option<&str>, ModelError> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.mistyped(key, "a string")),
        }
    }

    /// An array of strings, if there.
    pub(crate) fn optional_strings(&self, key: &str) -> Result<Option<Vec<&str>>, ModelError> {
        self.optional_array(key, "an array of strings", |value| match value {
            Value::String(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// An array of integers, if there.
    pub(crate) fn optional_integers(&self, key: &str) -> Result<Option<Vec<i64>>, ModelError> {
        self.optional_array(key, "an array of integers", integer)
    }

    /// An array of floats, if there.
    pub(crate) fn optional_floats(&self, key: &str) -> Result<Option<Vec<f32>>, ModelError> {
        self.optional_array(key, "an array of floats", float)
    }

    fn optional_array<'a, T>(
        &'a self,
        key: &str,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<Vec<T>>, ModelError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let Value::Array(values) = value else { return Err(self.mistyped(key, expected)) };
        let read: Option<Vec<T>> = values.iter().map(read).collect();
        read.map(Some).ok_or_else(|| self.mistyped(key, expected))
    }

    fn missing(&self, key: &str) -> ModelError {
        self.error(format!("metadata `{key}` is missing"))
    }

    fn mistyped(&self, key: &str, expected: &str) -> ModelError {
        self.error(format!("metadata `{key}` is not {expected}"))
    }
}

/// Any integer width. GGUF writers do not agree on one for the same key.
fn integer(value: &Value) -> Option<i64> {
    match *value {
        Value::U8(number) => Some(number.into()),
        Value::I8(number) => Some(number.into()),
        Value::U16(number) => Some(number.into()),
        Value::I16(number) => Some(number.into()),
        Value::U32(number) => Some(number.into()),
        Value::I32(number) => Some(number.into()),
        Value::I64(number) => Some(number),
        Value::U64(number) => i64::try_from(number).ok(),
        _ => None,
    }
}

fn float(value: &Value) -> Option<f32> {
    match *value {
        Value::F32(number) => Some(number),
        Value::F64(number) => Some(number as f32),
        _ => integer(value).map(|number| number as f32),
    }
}

/// Label of a `general.file_type` number, as llama.cpp's `llama_ftype` numbers them.
fn file_type(number: u32) -> Option<&'static str> {
    Some(match number {
        0 => "F32",
        1 => "F16",
        2 => "Q4_0",
        3 => "Q4_1",
        7 => "Q8_0",
        8 => "Q5_0",
        9 => "Q5_1",
        10 => "Q2_K",
        11 => "Q3_K_S",
        12 => "Q3_K_M",
        13 => "Q3_K_L",
        14 => "Q4_K_S",
        15 => "Q4_K_M",
        16 => "Q5_K_S",
        17 => "Q5_K_M",
        18 => "Q6_K",
        32 => "BF16",
        _ => return None,
    })
}
