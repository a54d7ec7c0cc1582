//! One writer a run: an advisory lock that the system releases when the process ends, however it
//! ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::Path;

use crate::store::StoreError;

const FILE: &str = "lock";

/// Held while this process writes to a run.
#[derive(Debug)]
pub(crate) struct RunLock {
    file: File,
}

impl RunLock {
    /// Takes the lock of the run in `directory`, or says who has it. Never waits.
    pub(crate) fn take(directory: &Path, run: &str) -> Result<Self, StoreError> {
        let path = directory.join(FILE);
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(|error| StoreError::write(&path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked { run: run.to_owned(), by: owner(&path) });
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::write(&path, error)),
        }
        // Only a courtesy to whoever is refused: a full disk must not stop us here.
        let _ = file.set_len(0);
        let _ = write!(file, "process {}", std::process::id());
        Ok(Self { file })
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Closing alone is not enough: a child process that another thread has just forked (git, for
        // the revision) holds a copy of the file until it executes, and with it the lock.
        let _ = self.file.unlock();
    }
}

/// Who writes to the run in `directory` at this moment, as far as they said; nothing is changed.
pub(crate) fn holder(directory: &Path) -> Option<String> {
    let path = directory.join(FILE);
    let file = File::open(&path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(owner(&path)),
        // Released when the file is closed. A file system without locks tells nothing.
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

/// What the one who holds the lock wrote into it.
fn owner(path: &Path) -> String {
    let owner = std::fs::read_to_string(path).unwrap_or_default();
    let owner = owner.trim();
    if owner.is_empty() { "another process".to_owned() } else { owner.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_free_again_even_while_a_child_still_has_a_copy_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let first = RunLock::take(folder.path(), "r").unwrap();
        let error = RunLock::take(folder.path(), "r").unwrap_err();
        assert_eq!(error.to_string(), format!("run r is being written by process {}", std::process::id()));
        let copy = first.file.try_clone().unwrap();
        assert_eq!(holder(folder.path()), Some(format!("process {}", std::process::id())));
        drop(first);
        assert_eq!(holder(folder.path()), None);
        RunLock::take(folder.path(), "r").unwrap();
        drop(copy);
    }
}
