//! Bytes → lines ended by LF, CRLF or CR.

use super::Fault;

/// Cuts a byte stream into lines. A line is decoded as UTF-8 only when it is whole, so a
/// character split between two reads is never damaged.
#[derive(Debug)]
pub(crate) struct Lines {
    buffer: Vec<u8>,
    /// Bytes of `buffer` already given out.
    start: usize,
    /// Bytes of `buffer` already searched for an end of line.
    searched: usize,
    /// The last line ended in CR: an LF that follows belongs to it.
    after_cr: bool,
    limit: usize,
}

impl Lines {
    pub(crate) fn new(limit: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, searched: 0, after_cr: false, limit }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole line, without its end.
    pub(crate) fn next_line(&mut self) -> Result<Option<String>, Fault> {
        if self.after_cr && self.start < self.buffer.len() {
            self.after_cr = false;
            if self.buffer[self.start] == b'\n' {
                self.start += 1;
                self.searched = self.searched.max(self.start);
            }
        }
        let unsearched = &self.buffer[self.searched..];
        let Some(offset) = unsearched.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.searched = self.buffer.len();
            return if self.buffer.len() - self.start > self.limit { Err(self.too_long()) } else { Ok(None) };
        };
        let end = self.searched + offset;
        self.after_cr = self.buffer[end] == b'\r';
        let line = &self.buffer[self.start..end];
        if line.len() > self.limit {
            return Err(self.too_long());
        }
        let line = text(line)?;
        self.start = end + 1;
        self.searched = self.start;
        Ok(Some(line))
    }

    /// What is left without an end of line.
    pub(crate) fn rest(&mut self) -> Result<String, Fault> {
        let rest = text(&self.buffer[self.start..])?;
        self.buffer.clear();
        self.start = 0;
        self.searched = 0;
        Ok(rest)
    }

    fn too_long(&self) -> Fault {
        Fault::Protocol(format!("a line longer than {} bytes", self.limit))
    }
}

fn text(bytes: &[u8]) -> Result<String, Fault> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) if error.error_len().is_none() => Err(Fault::Truncated),
        Err(_) => Err(Fault::Protocol("bytes that are not UTF-8".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(chunks: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::new(1000);
        let mut all = Vec::new();
        for chunk in chunks {
            lines.push(chunk);
            while let Some(line) = lines.next_line().unwrap() {
                all.push(line);
            }
        }
        all.push(lines.rest().unwrap());
        all
    }

    #[test]
    fn every_end_of_line_counts_once() {
        assert_eq!(read(&[b"a\nb\r\nc\rd\r", b"\ne\n\nf"]), ["a", "b", "c", "d", "e", "", "f"]);
        assert_eq!(read(&[b"a\r", b"b"]), ["a", "b"]);
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut lines = Lines::new(10);
        lines.push(&[b'x'; 11]);
        assert!(matches!(lines.next_line(), Err(Fault::Protocol(what)) if what.contains("10 bytes")));
    }

    #[test]
    fn damaged_and_cut_characters_are_told_apart() {
        let mut lines = Lines::new(10);
        lines.push(b"\xff\n");
        assert!(matches!(lines.next_line(), Err(Fault::Protocol(_))));
        let mut lines = Lines::new(10);
        lines.push(&"é".as_bytes()[..1]);
        assert_eq!(lines.rest(), Err(Fault::Truncated));
    }

    proptest! {
        #[test]
        fn cuts_do_not_matter(text in "[a\u{e9}\u{1F600}\r\n]{0,40}", cuts in prop::collection::vec(0usize..200, 0..6)) {
            let bytes = text.as_bytes();
            let mut places: Vec<usize> = cuts.into_iter().map(|cut| cut % (bytes.len() + 1)).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let chunks: Vec<&[u8]> = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&chunks), read(&[bytes]));
        }
    }
}
