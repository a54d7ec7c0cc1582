//! Taking runs out of a store.
//!
//! A run disappears in one step: its folder gets a name that no reader looks at, `.<id>.removed`. Only
//! then are its files deleted. What a process that was killed leaves behind is found again by
//! [`leftovers`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::store::id::is_run_id;
use crate::store::index::forget_others;
use crate::store::lock::{RunLock, holder};
use crate::store::run::run_ids;
use crate::store::{INDEX, Run, StoreError};

/// A folder that is no run: half created, or half deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its name.
    pub name: String,
    /// When something was last created or removed in it.
    pub changed: SystemTime,
}

/// Who writes to the run at this moment, as far as they said; nobody on most days.
pub fn writer_of(run: &Run) -> Option<String> {
    holder(run.directory())
}

/// Bytes of all files of a run, or of any folder within `store`.
pub fn size_of(directory: &Path) -> Result<u64, StoreError> {
    let failed = |error| StoreError::read(directory, error);
    let mut bytes = 0;
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Of a link its own size: what it points to is not the run's.
        let metadata = entry.path().symlink_metadata().map_err(failed)?;
        bytes += if metadata.is_dir() { size_of(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

/// Removes a run. One that is being written is refused; from the first moment on no reader sees half of it.
pub fn remove_run(run: &Run) -> Result<(), StoreError> {
    let directory = run.directory();
    let hidden = run.store().join(format!(".{}.removed", run.id()));
    let lock = RunLock::take(directory, run.id())?;
    // Windows renames no folder with an open file in it.
    let lock = (!cfg!(windows)).then_some(lock);
    delete(&hidden)?;
    fs::rename(directory, &hidden).map_err(|error| StoreError::write(directory, error))?;
    drop(lock);
    delete(&hidden)
}

/// Removes the folder `name` of `parent`, in one step as seen by readers.
pub fn remove_folder(parent: &Path, name: &str) -> Result<(), StoreError> {
    let (directory, hidden) = (parent.join(name), parent.join(format!(".{name}.removed")));
    delete(&hidden)?;
    fs::rename(&directory, &hidden).map_err(|error| StoreError::write(&directory, error))?;
    delete(&hidden)
}

/// Takes out of the index what it holds of runs that are no longer in the store, and gives the space back.
/// Returns the bytes that were freed.
pub fn shrink_index(store: &Path) -> Result<u64, StoreError> {
    let path = store.join(INDEX);
    let size = || fs::metadata(&path).map(|metadata| metadata.len());
    let Ok(before) = size() else { return Ok(0) };
    forget_others(&path, &run_ids(store)?)?;
    Ok(before.saturating_sub(size().unwrap_or(before)))
}

/// Folders of `store` that are half a run, by name.
pub fn leftovers(store: &Path) -> Result<Vec<Leftover>, StoreError> {
    let entries = match fs::read_dir(store) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|error| StoreError::read(store, error))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| StoreError::read(store, error))?;
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        let id = name.strip_prefix('.').and_then(|rest| rest.split_once('.'));
        let is_half = id.is_some_and(|(id, end)| is_run_id(id) && matches!(end, "partial" | "removed"));
        let metadata = entry.metadata().map_err(|error| StoreError::read(&entry.path(), error))?;
        if is_half && metadata.is_dir() {
            found.push(Leftover { name, changed: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH) });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Deletes what [`leftovers`] found.
pub fn remove_leftover(store: &Path, leftover: &Leftover) -> Result<(), StoreError> {
    delete(&store.join(&leftover.name))
}

fn delete(directory: &PathBuf) -> Result<(), StoreError> {
    match fs::remove_dir_all(directory) {
        // Another process may have been faster.
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::write(directory, error)),
        _ => Ok(()),
    }
}
