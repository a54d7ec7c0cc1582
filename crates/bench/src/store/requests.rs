//! All requests of a run by their hash: positions in memory, the requests themselves in the file.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;

use crate::store::lines::{LineReader, Place, parse_line, read_at};
use crate::store::{REQUESTS, RequestRecord, Run, StoreError};

/// The requests of a run. Passes come case by case, so the last one read is kept.
#[derive(Debug)]
pub struct Requests {
    path: PathBuf,
    file: Option<File>,
    places: HashMap<String, Place>,
    last: Option<RequestRecord>,
}

impl Requests {
    /// Notes where each request stands.
    pub fn open(run: &Run) -> Result<Self, StoreError> {
        #[derive(serde::Deserialize)]
        struct Head {
            sha256: String,
        }
        let path = run.directory().join(REQUESTS);
        let mut places = HashMap::new();
        let Some(mut reader) = LineReader::open(&path)? else {
            return Ok(Self { path, file: None, places, last: None });
        };
        while let Some((place, bytes)) = reader.next()? {
            let head: Head = parse_line(&path, place, bytes)?;
            places.insert(head.sha256, place);
        }
        let file = File::open(&path).map_err(|error| StoreError::read(&path, error))?;
        Ok(Self { path, file: Some(file), places, last: None })
    }

    /// The request with this hash, seed 0; `None` when the run has none.
    pub fn get(&mut self, sha256: &str) -> Result<Option<&RequestRecord>, StoreError> {
        if self.last.as_ref().is_none_or(|last| last.sha256 != sha256) {
            let (Some(place), Some(file)) = (self.places.get(sha256), self.file.as_mut()) else { return Ok(None) };
            self.last = Some(read_at(&self.path, file, *place)?);
        }
        Ok(self.last.as_ref())
    }
}
