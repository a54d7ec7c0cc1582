//! Beginning new journals on purpose: the old files are renamed, never removed.

use std::fs;
use std::path::{Path, PathBuf};

use super::JournalError;
use super::append::lock;
use super::pair::{HeadKeeper, INTENTIONS_JOURNAL, TRACE_JOURNAL, journal_path};

/// Renames both journals to `<file>.aside-<time>` and forgets their kept heads, so that the next
/// opening begins new ones without finding a loss. Returns the new names. For a person who lost the
/// key or knows why a journal does not verify; never called by the program itself.
pub fn set_aside(directory: &Path, keeper: Option<&dyn HeadKeeper>) -> Result<Vec<PathBuf>, JournalError> {
    let paths = [TRACE_JOURNAL, INTENTIONS_JOURNAL].map(|name| journal_path(directory, name));
    let _locks = [lock(&paths[0])?, lock(&paths[1])?];
    let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%.3fZ").to_string();
    let mut moved = Vec::new();
    for path in paths.iter().filter(|path| path.exists()) {
        let mut aside = path.clone().into_os_string();
        aside.push(format!(".aside-{time}"));
        let aside = PathBuf::from(aside);
        fs::rename(path, &aside).map_err(JournalError::io("rename the journal", path))?;
        moved.push(aside);
    }
    if let Some(keeper) = keeper {
        keeper.forget().map_err(|reason| JournalError::Heads { reason })?;
    }
    Ok(moved)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{filled, intention, key, open};
    use super::super::{JournalKey, Journals, JournalsRecovery, verify};
    use super::*;

    #[test]
    fn new_journals_begin_without_a_loss_and_the_old_ones_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let keeper = filled(folder.path(), 3);
        let before = fs::read(journal_path(folder.path(), INTENTIONS_JOURNAL)).unwrap();
        let moved = set_aside(folder.path(), Some(&*keeper)).unwrap();
        assert_eq!(fs::read(&moved[1]).unwrap(), before);
        let (journals, recovery) = open(folder.path(), &keeper);
        assert!(recovery.lost.is_empty() && recovery != JournalsRecovery::default());
        journals.intention(&intention(1)).unwrap();
        assert!(verify(folder.path(), &key(), Some(&keeper.known().unwrap())).ok);
        // Not under the hands of a process that writes.
        assert!(matches!(set_aside(folder.path(), None), Err(JournalError::Locked { .. })));
    }

    #[test]
    fn a_lost_key_is_the_reason_to() {
        let folder = tempfile::tempdir().unwrap();
        let other = JournalKey::from_bytes(&[8; 32]);
        let keeper = filled(folder.path(), 1);
        assert!(matches!(Journals::open(folder.path(), &other, None), Err(JournalError::WrongKey { .. })));
        set_aside(folder.path(), Some(&*keeper)).unwrap();
        assert!(Journals::open(folder.path(), &other, None).is_ok());
    }
}
