//! The body of a response: what kind it is, and its bytes within their cap.

use std::io::Read;

use super::PageError;

/// Most bytes that are read of a page; the rest is left out and said so.
pub const MAX_PAGE_BYTES: usize = 2 << 20;
/// Most bytes of a PDF, which cannot be read in part.
pub const MAX_PDF_BYTES: usize = 10 << 20;

/// What a body is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    /// Text that is shown as it is: plain, Markdown, JSON, XML, CSV.
    Text,
    Pdf,
}

impl Kind {
    pub(super) fn cap(self) -> usize {
        if self == Self::Pdf { MAX_PDF_BYTES } else { MAX_PAGE_BYTES }
    }
}

/// The kind that a content type names; `Ok(None)` when there is none and the bytes must tell.
pub(super) fn kind_of(content_type: Option<&str>) -> Result<Option<Kind>, PageError> {
    let Some(full) = content_type else { return Ok(None) };
    let name = full.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    Ok(Some(match name.as_str() {
        "" => return Ok(None),
        "text/html" | "application/xhtml+xml" => Kind::Html,
        "application/pdf" | "application/x-pdf" => Kind::Pdf,
        "application/json"
        | "application/xml"
        | "application/ld+json"
        | "application/x-ndjson"
        | "application/yaml"
        | "text/plain"
        | "text/markdown"
        | "text/x-markdown"
        | "text/csv"
        | "text/xml"
        | "text/tab-separated-values"
        | "text/yaml" => Kind::Text,
        other if other.ends_with("+json") || other.ends_with("+xml") => Kind::Text,
        other => return Err(PageError::Type(shown(other))),
    }))
}

/// A server's word in a sentence of ours: nothing but the characters of a media type.
fn shown(name: &str) -> String {
    name.chars().filter(|letter| letter.is_ascii_alphanumeric() || "/+.-".contains(*letter)).take(40).collect()
}

/// The `charset` of a content type.
pub(super) fn charset_of(content_type: Option<&str>) -> Option<&str> {
    content_type?.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// The kind that the first bytes show.
pub(super) fn sniff(bytes: &[u8]) -> Result<Kind, PageError> {
    let start = bytes.trim_ascii_start();
    if start.starts_with(b"%PDF-") {
        return Ok(Kind::Pdf);
    }
    if looks_binary(bytes) {
        return Err(PageError::Type("unnamed binary data".to_owned()));
    }
    let head = start[..start.len().min(256)].to_ascii_lowercase();
    let is_html = head.starts_with(b"<") && !head.starts_with(b"<?xml");
    Ok(if is_html { Kind::Html } else { Kind::Text })
}

/// True for bytes that no text in a single-byte or UTF-8 encoding has.
pub(super) fn looks_binary(bytes: &[u8]) -> bool {
    let marked = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    !marked && bytes.iter().take(4_096).any(|byte| *byte == 0)
}

/// Undoes `Content-Encoding: gzip`, up to `cap` bytes: what a bomb holds beyond is never expanded.
/// The flag tells whether something was left out.
pub(super) fn gunzip(bytes: &[u8], cap: usize, is_cut: bool) -> Result<(Vec<u8>, bool), PageError> {
    let mut plain = Vec::new();
    let mut decoder = flate2::read::MultiGzDecoder::new(bytes).take(cap as u64 + 1);
    match decoder.read_to_end(&mut plain) {
        Ok(_) => {}
        // A body that was cut at the cap ends inside a block; what came before it counts.
        Err(_) if is_cut && !plain.is_empty() => {}
        Err(_) => return Err(PageError::Damaged("its gzip data is damaged".to_owned())),
    }
    let is_cut = is_cut || plain.len() > cap;
    plain.truncate(cap);
    Ok((plain, is_cut))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn kinds_and_charsets() {
        assert_eq!(kind_of(Some("Text/HTML; charset=x")), Ok(Some(Kind::Html)));
        assert_eq!(kind_of(Some("application/atom+xml")), Ok(Some(Kind::Text)));
        assert_eq!(kind_of(Some("application/pdf")), Ok(Some(Kind::Pdf)));
        assert_eq!((kind_of(None), kind_of(Some(" ; q"))), (Ok(None), Ok(None)));
        for binary in ["image/png", "application/octet-stream", "video/mp4", "application/zip", "text/javascript"] {
            assert_eq!(kind_of(Some(binary)), Err(PageError::Type(binary.to_owned())));
        }
        assert_eq!(charset_of(Some("text/html; boundary=a; Charset=\"ISO-8859-1\"")), Some("ISO-8859-1"));
        assert_eq!((charset_of(Some("text/html")), charset_of(None)), (None, None));
    }

    #[test]
    fn bytes_tell_when_no_type_does() {
        assert_eq!(sniff(b" <!doctype html>"), Ok(Kind::Html));
        assert_eq!(sniff(b"%PDF-1.7"), Ok(Kind::Pdf));
        assert_eq!(sniff(b"hello"), Ok(Kind::Text));
        assert_eq!(sniff(b"<?xml version='1.0'?>"), Ok(Kind::Text));
        assert!(sniff(b"\x7fELF\0\0").is_err());
    }

    #[test]
    fn a_gzip_bomb_expands_to_the_cap_and_no_further() {
        let bomb = gzip(&vec![b'a'; 64 << 20]);
        assert!(bomb.len() < 100_000);
        let (plain, is_cut) = gunzip(&bomb, 1 << 20, false).unwrap();
        assert_eq!((plain.len(), is_cut), (1 << 20, true));
        assert!(plain.capacity() < 4 << 20);
        assert_eq!(gunzip(&gzip(b"small"), 100, false), Ok((b"small".to_vec(), false)));
        let random: Vec<u8> = (0..50_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let whole = gzip(&random);
        assert!(gunzip(&whole[..whole.len() / 2], 1 << 20, false).is_err());
        let (part, is_cut) = gunzip(&whole[..whole.len() / 2], 1 << 20, true).unwrap();
        assert!(is_cut && !part.is_empty() && random.starts_with(&part));
        assert!(gunzip(b"not gzip", 100, false).is_err());
    }
}
