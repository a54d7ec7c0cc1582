//! Data that the page unpacks when it is asked for: JSON, deflated (zlib), in base64, within
//! `<script type="text/plain">` elements.
//!
//! ```text
//! t0, t1 …   arrays of texts; equal texts stand once, whatever they belong to
//! d0, d1 …   arrays of passes, which name their texts by number
//! index      sections with their columns, cases and cells; where each pass and each text is
//! ```
//! base64 has no `<`, so that nothing a model wrote can end the element it stands in.

use std::collections::HashMap;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::data::{PagePart, PassPage};

/// Bytes of JSON in one chunk, about: what one click unpacks.
const CHUNK: usize = 192 * 1024;
/// Shorter texts are written where they belong; they compress well.
const SHORT: usize = 120;
/// Characters of one text; `tenpass runs show` has the rest.
const LONGEST: usize = 24_000;
/// The bulk of it is repetitive: a higher level costs time and wins little.
const LEVEL: u32 = 5;

type Hash = [u8; 32];

/// Where something is: number of the chunk, position in it.
type Place = (u32, u32);

/// An array of JSON values that is being filled.
#[derive(Debug)]
struct Chunk {
    prefix: char,
    number: u32,
    count: u32,
    json: Vec<u8>,
}

impl Chunk {
    fn new(prefix: char) -> Self {
        Self { prefix, number: 0, count: 0, json: Vec::new() }
    }

    /// Adds a value and says where it is.
    fn push(&mut self, value: &impl serde::Serialize, out: &mut impl Write) -> io::Result<Place> {
        self.json.push(if self.count == 0 { b'[' } else { b',' });
        serde_json::to_writer(&mut self.json, value)?;
        let place = (self.number, self.count);
        self.count += 1;
        if self.json.len() >= CHUNK {
            self.flush(out)?;
        }
        Ok(place)
    }

    fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.count > 0 {
            self.json.push(b']');
            element(out, &format!("{}{}", self.prefix, self.number), &self.json)?;
            self.json.clear();
            self.count = 0;
            self.number += 1;
        }
        Ok(())
    }
}

/// Writes a packed element.
fn element(out: &mut impl Write, id: &str, json: &[u8]) -> io::Result<()> {
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(json.len() / 4), Compression::new(LEVEL));
    encoder.write_all(json)?;
    let packed = encoder.finish()?;
    writeln!(out, "<script type=\"text/plain\" id=\"{id}\">{}</script>", STANDARD.encode(packed))
}

/// Packs passes and their texts.
#[derive(Debug)]
pub(crate) struct Packer {
    texts: Chunk,
    passes: Chunk,
    known: HashMap<Hash, u32>,
    text_places: Vec<Place>,
    /// Requests by hash: their number, and their parts in the index.
    requests: HashMap<String, u32>,
    request_parts: Vec<Value>,
    /// Section, column, case, pass, class, and where it is.
    listed: Vec<Value>,
    bytes: u64,
}

impl Packer {
    pub(crate) fn new() -> Self {
        Self {
            texts: Chunk::new('t'),
            passes: Chunk::new('d'),
            known: HashMap::new(),
            text_places: Vec::new(),
            requests: HashMap::new(),
            request_parts: Vec::new(),
            listed: Vec::new(),
            bytes: 0,
        }
    }

    /// Bytes of text packed so far, before compression.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Passes packed so far.
    pub(crate) fn count(&self) -> u64 {
        self.listed.len() as u64
    }

    pub(crate) fn knows_request(&self, sha256: &str) -> bool {
        self.requests.contains_key(sha256)
    }

    pub(crate) fn request(&mut self, sha256: &str, parts: &[PagePart], out: &mut impl Write) -> io::Result<()> {
        let parts = self.parts(parts, out)?;
        self.requests.insert(sha256.to_owned(), self.request_parts.len() as u32);
        self.request_parts.push(parts);
        Ok(())
    }

    /// Packs a pass; `case` is the position of its case in its section.
    pub(crate) fn pass(&mut self, pass: &PassPage, case: usize, out: &mut impl Write) -> io::Result<()> {
        let requests: Vec<u32> = pass.requests.iter().filter_map(|sha256| self.requests.get(sha256).copied()).collect();
        let parts = self.parts(&pass.parts, out)?;
        let record = json!({
            "verdict": pass.verdict,
            "reasons": pass.reasons,
            "facts": pass.facts,
            "parts": parts,
            "requests": requests,
            "command": pass.command,
        });
        let (chunk, position) = self.passes.push(&record, out)?;
        // What the list says of it; a right pass has a sign of its own.
        let class = if pass.is_right() { "+" } else { pass.class.map_or("", tenpass_trace::FailureClass::as_str) };
        self.listed.push(json!([pass.section, pass.column, case, pass.pass, class, chunk, position]));
        Ok(())
    }

    /// Titles with their texts: a string where it is short, else the number of the text.
    fn parts(&mut self, parts: &[PagePart], out: &mut impl Write) -> io::Result<Value> {
        let mut packed = Vec::with_capacity(parts.len());
        for part in parts {
            let text = shortened(&part.text);
            let text = if text.len() < SHORT { json!(text) } else { json!(self.text(&text, out)?) };
            packed.push(json!([part.title, text]));
        }
        Ok(Value::Array(packed))
    }

    fn text(&mut self, text: &str, out: &mut impl Write) -> io::Result<u32> {
        let hash: Hash = Sha256::digest(text.as_bytes()).into();
        if let Some(known) = self.known.get(&hash) {
            return Ok(*known);
        }
        let number = self.text_places.len() as u32;
        self.text_places.push(self.texts.push(&text, out)?);
        self.known.insert(hash, number);
        self.bytes += text.len() as u64;
        Ok(number)
    }

    /// Writes what is left, and the index.
    pub(crate) fn finish(mut self, sections: &Value, out: &mut impl Write) -> io::Result<()> {
        self.texts.flush(out)?;
        self.passes.flush(out)?;
        let index = json!({
            "sections": sections,
            "texts": self.text_places,
            "requests": self.request_parts,
            "passes": self.listed,
        });
        element(out, "index", &serde_json::to_vec(&index)?)
    }
}

/// At most so many characters, and a word about the others.
fn shortened(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= LONGEST {
        return text.into();
    }
    match text.char_indices().nth(LONGEST) {
        None => text.into(),
        Some((end, _)) => {
            let all = text.chars().count();
            format!("{}\n… cut here: {LONGEST} of {all} characters", &text[..end]).into()
        }
    }
}

/// What [`element`] packed.
#[cfg(test)]
pub(crate) fn unpack(base64: &str) -> Value {
    use std::io::Read as _;
    let packed = STANDARD.decode(base64.trim()).unwrap();
    let mut json = Vec::new();
    flate2::read::ZlibDecoder::new(packed.as_slice()).read_to_end(&mut json).unwrap();
    serde_json::from_slice(&json).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_stand_once() {
        let long = "You are an assistant. ".repeat(20);
        let mut out = Vec::new();
        let mut packer = Packer::new();
        packer.request("aa", &[PagePart::new("system", long.clone()), PagePart::new("user", "hi")], &mut out).unwrap();
        let pass = PassPage {
            parts: vec![PagePart::new("text", long.clone())],
            requests: vec!["aa".into()],
            ..PassPage::default()
        };
        packer.pass(&pass, 3, &mut out).unwrap();
        assert_eq!((packer.count(), packer.bytes()), (1, long.len() as u64));
        packer.finish(&json!([]), &mut out).unwrap();
        let page = String::from_utf8(out).unwrap();
        let chunk = |id: &str| {
            let start = page.split(&format!("id=\"{id}\">")).nth(1).unwrap();
            unpack(start.split('<').next().unwrap())
        };
        assert_eq!(chunk("t0"), json!([long]));
        assert_eq!(chunk("d0")[0]["parts"], json!([["text", 0]]));
        let index = chunk("index");
        assert_eq!(index["requests"], json!([[["system", 0], ["user", "hi"]]]));
        assert_eq!(index["passes"], json!([[0, 0, 3, 0, "", 0, 0]]));
        assert_eq!(index["texts"], json!([[0, 0]]));
    }

    #[test]
    fn a_text_without_end_is_cut_and_says_so() {
        let text = "é".repeat(LONGEST + 5);
        let cut = shortened(&text);
        assert!(cut.ends_with("cut here: 24000 of 24005 characters"), "{}", &cut[cut.len() - 60..]);
        assert_eq!(shortened(&text[..LONGEST]).len(), LONGEST);
    }
}
