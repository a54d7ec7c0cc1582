//! One line of a journal, as bytes and as its parts.

use std::fmt;
use std::io::{self, BufRead};
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{JournalError, JournalKey, LINE_BYTES};

/// An HMAC-SHA256, 64 lower-case hexadecimal digits as text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mac(pub(super) [u8; 32]);

impl Mac {
    /// What stands before the first line.
    pub(super) const ZERO: Self = Self([0; 32]);
}

impl fmt::Display for Mac {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Mac {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Mac({self})")
    }
}

impl FromStr for Mac {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let mut bytes = [0; 32];
        let pairs = text.as_bytes().chunks(2);
        if text.len() == 64 {
            for (byte, pair) in bytes.iter_mut().zip(pairs) {
                let (Some(high), Some(low)) = (digit(pair[0]), digit(pair[1])) else {
                    return Err(format!("{text:?} is not lower-case hexadecimal"));
                };
                *byte = high << 4 | low;
            }
            return Ok(Self(bytes));
        }
        Err(format!("{} bytes instead of 64 hexadecimal digits", text.len()))
    }
}

impl Serialize for Mac {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Mac {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The last line of a journal: whoever knows it notices when the line is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Its number, 0 for the first line of the file.
    pub seq: u64,
    /// Its MAC, which covers every line before it.
    pub mac: Mac,
}

/// The head of another journal, written into this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Anchor {
    pub(super) journal: String,
    #[serde(flatten)]
    pub(super) head: Head,
}

/// What the journal says about itself, in lines of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Notice {
    /// A write was cut off here; its bytes were moved to another file.
    Torn { bytes: u64, saved_as: String },
    /// The journal was known to have had this head, and has not.
    CutTail { journal: String, seq: u64, mac: Mac },
}

/// The parts of a line in the order they stand in. The first line has `journal`, `version` and
/// `key`; any other has a `record` or a `notice`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Line<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) journal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
    pub(super) seq: u64,
    pub(super) at: String,
    pub(super) prev: Mac,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) anchor: Option<Anchor>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) notice: Option<Notice>,
}

const MAC_FIELD: &[u8] = b",\"mac\":\"";
const CLOSING: &[u8] = b"\"}";
const MAC_LENGTH: usize = MAC_FIELD.len() + 64 + CLOSING.len();

/// The MAC of a line: over the name of its journal and all bytes before the field `mac`.
fn mac(key: &JournalKey, journal: &str, body: &[u8]) -> Mac {
    key.mac(&[b"tenpass journal line\0", journal.as_bytes(), b"\0", body])
}

impl Line<'_> {
    /// The bytes of the line, newline included, and its MAC.
    pub(super) fn seal(&self, key: &JournalKey, journal: &str) -> Result<(Vec<u8>, Mac), JournalError> {
        let mut bytes = serde_json::to_vec(self).map_err(|source| JournalError::Encode { source })?;
        bytes.pop();
        if bytes.len() + MAC_LENGTH >= LINE_BYTES {
            return Err(JournalError::TooLong { bytes: bytes.len() });
        }
        let mac = mac(key, journal, &bytes);
        bytes.extend_from_slice(MAC_FIELD);
        bytes.extend_from_slice(mac.to_string().as_bytes());
        bytes.extend_from_slice(CLOSING);
        bytes.push(b'\n');
        Ok((bytes, mac))
    }
}

/// The parts of a line's bytes (without the newline), whether it is authentic or not.
pub(super) fn parse(bytes: &[u8]) -> serde_json::Result<Line<'_>> {
    serde_json::from_slice(bytes)
}

/// The MAC of a line's bytes (without the newline), if it is the right one.
pub(super) fn authenticate(key: &JournalKey, journal: &str, bytes: &[u8]) -> Option<Mac> {
    let body = &bytes[..bytes.len().checked_sub(MAC_LENGTH)?];
    let field = bytes[body.len()..].strip_prefix(MAC_FIELD)?.strip_suffix(CLOSING)?;
    let found: Mac = std::str::from_utf8(field).ok()?.parse().ok()?;
    let right = mac(key, journal, body);
    bool::from(subtle::ConstantTimeEq::ct_eq(&found.0[..], &right.0[..])).then_some(right)
}

/// How reading one line went.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// A line of at most [`LINE_BYTES`], its newline removed.
    Whole,
    /// A longer line; its end was skipped.
    TooLong,
    /// Bytes without a newline at the end of the file.
    Fragment,
    /// Nothing is left.
    End,
}

/// Reads a line into `buffer`, never more than [`LINE_BYTES`] of it. Returns how many bytes of the
/// file it takes.
pub(super) fn read_line(reader: &mut impl BufRead, buffer: &mut Vec<u8>) -> io::Result<(Read, u64)> {
    buffer.clear();
    let (mut taken, mut long) = (0_u64, false);
    loop {
        let available = reader.fill_buf()?;
        if available.is_empty() {
            let read = if taken == 0 { Read::End } else { Read::Fragment };
            return Ok((read, taken));
        }
        let newline = available.iter().position(|byte| *byte == b'\n');
        let part = newline.unwrap_or(available.len());
        let room = LINE_BYTES.saturating_sub(buffer.len());
        long |= part > room;
        buffer.extend_from_slice(&available[..part.min(room)]);
        let used = part + usize::from(newline.is_some());
        reader.consume(used);
        taken += used as u64;
        if newline.is_some() {
            return Ok((if long { Read::TooLong } else { Read::Whole }, taken));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_documented_shape() {
        let key = JournalKey::from_bytes(&[7; 32]);
        let record = serde_json::value::to_raw_value(&serde_json::json!({ "tool": "read_file" })).unwrap();
        let line = Line {
            journal: None,
            version: None,
            key: None,
            seq: 12,
            at: "2025-03-03T10:00:00.000Z".into(),
            prev: Mac::ZERO,
            anchor: Some(Anchor { journal: "intentions".into(), head: Head { seq: 7, mac: Mac([0xab; 32]) } }),
            record: Some(&record),
            notice: None,
        };
        let (bytes, mac) = line.seal(&key, "orchestrator-trace").unwrap();
        let expected = format!(
            "{{\"seq\":12,\"at\":\"2025-03-03T10:00:00.000Z\",\"prev\":\"{}\",\"anchor\":{{\"journal\":\"intentions\",\
             \"seq\":7,\"mac\":\"{}\"}},\"record\":{{\"tool\":\"read_file\"}},\"mac\":\"{mac}\"}}\n",
            "0".repeat(64),
            "ab".repeat(32)
        );
        assert_eq!(String::from_utf8(bytes.clone()).unwrap(), expected);
        let bytes = &bytes[..bytes.len() - 1];
        assert_eq!(authenticate(&key, "orchestrator-trace", bytes), Some(mac));
        assert_eq!(authenticate(&key, "intentions", bytes), None);
        let parsed = parse(bytes).unwrap();
        assert_eq!((parsed.seq, parsed.anchor, parsed.record.unwrap().get()), (12, line.anchor, record.get()));
    }

    #[test]
    fn long_lines_are_not_kept_in_memory() {
        let text = [vec![b'a'; LINE_BYTES + 5], b"\nshort\nrest".to_vec()].concat();
        let mut reader = io::BufReader::with_capacity(7, text.as_slice());
        let mut buffer = Vec::new();
        assert_eq!(read_line(&mut reader, &mut buffer).unwrap(), (Read::TooLong, LINE_BYTES as u64 + 6));
        assert_eq!(buffer.len(), LINE_BYTES);
        assert_eq!(read_line(&mut reader, &mut buffer).unwrap(), (Read::Whole, 6));
        assert_eq!(buffer, b"short");
        assert_eq!(read_line(&mut reader, &mut buffer).unwrap(), (Read::Fragment, 4));
        assert_eq!(read_line(&mut reader, &mut buffer).unwrap(), (Read::End, 0));
    }
}
