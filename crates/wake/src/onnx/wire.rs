//! The protobuf wire format, as far as ONNX needs it: varints, 32- and 64-bit values, and blocks with a
//! length. (Protocol Buffers, "Encoding".)

/// One field of a message.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'a> {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 1.
    Fixed64(u64),
    /// Wire type 2.
    Bytes(&'a [u8]),
    /// Wire type 5.
    Fixed32(u32),
}

/// Reads the fields of one message, in order.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next field's number and value; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u32, Value<'a>)>, String> {
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).map_err(|_| format!("field number {} is too large", key >> 3))?;
        if number == 0 {
            return Err("a field has number 0".to_owned());
        }
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = self.varint()?;
                let length = usize::try_from(length).map_err(|_| format!("a block of {length} bytes"))?;
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.array()?)),
            other => return Err(format!("field {number} has wire type {other}")),
        };
        Ok(Some((number, value)))
    }

    /// A varint without a key: an element of a packed field.
    pub(super) fn packed(&mut self) -> Result<Option<u64>, String> {
        if self.at == self.bytes.len() { Ok(None) } else { self.varint().map(Some) }
    }

    fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number has more than ten bytes".to_owned())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let bytes = self.take(N)?;
        let mut array = [0; N];
        array.copy_from_slice(bytes);
        Ok(array)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let left = self.bytes.len() - self.at;
        if length > left {
            return Err(format!("it ends in the middle: {length} bytes are announced, {left} are there"));
        }
        let taken = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(taken)
    }
}

/// Writes fields.
#[derive(Debug, Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn varint(&mut self, number: u32, value: u64) {
        self.raw(u64::from(number) << 3);
        self.raw(value);
    }

    pub(super) fn int(&mut self, number: u32, value: i64) {
        self.varint(number, value.cast_unsigned());
    }

    pub(super) fn float(&mut self, number: u32, value: f32) {
        self.raw(u64::from(number) << 3 | 5);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, number: u32, value: &[u8]) {
        self.raw(u64::from(number) << 3 | 2);
        self.raw(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    pub(super) fn text(&mut self, number: u32, value: &str) {
        self.bytes(number, value.as_bytes());
    }

    /// A message within this one.
    pub(super) fn message(&mut self, number: u32, fill: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        fill(&mut inner);
        self.bytes(number, &inner.bytes);
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn raw(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(number in 1u32..1 << 28, value: u64, float: f32, bytes: Vec<u8>) {
            let mut writer = Writer::default();
            writer.varint(number, value);
            writer.float(number, float);
            writer.bytes(number, &bytes);
            let written = writer.finish();
            let mut fields = Fields::new(&written);
            let Some((first, Value::Varint(read))) = fields.next().unwrap() else { panic!("no varint") };
            prop_assert_eq!((first, read), (number, value));
            let Some((_, Value::Fixed32(read))) = fields.next().unwrap() else { panic!("no float") };
            prop_assert_eq!(read, float.to_bits());
            let Some((_, Value::Bytes(read))) = fields.next().unwrap() else { panic!("no block") };
            prop_assert_eq!(read, &bytes[..]);
            prop_assert!(fields.next().unwrap().is_none());
        }

        #[test]
        fn any_bytes_end(bytes: Vec<u8>) {
            let mut fields = Fields::new(&bytes);
            while let Ok(Some(_)) = fields.next() {}
        }
    }
}
