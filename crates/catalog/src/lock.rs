//! One pull of an asset at a time, over all processes.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// Holds the lock while it lives; the system gives it back when the process ends in any way.
#[derive(Debug)]
pub(crate) struct PullLock {
    _file: File,
}

impl PullLock {
    /// Takes the lock, calling `on_wait` once when another holds it.
    pub(crate) fn take(path: &Path, on_wait: impl FnOnce()) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = File::options().create(true).append(true).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                on_wait();
                file.lock()?;
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        Ok(Self { _file: file })
    }
}
