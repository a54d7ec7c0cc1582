//! One entry of the memory and its line: `- [ISO timestamp] text <!-- id:uuid -->` (K60).

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::Section;
use crate::words::fold;

/// Bytes of an id comment after its opening.
const MAX_ID_COMMENT: usize = 80;

/// One entry as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The section it stands in.
    pub section: Section,
    /// Its id; `None` when the user wrote the line by hand, until the next write gives it one.
    pub id: Option<Uuid>,
    /// When it was written; `None` when the line has no time.
    pub at: Option<Timestamp>,
    /// The text, without time and id; lines that the user wrapped are joined.
    pub text: String,
    /// Its bytes in the file, the last line's ending included.
    pub(super) span: Range<usize>,
    /// The bytes of its id comment.
    pub(super) comment: Option<Range<usize>>,
}

impl Serialize for Entry {
    /// `{"section","id","at","text"}`: what the file says, for `memory show`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entry = serializer.serialize_struct("Entry", 4)?;
        entry.serialize_field("section", &self.section)?;
        entry.serialize_field("id", &self.id.map(|id| id.to_string()))?;
        entry.serialize_field("at", &self.at)?;
        entry.serialize_field("text", &self.text)?;
        entry.end()
    }
}

impl Entry {
    /// The first eight digits of the id: what people and models type.
    pub fn short_id(&self) -> Option<String> {
        self.id.map(|id| id.simple().to_string()[..8].to_owned())
    }

    /// Reads the entry that stands at `span` of the file.
    pub(super) fn read(section: Section, file: &str, span: Range<usize>) -> Self {
        let raw = &file[span.clone()];
        let comment = id_comment(raw);
        let visible = match &comment {
            Some((place, _)) => format!("{}{}", &raw[..place.start], &raw[place.end..]),
            None => raw.to_owned(),
        };
        let joined = visible.split_whitespace().collect::<Vec<_>>().join(" ");
        let body = joined.get(1..).unwrap_or_default().trim_start();
        let (at, text) = split_time(body);
        Self {
            section,
            id: comment.as_ref().map(|(_, id)| *id),
            at,
            text: text.to_owned(),
            comment: comment.map(|(place, _)| span.start + place.start..span.start + place.end),
            span,
        }
    }
}

/// The line of an entry, without its ending. The text has been cleaned.
pub(super) fn line(text: &str, at: Timestamp, id: Uuid) -> String {
    format!("- [{}] {text} {}", seconds(at), id_mark(id))
}

/// The comment that carries an id.
pub(super) fn id_mark(id: Uuid) -> String {
    format!("<!-- id:{id} -->")
}

/// The time without a fraction.
pub(super) fn seconds(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

/// True for a list item with something in it, indented by at most three spaces.
pub(super) fn is_item(line: &str) -> bool {
    let trimmed = line.trim_start_matches(' ');
    let mut characters = trimmed.chars();
    line.len() - trimmed.len() <= 3
        && matches!(characters.next(), Some('-' | '*' | '+'))
        && matches!(characters.next(), Some(' ' | '\t'))
        // A rule such as `* * *` is no list.
        && characters.any(|character| !matches!(character, '-' | '*' | '_' | '+') && !character.is_whitespace())
}

/// True for a line that carries on the item above it.
pub(super) fn is_continuation(line: &str) -> bool {
    (line.starts_with("  ") || line.starts_with('\t')) && !line.trim().is_empty()
}

/// The last id comment of a piece of text.
pub(super) fn id_comment(raw: &str) -> Option<(Range<usize>, Uuid)> {
    let mut end = raw.len();
    while let Some(start) = raw[..end].rfind("<!--") {
        let inside = &raw[start + 4..];
        // An id and the blanks around it are short: looking no further keeps this linear.
        let near = inside.len().min(MAX_ID_COMMENT);
        let length = inside.as_bytes()[..near].windows(3).position(|window| window == b"-->");
        if let Some(length) = length
            && let Some(id) = inside[..length].trim().strip_prefix("id:")
            && let Ok(id) = Uuid::parse_str(id.trim())
        {
            return Some((start..start + 4 + length + 3, id));
        }
        end = start;
    }
    None
}

/// Splits `[time] text`; a bracket that holds no time belongs to the text.
pub(super) fn split_time(body: &str) -> (Option<Timestamp>, &str) {
    let parsed = body.strip_prefix('[').and_then(|rest| rest.split_once(']')).and_then(|(inside, rest)| {
        let time = if inside.len() <= 64 { read_time(inside.trim()) } else { None };
        time.map(|time| (time, rest))
    });
    match parsed {
        Some((time, rest)) => (Some(time), rest.trim()),
        None => (None, body.trim()),
    }
}

/// A time as people write it: with an offset, or without one and then meant as UTC, or only a day.
fn read_time(text: &str) -> Option<Timestamp> {
    let civil = || {
        let moment = text.parse::<DateTime>().ok().or_else(|| Some(text.parse::<Date>().ok()?.at(0, 0, 0, 0)))?;
        Some(moment.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    text.parse::<Timestamp>().ok().or_else(civil)
}

/// What two entries are compared by: folded words, so that case, accents, spacing and punctuation
/// make no difference.
pub fn normalised(text: &str) -> String {
    fold(text)
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

    fn read(line: &str) -> Entry {
        Entry::read(Section::Patterns, line, 0..line.len())
    }

    #[test]
    fn k60_a_line_is_written_as_the_row_says_and_read_back() {
        let at: Timestamp = "2026-03-01T09:30:15.25Z".parse().unwrap();
        let written = line("Prefers tea", at, Uuid::parse_str(ID).unwrap());
        assert_eq!(written, format!("- [2026-03-01T09:30:15Z] Prefers tea <!-- id:{ID} -->"));
        let entry = read(&written);
        assert_eq!(entry.text, "Prefers tea");
        assert_eq!(entry.at, Some("2026-03-01T09:30:15Z".parse().unwrap()));
        assert_eq!(entry.short_id().as_deref(), Some("0f8fad5b"));
    }

    #[test]
    fn lines_written_by_hand_are_read() {
        assert_eq!(read("* tea").text, "tea");
        assert_eq!(read("- [ ] call Ana").text, "[ ] call Ana");
        let dated = read("- [2026-03-01] Ana is back");
        assert_eq!(
            (dated.text.as_str(), dated.at.unwrap().to_string().as_str()),
            ("Ana is back", "2026-03-01T00:00:00Z")
        );
        let offset = read("- [2026-03-01T10:30+01:00] x");
        assert_eq!(offset.at, Some("2026-03-01T09:30:00Z".parse().unwrap()));
        assert_eq!(read("- [2026-03-01 10:30] x").at, Some("2026-03-01T10:30:00Z".parse().unwrap()));
        let wrapped = read(&format!("- one\n  two <!-- id:{ID} -->\n"));
        assert_eq!((wrapped.text.as_str(), wrapped.id.is_some()), ("one two", true));
        assert_eq!(read("- x <!-- id:nonsense -->").id, None);
        assert_eq!(read(&format!("- x <!-- id:{ID} --> and more")).text, "x and more");
    }

    #[test]
    fn what_is_an_item() {
        assert!(is_item("- a") && is_item("   * a") && is_item("+\ta"));
        assert!(!is_item("    - a") && !is_item("-a") && !is_item("- ") && !is_item("* * *") && !is_item("---"));
    }

    #[test]
    fn comparison_ignores_form() {
        assert_eq!(normalised("  Préfère le THÉ !"), normalised("prefere le the"));
    }
}
