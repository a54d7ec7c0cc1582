//! The file on disk: found, locked, read, replaced.
//!
//! - A symbolic link is followed when link and target belong to the owner of the folder the link
//!   lies in, and nobody else may write to the target: people keep such files in a repository of
//!   their own. Any other link is refused. The target is what is locked and replaced.
//! - One writer at a time: an advisory lock on `.NAME.lock` beside the file, which the system gives
//!   back when a process ends in any way.
//! - A write makes a new file (mode 0600), flushes it to the disk and renames it over the old one.
//!   A crash before the rename leaves the old file; what it left behind is removed by the next write.
//! - Editors take no lock. Just before the rename the file is read again, and when it is not what the
//!   change was made from, the change is made again from what it is now.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::error::MemoryError;

/// A memory file has at most this many bytes.
pub const MAX_BYTES: u64 = 1024 * 1024;

const POLL: Duration = Duration::from_millis(5);

/// The regular file behind `path`, which may not exist yet.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, MemoryError> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(path.to_owned()),
        Err(error) => return Err(MemoryError::io("look at", path, error)),
    };
    let target = if found.is_symlink() { follow(path, &found)? } else { path.to_owned() };
    let is_file = fs::metadata(&target).map_err(|error| MemoryError::io("look at", &target, error))?.is_file();
    if is_file { Ok(target) } else { Err(MemoryError::NotAFile { path: path.to_owned() }) }
}

#[cfg(unix)]
fn follow(path: &Path, link: &fs::Metadata) -> Result<PathBuf, MemoryError> {
    use std::os::unix::fs::MetadataExt as _;

    let refused = |reason| MemoryError::Link { path: path.to_owned(), reason };
    let target = fs::canonicalize(path).map_err(|_| refused("its target does not exist"))?;
    let described = fs::metadata(&target).map_err(|error| MemoryError::io("look at", &target, error))?;
    let owner = fs::metadata(folder(path)).map_err(|error| MemoryError::io("look at", folder(path), error))?.uid();
    if link.uid() != owner || described.uid() != owner {
        return Err(refused("it or its target belongs to somebody else"));
    }
    if described.mode() & 0o002 != 0 {
        return Err(refused("everybody may write to its target"));
    }
    Ok(target)
}

#[cfg(not(unix))]
fn follow(path: &Path, _link: &fs::Metadata) -> Result<PathBuf, MemoryError> {
    Err(MemoryError::Link { path: path.to_owned(), reason: "links are not followed on this system" })
}

/// The folder a file lies in.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// `.NAME` and this ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(ending);
    folder(path).join(name)
}

/// The text of the file, `None` when there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, MemoryError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(MemoryError::io("read", path, error)),
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| MemoryError::io("read", path, error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(MemoryError::TooLarge { path: path.to_owned(), limit: MAX_BYTES });
    }
    String::from_utf8(bytes).map(Some).map_err(|_| MemoryError::NotText { path: path.to_owned() })
}

/// Held while this process changes the file.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// Takes the lock, waiting at most this long.
    pub(super) fn take(path: &Path, wait: Duration) -> Result<Self, MemoryError> {
        create_folder(folder(path))?;
        let place = beside(path, ".lock");
        let failed = |error| MemoryError::io("lock", &place, error);
        let file = private(OpenOptions::new().create(true).append(true)).open(&place).map_err(failed)?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if started.elapsed() >= wait => {
                    return Err(MemoryError::Busy { path: path.to_owned() });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(POLL),
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone is not enough: a child process that another thread has just forked holds a
        // copy of the file until it executes, and with it the lock.
        let _ = self.0.unlock();
    }
}

/// A new file that will replace the old one.
#[derive(Debug)]
pub(super) struct Staged {
    temporary: PathBuf,
    target: PathBuf,
}

impl Staged {
    /// Writes `text` to a new file beside `target` and flushes it. The lock is held.
    pub(super) fn write(target: &Path, text: &str) -> Result<Self, MemoryError> {
        remove_leftovers(target);
        let temporary = beside(target, &format!(".{}.tmp", Uuid::new_v4().simple()));
        let staged = Self { temporary, target: target.to_owned() };
        let write = || {
            let mut file = private(OpenOptions::new().write(true).create_new(true)).open(&staged.temporary)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        write().map_err(|error| MemoryError::io("write", target, error))?;
        Ok(staged)
    }

    /// Puts it in place of the old file; `false`, with nothing done, when that is not `expected` any
    /// more (`None`: no file).
    pub(super) fn replace(self, expected: Option<&str>) -> Result<bool, MemoryError> {
        let failed = |error| MemoryError::io("write", &self.target, error);
        if read(&self.target)?.as_deref() != expected {
            return Ok(false);
        }
        if expected.is_some() {
            fs::rename(&self.temporary, &self.target).map_err(failed)?;
        } else {
            // A link, unlike a rename, never replaces a file that appears at this moment.
            match fs::hard_link(&self.temporary, &self.target) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
                Err(_) => fs::rename(&self.temporary, &self.target).map_err(failed)?,
            }
        }
        sync_folder(folder(&self.target));
        Ok(true)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Gone already after a rename.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Removes what a crash left behind. The lock is held, so nobody is writing these.
fn remove_leftovers(target: &Path) {
    let start = beside(target, ".");
    let Some(start) = start.file_name().map(|name| name.to_string_lossy().into_owned()) else { return };
    let Ok(entries) = fs::read_dir(folder(target)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let middle = name.to_str().and_then(|name| name.strip_prefix(&start)?.strip_suffix(".tmp"));
        if middle.is_some_and(|id| Uuid::try_parse(id).is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn create_folder(folder: &Path) -> Result<(), MemoryError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| MemoryError::io("create", folder, error))
}

/// New files are for their owner alone.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Makes the rename last. A file system that cannot do this has renamed all the same.
fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = folder;
}
