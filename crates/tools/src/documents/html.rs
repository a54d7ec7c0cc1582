//! Web pages saved as files: their text, without scripts, styles and markup.

use super::error::DocumentError;
use super::output::{Document, DocumentKind, Output};

/// Wide enough that lines are not wrapped in the middle of sentences.
const WIDTH: usize = 10_000;
/// Largest page, in bytes.
const MOST_BYTES: usize = 5_000_000;

/// Reads a page.
pub(crate) fn read(html: &str, mut output: Output) -> Result<Document, DocumentError> {
    if html.len() > MOST_BYTES {
        return Err(DocumentError::TooLarge { bytes: html.len(), cap: MOST_BYTES });
    }
    let text = html2text::config::plain_no_decorate()
        .no_table_borders()
        .link_footnotes(false)
        .string_from_read(html.as_bytes(), WIDTH)
        .map_err(|error| DocumentError::Damaged { kind: "HTML", reason: error.to_string() })?;
    for line in text.lines() {
        output.push(line.trim_end());
        output.push("\n");
    }
    Ok(output.finish(DocumentKind::Html))
}
