//! Single passes of a run in any order, with the files open and the places looked up one by one.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::store::lines::read_at;
use crate::store::{Index, OUTCOMES, OutcomeRecord, PASSES, PassDetail, PassRecord, Run, StoreError};

/// Picks passes of a run by position. To read many in their order, [`Run::passes`] is simpler.
pub struct Picker {
    index: Index,
    passes: (PathBuf, Option<File>),
    outcomes: (PathBuf, Option<File>),
}

impl Picker {
    /// Opens the run's index, brought up to date, and its files.
    pub fn open(run: &Run) -> Result<Self, StoreError> {
        let file = |name: &str| (run.directory().join(name), None);
        Ok(Self { index: run.index()?, passes: file(PASSES), outcomes: file(OUTCOMES) })
    }

    /// The numbers of all passes.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The result of a pass; configuration and case by their positions, as in [`crate::store::PassRow`].
    pub fn pass(&mut self, configuration: usize, case: usize, pass: u32) -> Result<Option<PassDetail>, StoreError> {
        let Some(places) = self.index.places_of(configuration, case, pass)? else { return Ok(None) };
        let record: PassRecord = read_at(&self.passes.0, opened(&self.passes.0, &mut self.passes.1)?, places.pass)?;
        let outcome: Option<OutcomeRecord> = match places.outcome {
            Some(place) => Some(read_at(&self.outcomes.0, opened(&self.outcomes.0, &mut self.outcomes.1)?, place)?),
            None => None,
        };
        Ok(Some(PassDetail { pass: record, outcome }))
    }

    /// The attempts at a pass that failed before its result.
    pub fn earlier_attempts(&mut self, pass: &PassRecord) -> Result<Vec<PassRecord>, StoreError> {
        let places = self.index.earlier_attempts(&pass.case, &pass.configuration, pass.pass)?;
        let mut attempts = Vec::with_capacity(places.len());
        for place in places {
            attempts.push(read_at(&self.passes.0, opened(&self.passes.0, &mut self.passes.1)?, place)?);
        }
        Ok(attempts)
    }
}

/// The file, opened when it is needed first: without passes there may be none.
fn opened<'a>(path: &Path, file: &'a mut Option<File>) -> Result<&'a mut File, StoreError> {
    match file {
        Some(open) => Ok(open),
        None => Ok(file.insert(File::open(path).map_err(|error| StoreError::read(path, error))?)),
    }
}
