//! Files of JSON lines: reading with positions, appending in one write, and the torn last line.
//!
//! A line counts once its newline is on disk. Whatever follows the last newline was being written
//! when the process or the machine stopped; it is never read and is cut off before appending.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::StoreError;

/// Length of the part of a file that ends with its last newline.
pub(crate) fn trusted_length(file: &mut File) -> io::Result<u64> {
    const BLOCK: u64 = 64 * 1024;
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut block = Vec::with_capacity(BLOCK as usize);
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        file.take(end - start).read_to_end(&mut block)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// The position of a line in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Byte offset of its first byte.
    pub(crate) offset: u64,
    /// Bytes without the newline.
    pub(crate) length: u64,
    /// Counted from 1.
    pub(crate) number: u64,
}

/// Reads complete lines one after the other into one reused buffer.
pub(crate) struct LineReader {
    path: PathBuf,
    input: BufReader<File>,
    buffer: Vec<u8>,
    next: Place,
}

impl LineReader {
    /// Starts at the beginning; a file that does not exist has no lines.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        Self::open_at(path, 0, 0)
    }

    /// Starts at `offset`, which must follow a newline, after `lines` lines.
    pub(crate) fn open_at(path: &Path, offset: u64, lines: u64) -> Result<Option<Self>, StoreError> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::read(path, error)),
        };
        file.seek(SeekFrom::Start(offset)).map_err(|error| StoreError::read(path, error))?;
        Ok(Some(Self {
            path: path.to_owned(),
            input: BufReader::with_capacity(128 * 1024, file),
            buffer: Vec::new(),
            next: Place { offset, length: 0, number: lines + 1 },
        }))
    }

    /// The next complete line, without its newline; `None` at the end or before a torn line.
    pub(crate) fn next(&mut self) -> Result<Option<(Place, &[u8])>, StoreError> {
        self.buffer.clear();
        let count =
            self.input.read_until(b'\n', &mut self.buffer).map_err(|error| StoreError::read(&self.path, error))?;
        if self.buffer.pop_if(|byte| *byte == b'\n').is_none() {
            return Ok(None);
        }
        let place = Place { length: self.buffer.len() as u64, ..self.next };
        self.next = Place { offset: place.offset + count as u64, length: 0, number: place.number + 1 };
        Ok(Some((place, &self.buffer)))
    }

    /// Where the next line would begin, and how many lines came before it.
    pub(crate) fn position(&self) -> (u64, u64) {
        (self.next.offset, self.next.number - 1)
    }
}

/// Parses one line, or says where it is and what is wrong with it.
pub(crate) fn parse_line<'a, T: serde::Deserialize<'a>>(
    path: &Path,
    place: Place,
    bytes: &'a [u8],
) -> Result<T, StoreError> {
    serde_json::from_slice(bytes).map_err(|error| StoreError::line(path, place.number, error.to_string()))
}

/// All records of a small file.
pub(crate) fn read_all<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, StoreError> {
    let mut records = Vec::new();
    if let Some(mut reader) = LineReader::open(path)? {
        while let Some((place, bytes)) = reader.next()? {
            records.push(parse_line(path, place, bytes)?);
        }
    }
    Ok(records)
}

/// The record at a known place.
pub(crate) fn read_at<T: DeserializeOwned>(path: &Path, file: &mut File, place: Place) -> Result<T, StoreError> {
    let mut bytes = vec![0; place.length as usize];
    file.seek(SeekFrom::Start(place.offset))
        .and_then(|_| file.read_exact(&mut bytes))
        .map_err(|error| StoreError::read(path, error))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| StoreError::line(path, place.number, format!("at byte {}: {error}", place.offset)))
}

/// What appending needs of a file; a test replaces it by one that runs out of space.
pub(crate) trait AppendFile: Send {
    /// Appends all bytes, or fails having written some of them.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Cuts the file to `length` bytes.
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// Brings everything to the disk.
    fn sync(&mut self) -> io::Result<()>;
}

impl AppendFile for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// How files are opened for appending.
pub(crate) type OpenAppend = fn(&Path) -> io::Result<Box<dyn AppendFile>>;

/// The real way.
pub(crate) fn open_append(path: &Path) -> io::Result<Box<dyn AppendFile>> {
    Ok(Box::new(OpenOptions::new().create(true).append(true).open(path)?))
}

/// A file of JSON lines that is being appended to.
pub(crate) struct LineFile {
    path: PathBuf,
    file: Box<dyn AppendFile>,
    length: u64,
    buffer: Vec<u8>,
}

impl LineFile {
    /// Opens for appending, cutting off a torn last line first.
    pub(crate) fn open(path: PathBuf, open: OpenAppend) -> Result<Self, StoreError> {
        let length = match File::open(&path) {
            Ok(mut file) => trusted_length(&mut file).map_err(|error| StoreError::read(&path, error))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(StoreError::read(&path, error)),
        };
        let prepared = open(&path).and_then(|mut file| file.cut(length).map(|()| file));
        let file = prepared.map_err(|error| StoreError::write(&path, error))?;
        Ok(Self { path, file, length, buffer: Vec::new() })
    }

    /// Appends one record in one write. When that fails, what was written of it is cut off again;
    /// should even that fail, the missing newline still marks it as torn.
    pub(crate) fn push<T: Serialize>(&mut self, record: &T) -> Result<(), StoreError> {
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, record)
            .map_err(|error| StoreError::Encode { path: self.path.clone(), reason: error.to_string() })?;
        self.buffer.push(b'\n');
        if let Err(error) = self.file.append(&self.buffer) {
            let _ = self.file.cut(self.length);
            return Err(StoreError::write(&self.path, error));
        }
        self.length += self.buffer.len() as u64;
        Ok(())
    }

    /// Brings everything to the disk.
    pub(crate) fn sync(&mut self) -> Result<(), StoreError> {
        self.file.sync().map_err(|error| StoreError::write(&self.path, error))
    }
}

/// Writes a whole file so that readers see the old one or the new one, never half of it.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let partial = path.with_extension("partial");
    let written = File::create(&partial).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| std::fs::rename(&partial, path)).map_err(|error| {
        let _ = std::fs::remove_file(&partial);
        StoreError::write(path, error)
    })
}
