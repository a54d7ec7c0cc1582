//! Plain text in the encodings that files on a desk have, back and forth without loss.

use encoding_rs::WINDOWS_1252;

/// How a text file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// Latin-1 as Windows extends it (code page 1252).
    Latin1,
}

impl Encoding {
    /// The printed name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le | Self::Utf16Be => "UTF-16",
            Self::Latin1 => "Latin-1 (Windows-1252)",
        }
    }
}

/// A text file's text, and all that is needed to write it back as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// How it is written.
    pub encoding: Encoding,
    /// It begins with a byte order mark, which is not part of `text`.
    pub mark: bool,
    /// The text, line breaks as they are.
    pub text: String,
}

impl TextFile {
    /// Decodes bytes, or says what they are instead.
    pub fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        if let Some(known) = super::detect::binary(bytes) {
            return Err(known);
        }
        if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
            let text = std::str::from_utf8(rest).map_err(|_| "damaged UTF-8 text")?;
            return Ok(Self { encoding: Encoding::Utf8, mark: true, text: text.to_owned() });
        }
        if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
            return Ok(Self { encoding: Encoding::Utf16Le, mark: true, text: utf16(rest, u16::from_le_bytes)? });
        }
        if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
            return Ok(Self { encoding: Encoding::Utf16Be, mark: true, text: utf16(rest, u16::from_be_bytes)? });
        }
        if let Some(encoding) = unmarked_utf16(bytes) {
            let order = if encoding == Encoding::Utf16Le { u16::from_le_bytes } else { u16::from_be_bytes };
            return Ok(Self { encoding, mark: false, text: utf16(bytes, order)? });
        }
        if bytes.contains(&0) || mostly_controls(bytes) {
            return Err("a binary file");
        }
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Ok(Self { encoding: Encoding::Utf8, mark: false, text: text.to_owned() });
        }
        let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
        Ok(Self { encoding: Encoding::Latin1, mark: false, text: text.into_owned() })
    }

    /// The text in this file's encoding, with its byte order mark when it is the `whole` file.
    /// The error is the first character that the encoding does not have.
    pub fn encode(&self, text: &str, whole: bool) -> Result<Vec<u8>, char> {
        let marked = if whole && self.mark { "\u{feff}" } else { "" };
        let units = || marked.encode_utf16().chain(text.encode_utf16());
        match self.encoding {
            Encoding::Utf8 => Ok([marked.as_bytes(), text.as_bytes()].concat()),
            Encoding::Utf16Le => Ok(units().flat_map(u16::to_le_bytes).collect()),
            Encoding::Utf16Be => Ok(units().flat_map(u16::to_be_bytes).collect()),
            Encoding::Latin1 => latin1(text),
        }
    }

    /// The line break that the file uses.
    pub fn line_break(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// A text with the file's own line breaks.
    pub fn adapt(&self, text: &str) -> String {
        match self.line_break() {
            "\r\n" => text.replace("\r\n", "\n").replace('\n', "\r\n"),
            _ => text.to_owned(),
        }
    }
}

fn utf16(bytes: &[u8], order: fn([u8; 2]) -> u16) -> Result<String, &'static str> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err("damaged UTF-16 text");
    }
    char::decode_utf16(pairs.iter().map(|pair| order(*pair)))
        .collect::<Result<String, _>>()
        .map_err(|_| "damaged UTF-16 text")
}

/// UTF-16 without a mark: western text has a zero in nearly every second byte, and never in the others.
fn unmarked_utf16(bytes: &[u8]) -> Option<Encoding> {
    let sample = &bytes[..bytes.len().min(4096) & !1];
    if sample.len() < 4 || bytes.len() % 2 == 1 {
        return None;
    }
    let zeros = |offset: usize| sample.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    let pairs = sample.len() / 2;
    match (zeros(0), zeros(1)) {
        (0, high) if high * 10 >= pairs * 7 => Some(Encoding::Utf16Le),
        (low, 0) if low * 10 >= pairs * 7 => Some(Encoding::Utf16Be),
        _ => None,
    }
}

/// Control characters that no text has make up more than a twentieth of the beginning.
fn mostly_controls(bytes: &[u8]) -> bool {
    let sample = &bytes[..bytes.len().min(4096)];
    let strange =
        sample.iter().filter(|byte| **byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b)).count();
    strange * 20 > sample.len()
}

fn latin1(text: &str) -> Result<Vec<u8>, char> {
    let (bytes, _, unmappable) = WINDOWS_1252.encode(text);
    if !unmappable {
        return Ok(bytes.into_owned());
    }
    Err(text.chars().find(|character| WINDOWS_1252.encode(character.encode_utf8(&mut [0; 4])).2).unwrap_or('\u{fffd}'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(bytes: &[u8]) -> (Encoding, bool, String) {
        let file = TextFile::decode(bytes).unwrap();
        (file.encoding, file.mark, file.text)
    }

    #[test]
    fn the_four_encodings_are_told_apart() {
        assert_eq!(decoded("été".as_bytes()), (Encoding::Utf8, false, "été".to_owned()));
        assert_eq!(decoded(b"\xef\xbb\xbfa"), (Encoding::Utf8, true, "a".to_owned()));
        assert_eq!(decoded(b"\xe9t\xe9 \x80"), (Encoding::Latin1, false, "été €".to_owned()));
        assert_eq!(decoded(b"\xff\xfea\0\xe9\0"), (Encoding::Utf16Le, true, "aé".to_owned()));
        assert_eq!(decoded(b"\xfe\xff\0a\0\xe9"), (Encoding::Utf16Be, true, "aé".to_owned()));
        assert_eq!(decoded(b"b\0o\0n\0"), (Encoding::Utf16Le, false, "bon".to_owned()));
        assert_eq!(decoded(b""), (Encoding::Utf8, false, String::new()));
    }

    #[test]
    fn what_is_no_text_says_so() {
        assert_eq!(TextFile::decode(b"\x7fELF\x02\x01\x01\0\0\0").unwrap_err(), "a program");
        assert_eq!(TextFile::decode(b"abc\0def\0\0x").unwrap_err(), "a binary file");
        assert_eq!(TextFile::decode(b"\xff\xfea\0b").unwrap_err(), "damaged UTF-16 text");
        assert_eq!(TextFile::decode(b"\x89PNG\r\n\x1a\n").unwrap_err(), "a picture");
    }

    #[test]
    fn a_character_without_a_code_is_named() {
        let file = TextFile::decode(b"\xe9").unwrap();
        assert_eq!(file.encode("é→", false), Err('→'));
        assert_eq!(file.encode("€é", true), Ok(vec![0x80, 0xe9]));
    }

    proptest! {
        #[test]
        fn what_decodes_encodes_to_the_same_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(file) = TextFile::decode(&bytes) {
                prop_assert_eq!(file.encode(&file.text, true), Ok(bytes));
            }
        }
    }
}
