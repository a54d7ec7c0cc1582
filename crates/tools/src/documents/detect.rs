//! What a file is, by its first bytes rather than by its name.

/// The containers and formats that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    /// A PDF file.
    Pdf,
    /// A zip archive: Word, Excel, OpenDocument or something else.
    Zip,
    /// A compound file: old Office formats, or a new one under a password.
    Compound,
    /// None of these: text, or a binary format without text.
    Other,
}

/// Judges the first bytes.
pub(crate) fn container(bytes: &[u8]) -> Container {
    // Readers of PDF accept rubbish before the header.
    let head = &bytes[..bytes.len().min(1024)];
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        Container::Zip
    } else if bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        Container::Compound
    } else if head.windows(5).any(|window| window == b"%PDF-") {
        Container::Pdf
    } else {
        Container::Other
    }
}

/// What a file that is certainly not text is.
pub(crate) fn binary(bytes: &[u8]) -> Option<&'static str> {
    const KNOWN: &[(&[u8], &str)] = &[
        (b"PK\x03\x04", "a zip archive or office document"),
        (b"PK\x05\x06", "a zip archive or office document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an office document"),
        (b"%PDF-", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (b"\xff\xd8\xff", "a picture"),
        (b"GIF87a", "a picture"),
        (b"GIF89a", "a picture"),
        (b"\x7fELF", "a program"),
        (b"MZ\x90\0", "a program"),
        (b"\xcf\xfa\xed\xfe", "a program"),
        (b"\x1f\x8b", "a compressed file"),
        (b"BZh", "a compressed file"),
        (b"\xfd7zXZ\0", "a compressed file"),
        (b"7z\xbc\xaf\x27\x1c", "a compressed file"),
        (b"(\xb5/\xfd", "a compressed file"),
        (b"Rar!\x1a\x07", "a compressed file"),
        (b"SQLite format 3\0", "a database"),
        (b"ID3", "a sound file"),
        (b"fLaC", "a sound file"),
        (b"OggS", "a sound file"),
        (b"GGUF", "a model file"),
    ];
    if bytes.starts_with(b"RIFF") && bytes.get(8..12).is_some_and(|kind| matches!(kind, b"WAVE" | b"AVI " | b"WEBP")) {
        return Some("a sound, film or picture file");
    }
    if bytes.get(4..8) == Some(b"ftyp") {
        return Some("a film or sound file");
    }
    KNOWN.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, what)| *what)
}
