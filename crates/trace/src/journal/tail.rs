//! The ends of a journal: its first line, and its last lines found from the end of the file, so that
//! opening costs the same for a file of any length.

use std::fs::File;
use std::io::{self, Read as _, Seek, SeekFrom};

use super::LINE_BYTES;

/// First step backwards from the end.
const STEP: u64 = 64 * 1024;
/// A line of the cap, the one before it, and a fragment.
const MOST: u64 = 3 * LINE_BYTES as u64;

/// The end of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// The last complete lines without their newlines, at most two, oldest first.
    pub(super) lines: Vec<Vec<u8>>,
    /// Bytes after the last newline.
    pub(super) fragment: Vec<u8>,
    /// Where the fragment begins.
    pub(super) end_of_lines: u64,
}

/// Reads the end of a file of this length.
pub(super) fn tail(file: &mut File, length: u64) -> io::Result<Tail> {
    let mut size = STEP.min(length);
    loop {
        let start = length - size;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.by_ref().take(size).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != size {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file shrank while it was read"));
        }
        let newlines = bytes.split(|byte| *byte == b'\n').count() - 1;
        if start == 0 || newlines >= 3 {
            return Ok(split(&bytes, start));
        }
        if size >= MOST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its last lines are longer than any line may be"));
        }
        size = (size * 4).min(MOST).min(length);
    }
}

/// `bytes` begins at `start`; what stands before its first newline is a whole line only at 0.
fn split(bytes: &[u8], start: u64) -> Tail {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let mut lines: Vec<Vec<u8>> = Vec::new();
    if end > 0 {
        let complete = &bytes[..end - 1];
        let skipped = usize::from(start > 0);
        let all: Vec<&[u8]> = complete.split(|byte| *byte == b'\n').skip(skipped).collect();
        lines = all.iter().rev().take(2).rev().map(|line| line.to_vec()).collect();
    }
    Tail { lines, fragment: bytes[end..].to_vec(), end_of_lines: start + end as u64 }
}

/// The first line of a file without its newline, if it has one within `cap` bytes.
pub(super) fn first_line(file: &mut File, cap: u64) -> io::Result<Option<Vec<u8>>> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.by_ref().take(cap).read_to_end(&mut bytes)?;
    let newline = bytes.iter().position(|byte| *byte == b'\n');
    Ok(newline.map(|newline| {
        bytes.truncate(newline);
        bytes
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn tail_of(bytes: &[u8]) -> Tail {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        tail(&mut file, bytes.len() as u64).unwrap()
    }

    #[test]
    fn the_last_two_lines_and_the_fragment_are_found() {
        let cases: [(&str, &[&str], &str); 6] = [
            ("", &[], ""),
            ("fragment", &[], "fragment"),
            ("a\n", &["a"], ""),
            ("a\nb", &["a"], "b"),
            ("a\nb\nc\nd", &["b", "c"], "d"),
            ("a\n\n", &["a", ""], ""),
        ];
        for (text, lines, fragment) in cases {
            let tail = tail_of(text.as_bytes());
            assert_eq!(tail.lines, lines.iter().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>(), "{text:?}");
            assert_eq!((tail.fragment, tail.end_of_lines as usize), (fragment.into(), text.len() - fragment.len()));
        }
    }

    #[test]
    fn long_lines_make_it_read_further_back() {
        let long = "x".repeat(200_000);
        let text = format!("{long}\n{long}y\n{long}z\nrest");
        let tail = tail_of(text.as_bytes());
        assert_eq!(tail.lines, [format!("{long}y").into_bytes(), format!("{long}z").into_bytes()]);
        assert_eq!(tail.fragment, b"rest");
    }

    #[test]
    fn a_file_of_200_megabytes_is_not_read_whole() {
        let mut file = tempfile::tempfile().unwrap();
        file.set_len(200 * 1024 * 1024).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        file.write_all(b"\nfirst\nsecond\n").unwrap();
        let length = file.metadata().unwrap().len();
        let tail = tail(&mut file, length).unwrap();
        assert_eq!(tail.lines, [b"first".to_vec(), b"second".to_vec()]);
        assert!(first_line(&mut file, 4096).unwrap().is_none());
    }
}
