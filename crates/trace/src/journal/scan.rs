//! One pass over a journal file: which lines are authentic, and what they say.

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::Path;

use super::JournalKey;
use super::line::{Anchor, Mac, Notice, Read, authenticate, parse, read_line};

/// One complete line.
#[derive(Debug)]
pub(super) struct Scanned {
    /// Its number in the file, from 1.
    pub(super) number: u64,
    pub(super) state: State,
}

/// What a line is worth.
#[derive(Debug)]
pub(super) enum State {
    /// Its MAC is right.
    Authentic { seq: u64, prev: Mac, mac: Mac },
    /// It is not; `seq` is what it says of itself, if it is JSON at all.
    Bad { seq: Option<u64>, json: bool },
}

/// What the first line says, authentic or not.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub(super) journal: Option<String>,
    pub(super) version: Option<u32>,
    pub(super) key: Option<String>,
    /// It is authentic as the first line of the journal it names.
    pub(super) authentic_as_named: bool,
}

/// The lines read so far. The file may be growing: [`Scan::advance`] reads on.
#[derive(Debug)]
pub(super) struct Scan<'a> {
    key: &'a JournalKey,
    name: &'a str,
    file: File,
    offset: u64,
    count: u64,
    pub(super) lines: Vec<Scanned>,
    pub(super) header: Header,
    /// Of authentic lines, with the numbers of the lines.
    pub(super) anchors: Vec<(u64, Anchor)>,
    /// Of authentic lines, with the numbers of the lines.
    pub(super) notices: Vec<(u64, Notice)>,
    /// Bytes after the last newline that are no line.
    pub(super) fragment: Option<u64>,
    /// The last line is whole but for its newline.
    pub(super) lacks_newline: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn open(path: &Path, key: &'a JournalKey, name: &'a str) -> io::Result<Self> {
        Ok(Self {
            key,
            name,
            file: File::open(path)?,
            offset: 0,
            count: 0,
            lines: Vec::new(),
            header: Header::default(),
            anchors: Vec::new(),
            notices: Vec::new(),
            fragment: None,
            lacks_newline: false,
        })
    }

    /// Reads to the end of the file as it is now.
    pub(super) fn advance(&mut self) -> io::Result<()> {
        if self.lacks_newline {
            return Ok(());
        }
        self.file.seek(SeekFrom::Start(self.offset))?;
        let mut reader = BufReader::with_capacity(256 * 1024, self.file.try_clone()?);
        let mut buffer = Vec::new();
        loop {
            let (read, bytes) = read_line(&mut reader, &mut buffer)?;
            self.fragment = None;
            match read {
                Read::End => return Ok(()),
                Read::Fragment if authenticate(self.key, self.name, &buffer).is_some() => {
                    self.line(&buffer);
                    self.lacks_newline = true;
                    return Ok(());
                }
                Read::Fragment => {
                    self.fragment = Some(bytes);
                    return Ok(());
                }
                Read::Whole => self.line(&buffer),
                Read::TooLong => self.push(State::Bad { seq: None, json: false }),
            }
            self.offset += bytes;
        }
    }

    fn push(&mut self, state: State) {
        self.count += 1;
        self.lines.push(Scanned { number: self.count, state });
    }

    fn line(&mut self, bytes: &[u8]) {
        let parsed = parse(bytes).ok();
        if self.count == 0 {
            self.read_header(bytes);
        }
        match (authenticate(self.key, self.name, bytes), parsed) {
            (Some(mac), Some(line)) => {
                self.push(State::Authentic { seq: line.seq, prev: line.prev, mac });
                self.anchors.extend(line.anchor.map(|anchor| (self.count, anchor)));
                self.notices.extend(line.notice.map(|notice| (self.count, notice)));
            }
            (_, parsed) => self.push(State::Bad { seq: parsed.as_ref().map(|line| line.seq), json: is_json(bytes) }),
        }
    }

    fn read_header(&mut self, bytes: &[u8]) {
        let Ok(line) = parse(bytes) else { return };
        let as_named = line.journal.as_deref().and_then(|journal| authenticate(self.key, journal, bytes));
        self.header = Header {
            journal: line.journal,
            version: line.version,
            key: line.key,
            authentic_as_named: as_named.is_some(),
        };
    }
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}
