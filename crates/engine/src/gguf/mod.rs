//! The model's file: GGUF, checked before anything trusts it.
//!
//! [`Gguf::open`] walks the header, the metadata and the tensor table against the file's real
//! length ([`layout`]), parses them with candle, and checks that every tensor lies inside the
//! file. A truncated or corrupted file is therefore a [`ModelError::Load`] that names what is
//! wrong, and no length field is believed before it was compared with the bytes that exist.
//!
//! Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>. Values are little-endian;
//! lengths are bytes or elements as the format says; tensor offsets count from the data section.

mod layout;
mod metadata;

use std::fmt::Display;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use candle_core::Device;
use candle_core::quantized::QTensor;
use candle_core::quantized::gguf_file::Content;
use tenpass_model::ModelError;

/// Bytes per read: tensor data is read in one call each, so this only serves the header.
const BUFFER_BYTES: usize = 1 << 16;

/// An opened and checked GGUF file.
pub(crate) struct Gguf {
    path: PathBuf,
    length: u64,
    /// Metadata and tensor table as candle parsed them.
    pub(crate) content: Content,
}

impl Gguf {
    /// Opens `path` and checks everything that can be checked without reading tensor data.
    pub(crate) fn open(path: &Path) -> Result<Self, ModelError> {
        let fail = |reason: String| load_error(path, reason);
        let file = File::open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                ModelError::NotFound { model: path.display().to_string(), reason: "there is no such file".to_owned() }
            }
            _ => fail(error.to_string()),
        })?;
        let stat = file.metadata().map_err(|error| fail(error.to_string()))?;
        if !stat.is_file() {
            return Err(fail("not a regular file".to_owned()));
        }
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
        let length = stat.len();
        layout::check(&mut reader, length).map_err(fail)?;
        std::io::Seek::rewind(&mut reader).map_err(|error| fail(error.to_string()))?;
        let content = Content::read(&mut reader).map_err(|error| fail(error.to_string()))?;
        let gguf = Self { path: path.to_owned(), length, content };
        gguf.check_tensors()?;
        Ok(gguf)
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A reader of its own, so that tensors can be read from several threads.
    pub(crate) fn reader(&self) -> Result<BufReader<File>, ModelError> {
        let file = File::open(&self.path).map_err(|error| self.error(error))?;
        Ok(BufReader::with_capacity(BUFFER_BYTES, file))
    }

    /// True when the file has this tensor.
    pub(crate) fn has_tensor(&self, name: &str) -> bool {
        self.content.tensor_infos.contains_key(name)
    }

    /// Dimensions of one tensor, outermost first.
    pub(crate) fn tensor_shape(&self, name: &str) -> Result<&[usize], ModelError> {
        let info = self.content.tensor_infos.get(name);
        info.map(|info| info.shape.dims()).ok_or_else(|| self.error(format!("tensor `{name}` is missing")))
    }

    /// Reads one tensor, still quantised.
    pub(crate) fn tensor(&self, name: &str, device: &Device) -> Result<QTensor, ModelError> {
        let info =
            self.content.tensor_infos.get(name).ok_or_else(|| self.error(format!("tensor `{name}` is missing")))?;
        let mut reader = self.reader()?;
        info.read(&mut reader, self.content.tensor_data_offset, device)
            .map_err(|error| self.error(format!("tensor `{name}`: {error}")))
    }

    /// The error for something wrong with this file.
    pub(crate) fn error(&self, reason: impl Display) -> ModelError {
        load_error(&self.path, reason)
    }

    fn check_tensors(&self) -> Result<(), ModelError> {
        for (name, info) in &self.content.tensor_infos {
            let bytes = tensor_bytes(info.shape.dims(), info.ggml_dtype.block_size(), info.ggml_dtype.type_size())
                .map_err(|reason| self.error(format!("tensor `{name}` {reason}")))?;
            let start = self.content.tensor_data_offset.checked_add(info.offset);
            let end = start.and_then(|start| start.checked_add(bytes));
            if end.is_none_or(|end| end > self.length) {
                let end = end.map_or_else(|| "the largest offset".to_owned(), |end| format!("byte {end}"));
                return Err(self.error(format!(
                    "tensor `{name}` ends at {end} but the file has {} bytes; it is truncated or damaged",
                    self.length
                )));
            }
        }
        Ok(())
    }
}

fn load_error(path: &Path, reason: impl Display) -> ModelError {
    ModelError::Load { path: path.display().to_string(), reason: reason.to_string() }
}

/// Size of a tensor's data in bytes; its rows must consist of whole quantisation blocks.
fn tensor_bytes(dims: &[usize], block: usize, block_bytes: usize) -> Result<u64, String> {
    let row = dims.last().copied().unwrap_or(1);
    if !row.is_multiple_of(block) {
        return Err(format!("has rows of {row} elements, not a multiple of its block size {block}"));
    }
    let elements = dims.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim as u64));
    let bytes = elements.and_then(|elements| (elements / block as u64).checked_mul(block_bytes as u64));
    bytes.ok_or_else(|| format!("has an impossible shape {dims:?}"))
}

#[cfg(test)]
mod tests;
