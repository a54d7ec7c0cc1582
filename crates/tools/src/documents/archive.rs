//! Zip archives with a budget, so that a small file cannot unpack to an endless one.

use std::io::{self, Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::error::DocumentError;

/// Most entries of an archive.
const MOST_ENTRIES: usize = 4_000;
/// Most bytes that everything read from one archive may unpack to.
const EXPANDED_BYTES: u64 = 256 * 1024 * 1024;

/// An opened archive.
pub(crate) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    kind: &'static str,
    left: u64,
}

impl<'a> Archive<'a> {
    pub(crate) fn open(bytes: &'a [u8], kind: &'static str) -> Result<Self, DocumentError> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(kind, &error))?;
        if zip.len() > MOST_ENTRIES {
            return Err(DocumentError::Bomb { what: format!("{} parts, the limit is {MOST_ENTRIES}", zip.len()) });
        }
        Ok(Self { zip, kind, left: EXPANDED_BYTES })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// Names of all entries, in the archive's order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.zip.file_names().map(str::to_owned).collect()
    }

    /// One entry's bytes, `None` when there is no such entry.
    pub(crate) fn part(&mut self, name: &str) -> Result<Option<Vec<u8>>, DocumentError> {
        let Some(index) = self.zip.index_for_name(name) else { return Ok(None) };
        let mut bytes = Vec::new();
        self.unpack(index, &mut bytes)?;
        Ok(Some(bytes))
    }

    /// One entry's text.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, DocumentError> {
        let Some(bytes) = self.part(name)? else { return Ok(None) };
        let file = super::TextFile::decode(&bytes)
            .map_err(|what| DocumentError::Damaged { kind: self.kind, reason: format!("{name} is {what}") })?;
        Ok(Some(file.text))
    }

    /// Unpacks every entry and shows it to `judge`: afterwards another reader may unpack them
    /// unguarded. The sizes that an archive states of itself prove nothing.
    pub(crate) fn check_all(
        &mut self,
        mut judge: impl FnMut(&[u8]) -> Result<(), DocumentError>,
    ) -> Result<(), DocumentError> {
        (0..self.zip.len()).try_for_each(|index| {
            let mut bytes = Vec::new();
            self.unpack(index, &mut bytes)?;
            judge(&bytes)
        })
    }

    fn unpack(&mut self, index: usize, into: &mut dyn io::Write) -> Result<(), DocumentError> {
        let kind = self.kind;
        let entry = self.zip.by_index(index).map_err(|error| damaged(kind, &error))?;
        let copied = io::copy(&mut entry.take(self.left + 1), into)
            .map_err(|error| DocumentError::Damaged { kind, reason: error.to_string() })?;
        self.left = self
            .left
            .checked_sub(copied)
            .ok_or_else(|| DocumentError::Bomb { what: format!("more than {} MB", EXPANDED_BYTES / 1024 / 1024) })?;
        Ok(())
    }
}

fn damaged(kind: &'static str, error: &ZipError) -> DocumentError {
    match error {
        ZipError::UnsupportedArchive(reason) if *reason == ZipError::PASSWORD_REQUIRED => {
            DocumentError::Encrypted { kind }
        }
        error => DocumentError::Damaged { kind, reason: error.to_string() },
    }
}
