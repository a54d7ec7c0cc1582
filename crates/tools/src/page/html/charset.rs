//! Bytes → text by the declared character set: byte order mark, header, `<meta>`, then UTF-8 when
//! the bytes are UTF-8, else windows-1252 (the web's default).

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// How far a `<meta charset>` is looked for, in bytes.
const META_BYTES: usize = 4_096;

/// Decodes a body. `label` is the `charset` of the content type.
pub(crate) fn decode(bytes: &[u8], label: Option<&str>) -> String {
    let declared = label.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    let encoding = declared.or_else(|| in_meta(bytes)).unwrap_or_else(|| guess(bytes));
    // A byte order mark overrides everything; damaged sequences become U+FFFD.
    encoding.decode(bytes).0.into_owned()
}

fn in_meta(bytes: &[u8]) -> Option<&'static Encoding> {
    let head: Vec<u8> = bytes.iter().take(META_BYTES).map(u8::to_ascii_lowercase).collect();
    let mut from = 0;
    while let Some(at) = find(&head[from..], b"charset") {
        let rest = &head[from + at + 7..];
        from += at + 7;
        let rest = trim(rest);
        let Some(rest) = rest.strip_prefix(b"=") else { continue };
        let rest: Vec<u8> = trim(rest).iter().copied().skip_while(|byte| matches!(byte, b'"' | b'\'')).collect();
        let end = rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"-_:.".contains(byte)));
        let encoding = Encoding::for_label(&rest[..end.unwrap_or(rest.len())]);
        if let Some(encoding) = encoding {
            // A document whose meta could be read is not UTF-16.
            return Some(if encoding.is_ascii_compatible() { encoding } else { UTF_8 });
        }
    }
    None
}

fn trim(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii_start()
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    match std::str::from_utf8(bytes) {
        Ok(_) => UTF_8,
        // A body that was cut inside a character, if it had others that are UTF-8.
        Err(error) if error.error_len().is_none() && !bytes[..error.valid_up_to()].is_ascii() => UTF_8,
        Err(_) => WINDOWS_1252,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_mark_meta_and_guess() {
        assert_eq!(decode(b"caf\xe9", Some("iso-8859-1")), "café");
        assert_eq!(decode("café".as_bytes(), None), "café");
        assert_eq!(decode(b"caf\xe9", None), "café");
        assert_eq!(decode(b"<meta charset=\"iso-8859-15\">\xa4", None), "<meta charset=\"iso-8859-15\">€");
        assert_eq!(decode(b"<meta content='text/html; charset = KOI8-R'>\xc1", None).chars().last(), Some('а'));
        assert_eq!(decode(b"\xff\xfea\0", Some("utf-8")), "a", "the mark wins");
        assert_eq!(decode(b"<meta charset=utf-16>\xc3\xa9", None), "<meta charset=utf-16>é");
        assert_eq!(decode(&"éé".as_bytes()[..3], None), "é\u{fffd}", "cut inside a character");
        assert_eq!(decode(b"charset charset=nonsense x", None), "charset charset=nonsense x");
    }
}
