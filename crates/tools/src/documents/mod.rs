//! The text of documents: plain text, Word, spreadsheets, OpenDocument, HTML and PDF.
//!
//! Documents come from anywhere, so every parser runs apart, in a thread of its own with a time
//! limit, and its panic is one more way for a document to be damaged. Caps hold on the file, on
//! what it unpacks to, on parts, pages and characters. What comes out is data for the model,
//! never instructions: the caller marks it as untrusted.

mod archive;
mod detect;
mod error;
mod html;
mod open;
mod output;
mod pdf;
mod sheet;
mod text;
mod word;
mod xls;
mod xml;

use std::sync::{Once, mpsc};
use std::time::Duration;

pub use error::DocumentError;
pub use output::{Document, DocumentKind, Unit};
pub use text::{Encoding, TextFile};

use archive::Archive;
use detect::Container;
use output::Output;

/// Largest file, in bytes (R9: 50 MB).
const INPUT_BYTES: usize = 50 * 1_000_000;
/// Longest reading time, in seconds.
const SECONDS: u64 = 20;
/// Deeply nested documents must not overflow the stack of whoever asked.
const STACK_BYTES: usize = 32 * 1024 * 1024;
/// The name of the threads that parse.
const THREAD: &str = "tenpass-document";

/// Reads a document's text. `name` only decides between formats whose bytes look alike (HTML,
/// CSV and Markdown are all text).
///
/// Blocks until the text is there or 20 s are over; see [`extract_blocking`] for async callers.
pub fn extract(bytes: Vec<u8>, name: &str) -> Result<Document, DocumentError> {
    if bytes.len() > INPUT_BYTES {
        return Err(DocumentError::TooLarge { bytes: bytes.len(), cap: INPUT_BYTES });
    }
    keep_panics_quiet();
    let kind = kind_name(&bytes);
    let name = name.to_owned();
    let (send, receive) = mpsc::sync_channel(1);
    let started = std::thread::Builder::new().name(THREAD.to_owned()).stack_size(STACK_BYTES).spawn(move || {
        // Nobody listens any more when the time is over.
        let _ = send.send(read(&bytes, &name, Output::new(Duration::from_secs(SECONDS))));
    });
    if let Err(error) = started {
        return Err(DocumentError::Damaged { kind, reason: error.to_string() });
    }
    match receive.recv_timeout(Duration::from_secs(SECONDS + 1)) {
        Ok(result) => result.map_err(DocumentError::short),
        Err(mpsc::RecvTimeoutError::Timeout) => Err(DocumentError::TooSlow { kind, seconds: SECONDS }),
        // The sender was dropped unused: the parser panicked.
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            Err(DocumentError::Damaged { kind, reason: "its structure makes no sense".to_owned() })
        }
    }
}

/// A parser's panic is a damaged document, reported as such: its message has no place on the
/// person's terminal. Panics of every other thread are reported as before.
fn keep_panics_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().name() != Some(THREAD) {
                report(panic);
            }
        }));
    });
}

/// [`extract`] for async callers, off the runtime's own threads.
pub async fn extract_blocking(bytes: Vec<u8>, name: String) -> Result<Document, DocumentError> {
    let kind = kind_name(&bytes);
    tokio::task::spawn_blocking(move || extract(bytes, &name))
        .await
        .unwrap_or_else(|error| Err(DocumentError::Damaged { kind, reason: error.to_string() }))
}

fn kind_name(bytes: &[u8]) -> &'static str {
    match detect::container(bytes) {
        Container::Pdf => "PDF",
        Container::Zip | Container::Compound => "office",
        Container::Other => "text",
    }
}

fn read(bytes: &[u8], name: &str, output: Output) -> Result<Document, DocumentError> {
    match detect::container(bytes) {
        Container::Pdf => pdf::read(bytes, output),
        Container::Compound => xls::read(bytes, output),
        Container::Zip => packed(bytes, output),
        Container::Other => plain(bytes, name, output),
    }
}

/// What an archive holds decides, not the name of the file.
fn packed(bytes: &[u8], output: Output) -> Result<Document, DocumentError> {
    let mut archive = Archive::open(bytes, "office")?;
    if archive.has("word/document.xml") {
        return word::read(&mut archive, output);
    }
    if archive.has("xl/workbook.xml") {
        return sheet::read(bytes, archive, output);
    }
    if archive.has("content.xml") {
        return open::read(&mut archive, output);
    }
    if archive.has("ppt/presentation.xml") {
        return word::read_slides(&mut archive, output);
    }
    Err(DocumentError::Unsupported { kind: "an archive" })
}

fn plain(bytes: &[u8], name: &str, mut output: Output) -> Result<Document, DocumentError> {
    let file = TextFile::decode(bytes).map_err(|kind| DocumentError::Unsupported { kind })?;
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "html" | "htm" | "xhtml" => html::read(&file.text, output),
        kind => {
            output.push(&file.text);
            let kind = match kind {
                "csv" | "tsv" => DocumentKind::Table,
                "md" | "markdown" => DocumentKind::Markdown,
                _ => DocumentKind::Text,
            };
            Ok(output.finish(kind))
        }
    }
}

#[cfg(test)]
mod tests;
