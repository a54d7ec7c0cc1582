//! A walk over header, metadata and tensor table that compares every length with the file's.

use std::collections::HashSet;
use std::io::{BufReader, Read, Seek};

/// Arrays of arrays deeper than this are an attack, not a model.
const MAX_ARRAY_DEPTH: u32 = 4;
/// Most elements of an array: twice the largest vocabulary. Parsed, an element takes many times
/// its stored size.
const MAX_ARRAY_ELEMENTS: u64 = 1 << 24;
/// Most bytes of all metadata.
const MAX_METADATA_BYTES: u64 = 1 << 28;
/// Most dimensions a GGML tensor has.
const MAX_DIMENSIONS: u32 = 4;

const ARRAY: u32 = 9;
const STRING: u32 = 8;

/// Walks the file from its start. The error says what does not fit.
pub(super) fn check<R: Read + Seek>(reader: &mut BufReader<R>, length: u64) -> Result<(), String> {
    let mut walk = Walk { reader, position: 0, length };
    let magic = walk.bytes::<4>("the magic number")?;
    if &magic != b"GGUF" {
        return Err(format!("not a GGUF file (it starts with {:?})", String::from_utf8_lossy(&magic)));
    }
    let version = walk.u32("the version")?;
    if !(2..=3).contains(&version) {
        return Err(format!("GGUF version {version} is not supported (2 and 3 are)"));
    }
    let tensors = walk.u64("the number of tensors")?;
    let entries = walk.u64("the number of metadata entries")?;
    for index in 0..entries {
        walk.metadata_entry(index, entries)?;
        if walk.position > MAX_METADATA_BYTES {
            return Err(format!("the metadata is larger than {MAX_METADATA_BYTES} bytes; it is damaged"));
        }
    }
    let mut names = HashSet::new();
    for index in 0..tensors {
        let name = walk.tensor_entry(index, tensors)?;
        if let Some(name) = names.replace(name) {
            return Err(format!("tensor `{name}` is listed twice"));
        }
    }
    Ok(())
}

struct Walk<'a, R> {
    reader: &'a mut BufReader<R>,
    position: u64,
    length: u64,
}

impl<R: Read + Seek> Walk<'_, R> {
    fn remaining(&self) -> u64 {
        self.length.saturating_sub(self.position)
    }

    fn truncated(&self, what: &str) -> String {
        format!("the file ends at byte {} inside {what}; it is truncated or damaged", self.length)
    }

    fn bytes<const N: usize>(&mut self, what: &str) -> Result<[u8; N], String> {
        let mut buffer = [0; N];
        if (N as u64) > self.remaining() {
            return Err(self.truncated(what));
        }
        self.reader.read_exact(&mut buffer).map_err(|error| format!("{what}: {error}"))?;
        self.position += N as u64;
        Ok(buffer)
    }

    fn u32(&mut self, what: &str) -> Result<u32, String> {
        self.bytes(what).map(u32::from_le_bytes)
    }

    fn u64(&mut self, what: &str) -> Result<u64, String> {
        self.bytes(what).map(u64::from_le_bytes)
    }

    fn skip(&mut self, count: u64, what: &str) -> Result<(), String> {
        if count > self.remaining() {
            return Err(self.truncated(what));
        }
        self.reader.seek_relative(count as i64).map_err(|error| format!("{what}: {error}"))?;
        self.position += count;
        Ok(())
    }

    fn string(&mut self, what: &str) -> Result<String, String> {
        let length = self.u64(what)?;
        if length > self.remaining() {
            return Err(self.truncated(what));
        }
        let mut text = vec![0; length as usize];
        self.reader.read_exact(&mut text).map_err(|error| format!("{what}: {error}"))?;
        self.position += length;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn metadata_entry(&mut self, index: u64, count: u64) -> Result<(), String> {
        let key = self.string(&format!("the key of metadata entry {} of {count}", index + 1))?;
        let what = format!("metadata `{key}` (entry {} of {count})", index + 1);
        let kind = self.u32(&what)?;
        if key == "general.alignment" {
            return self.alignment(kind, &what);
        }
        self.value(kind, 0, &what)
    }

    /// The alignment divides offsets, so it is checked here, before candle computes with it.
    fn alignment(&mut self, kind: u32, what: &str) -> Result<(), String> {
        if kind != 4 {
            return Err(format!("{what} is not an unsigned 32-bit integer"));
        }
        let alignment = self.u32(what)?;
        if !alignment.is_power_of_two() {
            return Err(format!("{what} is {alignment}, not a power of two"));
        }
        Ok(())
    }

    fn value(&mut self, kind: u32, depth: u32, what: &str) -> Result<(), String> {
        match kind {
            STRING => {
                let length = self.u64(what)?;
                self.skip(length, what)
            }
            ARRAY => self.array(depth, what),
            _ => self.skip(scalar_bytes(kind).ok_or_else(|| format!("{what} has the unknown type {kind}"))?, what),
        }
    }

    fn array(&mut self, depth: u32, what: &str) -> Result<(), String> {
        if depth == MAX_ARRAY_DEPTH {
            return Err(format!("{what} nests arrays too deeply"));
        }
        let kind = self.u32(what)?;
        let count = self.u64(what)?;
        if count > MAX_ARRAY_ELEMENTS.min(self.remaining()) {
            return Err(format!("{what} announces {count} elements; it is damaged"));
        }
        if let Some(bytes) = scalar_bytes(kind) {
            return self.skip(count * bytes, what);
        }
        for _ in 0..count {
            self.value(kind, depth + 1, what)?;
        }
        Ok(())
    }

    fn tensor_entry(&mut self, index: u64, count: u64) -> Result<String, String> {
        let entry = format!("entry {} of {count} of the tensor table", index + 1);
        let name = self.string(&entry)?;
        let dimensions = self.u32(&entry)?;
        if dimensions > MAX_DIMENSIONS {
            return Err(format!("tensor `{name}` has {dimensions} dimensions, more than {MAX_DIMENSIONS}"));
        }
        // dimensions (u64 each), type (u32), offset (u64)
        self.skip(u64::from(dimensions) * 8 + 4 + 8, &entry)?;
        Ok(name)
    }
}

/// Stored size of a scalar metadata type.
fn scalar_bytes(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}
