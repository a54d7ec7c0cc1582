//! PDF files: the text that their pages draw, in drawing order.
//!
//! `lopdf` reads the objects, with limits on what a stream may unpack to; the text operators are
//! followed here (ISO 32000-1, 9.4). Ready-made extractors recurse without end on a form that
//! draws itself, and panic on fonts they do not expect.

mod font;
mod page;
mod widths;

use lopdf::{Document as Pdf, Error, LoadOptions, Object};

use super::error::DocumentError;
use super::output::{Document, DocumentKind, Output};
use page::Pages;

const KIND: &str = "PDF";
/// Most pages that are read.
const MOST_PAGES: usize = 2_000;
/// Most bytes that one stream may unpack to.
pub(crate) const STREAM_BYTES: usize = 16 * 1024 * 1024;

/// Reads every page.
pub(crate) fn read(bytes: &[u8], mut output: Output) -> Result<Document, DocumentError> {
    let options = LoadOptions { max_decompressed_size: Some(STREAM_BYTES), ..LoadOptions::default() };
    let pdf = Pdf::load_mem_with_options(bytes, options).map_err(|error| failed(&error, bytes))?;
    // Loading tries the empty password; what is still encrypted needs a real one.
    if pdf.is_encrypted() && !pdf.was_encrypted() {
        return Err(DocumentError::Encrypted { kind: KIND });
    }
    let numbers: Vec<_> = pdf.page_iter().take(MOST_PAGES + 1).collect();
    if numbers.is_empty() {
        return Err(DocumentError::Damaged { kind: KIND, reason: "it has no pages".to_owned() });
    }
    let mut pages = Pages::new(&pdf);
    for (index, page) in numbers.iter().take(MOST_PAGES).enumerate() {
        output.begin((index + 1).to_string());
        pages.read(*page, &mut output)?;
        if output.full() {
            break;
        }
    }
    if numbers.len() > MOST_PAGES {
        output.cut();
    }
    if output.text().trim().is_empty() && !has_end(bytes) {
        return Err(DocumentError::Damaged { kind: KIND, reason: "it is cut short".to_owned() });
    }
    if output.text().trim().is_empty() {
        return Err(DocumentError::OnlyImages { pages: numbers.len() });
    }
    Ok(output.finish(DocumentKind::Pdf))
}

fn failed(error: &Error, bytes: &[u8]) -> DocumentError {
    match error {
        Error::InvalidPassword | Error::Decryption(_) => DocumentError::Encrypted { kind: KIND },
        Error::Decompress(_) => {
            DocumentError::Bomb { what: format!("a stream of more than {} MB", STREAM_BYTES / 1024 / 1024) }
        }
        error if !has_end(bytes) => DocumentError::Damaged { kind: KIND, reason: format!("it is cut short ({error})") },
        error => DocumentError::Damaged { kind: KIND, reason: error.to_string() },
    }
}

fn has_end(bytes: &[u8]) -> bool {
    bytes[bytes.len().saturating_sub(2048)..].windows(5).any(|window| window == b"%%EOF")
}

/// A number, whole or not.
pub(crate) fn number(object: &Object) -> Option<f64> {
    match object {
        Object::Integer(value) => Some(*value as f64),
        Object::Real(value) => Some(f64::from(*value)),
        _ => None,
    }
}
