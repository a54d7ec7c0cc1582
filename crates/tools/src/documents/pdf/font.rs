//! From the codes of a font to characters.

use lopdf::{Dictionary, Document as Pdf, Encoding, Object};
use unicode_normalization::UnicodeNormalization;

use super::widths::Widths;
use super::{STREAM_BYTES, number};

/// A font, ready to decode.
pub(crate) struct Font<'a> {
    /// What the file says the codes mean (`ToUnicode`).
    unicode: Option<Encoding<'static>>,
    /// What the font's encoding says they mean.
    encoding: Option<Encoding<'a>>,
    /// Bytes of one code.
    pub(crate) code_bytes: usize,
    widths: Widths,
}

/// One shown code.
pub(crate) struct Glyph {
    /// Its text; empty when nobody knows.
    pub(crate) text: String,
    /// Its width as a fraction of the font's size.
    pub(crate) width: f64,
    /// It is the single byte 32, which word spacing applies to.
    pub(crate) space: bool,
}

impl<'a> Font<'a> {
    pub(crate) fn new(font: &'a Dictionary, pdf: &'a Pdf) -> Self {
        let subtype = font.get_deref(b"Subtype", pdf).and_then(Object::as_name).unwrap_or_default();
        let composite = subtype == b"Type0";
        let widths = if composite {
            let descendant = font
                .get_deref(b"DescendantFonts", pdf)
                .and_then(Object::as_array)
                .ok()
                .and_then(|fonts| pdf.dereference(fonts.first()?).ok()?.1.as_dict().ok());
            descendant.map_or(Widths::Standard(None), |descendant| Widths::composite(descendant, pdf))
        } else {
            Widths::simple(font, pdf, glyph_scale(font, pdf, subtype))
        };
        let unicode = to_unicode(font, pdf);
        // Without a map, a composite font's codes are numbers of glyphs, not of characters.
        let encoding = font.get_font_encoding_with_limit(pdf, STREAM_BYTES).ok();
        let encoding = encoding.filter(|encoding| !composite || !matches!(encoding, Encoding::OneByteEncoding(_)));
        Self { unicode, encoding, code_bytes: if composite { 2 } else { 1 }, widths }
    }

    /// Decodes one code.
    pub(crate) fn glyph(&self, code: &[u8]) -> Glyph {
        let decoded = |encoding: &Option<Encoding<'_>>| {
            let text = encoding.as_ref()?.bytes_to_string(code).ok()?;
            (!text.is_empty() && !text.contains('\u{fffd}')).then_some(text)
        };
        let text = decoded(&self.unicode).or_else(|| decoded(&self.encoding)).map(plain).unwrap_or_default();
        let number = code.iter().fold(0_i64, |number, byte| number << 8 | i64::from(*byte));
        Glyph { width: self.widths.of(number, &text), space: code == b" ", text }
    }
}

/// Type 3 fonts measure in a space of their own.
fn glyph_scale(font: &Dictionary, pdf: &Pdf, subtype: &[u8]) -> f64 {
    if subtype != b"Type3" {
        return 1.0;
    }
    let matrix = font.get_deref(b"FontMatrix", pdf).and_then(Object::as_array).ok();
    matrix.and_then(|matrix| number(matrix.first()?)).map_or(1.0, |scale| scale * 1000.0)
}

/// The font's own map to characters. A copy of the font without its encoding makes the library
/// look at the map first.
fn to_unicode(font: &Dictionary, pdf: &Pdf) -> Option<Encoding<'static>> {
    font.get_deref(b"ToUnicode", pdf).and_then(Object::as_stream).ok()?;
    let mut bare = Dictionary::new();
    bare.set("Type", Object::Name(b"Font".to_vec()));
    bare.set("ToUnicode", font.get(b"ToUnicode").ok()?.clone());
    match bare.get_font_encoding_with_limit(pdf, STREAM_BYTES) {
        Ok(Encoding::UnicodeMapEncoding(map)) => Some(Encoding::UnicodeMapEncoding(map)),
        _ => None,
    }
}

/// Ligatures are letters; control characters are nothing.
fn plain(text: String) -> String {
    if text.chars().all(|character| !character.is_control() && !('\u{fb00}'..='\u{fb06}').contains(&character)) {
        return text;
    }
    text.chars()
        .filter(|character| !character.is_control())
        .flat_map(|character| {
            let ligature = ('\u{fb00}'..='\u{fb06}').contains(&character);
            let letters: Vec<char> = if ligature { character.nfkc().collect() } else { vec![character] };
            letters
        })
        .collect()
}
