//! Files that only grow: one JSON value a line, flushed to the disk before anything builds on it.
//!
//! A line may be cut off by a crash while it is written: reading passes over such a last line, and the next
//! append begins on a line of its own. Records are chained as well: each line carries the SHA-256 of the line before,
//! so that a measurement that was taken out or changed is noticed.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Largest file that is read: a year of shadow.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// What is wrong with a file of records.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// It cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line is not what it should be.
    #[error("{path}:{line}: {problem}")]
    Line {
        /// The file.
        path: PathBuf,
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

impl RecordError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { .. } => "check the path and its permissions",
            Self::Line { .. } => {
                "records only grow: restore the file from a backup, or move it away to begin a new one"
            }
        }
    }

    pub(crate) fn file(path: &Path, source: std::io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }
}

/// Hexadecimal SHA-256.
pub fn digest(bytes: &[u8]) -> String {
    crate::features::hex(&Sha256::digest(bytes))
}

/// SHA-256 of a file.
pub fn digest_file(path: &Path) -> Result<String, RecordError> {
    let failed = |source| RecordError::file(path, source);
    let mut file = File::open(path).map_err(failed)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = file.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
    }
    Ok(crate::features::hex(&hash.finalize()))
}

/// Appends to a file of lines.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    file: File,
}

impl Lines {
    /// Opens it, creating it and its folder where needed.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let failed = |source| RecordError::file(path, source);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path).map_err(failed)?;
        // A line that a crash has cut off stays a line of its own.
        let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
        if length > 0 {
            let mut last = [0];
            file.seek(SeekFrom::End(-1)).and_then(|_| file.read_exact(&mut last)).map_err(failed)?;
            if last != [b'\n'] {
                file.write_all(b"\n").map_err(failed)?;
            }
        }
        Ok(Self { path: path.to_owned(), file })
    }

    /// Appends a value and flushes it to the disk.
    pub fn append(&mut self, value: &impl Serialize) -> Result<(), RecordError> {
        let failed = |source| RecordError::file(&self.path, source);
        let mut line = serde_json::to_vec(value).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        self.file.write_all(&line).and_then(|()| self.file.sync_data()).map_err(failed)
    }
}

/// The text of a file of lines; empty when it is not there.
fn text(path: &Path) -> Result<String, RecordError> {
    let failed = |source| RecordError::file(path, source);
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(failed(error)),
        Ok(found) if found.len() > MOST_BYTES => {
            return Err(failed(std::io::Error::other(format!("{} bytes are too many", found.len()))));
        }
        Ok(_) => {}
    }
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(failed)
}

/// Reads all lines; empty when the file is not there. A line that was cut off by a crash is passed over: it does
/// not end with a brace.
pub fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, RecordError> {
    let text = text(path)?;
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if !line.ends_with('}') {
            continue;
        }
        found.push(serde_json::from_str(line).map_err(|error| RecordError::Line {
            path: path.to_owned(),
            line: index + 1,
            problem: error.to_string(),
        })?);
    }
    Ok(found)
}

/// A line of a chained record.
#[derive(Serialize, Deserialize)]
struct Chained {
    previous: String,
    entry: serde_json::Value,
}

/// Appends an entry that carries the hash of the line before.
pub fn append_chained(path: &Path, entry: &impl Serialize) -> Result<(), RecordError> {
    let last = text(path)?.lines().rfind(|line| line.ends_with('}')).map(|line| digest(line.as_bytes()));
    let entry = serde_json::to_value(entry).map_err(|error| RecordError::file(path, error.into()))?;
    Lines::open(path)?.append(&Chained { previous: last.unwrap_or_default(), entry })
}

/// Reads a chained record and checks the chain.
pub fn read_chained<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, RecordError> {
    let text = text(path)?;
    let mut previous = String::new();
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| line.ends_with('}')) {
        let wrong = |problem: String| RecordError::Line { path: path.to_owned(), line: index + 1, problem };
        let chained: Chained = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        if chained.previous != previous {
            return Err(wrong("it does not follow the line before: a line was changed or taken out".to_owned()));
        }
        previous = digest(line.as_bytes());
        found.push(serde_json::from_value(chained.entry).map_err(|error| wrong(error.to_string()))?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_line_cut_off_by_a_crash_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub/lines.jsonl");
        assert!(read_lines::<Value>(&path).unwrap().is_empty());
        Lines::open(&path).unwrap().append(&json!({ "a": 1 })).unwrap();
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"a\":").unwrap();
        Lines::open(&path).unwrap().append(&json!({ "a": 2 })).unwrap();
        assert_eq!(read_lines::<Value>(&path).unwrap(), [json!({ "a": 1 }), json!({ "a": 2 })]);
        std::fs::write(&path, "{\"a\":1}\nnonsense}\n").unwrap();
        assert!(read_lines::<Value>(&path).unwrap_err().to_string().contains("lines.jsonl:2: "));
    }

    #[test]
    fn a_record_notices_what_was_changed_or_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.jsonl");
        for n in 0..4 {
            append_chained(&path, &json!({ "n": n })).unwrap();
        }
        assert_eq!(read_chained::<Value>(&path).unwrap().len(), 4);
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, whole.replace("\"n\":1", "\"n\":9")).unwrap();
        assert!(read_chained::<Value>(&path).unwrap_err().to_string().contains("record.jsonl:3: it does not follow"));
        let without: Vec<&str> = whole.lines().enumerate().filter(|(i, _)| *i != 1).map(|(_, line)| line).collect();
        std::fs::write(&path, without.join("\n") + "\n").unwrap();
        assert!(read_chained::<Value>(&path).is_err());
        // Cut off by a crash: the next one follows the last whole line.
        std::fs::write(&path, whole + "{\"previous\":\"ab").unwrap();
        append_chained(&path, &json!({ "n": 4 })).unwrap();
        assert_eq!(read_chained::<Value>(&path).unwrap().len(), 5);
    }
}
