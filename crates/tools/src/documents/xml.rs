//! The XML of office formats as a stream: no tree, no entities but the predefined ones.

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::error::DocumentError;

/// What the office parsers need of an event. Names are without their namespace prefix.
pub(crate) enum Piece<'a> {
    /// An element begins.
    Start(&'a str, &'a BytesStart<'a>),
    /// An element ends (after `Start`, for empty ones too).
    End(&'a str),
    /// Text, entities resolved.
    Text(&'a str),
}

/// Walks a document; `take` returns false to stop early.
pub(crate) fn walk(
    xml: &str,
    kind: &'static str,
    mut take: impl FnMut(Piece<'_>) -> Result<bool, DocumentError>,
) -> Result<(), DocumentError> {
    let mut reader = Reader::from_str(xml);
    loop {
        let event = reader.read_event().map_err(|error| DocumentError::Damaged { kind, reason: error.to_string() })?;
        let go_on = match &event {
            Event::Start(start) => take(Piece::Start(start.local_name().into_inner(), start))?,
            Event::Empty(start) => {
                take(Piece::Start(start.local_name().into_inner(), start))?
                    && take(Piece::End(start.local_name().into_inner()))?
            }
            Event::End(end) => take(Piece::End(end.local_name().into_inner()))?,
            Event::Text(text) => take(Piece::Text(&text.xml10_content()))?,
            Event::CData(text) => take(Piece::Text(&text.xml10_content()))?,
            Event::GeneralRef(reference) => match resolve(reference) {
                Some(character) => take(Piece::Text(character.encode_utf8(&mut [0; 4])))?,
                None => true,
            },
            Event::Eof => false,
            _ => true,
        };
        if !go_on {
            return Ok(());
        }
    }
}

fn resolve(reference: &BytesRef<'_>) -> Option<char> {
    if reference.is_char_ref() {
        return reference.resolve_char_ref().ok().flatten();
    }
    match &*reference.xml10_content() {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

/// An attribute's value, by its name without prefix.
pub(crate) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    element
        .attributes()
        .with_checks(false)
        .flatten()
        .find(|attribute| attribute.key.local_name().into_inner() == name)
        .and_then(|attribute| Some(attribute.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned()))
}
