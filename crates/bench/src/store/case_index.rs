//! The cases of a configuration by position: what they are called in memory, the rest in the file.

use std::borrow::Cow;
use std::fs::File;
use std::path::PathBuf;

use crate::cases::{Case, CaseKind, Language};
use crate::store::lines::{LineReader, Place, parse_line, read_at};
use crate::store::{CASES, Run, StoreError};

/// What a case is called and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseHead {
    /// Its id.
    pub id: String,
    /// Its family.
    pub family: String,
    /// The language of the request.
    pub language: Language,
    /// Target or guard.
    pub kind: CaseKind,
}

/// The cases of a run as one of its configurations meets them, in the run's order. Thousands of cases
/// with their tools are much to hold for whoever needs names and a few expectations.
#[derive(Debug)]
pub struct CaseIndex {
    path: PathBuf,
    file: Option<File>,
    heads: Vec<CaseHead>,
    places: Vec<Place>,
}

impl CaseIndex {
    /// Notes names and places. A configuration that the run does not have meets the run's cases.
    pub fn open(run: &Run, configuration: &str) -> Result<Self, StoreError> {
        #[derive(serde::Deserialize)]
        struct Head<'a> {
            #[serde(borrow)]
            id: Cow<'a, str>,
            #[serde(borrow)]
            family: Cow<'a, str>,
            language: Language,
            kind: CaseKind,
        }
        let record = run.manifest().configurations.iter().find(|record| record.id == configuration);
        let path = run.directory().join(record.and_then(|record| record.cases.as_deref()).unwrap_or(CASES));
        let mut index = Self { path, file: None, heads: Vec::new(), places: Vec::new() };
        let Some(mut reader) = LineReader::open(&index.path)? else { return Ok(index) };
        while let Some((place, bytes)) = reader.next()? {
            let Head { id, family, language, kind } = parse_line(&index.path, place, bytes)?;
            index.heads.push(CaseHead { id: id.into_owned(), family: family.into_owned(), language, kind });
            index.places.push(place);
        }
        index.file = Some(File::open(&index.path).map_err(|error| StoreError::read(&index.path, error))?);
        Ok(index)
    }

    /// Every case.
    pub fn heads(&self) -> &[CaseHead] {
        &self.heads
    }

    /// The whole case at this position.
    pub fn case(&mut self, position: usize) -> Result<Option<Case>, StoreError> {
        let (Some(place), Some(file)) = (self.places.get(position), self.file.as_mut()) else { return Ok(None) };
        read_at(&self.path, file, *place).map(Some)
    }
}
