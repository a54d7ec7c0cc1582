//! Reading the records of a journal, without a key: for lists and statistics. Whether they can be
//! trusted is what [`super::verify`] says.

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::de::DeserializeOwned;

use super::JournalError;
use super::line::{Read, parse, read_line};

/// One record.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<T> {
    /// The number of its line.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
    /// The record.
    pub record: T,
}

/// A place between two lines of a journal, from which reading can go on later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    /// Bytes before it.
    pub bytes: u64,
    /// Lines before it.
    pub lines: u64,
}

/// The records of a journal in order, read line by line. A line that cannot be read is an error, and
/// the next one follows; a torn last line is passed over.
#[derive(Debug)]
pub struct Records<T> {
    path: PathBuf,
    reader: Option<BufReader<File>>,
    buffer: Vec<u8>,
    position: Position,
    record: PhantomData<fn() -> T>,
}

/// Opens a journal for reading; a missing file has no records. Another process may be writing it.
pub fn records<T: DeserializeOwned>(path: &Path) -> Result<Records<T>, JournalError> {
    records_from(path, Position::default())
}

/// The same from where another reading ended ([`Records::position`]).
pub fn records_from<T: DeserializeOwned>(path: &Path, position: Position) -> Result<Records<T>, JournalError> {
    let open = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::Start(position.bytes))?;
        Ok(file)
    });
    let reader = match open {
        Ok(file) => Some(BufReader::new(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(JournalError::io("open the journal", path)(error)),
    };
    Ok(Records { path: path.to_owned(), reader, buffer: Vec::new(), position, record: PhantomData })
}

impl<T: DeserializeOwned> Records<T> {
    /// After the last line that was read whole.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The entry of the line in the buffer; `None` for the lines the journal writes about itself.
    fn entry(&self) -> Result<Option<Entry<T>>, String> {
        let line = parse(&self.buffer).map_err(|error| error.to_string())?;
        let Some(record) = line.record else { return Ok(None) };
        let at = line.at.parse().map_err(|error: jiff::Error| error.to_string())?;
        let record = serde_json::from_str(record.get()).map_err(|error| error.to_string())?;
        Ok(Some(Entry { seq: line.seq, at, record }))
    }
}

impl<T: DeserializeOwned> Iterator for Records<T> {
    type Item = Result<Entry<T>, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let read = read_line(self.reader.as_mut()?, &mut self.buffer);
            if let Ok((Read::Whole | Read::TooLong, bytes)) = read {
                self.position.bytes += bytes;
                self.position.lines += 1;
            }
            let entry = match read {
                Err(error) => {
                    self.reader = None;
                    return Some(Err(JournalError::io("read the journal", &self.path)(error)));
                }
                Ok((Read::End | Read::Fragment, _)) => {
                    self.reader = None;
                    return None;
                }
                Ok((Read::TooLong, _)) => Err("it is too long".to_owned()),
                Ok((Read::Whole, _)) => self.entry(),
            };
            match entry {
                Ok(None) => {}
                Ok(Some(entry)) => return Some(Ok(entry)),
                Err(reason) => {
                    return Some(Err(JournalError::Line {
                        path: self.path.clone(),
                        line: self.position.lines,
                        reason,
                    }));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Journal, JournalKey};
    use super::*;

    #[test]
    fn a_bad_line_does_not_hide_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.jsonl");
        assert_eq!(records::<u32>(&path).unwrap().count(), 0);
        let (mut journal, _) = Journal::open(&path, &JournalKey::from_bytes(&[1; 32]), "test").unwrap();
        for number in [1, 2, 3] {
            journal.append(&number).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap().replace("\"record\":2", "\"record\":x");
        std::fs::write(&path, format!("{text}{{\"seq\":4,\"rec")).unwrap();
        let read: Vec<_> = records::<u32>(&path).unwrap().collect();
        assert_eq!(read.len(), 3);
        assert_eq!((read[0].as_ref().unwrap().record, read[2].as_ref().unwrap().record), (1, 3));
        assert!(matches!(&read[1], Err(JournalError::Line { line: 3, .. })));
    }

    #[test]
    fn reading_goes_on_where_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.jsonl");
        let (mut journal, _) = Journal::open(&path, &JournalKey::from_bytes(&[1; 32]), "test").unwrap();
        journal.append(&1).unwrap();
        let mut first = records::<u32>(&path).unwrap();
        assert_eq!(first.by_ref().count(), 1);
        journal.append(&2).unwrap();
        drop(journal);
        // A line that is still being written is read next time.
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let mut torn = records_from::<u32>(&path, first.position()).unwrap();
        assert_eq!((torn.by_ref().count(), torn.position()), (0, first.position()));
        std::fs::write(&path, &whole).unwrap();
        let mut rest = records_from::<u32>(&path, torn.position()).unwrap();
        assert_eq!(rest.next().unwrap().unwrap().record, 2);
        assert_eq!(rest.position(), Position { bytes: whole.len() as u64, lines: 3 });
    }
}
